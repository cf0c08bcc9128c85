/* test_emulate_subgroup.c - copies that land later, shuffles, and matrices over a warp. */
#include "test/emulate_bench.h"

#include <math.h>
#include <stdio.h>

#include "chip/matrix_unit.h"

enum { THREADS = 64, BARRIER_SITE = 90 };

/* ---- copies ---- */

/* Each thread copies four floats of the input; what the rest of the kernel does is its number. */
typedef enum copy_step {
    READ_OWN_AT_ONCE,
    READ_OWN_AFTER_WAIT,
    READ_OTHERS_AFTER_WAIT,
    READ_OTHERS_AFTER_BARRIER_ALONE,
    READ_OTHERS_AFTER_WAIT_AND_BARRIER,
    WAIT_FOR_ALL_BUT_THE_LAST,
    WAIT_FOR_ALL_OF_TWO,
    WAIT_WITHOUT_COMMIT,
    STORE_WHILE_UNDER_WAY,
    COPY_TWICE_TO_ONE_PLACE,
    READ_OLD_WHILE_UNDER_WAY,
    SOURCE_CHANGES,
    SOURCE_CHANGES_LATER,
    SOURCE_CHANGES_BETWEEN,
    OWN_SOURCE_CHANGES_BETWEEN,
    SOURCE_CHANGES_AFTERWARDS,
    END_WITHOUT_WAIT,
    COPY_PAST_THE_END
} copy_step;

static copy_step step;

static void copy(emulated_thread *t, uint32_t to, uint32_t from, uint32_t site) {
    t->hooks->copy_async(t, t->shared + (size_t)16 * to,
                         (const float *)t->buffers[0] + (size_t)4 * from, 16, site);
}

static float copied(emulated_thread *t, uint32_t from) {
    return load_shared(t, 4 * from + 1, 3);
}

static void commit_and_wait(emulated_thread *t) {
    t->hooks->copy_commit(t);
    t->hooks->copy_wait(t, 0);
}

static float two_groups(emulated_thread *t, uint32_t groups_left) {
    uint32_t second = THREADS + t->thread;
    copy(t, t->thread, t->thread, 1);
    t->hooks->copy_commit(t);
    copy(t, second, second, 2);
    t->hooks->copy_commit(t);
    t->hooks->copy_wait(t, groups_left);
    return copied(t, t->thread) + copied(t, second);
}

static float after_first_copy(emulated_thread *t) {
    uint32_t other = (t->thread + 5) % THREADS;
    switch (step) {
    case READ_OWN_AFTER_WAIT:
        commit_and_wait(t);
        return copied(t, t->thread);
    case READ_OTHERS_AFTER_WAIT:
        commit_and_wait(t);
        return copied(t, other);
    case READ_OTHERS_AFTER_BARRIER_ALONE:
        t->hooks->copy_commit(t);
        barrier(t, BARRIER_SITE);
        return copied(t, other);
    case READ_OTHERS_AFTER_WAIT_AND_BARRIER:
        commit_and_wait(t);
        barrier(t, BARRIER_SITE);
        return copied(t, other);
    case WAIT_WITHOUT_COMMIT:
        t->hooks->copy_wait(t, 0);
        return copied(t, t->thread);
    case STORE_WHILE_UNDER_WAY:
        store_shared(t, 4 * t->thread + 1, 0, 3);
        return 0;
    case COPY_TWICE_TO_ONE_PLACE:
        copy(t, t->thread, t->thread, 3);
        return 0;
    case SOURCE_CHANGES:
        store_buffer(t, 0, 4 * other + 1, 0, 3);
        commit_and_wait(t);
        return 0;
    case SOURCE_CHANGES_LATER:
        barrier(t, BARRIER_SITE);
        store_buffer(t, 0, t->workgroup * 512 + 4 * other + 1, 0, 3);
        commit_and_wait(t);
        return 0;
    case SOURCE_CHANGES_BETWEEN:
    case OWN_SOURCE_CHANGES_BETWEEN:
        other = step == SOURCE_CHANGES_BETWEEN ? other : t->thread;
        barrier(t, BARRIER_SITE);
        store_buffer(t, 0, t->workgroup * 512 + 4 * other + 1, 0, 3);
        barrier(t, BARRIER_SITE);
        commit_and_wait(t);
        return 0;
    case SOURCE_CHANGES_AFTERWARDS:
        commit_and_wait(t);
        barrier(t, BARRIER_SITE);
        store_buffer(t, 0, t->workgroup * 512 + 4 * other + 1, 0, 3);
        return copied(t, t->thread);
    case END_WITHOUT_WAIT:
        return 0;
    default:
        return copied(t, t->thread);
    }
}

