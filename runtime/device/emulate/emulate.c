/* emulate.c - a launch from its first phase to its last. */
#include "device/emulate/emulate.h"

#include <fenv.h>
#include <stdlib.h>

#include "base/arena.h"
#include "device/emulate/emulate_parts.h"

const emulated_hooks emulate_hooks = {.access = emulate_access,
                                      .barrier = emulate_barrier,
                                      .shuffle = emulate_shuffle,
                                      .copy_async = emulate_copy_async,
                                      .copy_commit = emulate_copy_commit,
                                      .copy_wait = emulate_copy_wait,
                                      .mma = emulate_mma,
                                      .load_matrix = emulate_load_matrix,
                                      .wgmma = emulate_wgmma,
                                      .wgmma_fence = emulate_wgmma_fence,
                                      .wgmma_commit = emulate_wgmma_commit,
                                      .wgmma_wait = emulate_wgmma_wait,
                                      .fence_async = emulate_fence_async,
                                      .exp2 = emulate_exp2,
                                      .barrier_of = emulate_barrier_of,
                                      .slot_open = emulate_slot_open,
                                      .slot_expect = emulate_slot_expect,
                                      .slot_wait = emulate_slot_wait,
                                      .slot_free = emulate_slot_free,
                                      .fetch = emulate_fetch};

emulate *emulate_new(const emulate_order *order) {
    emulate *e = base_calloc(1, sizeof *e);
    e->how = *order;
    size_t bytes = EMULATED_THREADS_MAX * sizeof *e->threads;
    e->threads = aligned_alloc(64, bytes);
    if (!e->threads)
        base_out_of_memory(bytes);
    return e;
}

void emulate_free(emulate *e) {
    emulate_threads_release(e);
    emulate_shadow_release(e);
    vec_release(&e->group_epochs);
    emulate_slots_drop(e);
    free(e->factors);
    free(e->stage);
    free(e);
}

void emulate_cancel(emulate *e) {
    atomic_store(&e->cancelled, true);
}

/* ---- phases ---- */

static void address_threads(emulate *e, void *const *buffers) {
    const emulate_launch *l = e->launch;
    for (uint32_t i = 0; i < e->thread_count; i++)
        e->threads[i].base = (emulated_thread){.hooks = &emulate_hooks,
                                               .buffers = buffers,
                                               .dims = l->dims,
                                               .workspace = l->workspace.address,
                                               .prepared = l->prepared.address,
                                               .shared = (unsigned char *)e->shared.base,
                                               .thread = i,
                                               .threads = e->thread_count};
}

static bool run_group(emulate *e, uint64_t place, uint64_t count) {
    if (!emulate_begin_epoch(e))
        return false;
    e->group_start = e->epoch;
    e->group = (int64_t)emulate_order_at(&e->how, place, count);
    vec_push(&e->group_epochs, (uint32_t)(e->epoch >> STAMP_EPOCH_SHIFT));
    return emulate_group_run(e);
}

static bool run_phase(emulate *e, void *const *buffers) {
    int64_t groups = e->launch->workgroups[e->phase];
    bool ok = true;
    e->phase_start = e->epoch + STAMP_EPOCH;
    vec_clear(&e->group_epochs);
    emulate_threads_prepare(e);
    emulate_regions_begin(e);
    address_threads(e, buffers);
    for (int64_t place = 0; place < groups && ok; place++)
        ok = run_group(e, (uint64_t)place, (uint64_t)groups);
    return ok && emulate_reads_settle(e, true);
}

static bool run_phases(emulate *e) {
    const emulate_launch *l = e->launch;
    void **buffers = base_calloc(l->buffer_count + 1, sizeof *buffers);
    bool ok = true;
    for (uint32_t i = 0; i < l->buffer_count; i++)
        buffers[i] = l->buffers[i].address;
    for (e->phase = 0; e->phase < l->phase_count && ok; e->phase++) {
        ok = run_phase(e, buffers);
        if (ok && l->phase_ended)
            l->phase_ended(l->context, e->phase);
    }
    free(buffers);
    return ok;
}

/* ---- launches ---- */

static bool check(const emulate_launch *l, uint32_t *most_threads, status *st) {
    *most_threads = 0;
    if (l->subgroup != 32 && l->subgroup != 64)
        return status_set(st, STATUS_CORRUPT, "subgroups of %u threads; 32 and 64 are possible",
                          l->subgroup);
    for (uint32_t i = 0; i < l->phase_count; i++) {
        if (l->threads[i] < 1 || l->threads[i] > EMULATED_THREADS_MAX)
            return status_set(st, STATUS_CORRUPT,
                              "phase %u has workgroups of %u threads; 1 to %d are possible", i,
                              l->threads[i], EMULATED_THREADS_MAX);
        *most_threads = l->threads[i] > *most_threads ? l->threads[i] : *most_threads;
    }
    return true;
}

static bool begin(emulate *e, const emulate_launch *launch, status *st) {
    uint32_t threads;
    e->launch = launch;
    e->keeps = launch->sites.buffers != NULL;
    e->epoch = e->group_start = 0;
    e->failed = false;
    e->finding = e->unwritten = (emulate_finding){0};
    e->main = (emulate_fiber){0};
    status_clear(&e->why);
    return check(launch, &threads, st) && emulate_threads_grow(e, threads, st) &&
           emulate_regions_make(e, st);
}

/* The floating-point environment is the default one, whoever calls. */
static bool run(emulate *e) {
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    bool ok = run_phases(e);
    fesetenv(&before);
    if (e->failed)
        emulate_threads_reset(e);
    return ok;
}

bool emulate_run(emulate *e, const emulate_launch *launch, emulate_finding *finding_out,
                 status *st) {
    bool ok = begin(e, launch, st) && run(e);
    *finding_out = e->finding;
    if (e->why.code != STATUS_OK)
        status_set(st, e->why.code, "%s", e->why.message);
    else if (e->finding.fault != EMULATE_NO_FAULT)
        emulate_finding_tell(&e->finding, &launch->sites, st);
    emulate_regions_release(e);
    e->launch = NULL;
    return ok;
}
