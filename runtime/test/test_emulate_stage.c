/* test_emulate_stage.c - wgmma: factors in shared memory as descriptors say, sums that are there
 * after the wait, and what must not happen before it. */
#include "test/emulate_bench.h"

#include <math.h>

#include "chip/matrix_unit.h"

enum { THREADS = 128, LINES = 64, COLUMNS = 16, SUMS = COLUMNS / 2, RIGHT_AT = 8192 };
enum { K_BYTES = 32, K_MAX = 32, UNIT = 16 };
enum {
    STORE_SITE = 1,
    FIRST_SITE,
    SECOND_SITE,
    LATER_SITE,
    OUT_SITE,
    WARP_SITE,
    BARRIER_SITE = 90
};

/* ---- instructions ---- */

static const struct {
    emulated_mma_kind kind;
    const char *unit;
    const binary_format *factor, *sum;
    uint32_t bytes; /* of a factor's element */
} instructions[] = {
    {EMULATED_MMA_WGMMA_F16, "mma.sm90.f16", &binary_f16, &binary_f32, 2},
    {EMULATED_MMA_WGMMA_I8, "mma.sm80.i8", NULL, NULL, 1},
    {EMULATED_MMA_WGMMA_U8, "mma.sm80.u8", NULL, NULL, 1},
    {EMULATED_MMA_WGMMA_E4M3, "mma.sm90.fp8", &binary_e4m3, &binary_f32, 1},
    {EMULATED_MMA_WGMMA_E5M2, "mma.sm90.fp8", &binary_e5m2, &binary_f32, 1},
};
static uint32_t now; /* the number of the present one */

static uint32_t steps_of_one(void) {
    return K_BYTES / instructions[now].bytes;
}

/* ---- factors: PTX ISA, "Shared Memory Matrix Layout" ---- */

/* Layout of a side: its swizzling mode, whether its lines are side by side, and which 16 bytes of a
 * row are the first of an instruction's; or the left side is in registers. */
typedef struct side_layout {
    uint32_t mode;
    bool turned;
    uint32_t first;
} side_layout;

enum { HELD = 4 }; /* in place of a mode */

static const uint32_t row_bytes[] = {16, 128, 64, 32};

/* The table of atoms: unit u of row r is where unit u xor this is without swizzling. */
static uint32_t phase_of(uint32_t mode, uint32_t row) {
    return mode == 1 ? row % 8 : mode == 2 ? row / 2 % 4 : mode == 3 ? row / 4 % 2 : 0;
}

enum { PLAIN_LEADING = 128, PLAIN_STRIDE = 256 };

static uint32_t byte_of(const side_layout *s, uint32_t line, uint32_t k) {
    uint32_t row = s->turned ? k : line, column = s->turned ? line : k, bytes = row_bytes[s->mode],
             each = UNIT / instructions[now].bytes, unit = column / each,
             within = column % each * instructions[now].bytes;
    if (s->mode == 0) /* atoms of 8 rows; the left side's next 8 lines, the next 8 steps */
        return row % 8 * 16 + within + (s->turned ? unit : row / 8) * PLAIN_STRIDE +
               (s->turned ? row / 8 : unit) * PLAIN_LEADING;
    if (!s->turned)
        return row * bytes + ((s->first + unit) ^ phase_of(s->mode, row)) * 16 + within;
    uint32_t units = bytes / 16, panel = unit / units;
    return panel * steps_of_one() * bytes + row * bytes +
           (unit % units ^ phase_of(s->mode, row)) * 16 + within;
}

