/* test_shlo_text.c - StableHLO as text: what is read and printed is read again alike; a text and
 * the bytecode that jaxlib made of it are the same program, so each short form means what jaxlib
 * says; and a text that is cut or damaged is an error with its place, or another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "import/stablehlo/shlo.h"

static const char *const names[] = {"attributes", "control", "forms",
                                    "locations",  "others",  "types"};
enum { NAMES = sizeof names / sizeof *names };

static char *file_of(const char *name, const char *suffix, size_t *size) {
    char path[128], *data;
    status st = STATUS_INIT;
    snprintf(path, sizeof path, "compiler/test/cases/stablehlo/%s.%s", name, suffix);
    if (!file_read(path, 1 << 20, &data, size, &st))
        fail_msg("%s", st.message);
    return data;
}

static char *printed(shlo_module *m) {
    text out;
    text_init(&out);
    shlo_print(m, &out);
    shlo_module_free(m);
    char *words = text_take(&out);
    text_release(&out);
    return words;
}

static shlo_module *read_text(const char *source, size_t size) {
    status st = STATUS_INIT;
    shlo_module *m = shlo_read_text(source, size, &st);
    if (!m)
        fail_msg("%s", st.message);
    return m;
}

static void test_again(void **state) {
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        size_t size;
        char *source = file_of(names[i], "mlir", &size);
        char *once = printed(read_text(source, size));
        char *twice = printed(read_text(once, strlen(once)));
        assert_string_equal(once, twice);
        free(source);
        free(once);
        free(twice);
    }
}

/* The others hold what text and bytecode have otherwise: bounds, and marks that jaxlib folds. */
static void test_bytecode(void **state) {
    static const char *const alike[] = {"attributes", "control", "forms", "locations"};
    (void)state;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        size_t size;
        status st = STATUS_INIT;
        char *source = file_of(alike[i], "mlir", &size);
        char *ours = printed(read_text(source, size));
        free(source);
        source = file_of(alike[i], "mlirbc", &size);
        shlo_module *m = shlo_read_bytecode((const uint8_t *)source, size, &st);
        if (!m)
            fail_msg("%s", st.message);
        char *theirs = printed(m);
        assert_string_equal(ours, theirs);
        free(source);
        free(ours);
        free(theirs);
    }
}

/* ---- places ---- */

static void assert_places(const shlo_block *placed, const shlo_block *read) {
    const shlo_op *at = placed->first;
    for (const shlo_op *op = read->first; op; op = op->next, at = at->next) {
        assert_non_null(at);
        assert_int_equal(at->line, op->line);
        assert_int_equal(at->column, op->column);
        for (uint32_t i = 0; i < op->region_count; i++)
            assert_places(at->regions[i], op->regions[i]);
    }
    assert_null(at);
}

/* Bytecode has the places that its operations have in its text, which nobody wrote. */
static void test_places(void **state) {
    static const char *const kept[] = {"attributes", "control", "forms", "locations", "mesh"};
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        size_t size;
        status st = STATUS_INIT;
        char *bytes = file_of(kept[i], "mlirbc", &size);
        shlo_module *m = shlo_read_bytecode((const uint8_t *)bytes, size, &st);
        if (!m)
            fail_msg("%s", st.message);
        shlo_place(m);
        text out;
        text_init(&out);
        shlo_print(m, &out);
        shlo_module *again = read_text(out.data, out.length);
        const shlo_function *f = m->first;
        for (const shlo_function *g = again->first; g; g = g->next, f = f->next) {
            assert_int_equal(f->line, g->line);
            assert_int_equal(f->column, g->column);
            if (g->body)
                assert_places(f->body, g->body);
        }
        text_release(&out);
        shlo_module_free(again);
        shlo_module_free(m);
        free(bytes);
    }
}

/* A place is said, and nothing is leaked or read outside (under the sanitizers). */
static void read_damaged(const char *source, size_t size) {
    status st = STATUS_INIT;
    shlo_module *m = shlo_read_text(source, size, &st);
    if (m)
        free(printed(m));
    else
        assert_true(strncmp(st.message, "line ", strlen("line ")) == 0);
}

static void test_damaged(void **state) {
    (void)state;
    const size_t step = getenv("TSR_SHORT") ? 13 : 1;
    for (int i = 0; i < NAMES; i++) {
        size_t size;
        char *source = file_of(names[i], "mlir", &size);
        for (size_t at = 0; at < size; at += step) {
            static const char others[] = {'<', '%', '9', '"', ' '};
            const char was = source[at];
            read_damaged(source, at);
            for (size_t k = 0; k<sizeof others; k += step> 1 ? 2 : 1) {
                source[at] = others[k];
                read_damaged(source, size);
            }
            source[at] = was;
        }
        free(source);
    }
}

static void test_deep(void **state) {
    (void)state;
    enum { LEVELS = 100000 };
    text deep;
    text_init(&deep);
    text_append(&deep, "func.func @f(%a: tensor<f32>) -> tensor<f32> { \"x.y\"() ");
    for (int i = 0; i < LEVELS; i++)
        text_append(&deep, "({ \"x.y\"() ");
    read_damaged(deep.data, deep.length);
    text_clear(&deep);
    text_append(&deep, "func.func @f() attributes {a = ");
    for (int i = 0; i < LEVELS; i++)
        text_append_char(&deep, '[');
    read_damaged(deep.data, deep.length);
    text_clear(&deep);
    text_append(&deep, "func.func @f(%a: ");
    for (int i = 0; i < LEVELS; i++)
        text_append(&deep, "tuple<");
    read_damaged(deep.data, deep.length);
    text_release(&deep);
}

