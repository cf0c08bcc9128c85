/* test_diagnostics.c - the table of diagnostics: identifiers are well formed and in order, texts
 * are there, and each identifier has a source that triggers it and a mended one that compiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tessera/compiler.h"
#include "tessera/diagnostics.h"

/* Sources that are too long for the table: `before`, `piece` so many times, `after`. */
static const struct long_source {
    const char *id, *before, *piece;
    size_t count;
    const char *after;
} long_sources[] = {
    {"E0901", "C = ", "-", LIMIT_DEPTH + 1, "1\n"},
    {"E0904", "@kernel\ndef f(x: Tensor['N', f32]) -> Tensor['N', f32]:\n", "    x = x + x\n",
     LIMIT_OPERATIONS + 1, "    return x\n"},
    {"E0905", "@kernel\ndef f(x: Tensor['N', f32]) -> tuple[", "Tensor['N', f32], ",
     LIMIT_PARAMETERS + 1, "]:\n    return x\n"},
    {"E0906", "@kernel\ndef ", "f", LIMIT_NAME_BYTES + 1,
     "(x: Tensor['N', f32]) -> Tensor['N', f32]:\n    return x\n"},
};

/* ---- compiling ---- */

static void build(compiler_instance *instance, const compiler_kernel *k, const char *isa,
                  text *said) {
    compiler_options options = {
        .isa = isa, .source_schedule = k->schedule, .generic = k->case_count == 0};
    compiler_artifact artifact = {0};
    status st = STATUS_INIT;
    if (compiler_build(instance, &options, &artifact, &st))
        compiler_artifact_release(&artifact);
    else
        text_append(said, st.message);
}

/* Every kernel that has no errors so far, down to a module; of tiles, to one for a chip, too. */
static void build_all(compiler_source *s, text *said) {
    for (uint32_t i = 0; i < compiler_kernel_count(s); i++) {
        const compiler_kernel *k = compiler_kernel_at(s, i);
        const compiler_case *chosen = k->cases;
        status st = STATUS_INIT;
        if (!k->broken && k->case_count &&
            !compiler_case_specialize(s, k, k->cases, "x86-64-v3", &chosen, &st)) {
            text_append(said, st.message);
            continue;
        }
        compiler_instance *instance = k->broken ? NULL : compiler_instance_open(s, k, chosen, said);
        if (!instance)
            continue;
        build(instance, k, "x86-64-v3", said);
        if (k->knobs->count)
            build(instance, k, "gfx90a", said);
        compiler_instance_free(instance);
    }
}

/* Collects what the compiler says about a source, from its first byte to machine code. */
static void compile(const char *source, text *said) {
    text_init(said);
    compiler_source *s = compiler_open_text("example.tsr", source, false, said);
    if (compiler_error_count(s) == 0)
        build_all(s, said);
    compiler_close(s);
}

static void expect_only(const char *id, const char *source) {
    text said;
    char tag[32];
    compile(source, &said);
    snprintf(tag, sizeof tag, "error[%s]: ", id);
    const compiler_diagnostic *found = compiler_diagnostic_in(said.data);
    if (!found || strcmp(found->id, id) != 0)
        fail_msg("%s: expected %s first in\n%s\nof\n%.2000s", id, tag, said.data, source);
    text_release(&said);
}

/* ---- the table ---- */

static void test_table(void **state) {
    (void)state;
    size_t count;
    const compiler_diagnostic *table = compiler_diagnostics(&count);
    assert_true(count > 100);
    for (size_t i = 0; i < count; i++) {
        const compiler_diagnostic *d = &table[i];
        assert_int_equal(strlen(d->id), 5);
        assert_true(d->id[0] == 'E' && strspn(d->id + 1, "0123456789") == 4);
        assert_true(i == 0 || strcmp(table[i - 1].id, d->id) < 0);
        assert_true(compiler_diagnostic_group(d)[0] != '\0');
        assert_true(d->title[0] && d->explanation[0] && !strchr(d->explanation, '\n'));
        assert_true((d->wrong == NULL) == (d->right == NULL));
        assert_ptr_equal(compiler_diagnostic_of(d->id), d);
    }
    assert_null(compiler_diagnostic_of("E0000"));
    assert_null(compiler_diagnostic_of(""));
}

static void test_examples(void **state) {
    (void)state;
    size_t count;
    const compiler_diagnostic *table = compiler_diagnostics(&count);
    for (size_t i = 0; i < count; i++) {
        if (!table[i].wrong)
            continue;
        text source, said;
        text_init(&source);
        compiler_example_source(table[i].wrong, &source);
        expect_only(table[i].id, source.data);
        text_clear(&source);
        compiler_example_source(table[i].right, &source);
        compile(source.data, &said);
        if (said.length)
            fail_msg("%s: the right example has\n%s", table[i].id, said.data);
        text_release(&said);
        text_release(&source);
    }
}

static void test_long_sources(void **state) {
    (void)state;
    size_t count, without = 0, sources = sizeof long_sources / sizeof *long_sources;
    const compiler_diagnostic *table = compiler_diagnostics(&count);
    for (size_t i = 0; i < count; i++)
        without += !table[i].wrong;
    assert_int_equal(without, sources);
    for (size_t i = 0; i < sources; i++) {
        const struct long_source *l = &long_sources[i];
        assert_null(compiler_diagnostic_of(l->id)->wrong);
        text source;
        text_init(&source);
        text_append(&source, l->before);
        for (size_t k = 0; k < l->count; k++)
            text_append(&source, l->piece);
        text_append(&source, l->after);
        expect_only(l->id, source.data);
        text_release(&source);
    }
}

static void test_rendered(void **state) {
    (void)state;
    assert_null(compiler_diagnostic_in(""));
    assert_null(compiler_diagnostic_in("a.tsr:1:1: error[E0000]: nothing"));
    assert_null(compiler_diagnostic_in("a.tsr:1:1: error[E03"));
    assert_string_equal(
        compiler_diagnostic_in("error[E0000]\nb.tsr:1:1: error[E0302]: error[E0301]")->id, "E0302");
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_long_sources),
        cmocka_unit_test(test_rendered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