/* Returns the source of a copy; one that is changed is each workgroup's own. */
static uint32_t source_of(const emulated_thread *t) {
    bool own = step >= SOURCE_CHANGES_LATER && step <= SOURCE_CHANGES_AFTERWARDS;
    return step == COPY_PAST_THE_END ? BENCH_FLOATS / 4
                                     : t->thread + (own ? (uint32_t)t->workgroup * 128 : 0);
}

static void copies(emulated_thread *t) {
    float got = 0;
    if (step == READ_OLD_WHILE_UNDER_WAY) {
        store_shared(t, 4 * t->thread + 1, 8, 7);
        barrier(t, BARRIER_SITE);
    }
    if (step == WAIT_FOR_ALL_BUT_THE_LAST || step == WAIT_FOR_ALL_OF_TWO) {
        got = two_groups(t, step == WAIT_FOR_ALL_BUT_THE_LAST);
    } else {
        copy(t, t->thread, source_of(t), 1);
        got = after_first_copy(t);
    }
    store_buffer(t, 1, t->workgroup * THREADS + t->thread, got, 9);
}

static const struct {
    const char *name;
    copy_step step;
    emulate_fault fault;
    uint32_t now, before;   /* sites, where no order of threads changes which is which */
    uint32_t first, second; /* what a thread gets: its element of these vectors */
} copy_rows[] = {
    {"own, at once", READ_OWN_AT_ONCE, EMULATE_RACE, 3, 1, 0, 0},
    {"own, after its wait", READ_OWN_AFTER_WAIT, EMULATE_NO_FAULT, 0, 0, 0, 0},
    {"others', after a wait", READ_OTHERS_AFTER_WAIT, EMULATE_RACE, 0, 0, 0, 0},
    {"others', a barrier alone", READ_OTHERS_AFTER_BARRIER_ALONE, EMULATE_RACE, 3, 1, 0, 0},
    {"others', wait and barrier", READ_OTHERS_AFTER_WAIT_AND_BARRIER, EMULATE_NO_FAULT, 0, 0, 5, 0},
    {"all groups but one", WAIT_FOR_ALL_BUT_THE_LAST, EMULATE_RACE, 3, 2, 0, 0},
    {"all of two groups", WAIT_FOR_ALL_OF_TWO, EMULATE_NO_FAULT, 0, 0, 0, THREADS},
    {"no group to wait for", WAIT_WITHOUT_COMMIT, EMULATE_RACE, 3, 1, 0, 0},
    {"a store under way", STORE_WHILE_UNDER_WAY, EMULATE_RACE, 3, 1, 0, 0},
    {"two copies to one place", COPY_TWICE_TO_ONE_PLACE, EMULATE_RACE, 3, 1, 0, 0},
    {"what was there before", READ_OLD_WHILE_UNDER_WAY, EMULATE_RACE, 3, 1, 0, 0},
    {"the source changes", SOURCE_CHANGES, EMULATE_RACE, 0, 0, 0, 0},
    {"the source changes later", SOURCE_CHANGES_LATER, EMULATE_RACE, 0, 0, 0, 0},
    {"the source changes between", SOURCE_CHANGES_BETWEEN, EMULATE_RACE, 1, 0, 0, 0},
    {"the own source changes", OWN_SOURCE_CHANGES_BETWEEN, EMULATE_RACE, 1, 0, 0, 0},
    {"past the end", COPY_PAST_THE_END, EMULATE_OUT_OF_BOUNDS, 1, 0, 0, 0},
};

