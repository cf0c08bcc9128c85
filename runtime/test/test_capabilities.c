/* test_capabilities.c - what devices say that they can do: the same keys for each, and what the
 * tables of chips, units and types make of a chip. */
#include "test/test.h"

#include <jansson.h>
#include <string.h>

#include "capabilities.h"
#include "device/device.h"
#include "tessera/tessera.h"

static void expect_refused(tsr_status_t got, tsr_status_t code, const char *words) {
    assert_int_equal(got, code);
    assert_non_null(strstr(tsrGetLastError(), words));
}

/* ---- the document ---- */

static json_t *parsed(const char *text) {
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    return root;
}

static void expect_keys(const json_t *root) {
    static const char *const keys[] = {
#define KEY(name, value, asked, meaning) #name,
#include "device/capability_keys.def"
    };
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, key, value) {
        assert_true(count < sizeof keys / sizeof *keys);
        assert_string_equal(key, keys[count++]);
    }
    assert_int_equal(count, sizeof keys / sizeof *keys);
}

static const char *word(const json_t *root, const char *key) {
    return json_string_value(json_object_get(root, key));
}

static void every_device_has_the_same_keys(void **state) {
    uint32_t count;
    const char *json, *again;
    (void)state;
    setenv("TESSERA_EMULATED", "1", 1);
    setenv("TESSERA_SIMULATED", "1", 1);
    assert_int_equal(tsrGetDeviceCount(&count), TSR_SUCCESS);
    assert_true(count >= 4);
    for (uint32_t i = 0; i < count; i++) {
        tsr_device_info_t info = {.struct_size = sizeof info};
        assert_int_equal(tsrGetDeviceInfo(i, &info), TSR_SUCCESS);
        assert_int_equal(tsrGetCapabilities(i, &json), TSR_SUCCESS);
        assert_int_equal(tsrGetCapabilities(i, &again), TSR_SUCCESS);
        assert_ptr_equal(json, again);
        json_t *root = parsed(json);
        expect_keys(root);
        assert_string_equal(word(root, "driver"), info.backend);
        assert_string_equal(word(root, "device"), info.name);
        assert_string_equal(word(root, "isa"), info.isa);
        assert_int_equal(json_integer_value(json_object_get(root, "timestamp_ns")),
                         info.timestamp_ns);
        json_decref(root);
    }
    expect_refused(tsrGetCapabilities(count, &json), TSR_ENOTFOUND, "does not exist");
    expect_refused(tsrGetCapabilities(0, NULL), TSR_EINVAL, "json is NULL");
}

static void the_host_is_described(void **state) {
    const char *json;
    (void)state;
    assert_int_equal(tsrGetCapabilities(0, &json), TSR_SUCCESS);
    json_t *root = parsed(json);
    assert_string_equal(word(root, "backend"), "cpu");
    assert_string_equal(word(json_object_get(json_object_get(root, "types"), "tf32"), "as"), "f32");
    assert_string_equal(word(json_object_get(root, "types"), "f8e5m2"), "native");
    assert_true(json_is_null(json_object_get(root, "shared_bytes")));
    assert_int_equal(json_integer_value(json_object_get(root, "subgroup")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "profiles")), 3);
    json_decref(root);
}

/* ---- chips ---- */

static json_t *of_chip(backend_id id, const char *driver, const char *isa) {
    const device_info info = {.backend = driver,
                              .name = "a chip",
                              .isa = isa,
                              .compute_units = 1,
                              .memory_kinds = 1,
                              .workgroup_memory_bytes = 1024,
                              .timestamp_ns = 500,
                              .f32 = DEVICE_ARITHMETIC_NATIVE,
                              .f64 = DEVICE_ARITHMETIC_NATIVE};
    char *told = capabilities_text(id, driver, &info, NULL);
    json_t *root = parsed(told);
    free(told);
    expect_keys(root);
    return root;
}

/* The orders of a type, joined. */
static void expect_units(const json_t *root, const char *type, const char *expected) {
    char joined[200] = "";
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(json_object_get(root, "matrix_unit"), type), i, one) {
        strcat(joined, i ? " " : "");
        strcat(joined, json_string_value(one));
    }
    assert_string_equal(joined, expected);
}

static bool is_missing(const json_t *root, const char *what) {
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(root, "missing"), i,
                       one) if (strcmp(word(one, "what"), what) == 0) return word(one, "why") !=
        NULL;
    return false;
}

