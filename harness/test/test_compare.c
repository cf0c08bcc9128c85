/* test_compare.c - comparison of tensors, NaN, infinities and bounds included. */
#include "harness/test/test.h"

#include <math.h>
#include <string.h>

#include "check/compare.h"
#include "tessera/compiler.h"

static tensor make(dtype type, int64_t rows, int64_t columns, const double *values) {
    tensor t;
    int64_t dims[] = {rows, columns};
    assert_true(tensor_init(&t, type, 2, dims, NULL));
    for (int64_t i = 0; i < rows * columns; i++)
        dtype_store(type, t.data, (size_t)i, values[i]);
    return t;
}

static void equal_bits_agree(void **state) {
    (void)state;
    double values[] = {1, -0.0, NAN, INFINITY};
    tensor a = make(DTYPE_F32, 2, 2, values), b = make(DTYPE_F32, 2, 2, values);
    comparison c = compare_bits(&a, &b);
    assert_int_equal(c.differing, 0);
    assert_int_equal(c.first, -1);
    tensor_release(&a);
    tensor_release(&b);
}

static void a_mismatch_is_told_in_full(void **state) {
    (void)state;
    double expected[] = {1, 2, 3, 1.25}, got[] = {1, 2, 3, 1.5};
    tensor a = make(DTYPE_F32, 2, 2, expected), b = make(DTYPE_F32, 2, 2, got);
    comparison c = compare_bits(&a, &b);
    text out;
    text_init(&out);
    compare_describe("C", &a, &b, &c, &out);
    assert_string_equal(out.data,
                        "output C[1, 1]: expected 1.25 (0x3fa00000), got 1.5 (0x3fc00000), "
                        "2097152 ULP apart; 1 of 4 differ");
    text_release(&out);
    tensor_release(&a);
    tensor_release(&b);
}

static void the_sign_of_zero_is_a_bit(void **state) {
    (void)state;
    double plus[] = {0}, minus[] = {-0.0};
    tensor a = make(DTYPE_F32, 1, 1, plus), b = make(DTYPE_F32, 1, 1, minus);
    comparison c = compare_bits(&a, &b);
    assert_int_equal(c.differing, 1);
    assert_int_equal(c.max_ulp, 0);
    tensor_release(&a);
    tensor_release(&b);
}

static bound_check against(double reference, double bound, double got) {
    tensor r = make(DTYPE_F64, 1, 1, &reference), b = make(DTYPE_F64, 1, 1, &bound),
           g = make(DTYPE_F32, 1, 1, &got);
    bound_check c = compare_bound(&(bound_reference){.values = &r, .bounds = &b}, &g);
    tensor_release(&r);
    tensor_release(&b);
    tensor_release(&g);
    return c;
}

static void errors_are_held_to_their_bound(void **state) {
    (void)state;
    assert_int_equal(against(1, 0.5, 1.25).beyond, 0);
    assert_true(fabs(against(1, 0.5, 1.25).worst - 0.5) < 1e-12);
    assert_int_equal(against(1, 0.1, 1.25).beyond, 1);
    assert_int_equal(against(3, 0, 3).beyond, 0);
    assert_int_equal(against(3, 0, 4).beyond, 1);
}

/* 3, 4 and 0 have a root mean square of 2.89. */
static void what_is_tolerated_is_counted(void **state) {
    (void)state;
    const double references[] = {3, 4, 0}, zeros[] = {0, 0, 0};
    const struct {
        double got[3], tolerated;
        int64_t beyond, passed;
    } rows[] = {{{3, 4, 0}, 0.01, 0, 0},      {{3.02, 4, 0}, 0.01, 0, 1},
                {{3.2, 4, 0}, 0.01, 1, 0},    {{3, 4, 0.02}, 0.01, 0, 1},
                {{3, 4.02, 0.2}, 0.01, 1, 1}, {{3.02, 4, 0}, 0, 1, 0},
                {{3, INFINITY, NAN}, 1, 2, 0}};
    tensor r = make(DTYPE_F64, 1, 3, references), b = make(DTYPE_F64, 1, 3, zeros);
    assert_true(fabs(compare_scale(&r) - sqrt(25.0 / 3)) < 1e-12);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tensor g = make(DTYPE_F32, 1, 3, rows[i].got);
        bound_check c = compare_bound(&(bound_reference){.values = &r,
                                                         .bounds = &b,
                                                         .tolerated = rows[i].tolerated,
                                                         .scale = compare_scale(&r)},
                                      &g);
        assert_int_equal(c.beyond, rows[i].beyond);
        assert_int_equal(c.tolerated, rows[i].passed);
        tensor_release(&g);
    }
    tensor_release(&r);
    tensor_release(&b);
}

