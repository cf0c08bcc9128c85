/* test_nonfinite.c - where a NaN or an infinity in outputs comes from: for each way that one can
 * come about the operation, its line, the element, its operands and the turn that must be named. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tessera/nonfinite.h"

/* x has N = 3 elements and is followed by m, 2 x N of ones; the first statement stands in line 3.
 */
static const struct {
    const char *result, *body;
    float x[3];
    const char *found; /* origin [operation line index (operands) turns] */
} kernels[] = {
    {"Tensor['N', f32]", "    return x / 2\n", {1, 2, 3}, "none"},
    {"Tensor['N', f32]",
     "    y = x - 2\n    return 1 / y\n",
     {1, 2, 3},
     "operation tessera.div 4 [1] (1) (0)"},
    {"Tensor['N', f32]",
     "    e = exp(x)\n    return e / sum(e)\n",
     {1, 200, 3},
     "operation tessera.exp 3 [1] (200)"},
    {"Tensor[f32]",
     "    return sum(x * 1e38)\n",
     {2, 2, 3},
     "operation tessera.reduce 3 (2e+38..3e+38)"},
    {"Tensor[2, f32]",
     "    return m @ (x * 1e38)\n",
     {2, 2, 3},
     "operation tessera.dot 3 [0,0] (1..1) (2e+38..3e+38)"},
    {"Tensor['N', f32]",
     "    return cumsum(x * 1e38)\n",
     {2, 2, 3},
     "operation tessera.cumsum 3 [1] (2e+38..3e+38)"},
    {"Tensor[f32]", "    return max(x[:0])\n", {1, 2, 3}, "operation tessera.reduce 3 (none)"},
    /* A select passes over one side. */
    {"Tensor['N', f32]",
     "    y = where(x > 0, log(x), 0)\n    return y + sqrt(x)\n",
     {-1, 2, 3},
     "operation tessera.sqrt 4 [0] (-1)"},
    {"Tensor['N', f32]", "    return where(x > 0, log(x), 0)\n", {-1, 2, 3}, "none"},
    /* An input, and what is made beside it. */
    {"Tensor['N', f32]", "    return x * 2\n", {1, NAN, 3}, "input x [1]"},
    {"Tensor['N', f32]", "    return x - x\n", {1, INFINITY, 3}, "input x [1]"},
    {"Tensor['N', f32]", "    return exp(x)\n", {200, NAN, 3}, "operation tessera.exp 3 [0] (200)"},
    {"Tensor[f32]", "    return sum(exp(x))\n", {200, NAN, 3}, "operation tessera.exp 3 [0] (200)"},
    /* An infinity that the source says is meant. */
    {"Tensor['N', f32]", "    return where(x > 1, x, -inf)\n", {1, 2, 3}, "constant 3"},
    {"Tensor['N', f32]",
     "    y = where(x > 5, x, -inf)\n    return y - max(y)\n",
     {1, 2, 3},
     "operation tessera.sub 4 [0] (-inf) (-inf)"},
    /* Turns of loops, those of a loop in a loop too. */
    {"Tensor['N', f32]",
     "    y = x\n    for i in range(8):\n        y = y * y\n    return y\n",
     {1, 1, 1e5F},
     "operation tessera.mul 5 [2] (1e+20) (1e+20) copy 2 of 8"},
    {"Tensor['N', f32]",
     "    y = x\n    for i in range(N):\n        y = y * y\n    return y\n",
     {1, 1, 1e5F},
     "operation tessera.mul 5 [2] (1e+20) (1e+20) turn 2 of 4"},
    {"Tensor['N', f32]",
     "    y = x\n    for i in range(N):\n        for k in range(N - 1):\n            y = y * y\n"
     "    return y\n",
     {1, 1, 1e5F},
     "operation tessera.mul 6 [2] (1e+20) (1e+20) turn 1 of 4 turn 0 of 5"},
    {"Tensor['N', f32]",
     "    y = x\n    while bounded(max(y) < 1e30, 9):\n        y = y * 1e10\n    return y / (y - "
     "y)\n",
     {1, 1, 1},
     "operation tessera.div 6 [0] (1e+30) (0)"},
    {"Tensor['N', f32]",
     "    y = full((N,), -inf, f32)\n    for i in range(N):\n        y = maximum(y, x)\n"
     "    return y\n",
     {1, 2, 3},
     "none"},
};

static void append_value(double value, text *out) {
    text_printf(out, "%.3g", value);
}

