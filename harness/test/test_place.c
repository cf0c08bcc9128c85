/* test_place.c - a ceiling that is too low is measured again; a time that is too short is an error.
 */
#include "harness/test/test.h"

#include <stdio.h>
#include <string.h>

#include "place.h"

static json_t *timed(const char *element, json_int_t flops, json_int_t bytes, double median_ns,
                     json_t **internal) {
    *internal = json_pack("{s:s, s:I}", "element", element, "working_set", bytes);
    return json_pack("{s:s, s:n, s:s, s:i, s:I, s:I, s:{s:f}, s:n}", "status", "ok", "why",
                     "profile", "strict", "threads", 1, "flops", flops, "bytes", bytes, "time_ns",
                     "median", median_ns, "roofline");
}

/* Every level at `gbps`, f32 at `gflops`. */
static ceilings uniform(double gflops, double gbps) {
    static const char *const levels[] = {"L1", "L2", "L3", "DRAM"};
    ceilings c;
    ceilings_init(&c, "x86-64-v2+fma");
    c.levels[0].size_bytes = 32 << 10;
    c.levels[1].size_bytes = 1 << 20;
    c.levels[2].size_bytes = 16 << 20;
    ceilings_put(&c, "compute.f32.t1", NULL, gflops, "GFLOP/s");
    for (int i = 0; i < 4; i++) {
        char name[CEILING_NAME_BYTES];
        snprintf(name, sizeof name, "memory.%s.read.t1", levels[i]);
        ceilings_put(&c, name, NULL, gbps, "GB/s");
    }
    return c;
}

static double fraction_of(const json_t *result) {
    return json_number_value(json_object_get(json_object_get(result, "roofline"), "fraction"));
}

typedef struct placing {
    json_int_t flops, bytes;
    double median_ns, gflops, gbps;
    const char *status, *bound, *resource;
} placing;

static void place_one(const placing *p) {
    ceilings c = uniform(p->gflops, p->gbps);
    status st = STATUS_INIT;
    char resource[CEILING_NAME_BYTES];
    json_t *internal, *result = timed("f32", p->flops, p->bytes, p->median_ns, &internal);
    assert_true(place_result(&c, result, internal, resource, &st));
    assert_string_equal(json_string_value(json_object_get(result, "status")), p->status);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(result, "roofline"), "bound")), p->bound);
    assert_string_equal(resource, p->resource);
    bool error = strcmp(p->status, "error") == 0;
    assert_int_equal(fraction_of(result) > 1.05, error);
    assert_int_equal(json_is_string(json_object_get(result, "why")), error);
    json_decref(internal);
    json_decref(result);
}

/* A quarter of a megabyte in a millisecond is slow on any machine, and so is a megaflop. */
static void a_ceiling_that_is_too_low_is_measured_again(void **state) {
    (void)state;
    place_one(&(placing){0, 256 << 10, 1e6, 1e3, 1e-3, "ok", "memory", "memory.L2:256KiB.t1"});
    place_one(&(placing){1000000, 8, 1e7, 1e-3, 1e3, "ok", "compute", "compute.f32.t1"});
}

static void a_time_that_is_too_short_is_an_error(void **state) {
    (void)state;
    place_one(&(placing){0, 256 << 10, 1e-3, 1e3, 1, "error", "memory", "memory.L2:256KiB.t1"});
    place_one(&(placing){1000000, 8, 1e-3, 1, 1e3, "error", "compute", "compute.f32.t1"});
}

static void shared_levels_are_measured_beside_the_point(void **state) {
    (void)state;
    ceilings c = uniform(1e3, 1e6);
    status st = STATUS_INIT;
    char resource[CEILING_NAME_BYTES];
    json_t *internal, *result = timed("f32", 0, 1 << 30, 1e9, &internal);
    assert_true(place_result(&c, result, internal, resource, &st));
    assert_string_equal(resource, "memory.DRAM:1048576KiB.t1");
    assert_true(ceilings_find(&c, resource)->value < 1e5);
    json_decref(internal);
    json_decref(result);
}

static void what_is_not_timed_has_no_place(void **state) {
    (void)state;
    ceilings c = uniform(1, 1);
    status st = STATUS_INIT;
    char resource[CEILING_NAME_BYTES];
    json_t *internal, *result = timed("f32", 1, 1, 1, &internal);
    json_object_set_new(result, "time_ns", json_null());
    assert_true(place_result(&c, result, internal, resource, &st));
    assert_string_equal(resource, "");
    assert_true(json_is_null(json_object_get(result, "roofline")));
    json_decref(internal);
    json_decref(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ceiling_that_is_too_low_is_measured_again),
        cmocka_unit_test(a_time_that_is_too_short_is_an_error),
        cmocka_unit_test(shared_levels_are_measured_beside_the_point),
        cmocka_unit_test(what_is_not_timed_has_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
