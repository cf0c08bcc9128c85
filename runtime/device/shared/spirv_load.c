/* spirv_load.c - see spirv_load.h. */
#include "device/shared/spirv_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/shared/spirv_image.h"
#include "device/shared/spirv_probe.h"

void spirv_target_init(spirv_target *t, const spirv_functions *functions, const char *name) {
    *t = (spirv_target){.functions = functions, .name = name};
    pthread_mutex_init(&t->mutex, NULL);
}

void spirv_first_line(const char *log, char *out, size_t room) {
    const char *first = log + strspn(log, " \t\r\n");
    snprintf(out, room, "%.*s", (int)strcspn(first, "\r\n"), first);
}

/* ---- limits ---- */

bool spirv_threads_fit(const spirv_target *t, const char *symbol, uint64_t threads, uint64_t most,
                       status *st) {
    return threads <= most ||
           status_set(st, STATUS_UNAVAILABLE,
                      "workgroups of '%s' have %llu threads; on device '%s' they have at most %llu",
                      symbol, (unsigned long long)threads, t->name, (unsigned long long)most);
}

bool spirv_memory_fits(const spirv_target *t, const char *symbol, uint64_t bytes, status *st) {
    return bytes <= t->workgroup_bytes ||
           status_set(st, STATUS_UNAVAILABLE,
                      "'%s' needs %llu bytes of workgroup memory; device '%s' has %llu", symbol,
                      (unsigned long long)bytes, t->name, (unsigned long long)t->workgroup_bytes);
}

bool spirv_arguments_fit(const spirv_kernel *kernel, const gpu_launch *l, status *st) {
    return kernel->arguments == l->address_count ||
           status_set(st, STATUS_CORRUPT, "its code takes %u arguments, and a launch has %u",
                      kernel->arguments, l->address_count);
}

static bool is_sound(spirv_target *t, gpu_device *g, bool lacks, const char *what,
                     spirv_probe_kind kind, status *st) {
    if (lacks)
        return status_set(st, STATUS_UNAVAILABLE, "device '%s' has no %s", t->name, what);
    return spirv_probe(t, g, kind, st);
}

static bool has_what_it_needs(spirv_target *t, gpu_device *g, const spirv_image *code,
                              const char *label, status *st) {
    if (!spirv_memory_fits(t, label, code->workgroup_bytes, st))
        return false;
    if (code->has_barriers && t->barriers_are_wrong)
        return status_set(st, STATUS_UNAVAILABLE,
                          "'%s' has barriers, of which PoCL up to 3.1 makes wrong code", label);
    if ((code->needs_f64 && !is_sound(t, g, t->lacks_f64, "64-bit floats", SPIRV_PROBE_F64, st)) ||
        (code->needs_f16 && !is_sound(t, g, t->lacks_f16, "16-bit floats", SPIRV_PROBE_F16, st)))
        return status_context(st, "'%s' needs them", label);
    return true;
}

/* ---- loading ---- */

static bool read_threads(const spirv_target *t, const spirv_image *code,
                         const device_source *source, spirv_loaded *image, status *st) {
    for (uint32_t i = 0; i < source->phase_count; i++)
        if (!spirv_image_threads(code, source->symbols[i], source->label,
                                 &image->kernels[i].threads, st) ||
            !spirv_threads_fit(t, source->symbols[i], image->kernels[i].threads,
                               t->workgroup_threads, st))
            return false;
    return true;
}

/* An image without phases has no code to make. */
static bool make(const spirv_target *t, gpu_device *g, const device_source *source,
                 spirv_loaded *image, status *st) {
    const spirv_functions *f = t->functions;
    if (source->phase_count && !f->make_program(g, source, &image->program, st))
        return false;
    for (uint32_t i = 0; i < source->phase_count; i++)
        if (!f->make_kernel(g, image->program, source->symbols[i], &image->kernels[i], st))
            return false;
    return true;
}

static bool load_read(spirv_target *t, gpu_device *g, const device_source *source,
                      const spirv_image *code, device_image **image_out, status *st) {
    spirv_loaded *image =
        base_calloc(1, sizeof *image + source->phase_count * sizeof image->kernels[0]);
    image->base.phase_count = source->phase_count;
    pthread_mutex_init(&image->mutex, NULL);
    if (!read_threads(t, code, source, image, st) || !make(t, g, source, image, st)) {
        spirv_unload(t, &image->base);
        return false;
    }
    *image_out = &image->base;
    return true;
}

/* Words have to be aligned: modules promise it, other sources do not. */
static bool load(spirv_target *t, gpu_device *g, const device_source *source, bool is_probe,
                 device_image **image_out, status *st) {
    spirv_image code;
    uint32_t *words = base_malloc(source->size_bytes + 1);
    memcpy(words, source->bytes, source->size_bytes);
    bool ok = spirv_image_read(&code, words, source->size_bytes, source->label, st) &&
              (is_probe || has_what_it_needs(t, g, &code, source->label, st)) &&
              load_read(t, g, source, &code, image_out, st);
    free(words);
    return ok || status_context(st, "loading '%s'", source->label);
}

bool spirv_load(spirv_target *t, gpu_device *g, const device_source *source,
                device_image **image_out, status *st) {
    return load(t, g, source, false, image_out, st);
}

bool spirv_load_code(spirv_target *t, gpu_device *g, const device_source *source,
                     device_image **image_out, status *st) {
    return load(t, g, source, true, image_out, st);
}

void spirv_unload(const spirv_target *t, device_image *loaded) {
    spirv_loaded *image = (spirv_loaded *)loaded;
    for (uint32_t i = 0; i < image->base.phase_count; i++)
        if (image->kernels[i].handle)
            t->functions->end_kernel(image->kernels[i].handle);
    if (image->program)
        t->functions->end_program(image->program);
    pthread_mutex_destroy(&image->mutex);
    free(image);
}
