/* test_judge.c - the judge of ci/exhaustive finds what is wrong, its filter is held to its bound,
 * and only state of the same code is taken up. */
#include "runtime/test/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dtype.h"
#include "math/check/state.h"

static float results[JUDGE_COUNT];
static const uint32_t base = 0x3f800000; /* inputs from 1 on */

/* The correctly rounded results of a block, as f64 gives them. */
static void fill(const exact_function *f, uint32_t first) {
    for (uint32_t i = 0; i < JUDGE_COUNT; i++)
        results[i] = (float)f->f64((double)f32_from_bits(first + i));
}

static tally judged(const exact_function *f, uint32_t first) {
    tally t = {0};
    exact_judge j;
    exact_init(&j, f);
    judge_block(&t, &j, first, results);
    exact_release(&j);
    return t;
}

static void test_right_results_pass(void **state) {
    static const char *const names[] = {"exp",  "exp2",     "expm1", "log", "log2", "log1p",
                                        "tanh", "logistic", "erf",   "sin", "cos",  "rsqrt"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        fill(exact_find(names[i]), base);
        tally t = judged(exact_find(names[i]), base);
        assert_null(tally_complaint(&t, true));
        assert_int_equal(t.misrounded, 0);
        assert_true(t.ulp > 0.49 && t.ulp <= 0.5);
        assert_true(t.verified >= 4 && t.asked >= 1 && t.excess < 1);
        assert_int_equal(t.errors.count, HARD_ERRORS);
    }
    assert_null(exact_find("exp3"));
}

static void test_wrong_results_are_found(void **state) {
    const exact_function *exp_function = exact_find("exp");
    (void)state;
    fill(exp_function, base);
    results[77] = f32_from_bits(f32_bits(results[77]) + 1);
    tally t = judged(exp_function, base);
    assert_int_equal(t.misrounded, 1);
    assert_non_null(tally_complaint(&t, true));
    assert_true(t.ulp > 0.5 && t.ulp <= 1.5 && t.at == base + 77);
    assert_int_equal(t.errors.items[0].at, base + 77);
    results[78] = f32_from_bits(f32_bits(results[78]) + 2);
    t = judged(exp_function, base);
    assert_non_null(tally_complaint(&t, false));
    fill(exp_function, base);
    results[3] = NAN;
    t = judged(exp_function, base);
    assert_int_equal(t.wrong, 1);
    assert_non_null(tally_complaint(&t, false));
    fill(exact_find("sin"), 0);
    results[0] = -0.0f;
    t = judged(exact_find("sin"), 0);
    assert_int_equal(t.wrong, 1);
    fill(exp_function, base);
    t = judged(exp_function, base);
    t.differing = 1;
    assert_non_null(tally_complaint(&t, false));
}

static void test_special_values_are_judged(void **state) {
    const exact_function *log_function = exact_find("log");
    (void)state;
    fill(log_function, 0); /* zero and the least subnormals */
    tally t = judged(log_function, 0);
    assert_int_equal(t.wrong + t.misrounded, 0);
    assert_true(t.ends.count >= 2);
    results[0] = -FLT_MAX;
    t = judged(log_function, 0);
    assert_int_equal(t.wrong, 1);
    fill(log_function, 0x7f800000 - JUDGE_COUNT / 2); /* to the infinity and NaN */
    t = judged(log_function, 0x7f800000 - JUDGE_COUNT / 2);
    assert_null(tally_complaint(&t, false));
    results[JUDGE_COUNT / 2] = FLT_MAX;
    results[JUDGE_COUNT / 2 + 1] = 1;
    t = judged(log_function, 0x7f800000 - JUDGE_COUNT / 2);
    assert_int_equal(t.wrong, 2);
}

static double bad_exp(double x) {
    return exp(x) * (1 + 0x1p-46);
}

/* A filter that is off by four times its margin must not pass for one within it. */
static void test_the_filter_is_verified(void **state) {
    const exact_function bad = {"exp", bad_exp, mpfr_exp};
    (void)state;
    fill(&bad, base);
    tally t = judged(&bad, base);
    assert_true(t.unsafe > 0 && t.excess > 3.9 && t.excess < 4.1);
    assert_non_null(tally_complaint(&t, false));
}

static void test_exact_errors(void **state) {
    exact_judge j;
    (void)state;
    exact_init(&j, exact_find("exp"));
    assert_true(exact_nearest(&j, 0) == 1);
    assert_true(exact_error(&j, 0, 1) == 0);
    assert_true(exact_error(&j, 0, 1 - 0x1p-24f) == 1); /* the spacing below a power of two */
    assert_true(exact_error(&j, 0, 1 + 0x1p-23f) == 2);
    assert_true(isinf(exact_nearest(&j, 89)) && exact_error(&j, 89, HUGE_VALF) == 0);
    assert_true(exact_error(&j, 89, FLT_MAX) > 1);
    assert_true(exact_nearest(&j, -104) == 0 && exact_nearest(&j, -103.9f) == 0x1p-149f);
    exact_release(&j);
    exact_init(&j, exact_find("logistic"));
    assert_true(exact_nearest(&j, 0) == 0.5f && exact_nearest(&j, 0x1p-149f) == 0.5f);
    assert_true(exact_nearest(&j, FLT_MAX) == 1 && exact_nearest(&j, -FLT_MAX) == 0);
    assert_true(exact_nearest(&j, -HUGE_VALF) == 0 && exact_nearest(&j, HUGE_VALF) == 1);
    assert_true(exact_nearest(&j, -103.5f) == 0x1p-149f);
    exact_release(&j);
}

static void test_tallies_merge_in_any_order(void **state) {
    const exact_function *f = exact_find("tanh");
    tally one = {0}, other = {0}, parts[4];
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        fill(f, base + i * JUDGE_COUNT);
        parts[i] = judged(f, base + i * JUDGE_COUNT);
    }
    for (uint32_t i = 0; i < 4; i++) {
        tally_merge(&one, &parts[i]);
        tally_merge(&other, &parts[3 - i]);
    }
    assert_int_equal(one.inputs, 4 * JUDGE_COUNT);
    assert_memory_equal(&one, &other, sizeof one);
}

static void test_state_is_of_one_code(void **state) {
    char path[] = "/tmp/tsr-state-XXXXXX";
    static progress_state kept, read;
    sha256 key = {{1}}, other = {{2}};
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_false(state_load(&kept, path, &key));
    kept.done[3] = 1;
    kept.all.inputs = 42;
    assert_true(state_save(&kept, path, NULL));
    assert_true(state_load(&read, path, &key));
    assert_memory_equal(&kept, &read, sizeof kept);
    assert_false(state_load(&read, path, &other));
    assert_int_equal(state_done(&read), 0);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 100, SEEK_SET);
    fputc(7, file);
    fclose(file);
    assert_false(state_load(&read, path, &key));
    assert_int_equal(read.all.inputs, 0);
    close(fd);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_results_pass),
        cmocka_unit_test(test_wrong_results_are_found),
        cmocka_unit_test(test_special_values_are_judged),
        cmocka_unit_test(test_the_filter_is_verified),
        cmocka_unit_test(test_exact_errors),
        cmocka_unit_test(test_tallies_merge_in_any_order),
        cmocka_unit_test(test_state_is_of_one_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
