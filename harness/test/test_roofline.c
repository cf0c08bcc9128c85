/* test_roofline.c - points placed under ceilings that are known. */
#include "harness/test/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measure/cache_size.h"
#include "measure/roofline.h"

static ceilings known(void) {
    ceilings c;
    ceilings_init(&c, "x86-64-v4");
    c.levels[0].size_bytes = 32 << 10;
    c.levels[1].size_bytes = 1 << 20;
    c.levels[2].size_bytes = 16 << 20;
    ceilings_put(&c, "compute.f32.t1", NULL, 100, "GFLOP/s");
    ceilings_put(&c, "compute.bf16.t1", "deterministic", 200, "GFLOP/s");
    ceilings_put(&c, "memory.L1.read.t1", NULL, 400, "GB/s");
    ceilings_put(&c, "memory.L2.read.t1", NULL, 150, "GB/s");
    ceilings_put(&c, "memory.L2.copy.t1", NULL, 200, "GB/s");
    ceilings_put(&c, "memory.L3.read.t1", NULL, 50, "GB/s");
    ceilings_put(&c, "memory.DRAM.read.t1", NULL, 10, "GB/s");
    ceilings_put(&c, "memory.DRAM.copy-nt.t1", NULL, 20, "GB/s");
    return c;
}

static roofline_query query(uint64_t flops, uint64_t bytes, uint64_t working_set, double time_ns) {
    return (roofline_query){DTYPE_F32, "strict", false, 1, flops, bytes, working_set, time_ns};
}

static void high_intensity_is_compute_bound(void **state) {
    (void)state;
    ceilings c = known();
    roofline_point p;
    roofline_query q = query(1000000, 1000, 1000, 20000);
    assert_true(roofline_place(&c, &q, &p));
    assert_true(p.compute_bound);
    assert_string_equal(p.resource, "compute.f32.t1");
    assert_true(fabs(p.fraction - 0.5) < 1e-12);
    assert_true(fabs(p.intensity - 1000) < 1e-9);
}

static void the_working_set_chooses_the_level(void **state) {
    (void)state;
    ceilings c = known();
    roofline_point p;
    static const struct {
        uint64_t working_set;
        const char *resource;
        double ceiling;
    } rows[] = {{1000, "memory.L1.read.t1", 400},
                {32 << 10, "memory.L1.read.t1", 400},
                {(32 << 10) + 1, "memory.L2.copy.t1", 200},
                {2 << 20, "memory.L3.read.t1", 50},
                {1 << 30, "memory.DRAM.copy-nt.t1", 20}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        roofline_query q = query(1, 1000000, rows[i].working_set, 1e6);
        assert_true(roofline_place(&c, &q, &p));
        assert_false(p.compute_bound);
        assert_string_equal(p.resource, rows[i].resource);
        assert_true(fabs(p.ceiling - rows[i].ceiling) < 1e-12);
    }
}

static void only_weaker_profiles_use_the_dot_unit(void **state) {
    (void)state;
    ceilings c = known();
    assert_string_equal(ceilings_compute(&c, DTYPE_BF16, false, 1)->resource, "compute.f32.t1");
    assert_string_equal(ceilings_compute(&c, DTYPE_BF16, true, 1)->resource, "compute.bf16.t1");
}

static void nothing_is_clamped_or_made_up(void **state) {
    (void)state;
    ceilings c = known();
    roofline_point p;
    roofline_query fast = query(1000000, 1000, 1000, 5000), none = query(0, 0, 0, 1000),
                   other = fast;
    assert_true(roofline_place(&c, &fast, &p));
    assert_true(fabs(p.fraction - 2) < 1e-12);
    assert_false(roofline_place(&c, &none, &p));
    other.threads = 2;
    assert_false(roofline_place(&c, &other, &p));
}

static void a_later_probe_only_raises(void **state) {
    (void)state;
    ceilings c = known();
    ceilings_put(&c, "compute.f32.t1", NULL, 90, "GFLOP/s");
    assert_true(fabs(ceilings_find(&c, "compute.f32.t1")->value - 100) < 1e-12);
    ceilings_put(&c, "compute.f32.t1", NULL, 110, "GFLOP/s");
    assert_true(fabs(ceilings_find(&c, "compute.f32.t1")->value - 110) < 1e-12);
}

/* A measurement over as many bytes as a point has goes before its level; the last one holds unless
 * the greater one is to be kept. */
