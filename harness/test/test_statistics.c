/* test_statistics.c - the median's interval against tables, and its coverage against chance. */
#include "harness/test/test.h"

#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "doctor/doctor.h"
#include "statistics/statistics.h"

static void assert_near(double got, double wanted) {
    assert_true(fabs(got - wanted) <= 1e-9 * (1 + fabs(wanted)));
}

static void odd_and_even_medians(void **state) {
    (void)state;
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};
    assert_near(statistics_of(odd, 3).median, 3);
    assert_near(statistics_of(even, 4).median, 2.5);
}

static void one_sample_claims_nothing(void **state) {
    (void)state;
    double one[] = {7};
    statistics s = statistics_of(one, 1);
    assert_near(s.low, 7);
    assert_near(s.high, 7);
    assert_near(s.confidence, 0);
}

/* 1 - 2 * P(X < j) by hand: n = 5 gives the range at 1 - 2/32; n = 11 gives ranks 2 and 10 at 1 -
 * 24/2048. */
static void few_samples_say_what_they_are_worth(void **state) {
    (void)state;
    double five[] = {1, 2, 3, 4, 5}, eleven[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    statistics s = statistics_of(five, 5);
    assert_near(s.low, 1);
    assert_near(s.high, 5);
    assert_near(s.confidence, 1 - 2.0 / 32);
    s = statistics_of(eleven, 11);
    assert_near(s.low, 2);
    assert_near(s.high, 10);
    assert_near(s.confidence, 1 - 24.0 / 2048);
    assert_near(s.minimum, 1);
    assert_near(s.interquartile, 5);
    assert_near(s.p95, 10.5);
}

/* The interval must hold the true median as often as it says: a skewed distribution with median 1.
 */
static void the_interval_covers_as_often_as_it_says(void **state) {
    (void)state;
    enum { TRIALS = 4000, SAMPLES = 31 };
    int covered = 0;
    double confidence = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        double values[SAMPLES];
        for (uint32_t i = 0; i < SAMPLES; i++) {
            double u = (double)philox_uniform(philox_element(1, i, trial, 7), 0, 1);
            values[i] = u < 0.5 ? 2 * u : 1 / (2.0000001 - 2 * u);
        }
        statistics s = statistics_of(values, SAMPLES);
        covered += s.low <= 1 && 1 <= s.high;
        confidence = s.confidence;
    }
    assert_true(confidence >= 0.95 && confidence < 0.99);
    assert_true(fabs((double)covered / TRIALS - confidence) < 0.015);
}

/* Ten pairs that agree are not believed where rounds within a process differ by more than the gate
 * looks for. */
static void a_busy_machine_is_not_quiet(void **state) {
    (void)state;
    assert_true(doctor_enough(0.006, 0.02));
    assert_true(doctor_enough(0.006, 0.15));
    assert_false(doctor_enough(0.006, 1.76));
    assert_false(doctor_enough(0.03, 0.02));
    assert_false(doctor_enough(INFINITY, 0.02));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_and_even_medians),
        cmocka_unit_test(one_sample_claims_nothing),
        cmocka_unit_test(few_samples_say_what_they_are_worth),
        cmocka_unit_test(a_busy_machine_is_not_quiet),
        cmocka_unit_test(the_interval_covers_as_often_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
