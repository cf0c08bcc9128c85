/* test_lines.c - each line of a level's text knows the line of the source that it comes from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tessera/compiler.h"

/* The product stands in line 6, the exponential in 7, the sum in 8. */
static const char SOURCE[] = "from tessera import *\n"
                             "@cases(case(\"c\", M=5, N=40, K=7))\n"
                             "@kernel\n"
                             "def f(x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32]\n"
                             ") -> Tensor[\"M\", f32]:\n"
                             "    p = x @ y\n"
                             "    q = exp(p)\n"
                             "    return sum(q, axis=-1)\n";

typedef struct subject {
    compiler_source *source;
    compiler_instance *instance;
    text body;
    ir_line_list lines;
} subject;

static void open_subject(subject *s) {
    text diagnostics;
    text_init(&diagnostics);
    *s = (subject){.source = compiler_open_text("test.tsr", SOURCE, false, &diagnostics)};
    text_init(&s->body);
    assert_string_equal(diagnostics.data, "");
    const compiler_kernel *kernel = compiler_kernel_at(s->source, 0);
    s->instance = compiler_instance_open(s->source, kernel, &kernel->cases[0], &diagnostics);
    assert_non_null(s->instance);
    text_release(&diagnostics);
}

static void close_subject(subject *s) {
    vec_release(&s->lines);
    text_release(&s->body);
    compiler_instance_free(s->instance);
    compiler_close(s->source);
}

static void emit(subject *s, const char *level, bool generic) {
    status st = STATUS_INIT;
    text plain;
    compiler_options options = {.isa = "x86-64-v3", .generic = generic};
    text_init(&plain);
    assert_true(compiler_emit(s->instance, &options, level, &plain, &st));
    options.lines = &s->lines;
    text_clear(&s->body);
    vec_clear(&s->lines);
    assert_true(compiler_emit(s->instance, &options, level, &s->body, &st));
    assert_string_equal(s->body.data, plain.data);
    text_release(&plain);
}

/* Tells that some line of the text that has the word comes from that line of the source. */
static bool comes_from(const subject *s, const char *word, uint32_t line) {
    const char *p = s->body.data;
    for (size_t i = 0; i < s->lines.count; i++) {
        const char *end = strchr(p, '\n'), *found = strstr(p, word);
        if (found && found < end && s->lines.items[i] == line)
            return true;
        p = end + 1;
    }
    assert_string_equal(p, ""); /* one number for each line */
    return false;
}

static void test_levels(void **state) {
    (void)state;
    subject s;
    open_subject(&s);
    emit(&s, "graph", false);
    assert_true(comes_from(&s, "tessera.matmul", 6) && comes_from(&s, "tessera.exp", 7) &&
                comes_from(&s, "tessera.reduce", 8));
    assert_false(comes_from(&s, "tessera.exp", 6));
    emit(&s, "schedule", false);
    assert_true(comes_from(&s, "sched.dot", 6) && comes_from(&s, "tessera.exp", 7) &&
                comes_from(&s, "sched.reduce", 8));
    emit(&s, "tile", false);
    assert_true(comes_from(&s, "tile.fma", 6) && comes_from(&s, "tile.exp", 7) &&
                comes_from(&s, "tile.add", 8));
    assert_false(comes_from(&s, "tile.exp", 6));
    close_subject(&s);
}

static void test_any_dimensions(void **state) {
    (void)state;
    subject s;
    open_subject(&s);
    emit(&s, "tile", true);
    assert_true(comes_from(&s, "tile.exp", 7) && comes_from(&s, "tile.add", 8));
    close_subject(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_any_dimensions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
