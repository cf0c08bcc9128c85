/* test_compile.c - the C ABI of the compiler: what comes of sources and options, from several
 * threads at once. */
#include "runtime/test/test.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/compile.h"

static const char source[] = "from tessera import *\n\n"
                             "@cases(case('small', M=3, N=5), case('empty', M=0, N=5))\n"
                             "@kernel\n"
                             "def halved(x: Tensor['M', 'N', f32]) -> Tensor['M', f32]:\n"
                             "    return sum(x, axis=1) / 2\n\n"
                             "@kernel\n"
                             "def free(x: Tensor['N', 'T']) -> Tensor['N', 'T']:\n"
                             "    return x + x\n";
static const char wrong[] = "from tessera import *\n"
                            "@kernel\n"
                            "def bad(x: Tensor['M', 'N', f32]) -> Tensor['M', f32]:\n"
                            "    return x - max(x, axis=1)\n"
                            "@kernel\n"
                            "def good(x: Tensor[4, f32]) -> Tensor[4, f32]:\n"
                            "    return x * nothing\n";

/* A call, and what must come of it. */
typedef struct attempt {
    const char *source;
    tsr_compile_options_t options;
    tsr_status_t status;
    const char *said; /* part of the first diagnostic; NULL: there is none */
} attempt;
#define OPTIONS(...)                                                                               \
    { .struct_size = sizeof(tsr_compile_options_t), __VA_ARGS__ }

static const attempt attempts[] = {
    {source, OPTIONS(.kernel = "halved"), TSR_SUCCESS, NULL},
    {source, OPTIONS(.kernel = "halved", .case_name = "empty"), TSR_SUCCESS, NULL},
    {source, OPTIONS(.kernel = "halved", .dims = "M=7,N=1000", .threads = 2), TSR_SUCCESS, NULL},
    {source, OPTIONS(.kernel = "halved", .generic = 1, .profile = "fast"), TSR_SUCCESS, NULL},
    {source, OPTIONS(.kernel = "free", .dims = "N=4,T=bf16"), TSR_SUCCESS, NULL},
    {source, OPTIONS(.kernel = "free", .dims = "N=4"), TSR_EINVAL, "T"},
    {source, OPTIONS(.kernel = "free"), TSR_EINVAL, "`dims`"},
    {source, OPTIONS(.kernel = "halved", .dims = "M=x"), TSR_EINVAL, "M=x"},
    {source, OPTIONS(.kernel = "halved", .case_name = "huge"), TSR_ENOTFOUND, "huge"},
    {source, OPTIONS(.kernel = "whole"), TSR_ENOTFOUND, "halved, free"},
    {source, OPTIONS(.profile = "strict"), TSR_EINVAL, "several kernels"},
    {source, OPTIONS(.kernel = "halved", .profile = "loose"), TSR_EINVAL, "loose"},
    {source, OPTIONS(.kernel = "halved", .isa = "pdp-11"), TSR_EINVAL, "pdp-11"},
    {source, OPTIONS(.kernel = "halved", .schedule = "XX=3"), TSR_EINVAL, "XX"},
    {"", OPTIONS(.kernel = NULL), TSR_ENOTFOUND, "no kernel"},
    {"def (", OPTIONS(.kernel = NULL), TSR_EINVAL, ""},
};

static void expect(const attempt *a, size_t number) {
    tsr_compilation_t c = NULL;
    size_t size = 1;
    tsr_status_t status = tsrCompile(a->source, strlen(a->source), "k.tsr", &a->options, &c);
    tsr_diagnostic_t d = {.struct_size = sizeof d, .message = ""};
    tsr_status_t told = tsrGetDiagnostic(c, 0, &d);
    const void *image = tsrGetCompiledModule(c, &size);
    bool ok = status == a->status && (told == TSR_SUCCESS) == (a->said != NULL) &&
              (!a->said || strstr(d.message, a->said)) && (image != NULL) == (status == 0) &&
              (size > 0) == (status == 0);
    if (!ok)
        fail_msg("%zu: %d, %s", number, (int)status, tsrGetDiagnosticText(c));
    tsrDestroyCompilation(c);
}

static void test_attempts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        expect(&attempts[i], i);
}

