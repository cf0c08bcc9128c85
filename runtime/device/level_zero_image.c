/* level_zero_image.c - images of SPIR-V, and launches of their phases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/level_zero_parts.h"
#include "device/spirv_image.h"

typedef struct level_zero_phase {
    void *kernel;
    uint32_t arguments;
    uint64_t threads; /* of a workgroup */
} level_zero_phase;

typedef struct level_zero_image {
    device_image base;
    void *module;
    pthread_mutex_t mutex; /* arguments are the kernel's until it is appended */
    level_zero_phase phases[];
} level_zero_image;

/* ---- limits ---- */

static bool is_sound(level_zero_device *d, bool has, const char *what, spirv_probe_kind kind,
                     status *st) {
    if (!has)
        return status_set(st, STATUS_UNAVAILABLE, "device '%s' has no %s", d->unit->name, what);
    return spirv_probe(&d->unit->probes, &d->gpu, level_zero_load_code, kind, st);
}

static bool has_shared(const level_zero_unit *u, uint64_t bytes, const char *label, status *st) {
    const uint64_t most = u->info.workgroup_memory_bytes;
    return bytes <= most ||
           status_set(st, STATUS_UNAVAILABLE,
                      "'%s' needs %llu bytes of workgroup memory; device '%s' has %llu", label,
                      (unsigned long long)bytes, u->name, (unsigned long long)most);
}

static bool has_what_it_needs(level_zero_device *d, const spirv_image *code, const char *label,
                              status *st) {
    const level_zero_unit *u = d->unit;
    if (!has_shared(u, code->workgroup_bytes, label, st))
        return false;
    if ((code->needs_f64 && !is_sound(d, u->has_f64, "64-bit floats", SPIRV_PROBE_F64, st)) ||
        (code->needs_f16 && !is_sound(d, u->has_f16, "16-bit floats", SPIRV_PROBE_F16, st)))
        return status_set(st, st->code, "'%s' needs them", label);
    return true;
}

static bool fits(const level_zero_unit *u, const char *symbol, uint64_t threads, status *st) {
    return threads <= u->threads_most ||
           status_set(st, STATUS_UNAVAILABLE,
                      "workgroups of '%s' have %llu threads; on device '%s' they have at most %u",
                      symbol, (unsigned long long)threads, u->name, u->threads_most);
}

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
    const char *first = whole + strspn(whole, " \t\r\n");
    snprintf(out, room, "%.*s", (int)strcspn(first, "\r\n"), first);
    free(whole);
}

static bool make_module(level_zero_device *d, const device_source *source, void **module,
                        status *st) {
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
    return *said && st ? status_set(st, st->code, "it says '%s'", said) : false;
}

/* ---- loading ---- */

static bool has_shape(const level_zero_device *d, const zero_kernel_facts *facts,
                      const char *symbol, uint64_t threads, status *st) {
    if (facts->threads_x && facts->threads_x != threads)
        return status_set(st, STATUS_UNAVAILABLE,
                          "the driver made '%s' for workgroups of %u threads, not %llu", symbol,
                          facts->threads_x, (unsigned long long)threads);
    return has_shared(d->unit, facts->workgroup_bytes, symbol, st);
}

static bool make_phase(level_zero_device *d, level_zero_image *image, const char *symbol,
                       level_zero_phase *phase, status *st) {
    const zero_kernel_wish wish = {.type = ZERO_TYPE_KERNEL, .name = symbol};
    zero_kernel_facts facts = {.type = ZERO_TYPE_KERNEL_FACTS};
    uint32_t result = level_zero.kernel_create(image->module, &wish, &phase->kernel);
    if (result != ZERO_OK) {
        phase->kernel = NULL;
        return level_zero_check(d, result, symbol, st);
    }
    bool ok = level_zero_check(d, level_zero.kernel_facts(phase->kernel, &facts), symbol, st) &&
              has_shape(d, &facts, symbol, phase->threads, st);
    phase->arguments = facts.arguments;
    return ok && level_zero_check(
                     d, level_zero.kernel_group_size(phase->kernel, (uint32_t)phase->threads, 1, 1),
                     symbol, st);
}

static bool read_threads(const level_zero_device *d, const spirv_image *code,
                         const device_source *source, level_zero_image *image, status *st) {
    for (uint32_t i = 0; i < source->phase_count; i++)
        if (!spirv_image_threads(code, source->symbols[i], source->label, &image->phases[i].threads,
                                 st) ||
            !fits(d->unit, source->symbols[i], image->phases[i].threads, st))
            return false;
    return true;
}

static bool make(level_zero_device *d, const device_source *source, level_zero_image *image,
                 status *st) {
    if (source->phase_count == 0) /* what has nothing to do has no code */
        return true;
    if (!make_module(d, source, &image->module, st))
        return false;
    for (uint32_t i = 0; i < source->phase_count; i++)
        if (!make_phase(d, image, source->symbols[i], &image->phases[i], st))
            return false;
    return true;
}

