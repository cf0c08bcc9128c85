/* test_changepoints.c - change points in series of known shape, their rate where there is none, and
 * the anchors made of them. */
#include "harness/test/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/philox.h"
#include "statistics/changepoints.h"

enum { LONGEST = 400 };

/* A series: levels that hold for a while, drift per value, relative noise, and some values times a
 * factor. */
typedef struct shape {
    const char *name;
    size_t lengths[4];
    double levels[4], drift, noise;
    size_t outlier_every;
    double outlier_factor;
    size_t found_least, found_most; /* change points */
    size_t near[3];                 /* where, within 3; 0 ends the list */
} shape;

static double gaussian(uint64_t seed, size_t i) {
    return (double)philox_normal(philox_element(seed, i, 0, PHILOX_DOMAIN_INPUTS), 0, 1);
}

static size_t make(const shape *s, uint64_t seed, double *values) {
    size_t count = 0;
    for (int k = 0; k < 4 && s->lengths[k]; k++)
        for (size_t i = 0; i < s->lengths[k]; i++, count++) {
            double level = s->levels[k] * exp(s->drift * (double)count);
            values[count] = level * exp(s->noise * gaussian(seed, count));
            if (s->outlier_every && count % s->outlier_every == s->outlier_every / 2)
                values[count] *= s->outlier_factor;
        }
    return count;
}

static const shape shapes[] = {
    {.name = "none", .lengths = {60}, .levels = {1000}, .noise = 0.01, .found_most = 0},
    {.name = "constant", .lengths = {60}, .levels = {1000}, .found_most = 0},
    {.name = "too short", .lengths = {4, 5}, .levels = {1, 9}, .noise = 0.01, .found_most = 0},
    {.name = "step of 2 %",
     .lengths = {30, 30},
     .levels = {1000, 1020},
     .noise = 0.005,
     .found_least = 1,
     .found_most = 1,
     .near = {30}},
    {.name = "step without noise",
     .lengths = {10, 10},
     .levels = {1000, 1001},
     .found_least = 1,
     .found_most = 1,
     .near = {10}},
    {.name = "there and back",
     .lengths = {25, 25, 25},
     .levels = {1000, 1100, 1000},
     .noise = 0.01,
     .found_least = 2,
     .found_most = 2,
     .near = {25, 50}},
    {.name = "outliers",
     .lengths = {80},
     .levels = {1000},
     .noise = 0.01,
     .outlier_every = 16,
     .outlier_factor = 3,
     .found_most = 0},
    {.name = "step among outliers",
     .lengths = {40, 40},
     .levels = {1000, 1050},
     .noise = 0.01,
     .outlier_every = 16,
     .outlier_factor = 2,
     .found_least = 1,
     .found_most = 1,
     .near = {40}},
    {.name = "creep of 0.1 % a run",
     .lengths = {100},
     .levels = {1000},
     .drift = 0.001,
     .noise = 0.01,
     .found_least = 1,
     .found_most = 8},
};

static void shapes_are_seen(void **state) {
    (void)state;
    static double values[LONGEST];
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const shape *s = &shapes[k];
        changepoint_options o = changepoint_defaults();
        changepoints found;
        size_t count = make(s, 7, values);
        assert_true(changepoints_find(values, count, &o, &found));
        size_t points = found.count - 1;
        if (points < s->found_least || points > s->found_most)
            fail_msg("%s: %zu change points", s->name, points);
        for (size_t i = 0; i < 3 && s->near[i]; i++)
            if (fabs((double)found.segments[i + 1].begin - (double)s->near[i]) > 3)
                fail_msg("%s: a change at %zu", s->name, found.segments[i + 1].begin);
        assert_int_equal(found.segments[0].begin, 0);
        assert_int_equal(found.segments[points].end, count);
        for (size_t i = 1; i < found.count; i++)
            assert_int_equal(found.segments[i].begin, found.segments[i - 1].end);
        changepoints_release(&found);
    }
}

static void medians_are_those_of_the_segments(void **state) {
    (void)state;
    double values[20];
    changepoint_options o = changepoint_defaults();
    changepoints found;
    for (size_t i = 0; i < 20; i++)
        values[i] = (i < 10 ? 100 : 200) + (double)(i % 3);
    assert_true(changepoints_find(values, 20, &o, &found));
    assert_int_equal(found.count, 2);
    assert_true(fabs(found.segments[0].median - 101) < 1e-12);
    assert_true(fabs(found.segments[1].median - 201) < 1e-12);
    assert_true(found.segments[1].p <= 0.01);
    changepoints_release(&found);
}

