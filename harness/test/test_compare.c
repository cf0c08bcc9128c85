/* test_compare.c - comparison of tensors, NaN, infinities and bounds included. */
#include "harness/test/test.h"

#include <math.h>
#include <string.h>

#include "check/compare.h"

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
    bound_check c = compare_bound(&r, &b, &g);
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
    /* Without a promise anything holds. */
    assert_int_equal(against(NAN, INFINITY, 1).beyond, 0);
    assert_int_equal(against(1, INFINITY, NAN).beyond, 0);
    assert_int_equal(against(INFINITY, INFINITY, -INFINITY).beyond, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bits_agree),
        cmocka_unit_test(a_mismatch_is_told_in_full),
        cmocka_unit_test(the_sign_of_zero_is_a_bit),
        cmocka_unit_test(errors_are_held_to_their_bound),
        cmocka_unit_test(special_values_match_their_own_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