/* Of code that was read. */
static bool load_read(level_zero_device *d, const device_source *source, const spirv_image *code,
                      device_image **image_out, status *st) {
    level_zero_image *image =
        base_calloc(1, sizeof *image + source->phase_count * sizeof image->phases[0]);
    image->base.phase_count = source->phase_count;
    pthread_mutex_init(&image->mutex, NULL);
    if (!read_threads(d, code, source, image, st) || !make(d, source, image, st)) {
        level_zero_unload(&d->gpu.soft.base, &image->base);
        return false;
    }
    *image_out = &image->base;
    return true;
}

static bool load(level_zero_device *d, const device_source *source, bool is_probe,
                 device_image **image_out, status *st) {
    spirv_image code;
    /* Words want to be aligned; modules promise it, others do not. */
    uint32_t *words = base_malloc(source->size_bytes + 1);
    memcpy(words, source->bytes, source->size_bytes);
    bool ok = spirv_image_read(&code, words, source->size_bytes, source->label, st) &&
              (is_probe || has_what_it_needs(d, &code, source->label, st)) &&
              load_read(d, source, &code, image_out, st);
    free(words);
    return ok || status_set(st, STATUS_INTERNAL, "loading '%s'", source->label);
}

bool level_zero_load(device *d, const device_source *source, device_image **image_out, status *st) {
    return load((level_zero_device *)d, source, false, image_out, st);
}

bool level_zero_load_code(device *d, const device_source *source, device_image **image_out,
                          status *st) {
    return load((level_zero_device *)d, source, true, image_out, st);
}

void level_zero_unload(device *base, device_image *loaded) {
    level_zero_image *image = (level_zero_image *)loaded;
    (void)base;
    for (uint32_t i = 0; i < image->base.phase_count; i++)
        if (image->phases[i].kernel)
            level_zero.kernel_destroy(image->phases[i].kernel);
    if (image->module)
        level_zero.module_destroy(image->module);
    pthread_mutex_destroy(&image->mutex);
    free(image);
}

/* ---- launches ---- */

static bool grid_fits(const level_zero_unit *u, int64_t workgroups, status *st) {
    return workgroups <= (int64_t)u->workgroups_most ||
           status_set(st, STATUS_UNAVAILABLE, "a phase of %lld workgroups; device '%s' takes %u",
                      (long long)workgroups, u->name, u->workgroups_most);
}

/* An address of 0 is an argument that has no memory. No memory of ours has addresses in it, so
 * what the arguments name is all that the driver has to keep in place. */
static bool set_arguments(level_zero_device *d, const level_zero_phase *p, const gpu_launch *l,
                          status *st) {
    const uint64_t bytes = l->address_count * sizeof l->addresses[0];
    if (p->arguments != l->address_count)
        return status_set(st, STATUS_CORRUPT, "its code takes %u arguments, and a launch has %u",
                          p->arguments, l->address_count);
    if (bytes > d->unit->arguments_bytes)
        return status_set(st, STATUS_UNAVAILABLE,
                          "%llu bytes of arguments; a kernel of device '%s' takes %u",
                          (unsigned long long)bytes, d->unit->name, d->unit->arguments_bytes);
    for (uint32_t i = 0; i < l->address_count; i++) {
        const uint64_t *address = l->addresses[i] ? &l->addresses[i] : NULL;
        uint32_t result = level_zero.kernel_argument(p->kernel, i, sizeof *address, address);
        if (!level_zero_check(d, result, "an argument", st))
            return false;
    }
    return true;
}

static bool append_phase(gpu_queue *q, const gpu_launch *l, uint32_t i, void **event_out,
                         status *st) {
    level_zero_device *d = level_zero_device_of(q);
    void *list = ((level_zero_queue *)q->handle)->list;
    const level_zero_phase *p = &((const level_zero_image *)l->image)->phases[i];
    const zero_workgroups workgroups = {(uint32_t)l->workgroups[i], 1, 1};
    return grid_fits(d->unit, l->workgroups[i], st) && set_arguments(d, p, l, st) &&
           (!l->phase_ns || level_zero_event(q, i, event_out, st)) &&
           level_zero_check(
               d, level_zero.append_launch(list, p->kernel, &workgroups, *event_out, 0, NULL),
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
    level_zero_image *image = (level_zero_image *)l->image;
    void **events = base_calloc(image->base.phase_count + 1, sizeof *events);
    pthread_mutex_lock(&image->mutex);
    bool ok = append_phases(q, l, events, st);
    pthread_mutex_unlock(&image->mutex);
    ok = level_zero_run(q, ok, "running", st) && (!l->phase_ns || read_times(q, l, events, st));
    free(events);
    return ok;
}