static void chips_are_as_the_tables_say(void **state) {
    static const struct {
        backend_id id;
        const char *driver, *isa, *backend, *bf16, *tf32, *i8;
        int subgroup, tf32_profiles;
        bool copies;
    } rows[] = {
        {BACKEND_CUDA, "cuda", "sm_75", "ptx", "", "", "", 32, 3, false},
        {BACKEND_CUDA, "cuda", "sm_86", "ptx", "mma.sm80.bf16", "mma.sm80.tf32", "mma.sm80.i8", 32,
         1, true},
        {BACKEND_CUDA, "cuda", "sm_90a", "ptx", "mma.sm90.bf16", "mma.sm90.tf32", "mma.sm80.i8", 32,
         1, true},
        {BACKEND_HIP, "hip", "gfx942", "rocm", "mfma.gfx942.bf16", "", "mfma.gfx942.i8", 64, 3,
         false},
        {BACKEND_HIP, "hip", "gfx1100", "rocm", "wmma.gfx1100.bf16", "", "wmma.gfx1100.i8", 32, 3,
         false},
        {BACKEND_OPENCL, "opencl", "spirv-opencl", "spirv", "", "", "", 0, 1, false},
        {BACKEND_LEVEL_ZERO, "level_zero", "spirv-opencl", "spirv", "", "", "", 0, 1, false},
        {BACKEND_CPU, "cpu", "x86-64-v4", "cpu", "", "", "", 1, 3, false},
        {BACKEND_CPU, "cpu", "x86-64-v4+dot", "cpu", "avx512.vdpbf16ps", "", "avx512.vpdpbusd", 1,
         3, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *root = of_chip(rows[i].id, rows[i].driver, rows[i].isa),
               *tf32 = json_object_get(json_object_get(root, "types"), "tf32");
        assert_string_equal(word(root, "backend"), rows[i].backend);
        expect_units(root, "bf16", rows[i].bf16);
        expect_units(root, "tf32", rows[i].tf32);
        expect_units(root, "i8", rows[i].i8);
        assert_int_equal(json_integer_value(json_object_get(root, "subgroup")), rows[i].subgroup);
        assert_int_equal(json_is_true(json_object_get(root, "async_copy")), rows[i].copies);
        assert_int_equal(is_missing(root, "async_copy"), !rows[i].copies);
        assert_int_equal(is_missing(root, "matrix_unit"), !*rows[i].i8);
        assert_string_equal(word(tf32, "as"), "f32");
        assert_int_equal(json_array_size(json_object_get(tf32, "profiles")), rows[i].tf32_profiles);
        json_decref(root);
    }
}

static void code_of_any_chip_has_the_units_of_all(void **state) {
    (void)state;
    json_t *root = of_chip(BACKEND_PTX_EMULATED, "emulated", "ptx-emulated+x86-64-v3");
    expect_units(root, "f16", "mma.sm80.f16 mma.sm89.f16 mma.sm90.f16");
    assert_true(json_is_true(json_object_get(root, "async_copy")));
    json_decref(root);
}

/* ---- what is not there ---- */

static void what_is_not_native_is_said(void **state) {
    const device_info narrow = {.backend = "vulkan",
                                .name = "narrow",
                                .isa = "spirv-vulkan",
                                .f32 = {DEVICE_WAY_EMULATED, DEVICE_WAY_NATIVE, DEVICE_WAY_NATIVE},
                                .f64 = DEVICE_ARITHMETIC_NONE};
    (void)state;
    char *told = capabilities_text(BACKEND_VULKAN, "vulkan", &narrow, NULL);
    json_t *root = parsed(told), *ways = json_object_get(root, "arithmetic"),
           *wide = json_object_get(json_object_get(root, "types"), "f64");
    free(told);
    assert_string_equal(word(json_object_get(ways, "f32"), "fma"), "emulated");
    assert_string_equal(word(json_object_get(ways, "f32"), "root"), "native");
    assert_true(json_is_null(json_object_get(ways, "f64")));
    assert_true(json_is_null(json_object_get(wide, "as")) && word(wide, "why"));
    assert_true(is_missing(root, "f64") && is_missing(root, "fma of f32"));
    assert_false(is_missing(root, "root of f32"));
    json_decref(root);
}

static void a_backend_that_is_not_here_says_how_to_get_it(void **state) {
    (void)state;
    for (int id = 0; id < BACKEND_COUNT; id++) {
        uint32_t index;
        const char *driver = capability_driver((backend_id)id, &index);
        char *told = capabilities_text((backend_id)id, driver, NULL, "it is not here");
        json_t *root = parsed(told), *first = json_array_get(json_object_get(root, "missing"), 0);
        free(told);
        expect_keys(root);
        assert_string_equal(word(first, "what"), "device");
        assert_string_equal(word(first, "why"), "it is not here");
        bool is_a_matter_of_setup =
            *driver && strcmp(driver, "emulated") != 0 && strcmp(driver, "foreign") != 0;
        assert_int_equal(word(first, "how") != NULL, is_a_matter_of_setup);
        assert_true(json_is_null(json_object_get(root, "isa")));
        json_decref(root);
    }
}

static void each_device_has_its_backend(void **state) {
    (void)state;
    for (int id = 0; id < BACKEND_COUNT; id++) {
        uint32_t index;
        const char *driver = capability_driver((backend_id)id, &index);
        if (*driver)
            assert_int_equal(capability_backend(driver, index), id);
    }
    assert_int_equal(capability_backend("simulated", 3), BACKEND_CPU);
    assert_int_equal(capability_backend("null", 0), BACKEND_COUNT);
    assert_int_equal(capability_backend("emulated", 7), BACKEND_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_has_the_same_keys),
        cmocka_unit_test(the_host_is_described),
        cmocka_unit_test(chips_are_as_the_tables_say),
        cmocka_unit_test(code_of_any_chip_has_the_units_of_all),
        cmocka_unit_test(what_is_not_native_is_said),
        cmocka_unit_test(a_backend_that_is_not_here_says_how_to_get_it),
        cmocka_unit_test(each_device_has_its_backend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