static uint64_t descriptor_of(const emulated_thread *t, const side_layout *s, uint32_t at) {
    uint64_t start = (uintptr_t)t->shared + at + s->first * 16, bytes = row_bytes[s->mode];
    uint64_t leading = s->mode == 0 ? PLAIN_LEADING
                       : s->turned  ? steps_of_one() * bytes
                                    : 16,
             stride = s->mode == 0 ? PLAIN_STRIDE : 8 * bytes;
    return (start & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 |
           (uint64_t)s->mode << 62;
}

static double entry(uint32_t line, uint32_t k, uint32_t which) {
    return (double)((line * 37 + k * 11 + which * 5) % 23) - 11;
}

static uint64_t code_of(uint32_t line, uint32_t k, uint32_t which) {
    const binary_format *format = which == 3 ? instructions[now].sum : instructions[now].factor;
    const uint32_t whole = (uint32_t)(int32_t)entry(line, k, which);
    return format       ? binary_round(format, entry(line, k, which) / 3)
           : which == 3 ? whole
                        : (uint8_t)whole;
}

static side_layout sides[2];
static uint32_t left_out; /* an element that nobody writes, and one more */

static void put_factor(emulated_thread *t, int side, uint32_t line, uint32_t k) {
    unsigned char *at = t->shared + (side ? RIGHT_AT : 0) + byte_of(&sides[side], line, k);
    uint64_t code = code_of(line, k, side ? 2 : 1);
    uint32_t bytes = instructions[now].bytes;
    t->hooks->access(t, at, bytes, STORE_SITE | EMULATED_SHARED | EMULATED_WRITE);
    memcpy(at, &code, bytes);
}

static void put_factors(emulated_thread *t) {
    const uint32_t k = steps_of_one();
    for (uint32_t i = t->thread; i < LINES * k && sides[0].mode != HELD; i += THREADS)
        if (i + 1 != left_out)
            put_factor(t, 0, i / k, i % k);
    for (uint32_t i = t->thread; i < COLUMNS * k; i += THREADS)
        put_factor(t, 1, i / k, i % k);
}

/* ---- sums: "Matrix Fragments for wgmma.mma_async.m64nNk16" ---- */

static uint32_t row_of(uint32_t thread, uint32_t i) {
    return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}

static uint32_t column_of(uint32_t thread, uint32_t i) {
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

static void begin_sums(const emulated_thread *t, uint32_t *sums) {
    for (uint32_t i = 0; i < SUMS; i++)
        sums[i] = (uint32_t)code_of(row_of(t->thread, i), column_of(t->thread, i), 3);
}

static void put_sums(emulated_thread *t, const uint32_t *sums) {
    for (uint32_t i = 0; i < SUMS; i++) {
        float value;
        memcpy(&value, &sums[i], sizeof value);
        store_buffer(t, 1, row_of(t->thread, i) * COLUMNS + column_of(t->thread, i), value,
                     OUT_SITE);
    }
}

/* "Register Fragments for wgmma.mma_async.m64nNk16", and k32, matrix A. */
static void hold_left(const emulated_thread *t, uint32_t words[4]) {
    const uint32_t bytes = instructions[now].bytes, each = 4 / bytes;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t row = t->thread / 32 * 16 + t->thread % 32 / 4 + i % 2 * 8,
                 column = t->thread % 4 * each + i / 2 * 4 * each;
        for (uint32_t k = 0; k < each; k++) {
            uint64_t code = code_of(row, column + k, 1);
            memcpy((unsigned char *)&words[i] + k * bytes, &code, bytes);
        }
    }
}

static void multiply(emulated_thread *t, uint32_t *sums, uint32_t site) {
    uint32_t shape = EMULATED_COLUMNS(COLUMNS) | (sides[0].turned ? EMULATED_A_TURNED : 0) |
                     (sides[1].turned ? EMULATED_B_TURNED : 0),
             left[4];
    bool held = sides[0].mode == HELD;
    if (held)
        hold_left(t, left);
    shape |= held ? EMULATED_A_REGISTERS : 0;
    uint64_t a = held ? (uintptr_t)left : descriptor_of(t, &sides[0], 0);
    t->hooks->wgmma(t, site | EMULATED_MMA(instructions[now].kind), shape, a,
                    descriptor_of(t, &sides[1], RIGHT_AT), sums);
}

/* After so many products, one after the other. */
static uint32_t wanted_at(uint32_t row, uint32_t column, int products) {
    const matrix_unit *unit = matrix_unit_find(instructions[now].unit);
    const binary_format *format = instructions[now].factor;
    matrix_factors *factors = calloc(2, sizeof *factors);
    uint64_t codes[2][K_MAX], sum = code_of(row, column, 3);
    assert_non_null(factors);
    for (uint32_t k = 0; k < steps_of_one(); k++) {
        codes[0][k] = code_of(row, k, 1);
        codes[1][k] = code_of(column, k, 2);
    }
    for (int i = 0; i < 2; i++)
        matrix_factors_decode(&factors[i], unit, format ? format : unit->factors[0], codes[i],
                              steps_of_one());
    for (int i = 0; i < products; i++)
        sum = matrix_unit_dot(unit, &factors[0], &factors[1], sum);
    free(factors);
    return (uint32_t)sum;
}

static void expect_sums(const emulate_bench *b, int products) {
    for (uint32_t i = 0; i < LINES * COLUMNS; i++) {
        uint32_t got;
        memcpy(&got, &b->outputs.data[i], sizeof got);
        assert_int_equal(got, wanted_at(i / COLUMNS, i % COLUMNS, products));
    }
}

static emulate_bench *stage_bench(const emulate_order *order) {
    emulate_bench *b = bench_new(order);
    b->launch.shared_bytes = 2 * RIGHT_AT;
    return b;
}

/* ---- layouts ---- */

static void multiplies(emulated_thread *t) {
    uint32_t sums[SUMS];
    put_factors(t);
    t->hooks->fence_async(t);
    barrier(t, BARRIER_SITE);
    begin_sums(t, sums);
    t->hooks->wgmma_fence(t);
    multiply(t, sums, FIRST_SITE);
    multiply(t, sums, SECOND_SITE);
    t->hooks->wgmma_commit(t);
    t->hooks->wgmma_wait(t, 0, sums, SUMS);
    put_sums(t, sums);
}

static void descriptors_say_where_factors_are(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {multiplies};
    static const side_layout layouts[] = {
        {0, false, 0}, {1, false, 0}, {1, false, 4}, {2, false, 2}, {3, false, 0},
        {0, true, 0},  {1, true, 0},  {2, true, 0},  {3, true, 0},  {HELD, false, 0}};
    emulate_bench *b = stage_bench(&bench_orders[2]);
    for (now = 0; now < COUNT_OF(instructions); now++)
        for (size_t i = 0; i < COUNT_OF(layouts); i++)
            for (size_t k = 0; k < COUNT_OF(layouts) && layouts[k].mode != HELD; k++) {
                sides[0] = layouts[i];
                sides[1] = layouts[k];
                if (instructions[now].bytes == 1 && (layouts[i].turned || layouts[k].turned))
                    continue;
                bool ok = bench_run(b, phases, 1, THREADS, 1);
                bench_expect(b, ok, EMULATE_NO_FAULT, "a layout");
                expect_sums(b, 2);
            }
    now = 0;
    bench_free(b);
}

static void bytes_are_not_turned(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {multiplies};
    emulate_bench *b = stage_bench(&bench_orders[0]);
    now = 1;
    for (int side = 0; side < 2; side++) {
        sides[side] = (side_layout){1, true, 0};
        sides[!side] = (side_layout){1, false, 0};
        assert_false(bench_run(b, phases, 1, THREADS, 1));
        assert_int_equal(b->st.code, STATUS_CORRUPT);
    }
    now = 0;
    bench_free(b);
}

/* ---- what must not happen ---- */

typedef enum stage_step {
    AS_IT_SHOULD_BE,
    NO_FENCE_OF_MEMORY,
    FENCE_BEHIND_THE_BARRIER,
    NO_BARRIER,
    NO_FENCE_OF_SUMS,
    NO_WAIT,
    SUMS_WAIT_FOR_ALL_BUT_THE_LAST,
    NEVER_WRITTEN,
    WRITTEN_AT_ONCE,
    WRITTEN_BEFORE_THE_WAIT,
    WRITTEN_BY_ITSELF,
    WRITTEN_AFTER_THE_WAIT_ALONE,
    WRITTEN_AFTER_WAIT_AND_BARRIER,
    WRITTEN_AFTER_A_WAIT_FOR_NONE,
    COPIED_TO_BEFORE_THE_WAIT,
    COPY_NOT_WAITED_FOR,
    ONE_THREAD_LEAVES,
    SUMS_ARE_MIXED
} stage_step;

static stage_step step;

/* Element `line` of the left side, by a thread whose warp reads others of it, too. */
static void overwrite(emulated_thread *t) {
    unsigned char *at = t->shared + byte_of(&sides[0], t->thread / 2, 0);
    if (t->thread % 2)
        return;
    t->hooks->access(t, at, 2, LATER_SITE | EMULATED_SHARED | EMULATED_WRITE);
    memset(at, 0, 2);
}

static void copy_over(emulated_thread *t) {
    if (t->thread % 2)
        return;
    t->hooks->copy_async(t, t->shared + (size_t)t->thread / 2 * 128, t->buffers[0], 16, LATER_SITE);
    t->hooks->copy_commit(t);
}

static void before_products(emulated_thread *t) {
    put_factors(t);
    if (step == COPY_NOT_WAITED_FOR)
        copy_over(t);
    if (step != NO_FENCE_OF_MEMORY && step != FENCE_BEHIND_THE_BARRIER)
        t->hooks->fence_async(t);
    if (step != NO_BARRIER)
        barrier(t, BARRIER_SITE);
    if (step == FENCE_BEHIND_THE_BARRIER)
        t->hooks->fence_async(t);
    if (step != NO_FENCE_OF_SUMS)
        t->hooks->wgmma_fence(t);
}

static void before_wait(emulated_thread *t) {
    if (step == WRITTEN_BEFORE_THE_WAIT || step == COPIED_TO_BEFORE_THE_WAIT)
        barrier(t, BARRIER_SITE + 1);
    if (step == WRITTEN_AT_ONCE || step == WRITTEN_BEFORE_THE_WAIT)
        overwrite(t);
    if (step == WRITTEN_BY_ITSELF && t->thread == 5)
        put_factor(t, 0, 2, 0); /* which it reads: the third of its warp's rows */
    if (step == COPIED_TO_BEFORE_THE_WAIT)
        copy_over(t);
}

static void after_wait(emulated_thread *t) {
    if (step == WRITTEN_AFTER_WAIT_AND_BARRIER || step == WRITTEN_AFTER_A_WAIT_FOR_NONE)
        barrier(t, BARRIER_SITE + 2);
    if (step >= WRITTEN_AFTER_THE_WAIT_ALONE && step <= WRITTEN_AFTER_A_WAIT_FOR_NONE)
        overwrite(t);
}

static void one_product(emulated_thread *t) {
    uint32_t sums[SUMS];
    before_products(t);
    begin_sums(t, sums);
    if (step == ONE_THREAD_LEAVES && t->thread == 77)
        return;
    multiply(t, sums, FIRST_SITE);
    t->hooks->wgmma_commit(t);
    if (step == SUMS_ARE_MIXED) {
        sums[3] = 0;
        multiply(t, sums, SECOND_SITE);
    }
    before_wait(t);
    if (step == WRITTEN_AFTER_A_WAIT_FOR_NONE)
        t->hooks->wgmma_wait(t, 1, NULL, 0);
    else if (step != NO_WAIT)
        t->hooks->wgmma_wait(t, step == SUMS_WAIT_FOR_ALL_BUT_THE_LAST, sums, SUMS);
    after_wait(t);
    t->hooks->wgmma_wait(t, 0, NULL, 0);
    put_sums(t, sums);
}

static const struct {
    const char *name;
    stage_step step;
    emulate_fault fault;
    uint32_t now, before; /* sites, where no order of threads changes which is which */
    bool sums;            /* they are there */
} step_rows[] = {
    {"as it should be", AS_IT_SHOULD_BE, EMULATE_NO_FAULT, 0, 0, true},
    {"no fence of memory", NO_FENCE_OF_MEMORY, EMULATE_UNFENCED, FIRST_SITE, STORE_SITE, false},
    {"a fence behind the barrier", FENCE_BEHIND_THE_BARRIER, EMULATE_UNFENCED, FIRST_SITE,
     STORE_SITE, false},
    {"no barrier", NO_BARRIER, EMULATE_RACE, FIRST_SITE, STORE_SITE, false},
    {"no fence of sums", NO_FENCE_OF_SUMS, EMULATE_UNFENCED, FIRST_SITE, 0, false},
    {"no wait", NO_WAIT, EMULATE_NO_FAULT, 0, 0, false},
    {"a wait for all but the last", SUMS_WAIT_FOR_ALL_BUT_THE_LAST, EMULATE_NO_FAULT, 0, 0, false},
    {"never written", NEVER_WRITTEN, EMULATE_UNINITIALISED, FIRST_SITE, 0, false},
    {"written at once", WRITTEN_AT_ONCE, EMULATE_RACE, LATER_SITE, FIRST_SITE, false},
    {"written before the wait", WRITTEN_BEFORE_THE_WAIT, EMULATE_RACE, FIRST_SITE, LATER_SITE,
     false},
    {"written by who reads it", WRITTEN_BY_ITSELF, EMULATE_RACE, STORE_SITE, FIRST_SITE, false},
    {"written after the wait", WRITTEN_AFTER_THE_WAIT_ALONE, EMULATE_RACE, LATER_SITE, FIRST_SITE,
     false},
    {"written after wait and barrier", WRITTEN_AFTER_WAIT_AND_BARRIER, EMULATE_NO_FAULT, 0, 0,
     true},
    {"written after a wait for none", WRITTEN_AFTER_A_WAIT_FOR_NONE, EMULATE_RACE, FIRST_SITE,
     LATER_SITE, false},
    {"copied to before the wait", COPIED_TO_BEFORE_THE_WAIT, EMULATE_RACE, FIRST_SITE, LATER_SITE,
     false},
    {"a copy that is on its way", COPY_NOT_WAITED_FOR, EMULATE_RACE, 0, 0, false},
    {"one thread leaves", ONE_THREAD_LEAVES, EMULATE_DIVERGENT_BARRIER, FIRST_SITE, 0, false},
    {"sums and others", SUMS_ARE_MIXED, EMULATE_UNFENCED, SECOND_SITE, 0, false},
};

static void check_step(emulate_bench *b, size_t row) {
    static const emulated_phase_fn phases[] = {one_product};
    step = step_rows[row].step;
    left_out = step == NEVER_WRITTEN ? 40 : 0;
    bool ok = bench_run(b, phases, 1, THREADS, 1);
    bench_expect(b, ok, step_rows[row].fault, step_rows[row].name);
    if (step_rows[row].now)
        assert_int_equal(b->finding.now.site, step_rows[row].now);
    if (step_rows[row].before)
        assert_int_equal(b->finding.before.site, step_rows[row].before);
    if (step_rows[row].sums)
        expect_sums(b, 1);
    for (uint32_t i = 0; i < LINES * COLUMNS && ok && !step_rows[row].sums; i++)
        assert_true(isnan(b->outputs.data[i]));
}

static void products_are_waited_for(void **state) {
    (void)state;
    sides[0] = (side_layout){1, false, 0};
    sides[1] = (side_layout){2, true, 0};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = stage_bench(&bench_orders[o]);
        for (size_t row = 0; row < COUNT_OF(step_rows); row++)
            check_step(b, row);
        bench_free(b);
    }
    left_out = 0;
}

