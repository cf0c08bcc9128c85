/* test_hostile.c - every number that an operation takes, at values that nobody means: each is a
 * diagnostic with its place, a refusal with a reason, or a kernel that compiles and runs; never an
 * error of the compiler's own, and nothing that a sanitizer sees.
 *
 * The attributes come from the table of operations: one that is new and takes numbers needs a line
 * in `calls`. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/opset.h"
#include "ops/graph.h"
#include "tessera/compiler.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

enum { RUN_ELEMENTS_MAX = 1 << 16 };

/* INT64_MIN is no literal of the language. */
static const char *const numbers[] = {"9223372036854775807",
                                      "(-9223372036854775807 - 1)",
                                      "4611686018427387904",
                                      "-1",
                                      "0",
                                      "1",
                                      "3",
                                      "2147483647",
                                      "2147483648",
                                      "4294967296",
                                      "8796093022208"};
/* An attribute that is a list takes it as one number and as several. */
static const char *const lists[] = {"%s", "(%s,)", "(%s, 1)", "(1, %s)", "(%s, %s)"};

#define X "x: Tensor[4, 6, f32]"
/* A call with all operands and what it cannot do without, but for the attribute that is tried. */
static const struct {
    const char *operation, *attribute; /* NULL: every other one of it */
    const char *parameters, *call;     /* "@": NAME=VALUE, or the value of a subscript */
} calls[] = {
    {"iota", "shape", X, "iota(@, axis=0)"},
    {"iota", "axis", X, "iota((3, 4), @)"},
    {"window", "axis", X, "window(x, size=2, stride=1, @)"},
    {"window", "size", X, "window(x, axis=1, @)"},
    {"window", "stride", X, "window(x, axis=1, size=2, @)"},
    {"concat", NULL, X, "concat([x, x], @)"},
    {"gather", NULL, X ", i: Tensor[4, i32]", "take(x, i, @)"},
    {"dot", "x_contract", X, "dot(x, x, y_contract=(1,), @)"},
    {"dot", "y_contract", X, "dot(x, x, x_contract=(1,), @)"},
    {"dot", "x_batch", X, "dot(x, x, x_contract=(1,), y_contract=(1,), y_batch=(0,), @)"},
    {"dot", "y_batch", X, "dot(x, x, x_contract=(1,), y_contract=(1,), x_batch=(0,), @)"},
    {"softmax", NULL, X, "softmax(x, @)"},
    {"logsumexp", NULL, X, "logsumexp(x, @)"},
    {"mean", NULL, X, "mean(x, @)"},
    {"cumsum", NULL, X, "cumsum(x, @)"},
    {"argsort", NULL, X, "argsort(x, @)"},
    {"layernorm", NULL, X ", g: Tensor[6, f32]", "layernorm(x, g, g, @)"},
    {"rmsnorm", NULL, X ", g: Tensor[6, f32]", "rmsnorm(x, g, @)"},
    {"conv2d", NULL, "x: Tensor[1, 5, 5, 3, f32], w: Tensor[2, 2, 3, 4, f32]", "conv2d(x, w, @)"},
    {"convolve", "window", X,
     "conv2d(reshape(x, (1, 4, 6, 1)), broadcast_to(sum(x), (2, @, 1, 3)))"},
    {"convolve", NULL, "x: Tensor[1, 5, 5, 3, f32], w: Tensor[2, 2, 3, 4, f32]",
     "conv2d(x, w, padding=2, @)"},
    {"dequantize", NULL, "x: Tensor[4, 6, i8], s: Tensor[6, f32]", "dequantize(x, s, @)"},
    {"adam", NULL, X ", c: Tensor[f32]", "adam(x, x, x, x, c, c, @)[0]"},
    /* Operations with another face in the language. */
    {"broadcast", "shape", X, "broadcast_to(x, @)"},
    {"broadcast", "shape", "x: Tensor[1, f32]", "broadcast_to(x, @)"},
    {"broadcast", "axes", X, "x + sum(x, @, keepdims=True)"},
    {"reshape", NULL, X, "reshape(x, @)"},
    {"transpose", NULL, X, "transpose(x, @)"},
    {"slice", "start", X, "x[:, @:]"},
    {"slice", "stop", X, "x[:, :@]"},
    {"slice", "step", X, "x[:, ::@]"},
    {"reduce", "axes", X, "sum(x, @)"},
    {"extent", "of", X, "arange(@)"},
    {"extent", "of", X, "full(@, 1, f32)"},
    {"vjp", "wrt", X, "grad(exp, argnums=@)(sum(x))"},
    {"jvp", "wrt", X, "jacfwd(exp, argnums=@)(sum(x))"},
    {"vmap", "sliced", X, "vmap(exp, in_axes=@)(x)"},
    {"vmap", "sliced", X, "vmap(exp, out_axes=@)(x)"},
    {"shard", "sliced", X, "pmap(exp, 'r', in_axes=@)(x)"},
    {"shard", "sliced", X, "pmap(exp, 'r', out_axes=@)(x)"},
    {"shard", "count", X, "shard_map(exp, mesh(@, 'r'), 'r', 'r')(x)"},
    {"random_bits", "seed", X, "dropout(x, p=0.5, seed=@)"},
    {"random_bits", "site", X, "dropout(x, p=0.5, step=@)"},
    {"stochastic_round", "seed", X, "cast(x, f16 @ stochastic_round(@))"},
    {"stochastic_round", "stream", X, "cast(x, f16 @ loss_scale(@))"},
};
/* The language's word for an attribute, where it is not the table's; "": it has no name. */
static const struct {
    const char *call, *word;
} words[] = {
    {"iota(@", ""},          {"broadcast_to(", ""}, {"reshape(", ""},     {"transpose(", ""},
    {"arange(", ""},         {"full(", ""},         {"x[", ""},           {"cast(", ""},
    {"dropout(", ""},        {"sum(x, @", "axis"},  {"x + sum(", "axis"}, {"adam(", NULL},
    {"conv2d(reshape(", ""}, {"grad(", ""},         {"jacfwd(", ""},      {"vmap(", ""},
    {"pmap(", ""},           {"shard_map(", ""},
};

