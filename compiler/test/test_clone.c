/* test_clone.c - a clone is the same module and another one: for every kernel of the corpus and of
 * the cases, at every level, and for the modules that are given as text. */
#include "runtime/test/test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "graph/passes.h"
#include "ir/ir.h"
#include "schedule/schedule.h"
#include "tessera/compiler.h"
#include "tile/tile.h"

static char *printed(const ir_module *m) {
    text out;
    text_init(&out);
    ir_print(m, &out);
    char *kept = text_take(&out);
    text_release(&out);
    return kept;
}

static void expect_print(const ir_module *m, const char *wanted) {
    char *found = printed(m);
    assert_string_equal(found, wanted);
    free(found);
}

/* ---- one module ---- */

/* Compares what text leaves out. */
static void expect_same_records(const ir_module *m, const ir_module *copy) {
    assert_int_equal(ir_op_count(m), ir_op_count(copy));
    assert_int_equal(ir_value_count(m), ir_value_count(copy));
    sha256 own = ir_identity(m), of_copy = ir_identity(copy);
    assert_memory_equal(&own, &of_copy, sizeof own);
    for (ir_op op = 1; op <= ir_op_count(m); op++) {
        assert_int_equal(ir_op_get(m, op)->location.line, ir_op_get(copy, op)->location.line);
        assert_int_equal(ir_op_get(m, op)->location.column, ir_op_get(copy, op)->location.column);
    }
    for (ir_value v = 1; v <= ir_value_count(m); v++) {
        const char *a = ir_value_get(m, v)->name, *b = ir_value_get(copy, v)->name;
        assert_true(a == NULL ? b == NULL : b != NULL && a != b && strcmp(a, b) == 0);
    }
}

/* Finds again what is interned, and nothing new takes its id. */
static void expect_interned(const ir_module *m, ir_module *copy) {
    for (ir_value v = 1; v <= ir_value_count(m); v++) {
        ir_type type = ir_value_get(m, v)->type;
        assert_int_equal(ir_type_with_element(copy, type, ir_type_get(m, type)->element), type);
    }
    const ir_op_data *kernel = ir_op_get(m, ir_module_kernel(m));
    for (uint32_t i = 0; i < kernel->attr_count; i++) {
        const ir_attr_data *d = ir_attr_get(m, kernel->attrs[i].value);
        if (d->kind == IR_ATTR_STRING)
            assert_int_equal(ir_attr_string(copy, d->string), kernel->attrs[i].value);
        if (d->kind == IR_ATTR_ARRAY)
            assert_int_equal(ir_attr_array(copy, d->items, d->count), kernel->attrs[i].value);
    }
}

static void spoil_op(ir_module *m, ir_op op) {
    ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        d->operands[i] = 0;
    for (uint32_t i = 0; i < d->attr_count; i++)
        d->attrs[i].value = ir_attr_string(m, "spoilt");
    for (uint32_t i = 0; i < d->result_count; i++)
        ir_value_get(m, d->results[i])->type = ir_type_index(m);
    d->location = (ir_location){0};
}

static void spoil(ir_module *m) {
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        spoil_op(m, w.op);
    ir_block_add_argument(m, body, ir_type_index(m), "spoilt");
    if (ir_block_get(m, body)->first) /* a kernel that returns its parameter has none */
        ir_op_erase(m, ir_block_get(m, body)->first);
}

/* ---- identities ---- */

typedef struct identified {
    sha256 text, identity;
} identified;

static VEC(identified) seen; /* modules that were cloned */

static void note_identity(const ir_module *m) {
    identified one = {ir_hash(m), ir_identity(m)};
    vec_push(&seen, one);
}

static int by_text(const void *a, const void *b) {
    return memcmp(&((const identified *)a)->text, &((const identified *)b)->text, sizeof(sha256));
}

static int by_identity(const void *a, const void *b) {
    return memcmp(&((const identified *)a)->identity, &((const identified *)b)->identity,
                  sizeof(sha256));
}

/* Two modules have one identity where they have one text, and nowhere else. Sequence: last. */
static void test_identities(void **state) {
    (void)state;
    size_t texts = 0;
    assert_true(seen.count > 1000);
    qsort(seen.items, seen.count, sizeof *seen.items, by_text);
    for (size_t i = 1; i < seen.count; i++) {
        bool same_text = by_text(&seen.items[i - 1], &seen.items[i]) == 0;
        assert_int_equal(same_text, by_identity(&seen.items[i - 1], &seen.items[i]) == 0);
        texts += !same_text;
    }
    qsort(seen.items, seen.count, sizeof *seen.items, by_identity);
    for (size_t i = 1; i < seen.count; i++)
        texts -= by_identity(&seen.items[i - 1], &seen.items[i]) != 0;
    assert_int_equal(texts, 0); /* as many identities as texts */
    vec_release(&seen);
}

