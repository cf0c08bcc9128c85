/* test_roofline_place.c - a ceiling that is too low is measured again; a time that is too short is
 * an error.
 */
#include "harness/test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "job/result.h"
#include "run/roofline_place.h"

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

/* New measurements come from here, and not from this machine: a ceiling that is too low at first,
 * and a time for each of the rounds. */
typedef struct fake {
    double gbps[8], gflops[8], times_ns[8]; /* the last one that is not 0 stays */
    const char *status_then;
    int probes, points;
} fake;

static double nth(const double *values, int n) {
    double value = values[0];
    for (int i = 0; i <= n && i < 8 && values[i] > 0; i++)
        value = values[i];
    return value;
}

static bool fake_ceiling(void *context, ceilings *c, const char *resource,
                         const ceiling_set_probe *probe, status *st) {
    fake *f = context;
    char name[CEILING_NAME_BYTES];
    (void)st;
    int n = f->probes++;
    if (resource) {
        ceilings_put(c, resource, NULL, nth(f->gflops, n), "GFLOP/s");
        return true;
    }
    const char *level = ceilings_set_is_shared(c, probe->set_bytes, probe->threads) ? "DRAM" : "L2";
    snprintf(name, sizeof name, "memory.%s:%lluKiB.t1", level,
             (unsigned long long)(probe->set_bytes >> 10));
    ceiling *old = (ceiling *)(uintptr_t)ceilings_find(c, name);
    if (old && !probe->keep_greater)
        old->value = 0;
    ceilings_put(c, name, NULL, nth(f->gbps, n), "GB/s");
    return true;
}

static bool fake_point(void *context, json_t **result, json_t **internal, status *st) {
    fake *f = context;
    (void)internal;
    (void)st;
    json_t *fresh = json_deep_copy(*result);
    json_decref(*result);
    *result = fresh;
    json_object_set_new(json_object_get(fresh, "time_ns"), "median",
                        json_real(nth(f->times_ns, f->points++)));
    json_object_set_new(fresh, "status", json_string(f->status_then ? f->status_then : "ok"));
    return true;
}

typedef struct placement {
    const char *what;
    json_int_t flops, bytes;
    double median_ns; /* at first */
    fake measured;
    const char *status, *resource;
    double fraction;     /* where it is ok */
    int times, ceilings; /* in `again`; 0: nothing was measured again */
} placement;

/* All ceilings are 1 at first: 1 GFLOP/s, 1 GB/s. */
static const placement placings[] = {
    {"below",
     0,
     256 << 10,
     1e6,
     {{9}, {9}, {1}, NULL, 0, 0},
     "ok",
     "memory.L2.read.t1",
     0.262144,
     0,
     0},
    {"a ceiling of arithmetic that was too low",
     1000000,
     8,
     5e5,
     {{9}, {4}, {1}, NULL, 0, 0},
     "ok",
     "compute.f32.t1",
     0.5,
     1,
     2},
    {"one of memory",
     0,
     256 << 10,
     131072,
     {{4}, {9}, {1}, NULL, 0, 0},
     "ok",
     "memory.L2:256KiB.t1",
     0.5,
     1,
     2},
    {"memory in its slow mode, and then in its fast one",
     0,
     1 << 30,
     268435456,
     {{1, 1, 1, 8}, {9}, {268435456}, NULL, 0, 0},
     "ok",
     "memory.DRAM:1048576KiB.t1",
     0.5,
     2,
     4},
    {"memory in its fast mode before, and in its slow one now",
     0,
     1 << 30,
     268435456,
     {{1}, {9}, {2147483648.0}, NULL, 0, 0},
     "ok",
     "memory.DRAM:1048576KiB.t1",
     0.5,
     2,
     3},
    {"an impossible time",
     0,
     256 << 10,
     1000,
     {{4}, {9}, {1000}, NULL, 0, 0},
     "error",
     "memory.L2:256KiB.t1",
     0,
     5,
     9},
    {"impossible work",
     1000000,
     8,
     1000,
     {{9}, {1}, {1000}, NULL, 0, 0},
     "error",
     "compute.f32.t1",
     0,
     5,
     9},
    {"wrong when it is measured again",
     0,
     256 << 10,
     1000,
     {{4}, {9}, {1000}, "mismatch", 0, 0},
     "mismatch",
     "",
     0,
     0,
     0},
};

