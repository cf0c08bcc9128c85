/* test_generic.c - kernels of any size: formulas, which code is taken, and what is refused. */
#include "test/test.h"

#include "formula.h"
#include "test/abi_fixture.h"

/* ---- formulas ---- */

static const struct {
    const char *formula;
    formula_result result;
    int64_t value; /* with M = 13, N = 127, M2 = -1 */
} formulas[] = {
    {"0", FORMULA_OK, 0},
    {"M", FORMULA_OK, 13},
    {"M2", FORMULA_OK, -1},
    {"-M", FORMULA_OK, -13},
    {"2*M*N + 1 - M", FORMULA_OK, 2 * 13 * 127 + 1 - 13},
    {"floordiv(N + 511, 512)*(M - 3)", FORMULA_OK, 10},
    {"floordiv(-M, 4)", FORMULA_OK, -4},
    {"floordiv(M2, M2)", FORMULA_OK, 1},
    {"9223372036854775807", FORMULA_OK, INT64_MAX},
    {"-9223372036854775807 - 1", FORMULA_OK, INT64_MIN},
    {"9223372036854775808", FORMULA_NO_VALUE, 0},
    {"9223372036854775807 + M", FORMULA_NO_VALUE, 0},
    {"4611686018427387904*2", FORMULA_NO_VALUE, 0},
    {"floordiv(M, M2 + 1)", FORMULA_NO_VALUE, 0},
    {"floordiv(-9223372036854775807 - 1, M2)", FORMULA_NO_VALUE, 0},
    {"", FORMULA_WRONG, 0},
    {"K", FORMULA_WRONG, 0},
    {"M3", FORMULA_WRONG, 0},
    {"M +", FORMULA_WRONG, 0},
    {"M N", FORMULA_WRONG, 0},
    {"2M", FORMULA_WRONG, 0},
    {"(M", FORMULA_WRONG, 0},
    {"floordiv(M)", FORMULA_WRONG, 0},
    {"M / 2", FORMULA_WRONG, 0},
    {"M%", FORMULA_WRONG, 0},
    {"--M", FORMULA_WRONG, 0},
};

static void formulas_have_values_or_not(void **state) {
    (void)state;
    static const char *const names[] = {"M", "N", "M2"};
    static const int64_t values[] = {13, 127, -1};
    const formula_names of = {names, values, 3};
    char deep[512] = "";
    int64_t value;
    for (size_t i = 0; i < COUNT_OF(formulas); i++) {
        formula_result result = formula_evaluate(formulas[i].formula, &of, &value);
        if (result != formulas[i].result || value != formulas[i].value)
            fail_msg("'%s': %d, %lld", formulas[i].formula, (int)result, (long long)value);
    }
    memset(deep, '(', 400);
    assert_int_equal(formula_evaluate(deep, &of, &value), FORMULA_WRONG);
}

/* ---- modules ---- */

/* 4 rows of N in, 4*N out. For N = 25 the first phase alone: everything is only doubled, and stays
 * in the workspace, so the output keeps what it had. */
