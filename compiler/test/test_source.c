/* test_source.c - sources that are wrong and what is said about them (cases/source), sources that
 * are right and the graphs they give (cases/check, corpus), and sources that nobody would write.
 * TSR_BLESS=1 rewrites the expectations. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "tessera/compiler.h"

/* ---- walking folders ---- */

typedef void (*visit_file)(const char *path);

static int ends_with_tsr(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".tsr") == 0;
}

static uint32_t walk(const char *folder, visit_file visit) {
    struct dirent **entries;
    int count = scandir(folder, &entries, ends_with_tsr, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        visit(path);
        free(entries[i]);
    }
    free(entries);
    return (uint32_t)count;
}

/* ---- expectations ---- */

static void expect_text(const char *path, const text *found) {
    char expect[512];
    snprintf(expect, sizeof(expect), "%.*s.expect", (int)(strlen(path) - 4), path);
    if (getenv("TSR_BLESS")) {
        assert_true(file_write_atomic(expect, found->data, found->length, NULL));
        return;
    }
    char *wanted;
    size_t size;
    status st = STATUS_INIT;
    if (!file_read(expect, 1 << 20, &wanted, &size, &st))
        fail_msg("%s", st.message);
    if (strcmp(wanted, found->data) != 0)
        fail_msg("%s: expected\n%s\nfound\n%s", path, wanted, found->data);
    free(wanted);
}

static compiler_source *open_source(const char *path, text *diagnostics) {
    status st = STATUS_INIT;
    compiler_source *s = compiler_open(path, false, diagnostics, &st);
    if (!s)
        fail_msg("%s", st.message);
    return s;
}

static void check_diagnostics(const char *path) {
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *s = open_source(path, &diagnostics);
    if (compiler_error_count(s) == 0)
        fail_msg("%s: nothing was found wrong", path);
    expect_text(path, &diagnostics);
    compiler_close(s);
    text_release(&diagnostics);
}

static void test_diagnostics(void **state) {
    (void)state;
    assert_true(walk("compiler/test/cases/source", check_diagnostics) >= 40);
}

/* ---- graphs ---- */

static void check_module(ir_module *m, const char *path, text *printed) {
    status st = STATUS_INIT;
    text again;
    text_init(&again);
    ir_print(m, printed);
    if (!ir_verify(m, &st))
        fail_msg("%s: %s", path, st.message);
    ir_module *parsed = ir_parse(printed->data, &st);
    if (!parsed)
        fail_msg("%s: %s", path, st.message);
    ir_print(parsed, &again);
    assert_string_equal(printed->data, again.data);
    ir_module_free(parsed);
    text_release(&again);
}

static void check_signatures(const ir_module *m, const compiler_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->case_count; i++) {
        const compiler_case *c = &kernel->cases[i];
        compiler_signature signature;
        status st = STATUS_INIT;
        compiler_instance *instance =
            compiler_instance_new(ir_module_clone(m), (ir_bindings){c->dims, c->dim_count});
        if (!compiler_signature_of(instance, &signature, &st))
            fail_msg("%s, case %s: %s", kernel->name, c->name, st.message);
        assert_int_equal(signature.input_count, kernel->parameter_count);
        assert_string_equal(signature.inputs[0].name, kernel->parameter_names[0]);
        assert_true(signature.output_count > 0 && signature.outputs[0].name[0]);
        compiler_instance_free(instance);
    }
}

/* The graphs of all kernels of a source, under their first case. */
static void print_graphs(const char *path, text *out) {
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *s = open_source(path, &diagnostics);
    if (compiler_error_count(s) != 0)
        fail_msg("%s", diagnostics.data);
    for (uint32_t i = 0; i < compiler_kernel_count(s); i++) {
        const compiler_kernel *kernel = compiler_kernel_at(s, i);
        text printed;
        text_init(&printed);
        ir_module *m = compiler_graph(s, kernel, kernel->cases, &diagnostics);
        assert_non_null(m);
        check_module(m, path, &printed);
        check_signatures(m, kernel);
        text_append(out, printed.data);
        ir_module_free(m);
        text_release(&printed);
    }
    compiler_close(s);
    text_release(&diagnostics);
}

static void check_graphs(const char *path) {
    text graphs;
    text_init(&graphs);
    print_graphs(path, &graphs);
    expect_text(path, &graphs);
    text_release(&graphs);
}

