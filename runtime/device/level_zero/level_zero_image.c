/* level_zero_image.c - images of SPIR-V, and launches of their phases. */
#include <stdlib.h>

#include "base/arena.h"
#include "device/level_zero/level_zero_parts.h"

/* ---- modules ---- */

/* Intel's compiler divides and takes roots loosely unless it is told not to; contractions and
 * subnormal numbers are as the code says. Buffers above 4 GiB it has to be told of, too. */
static const char *options_of(const level_zero_unit *u) {
#define OPTIONS "-ze-opt-level=2 -ze-fp32-correctly-rounded-divide-sqrt"
    return u->allocation_bytes > UINT32_MAX ? OPTIONS " -ze-opt-greater-than-4GB-buffer-required"
                                            : OPTIONS;
}

/* Its first line. */
static void log_of(void *handle, char *out, size_t room) {
    size_t size = 0;
    if (level_zero.log_text(handle, &size, NULL) != ZERO_OK)
        size = 0;
    char *whole = base_calloc(size + 1, 1);
    if (size)
        (void)level_zero.log_text(handle, &size, whole);
    spirv_first_line(whole, out, room);
    free(whole);
}

static bool make_program(gpu_device *g, const device_source *source, void **module, status *st) {
    level_zero_device *d = (level_zero_device *)g;
    const zero_module_wish wish = {.type = ZERO_TYPE_MODULE,
                                   .format = ZERO_FORMAT_SPIRV,
                                   .size_bytes = source->size_bytes,
                                   .bytes = source->bytes,
                                   .options = options_of(d->unit)};
    void *log = NULL;
    char said[400] = "";
    uint32_t result = level_zero.module_create(d->context, d->unit->handle, &wish, module, &log);
    if (result != ZERO_OK)
        *module = NULL;
    if (result != ZERO_OK && log)
        log_of(log, said, sizeof said);
    if (log)
        level_zero.log_destroy(log);
    if (level_zero_check(d, result, "the driver makes no code for the device", st))
        return true;
    return *said ? status_context(st, "it says '%s'", said) : false;
}

static bool has_shape(const level_zero_device *d, const zero_kernel_facts *facts,
                      const char *symbol, uint64_t threads, status *st) {
    if (facts->threads_x && facts->threads_x != threads)
        return status_set(st, STATUS_UNAVAILABLE,
                          "the driver made '%s' for workgroups of %u threads, not %llu", symbol,
                          facts->threads_x, (unsigned long long)threads);
    return spirv_memory_fits(&d->unit->spirv, symbol, facts->workgroup_bytes, st);
}

static bool make_kernel(gpu_device *g, void *module, const char *symbol, spirv_kernel *kernel,
                        status *st) {
    level_zero_device *d = (level_zero_device *)g;
    const zero_kernel_wish wish = {.type = ZERO_TYPE_KERNEL, .name = symbol};
    zero_kernel_facts facts = {.type = ZERO_TYPE_KERNEL_FACTS};
    uint32_t result = level_zero.kernel_create(module, &wish, &kernel->handle);
    if (result != ZERO_OK) {
        kernel->handle = NULL;
        return level_zero_check(d, result, symbol, st);
    }
    bool ok = level_zero_check(d, level_zero.kernel_facts(kernel->handle, &facts), symbol, st) &&
              has_shape(d, &facts, symbol, kernel->threads, st);
    kernel->arguments = facts.arguments;
    return ok &&
           level_zero_check(
               d, level_zero.kernel_group_size(kernel->handle, (uint32_t)kernel->threads, 1, 1),
               symbol, st);
}

static void end_kernel(void *kernel) {
    level_zero.kernel_destroy(kernel);
}

static void end_program(void *module) {
    level_zero.module_destroy(module);
}

const spirv_functions level_zero_spirv = {.make_program = make_program,
                                          .make_kernel = make_kernel,
                                          .end_kernel = end_kernel,
                                          .end_program = end_program};

bool level_zero_load(device *d, const device_source *source, device_image **image_out, status *st) {
    level_zero_device *z = (level_zero_device *)d;
    return spirv_load(&z->unit->spirv, &z->gpu, source, image_out, st);
}

