/* emulate_bench.h - for the tests of the emulator: kernels in C, launches of them, and accesses
 * that report themselves as generated code does. */
#ifndef TESSERA_RUNTIME_EMULATE_BENCH_H
#define TESSERA_RUNTIME_EMULATE_BENCH_H

#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "device/emulate/emulate.h"

/* ---- what kernels are made of: `site` names the access ---- */

static inline float load_at(emulated_thread *t, const float *at, uint32_t site) {
    t->hooks->access(t, at, sizeof *at, site);
    return *at;
}

static inline void store_at(emulated_thread *t, float *at, float value, uint32_t site) {
    t->hooks->access(t, at, sizeof *at, site | EMULATED_WRITE);
    *at = value;
}

static inline float load_shared(emulated_thread *t, uint32_t index, uint32_t site) {
    return load_at(t, (const float *)(void *)t->shared + index, site | EMULATED_SHARED);
}

static inline void store_shared(emulated_thread *t, uint32_t index, float value, uint32_t site) {
    store_at(t, (float *)(void *)t->shared + index, value, site | EMULATED_SHARED);
}

static inline float load_buffer(emulated_thread *t, uint32_t buffer, int64_t index, uint32_t site) {
    return load_at(t, (const float *)t->buffers[buffer] + index, site);
}

static inline void store_buffer(emulated_thread *t, uint32_t buffer, int64_t index, float value,
                                uint32_t site) {
    store_at(t, (float *)t->buffers[buffer] + index, value, site);
}

static inline void barrier(emulated_thread *t, uint32_t site) {
    t->hooks->barrier(t, site);
}

/* ---- launches ---- */

enum { BENCH_FLOATS = 1024, BENCH_PHASES = 2 };

/* 1024 floats, and a gap: what is past the end is in nothing else. */
typedef struct bench_memory {
    float data[BENCH_FLOATS];
    float gap[16];
} bench_memory;

/* Two buffers, a workspace and prepared memory. */
typedef struct emulate_bench {
    emulate *e;
    bench_memory inputs, outputs, workspace, prepared;
    emulate_span spans[2];
    uint32_t threads[BENCH_PHASES];
    int64_t groups[BENCH_PHASES];
    emulate_launch launch;
    emulate_finding finding;
    status st;
} emulate_bench;

static const emulate_order bench_orders[] = {{EMULATE_FORWARD, 0},
                                             {EMULATE_REVERSED, 0},
                                             {EMULATE_SHUFFLED, 1},
                                             {EMULATE_SHUFFLED, 20261123}};

static inline emulate_span bench_span(bench_memory *m) {
    return (emulate_span){(unsigned char *)m->data, sizeof m->data};
}

static inline emulate_bench *bench_new(const emulate_order *order) {
    emulate_bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->e = emulate_new(order);
    b->spans[0] = bench_span(&b->inputs);
    b->spans[1] = bench_span(&b->outputs);
    b->launch = (emulate_launch){.threads = b->threads,
                                 .workgroups = b->groups,
                                 .subgroup = 32,
                                 .buffers = b->spans,
                                 .buffer_count = 2,
                                 .workspace = bench_span(&b->workspace),
                                 .prepared = bench_span(&b->prepared),
                                 .shared_bytes = 4096};
    return b;
}

static inline void bench_free(emulate_bench *b) {
    emulate_free(b->e);
    free(b);
}

static inline bool bench_run(emulate_bench *b, const emulated_phase_fn *phases, uint32_t count,
                             uint32_t threads, int64_t groups) {
    for (uint32_t i = 0; i < BENCH_PHASES; i++) {
        b->threads[i] = threads;
        b->groups[i] = groups;
    }
    b->launch.phases = phases;
    b->launch.phase_count = count;
    b->st = (status)STATUS_INIT;
    return emulate_run(b->e, &b->launch, &b->finding, &b->st);
}

/* The launch fails with the fault, which its message begins with; or there is none. */
static inline void bench_expect(const emulate_bench *b, bool ok, emulate_fault fault,
                                const char *name) {
    const char *keyword = emulate_fault_keyword(fault);
    if (b->finding.fault != fault || ok != (fault == EMULATE_NO_FAULT))
        fail_msg("'%s': expected '%s', not '%s' (%s)", name, keyword,
                 emulate_fault_keyword(b->finding.fault), b->st.message);
    assert_int_equal(b->st.code, ok ? STATUS_OK : STATUS_MISMATCH);
    assert_int_equal(strncmp(b->st.message, keyword, strlen(keyword)), 0);
}

#endif