static void test_diagnostics(void **state) {
    tsr_compilation_t c = NULL;
    tsr_compile_options_t options = OPTIONS(.kernel = "bad");
    (void)state;
    assert_int_equal(tsrCheckShapes(wrong, strlen(wrong), "k.tsr", NULL, &c), TSR_EINVAL);
    static const tsr_diagnostic_t wanted[] = {{.id = "E0501", .line = 4, .column = 12},
                                              {.id = "E0301", .line = 7, .column = 16}};
    assert_int_equal(tsrGetDiagnosticCount(c), 2);
    for (uint32_t i = 0; i < 2; i++) {
        tsr_diagnostic_t d = {.struct_size = sizeof d};
        assert_int_equal(tsrGetDiagnostic(c, i, &d), TSR_SUCCESS);
        assert_int_equal(d.line, wanted[i].line);
        assert_int_equal(d.column, wanted[i].column);
        assert_string_equal(d.id, wanted[i].id);
        assert_non_null(strstr(tsrGetDiagnosticText(c), d.message));
    }
    tsrDestroyCompilation(c);
    assert_int_equal(tsrCompile(wrong, strlen(wrong), "k.tsr", &options, &c), TSR_EINVAL);
    tsrDestroyCompilation(c);
}

static void test_shapes(void **state) {
    tsr_compilation_t c = NULL;
    tsr_compile_options_t options = OPTIONS(.kernel = "halved", .dims = "M=9,N=4");
    tsr_shape_t s = {.struct_size = sizeof s};
    (void)state;
    assert_int_equal(tsrCheckShapes(source, strlen(source), "k.tsr", &options, &c), TSR_SUCCESS);
    assert_null(tsrGetCompiledModule(c, NULL));
    assert_int_equal(tsrGetShapeCount(c), 2);
    assert_int_equal(tsrGetShape(c, 1, &s), TSR_SUCCESS);
    assert_int_equal(s.is_output, 1);
    assert_int_equal(s.rank, 1);
    assert_int_equal(s.dims[0], 9);
    assert_string_equal(s.type, "f32");
    assert_int_equal(tsrGetShape(c, 2, &s), TSR_ENOTFOUND);
    tsrDestroyCompilation(c);
    /* All kernels for any dimensions: none is meant, so there are no shapes. */
    assert_int_equal(tsrCheckShapes(source, strlen(source), "k.tsr", NULL, &c), TSR_SUCCESS);
    assert_int_equal(tsrGetShapeCount(c), 0);
    tsrDestroyCompilation(c);
}

/* A program of a framework's, whose first argument is the memory of its second result. */
static void test_stablehlo(void **state) {
    static const char program[] =
        "module @steps {\n"
        "  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %b: "
        "tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
        "    %0 = stablehlo.multiply %a, %b : tensor<4xf32>\n"
        "    %1 = stablehlo.add %a, %b : tensor<4xf32>\n"
        "    return %0, %1 : tensor<4xf32>, tensor<4xf32>\n"
        "  }\n"
        "}\n";
    tsr_compilation_t c = NULL;
    tsr_shape_t s = {.struct_size = sizeof s};
    (void)state;
    assert_int_equal(tsrCompile(program, strlen(program), "p.mlir", NULL, &c), TSR_SUCCESS);
    assert_non_null(tsrGetCompiledModule(c, NULL));
    assert_int_equal(tsrGetShape(c, 2, &s), TSR_SUCCESS);
    assert_int_equal(s.replaces, TSR_NOT_DONATED);
    assert_int_equal(tsrGetShape(c, 3, &s), TSR_SUCCESS);
    assert_int_equal(s.replaces, 0);
    tsrDestroyCompilation(c);
    char none[sizeof program];
    memcpy(none, program, sizeof program);
    memcpy(strstr(none, "output = 1"), "output = 7", 10);
    assert_int_equal(tsrCompile(none, strlen(none), "p.mlir", NULL, &c), TSR_EINVAL);
    assert_non_null(strstr(tsrGetDiagnosticText(c), "aliases an output that there is not"));
    tsrDestroyCompilation(c);
}

/* Bytecode has bytes of 0, which no text may have. */
static void test_bytecode(void **state) {
    static char data[1 << 16];
    tsr_compilation_t c = NULL;
    tsr_compile_options_t options = OPTIONS(.kernel = NULL);
    (void)state;
    FILE *f = fopen("compiler/test/cases/stablehlo/locations.mlirbc", "rb");
    assert_non_null(f);
    const size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    assert_int_equal(tsrCompile(data, size, "p.mlirbc", &options, &c), TSR_SUCCESS);
    tsrDestroyCompilation(c);
    assert_int_equal(tsrCompile(data, size / 2, "p.mlirbc", &options, &c), TSR_EINVAL);
    tsrDestroyCompilation(c);
    assert_int_equal(tsrCompile("def f\0(", 7, "k.tsr", &options, &c), TSR_EINVAL);
    assert_non_null(strstr(tsrGetDiagnosticText(c), "a byte of 0 within"));
    tsrDestroyCompilation(c);
}

