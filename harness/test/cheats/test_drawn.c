/* test_drawn.c - one launch of a part that does nothing is seen with at least the probability that
 * rotation.h states, wherever in the part it is. */
#include "test/test.h"

#include <math.h>
#include <stdio.h>

#include "test/cheats/counted.h"

enum { PARTS = 4000, LAUNCHES = 40 };
static const double chance = 4.0 / LAUNCHES;

/* Counts how often it was seen among PARTS parts; which launch of them it is goes round from
 * `first` to `last`. */
static int times_seen(counted *c, uint64_t launches, uint64_t first, uint64_t last) {
    const uint64_t awakens = launches < COUNTED_SETS ? launches : COUNTED_SETS;
    rotation_timing timing = {c->kernel, launches};
    int seen = 0;
    for (uint64_t i = 0; i < PARTS; i++) {
        status st = STATUS_INIT;
        double ns;
        c->told.launches = 0;
        c->told.left_out = 1 + awakens + first + i % (last - first + 1);
        if (rotation_time(c->rotation, &timing, &ns, &st))
            continue;
        assert_int_equal(st.code, STATUS_MISMATCH);
        seen++;
    }
    print_message("launches %d to %d of %d: seen in %d of %d parts\n", (int)first, (int)last,
                  (int)launches, seen, PARTS);
    return seen;
}

/* 6 standard deviations: what holds fails once in a thousand million runs. */
static int least_of(double probability) {
    return (int)(PARTS * probability - 6 * sqrt(PARTS * probability * (1 - probability)));
}

static void test_wherever_it_is(void **state) {
    static const uint64_t from[] = {0, 5, 15, 25, LAUNCHES - 5};
    static counted c;
    (void)state;
    counted_open(&c, NULL, NULL);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        /* One part in fifty ends before its last launches. */
        double reached = from[i] < LAUNCHES / 2 ? 1 : 0.97;
        assert_true(times_seen(&c, LAUNCHES, from[i], from[i] + 4) >= least_of(chance * reached));
    }
    counted_close(&c);
}

/* No launch is missed of four, or of as many as there are places for. */
static void test_short_parts(void **state) {
    static counted c;
    (void)state;
    counted_open(&c, NULL, NULL);
    for (uint64_t launches = 1; launches <= 4; launches++)
        assert_int_equal(times_seen(&c, launches, 0, launches - 1), PARTS);
    counted_close(&c);
}

static void test_nothing_left_out_is_not_seen(void **state) {
    static counted c;
    status st = STATUS_INIT;
    (void)state;
    counted_open(&c, NULL, NULL);
    rotation_timing timing = {c.kernel, LAUNCHES};
    for (int i = 0; i < PARTS; i++) {
        double ns;
        if (!rotation_time(c.rotation, &timing, &ns, &st))
            fail_msg("%s", st.message);
    }
    counted_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wherever_it_is),
        cmocka_unit_test(test_short_parts),
        cmocka_unit_test(test_nothing_left_out_is_not_seen),
    };
#if !defined(__x86_64__)
    puts("skipped: the kernel is compiled for x86-64");
    return 0;
#endif
    if (host_unavailable()) {
        print_message("skipped: %s\n", host_unavailable());
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
