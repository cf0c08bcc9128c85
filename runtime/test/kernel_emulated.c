/* kernel_emulated.c - the kernels of kernel_good.c, kernel_prepared.c and kernel_probe.c as code of
 * a GPU looks when it is made for the emulator: one thread of a workgroup of four. */
#include "device/emulate/emulated_code.h"

#define PHASE(name)                                                                                \
    void name(emulated_thread *t);                                                                 \
    void name(emulated_thread *t)

const uint32_t emulated_phase_threads[] = {4, 4};
const emulated_site affine_sites[] = {{0, 0, 0, 0}, {3, 9, 12, 1}, {4, 5, 8, 1}};
const uint64_t affine_site_count = sizeof affine_sites / sizeof affine_sites[0];
const char affine_site_names[] = "\0out";

static const float table[4] = {1, 2, 3, 4};

static float load(emulated_thread *t, const void *base, uint32_t site) {
    const float *at = (const float *)base + t->workgroup;
    t->hooks->access(t, at, sizeof *at, site);
    return *at;
}

static void store(emulated_thread *t, void *base, float value, uint32_t site) {
    float *at = (float *)base + t->workgroup;
    t->hooks->access(t, at, sizeof *at, site | EMULATED_WRITE);
    *at = value;
}

/* The last thread stores what the first has put into shared memory. */
static void pass_on(emulated_thread *t, void *to, float value, uint32_t site) {
    float *shared = (float *)(void *)t->shared;
    if (t->thread == 0) {
        t->hooks->access(t, shared, sizeof *shared, site | EMULATED_SHARED | EMULATED_WRITE);
        *shared = value;
    }
    t->hooks->barrier(t, site + 1);
    if (t->thread == t->threads - 1) {
        t->hooks->access(t, shared, sizeof *shared, (site + 2) | EMULATED_SHARED);
        store(t, to, *shared, site + 3);
    }
}

PHASE(phase_double) {
    pass_on(t, t->workspace, 2 * load(t, t->buffers[0], 10), 11);
}

PHASE(phase_add) {
    pass_on(t, t->buffers[1], load(t, t->workspace, 20) + table[t->workgroup % 4], 21);
}

PHASE(phase_twice_prepared) {
    pass_on(t, t->prepared, 2 * load(t, t->buffers[0], 30), 31);
}

PHASE(phase_add_prepared) {
    pass_on(t, t->buffers[1], load(t, t->prepared, 40) + 1, 41);
}

PHASE(phase_spin) {
    const int32_t *flag = t->buffers[0];
    do
        t->hooks->access(t, flag, sizeof *flag, 50);
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0);
}

/* Mistakes, at places of the source. */

PHASE(affine_phase_0) { /* all threads write one element */
    store(t, t->buffers[1], 1, 1);
}

PHASE(affine_phase_1) { /* a row of 100 elements, and then one more */
    if (t->thread == 0)
        t->hooks->access(t, (float *)t->buffers[1] + 100, sizeof(float), 2 | EMULATED_WRITE);
}

PHASE(other_phase_0) { /* as the first, in a kernel without places */
    store(t, t->buffers[1], 1, 1);
}