/* Cut behind any byte of them, at which a reader could look for what ends them. */
static void test_resources(void **state) {
    static const char whole[] =
        "func.func @f() {\n  return\n}\n{-# dialect_resources: {a: \"0x0\"} #-}";
    const size_t size = sizeof whole - 1, begin = (size_t)(strstr(whole, "{-#") - whole);
    (void)state;
    shlo_module_free(read_text(whole, size));
    for (size_t cut = begin + strlen("{-#"); cut < size; cut++) {
        status st = STATUS_INIT;
        assert_null(shlo_read_text(whole, cut, &st));
        assert_non_null(strstr(st.message, "resources that do not end"));
        read_damaged(whole, cut);
    }
}

typedef struct program_case {
    const char *body, *error; /* NULL: it is read */
} program_case;

/* Reads a function of each of these bodies. */
static void read_programs(const program_case *programs, size_t count) {
    text program;
    text_init(&program);
    for (size_t i = 0; i < count; i++) {
        status st = STATUS_INIT;
        text_clear(&program);
        text_append(&program, "func.func @f(%a: tensor<f32>) -> tensor<f32> {\n");
        text_append(&program, programs[i].body);
        text_append(&program, "return %a : tensor<f32>\n}\n");
        text_append(&program, "func.func private @g(tensor<f32>, tensor<f32>) -> tensor<f32>\n");
        if (!programs[i].error) {
            free(printed(read_text(program.data, program.length)));
            continue;
        }
        assert_null(shlo_read_text(program.data, program.length, &st));
        if (strncmp(st.message, programs[i].error, strlen(programs[i].error)) != 0)
            fail_msg("program %zu: %s, not %s", i, st.message, programs[i].error);
    }
    text_release(&program);
}

/* A name means one value, wherever it is given and can be seen; behind a region it is free again.
 */
static void test_names(void **state) {
    static const program_case programs[] = {
        {"%0 = stablehlo.abs %a : tensor<f32>\n%0 = stablehlo.abs %a : tensor<f32>\n",
         "line 3 column 1: %0 is defined twice"},
        {"%a = stablehlo.abs %a : tensor<f32>\n", "line 2 column 1: %a is defined twice"},
        {"%a, %b = \"x.two\"() : () -> (tensor<f32>, tensor<f32>)\n",
         "line 2 column 1: %a is defined twice"},
        {"%r:2 = \"x.two\"() : () -> (tensor<f32>, tensor<f32>)\n"
         "%s, %r = \"x.two\"() : () -> (tensor<f32>, tensor<f32>)\n",
         "line 3 column 5: %r is defined twice"},
        {"\"x.y\"() ({\n^bb0(%a: tensor<f32>):\n\"x.z\"() : () -> () }) : () -> ()\n",
         "line 3 column 6: %a is defined twice"},
        {"\"x.y\"() ({\n^bb0(%b: tensor<f32>, %b: tensor<f32>):\n\"x.z\"() : () -> () }) : () -> "
         "()\n",
         "line 3 column 23: %b is defined twice"},
        {"%b = stablehlo.abs %a : tensor<f32>\n"
         "%c = stablehlo.while(%b = %a) : tensor<f32>\n cond { } do { }\n",
         "line 3 column 22: %b is defined twice"},
        {"%b = stablehlo.abs %a : tensor<f32>\n"
         "%c = stablehlo.reduce(%a init: %a) across dimensions = [] :"
         " (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
         " reducer(%x: tensor<f32>, %b: tensor<f32>) { stablehlo.return %x : tensor<f32> }\n",
         "line 4 column 27: %b is defined twice"},
        {"\"x.y\"() ({\n%b = stablehlo.abs %a : tensor<f32>\n\"x.z\"() : () -> () }, {\n"
         "%b = stablehlo.abs %a : tensor<f32>\n\"x.z\"() : () -> () }) : () -> ()\n"
         "%b = stablehlo.abs %a : tensor<f32>\n",
         NULL},
    };
    (void)state;
    read_programs(programs, sizeof programs / sizeof *programs);
}

/* An attribute that the operation cannot do without is missed where the operation stands. */
static void test_missing_attributes(void **state) {
    static const program_case programs[] = {
        {"%b = \"stablehlo.reverse\"(%a) : (tensor<f32>) -> tensor<f32>\n",
         "line 2 column 6: 'stablehlo.reverse' needs the attribute 'dimensions'"},
        {"%b = \"stablehlo.dot_general\"(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n",
         "line 2 column 6: 'stablehlo.dot_general' needs the attribute 'dot_dimension_numbers'"},
        {"%b = \"stablehlo.custom_call\"(%a) : (tensor<f32>) -> tensor<f32>\n",
         "line 2 column 6: 'stablehlo.custom_call' needs the attribute 'call_target_name'"},
        {"%b = \"stablehlo.custom_call\"(%a) {call_target_name = \"x\"} : (tensor<f32>) -> "
         "tensor<f32>\n",
         NULL},
        {"%b = \"stablehlo.cholesky\"(%a) : (tensor<f32>) -> tensor<f32>\n", NULL},
    };
    (void)state;
    read_programs(programs, sizeof programs / sizeof *programs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_again),
                                       cmocka_unit_test(test_bytecode),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_deep),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_missing_attributes),
                                       cmocka_unit_test(test_resources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