static void copies_land_when_waited_for(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {copies};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        for (size_t row = 0; row < COUNT_OF(copy_rows); row++) {
            for (int i = 0; i < BENCH_FLOATS; i++)
                b->inputs.data[i] = (float)i;
            step = copy_rows[row].step;
            bool ok = bench_run(b, phases, 1, THREADS, 2);
            bench_expect(b, ok, copy_rows[row].fault, copy_rows[row].name);
            if (copy_rows[row].now)
                assert_int_equal(b->finding.now.site, copy_rows[row].now);
            if (copy_rows[row].before) {
                assert_int_equal(b->finding.before.site, copy_rows[row].before);
                assert_int_equal(b->finding.before.act, EMULATE_COPIES);
            }
            for (uint32_t i = 0; i < 2 * THREADS && ok; i++) {
                uint32_t first = (i + copy_rows[row].first) % THREADS,
                         second = copy_rows[row].second;
                float wanted = (float)(4 * first + 1);
                wanted += second ? (float)(4 * (i % THREADS + second) + 1) : 0;
                assert_true(b->outputs.data[i] == wanted);
            }
        }
        bench_free(b);
    }
}

static void sources_may_change_after_the_wait(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {copies};
    emulate_bench *b = bench_new(&bench_orders[2]);
    step = SOURCE_CHANGES_AFTERWARDS;
    b->inputs.data[512 + 4 * 7 + 1] = 33;
    bool ok = bench_run(b, phases, 1, THREADS, 2);
    bench_expect(b, ok, EMULATE_NO_FAULT, "the source changes afterwards");
    assert_true(b->outputs.data[THREADS + 7] == 33);
    bench_free(b);
}

static void end_or_read(emulated_thread *t) {
    if (t->workgroup == 0)
        copy(t, t->thread, t->thread, 1);
    else
        copied(t, t->thread);
}

static void what_never_landed_is_no_other_groups(void **state) {
    (void)state;
    static const emulated_phase_fn ending[] = {copies}, reading[] = {end_or_read};
    emulate_bench *b = bench_new(&bench_orders[0]);
    step = END_WITHOUT_WAIT;
    assert_true(bench_run(b, ending, 1, THREADS, 3));
    bool ok = bench_run(b, reading, 1, THREADS, 2);
    bench_expect(b, ok, EMULATE_UNINITIALISED, "read by the next group");
    assert_int_equal(b->finding.now.workgroup, 1);
    bench_free(b);
}

/* ---- shuffles ---- */

static uint32_t shuffle_width, shuffle_xor;

static void shuffles(emulated_thread *t) {
    uint32_t width = shuffle_width, lane = t->thread ^ shuffle_xor;
    uint32_t got = t->hooks->shuffle(t, 100 + t->thread, lane, 1 | EMULATED_WIDTH(width));
    store_buffer(t, 1, t->thread, (float)got, 2);
}

static void shuffles_exchange_in_segments(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {shuffles};
    static const struct {
        uint32_t subgroup, width, x, threads;
        emulate_fault fault;
    } cases[] = {{32, 0, 1, 96, EMULATE_NO_FAULT},       {32, 0, 16, 96, EMULATE_NO_FAULT},
                 {64, 0, 32, 128, EMULATE_NO_FAULT},     {32, 8, 7, 96, EMULATE_NO_FAULT},
                 {32, 8, 9, 96, EMULATE_NO_FAULT},       {32, 0, 1, 48, EMULATE_NO_FAULT},
                 {32, 0, 16, 48, EMULATE_UNINITIALISED}, {64, 0, 32, 96, EMULATE_UNINITIALISED}};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        for (size_t c = 0; c < COUNT_OF(cases); c++) {
            uint32_t segment = cases[c].width ? cases[c].width : cases[c].subgroup;
            b->launch.subgroup = cases[c].subgroup;
            shuffle_width = cases[c].width;
            shuffle_xor = cases[c].x;
            bool ok = bench_run(b, phases, 1, cases[c].threads, 1);
            bench_expect(b, ok, cases[c].fault, "shuffle");
            for (uint32_t i = 0; i < cases[c].threads && ok; i++) {
                uint32_t from = i / segment * segment + ((i ^ cases[c].x) % segment);
                assert_true(b->outputs.data[i] == (float)(100 + from));
            }
        }
        bench_free(b);
    }
}

