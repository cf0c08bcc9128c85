/* emulate_speed.c - how fast the emulator is on this machine: a switch of fibers, accesses, and a
 * loop like a matmul's. Best of several rounds, one core; for docs/emulator.md. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "device/emulate/emulate.h"

enum { THREADS = 256, TURNS = 2000, GROUPS = 4, STEPS = 512, ROUNDS = 25, FLOATS = THREADS * 4 };

static void barriers_only(emulated_thread *t) {
    for (int i = 0; i < TURNS; i++)
        t->hooks->barrier(t, 1);
}

static void touch(emulated_thread *t, unsigned char *base, uint32_t bytes, uint32_t stride,
                  uint32_t flags) {
    for (int i = 0; i < TURNS; i++)
        t->hooks->access(t, base + (size_t)((uint32_t)i % 4 * THREADS + t->thread) * stride, bytes,
                         flags);
}

static void reads_buffer(emulated_thread *t) {
    touch(t, t->buffers[0], 4, 4, 1);
}

static void writes_buffer(emulated_thread *t) {
    touch(t, t->buffers[1], 4, 4, 2 | EMULATED_WRITE);
}

static void writes_shared(emulated_thread *t) {
    touch(t, t->shared, 4, 4, 3 | EMULATED_WRITE | EMULATED_SHARED);
}

static void writes_vectors(emulated_thread *t) {
    touch(t, t->shared, 16, 16, 3 | EMULATED_WRITE | EMULATED_SHARED);
}

static void new_accesses(emulated_thread *t) {
    float *in = t->buffers[0];
    size_t at = ((size_t)t->workgroup * THREADS + t->thread) * 2000;
    for (int i = 0; i < TURNS; i++)
        t->hooks->access(t, in + at + i, 4, 1);
}

#if defined(__x86_64__)
#define WITH_FMA __attribute__((target("fma"))) /* every level of code has it */
#else
#define WITH_FMA
#endif

/* Eight products for each load of shared memory, as of a thread with 8 columns of a tile. */
WITH_FMA static void multiplies(emulated_thread *t) {
    float *shared = (float *)t->shared, *out = t->buffers[1];
    float sums[8] = {0}, x = 1.0f + (float)t->thread;
    t->hooks->access(t, &shared[t->thread], 4, 1 | EMULATED_WRITE | EMULATED_SHARED);
    shared[t->thread] = x;
    t->hooks->barrier(t, 2);
    for (uint32_t k = 0; k < STEPS; k++) {
        const float *from = &shared[(k + t->thread) % THREADS];
        t->hooks->access(t, from, 4, 3 | EMULATED_SHARED);
        for (int i = 0; i < 8; i++)
            sums[i] = __builtin_fmaf(*from, x, sums[i]);
    }
    t->hooks->barrier(t, 4);
    for (int i = 0; i < 8; i++)
        sums[0] += sums[i];
    size_t at = (size_t)t->workgroup * THREADS + t->thread;
    t->hooks->access(t, &out[at], 4, 5 | EMULATED_WRITE);
    out[at] = sums[0];
}

static const struct {
    const char *name;
    emulated_phase_fn phase;
    double steps; /* of a thread */
} rows[] = {
    {"a switch of fibers, at a barrier", barriers_only, TURNS},
    {"a load of a buffer, 4 bytes", reads_buffer, TURNS},
    {"a store to a buffer, 4 bytes", writes_buffer, TURNS},
    {"a store to shared memory, 4 bytes", writes_shared, TURNS},
    {"a store to shared memory, 16 bytes", writes_vectors, TURNS},
    {"the first load of each 4 bytes of a buffer", new_accesses, TURNS},
    {"a product (8 for each load of shared memory)", multiplies, STEPS * 8},
};

int main(void) {
    const emulate_order order = {EMULATE_FORWARD, 0};
    size_t bytes = (size_t)GROUPS * THREADS * TURNS * sizeof(float);
    emulate *e = emulate_new(&order);
    float *memory = calloc(2, bytes);
    const emulate_span buffers[] = {{(unsigned char *)memory, bytes},
                                    {(unsigned char *)memory + bytes, bytes}};
    const uint32_t threads[] = {THREADS};
    for (size_t row = 0; memory && row < sizeof rows / sizeof rows[0]; row++) {
        const int64_t groups[] = {rows[row].phase == writes_buffer ? 1 : GROUPS};
        const emulate_launch launch = {.phases = &rows[row].phase,
                                       .threads = threads,
                                       .workgroups = groups,
                                       .phase_count = 1,
                                       .subgroup = 32,
                                       .buffers = buffers,
                                       .buffer_count = 2,
                                       .shared_bytes = FLOATS * 16};
        double best = 1e30;
        for (int round = 0; round < ROUNDS; round++) {
            emulate_finding finding;
            status st = STATUS_INIT;
            uint64_t start = clock_now_ns();
            if (!emulate_run(e, &launch, &finding, &st)) {
                fprintf(stderr, "%s: %s\n", rows[row].name, st.message);
                return 1;
            }
            double ns = (double)(clock_now_ns() - start);
            ns /= rows[row].steps * THREADS * (double)groups[0];
            best = ns < best ? ns : best;
        }
        printf("%-48s %6.2f ns\n", rows[row].name, best);
    }
    free(memory);
    emulate_free(e);
    return 0;
}
