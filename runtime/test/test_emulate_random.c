/* test_emulate_random.c - the emulator against a comparison of all pairs of accesses, on random
 * kernels: it finds a race where one of the pairs is one, and nowhere else. And orders are orders.
 */
#include "test/emulate_bench.h"

#include "base/splitmix64.h"

/* ---- random kernels ---- */

enum { GROUPS = 3, THREADS = 5, EPOCHS = 3, MOST = 4, RANGE = 48, KERNELS = 3000 };

typedef struct event {
    uint32_t offset, bytes;
    bool write, shared;
} event;

static event script[GROUPS][THREADS][EPOCHS][MOST];
static uint32_t counts[GROUPS][THREADS][EPOCHS];

/* The site of an access is its number. */
static uint32_t site_of(uint32_t group, uint32_t thread, uint32_t epoch, uint32_t i) {
    return ((group * THREADS + thread) * EPOCHS + epoch) * MOST + i + 1;
}

static uint32_t below(uint64_t *random, uint32_t limit) {
    return (uint32_t)(splitmix64(random) >> 33) % limit;
}

/* Few accesses, or every kernel had a race. */
static void write_script(uint64_t *random) {
    uint32_t many = 1 + below(random, 30), mostly_read = below(random, 2) * 6;
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < many; i++) {
        uint32_t g = below(random, GROUPS), t = below(random, THREADS), p = below(random, EPOCHS);
        uint32_t *count = &counts[g][t][p], bytes = 1u << below(random, 5);
        bool aligned = below(random, 4) != 0;
        uint32_t offset = below(random, RANGE - bytes + 1);
        if (*count == MOST)
            continue;
        script[g][t][p][(*count)++] = (event){.offset = aligned ? offset / bytes * bytes : offset,
                                              .bytes = bytes,
                                              .write = below(random, 2 + mostly_read) == 0,
                                              .shared = below(random, 2) == 0};
    }
}

static void plays(emulated_thread *t) {
    const event *e;
    if (t->thread == 0)
        for (uint32_t i = 0; i < RANGE; i += 16)
            t->hooks->access(t, t->shared + i, 16, EMULATED_SHARED | EMULATED_WRITE);
    for (uint32_t p = 0; p < EPOCHS; p++) {
        barrier(t, p);
        for (uint32_t i = 0; i < counts[t->workgroup][t->thread][p]; i++) {
            e = &script[t->workgroup][t->thread][p][i];
            unsigned char *base = e->shared ? t->shared : (unsigned char *)t->buffers[0];
            t->hooks->access(t, base + e->offset, e->bytes,
                             site_of((uint32_t)t->workgroup, t->thread, p, i) |
                                 (e->write ? EMULATED_WRITE : 0) |
                                 (e->shared ? EMULATED_SHARED : 0));
        }
    }
}

/* ---- the same by comparing ---- */

static const event *event_at(uint32_t site, uint32_t *group, uint32_t *thread, uint32_t *epoch) {
    uint32_t i = (site - 1) % MOST, rest = (site - 1) / MOST;
    *epoch = rest % EPOCHS;
    *thread = rest / EPOCHS % THREADS;
    *group = rest / EPOCHS / THREADS;
    return i < counts[*group][*thread][*epoch] ? &script[*group][*thread][*epoch][i] : NULL;
}

static bool is_race(uint32_t one, uint32_t two) {
    uint32_t group[2], thread[2], epoch[2];
    const event *a = event_at(one, &group[0], &thread[0], &epoch[0]);
    const event *b = event_at(two, &group[1], &thread[1], &epoch[1]);
    if (!a || !b || a->shared != b->shared || !(a->write || b->write) ||
        a->offset >= b->offset + b->bytes || b->offset >= a->offset + a->bytes)
        return false;
    if (group[0] != group[1])
        return !a->shared;
    return thread[0] != thread[1] && epoch[0] == epoch[1];
}

static bool has_race(void) {
    uint32_t last = site_of(GROUPS - 1, THREADS - 1, EPOCHS - 1, MOST - 1);
    for (uint32_t one = 1; one <= last; one++)
        for (uint32_t two = one + 1; two <= last; two++)
            if (is_race(one, two))
                return true;
    return false;
}

static void races_are_what_a_comparison_finds(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {plays};
    uint64_t random = 23;
    uint32_t with = 0;
    emulate_bench *b[COUNT_OF(bench_orders)];
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++)
        b[o] = bench_new(&bench_orders[o]);
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        write_script(&random);
        bool race = has_race();
        with += race;
        for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
            const emulate_finding *f = &b[o]->finding;
            bool ok = bench_run(b[o], phases, 1, THREADS, GROUPS);
            bench_expect(b[o], ok, race ? EMULATE_RACE : EMULATE_NO_FAULT, "random kernel");
            if (race)
                assert_true(is_race(f->now.site, f->before.site));
        }
    }
    assert_true(with > KERNELS / 5 && with < KERNELS * 4 / 5);
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++)
        bench_free(b[o]);
}

/* ---- orders ---- */

static void orders_have_each_place_once(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 7, 8, 9, 100, 255, 256, 257, 1000, 4096};
    static unsigned char seen[4096];
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            memset(seen, 0, sizeof seen);
            for (uint64_t place = 0; place < sizes[s]; place++) {
                uint64_t at = emulate_order_at(&bench_orders[o], place, sizes[s]);
                assert_true(at < sizes[s] && !seen[at]);
                seen[at] = 1;
            }
        }
    }
    assert_int_equal(emulate_order_at(&bench_orders[1], 3, 10), 6);
    size_t moved = 0;
    for (uint64_t place = 0; place < 100; place++)
        moved += emulate_order_at(&bench_orders[2], place, 100) !=
                 emulate_order_at(&bench_orders[3], place, 100);
    assert_true(moved > 50); /* seeds give other orders */
}

static void orders_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        emulate_order order;
    } names[] = {{NULL, true, {EMULATE_FORWARD, 0}},
                 {"", true, {EMULATE_FORWARD, 0}},
                 {"forward", true, {EMULATE_FORWARD, 0}},
                 {"reversed", true, {EMULATE_REVERSED, 0}},
                 {"shuffled:0", true, {EMULATE_SHUFFLED, 0}},
                 {"shuffled:18446744073709551615", true, {EMULATE_SHUFFLED, UINT64_MAX}},
                 {"shuffled:18446744073709551616", false, {EMULATE_FORWARD, 0}},
                 {"shuffled:", false, {EMULATE_FORWARD, 0}},
                 {"shuffled:-1", false, {EMULATE_FORWARD, 0}},
                 {"shuffled:1x", false, {EMULATE_FORWARD, 0}},
                 {"backward", false, {EMULATE_FORWARD, 0}}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        emulate_order order;
        status st = STATUS_INIT;
        assert_int_equal(emulate_order_parse(names[i].text, &order, &st), names[i].ok);
        assert_int_equal(st.code, names[i].ok ? STATUS_OK : STATUS_INVALID);
        assert_int_equal(order.kind, names[i].order.kind);
        assert_int_equal(order.seed, names[i].order.seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(races_are_what_a_comparison_finds),
        cmocka_unit_test(orders_have_each_place_once),
        cmocka_unit_test(orders_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