/* The last warp waits for the others, of which each exchanges something by itself first. */
static void exchanges_and_multiplies(emulated_thread *t) {
    if (t->thread / 32 < 3)
        t->hooks->shuffle(t, t->thread, t->thread % 32 ^ 1, WARP_SITE);
    multiplies(t);
}

static void warps_come_when_they_can(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {exchanges_and_multiplies};
    sides[0] = sides[1] = (side_layout){1, false, 0};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = stage_bench(&bench_orders[o]);
        bool ok = bench_run(b, phases, 1, THREADS, 1);
        bench_expect(b, ok, EMULATE_NO_FAULT, "warps by themselves");
        expect_sums(b, 2);
        bench_free(b);
    }
}

static void warpgroups_are_whole(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {multiplies};
    emulate_bench *b = stage_bench(&bench_orders[0]);
    sides[0] = sides[1] = (side_layout){0, false, 0};
    assert_false(bench_run(b, phases, 1, 96, 1));
    assert_int_equal(b->st.code, STATUS_INVALID);
    bench_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_say_where_factors_are),
        cmocka_unit_test(bytes_are_not_turned),
        cmocka_unit_test(products_are_waited_for),
        cmocka_unit_test(warps_come_when_they_can),
        cmocka_unit_test(warpgroups_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