static void a_set_of_its_own_goes_before_its_level(void **state) {
    (void)state;
    ceilings c = known();
    status st = STATUS_INIT;
    uint64_t set = 5 << 20;
    ceiling_set_probe probe = {.set_bytes = set, .threads = 1};
    c.isa = "x86-64-v2+fma";
    ceilings_put(&c, "memory.L3:5120KiB.t1", NULL, 1e6, "GB/s");
    assert_true(ceilings_memory(&c, set, 1)->value > 1e5);
    probe.keep_greater = true;
    assert_true(ceilings_probe_set(&c, &probe, &st));
    assert_true(ceilings_memory(&c, set, 1)->value > 1e5);
    probe.keep_greater = false;
    c.items[c.count - 1].stored = true;
    assert_true(ceilings_probe_set(&c, &probe, &st));
    assert_true(ceilings_memory(&c, set, 1)->value < 1e5);
    assert_true(ceilings_memory(&c, set, 1)->value > 0);
    assert_false(ceilings_memory(&c, set, 1)->stored);
    assert_string_equal(ceilings_memory(&c, set, 1)->resource, "memory.L3:5120KiB.t1");
    assert_string_equal(ceilings_memory(&c, set + 1024, 1)->resource, "memory.L3.read.t1");
}

static void caches_of_a_core_and_shared_ones(void **state) {
    (void)state;
    ceilings c = known();
    assert_false(ceilings_set_is_shared(&c, 1 << 20, 1));
    assert_true(ceilings_set_is_shared(&c, (1 << 20) + 1, 1));
    assert_false(ceilings_set_is_shared(&c, 2 << 20, 2));
    assert_true(ceilings_set_is_shared(&c, UINT64_MAX, 2));
}

static void write_word(const char *directory, int index, const char *name, const char *word) {
    char path[600];
    snprintf(path, sizeof path, "%s/index%d", directory, index);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/index%d/%s", directory, index, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", word);
    fclose(file);
}

static void remove_words(const char *directory) {
    static const char *const names[] = {"level", "type", "size", ""};
    for (int index = 0; index < 3; index++)
        for (int i = 0; i < 4; i++) {
            char path[600];
            snprintf(path, sizeof path, "%s/index%d/%s", directory, index, names[i]);
            remove(path);
        }
    remove(directory);
}

static void caches_are_what_the_kernel_says(void **state) {
    (void)state;
    static const struct {
        const char *level, *type, *size;
    } rows[] = {{"1", "Instruction", "64K"}, {"1", "Data", "48K"}, {"3", "Unified", "32M"}};
    char directory[] = "/tmp/tsr-caches-XXXXXX";
    assert_non_null(mkdtemp(directory));
    for (int i = 0; i < 3; i++) {
        write_word(directory, i, "level", rows[i].level);
        write_word(directory, i, "type", rows[i].type);
        write_word(directory, i, "size", rows[i].size);
    }
    assert_int_equal(cache_size_in(directory, 1), 48 << 10);
    assert_int_equal(cache_size_in(directory, 2), 0);
    assert_int_equal(cache_size_in(directory, 3), 32 << 20);
    remove_words(directory);
    assert_int_equal(cache_size_in(directory, 3), 0);
    for (int level = 1; level <= 3; level++)
        assert_true(cache_size(level) >= 4096);
}

static void this_machine_has_ceilings(void **state) {
    (void)state;
    ceilings c;
    status st = STATUS_INIT;
    ceilings_init(&c, NULL);
    assert_true(ceilings_measure(&c, 1, true, &st));
    assert_true(ceilings_compute(&c, DTYPE_F32, false, 1)->value > 0.5);
    assert_true(ceilings_memory(&c, 1000, 1)->value >= ceilings_memory(&c, UINT64_MAX, 1)->value);
}

/* The first kernel needs f32 and the caches of a core, the second f64 and all levels. */
static void a_quick_run_has_the_ceilings_it_needs(void **state) {
    (void)state;
    ceilings c;
    status st = STATUS_INIT;
    roofline_query query = {
        .type = DTYPE_F32, .profile = "strict", .threads = 1, .working_set_bytes = 1000};
    ceilings_init(&c, NULL);
    assert_true(roofline_measure(&c, &query, true, &st));
    assert_non_null(ceilings_find(&c, "compute.f32.t1"));
    assert_non_null(ceilings_find(&c, "memory.L1.read.t1"));
    assert_null(ceilings_find(&c, "compute.f64.t1"));
    assert_null(ceilings_find(&c, "memory.DRAM.read.t1"));
    query.type = DTYPE_F64;
    query.working_set_bytes = UINT64_MAX;
    assert_true(roofline_measure(&c, &query, true, &st));
    assert_non_null(ceilings_find(&c, "compute.f64.t1"));
    assert_non_null(ceilings_find(&c, "memory.DRAM.read.t1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(high_intensity_is_compute_bound),
        cmocka_unit_test(the_working_set_chooses_the_level),
        cmocka_unit_test(only_weaker_profiles_use_the_dot_unit),
        cmocka_unit_test(nothing_is_clamped_or_made_up),
        cmocka_unit_test(a_later_probe_only_raises),
        cmocka_unit_test(a_set_of_its_own_goes_before_its_level),
        cmocka_unit_test(caches_of_a_core_and_shared_ones),
        cmocka_unit_test(caches_are_what_the_kernel_says),
        cmocka_unit_test(this_machine_has_ceilings),
        cmocka_unit_test(a_quick_run_has_the_ceilings_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