void level_zero_unload(device *d, device_image *image) {
    spirv_unload(&((level_zero_device *)d)->unit->spirv, image);
}

/* ---- launches ---- */

static bool grid_fits(const level_zero_unit *u, int64_t workgroups, status *st) {
    return workgroups <= (int64_t)u->workgroups_most ||
           status_set(st, STATUS_UNAVAILABLE, "a phase of %lld workgroups; device '%s' takes %u",
                      (long long)workgroups, u->name, u->workgroups_most);
}

/* An address of 0 is an argument that has no memory. No memory of ours has addresses in it, so
 * what the arguments name is all that the driver has to keep in place. */
static bool set_arguments(level_zero_device *d, const spirv_kernel *p, const gpu_launch *l,
                          status *st) {
    const uint64_t bytes = l->address_count * sizeof l->addresses[0];
    if (!spirv_arguments_fit(p, l, st))
        return false;
    if (bytes > d->unit->arguments_bytes)
        return status_set(st, STATUS_UNAVAILABLE,
                          "%llu bytes of arguments; a kernel of device '%s' takes %u",
                          (unsigned long long)bytes, d->unit->name, d->unit->arguments_bytes);
    for (uint32_t i = 0; i < l->address_count; i++) {
        bool is_dim = i >= l->address_count - l->dim_count;
        const uint64_t *address = is_dim || l->addresses[i] ? &l->addresses[i] : NULL;
        uint32_t result = level_zero.kernel_argument(p->handle, i, sizeof *address, address);
        if (!level_zero_check(d, result, "an argument", st))
            return false;
    }
    return true;
}

static bool append_phase(gpu_queue *q, const gpu_launch *l, uint32_t i, void **event_out,
                         status *st) {
    level_zero_device *d = level_zero_device_of(q);
    const spirv_kernel *p = &((const spirv_loaded *)l->image)->kernels[i];
    const zero_workgroups workgroups = {(uint32_t)l->workgroups[i], 1, 1};
    return grid_fits(d->unit, l->workgroups[i], st) && set_arguments(d, p, l, st) &&
           (!l->phase_ns || level_zero_event(q, i, event_out, st)) &&
           level_zero_check(d,
                            level_zero.append_launch(level_zero_list(q), p->handle, &workgroups,
                                                     *event_out, 0, NULL),
                            "launching", st);
}

static bool append_phases(gpu_queue *q, const gpu_launch *l, void **events, status *st) {
    bool ok = true, is_first = true;
    for (uint32_t i = 0; i < l->image->phase_count && ok; i++) {
        if (l->workgroups[i] <= 0)
            continue;
        ok = (is_first || level_zero_barrier(q, st)) && append_phase(q, l, i, &events[i], st);
        is_first = false;
    }
    return ok;
}

/* The bits of a time that count are few on some devices: they begin anew within minutes. */
static bool read_time(gpu_queue *q, void *event, uint64_t *ns_out, status *st) {
    const level_zero_unit *u = level_zero_device_of(q)->unit;
    zero_times times = {0};
    if (!level_zero_check(level_zero_device_of(q), level_zero.event_times(event, &times),
                          "reading the time of a phase", st))
        return false;
    *ns_out = (uint64_t)((double)((times.end - times.start) & u->tick_mask) * u->tick_ns + 0.5);
    return true;
}

static bool read_times(gpu_queue *q, const gpu_launch *l, void **events, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < l->image->phase_count && ok; i++) {
        l->phase_ns[i] = 0;
        ok = !events[i] || read_time(q, events[i], &l->phase_ns[i], st);
    }
    return ok;
}

bool level_zero_launch(gpu_queue *q, const gpu_launch *l, status *st) {
    spirv_loaded *image = (spirv_loaded *)l->image;
    if (!level_zero_begin(q, st))
        return false;
    void **events = base_calloc(image->base.phase_count + 1, sizeof *events);
    pthread_mutex_lock(&image->mutex);
    bool ok = append_phases(q, l, events, st);
    pthread_mutex_unlock(&image->mutex);
    ok = level_zero_given(q, ok, st);
    if (l->phase_ns)
        ok = ok && level_zero_finish(q, st) && read_times(q, l, events, st);
    free(events);
    return ok;
}
