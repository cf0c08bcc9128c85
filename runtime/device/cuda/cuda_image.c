/* cuda_image.c - code of a device: PTX, which the driver compiles, and HSACO; and of others
 * cubin, too.
 *
 * A kernel is made for a number of threads, and has wrong results with any other. The metadata says
 * it; where nobody does, it is the most that the function takes, which is what it was made for
 * (.maxntid, .reqntid). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/cuda/cuda.h"

/* ---- the module ---- */

/* PTX is text, and has to end. What the compiler of PTX says is part of the message. */
static int load_ptx(const cuda_device *c, const char *text, void **module, char *log,
                    size_t log_bytes) {
    int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)log_bytes};
    return c->call->load(module, text, 2, options, values);
}

static bool load_module(cuda_device *c, const device_source *source, void **module, status *st) {
    char log[700] = "";
    char *bytes = base_malloc(source->size_bytes + 1);
    memcpy(bytes, source->bytes, source->size_bytes);
    bytes[source->size_bytes] = '\0';
    int result = c->library->is_hip ? c->call->load(module, bytes, 0, NULL, NULL)
                                    : load_ptx(c, bytes, module, log, sizeof log - 1);
    free(bytes);
    size_t length = strlen(log);
    while (length && strchr("\n ", log[length - 1]))
        log[--length] = '\0';
    return cuda_check(c, result, *log ? log : "loading it", st);
}

/* ---- its phases ---- */

static device_call *copy_call(const device_call *given) {
    size_t bytes = given->argument_count * sizeof given->arguments[0];
    device_call *call = base_malloc(sizeof *call + bytes);
    *call = *given;
    call->arguments = memcpy(call + 1, given->arguments, bytes);
    return call;
}

/* Tells that the driver makes maps, where the phase takes any. */
static bool keep_maps(const cuda_device *c, const device_maps *given, cuda_phase *phase,
                      status *st) {
    if (!given)
        return true;
    if (!c->call->map_tensor)
        return status_set(st, STATUS_UNAVAILABLE, "the driver makes no maps of tensors");
    phase->maps = base_malloc(sizeof *given);
    *phase->maps = *given;
    return true;
}

/* Counts a block's threads; 0: no GPU has it. AMD's take as many in the third extent as in the
 * others. */
static int64_t threads_of(const cuda_device *c, const device_call *call) {
    int64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        const bool shallow = i == 2 && !c->library->is_hip;
        const uint32_t most = shallow ? CUDA_BLOCK_DEPTH_MOST : CUDA_BLOCK_MOST;
        threads *= call->block[i] <= most ? call->block[i] : 0;
    }
    return threads;
}

static bool find_phase(cuda_device *c, const device_source *source, uint32_t i, cuda_image *image,
                       status *st) {
    int most = 0;
    const device_call *call = source->calls ? source->calls[i] : NULL;
    cuda_phase *phase = &image->phases[i];
    const char *symbol = source->symbols[i];
    if (!cuda_check(c, c->call->function(&phase->function, image->module, symbol), symbol, st) ||
        !cuda_check(c, c->call->function_attribute(&most, CUDA_FUNCTION_THREADS, phase->function),
                    symbol, st))
        return false;
    int64_t threads = call              ? threads_of(c, call)
                      : source->threads ? (int64_t)source->threads
                                        : most;
    if (threads < 1 || threads > most || threads > c->unit->threads_most)
        return status_set(st, STATUS_UNAVAILABLE,
                          "'%s' has workgroups of %lld threads; device '%s' runs it with at most "
                          "%d",
                          symbol, (long long)threads, c->unit->name, most);
    phase->threads = (unsigned)threads;
    phase->call = call ? copy_call(call) : NULL;
    return keep_maps(c, source->maps ? source->maps[i] : NULL, phase, st);
}

static bool load_image(cuda_device *c, const device_source *source, cuda_image *image, status *st) {
    if (!load_module(c, source, &image->module, st))
        return false;
    bool ok = true;
    for (uint32_t i = 0; i < source->phase_count && ok; i++)
        ok = find_phase(c, source, i, image, st);
    if (!ok)
        c->call->unload(image->module);
    return ok;
}

static void free_image(cuda_image *image) {
    for (uint32_t i = 0; i < image->base.phase_count; i++) {
        free(image->phases[i].call);
        free(image->phases[i].maps);
    }
    free(image);
}

bool cuda_load(device *d, const device_source *source, device_image **image_out, status *st) {
    cuda_device *c = (cuda_device *)d;
    cuda_scope scope;
    cuda_image *image =
        base_calloc(1, sizeof *image + source->phase_count * sizeof image->phases[0]);
    image->base.phase_count = source->phase_count;
    bool ok = cuda_enter(c, &scope, st);
    if (ok) {
        ok = load_image(c, source, image, st);
        cuda_leave(c, &scope);
    }
    if (!ok) {
        free_image(image);
        return status_context(st, "'%s'", source->label);
    }
    *image_out = &image->base;
    return true;
}

void cuda_unload(device *d, device_image *image) {
    cuda_device *c = (cuda_device *)d;
    cuda_scope scope;
    if (cuda_enter(c, &scope, NULL)) {
        c->call->unload(((cuda_image *)image)->module);
        cuda_leave(c, &scope);
    }
    free_image((cuda_image *)image);
}
