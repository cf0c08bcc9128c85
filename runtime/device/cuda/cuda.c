/* cuda.c - the drivers `cuda` and `hip`: see cuda.h. */
#include "device/cuda/cuda_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* ---- calls for a device ---- */

bool cuda_check(cuda_device *c, int result, const char *doing, status *st) {
    status why = STATUS_INIT;
    if (result == CUDA_OK)
        return true;
    cuda_failed(c->call, result, doing, &why);
    if (why.code == STATUS_DEVICE_LOST)
        return gpu_lose(&c->gpu, why.message, st);
    return status_set(st, why.code, "%s", why.message);
}

bool cuda_enter(const cuda_device *c, cuda_scope *scope, status *st) {
    int result;
    scope->ordinal = c->unit->ordinal;
    if (!c->library->is_hip)
        result = c->call->context_push(c->context);
    else if (c->call->current_device(&scope->ordinal) == CUDA_OK &&
             scope->ordinal == c->unit->ordinal)
        result = CUDA_OK;
    else
        result = c->call->use_device(c->unit->ordinal);
    return result == CUDA_OK || cuda_failed(c->call, result, "taking the device", st);
}

void cuda_leave(const cuda_device *c, const cuda_scope *scope) {
    void *context;
    if (!c->library->is_hip)
        c->call->context_pop(&context);
    else if (scope->ordinal != c->unit->ordinal)
        c->call->use_device(scope->ordinal);
}

/* ---- memory ---- */

static int alloc_pinned(const cuda_device *c, size_t size_bytes, gpu_block *block) {
    void *host = NULL;
    int result =
        c->call->alloc_pinned(&host, size_bytes, CUDA_PINNED_PORTABLE | CUDA_PINNED_MAPPED);
    if (result != CUDA_OK)
        return result;
    result = c->call->pinned_address(&block->address, host, 0);
    if (result != CUDA_OK)
        c->call->free_pinned(host);
    else
        block->host = host;
    return result;
}

static int alloc_kind(const cuda_device *c, size_t size_bytes, device_memory_kind kind,
                      gpu_block *block) {
    if (kind == DEVICE_MEMORY_PINNED)
        return alloc_pinned(c, size_bytes, block);
    if (kind == DEVICE_MEMORY_DEVICE)
        return c->call->alloc(&block->address, size_bytes);
    int result = c->call->alloc_managed(&block->address, size_bytes, CUDA_ATTACH_GLOBAL);
    block->host = result == CUDA_OK ? (unsigned char *)(uintptr_t)block->address : NULL;
    block->migrates = true;
    return result;
}

static bool alloc(gpu_device *g, size_t size_bytes, device_memory_kind kind, gpu_block *block_out,
                  status *st) {
    cuda_device *c = (cuda_device *)g;
    cuda_scope scope;
    char doing[64];
    if (!(c->unit->info.memory_kinds >> kind & 1))
        return status_set(st, STATUS_UNAVAILABLE, "device '%s' has no memory of that kind",
                          c->unit->name);
    if (!cuda_enter(c, &scope, st))
        return false;
    *block_out = (gpu_block){.size_bytes = size_bytes, .number = kind};
    snprintf(doing, sizeof doing, "allocating %zu bytes", size_bytes);
    bool ok = cuda_check(c, alloc_kind(c, size_bytes, kind, block_out), doing, st);
    cuda_leave(c, &scope);
    return ok;
}

static void release(gpu_device *g, gpu_block *block) {
    cuda_device *c = (cuda_device *)g;
    cuda_scope scope;
    if (!cuda_enter(c, &scope, NULL))
        return;
    if (block->number == DEVICE_MEMORY_PINNED)
        c->call->free_pinned(block->host);
    else
        c->call->free(block->address);
    cuda_leave(c, &scope);
}

static bool adopt(device *d, void *address, size_t size_bytes, device_memory **memory_out,
                  status *st) {
    cuda_device *c = (cuda_device *)d;
    if (!cuda_await_default(c, st))
        return false;
    *memory_out = gpu_adopt(&c->gpu, address, size_bytes);
    return true;
}

/* ---- devices ---- */

