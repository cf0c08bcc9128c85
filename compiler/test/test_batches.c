/* test_batches.c - tessera.vmap of each function of batches.txt, with any of its arguments taken
 * apart, against tessera.loop of the same: the same bits. Every operation that has a rule for
 * batches, or blocks, is in one of them. And a derivative of a batch is a batch of derivatives. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/philox.h"
#include "graph/passes.h"
#include "ops/batching/batching.h"
#include "ops/control.h"
#include "target/interp/interp.h"
#include "tessera/compiler.h"
#include "transforms/passes.h"

enum { VALUES = 5, WORD = 64 };

typedef struct value {
    char name[WORD], type[WORD];
} value;

typedef struct function {
    char names[4 * WORD]; /* of operations */
    value arguments[VALUES], results[VALUES];
    int argument_count, result_count;
    const char *body;
    size_t body_length;
} function;

/* ---- reading ---- */

static int read_values(const char *from, const char *to, value *out) {
    int count = 0;
    for (const char *at = from; at < to; count++) {
        int used = 0;
        assert_true(count < VALUES);
        assert_int_equal(
            sscanf(at, "%%%63[^:]: %63[^,)]%n", out[count].name, out[count].type, &used), 2);
        at += used + 2; /* ", " */
    }
    return count;
}

static const char *behind(const char *at, const char *what) {
    const char *found = strstr(at, what);
    assert_non_null(found);
    return found + strlen(what);
}

/* The function that begins at "== "; returns the next one, or the end. */
static const char *read_function(const char *at, function *f) {
    const char *open = behind(at, "("), *close = behind(open, ") -> ("),
               *end = behind(close, ")\n");
    memset(f, 0, sizeof *f);
    memcpy(f->names, at + 3, (size_t)(open - 1 - (at + 3)));
    f->argument_count = read_values(open, close - strlen(") -> ("), f->arguments);
    f->result_count = read_values(close, end - 2, f->results);
    const char *next = strstr(end, "\n== ");
    next = next ? next + 1 : end + strlen(end);
    f->body = end;
    f->body_length = (size_t)(next - end);
    return next;
}

/* ---- modules ---- */

/* Blocks in each other: the kernel's, and the last one's is the function's. */
typedef struct level {
    const char *operation; /* that takes what this block takes, and holds the next one; NULL */
    bool stacked, derived; /* all parts; cotangents of results before, of arguments behind */
} level;

typedef struct calling {
    const function *f;
    const char *operation; /* that `$` stands for */
    int count;             /* parts */
    unsigned sliced;       /* arguments that are taken apart */
    const level *levels;
} calling;

static void put_type(text *t, const char *type, int parts) {
    if (parts > 0)
        text_printf(t, "tensor<%dx%s", parts, type + strlen("tensor<"));
    else
        text_append(t, type);
}

/* A name, where there is a prefix of names, and a type is to follow. */
static void put_value(text *t, const char *prefix, const char *name, bool typed) {
    if (t->data[t->length - 1] != '(')
        text_append(t, ", ");
    if (prefix)
        text_printf(t, "%%%s%s%s", prefix, name, typed ? ": " : "");
}

/* Arguments of a block, those that are taken apart first. */
static void put_inputs(text *t, const calling *c, int l, bool named, bool typed) {
    const level *own = &c->levels[l];
    static const char *const prefixes[] = {"all_", "one_", ""};
    const char *prefix = !named ? NULL : own->operation ? prefixes[l] : "";
    for (int i = 0; own->derived && i < c->f->result_count; i++) {
        char name[] = {'c', (char)('0' + i), 0};
        put_value(t, prefix, name, typed);
        if (typed)
            put_type(t, c->f->results[i].type, own->stacked ? c->count : 0);
    }
    for (int whole = 0; whole < 2; whole++)
        for (int i = 0; i < c->f->argument_count; i++) {
            const bool sliced = (c->sliced >> i & 1u) != 0;
            if (sliced == whole)
                continue;
            put_value(t, prefix, c->f->arguments[i].name, typed);
            if (typed)
                put_type(t, c->f->arguments[i].type, sliced && own->stacked ? c->count : 0);
        }
}

static void put_output_types(text *t, const calling *c, int l) {
    const level *own = &c->levels[l];
    for (int i = 0; i < c->f->result_count; i++) {
        put_value(t, NULL, NULL, true);
        put_type(t, c->f->results[i].type, own->stacked ? c->count : 0);
    }
    for (int i = 0; own->derived && i < c->f->argument_count; i++) {
        put_value(t, NULL, NULL, true);
        put_type(t, c->f->arguments[i].type, own->stacked ? c->count : 0);
    }
}

static int inputs_of(const calling *c, int l) {
    return c->f->argument_count + (c->levels[l].derived ? c->f->result_count : 0);
}

static int outputs_of(const calling *c, int l) {
    return c->f->result_count + (c->levels[l].derived ? c->f->argument_count : 0);
}