/* The operation that made outputs so is named from arrays of the host, and a header of before is
 * left alone. */
static void test_nonfinite(void **state) {
    static const char source_of_logs[] = "from tessera import *\n@kernel\n"
                                         "def logs(x: Tensor['N', f32]) -> Tensor['N', f32]:\n"
                                         "    return log(x)\n";
    const float x[2] = {1, 0}, y[2] = {0, -INFINITY}, finite[2] = {0, 1};
    const void *in = x, *out = y, *good = finite;
    tsr_compile_options_t options = OPTIONS(.dims = "N=2");
    tsr_nonfinite_t found = {.struct_size = sizeof found};
    tsr_nonfinite_t before = {.struct_size = offsetof(tsr_nonfinite_t, line), .line = 99};
    tsr_compilation_t c = NULL;
    (void)state;
    assert_int_equal(
        tsrCheckShapes(source_of_logs, strlen(source_of_logs), "logs.tsr", &options, &c),
        TSR_SUCCESS);
    assert_int_equal(tsrFindNonfinite(c, &in, &out, &found), TSR_SUCCESS);
    assert_int_equal(found.origin, TSR_NONFINITE_OPERATION);
    assert_string_equal(found.operation, "tessera.log");
    assert_int_equal(found.line, 4);
    assert_int_equal(found.rank, 1);
    assert_int_equal(found.index[0], 1);
    assert_true(isinf(found.value));
    assert_null(found.input);
    assert_non_null(strstr(found.description, "'tessera.log' in line 4"));
    assert_int_equal(tsrFindNonfinite(c, &in, &out, &before), TSR_SUCCESS);
    assert_int_equal(before.origin, TSR_NONFINITE_OPERATION);
    assert_int_equal(before.line, 99);
    assert_int_equal(tsrFindNonfinite(c, &in, &good, &found), TSR_SUCCESS);
    assert_int_equal(found.origin, TSR_NONFINITE_NONE);
    assert_int_equal(tsrFindNonfinite(c, &in, NULL, &found), TSR_EINVAL);
    tsrDestroyCompilation(c);
}

/* A header of before and one of later: what both have counts. */
static void test_struct_sizes(void **state) {
    struct {
        tsr_compile_options_t options;
        char more[64];
    } later = {OPTIONS(.kernel = "halved"), {1}};
    tsr_compile_options_t before = OPTIONS(.kernel = "halved", .case_name = "no such case");
    tsr_shape_t s = {.struct_size = offsetof(tsr_shape_t, type), .type = "kept"};
    tsr_compilation_t c = NULL;
    (void)state;
    later.options.struct_size = sizeof later;
    before.struct_size = offsetof(tsr_compile_options_t, case_name);
    assert_int_equal(tsrCompile(source, strlen(source), "k", &later.options, &c), TSR_SUCCESS);
    tsrDestroyCompilation(c);
    assert_int_equal(tsrCompile(source, strlen(source), "k", &before, &c), TSR_SUCCESS);
    assert_int_equal(tsrGetShape(c, 0, &s), TSR_SUCCESS);
    assert_string_equal(s.name, "x");
    assert_string_equal(s.type, "kept");
    tsrDestroyCompilation(c);
    tsrDestroyCompilation(NULL);
}

static void test_what_is_no_source(void **state) {
    tsr_compilation_t c = NULL;
    (void)state;
    assert_int_equal(tsrCompile(NULL, 0, "k", NULL, &c), TSR_EINVAL);
    assert_null(c);
    assert_int_equal(tsrCompile("a\0b", 3, "k", NULL, &c), TSR_EINVAL);
    assert_int_equal(tsrGetDiagnosticCount(c), 1);
    tsrDestroyCompilation(c);
    assert_int_equal(tsrCompile(source, (size_t)1 << 40, "k", NULL, &c), TSR_EINVAL);
    tsrDestroyCompilation(c);
    assert_int_equal(tsrCompileFile("/no/such/file.tsr", NULL, &c), TSR_ENOTFOUND);
    assert_int_equal(tsrGetDiagnosticCount(c), 1);
    tsrDestroyCompilation(c);
}

static void *work(void *nothing) {
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        expect(&attempts[i], i);
    return nothing;
}

static void test_threads(void **state) {
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),          cmocka_unit_test(test_attempts),
        cmocka_unit_test(test_diagnostics),      cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_stablehlo),        cmocka_unit_test(test_bytecode),
        cmocka_unit_test(test_nonfinite),        cmocka_unit_test(test_struct_sizes),
        cmocka_unit_test(test_what_is_no_source)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