static const char *word_of(const char *call, const char *attribute) {
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (words[i].word && strncmp(call, words[i].call, strlen(words[i].call)) == 0)
            return words[i].word;
    return attribute;
}

/* ---- one source ---- */

static bool is_small(const ir_module *m) {
    for (ir_value v = 1; v <= ir_value_count(m); v++)
        if (ir_type_count(m, ir_value_get(m, v)->type) > RUN_ELEMENTS_MAX)
            return false;
    return true;
}

static void run(compiler_instance *instance, const char *source) {
    compiler_signature s;
    status st = STATUS_INIT;
    const ir_module *m = compiler_primitives(instance, &st);
    bool small = m && is_small(m);
    if (!small || !compiler_signature_of(instance, &s, &st))
        return;
    tensor *inputs = tensors_new(s.input_count), *outputs = tensors_new(s.output_count);
    for (uint32_t i = 0; i < s.input_count; i++)
        assert_true(
            tensor_init(&inputs[i], s.inputs[i].type, s.inputs[i].rank, s.inputs[i].dims, &st));
    if (!compiler_interpret(instance, inputs, outputs, &st) && st.code == STATUS_INTERNAL)
        fail_msg("%s: %s", source, st.message);
    tensors_free(inputs);
    tensors_free(outputs);
}

static void compile(compiler_instance *instance, const char *source) {
    uint64_t flops, bytes;
    for (int way = 0; way < 3; way++) {
        compiler_options options = {
            .isa = "x86-64-v3", .threads = 2, .unoptimised = way == 1, .generic = way == 2};
        compiler_artifact out;
        status st = STATUS_INIT;
        bool ok = compiler_build(instance, &options, &out, &st);
        if (!ok && (st.code == STATUS_INTERNAL || !*st.message))
            fail_msg("%s, way %d: %s", source, way, st.message);
        if (ok)
            compiler_artifact_release(&out);
    }
    status st = STATUS_INIT;
    if (!compiler_cost(instance, &flops, &bytes, &st) && st.code == STATUS_INTERNAL)
        fail_msg("%s: cost: %s", source, st.message);
}

static uint32_t refused, taken;