/* Frees the module, and returns a clone that has outlived it. */
static ir_module *replaced(ir_module *m) {
    char *text_of_m = printed(m);
    note_identity(m);
    ir_module *copy = ir_module_clone(m), *other = ir_module_clone(m);
    expect_print(copy, text_of_m);
    expect_same_records(m, copy);
    expect_interned(m, copy);
    expect_print(copy, text_of_m);
    spoil(other);
    expect_print(m, text_of_m);
    expect_same_records(m, copy);
    ir_module_free(other);
    spoil(m);
    expect_print(copy, text_of_m);
    ir_module_free(m);
    expect_print(copy, text_of_m);
    free(text_of_m);
    return copy;
}

static void test_failure(void **state) {
    (void)state;
    ir_module *m = ir_module_new();
    ir_fail(m, "why");
    ir_module *copy = ir_module_clone(m);
    assert_string_equal(ir_failure(copy), "why");
    assert_ptr_not_equal(ir_failure(copy), ir_failure(m));
    ir_module_free(m);
    ir_module_free(copy);
}

/* ---- all levels ---- */

enum { LEVELS = 4 };

/* The next level down; NULL where this kernel has none. */
static ir_module *lower(ir_module *m, int to, const compiler_case *c) {
    static const schedule_target target = {.policy = &schedule_cpu_policy,
                                           .vector_lanes = 16,
                                           .vector_registers = 32,
                                           .l1_bytes = 48 << 10,
                                           .l2_bytes = 1 << 20,
                                           .threads = 2};
    const schedule_request request = {.target = &target, .profile = "strict"};
    status st = STATUS_INIT;
    ir_module *below = NULL;
    if (to == 1) {
        if (graph_specialize(m, (ir_bindings){c ? c->dims : NULL, c ? c->dim_count : 0}, &st) &&
            graph_decompose_all(m, &st) && graph_widen(m, &st) && graph_normalize(m, &st) &&
            graph_simplify(m, &st))
            return m;
    } else {
        below = to == 2 ? schedule_from_graph(m, &request, &st) : tile_from_schedule(m, &st);
    }
    ir_module_free(m);
    return below;
}

/* The texts of all levels of a kernel, `cloned` at each. Takes the module. */
static void print_levels(ir_module *m, const compiler_case *c, bool cloned, text *out) {
    for (int level = 0; m && level < LEVELS; level++) {
        m = level ? lower(m, level, c) : m;
        if (m && cloned)
            m = replaced(m);
        if (m)
            ir_print(m, out);
    }
    ir_module_free(m);
}

static uint32_t check_case(compiler_source *s, const compiler_kernel *k, const compiler_case *c) {
    text said, levels[2];
    text_init(&said);
    bool ok = true;
    for (int cloned = 0; cloned < 2; cloned++) {
        text_init(&levels[cloned]);
        ir_module *m = compiler_graph(s, k, c, &said);
        ok = ok && m;
        if (m)
            print_levels(m, c, cloned, &levels[cloned]);
    }
    if (strcmp(levels[0].data, levels[1].data) != 0)
        fail_msg("%s/%s: its clones are lowered to something else", k->name, c ? c->name : "");
    text_release(&levels[0]);
    text_release(&levels[1]);
    text_release(&said);
    return ok;
}

/* Cases of a kernel differ in numbers; the short form has the first of each. */
static uint32_t check_source(const char *path) {
    const uint32_t most = getenv("TSR_SHORT") ? 1 : UINT32_MAX;
    text said;
    status st = STATUS_INIT;
    uint32_t cases = 0;
    text_init(&said);
    compiler_source *s = compiler_open(path, false, &said, &st);
    assert_non_null(s);
    for (uint32_t i = 0; i < compiler_kernel_count(s); i++) {
        const compiler_kernel *k = compiler_kernel_at(s, i);
        for (uint32_t n = 0; !k->broken && n < (k->case_count ? k->case_count : 1) && n < most; n++)
            cases += check_case(s, k, k->case_count ? &k->cases[n] : NULL);
    }
    compiler_close(s);
    text_release(&said);
    return cases;
}

/* Modules as text, where they are right by themselves. */
static uint32_t check_text(const char *path) {
    static const char separator[] = "// -----";
    char *data;
    size_t size;
    status st = STATUS_INIT;
    uint32_t modules = 0;
    assert_true(file_read(path, 1 << 20, &data, &size, &st));
    for (char *piece = data, *next; piece; piece = next) {
        next = strstr(piece, separator);
        if (next)
            *next++ = 0;
        ir_module *m = ir_parse(piece, &st);
        bool sound = m && ir_module_kernel(m) && ir_verify(m, &st);
        modules += sound;
        ir_module_free(sound ? replaced(m) : m);
    }
    free(data);
    return modules;
}

static uint32_t for_all(const char *pattern, uint32_t (*check)(const char *path)) {
    glob_t found;
    uint32_t sum = 0;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        sum += check(found.gl_pathv[i]);
    globfree(&found);
    return sum;
}

static void test_corpus(void **state) {
    (void)state;
    assert_true(for_all("corpus/*/*.tsr", check_source) >= (getenv("TSR_SHORT") ? 100 : 500));
}

static void test_cases(void **state) {
    (void)state;
    assert_true(for_all("compiler/test/cases/*/*.tsr", check_source) >= 100);
    assert_true(for_all("compiler/test/cases/*/*.mlir", check_text) >= 5);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_identities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