static void test_graphs(void **state) {
    (void)state;
    assert_true(walk("compiler/test/cases/check", check_graphs) >= 10);
}

static void check_corpus_file(const char *path) {
    text graphs, diagnostics;
    text_init(&graphs);
    text_init(&diagnostics);
    print_graphs(path, &graphs);
    compiler_source *s = open_source(path, &diagnostics);
    for (uint32_t i = 0; i < compiler_kernel_count(s); i++)
        assert_true(compiler_kernel_at(s, i)->case_count > 0);
    compiler_close(s);
    text_release(&diagnostics);
    text_release(&graphs);
}

static void test_corpus(void **state) {
    (void)state;
    struct dirent **entries;
    int count = scandir("corpus", &entries, NULL, alphasort);
    uint32_t files = 0;
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof(path), "corpus/%s", entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && file_is_dir(path))
            files += walk(path, check_corpus_file);
        free(entries[i]);
    }
    free(entries);
    assert_true(files >= 16);
}

/* ---- cases ---- */

static void test_case_values(void **state) {
    (void)state;
    static const char source[] =
        "@cases(\n"
        "    case('a', N=3, T=bf16, x=uniform(-1, 2.5), i=integers(0, 'N')),\n"
        "    case('b', N=0x10, T=f32, large=True, m=ones()))\n"
        "@kernel\n"
        "def f(x: Tensor['2*N + 1', 'T'], i: Tensor['N', i8], m: Tensor[bool]) -> "
        "Tensor['2*N + 1', 'T']:\n"
        "    return x\n";
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *s = compiler_open_text("case.tsr", source, false, &diagnostics);
    assert_string_equal(diagnostics.data, "");
    const compiler_kernel *k = compiler_kernel_at(s, 0);
    assert_int_equal(k->case_count, 2);
    assert_int_equal(k->line, 5);
    const compiler_case *a = &k->cases[0], *b = &k->cases[1];
    assert_int_equal(a->line, 2);
    assert_int_equal(a->types[0].type, DTYPE_BF16);
    assert_true(a->inputs[0].kind == INPUT_UNIFORM && a->inputs[0].a == -1 &&
                a->inputs[0].b == 2.5);
    assert_true(a->inputs[1].kind == INPUT_INTEGERS && a->inputs[1].b == 3);
    assert_true(a->inputs[2].kind == INPUT_INTEGERS && a->inputs[2].b == 2);
    assert_true(!a->large && b->large && b->dims[0].value == 16);
    assert_true(b->inputs[0].kind == INPUT_NORMAL && b->inputs[1].a == -128 && b->inputs[2].a == 1);
    compiler_instance *instance = compiler_instance_open(s, k, b, &diagnostics);
    compiler_signature signature;
    assert_true(compiler_signature_of(instance, &signature, NULL));
    assert_int_equal(signature.inputs[0].dims[0], 33);
    assert_string_equal(signature.outputs[0].name, "x_out");
    compiler_instance_free(instance);
    status st = STATUS_INIT;
    instance = compiler_instance_new(compiler_graph(s, k, b, &diagnostics), (ir_bindings){0});
    assert_false(compiler_signature_of(instance, &signature, &st));
    assert_string_equal(st.message, "dimension 'N' of 'x' is not bound");
    compiler_instance_free(instance);
    assert_null(compiler_graph(s, k, NULL, &diagnostics));
    assert_non_null(strstr(diagnostics.data, "error[E0314]"));
    compiler_close(s);
    text_release(&diagnostics);
}

/* ---- hostile sources: errors, never a crash ---- */

static void expect_errors(const char *source, const char *tag) {
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *s = compiler_open_text("hostile.tsr", source, true, &diagnostics);
    assert_true(compiler_error_count(s) > 0);
    if (!strstr(diagnostics.data, tag))
        fail_msg("expected '%s' in\n%.2000s", tag, diagnostics.data);
    compiler_close(s);
    text_release(&diagnostics);
}

static void expect_repeated(const char *before, const char *piece, size_t count, const char *tag) {
    text source;
    text_init(&source);
    text_append(&source, before);
    for (size_t i = 0; i < count; i++)
        text_append(&source, piece);
    expect_errors(source.data, tag);
    text_release(&source);
}