static void try_source(const char *parameters, const char *value) {
    text source, said;
    text_init(&source);
    text_init(&said);
    text_printf(&source,
                "@kernel\ndef k(%s) -> Tensor[f32]:\n"
                "    return sum(reshape(cast(%s, f32), (-1,)))\n",
                parameters, value);
    compiler_source *s = compiler_open_text("t.tsr", source.data, false, &said);
    bool sound = compiler_error_count(s) == 0;
    if (!sound && !strstr(said.data, "t.tsr:3:"))
        fail_msg("%s: no place in: %s", source.data, said.data);
    compiler_instance *instance =
        sound ? compiler_instance_open(s, compiler_kernel_at(s, 0), NULL, &said) : NULL;
    assert_true(sound == (instance != NULL));
    if (instance) {
        compile(instance, source.data);
        run(instance, source.data);
    }
    refused += !sound;
    taken += sound;
    compiler_instance_free(instance);
    compiler_close(s);
    text_release(&source);
    text_release(&said);
}

/* The call with NAME=VALUE, or the value alone, in the place of the last "@". */
static void try_value(size_t row, const char *attribute, const char *value) {
    const char *call = calls[row].call, *mark = strrchr(call, '@');
    const char *word = word_of(call, attribute);
    text whole;
    text_init(&whole);
    text_printf(&whole, "%.*s%s%s%s%s", (int)(mark - call), call, word, *word ? "=" : "", value,
                mark + 1);
    try_source(calls[row].parameters, whole.data);
    text_release(&whole);
}

static void try_attribute(size_t row, const op_attr_info *a) {
    bool list = strcmp(a->kind, "ints") == 0 || strcmp(a->kind, "dims") == 0;
    bool lists_fit = list && calls[row].call[0] != 'x' && strncmp(calls[row].call, "arange", 6);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        for (size_t f = 0; f < (lists_fit ? COUNT_OF(lists) : 1); f++) {
            text value;
            text_init(&value);
            for (const char *p = lists_fit ? lists[f] : "%s"; *p; p++) {
                bool place = p[0] == '%';
                if (place)
                    text_append(&value, numbers[i]);
                else
                    text_append_char(&value, *p);
                p += place;
            }
            try_value(row, a->name, value.data);
            text_release(&value);
        }
}

/* Made from annotations, blocks and @graph, whose numbers cases/source and cases/tiles try. */
static bool has_no_call(const char *operation) {
    static const char *const names[] = {
        "unspecified", "tiles",      "for",         "load",        "fold",
        "kernel",      "loop",       "reduce_with", "sort",        "scatter",
        "custom_vjp",  "custom_jvp", "all_reduce",  "all_gather",  "reduce_scatter",
        "shard_slice", "all_to_all", "permute",     "shard_index", "exchange"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], operation) == 0)
            return true;
    return false;
}

/* Numbers that the compiler alone gives: results that have derivatives, and the length of a batch.
 */
static bool is_own(const char *operation, const char *attribute) {
    return (strcmp(attribute, "of") == 0 && strcmp(operation, "extent") != 0) ||
           (strcmp(operation, "vmap") == 0 && strcmp(attribute, "count") == 0) ||
           (strcmp(operation, "shard") == 0 && strcmp(attribute, "whole") == 0);
}

static bool takes_numbers(const op_attr_info *a) {
    static const char *const kinds[] = {"int", "ints", "dim", "dims", "number"};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(a->kind, kinds[i]) == 0)
            return graph_attr_is_argument(a->name);
    return false;
}

static void test_every_number(void **state) {
    const op_table *table;
    (void)state;
    compiler_init();
    table = op_table_get(IR_LEVEL_GRAPH);
    for (int op = 0; op < table->count; op++) {
        const char *cursor = table->ops[op].attrs, *name = strchr(table->ops[op].name, '.') + 1;
        op_attr_info a;
        while (op_next_attr(&cursor, &a)) {
            bool tried = !takes_numbers(&a) || has_no_call(name) || is_own(name, a.name);
            for (size_t row = 0; row < COUNT_OF(calls); row++) {
                bool means = strcmp(calls[row].operation, name) == 0 &&
                             (!calls[row].attribute || strcmp(calls[row].attribute, a.name) == 0);
                if (!means || !takes_numbers(&a))
                    continue;
                tried = true;
                try_attribute(row, &a);
            }
            if (!tried)
                fail_msg("%s of %s takes numbers, and has no line in `calls`", a.name, name);
        }
    }
    printf("%u refused, %u taken\n", refused, taken);
    assert_true(refused > 100 && taken > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