static void describe(const compiler_signature *s, const compiler_nonfinite *f, text *out) {
    text_append(out, compiler_nonfinite_name(f->origin));
    if (f->origin == NONFINITE_INPUT)
        text_printf(out, " %s", s->inputs[f->input].name);
    if (f->origin == NONFINITE_OPERATION)
        text_printf(out, " %s", f->operation);
    if (f->line)
        text_printf(out, " %u", f->line);
    for (int axis = 0; axis < f->rank; axis++)
        text_printf(out, "%s%lld%s", axis ? "," : " [", (long long)f->index[axis],
                    axis + 1 < f->rank ? "" : "]");
    for (uint32_t i = 0; i < f->operand_count; i++) {
        text_append(out, f->operands[i].count ? " (" : " (none");
        if (f->operands[i].count)
            append_value(f->operands[i].low, out);
        if (f->operands[i].count > 1) {
            text_append(out, "..");
            append_value(f->operands[i].high, out);
        }
        text_append(out, ")");
    }
    if (f->copies > 1)
        text_printf(out, " copy %u of %u", f->copy, f->copies);
    for (uint32_t i = 0; i < f->turn_count; i++)
        text_printf(out, " turn %lld of %u", (long long)f->turns[i].turn, f->turns[i].line);
}

static void look(const char *source, const float *x, text *found, text *words) {
    const int64_t shape[] = {2, 3};
    const ir_binding dims[] = {{"N", 3}};
    const compiler_case c = {.name = "three", .dims = dims, .dim_count = 1};
    text said;
    status st = STATUS_INIT;
    compiler_signature signature;
    compiler_nonfinite where;
    tensor *inputs = tensors_new(2), *outputs = tensors_new(1);
    text_init(&said);
    compiler_source *s = compiler_open_text("test.tsr", source, false, &said);
    if (compiler_error_count(s))
        fail_msg("%s", said.data);
    compiler_instance *instance = compiler_instance_open(s, compiler_kernel_at(s, 0), &c, &said);
    assert_true(tensor_init(&inputs[0], DTYPE_F32, 1, shape + 1, &st) &&
                tensor_init(&inputs[1], DTYPE_F32, 2, shape, &st));
    memcpy(inputs[0].data, x, 3 * sizeof *x);
    for (int e = 0; e < 6; e++)
        ((float *)inputs[1].data)[e] = 1;
    if (!compiler_signature_of(instance, &signature, &st) ||
        !compiler_interpret(instance, inputs, outputs, &st) ||
        !compiler_find_nonfinite(instance, inputs, outputs, &where, &st) ||
        !compiler_nonfinite_text(instance, &where, words, &st))
        fail_msg("%s: %s", source, st.message);
    describe(&signature, &where, found);
    assert_int_equal(where.elements > 0, where.origin != NONFINITE_NONE);
    tensors_free(inputs);
    tensors_free(outputs);
    compiler_instance_free(instance);
    compiler_close(s);
    text_release(&said);
}

static void what_made_it_is_named(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        char source[1024];
        text found, words;
        text_init(&found);
        text_init(&words);
        snprintf(source, sizeof source,
                 "@kernel\ndef f(x: Tensor['N', f32], m: Tensor[2, 'N', f32]) -> %s:\n%s",
                 kernels[i].result, kernels[i].body);
        look(source, kernels[i].x, &found, &words);
        if (strcmp(found.data, kernels[i].found) != 0)
            fail_msg("%s: %s, not %s (%s)", source, found.data, kernels[i].found, words.data);
        text_release(&found);
        text_release(&words);
    }
}

/* The code gives a NaN where the interpreter has a number. */
static void code_that_makes_it_alone_is_told(void **state) {
    (void)state;
    text said, words;
    status st = STATUS_INIT;
    compiler_nonfinite where;
    tensor *x = tensors_new(1), *out = tensors_new(1);
    text_init(&said);
    text_init(&words);
    compiler_source *s = compiler_open_text(
        "test.tsr", "@kernel\ndef f(x: Tensor[f32]) -> Tensor[f32]:\n    return x + 1\n", false,
        &said);
    compiler_instance *instance = compiler_instance_open(s, compiler_kernel_at(s, 0), NULL, &said);
    assert_true(tensor_init(x, DTYPE_F32, 0, NULL, &st) &&
                tensor_init(out, DTYPE_F32, 0, NULL, &st));
    *(float *)out->data = NAN;
    assert_true(compiler_find_nonfinite(instance, x, out, &where, &st));
    assert_int_equal(where.origin, NONFINITE_CODE);
    assert_true(where.value == 1 && isnan(where.shown) && where.elements == 1);
    assert_true(compiler_nonfinite_text(instance, &where, &words, &st));
    assert_non_null(strstr(words.data, "interpreter"));
    tensors_free(x);
    tensors_free(out);
    compiler_instance_free(instance);
    compiler_close(s);
    text_release(&said);
    text_release(&words);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_made_it_is_named),
        cmocka_unit_test(code_that_makes_it_alone_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