static void test_hostile(void **state) {
    (void)state;
    static const char *const nested[] = {"(", "-", "not ", "[", "f(", "x[", "~(", "x=", "1+(", "{"};
    for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++)
        expect_repeated("C = ", nested[i], 100000, "error[E0");
    expect_repeated("C = 1", "+1", 100000, "error[E0901]");
    expect_repeated("C = x", ".T", 100000, "error[E0901]");
    expect_repeated("C = x", "[0]", 100000, "error[E0901]");
    expect_repeated("", "$\n", 1000, "error[E0101]");
    expect_repeated("", "@kernel\n", 1000, "error[E0201]");
    expect_repeated("C = ", "9", 100000, "error[E0110]");
    expect_repeated("def f(", "x, ", 3000, "error[E0");
    expect_repeated("", " (\n", 30000, "error[E0");
    expect_errors("\xff\xfe", "error[E0101]");
    expect_errors("C = \"\xc3", "error[E0101]");
    expect_errors("C = \"\"\"", "error[E0102]");
    expect_errors("C = \"\\", "error[E0102]");
    expect_errors("\\", "error[E0101]");
}

/* The space of a kernel, and its graph with another choice of it. */
static void test_tile_sizes(void **state) {
    (void)state;
    static const char source[] =
        "from tessera import *\n"
        "@kernel.autotune(space=dict(BM=[16, 32], warps=[4, 8], BN=8))\n"
        "@cases(case(\"a\", M=40, N=40))\n"
        "def f(x: KTile[\"M\", \"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"
        "    return tile.load(x, tile.context().rows, tile.context().cols)\n"
        "@kernel\n"
        "def g(x: Tensor[\"M\", f32]) -> Tensor[\"M\", f32]:\n"
        "    return exp(x)\n";
    static const struct {
        int word;
        int64_t value;
    } wanted[] = {{0, 16}, {0, 32}, {1, 8}};
    const compiler_tile_size *sizes;
    const int64_t choice[COMPILER_TILE_WORDS] = {32};
    text diagnostics, printed;
    text_init(&diagnostics);
    text_init(&printed);
    compiler_source *s = compiler_open_text("sizes.tsr", source, false, &diagnostics);
    const compiler_kernel *k = compiler_kernel_at(s, 0);
    assert_int_equal(compiler_tile_sizes(s, k, &sizes), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sizes[i].word, wanted[i].word);
        assert_int_equal(sizes[i].value, wanted[i].value);
        assert_int_equal(strtol(source + sizes[i].start, NULL, 10), wanted[i].value);
    }
    assert_int_equal(compiler_tile_sizes(s, compiler_kernel_at(s, 1), &sizes), 0);
    ir_module *m = compiler_graph_sized(s, k, &k->cases[0], choice, &diagnostics);
    ir_print(m, &printed);
    assert_non_null(strstr(printed.data, "size = [32, 8]"));
    ir_module_free(m);
    compiler_close(s);
    text_release(&printed);
    text_release(&diagnostics);
}

static void test_spaces(void **state) {
    (void)state;
    const char *what = NULL;
    assert_int_equal(compiler_space_bytes("x86-64-v3", "register", &what), 16 * 8 * 4);
    assert_non_null(what);
    assert_int_equal(compiler_space_bytes("x86-64-v4", "shared", &what), 1024 << 10);
    assert_int_equal(compiler_space_bytes("x86-64-v4", "global", &what), -1);
    assert_int_equal(compiler_space_bytes("x86-64-v9", "shared", &what), -1);
}

static void test_empty(void **state) {
    (void)state;
    static const char *const nothing[] = {
        "", "\n", "#", "\"\"\"only a docstring\"\"\"", "\r\n\r\n", "   \n\t\n"};
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
        text diagnostics;
        text_init(&diagnostics);
        compiler_source *s = compiler_open_text("empty.tsr", nothing[i], false, &diagnostics);
        assert_string_equal(diagnostics.data, "");
        assert_int_equal(compiler_kernel_count(s), 0);
        assert_null(compiler_kernel_at(s, 0));
        compiler_close(s);
        text_release(&diagnostics);
    }
    status st = STATUS_INIT;
    assert_null(compiler_open("corpus/no/such/file.tsr", false, NULL, &st));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diagnostics), cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_corpus),      cmocka_unit_test(test_case_values),
        cmocka_unit_test(test_hostile),     cmocka_unit_test(test_empty),
        cmocka_unit_test(test_tile_sizes),  cmocka_unit_test(test_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
