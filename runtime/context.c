/* context.c - devices, and contexts of one device; members.c has those of several, and their end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

enum { THREAD_LIMIT = 4096 };

_Static_assert(TSR_ALLOC_HOST_VISIBLE == 1 << DEVICE_MEMORY_HOST_VISIBLE &&
                   TSR_ALLOC_PINNED == 1 << DEVICE_MEMORY_PINNED,
               "the bits of memory kinds are the flags of tsrAlloc");

tsr_status_t tsrGetDeviceCount(uint32_t *count) {
    if (!count)
        return error_null("count");
    *count = device_listed_count();
    return TSR_SUCCESS;
}

static tsr_status_t no_device(uint32_t index) {
    return error_set(TSR_ENOTFOUND, "device %u does not exist; there are %u", index,
                     device_listed_count());
}

tsr_status_t tsrGetDeviceInfo(uint32_t index, tsr_device_info_t *info) {
    uint32_t own_index;
    device_info told;
    tsr_status_t sized = error_check_size(info, info ? info->struct_size : 0, sizeof *info);
    if (sized != TSR_SUCCESS)
        return sized;
    const device_driver *driver = device_listed_at(index, &own_index);
    if (!driver || !driver->enumerate(own_index, &told))
        return no_device(index);
    const tsr_device_info_t filled = {.struct_size = info->struct_size,
                                      .backend = told.backend,
                                      .name = told.name ? told.name : "",
                                      .isa = told.isa,
                                      .compute_units = told.compute_units,
                                      .memory_kinds = told.memory_kinds,
                                      .memory_bytes = told.memory_bytes,
                                      .workgroup_memory_bytes = told.workgroup_memory_bytes,
                                      .timestamp_ns = told.timestamp_ns,
                                      .host_addressable = told.host_addressable,
                                      .unavailable = told.unavailable,
                                      .dlpack_type = told.dlpack_type,
                                      .dlpack_index = told.dlpack_index};
    memcpy(info, &filled, sizeof filled);
    return TSR_SUCCESS;
}

tsr_status_t tsrCreateContext(tsr_context_t *context) {
    return tsrCreateContextOn(0, 0, 0, context);
}

tsr_status_t tsrCreateContextOn(uint32_t index, uint32_t threads, uint32_t flags,
                                tsr_context_t *context) {
    uint32_t own_index;
    const device_driver *driver = device_listed_at(index, &own_index);
    return driver ? context_create_on(driver, own_index, threads, flags, context)
                  : no_device(index);
}

/* The code of a kernel, by the label of its launches, which is its name. Of several codes the first
 * with as many phases. */
static const metadata_image *code_of(const struct tsr_module *m, const device_times *times) {
    for (uint32_t i = 0; i < m->code_count && m->metadata.name == times->label; i++) {
        const metadata_image *image = m->codes[i].description;
        if (image->phase_count == times->phases || i + 1 == m->code_count)
            return image;
    }
    return NULL;
}

static const metadata_image *find_code(tsr_context_t c, const device_times *times) {
    const metadata_image *found = NULL;
    pthread_mutex_lock(&c->mutex);
    for (owned *o = c->modules; o && !found; o = o->next) {
        const struct tsr_module *m = (const struct tsr_module *)o;
        found = code_of(m, times);
        for (uint32_t i = 0; m->kernels && i < m->metadata.program->kernel_count && !found; i++)
            found = code_of(m->kernels[i], times);
    }
    pthread_mutex_unlock(&c->mutex);
    return found;
}

static void timed(void *context, const device_times *times) {
    tsr_context_t c = context;
    telemetry_add(&c->telemetry, times);
    if (profile_times(c->profile))
        profile_launch(c->profile, times, find_code(c, times));
}

void context_close(tsr_context_t c) {
    (void)tsrSetComm(c, NULL);
    if (c->default_stream.queue)
        c->device->driver->queue_destroy(c->device, c->default_stream.queue);
    if (c->device)
        c->device->driver->close(c->device);
    profile_close(c->profile);
    telemetry_release(&c->telemetry);
    vec_release(&c->memories);
    free(c->members);
    pthread_mutex_destroy(&c->debugging);
    pthread_mutex_destroy(&c->mutex);
    free(c);
}

static bool open_device(tsr_context_t c, const device_driver *driver, uint32_t index,
                        uint32_t threads, status *st) {
    policy p;
    bool ok = policy_of_environment(&p, st);
    const device_options options = {.pools = {.bounded = p.given[POLICY_memory_kept],
                                              .kept_bytes = p.kept_bytes,
                                              .filled_bytes = p.filled_bytes},
                                    .threads = threads,
                                    .debug = c->debug,
                                    .timed = timed,
                                    .timed_context = c};
    c->default_stream.context = c;
    atomic_store(&c->watchdog_ns, p.watchdog_ns);
    ok = ok && device_open(driver, index, &options, &c->device, st) &&
         profile_open(&p, c->device, &c->profile, st) &&
         driver->queue_create(c->device, true, &c->default_stream.queue, st);
    if (profile_times(c->profile))
        telemetry_time_always(&c->telemetry);
    policy_release(&p);
    return ok;
}

tsr_status_t context_create_on(const device_driver *driver, uint32_t index, uint32_t threads,
                               uint32_t flags, tsr_context_t *context) {
    status st = STATUS_INIT;
    if (!context)
        return error_null("context");
    if (flags & ~(uint32_t)TSR_CONTEXT_DEBUG)
        return error_set(TSR_EINVAL, "unknown context flags 0x%x", flags);
    if (threads > THREAD_LIMIT)
        return error_set(TSR_EINVAL, "%u threads; at most %d are possible", threads, THREAD_LIMIT);
    tsr_context_t c = base_calloc(1, sizeof *c);
    c->debug = flags & TSR_CONTEXT_DEBUG;
    c->first = c;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_mutex_init(&c->debugging, NULL);
    telemetry_init(&c->telemetry);
    if (!open_device(c, driver, index, threads, &st)) {
        context_close(c);
        return error_from(&st);
    }
    owner_add(c);
    *context = c;
    return TSR_SUCCESS;
}

tsr_status_t context_ask(tsr_context_t context) {
    status why;
    status_clear(&why);
    return context->device->driver->usable(context->device, &why) ? TSR_SUCCESS : error_from(&why);
}

void context_add(tsr_context_t context, owned **list, owned *handle) {
    pthread_mutex_lock(&context->mutex);
    handle->next = *list;
    *list = handle;
    pthread_mutex_unlock(&context->mutex);
}

void context_remove(tsr_context_t context, owned **list, owned *handle) {
    pthread_mutex_lock(&context->mutex);
    while (*list != handle)
        list = &(*list)->next;
    *list = handle->next;
    pthread_mutex_unlock(&context->mutex);
}

tsr_status_t tsrSetWatchdog(tsr_context_t context, uint64_t timeout_ns) {
    if (!context)
        return error_null("context");
    tsr_status_t usable = context_usable(context);
    if (usable == TSR_SUCCESS)
        atomic_store(&context->watchdog_ns, timeout_ns);
    return usable;
}
