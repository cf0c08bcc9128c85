/* test_emulate_slots.c - slots that one thread fills with boxes of tensors and others multiply:
 * what arrives, and what must not happen before it does or before a slot is given back. */
#include "test/emulate_bench.h"

#include "base/binary_format.h"

enum {
    COMPUTES = 128,
    THREADS = 160,
    LINES = 64,
    COLUMNS = 16,
    K = 16,
    SUMS = COLUMNS / 2,
    SLOTS = 2,
    STAGES = 5,
    ROW_BYTES = K * 2,
    RIGHT_AT = LINES * ROW_BYTES,
    SLOT_BYTES = 4096,
    BARRIERS_AT = SLOTS * SLOT_BYTES,
    STAGE_BYTES = (LINES + COLUMNS) * ROW_BYTES
};
#define ANY EMULATE_FAULT_COUNT
enum {
    OPEN_SITE = 1,
    CLAIM_SITE,
    EXPECT_SITE,
    LEFT_SITE,
    RIGHT_SITE,
    WAIT_SITE,
    MULTIPLY_SITE,
    FREE_SITE,
    OUT_SITE,
    BARRIER_SITE
};

typedef enum slot_step {
    AS_IT_SHOULD_BE,
    NO_FENCE_OF_BARRIERS,
    NO_BARRIER,
    NO_CLAIM,
    NO_WAIT,
    NO_FREE,
    FREED_TOO_EARLY,
    TOO_FEW_BYTES_COME,
    ONE_SLOT_TOO_EARLY,
    PRODUCTS_OVERLAP
} slot_step;

static slot_step step;

/* ---- data: rows of 16 elements; a left side of 64, and a right one of those behind them ---- */

static double entry(uint32_t row, uint32_t k) {
    return (double)((row * 7 + k * 3) % 11) - 5;
}

static void put_rows(emulate_bench *b) {
    for (uint32_t i = 0; i < (LINES + COLUMNS) * K; i++) {
        uint16_t code = (uint16_t)binary_round(&binary_f16, entry(i / K, i % K));
        memcpy((unsigned char *)b->inputs.data + 2 * (size_t)i, &code, sizeof code);
    }
}

static int64_t rows_there = LINES + COLUMNS; /* what is behind them is zeros */

static emulated_map map_of(int64_t rows) {
    return (emulated_map){.element_bytes = 2,
                          .rank = 2,
                          .dims = {K, rows_there},
                          .strides = {1, K},
                          .box = {K, rows}};
}

/* ---- the kernel ---- */

static unsigned char *barrier_at(emulated_thread *t, uint32_t stage, bool given_back) {
    return t->shared + BARRIERS_AT + stage % SLOTS * 16 + given_back * 8;
}

static void open_slots(emulated_thread *t) {
    for (uint32_t i = 0; i < SLOTS && t->thread == 0; i++) {
        t->hooks->slot_open(t, barrier_at(t, i, false), 1, OPEN_SITE);
        t->hooks->slot_open(t, barrier_at(t, i, true), COMPUTES / 32, OPEN_SITE);
    }
    if (step != NO_FENCE_OF_BARRIERS)
        t->hooks->fence_async(t);
    if (step != NO_BARRIER)
        barrier(t, BARRIER_SITE);
}

static void load_stages(emulated_thread *t) {
    const emulated_map left = map_of(LINES), right = map_of(COLUMNS);
    for (uint32_t n = 0; n < STAGES; n++) {
        unsigned char *slot = t->shared + n % SLOTS * SLOT_BYTES, *came = barrier_at(t, n, false);
        uint32_t rounds = n / SLOTS - (step == ONE_SLOT_TOO_EARLY && n > SLOTS);
        if (step != NO_CLAIM)
            t->hooks->slot_wait(t, barrier_at(t, n, true), rounds - 1, CLAIM_SITE);
        t->hooks->slot_expect(t, came, STAGE_BYTES + 32 * (step == TOO_FEW_BYTES_COME),
                              EXPECT_SITE);
        t->hooks->fetch(t, slot, &left, (int32_t[]){0, 0}, came, LEFT_SITE);
        t->hooks->fetch(t, slot + RIGHT_AT, &right, (int32_t[]){0, LINES}, came, RIGHT_SITE);
    }
}

/* "Shared Memory Matrix Layout": rows of 32 bytes, eight of them 256. */
static uint64_t descriptor_of(const unsigned char *at) {
    const uint64_t mode = 3, stride = UINT64_C(8) * ROW_BYTES;
    return ((uintptr_t)at & 0x3ffff) >> 4 | UINT64_C(1) << 16 | stride >> 4 << 32 | mode << 62;
}

static void multiply(emulated_thread *t, uint32_t stage, uint32_t *sums) {
    unsigned char *slot = t->shared + stage % SLOTS * SLOT_BYTES;
    t->hooks->wgmma_fence(t);
    t->hooks->wgmma(t, MULTIPLY_SITE | EMULATED_MMA(EMULATED_MMA_WGMMA_F16),
                    EMULATED_COLUMNS(COLUMNS), descriptor_of(slot), descriptor_of(slot + RIGHT_AT),
                    sums);
    t->hooks->wgmma_commit(t);
}