static void roofline_place_one(const placement *p) {
    ceilings c = uniform(1, 1);
    status st = STATUS_INIT;
    fake f = p->measured;
    roofline_place_source source = {.point = fake_point, .ceiling = fake_ceiling, .context = &f};
    json_t *internal, *result = timed("f32", p->flops, p->bytes, p->median_ns, &internal);
    assert_true(roofline_place_result(&c, &source, &result, &internal, &st));
    const json_t *again = json_object_get(json_object_get(result, "roofline"), "again");
    print_message("%s\n", p->what);
    assert_string_equal(json_string_value(json_object_get(result, "status")), p->status);
    assert_string_equal(result_text(result, RESULT_RESOURCE), p->resource);
    assert_int_equal(json_array_size(json_object_get(again, "times_ns")), p->times);
    assert_int_equal(json_array_size(json_object_get(again, "ceilings")), p->ceilings);
    if (strcmp(p->status, "ok") == 0)
        assert_true(fabs(fraction_of(result) - p->fraction) < 1e-9);
    bool error = strcmp(p->status, "error") == 0;
    assert_int_equal(fraction_of(result) > 1.05, error);
    assert_int_equal(json_is_string(json_object_get(result, "why")), error);
    json_decref(internal);
    json_decref(result);
}

static void a_point_above_its_ceiling_is_measured_again_beside_it(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof placings / sizeof *placings; i++)
        roofline_place_one(&placings[i]);
}

/* Only the ceiling can be measured again. */
static void a_point_that_cannot_be_measured_again_stays(void **state) {
    (void)state;
    ceilings c = uniform(1, 1);
    status st = STATUS_INIT;
    fake f = {{2, 2, 8}, {9}, {1}, NULL, 0, 0};
    roofline_place_source source = {.ceiling = fake_ceiling, .context = &f};
    json_t *internal, *result = timed("f32", 0, 256 << 10, 65536, &internal);
    assert_true(roofline_place_result(&c, &source, &result, &internal, &st));
    assert_true(fabs(fraction_of(result) - 0.5) < 1e-9);
    assert_int_equal(f.probes, 3);
    json_decref(internal);
    json_decref(result);
}

/* Those of this machine: any has less than a petabyte a second. */
static void shared_levels_are_measured_beside_the_point(void **state) {
    (void)state;
    ceilings c = uniform(1e3, 1e6);
    status st = STATUS_INIT;
    roofline_place_source source = {0};
    json_t *internal, *result = timed("f32", 0, 1 << 30, 1e9, &internal);
    assert_true(roofline_place_result(&c, &source, &result, &internal, &st));
    assert_string_equal(result_text(result, RESULT_RESOURCE), "memory.DRAM:1048576KiB.t1");
    assert_true(ceilings_find(&c, result_text(result, RESULT_RESOURCE))->value < 1e5);
    json_decref(internal);
    json_decref(result);
}

static void what_is_not_timed_has_no_place(void **state) {
    (void)state;
    ceilings c = uniform(1, 1);
    status st = STATUS_INIT;
    roofline_place_source source = {0};
    json_t *internal, *result = timed("f32", 1, 1, 1, &internal);
    json_object_set_new(result, "time_ns", json_null());
    assert_true(roofline_place_result(&c, &source, &result, &internal, &st));
    assert_string_equal(result_text(result, RESULT_RESOURCE), "");
    assert_true(json_is_null(json_object_get(result, "roofline")));
    json_decref(internal);
    json_decref(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_above_its_ceiling_is_measured_again_beside_it),
        cmocka_unit_test(a_point_that_cannot_be_measured_again_stays),
        cmocka_unit_test(shared_levels_are_measured_beside_the_point),
        cmocka_unit_test(what_is_not_timed_has_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
