/* gpu_once.c - see gpu_once.h. */
#include "device/shared/gpu_once.h"

static gpu_place at_host(void *host) {
    return (gpu_place){.host = host};
}

static bool launch(gpu_device *g, const gpu_once *o, const gpu_block *in, const gpu_block *out,
                   status *st) {
    uint64_t addresses[2 * GPU_ONCE_ARGUMENTS] = {0};
    for (uint32_t i = 0; i < o->inputs + o->outputs; i++)
        addresses[i] = (i < o->inputs ? in : out)->address + o->at[i];
    const gpu_launch l = {.image = o->image,
                          .addresses = addresses,
                          .address_count = o->inputs + o->outputs + o->unused,
                          .workgroups = o->workgroups};
    return g->functions->launch(&g->own, &l, st);
}

static bool run(gpu_device *g, const gpu_once *o, const gpu_block *in, const gpu_block *out,
                status *st) {
    const gpu_functions *f = g->functions;
    gpu_place sent = at_host((void *)(uintptr_t)o->sent); /* it is read alone */
    bool ok = f->copy(&g->own, (gpu_place){.block = in}, sent, o->sent_bytes, st) &&
              launch(g, o, in, out, st) &&
              f->copy(&g->own, at_host(o->got), (gpu_place){.block = out}, o->got_bytes, st);
    return f->finish(&g->own, ok ? st : NULL) && ok;
}

bool gpu_run_once(gpu_device *g, const gpu_once *o, status *st) {
    const gpu_functions *f = g->functions;
    gpu_block in = {0}, out = {0};
    bool ok = f->alloc(g, o->sent_bytes, DEVICE_MEMORY_DEVICE, &in, st) &&
              f->alloc(g, o->got_bytes, DEVICE_MEMORY_DEVICE, &out, st) && run(g, o, &in, &out, st);
    if (in.size_bytes)
        f->free(g, &in);
    if (out.size_bytes)
        f->free(g, &out);
    return ok;
}