static void put_numbers(text *t, const char *name, const char *before, int count, const char *end) {
    text_printf(t, "%s = [", name);
    for (int i = 0; i < count; i++)
        text_printf(t, "%s%s%d%s", i ? ", " : "", before, i, before[0] ? "\"" : "");
    text_printf(t, "]%s", end);
}

/* The block's operation up to the arguments of the next one. */
static void open_level(text *t, const calling *c, int l) {
    const int outputs = outputs_of(c, l);
    const bool loop = strcmp(c->levels[l].operation, "loop") == 0;
    put_inputs(t, c, l, true, true);
    text_append(t, "):\n");
    text_printf(t, outputs > 1 ? "%%m%d:%d" : "%%m%d", l, outputs);
    text_printf(t, " = \"tessera.%s\"(", c->levels[l].operation);
    put_inputs(t, c, l, true, false);
    text_append(t, ") <{");
    if (strcmp(c->levels[l].operation, "vjp") == 0) {
        put_numbers(t, "of", "", c->f->result_count, ", ");
        put_numbers(t, "wrt", "", c->f->argument_count, "");
    } else {
        const int own = c->levels[l].derived ? inputs_of(c, l) : __builtin_popcount(c->sliced);
        text_printf(t, "%scount = %d : i64, sliced = %d : i64", /* a loop's turns draw alike */
                    loop ? "carried = 0 : i64, " : "alike = true, ", c->count, own);
    }
    text_printf(t, "}> ({\n^bb0(%s", loop ? "%part: tensor<i32>" : "");
}

static void close_level(text *t, const calling *c, int l) {
    const int outputs = outputs_of(c, l);
    text_append(t, "}) : (");
    put_inputs(t, c, l, false, true);
    text_append(t, ") -> (");
    put_output_types(t, c, l);
    text_printf(t, ")\n\"tessera.%s\"(", l ? "next" : "return");
    for (int i = 0; i < outputs; i++)
        text_printf(t, outputs > 1 ? "%s%%m%d#%d" : "%s%%m%d", i ? ", " : "", l, i);
    text_append(t, ") : (");
    put_output_types(t, c, l);
    text_append(t, ") -> ()\n");
}

static void put_function(text *t, const calling *c, int l) {
    put_inputs(t, c, l, true, true);
    text_append(t, "):\n");
    for (size_t i = 0; i < c->f->body_length; i++)
        if (c->f->body[i] == '$')
            text_append(t, c->operation);
        else
            text_append_char(t, c->f->body[i]);
    text_append(t, "\"tessera.next\"(");
    for (int i = 0; i < c->f->result_count; i++)
        put_value(t, "", c->f->results[i].name, false);
    text_append(t, ") : (");
    put_output_types(t, c, l);
    text_append(t, ") -> ()\n");
}

static ir_module *module_of(const calling *c) {
    text t;
    status st = STATUS_INIT;
    int l = 0;
    text_init(&t);
    text_append(&t, "\"builtin.module\"() ({\n\"tessera.kernel\"() <{");
    put_numbers(&t, "inputs", "\"x", inputs_of(c, 0), ", name = \"f\", ");
    put_numbers(&t, "outputs", "\"y", outputs_of(c, 0), "}> ({\n^bb0(");
    for (; c->levels[l].operation; l++)
        open_level(&t, c, l);
    put_function(&t, c, l);
    while (l-- > 0)
        close_level(&t, c, l);
    text_append(&t, "}) : () -> ()\n}) : () -> ()\n");
    ir_module *m = ir_parse(t.data, &st);
    if (!m || !ir_verify(m, &st))
        fail_msg("%s\n%s", st.message, t.data);
    text_release(&t);
    return m;
}

/* ---- running ---- */

static void fill(const ir_module *m, ir_value v, tensor *out) {
    const ir_type_data *type = ir_type_of(m, v);
    status st = STATUS_INIT;
    assert_true(tensor_init(out, type->element, type->rank, type->dims, &st));
    for (int64_t k = 0; k < tensor_count(out); k++) {
        const philox_words drawn = philox_element(7, (uint64_t)k, v, 0);
        const double number = dtype_is_float(type->element) ? (double)philox_normal(drawn, 0, 1)
                                                            : (double)(drawn.w[0] % 9) - 2;
        dtype_store(type->element, out->data, (size_t)k, number);
    }
}

