/* test_gate.c - the gate's statistics: against enumeration, against known values, and against their
 * own promises on made-up noise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/host/host.h"
#include "gate/gate.h"
#include "statistics/plan.h"
#include "statistics/rank.h"
#include "test.h"

/* cmocka compares floats alone. */
static void assert_near(double is, double wanted, double tolerance) {
    if (fabs(is - wanted) > tolerance)
        fail_msg("%.12g, not %.12g", is, wanted);
}

/* Numbers that look random and are the same everywhere. */
static double draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Sum of twelve uniforms: close enough to normal, with unit variance. */
static double draw_normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += draw(state);
    return sum;
}

/* ---- signed ranks ---- */

static int by_size(const void *a, const void *b) {
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* All sign patterns, one by one: what the fast way must agree with. */
static double enumerated(const double *values, size_t count, double shift) {
    double d[16], ranks[16];
    for (size_t i = 0; i < count; i++)
        d[i] = values[i] - shift;
    qsort(d, count, sizeof *d, by_size);
    for (size_t i = 0; i < count; i++) {
        size_t first = i, last = i;
        while (first > 0 && fabs(d[first - 1]) == fabs(d[i]))
            first--;
        while (last + 1 < count && fabs(d[last + 1]) == fabs(d[i]))
            last++;
        ranks[i] = (double)(first + last) / 2 + 1;
    }
    double seen = 0;
    for (size_t i = 0; i < count; i++)
        seen += d[i] > 0 ? ranks[i] : 0;
    size_t as_great = 0;
    for (size_t pattern = 0; pattern < (size_t)1 << count; pattern++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += pattern >> i & 1 ? ranks[i] : 0;
        as_great += sum >= seen;
    }
    return (double)as_great / (double)((size_t)1 << count);
}

static void signed_ranks_agree_with_enumeration(void **state) {
    (void)state;
    uint64_t random = 7;
    for (size_t count = 1; count <= 12; count++)
        for (int trial = 0; trial < 20; trial++) {
            double values[12];
            for (size_t i = 0; i < count; i++) /* coarse: ties are common */
                values[i] = round(draw_normal(&random) * 3);
            double shift = trial % 3 - 1, wanted = enumerated(values, count, shift);
            assert_near(rank_above(values, count, shift), wanted, 1e-12);
            for (size_t i = 0; i < count; i++)
                values[i] = -values[i];
            assert_near(rank_below(values, count, -shift), wanted, 1e-12);
        }
}

static void all_on_one_side_is_the_least_p(void **state) {
    (void)state;
    double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_near(rank_above(values, 8, 0), 1.0 / 256, 1e-15);
    assert_near(rank_least_p(8), 1.0 / 256, 1e-15);
    assert_near(rank_below(values, 8, 0), 1, 1e-15);
    assert_near(rank_above(values, 0, 0), 1, 0);
}

/* The textbook's example: Hollander and Wolfe's depression scores, table 3.1. */
static void centre_of_the_textbook(void **state) {
    (void)state;
    double z[] = {-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010};
    assert_near(rank_centre(z, 9), -0.46, 1e-9);
    assert_near(rank_below(z, 9, 0), 0.01953125, 1e-9);
    rank_interval i = rank_centre_interval(z, 9, 0.95);
    assert_near(i.low, -0.786, 1e-9);
    assert_near(i.high, -0.010, 1e-9);
    assert_near(i.confidence, 0.9609375, 1e-9);
}

static void intervals_cover_as_they_say(void **state) {
    (void)state;
    uint64_t random = 11;
    int covered = 0, trials = 4000;
    double confidence = 0;
    for (int t = 0; t < trials; t++) {
        double values[10];
        for (int i = 0; i < 10; i++)
            values[i] = draw_normal(&random) + 3;
        rank_interval i = rank_centre_interval(values, 10, 0.95);
        covered += i.low <= 3 && 3 <= i.high;
        confidence = i.confidence;
    }
    assert_true(confidence >= 0.95);
    assert_true(fabs((double)covered / trials - confidence) < 0.01);
}

/* ---- rank sums ---- */

static void rank_sums_of_known_samples(void **state) {
    (void)state;
    double a[] = {1, 2, 3}, b[] = {4, 5, 6};
    rank_samples s = {a, b, 3, 3};
    assert_near(rank_sum_above(&s, 0), 1.0 / 20, 1e-12);
    assert_near(rank_sum_least_p(3, 3), 1.0 / 20, 1e-12);
    assert_near(rank_sum_below(&s, 0), 1, 1e-12);
    assert_near(rank_shift(&s), 3, 1e-12);
    assert_near(rank_sum_above(&s, 3), 14.0 / 20,
                1e-12); /* three ties: 8 of 20 draws are as they are */
    rank_samples empty = {a, b, 0, 3};
    assert_near(rank_sum_above(&empty, 0), 1, 0);
    double one[] = {1}, two[] = {2};
    rank_samples single = {one, two, 1, 1};
    rank_interval i = rank_shift_interval(&single, 0.95);
    assert_near(i.low, 1, 0);
    assert_near(i.high, 1, 0);
    assert_near(i.confidence, 0, 1e-12);
}

/* ---- the plan ---- */

static plan plan_for(size_t family, size_t pairs) {
    plan p;
    plan_request request = {0.005, 0.02, 0.01, 0.95, family, pairs};
    plan_make(&p, &request);
    return p;
}

static void shares_add_up_to_all_of_the_error(void **state) {
    (void)state;
    static const size_t families[] = {1, 12, 480, 5000}, limits[] = {0, 3, 9, 30};
    for (size_t f = 0; f < 4; f++)
        for (size_t l = 0; l < 4; l++) {
            plan p = plan_for(families[f], limits[l]);
            double change = 0, equal = 0;
            size_t before = 0;
            for (size_t i = 0; i < p.look_count; i++) {
                change += p.looks[i].change_share;
                equal += p.looks[i].equal_level;
                assert_true(p.looks[i].pairs > before);
                before = p.looks[i].pairs;
                assert_true(limits[l] == 0 || before <= limits[l]);
            }
            assert_near(change, 1, 1e-12);
            assert_near(equal, 0.025, 1e-12);
        }
}

/* Enough pairs that the first look at changes can find one. */
static void looks_grow_with_the_family(void **state) {
    (void)state;
    size_t before = 0;
    for (size_t family = 1; family <= 4096; family *= 8) {
        plan p = plan_for(family, 0);
        const plan_look *first = &p.looks[1];
        assert_true(rank_least_p(first->pairs) <= 0.005 * first->change_share / (double)family);
        assert_true(first->pairs > before);
        before = first->pairs;
    }
    plan p = plan_for(10, 0);
    assert_int_equal(plan_next(&p, 0), p.looks[0].pairs);
    assert_int_equal(plan_next(&p, p.looks[p.look_count - 1].pairs), 0);
}

typedef struct outcome {
    size_t slower, faster, equal;
    double detectable;
} outcome;

/* One gate over `family` series with this centre and noise, looked at as the gate does. */
static outcome simulate(size_t family, double centre, double noise, uint64_t *random) {
    plan p = plan_for(family, 0);
    plan_series *series = calloc(family, sizeof *series);
    const plan_series **all = calloc(family, sizeof *all);
    plan_change *changes = calloc(family, sizeof *changes);
    bool *open = calloc(family, sizeof *open);
    for (size_t i = 0; i < family; i++) {
        plan_series_init(&series[i]);
        all[i] = &series[i];
        open[i] = true;
    }
    for (size_t look = 0; look < p.look_count; look++) {
        for (size_t i = 0; i < family; i++)
            while (open[i] && series[i].count < p.looks[look].pairs)
                series[i].values[series[i].count++] = log1p(centre) + noise * draw_normal(random);
        for (size_t i = 0; i < family; i++)
            plan_look_at(&p, &series[i]);
        plan_decide(&p, all, family, changes, NULL);
        for (size_t i = 0; i < family; i++)
            open[i] = open[i] && changes[i] == PLAN_NONE && !series[i].equal;
    }
    outcome o = {.detectable = plan_detectable(&p, &series[0])};
    for (size_t i = 0; i < family; i++) {
        o.slower += changes[i] == PLAN_SLOWER;
        o.faster += changes[i] == PLAN_FASTER;
        o.equal += changes[i] == PLAN_NONE && series[i].equal;
    }
    free(series);
    free(all);
    free(changes);
    free(open);
    return o;
}

/* The worst case for false positives: every series lies at the margin, with much noise, so that no
 * look can prove equality first. */
static void false_positives_stay_below_alpha(void **state) {
    (void)state;
    uint64_t random = 3;
    size_t wrong = 0, gates = 1500;
    for (size_t i = 0; i < gates; i++)
        wrong += simulate(5, 0.005, 0.05, &random).slower > 0;
    assert_true(plan_lower_limit(wrong, gates, 0.99) <= 0.005);
}

static void equal_series_are_equal(void **state) {
    (void)state;
    uint64_t random = 5;
    size_t equal = 0, changed = 0;
    for (int i = 0; i < 100; i++) {
        outcome o = simulate(12, 0, 0.004, &random);
        equal += o.equal;
        changed += o.slower + o.faster;
    }
    assert_int_equal(changed, 0);
    assert_true(equal >= 1190);
}

static void changes_of_the_bound_are_found(void **state) {
    (void)state;
    uint64_t random = 9;
    size_t slower = 0, faster = 0, trials = 0;
    for (int i = 0; i < 40; i++) {
        slower += simulate(50, 0.02, 0.006, &random).slower;
        faster += simulate(50, -0.02, 0.006, &random).faster;
        trials += 50;
    }
    assert_true(plan_upper_limit(slower, trials, 0.99) >= 0.95);
    assert_true((double)slower / (double)trials >= 0.95);
    assert_true((double)faster / (double)trials >= 0.95);
}

static void noise_makes_the_detectable_effect_greater(void **state) {
    (void)state;
    uint64_t random = 13;
    double quiet = simulate(10, 0, 0.003, &random).detectable;
    double loud = simulate(10, 0, 0.06, &random).detectable;
    assert_true(quiet > 0.005 && quiet < 0.02);
    assert_true(loud > 0.02);
    plan p = plan_for(480, 8); /* so few pairs can prove nothing of so many cases */
    plan_series s;
    plan_series_init(&s);
    s.count = 8;
    assert_true(isinf(plan_detectable(&p, &s)));
}

static void holm_is_stepwise(void **state) {
    (void)state;
    plan p = plan_for(3, 0);
    plan_series s[3];
    const plan_series *all[3] = {&s[0], &s[1], &s[2]};
    plan_change changes[3];
    double adjusted[3];
    static const double slower[] = {0.0016, 0.0024, 0.2};
    for (int i = 0; i < 3; i++) {
        plan_series_init(&s[i]);
        s[i].slower = slower[i];
    }
    /* 3 * 0.0016 and 2 * 0.0024 are below 0.005: the second needs the first. */
    plan_decide(&p, all, 3, changes, adjusted);
    assert_int_equal(changes[0], PLAN_SLOWER);
    assert_int_equal(changes[1], PLAN_SLOWER);
    assert_int_equal(changes[2], PLAN_NONE);
    assert_near(adjusted[0], 0.0048, 1e-12);
    s[0].slower = 0.5;
    plan_decide(&p, all, 3, changes, adjusted);
    assert_int_equal(changes[1], PLAN_NONE);
}

/* ---- why there is no verdict ---- */

static void a_clock_that_changed_is_named(void **state) {
    (void)state;
    static const double steady[] = {1, 1.02, 1, 1.01, 1, 1, 1.03, 1},
                        held_back[] = {1, 1.3, 1, 1.3, 1, 1.31, 1, 1};
    gate_settings settings = {.margin = 0.005, .bound = 0.02};
    gate g = {.settings = &settings, .best_clock_ns = 1};
    for (int throttled = 0; throttled < 2; throttled++) {
        gate_row row = {.detectable = 0.05, .replicas = 4};
        for (size_t i = 0; i < 8; i++)
            vec_push(&row.clock_ns, throttled ? held_back[i] : steady[i]);
        gate_settle_unsure(&g, &row);
        assert_int_equal(row.verdict, GATE_INCONCLUSIVE);
        assert_int_equal(row.reason, throttled ? REASON_THROTTLED : REASON_NOISY);
        assert_int_equal(gate_row_exit(&g, &row), EXIT_NO_VERDICT);
        free(row.why);
        vec_release(&row.clock_ns);
    }
}

/* A thousand million FLOPs in a nanosecond; and in a second. */
static void what_is_faster_than_the_machine_fails(void **state) {
    (void)state;
    for (int possible = 0; possible < 2; possible++) {
        char profile[] = "strict";
        gate_side_unit unit = {.profile = profile, .threads = 1};
        gate_row row = {.verdict = GATE_IMPROVED,
                        .units = {&unit, &unit},
                        .element = "f32",
                        .facts = {{0}, {1000000000, 4096, 0, 0, 0}},
                        .working_set_bytes = 4096,
                        .change.median_ns = {2e9, possible ? 1e9 : 1}};
        gate g = {.settings = &(gate_settings){0}};
        status st = STATUS_INIT;
        snprintf(row.isa[1], sizeof row.isa[1], "%s", host_isa());
        vec_push(&g.rows, row);
        assert_true(gate_roof(&g, &st));
        assert_int_equal(g.rows.items[0].verdict, possible ? GATE_IMPROVED : GATE_FAILED);
        assert_int_equal(g.rows.items[0].reason, possible ? REASON_NONE : REASON_ABOVE_ROOF);
        free(g.rows.items[0].why);
        vec_release(&g.rows);
    }
}

/* Reasons that cannot be accepted are accepted by nobody. */
static void only_some_reasons_can_be_allowed(void **state) {
    (void)state;
    gate_settings settings = {0};
    gate g = {.settings = &settings};
    for (int i = 0; i < REASON_COUNT; i++)
        settings.allowed[i] = true;
    for (int i = 0; i < REASON_COUNT; i++) {
        gate_row row = {.verdict = GATE_INCONCLUSIVE, .reason = (gate_reason)i};
        bool forgiven = gate_reasons[i].allowable || gate_reasons[i].code == EXIT_DONE;
        assert_int_equal(gate_row_exit(&g, &row) == EXIT_DONE, forgiven);
        row.verdict = GATE_REGRESSED;
        assert_int_equal(gate_row_exit(&g, &row), EXIT_CHECK);
    }
}

/* ---- limits ---- */

static void limits_of_clopper_and_pearson(void **state) {
    (void)state;
    assert_near(plan_upper_limit(0, 299, 0.95), 1 - pow(0.05, 1.0 / 299), 1e-9);
    assert_near(plan_lower_limit(299, 299, 0.95), pow(0.05, 1.0 / 299), 1e-9);
    assert_near(plan_upper_limit(5, 5, 0.95), 1, 0);
    assert_near(plan_lower_limit(0, 5, 0.95), 0, 1e-9);
    /* 8 of 10 at 97.5 % each way: 0.4439 to 0.9748, as tables have it. */
    assert_near(plan_lower_limit(8, 10, 0.975), 0.4439045, 1e-6);
    assert_near(plan_upper_limit(8, 10, 0.975), 0.9747893, 1e-6);
    assert_near(plan_normal_quantile(0.975), 1.959963985, 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_ranks_agree_with_enumeration),
        cmocka_unit_test(all_on_one_side_is_the_least_p),
        cmocka_unit_test(centre_of_the_textbook),
        cmocka_unit_test(intervals_cover_as_they_say),
        cmocka_unit_test(rank_sums_of_known_samples),
        cmocka_unit_test(shares_add_up_to_all_of_the_error),
        cmocka_unit_test(looks_grow_with_the_family),
        cmocka_unit_test(false_positives_stay_below_alpha),
        cmocka_unit_test(equal_series_are_equal),
        cmocka_unit_test(changes_of_the_bound_are_found),
        cmocka_unit_test(noise_makes_the_detectable_effect_greater),
        cmocka_unit_test(holm_is_stepwise),
        cmocka_unit_test(a_clock_that_changed_is_named),
        cmocka_unit_test(what_is_faster_than_the_machine_fails),
        cmocka_unit_test(only_some_reasons_can_be_allowed),
        cmocka_unit_test(limits_of_clopper_and_pearson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