/* Sums of subgroups by halves, and then one of these: a reduction as GPUs do it. */
static void sums(emulated_thread *t) {
    float sum = load_buffer(t, 0, t->thread, 1);
    for (uint32_t half = 16; half; half /= 2) {
        uint32_t bits, other;
        float value;
        memcpy(&bits, &sum, sizeof bits);
        other = t->hooks->shuffle(t, bits, t->thread ^ half, 2);
        memcpy(&value, &other, sizeof value);
        sum += value;
    }
    if (t->thread % 32 == 0)
        store_shared(t, t->thread / 32, sum, 3);
    barrier(t, 4);
    if (t->thread == 0) {
        for (uint32_t i = 1; i < t->threads / 32; i++)
            sum += load_shared(t, i, 5);
        store_buffer(t, 1, t->workgroup, sum, 6);
    }
}

static void shuffles_reduce(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {sums};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        for (int i = 0; i < 1024; i++)
            b->inputs.data[i] = (float)i;
        assert_true(bench_run(b, phases, 1, 1024, 2));
        assert_true(b->outputs.data[0] == 1023 * 512 && b->outputs.data[1] == 1023 * 512);
        bench_free(b);
    }
}

/* ---- ldmatrix ---- */

static uint32_t matrices;
static bool transposed, synchronised;

static void loads_matrices(emulated_thread *t) {
    uint32_t out[4] = {0};
    for (uint32_t i = 0; i < 8; i++) {
        uint16_t value = (uint16_t)(8 * t->thread + i);
        unsigned char *at = t->shared + 16 * t->thread + 2 * i;
        t->hooks->access(t, at, 2, 1 | EMULATED_SHARED | EMULATED_WRITE);
        memcpy(at, &value, 2);
    }
    if (synchronised)
        barrier(t, 2);
    t->hooks->load_matrix(t, t->shared + 16 * t->thread,
                          3 | EMULATED_MATRICES(matrices) | (transposed ? EMULATED_TRANSPOSED : 0),
                          out);
    for (uint32_t m = 0; m < matrices; m++) {
        int64_t at = 8 * t->thread + 2 * m;
        store_buffer(t, 1, at, (float)(out[m] & 0xffff), 4);
        store_buffer(t, 1, at + 1, (float)(out[m] >> 16), 4);
    }
}

/* Row r of matrix m holds 8 * (8 m + r) + column. PTX ISA, "ldmatrix": lane l gets elements
 * (l / 4, l % 4 * 2) and the one right of it; transposed, (l % 4 * 2, l / 4) and the one below. */
static void matrices_are_laid_out_over_lanes(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {loads_matrices};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        for (int way = 0; way < 6; way++) {
            matrices = 1u << way % 3;
            transposed = way >= 3;
            synchronised = true;
            assert_true(bench_run(b, phases, 1, 32, 1));
            for (uint32_t lane = 0; lane < 32; lane++) {
                for (uint32_t i = 0; i < 2 * matrices; i++) {
                    uint32_t row = transposed ? lane % 4 * 2 + i % 2 : lane / 4;
                    uint32_t column = transposed ? lane / 4 : lane % 4 * 2 + i % 2;
                    float wanted = (float)(8 * (8 * (i / 2) + row) + column);
                    assert_true(b->outputs.data[8 * lane + i] == wanted);
                }
            }
        }
        synchronised = false; /* a lane reads what others wrote in the same epoch */
        bool ok = bench_run(b, phases, 1, 32, 1);
        bench_expect(b, ok, EMULATE_RACE, "ldmatrix without a barrier");
        assert_int_equal(b->finding.now.site + b->finding.before.site, 4);
        bench_free(b);
    }
}