static void special_values_match_their_own_kind(void **state) {
    (void)state;
    assert_int_equal(against(NAN, 0, NAN).beyond, 0);
    assert_int_equal(against(NAN, 1, 0).beyond, 1);
    assert_int_equal(against(0, 1, NAN).beyond, 1);
    assert_int_equal(against(INFINITY, 0, INFINITY).beyond, 0);
    assert_int_equal(against(INFINITY, 0, -INFINITY).beyond, 1);
    assert_int_equal(against(0x1.fffffep127, 0x1p104, INFINITY).beyond, 0);
    assert_int_equal(against(-0x1.fffffep127, 0x1p104, INFINITY).beyond, 1);
    assert_int_equal(against(1, 1, INFINITY).beyond, 1);
}

/* Without a bound nothing is wrong, and nothing judged. */
static void what_has_no_bound_is_not_judged(void **state) {
    static const struct {
        double reference, bound, got;
    } rows[] = {
        {NAN, INFINITY, 1}, {1, INFINITY, NAN}, {INFINITY, INFINITY, -INFINITY}, {1, NAN, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bound_check c = against(rows[i].reference, rows[i].bound, rows[i].got);
        assert_int_equal(c.beyond, 0);
        assert_int_equal(c.unjudged, 1);
    }
    assert_int_equal(against(1, 1, 1.5).unjudged, 0);
}

/* `strict`: the element's strict value. */
static bound_check within(double bound, double low, double high, double nan, double strict,
                          double got) {
    const double limits[] = {low, high, nan}, zero = 0;
    tensor r = make(DTYPE_F64, 1, 1, &zero), b = make(DTYPE_F64, 1, 1, &bound),
           l = make(DTYPE_F64, 1, COMPILER_LIMITS, limits), s = make(DTYPE_F32, 1, 1, &strict),
           g = make(DTYPE_F32, 1, 1, &got);
    bound_check c = compare_bound(
        &(bound_reference){.values = &r, .bounds = &b, .limits = &l, .strict = &s}, &g);
    tensor *all[] = {&r, &b, &l, &s, &g};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tensor_release(all[i]);
    return c;
}

static void limits_exclude_without_judging(void **state) {
    static const struct {
        double bound, low, high, nan, strict, got;
        int beyond, unjudged;
    } rows[] = {
        {1, -1, 1, 1, 0.5, 0.25, 0, 0},                    /* a number, within its bound */
        {1, -1, 1, 1, 0.5, 2, 1, 0},                       /* ... outside */
        {1, -1, 1, 1, 0.5, NAN, 0, 1},                     /* a NaN that may come */
        {1, -1, 1, 1, NAN, NAN, 0, 0},                     /* ... and is the strict one */
        {1, -1, 1, 0, 0.5, NAN, 1, 0},                     /* one that may not */
        {INFINITY, -INFINITY, -9, 1, -20, 42, 1, 0},       /* above all that may come */
        {INFINITY, -INFINITY, -9, 1, -20, -30, 0, 1},      /* may be */
        {INFINITY, -INFINITY, -9, 1, -20, -20, 0, 0},      /* the strict bits */
        {INFINITY, -INFINITY, -9, 0, -20, NAN, 1, 0},      /* a number was promised */
        {INFINITY, -INFINITY, -9, 0, -20, -INFINITY, 0, 1} /* an infinity was not excluded */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bound_check c = within(rows[i].bound, rows[i].low, rows[i].high, rows[i].nan,
                               rows[i].strict, rows[i].got);
        if (c.beyond != rows[i].beyond || c.unjudged != rows[i].unjudged)
            fail_msg("row %zu: %lld outside, %lld not judged", i, (long long)c.beyond,
                     (long long)c.unjudged);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bits_agree),
        cmocka_unit_test(a_mismatch_is_told_in_full),
        cmocka_unit_test(the_sign_of_zero_is_a_bit),
        cmocka_unit_test(errors_are_held_to_their_bound),
        cmocka_unit_test(what_is_tolerated_is_counted),
        cmocka_unit_test(special_values_match_their_own_kind),
        cmocka_unit_test(what_has_no_bound_is_not_judged),
        cmocka_unit_test(limits_exclude_without_judging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
