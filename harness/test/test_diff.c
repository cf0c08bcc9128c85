/* test_diff.c - buckets of the ULP histogram, indices, and the comparison of elements. */
#include "harness/test/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/describe.h"

static int bucket_of(dtype type, double a, double b) {
    uint64_t a_bits = 0, b_bits = 0;
    dtype_store(type, &a_bits, 0, a);
    dtype_store(type, &b_bits, 0, b);
    return histogram_bucket(type, a_bits, b_bits, dtype_ulp_distance(type, a_bits, b_bits));
}

static void assert_label(int bucket, const char *expected) {
    text label;
    text_init(&label);
    histogram_label(bucket, &label);
    assert_string_equal(label.data, expected);
    text_release(&label);
}

static void distances_fall_into_powers_of_two(void **state) {
    (void)state;
    static const struct {
        double apart;
        const char *label;
    } rows[] = {{1, "1"},
                {2, "2"},
                {3, "3-4"},
                {4, "3-4"},
                {5, "5-8"},
                {8, "5-8"},
                {9, "9-16"},
                {0x1p23 + 1, "8388609-16777216"},
                {0x1p24, "8388609-16777216"},
                {0x1p24 + 1, ">2^24"},
                {0x1p62, ">2^24"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_label(bucket_of(DTYPE_I64, 0, rows[i].apart), rows[i].label);
}

static void what_is_no_distance_has_its_own_bucket(void **state) {
    (void)state;
    static const dtype floats[] = {DTYPE_F64, DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    for (int i = 0; i < 4; i++) {
        assert_label(bucket_of(floats[i], 0.0, -0.0), "0");
        assert_label(bucket_of(floats[i], 1, -1), "sign");
        assert_label(bucket_of(floats[i], NAN, 1), "NaN");
        assert_label(bucket_of(floats[i], -1, NAN), "NaN");
    }
    assert_label(bucket_of(DTYPE_I32, 1, -1), "2");
}

static void a_flat_index_becomes_one_for_each_axis(void **state) {
    (void)state;
    const int64_t dims[] = {2, 3, 5};
    int64_t index[TENSOR_MAX_RANK];
    elements_index(3, dims, 29, index);
    assert_int_equal(index[0], 1);
    assert_int_equal(index[1], 2);
    assert_int_equal(index[2], 4);
    text out;
    text_init(&out);
    describe_index(3, dims, 17, &out);
    describe_index(0, dims, 0, &out);
    assert_string_equal(out.data, "[1, 0, 2][]");
    text_release(&out);
}

/* Long enough for several threads; what they find is merged. */
static void the_first_of_many_is_found(void **state) {
    (void)state;
    enum { COUNT = 3 << 20 };
    float *a = calloc(COUNT, sizeof *a), *b = calloc(COUNT, sizeof *b);
    assert_non_null(a);
    assert_non_null(b);
    element_diff d;
    elements_diff(DTYPE_F32, a, b, COUNT, &d);
    assert_int_equal(d.differing, 0);
    assert_int_equal(d.first, -1);
    b[COUNT - 1] = 1;
    b[12345] = NAN;
    b[777] = 0x1p-149f;
    elements_diff(DTYPE_F32, a, b, COUNT, &d);
    assert_int_equal(d.differing, 3);
    assert_int_equal(d.first, 777);
    assert_int_equal(d.max_ulp, 0x3f800000);
    assert_int_equal(d.max_ulp_at, COUNT - 1);
    assert_int_equal(d.histogram[HISTOGRAM_NAN], 1);
    assert_int_equal(d.histogram[1], 1);
    assert_int_equal(d.histogram[HISTOGRAM_BEYOND], 1);
    assert_true(d.max_absolute == 1);
    free(a);
    free(b);
}

/* Each pair alone, in every float type that has infinities. */
static void infinite_differences_are_a_kind_of_their_own(void **state) {
    static const struct {
        double a, b;
        int infinite;
    } rows[] = {{1, INFINITY, 1},
                {INFINITY, 1, 1},
                {-INFINITY, INFINITY, 1},
                {INFINITY, -INFINITY, 1},
                {-INFINITY, 0, 1},
                {INFINITY, INFINITY, 0},
                {2, 2.5, 0},
                {NAN, INFINITY, 0},
                {0.0, -0.0, 0},
                {-1, -INFINITY, 1}};
    static const dtype types[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64, DTYPE_F8E5M2};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            uint64_t a[2] = {0}, b[2] = {0};
            element_diff d;
            dtype_store(types[t], a, 0, rows[i].a);
            dtype_store(types[t], b, 0, rows[i].b);
            dtype_store(types[t], a, 1, 1);
            dtype_store(types[t], b, 1, 1.25);
            elements_diff(types[t], a, b, 2, &d);
            element_pair pair = {types[t], 1, (const int64_t[]){2}, "A", "B", &d};
            json_t *told = describe_elements_json(&pair);
            if (d.infinite != rows[i].infinite ||
                json_is_null(json_object_get(told, "max_absolute")) != (rows[i].infinite > 0) ||
                json_integer_value(json_object_get(told, "infinite_differences")) !=
                    rows[i].infinite)
                fail_msg("%s: %g and %g: %lld infinite differences", dtype_name(types[t]),
                         rows[i].a, rows[i].b, (long long)d.infinite);
            json_decref(told);
        }
    /* The greatest of f16 and of f64 against the infinity behind it; and what f64 cannot hold. */
    element_diff d;
    const uint16_t greatest = 0x7bff, infinity = 0x7c00;
    elements_diff(DTYPE_F16, &greatest, &infinity, 1, &d);
    assert_int_equal(d.infinite, 1);
    assert_int_equal(d.max_ulp, 1);
    const double far = 1.5e308, other = -1.5e308;
    elements_diff(DTYPE_F64, &far, &other, 1, &d);
    assert_int_equal(d.infinite, 1);
}

static void a_nan_equals_any_nan(void **state) {
    (void)state;
    const uint32_t a[] = {0x7fc00000, 0, 0x7fc00000}, b[] = {0x7fc00001, 0, 0xffc00000};
    element_diff d;
    elements_diff(DTYPE_F32, a, b, 3, &d);
    assert_int_equal(d.differing, 0);
    assert_int_equal(d.nan_payloads, 2);
    assert_int_equal(d.first, -1);
}

static void the_histogram_is_drawn(void **state) {
    (void)state;
    uint64_t counts[HISTOGRAM_BUCKETS] = {0};
    text out;
    text_init(&out);
    histogram_draw(counts, true, &out);
    assert_string_equal(out.data, "");
    counts[1] = 40;
    counts[2] = 1;
    counts[9] = 10;
    counts[HISTOGRAM_NAN] = 2;
    histogram_draw(counts, true, &out);
    assert_string_equal(out.data,
                        "          ULP apart     elements\n"
                        "                  1           40  "
                        "########################################\n"
                        "                  2            1  #\n"
                        "                ...\n"
                        "            129-256           10  ##########\n"
                        "                NaN            2  ##  (a NaN against a number)\n");
    text_release(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_fall_into_powers_of_two),
        cmocka_unit_test(what_is_no_distance_has_its_own_bucket),
        cmocka_unit_test(a_flat_index_becomes_one_for_each_axis),
        cmocka_unit_test(the_first_of_many_is_found),
        cmocka_unit_test(a_nan_equals_any_nan),
        cmocka_unit_test(infinite_differences_are_a_kind_of_their_own),
        cmocka_unit_test(the_histogram_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