static void give_back(emulated_thread *t, uint32_t stage) {
    if (step != NO_FREE)
        t->hooks->slot_free(t, barrier_at(t, stage, true), t->thread % 32, FREE_SITE);
}

static void multiply_stages(emulated_thread *t, uint32_t *sums) {
    for (uint32_t n = 0; n < STAGES; n++) {
        if (step != NO_WAIT)
            t->hooks->slot_wait(t, barrier_at(t, n, false), n / SLOTS, WAIT_SITE);
        multiply(t, n, sums);
        if (step == FREED_TOO_EARLY)
            give_back(t, n);
        t->hooks->wgmma_wait(t, step == PRODUCTS_OVERLAP, sums,
                             step == PRODUCTS_OVERLAP ? 0 : SUMS);
        if (step != FREED_TOO_EARLY && (step != PRODUCTS_OVERLAP || n > 0))
            give_back(t, n - (step == PRODUCTS_OVERLAP));
    }
    t->hooks->wgmma_wait(t, 0, sums, SUMS);
}

static void kernel(emulated_thread *t) {
    uint32_t sums[SUMS] = {0};
    open_slots(t);
    if (t->thread == COMPUTES)
        load_stages(t);
    if (t->thread >= COMPUTES)
        return;
    multiply_stages(t, sums);
    t->hooks->barrier_of(t, COMPUTES, BARRIER_SITE + 1);
    for (uint32_t i = 0; i < SUMS; i++) {
        float value;
        memcpy(&value, &sums[i], sizeof value);
        uint32_t row = t->thread / 32 * 16 + t->thread % 32 / 4 + i / 2 % 2 * 8,
                 column = i / 4 * 8 + t->thread % 4 * 2 + i % 2;
        store_buffer(t, 1, row * COLUMNS + column, value, OUT_SITE);
    }
}

/* ---- what is expected ---- */

static void expect_sums(const emulate_bench *b) {
    for (uint32_t i = 0; i < LINES * COLUMNS; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < K && LINES + i % COLUMNS < rows_there; k++)
            sum += entry(i / COLUMNS, k) * entry(LINES + i % COLUMNS, k);
        assert_true((double)b->outputs.data[i] == STAGES * sum);
    }
}

static const struct {
    const char *name;
    slot_step step;
    emulate_fault fault;  /* a race: or what was to come is missed, and nobody can go on */
    uint32_t now, before; /* sites, where no order of threads changes which is which */
} rows[] = {
    {"as it should be", AS_IT_SHOULD_BE, EMULATE_NO_FAULT, 0, 0},
    {"products overlap", PRODUCTS_OVERLAP, EMULATE_NO_FAULT, 0, 0},
    {"no fence of barriers", NO_FENCE_OF_BARRIERS, EMULATE_UNFENCED, LEFT_SITE, OPEN_SITE},
    {"no barrier", NO_BARRIER, ANY, 0, 0},
    {"no claim", NO_CLAIM, ANY, 0, 0},
    {"no wait", NO_WAIT, ANY, 0, 0},
    {"not given back", NO_FREE, EMULATE_DIVERGENT_BARRIER, 0, 0},
    {"given back too early", FREED_TOO_EARLY, EMULATE_RACE, 0, MULTIPLY_SITE},
    {"bytes that never come", TOO_FEW_BYTES_COME, EMULATE_DIVERGENT_BARRIER, 0, 0},
    {"claimed a round too early", ONE_SLOT_TOO_EARLY, ANY, 0, 0},
};

static emulate_bench *slot_bench(const emulate_order *order) {
    emulate_bench *b = bench_new(order);
    b->launch.shared_bytes = BARRIERS_AT + 16 * SLOTS;
    put_rows(b);
    return b;
}

static void slots_are_waited_for(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {kernel};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = slot_bench(&bench_orders[o]);
        for (size_t row = 0; row < COUNT_OF(rows); row++) {
            step = rows[row].step;
            bool ok = bench_run(b, phases, 1, THREADS, 1);
            emulate_fault fault = rows[row].fault == ANY ? b->finding.fault : rows[row].fault;
            bench_expect(b, ok, fault, rows[row].name);
            assert_true(ok == (rows[row].fault == EMULATE_NO_FAULT));
            if (rows[row].now)
                assert_int_equal(b->finding.now.site, rows[row].now);
            if (rows[row].before)
                assert_int_equal(b->finding.before.site, rows[row].before);
            if (ok)
                expect_sums(b);
        }
        bench_free(b);
    }
}

static void what_is_outside_is_zero(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {kernel};
    emulate_bench *b = slot_bench(&bench_orders[2]);
    step = AS_IT_SHOULD_BE;
    rows_there = LINES + 5;
    bool ok = bench_run(b, phases, 1, THREADS, 1);
    bench_expect(b, ok, EMULATE_NO_FAULT, "rows past the end");
    expect_sums(b);
    rows_there = LINES + COLUMNS;
    bench_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_waited_for),
        cmocka_unit_test(what_is_outside_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