/* ---- mma ---- */

static void set_f64(uint32_t *words, double value) {
    memcpy(words, &value, sizeof value);
}

static double entry(uint32_t row, uint32_t column, uint32_t which) {
    return ldexp((double)((row * 37 + column * 11 + which * 5) % 23) - 11,
                 -(int)(row + which) % 9) /
           3.0;
}

static void multiplies_f64(emulated_thread *t) {
    uint32_t a[2], b[2], d[4], lane = t->thread % 32;
    set_f64(a, entry(lane / 4, lane % 4, 1));
    set_f64(b, entry(lane % 4, lane / 4, 2));
    for (uint32_t i = 0; i < 2; i++)
        set_f64(d + (size_t)2 * i, entry(lane / 4, lane % 4 * 2 + i, 3));
    t->hooks->mma(t, 1 | EMULATED_MMA(EMULATED_MMA_F64), a, b, d, d);
    double *out = t->buffers[1];
    for (uint32_t i = 0; i < 2; i++) {
        double *at = &out[t->thread / 32 * 64 + lane / 4 * 8 + lane % 4 * 2 + i];
        t->hooks->access(t, at, sizeof *at, 2 | EMULATED_WRITE);
        memcpy(at, d + (size_t)2 * i, sizeof *at);
    }
}

static void f64_is_a_chain_of_fma(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {multiplies_f64};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        assert_true(bench_run(b, phases, 1, 64, 1));
        for (uint32_t i = 0; i < 128; i++) {
            uint32_t row = i % 64 / 8, column = i % 8;
            double got, wanted = entry(row, column, 3);
            for (uint32_t k = 0; k < 4; k++)
                wanted = fma(entry(row, k, 1), entry(k, column, 2), wanted);
            memcpy(&got, (double *)(void *)b->outputs.data + i, sizeof got);
            assert_true(got == wanted);
        }
        bench_free(b);
    }
}

/* Place of element i of a lane's fragments in the PTX ISA ("Matrix fragments for mma"), kind by
 * kind, as it does. */
typedef struct spot {
    uint32_t row, column;
} spot;