static const gpu_functions functions = {.alloc = alloc,
                                        .free = release,
                                        .queue_open = cuda_queue_open,
                                        .queue_close = cuda_queue_close,
                                        .copy = cuda_copy,
                                        .fill = cuda_fill,
                                        .launch = cuda_launch,
                                        .finish = cuda_finish,
                                        .settled = cuda_queue_idle,
                                        .mark = cuda_mark,
                                        .reached = cuda_reached,
                                        .follow = cuda_follow,
                                        .unmark = cuda_unmark,
                                        .idle = cuda_queue_idle,
                                        .record_begin = cuda_record_begin,
                                        .record_end = cuda_record_end,
                                        .replay = cuda_replay,
                                        .forget = cuda_forget};

static void leave_context(cuda_device *c) {
    if (!c->library->is_hip)
        c->call->context_release(c->unit->handle);
    free(c);
}

static bool open_unit(cuda_library *l, const device_driver *driver, uint32_t index,
                      const device_options *options, device **device_out, status *st) {
    cuda_device *c = base_calloc(1, sizeof *c);
    int result = CUDA_OK;
    c->library = l;
    c->call = &l->call;
    c->unit = cuda_unit_at(l, index);
    c->gpu.soft.base.info = c->unit->info;
    c->gpu.soft.base.own_addresses = true; /* one space of addresses for all that the process has */
    if (!l->is_hip)
        result = c->call->context_retain(&c->context, c->unit->handle);
    if (result != CUDA_OK) {
        free(c);
        cuda_failed(&l->call, result, "taking the device's context", st);
        return status_context(st, "device '%s'", l->units[index].name);
    }
    if (!gpu_device_init(&c->gpu, driver, &functions, options, st)) {
        leave_context(c);
        return false;
    }
    cuda_ask_chain(c, &l->chains[index]);
    *device_out = &c->gpu.soft.base;
    return true;
}

static void close_unit(device *d) {
    cuda_device *c = (cuda_device *)d;
    cuda_end_base(c);
    gpu_device_release(&c->gpu);
    leave_context(c);
}

/* ---- the two drivers ---- */

/* Kinds of code that others make for these GPUs. */
static const char *const cuda_foreign[] = {"foreign/ptx", "foreign/cubin", NULL};
static const char *const hip_foreign[] = {"foreign/hsaco", NULL};

/* Code that only an opened one is known to run. */
static bool hip_examine(uint32_t index, device_info *info, status *st);

#define DRIVER(library, examines)                                                                  \
    extern const device_driver library##_driver;                                                   \
    static bool library##_enumerate(uint32_t index, device_info *info_out) {                       \
        const cuda_unit *u = cuda_unit_at(&cuda_library_##library, index);                         \
        if (u)                                                                                     \
            *info_out = u->info;                                                                   \
        return u != NULL;                                                                          \
    }                                                                                              \
    static bool library##_open(uint32_t index, const device_options *options, device **device_out, \
                               status *st) {                                                       \
        return open_unit(&cuda_library_##library, &library##_driver, index, options, device_out,   \
                         st);                                                                      \
    }                                                                                              \
    static void library##_absent(status *why) {                                                    \
        (void)cuda_unit_at(&cuda_library_##library, 0);                                            \
        status_set(why, cuda_library_##library.failure.code, "%s",                                 \
                   cuda_library_##library.failure.message);                                        \
    }                                                                                              \
    const device_driver library##_driver = {.name = #library,                                      \
                                            .listed = true,                                        \
                                            .foreign = library##_foreign,                          \
                                            .enumerate = library##_enumerate,                      \
                                            .examine = examines,                                   \
                                            .tries_code = true,                                    \
                                            .absent = library##_absent,                            \
                                            .open = library##_open,                                \
                                            .close = close_unit,                                   \
                                            .adopt = adopt,                                        \
                                            .load = cuda_load,                                     \
                                            .unload = cuda_unload,                                 \
                                            GPU_SEQUENCE_FUNCTIONS,                                \
                                            GPU_DRIVER_FUNCTIONS};

DRIVER(cuda, NULL)
DRIVER(hip, hip_examine)

static bool hip_examine(uint32_t index, device_info *info, status *st) {
    const device_options options = {.threads = 1};
    device *d;
    if (!open_unit(&cuda_library_hip, &hip_driver, index, &options, &d, st))
        return false;
    memcpy(info->targets, d->info.targets, sizeof info->targets);
    info->isa = d->info.isa;
    close_unit(d);
    return true;
}