/* Without a change, a series shows one with at most the probability asked for. 2000 series at 1 %:
 * 20 are expected, and 35 or more have a probability of 0.1 % (binomial). The seeds are fixed, so
 * the count is the same each time. */
static void false_alarms_are_as_rare_as_promised(void **state) {
    (void)state;
    static double values[LONGEST];
    static const shape still = {.lengths = {40}, .levels = {1000}, .noise = 0.02};
    changepoint_options o = changepoint_defaults();
    size_t alarms = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        changepoints found;
        size_t count = make(&still, 1000 + seed, values);
        assert_true(changepoints_find(values, count, &o, &found));
        alarms += found.count > 1;
        changepoints_release(&found);
    }
    print_message("%zu of 2000 series without a change show one\n", alarms);
    assert_true(alarms < 35);
    assert_true(alarms > 5);
}

/* A step of three times the noise, 20 runs before and after it, is found. */
static void true_steps_are_found(void **state) {
    (void)state;
    static double values[LONGEST];
    static const shape step = {.lengths = {20, 20}, .levels = {1000, 1030}, .noise = 0.01};
    changepoint_options o = changepoint_defaults();
    size_t seen = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        changepoints found;
        size_t count = make(&step, 5000 + seed, values);
        assert_true(changepoints_find(values, count, &o, &found));
        for (size_t i = 1; i < found.count; i++)
            seen += found.segments[i].begin >= 18 && found.segments[i].begin <= 22;
        changepoints_release(&found);
    }
    print_message("%zu of 200 steps found within two runs\n", seen);
    assert_true(seen >= 195);
}

static void equal_series_give_equal_answers(void **state) {
    (void)state;
    static double values[LONGEST];
    changepoint_options o = changepoint_defaults();
    for (int k = 0; k < 2; k++) {
        changepoints a, b;
        size_t count = make(&shapes[8 - k], 3, values);
        assert_true(changepoints_find(values, count, &o, &a));
        assert_true(changepoints_find(values, count, &o, &b));
        assert_int_equal(a.count, b.count);
        for (size_t i = 0; i < a.count; i++) {
            assert_int_equal(a.segments[i].begin, b.segments[i].begin);
            assert_true(a.segments[i].p == b.segments[i].p);
        }
        changepoints_release(&a);
        changepoints_release(&b);
    }
}

static void what_is_no_time_is_refused(void **state) {
    (void)state;
    const double wrong[] = {NAN, INFINITY, 0, -1};
    changepoint_options o = changepoint_defaults();
    changepoints found;
    for (size_t i = 0; i < 4; i++) {
        double values[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        values[5] = wrong[i];
        assert_false(changepoints_find(values, 12, &o, &found));
        assert_null(found.segments);
    }
    assert_false(changepoints_find(NULL, 0, &o, &found));
}

/* The score by its definition, for the split that was found. */
static double definition(const double *values, size_t n, size_t count) {
    double across = 0, x = 0, y = 0, m = (double)(count - n), size = (double)n;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            double d = fabs(log(values[i]) - log(values[k]));
            if (i < n && k >= n)
                across += d;
            else if (k < n)
                x += d;
            else
                y += d;
        }
    return size * m / (size + m) *
           (2 / (size * m) * across - 2 * x / (size * (size - 1)) - 2 * y / (m * (m - 1)));
}

/* The sums over trees find the split that has the greatest score by the definition. */
static void the_best_split_is_the_best_by_the_definition(void **state) {
    (void)state;
    static double values[LONGEST];
    changepoint_options o = changepoint_defaults();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        changepoints found;
        shape s = {.lengths = {13, 17}, .levels = {1000, 1100}, .noise = 0.03};
        size_t count = make(&s, 9000 + seed, values), best = o.shortest;
        for (size_t n = o.shortest; n + o.shortest <= count; n++)
            if (definition(values, n, count) > definition(values, best, count))
                best = n;
        assert_true(changepoints_find(values, count, &o, &found));
        if (found.count == 2)
            assert_int_equal(found.segments[1].begin, best);
        changepoints_release(&found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_seen),
        cmocka_unit_test(medians_are_those_of_the_segments),
        cmocka_unit_test(false_alarms_are_as_rare_as_promised),
        cmocka_unit_test(true_steps_are_found),
        cmocka_unit_test(equal_series_give_equal_answers),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(the_best_split_is_the_best_by_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