static const char sound[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"affine\", \"dims\": [\"N\", \"K\"],"
    " \"constraints\": [{\"formula\": \"100 - N\", \"what\": \"N is at most 100\"},"
    " {\"formula\": \"K - N\", \"what\": \"K >= N\"}],"
    " \"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [4, \"N\"]}],"
    " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [\"4*N\"]}], \"images\": ["
    "{\"isa\": \"x86-64-v2+fma\", \"section\": \"x86_64-elf/x86-64-v2+fma\", \"workspace_bytes\": "
    "\"16*N\","
    " \"scratch_bytes\": \"64 + floordiv(N, 50)*64\", \"phases\": ["
    "{\"symbol\": \"phase_double\", \"grid\": \"4*N\"}, {\"symbol\": \"phase_add\", \"grid\": "
    "\"4*N\"}]},"
    "{\"isa\": \"x86-64-v2+fma\", \"section\": \"x86_64-elf/x86-64-v2+fma:1\", \"when\": {\"N\": "
    "25, "
    "\"K\": 30},"
    " \"workspace_bytes\": 400, \"scratch_bytes\": 64, \"phases\": ["
    "{\"symbol\": \"phase_double\", \"grid\": 100}]}]}";

static bytes generic_module(const char *json) {
    bytes object = read_object("kernel_good"), image;
    void *data;
    module_part parts[] = {{"metadata", json, strlen(json)},
                           {"x86_64-elf/x86-64-v2+fma", object.data, object.size},
                           {"x86_64-elf/x86-64-v2+fma:1", object.data, object.size}};
    assert_true(module_write(parts, 3, &data, &image.size, NULL));
    image.data = data;
    free(object.data);
    return image;
}

static tsr_status_t launch_with(const fixture *f, int64_t n, int64_t k) {
    void *args[] = {f->args[0], f->args[1], &n, &k};
    return tsrLaunch(f->kernel, NULL, (tsr_launch_t){0}, args, 4);
}

static void the_code_of_the_dimensions_is_taken(void **state) {
    (void)state;
    static const int64_t sizes[] = {25, 0, 1, 7, 25, 24};
    fixture f;
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    const char *name;
    uint32_t rank;
    const int64_t *dims;
    OK(tsrCreateContextOn(0, 2, TSR_CONTEXT_DEBUG, &f.context));
    load_fixture(&f, generic_module(sound));
    OK(tsrGetKernelInfo(f.kernel, &info));
    assert_int_equal(info.dims, 2);
    assert_int_equal(info.phases, 2);
    OK(tsrGetKernelParameter(f.kernel, 0, &name, NULL, &rank, &dims));
    assert_int_equal(dims[0], 4);
    assert_int_equal(dims[1], -1);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        for (int special = 0; special < 2; special++) {
            bool fixed = sizes[s] == 25 && special;
            for (int i = 0; i < KERNEL_CELLS; i++)
                f.out[i] = -1;
            OK(launch_with(&f, sizes[s], special ? 30 : 31));
            for (int i = 0; i < KERNEL_CELLS; i++)
                assert_true(f.out[i] ==
                            (fixed || i >= 4 * sizes[s] ? -1 : (float)(2 * i + i % 4 + 1)));
        }
    }
    tear_down(&f);
}

static void dimensions_that_do_not_fit_are_refused(void **state) {
    (void)state;
    fixture f;
    OK(tsrCreateContextOn(0, 1, 0, &f.context));
    load_fixture(&f, generic_module(sound));
    REFUSED(launch_with(&f, -1, 5), TSR_EINVAL, "dimension N is negative: -1");
    REFUSED(launch_with(&f, 101, 200), TSR_EINVAL, "'affine' with N=101, K=200: N is at most 100");
    REFUSED(launch_with(&f, 9, 8), TSR_EINVAL, "'affine' with N=9, K=8: K >= N");
    REFUSED(launch_with(&f, 26, 30), TSR_EINVAL, "needs 416 bytes; its allocation has 400");
    REFUSED(tsrLaunch(f.kernel, NULL, (tsr_launch_t){0}, f.args, 2), TSR_EINVAL,
            "takes 4 arguments (1 inputs, 1 outputs, 2 dimensions), not 2");
    tear_down(&f);
}

typedef struct variation {
    const char *from, *to, *words;
} variation;

static bytes varied(const variation *v) {
    char json[4096];
    const char *at = strstr(sound, v->from);
    assert_non_null(at);
    snprintf(json, sizeof json, "%.*s%s%s", (int)(at - sound), sound, v->to, at + strlen(v->from));
    return generic_module(json);
}