/* False: there is no such derivative. */
static bool run(const calling *c, tensor *outputs) {
    tensor inputs[2 * VALUES] = {{0}};
    status st = STATUS_INIT;
    ir_module *m = module_of(c);
    const ir_block_data *body = ir_kernel_body(m);
    for (uint32_t i = 0; i < body->argument_count; i++)
        fill(m, body->arguments[i], &inputs[i]);
    const bool batched = graph_vmap(m, &st), derived = batched && graph_vjp(m, &st);
    if (!derived && !c->levels[0].derived)
        fail_msg("%s", st.message);
    if (derived &&
        (!ir_verify(m, &st) || !graph_checkpoint(m, &st) || !graph_decompose_all(m, &st) ||
         !graph_widen(m, &st) || !graph_normalize(m, &st) || !ir_verify(m, &st) ||
         !interp_module(m, inputs, outputs, &st)))
        fail_msg("%s", st.message);
    tensor_release_all(inputs, 2 * VALUES);
    ir_module_free(m);
    return derived;
}

/* The same bits; false: one way has no derivative. */
static bool expect_same(calling *c, const level *one, const level *other) {
    tensor found[2 * VALUES] = {{0}}, wanted[2 * VALUES] = {{0}};
    c->levels = one;
    bool runs = run(c, found);
    c->levels = other;
    runs = run(c, wanted) && runs;
    for (int i = 0; runs && i < outputs_of(c, 0); i++)
        if (tensor_bytes(&found[i]) != tensor_bytes(&wanted[i]) ||
            memcmp(found[i].data, wanted[i].data, tensor_bytes(&found[i])) != 0)
            fail_msg("'%s' of %s, %d parts, arguments 0x%x: other bits in output %d", c->operation,
                     c->f->names, c->count, c->sliced, i);
    tensor_release_all(found, 2 * VALUES);
    tensor_release_all(wanted, 2 * VALUES);
    return runs;
}

/* ---- tests ---- */

typedef void (*visitor)(const function *f, const char *operation, void *context);

static void each_function(visitor visit, void *context) {
    char *source;
    size_t size;
    status st = STATUS_INIT;
    function f;
    assert_true(file_read("compiler/test/batches.txt", 1 << 20, &source, &size, &st));
    for (const char *at = behind(source, "\n"); (at = strstr(at, "== ")) != NULL;) {
        at = read_function(at, &f);
        char words[sizeof f.names], *rest = words;
        memcpy(words, f.names, sizeof words);
        for (char *one; (one = strtok_r(rest, " ", &rest)) != NULL;)
            visit(&f, one, context);
    }
    free(source);
}

static int opcode_of(const char *word) {
    char name[WORD];
    snprintf(name, sizeof name, "tessera.%s", word);
    const int opcode = op_from_name(name);
    if (opcode < 0)
        fail_msg("there is no %s", name);
    return opcode;
}

static void compare_with_loop(const function *f, const char *operation, void *context) {
    static const level batch[] = {{"vmap", true, false}, {NULL, false, false}},
                       loop[] = {{"loop", true, false}, {NULL, false, false}};
    bool *met = context;
    met[opcode_of(operation)] = true;
    for (unsigned sliced = 1; sliced < 1u << f->argument_count; sliced++)
        for (int count = 1; count <= 3; count += 2)
            assert_true(expect_same(&(calling){f, operation, count, sliced, NULL}, batch, loop));
}

static void test_loops(void **state) {
    (void)state;
    bool met[GRAPH_OP_COUNT] = {false};
    each_function(compare_with_loop, met);
    for (int op = 0; op < GRAPH_OP_COUNT; op++) {
        /* Collectives are in shards alone, and placed says something of ranks:
         * corpus/collectives has them in batches (moved_in_batches, placed_in_batches). */
        const bool own = op == GRAPH_JVP || op == GRAPH_VJP || op == GRAPH_VMAP ||
                         op == GRAPH_SHARD || op == GRAPH_PLACED ||
                         graph_op_class(op) == GRAPH_CLASS_COLLECTIVE;
        if (!met[op] && !own && (batching_of(op) || control_has_blocks(op)))
            fail_msg("no function of batches.txt is about %s", op_info_get(op)->name);
    }
}

static bool is_float(const value *v) {
    const size_t length = strlen(v->type);
    return length > 4 && strcmp(v->type + length - 4, "f32>") == 0;
}

/* The derivative of a batch, and a batch of derivatives. */
static void compare_derivatives(const function *f, const char *operation, void *context) {
    static const level outside[] = {{"vjp", true, true},
                                    {"vmap", true, false},
                                    {NULL, false, false}},
                       inside[] = {
                           {"vmap", true, true}, {"vjp", false, true}, {NULL, false, false}};
    const unsigned all = (1u << f->argument_count) - 1;
    bool floats = true;
    for (int i = 0; i < f->argument_count; i++)
        floats &= is_float(&f->arguments[i]);
    for (int i = 0; i < f->result_count; i++)
        floats &= is_float(&f->results[i]);
    if (floats)
        *(int *)context += expect_same(&(calling){f, operation, 3, all, NULL}, outside, inside);
}

static void test_derivatives(void **state) {
    (void)state;
    int compared = 0;
    each_function(compare_derivatives, &compared);
    assert_true(compared > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_derivatives),
    };
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