static spot a_16_bits(uint32_t lane, uint32_t i) {
    return (spot){lane / 4 + (i < 2 || (i >= 4 && i < 6) ? 0 : 8),
                  lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}

static spot b_16_bits(uint32_t lane, uint32_t i) {
    return (spot){lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4};
}

static spot a_tf32(uint32_t lane, uint32_t i) {
    return (spot){lane / 4 + (i == 0 || i == 2 ? 0 : 8), lane % 4 + (i < 2 ? 0 : 4)};
}

static spot b_tf32(uint32_t lane, uint32_t i) {
    return (spot){lane % 4 + (i == 0 ? 0 : 4), lane / 4};
}

static spot c_of_two_rows(uint32_t lane, uint32_t i) {
    return (spot){lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

/* AMD's 16x16x16 (Instruction Set Architecture of CDNA3, "Matrix core instructions"): sixteen lanes
 * beside each other have four elements of k, or four rows of the result. */
static spot a_of_wavefront(uint32_t lane, uint32_t i) {
    return (spot){lane % 16, lane / 16 * 4 + i};
}

static spot b_of_wavefront(uint32_t lane, uint32_t i) {
    return (spot){lane / 16 * 4 + i, lane % 16};
}

static const struct {
    emulated_mma_kind kind;
    uint32_t lanes;
    const char *suffix; /* of the unit, behind its family */
    const binary_format *factor, *accumulator;
    uint32_t k, a_count, b_count;
    spot (*a)(uint32_t lane, uint32_t i);
    spot (*b)(uint32_t lane, uint32_t i);
    spot (*c)(uint32_t lane, uint32_t i);
} kinds[] = {
    {EMULATED_MMA_BF16, 32, ".bf16", &binary_bf16, &binary_f32, 16, 8, 4, a_16_bits, b_16_bits,
     c_of_two_rows},
    {EMULATED_MMA_F16, 32, ".f16", &binary_f16, &binary_f32, 16, 8, 4, a_16_bits, b_16_bits,
     c_of_two_rows},
    {EMULATED_MMA_F16_F16, 32, ".f16.f16", &binary_f16, &binary_f16, 16, 8, 4, a_16_bits, b_16_bits,
     c_of_two_rows},
    {EMULATED_MMA_TF32, 32, ".tf32", &binary_tf32, &binary_f32, 8, 4, 2, a_tf32, b_tf32,
     c_of_two_rows},
    {EMULATED_MMA_MFMA_F16, 64, ".f16", &binary_f16, &binary_f32, 16, 4, 4, a_of_wavefront,
     b_of_wavefront, b_of_wavefront},
    {EMULATED_MMA_MFMA_BF16, 64, ".bf16", &binary_bf16, &binary_f32, 16, 4, 4, a_of_wavefront,
     b_of_wavefront, b_of_wavefront},
    {EMULATED_MMA_MFMA_BF16_1K, 64, ".bf16_1k", &binary_bf16, &binary_f32, 16, 4, 4, a_of_wavefront,
     b_of_wavefront, b_of_wavefront},
};
enum { RESULT_COLUMNS = 16 };

static size_t kind;
static bool whole; /* numbers whose sums every unit has exactly */

static uint64_t code_of(const binary_format *format, spot at, uint32_t which) {
    double value = entry(at.row, at.column, which);
    return binary_round(format, whole ? rint(value * 3) : value);
}

static void put(uint32_t *words, uint32_t i, const binary_format *format, uint64_t code) {
    size_t bytes = (size_t)format->storage_bits / 8;
    memcpy((unsigned char *)words + i * bytes, &code, bytes);
}

static void multiplies(emulated_thread *t) {
    uint32_t a[4], b[2], c[4], d[4], lane = t->thread;
    const binary_format *factor = kinds[kind].factor, *accumulator = kinds[kind].accumulator;
    size_t bytes = (size_t)accumulator->storage_bits / 8;
    for (uint32_t i = 0; i < kinds[kind].a_count; i++)
        put(a, i, factor, code_of(factor, kinds[kind].a(lane, i), 1));
    for (uint32_t i = 0; i < kinds[kind].b_count; i++)
        put(b, i, factor, code_of(factor, kinds[kind].b(lane, i), 2));
    for (uint32_t i = 0; i < 4; i++)
        put(c, i, accumulator, code_of(accumulator, kinds[kind].c(lane, i), 3));
    t->hooks->mma(t, 1 | EMULATED_MMA(kinds[kind].kind), a, b, c, d);
    for (uint32_t i = 0; i < 4; i++) {
        spot at = kinds[kind].c(lane, i);
        unsigned char *to =
            (unsigned char *)t->buffers[1] + (at.row * RESULT_COLUMNS + at.column) * 4;
        t->hooks->access(t, to, 4, 2 | EMULATED_WRITE);
        memset(to, 0, 4);
        memcpy(to, (const unsigned char *)d + i * bytes, bytes);
    }
}

/* Computed by the unit, which has tests of its own; whole numbers by plain arithmetic. */
static uint64_t wanted_at(const matrix_unit *unit, spot at) {
    const binary_format *factor = kinds[kind].factor, *accumulator = kinds[kind].accumulator;
    uint64_t row[16], column[16], c = code_of(accumulator, at, 3);
    double sum = binary_value(accumulator, c);
    matrix_factors *factors = calloc(2, sizeof *factors);
    for (uint32_t k = 0; k < kinds[kind].k; k++) {
        row[k] = code_of(factor, (spot){at.row, k}, 1);
        column[k] = code_of(factor, (spot){k, at.column}, 2);
        sum += binary_value(factor, row[k]) * binary_value(factor, column[k]);
    }
    matrix_factors_decode(&factors[0], unit, factor, row, kinds[kind].k);
    matrix_factors_decode(&factors[1], unit, factor, column, kinds[kind].k);
    uint64_t code = matrix_unit_dot(unit, &factors[0], &factors[1], c);
    free(factors);
    return whole ? binary_round(accumulator, sum) : code;
}

/* Every element of the result that the kind has, with the units of that family. */
static void check_kind(emulate_bench *b, const char *family) {
    static const emulated_phase_fn phases[] = {multiplies};
    uint32_t lanes = kinds[kind].lanes;
    char name[64];
    snprintf(name, sizeof name, "%s%s", family ? family : EMULATED_MATRIX_FAMILY,
             kinds[kind].suffix);
    const matrix_unit *unit = matrix_unit_find(name);
    b->launch.subgroup = lanes;
    bool ok = bench_run(b, phases, 1, lanes, 1);
    if (!unit) { /* CDNA2's bf16 is 1k's, CDNA3's is not */
        assert_false(ok);
        assert_int_equal(b->st.code, STATUS_UNAVAILABLE);
        return;
    }
    bench_expect(b, ok, EMULATE_NO_FAULT, name);
    for (uint32_t lane = 0; lane < lanes; lane++)
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t got;
            spot at = kinds[kind].c(lane, i);
            memcpy(&got, &b->outputs.data[at.row * RESULT_COLUMNS + at.column], sizeof got);
            assert_int_equal(got, wanted_at(unit, at));
        }
}

static void subgroups_multiply_as_units_do(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t lanes;
    } families[] = {{NULL, 32},          {"mma.sm80", 32},
                    {"mma.sm90", 32},    {"mma.sm70", 32}, /* has no bf16 */
                    {"mfma.gfx90a", 64}, {"mfma.gfx942", 64}};
    emulate_bench *b = bench_new(&bench_orders[2]);
    for (size_t way = 0; way < 2 * COUNT_OF(families); way++) {
        b->launch.matrix_family = families[way / 2].name;
        whole = way % 2;
        for (kind = 0; kind < COUNT_OF(kinds); kind++)
            if (kinds[kind].lanes == families[way / 2].lanes)
                check_kind(b, families[way / 2].name);
    }
    bench_free(b);
}

static void warps_are_whole(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {multiplies_f64};
    emulate_bench *b = bench_new(&bench_orders[0]);
    assert_false(bench_run(b, phases, 1, 48, 1));
    assert_int_equal(b->st.code, STATUS_INVALID);
    b->launch.subgroup = 64;
    assert_false(bench_run(b, phases, 1, 64, 1));
    assert_int_equal(b->st.code, STATUS_INVALID);
    static const emulated_phase_fn wavefronts[] = {multiplies};
    for (kind = 0; kinds[kind].kind != EMULATED_MMA_MFMA_F16;)
        kind++;
    b->launch.matrix_family = "mfma.gfx942";
    assert_false(bench_run(b, wavefronts, 1, 32, 1)); /* half of one */
    assert_int_equal(b->st.code, STATUS_INVALID);
    bench_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_land_when_waited_for),
        cmocka_unit_test(sources_may_change_after_the_wait),
        cmocka_unit_test(what_never_landed_is_no_other_groups),
        cmocka_unit_test(shuffles_exchange_in_segments),
        cmocka_unit_test(shuffles_reduce),
        cmocka_unit_test(matrices_are_laid_out_over_lanes),
        cmocka_unit_test(f64_is_a_chain_of_fma),
        cmocka_unit_test(subgroups_multiply_as_units_do),
        cmocka_unit_test(warps_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