static const variation damaged[] = {
    {"[\"N\", \"K\"]", "[\"N\", 3]", "\"dims\" is not a short array of names"},
    {"[\"N\", \"K\"]", "[\"N\"]", "'K - N' is no formula of \"dims\""},
    {"[4, \"N\"]", "[4, \"Q\"]", "'Q' is no formula of \"dims\""},
    {"\"16*N\"", "\"16*\"", "'16*' is no formula of \"dims\""},
    {"\"grid\": \"4*N\"", "\"grid\": \"4^N\"", "'4^N' is no formula"},
    {"\"grid\": \"4*N\"", "\"grid\": []", "\"grid\" is not an integer in its range"},
    {"\"what\": \"K >= N\"", "\"why\": 1", "\"what\" is not a non-empty string"},
    {"\"formula\": \"K - N\"", "\"formula\": 3", "\"constraints\" has one without formula"},
    {"{\"N\": 25, \"K\": 30}", "{\"N\": 25}", "\"when\" does not have the names"},
    {"{\"N\": 25, \"K\": 30}", "{\"N\": 25, \"L\": 30}", "\"K\" is not an integer"},
    {"{\"N\": 25, \"K\": 30}", "{\"N\": 25, \"K\": -30}", "\"K\" is not an integer"},
    {"x86_64-elf/x86-64-v2+fma:1", "x86_64-elf/x86-64-v2+fma1", "\"section\" is not"},
};

static void unsound_descriptions_are_refused(void **state) {
    (void)state;
    tsr_context_t c;
    tsr_module_t m;
    OK(tsrCreateContextOn(0, 1, 0, &c));
    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        bytes image = varied(&damaged[i]);
        REFUSED(tsrLoadModule(c, image.data, image.size, &m), TSR_ECORRUPT, damaged[i].words);
        free(image.data);
    }
    OK(tsrDestroyContext(c));
}

/* Checks that a formula's value at launch is trusted no more than a number in the metadata. */
static void needs_without_bounds_are_refused(void **state) {
    (void)state;
    static const variation excessive[] = {
        {"\"16*N\"", "\"16*N*1099511627776*1099511627776\"", "more memory or work"},
        {"\"16*N\"", "\"16*N*1099511627776\"", "more memory or work"},
        {"\"16*N\"", "\"-16*N\"", "more memory or work"},
        {"\"grid\": \"4*N\"", "\"grid\": \"4*N - 1000\"", "more memory or work"},
        {"[\"4*N\"]", "[\"4*N\", 4611686018427387904]", "more bytes than there can be"},
        {"[\"4*N\"]", "[\"4*N - 1000\"]", "more bytes than there can be"},
        {"[\"4*N\"]", "[\"floordiv(N, K - 9)\"]", "more bytes than there can be"},
        {"\"K - N\"", "\"floordiv(K, N - 7)\"", "K >= N"},
    };
    for (size_t i = 0; i < COUNT_OF(excessive); i++) {
        fixture f;
        OK(tsrCreateContextOn(0, 1, 0, &f.context));
        load_fixture(&f, varied(&excessive[i]));
        REFUSED(launch_with(&f, 7, 9), TSR_EINVAL, excessive[i].words);
        tear_down(&f);
    }
}

static void without_code_for_any_others_are_refused(void **state) {
    (void)state;
    static const variation fixed_too = {"\"workspace_bytes\": \"16*N\"",
                                        "\"when\": {\"N\": 7, \"K\": 9}, \"workspace_bytes\": 400",
                                        ""};
    fixture f;
    OK(tsrCreateContextOn(0, 1, 0, &f.context));
    load_fixture(&f, varied(&fixed_too));
    OK(launch_with(&f, 7, 9));
    OK(launch_with(&f, 25, 30));
    REFUSED(launch_with(&f, 8, 9), TSR_EINVAL, "the module has code for other dimensions alone");
    tear_down(&f);
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_have_values_or_not),
        cmocka_unit_test(the_code_of_the_dimensions_is_taken),
        cmocka_unit_test(dimensions_that_do_not_fit_are_refused),
        cmocka_unit_test(unsound_descriptions_are_refused),
        cmocka_unit_test(needs_without_bounds_are_refused),
        cmocka_unit_test(without_code_for_any_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
