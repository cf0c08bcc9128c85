/* test_independent.c - which dimensions are batches, for one kernel of each kind that moves
 * positions: what must be found, and where they lie in the outputs; and what must not be taken for
 * one. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <string.h>

#include "base/splitmix64.h"
#include "tessera/compiler.h"

enum { ARRAYS = 16 }; /* at least as many as a kernel here takes or gives */

/* Numbers that are large and unlike each other. */
static const struct {
    const char *parameters, *result, *body;
    const char *batches; /* dimension and its axis of the output: "M0 N1" */
    const char *axes;    /* of the output, along which the kernel can be cut: "01" */
} kernels[] = {
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]", "relu(x)", "M0 N1", "01"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"N\", \"M\", f32]", "x.T", "M1 N0", "10"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]", "softmax(x)", "M0", "0"},
    {"x: Tensor[\"M\", \"N\", f32], b: Tensor[\"N\", f32]", "Tensor[\"M\", \"N\", f32]", "x + b",
     "M0 N1", "01"},
    {"x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]",
     "x @ y", "M0 N1", "01"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", f32]", "max(x, axis=1)", "M0", "0"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]", "cumsum(x, axis=0)", "N1", "1"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", i32]", "argsort(x, axis=1)", "M0", "0"},
    {"x: Tensor[\"M\", 2, \"N\", f32]", "Tensor[\"M\", \"2*N\", f32]", "reshape(x, (M, 2 * N))",
     "M0", "0"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N - 1\", f32]", "x[:, 1:]", "M0", "0"},
    {"q: Tensor[\"B\", \"M\", \"D\", f32], k: Tensor[\"B\", \"N\", \"D\", f32], v: Tensor[\"B\", "
     "\"N\", \"E\", f32]",
     "Tensor[\"B\", \"M\", \"E\", f32]", "attention(q, k, v)", "B0 M1 E2", "012"},
    {"q: Tensor[\"B\", \"M\", \"D\", f32], k: Tensor[\"B\", \"M\", \"D\", f32], v: Tensor[\"B\", "
     "\"M\", \"D\", f32]",
     "Tensor[\"B\", \"M\", \"D\", f32]", "attention(q, k, v, causal=True)", "B0", "02"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]",
     "x + reshape(cast(iota((M,)), f32), (M, 1))", "N1", "1"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[f32]", "sum(sum(x, axis=1), axis=0)", "", ""},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"M\", f32]", "x @ x.T", "", ""},
    {"q: Tensor[\"B\", \"M\", \"D\", f32], k: Tensor[\"B\", \"M\", \"D\", f32], v: Tensor[\"B\", "
     "\"M\", \"D\", f32]",
     "Tensor[\"B\", \"M\", \"D\", f32]", "attention(q, k, v)", "B0", "012"},
    {"x: Tensor[\"M\", \"K\", f32], b: Tensor[\"N\", f32], y: Tensor[\"K\", \"N\", f32]",
     "Tensor[\"M\", \"N\", f32]", "gelu(x @ y + b)", "M0 N1", "01"},
    {"x: Tensor[\"M\", \"N\", f32], g: Tensor[\"N\", f32], b: Tensor[\"N\", f32]",
     "Tensor[\"M\", \"N\", f32]", "layernorm(x, g, b)", "M0", "0"},
};

static const ir_binding sizes[] = {{"B", 3}, {"M", 5}, {"N", 7}, {"K", 11}, {"D", 13}, {"E", 17}};

static compiler_instance *open_kernel(size_t i) {
    char source[1024];
    text said;
    text_init(&said);
    snprintf(source, sizeof source,
             "from tessera import *\n@kernel\ndef f(%s) -> %s:\n    return %s\n",
             kernels[i].parameters, kernels[i].result, kernels[i].body);
    compiler_source *s = compiler_open_text("test.tsr", source, false, &said);
    if (compiler_error_count(s))
        fail_msg("%s", said.data);
    ir_module *graph = compiler_graph(s, compiler_kernel_at(s, 0), NULL, &said);
    assert_non_null(graph);
    compiler_close(s);
    text_release(&said);
    return compiler_instance_new(graph, (ir_bindings){sizes, COUNT_OF(sizes)});
}

static void batches_follow_from_the_graph(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        compiler_instance *instance = open_kernel(i);
        char found[64] = "";
        for (size_t d = 0; d < COUNT_OF(sizes); d++) {
            compiler_independence lanes;
            status st = STATUS_INIT;
            assert_true(compiler_independent(instance, sizes[d].name, &lanes, &st));
            assert_true(lanes.independent || lanes.why);
            if (lanes.independent && lanes.any_output)
                snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s%d",
                         *found ? " " : "", sizes[d].name, lanes.outputs[0]);
        }
        compiler_instance_free(instance);
        /* Sizes are listed B, M, N, K, D, E. */
        if (strcmp(found, kernels[i].batches) != 0)
            fail_msg("%s: found '%s', not '%s'", kernels[i].body, found, kernels[i].batches);
    }
}

/* ---- cut along the axes that are found ---- */

static int64_t random_number(int64_t below) {
    static uint64_t seed = 1;
    return (int64_t)(splitmix64(&seed) % (uint64_t)below);
}

static void fill(tensor *t, const struct compiler_buffer *b) {
    status st = STATUS_INIT;
    assert_true(tensor_init(t, b->type, b->rank, b->dims, &st));
    for (int64_t i = 0; i < tensor_count(t); i++)
        dtype_store(t->type, t->data, (size_t)i, (double)random_number(2001) / 1000 - 1);
}

/* The positions `at` of an axis; of another tensor, all of it. */
static tensor chosen(const tensor *from, int axis, const int64_t *at, int64_t count) {
    tensor out;
    status st = STATUS_INIT;
    int64_t dims[TENSOR_MAX_RANK], inner = 1, outer = 1, length = axis < 0 ? 1 : from->dims[axis];
    memcpy(dims, from->dims, sizeof dims);
    for (int i = 0; i < from->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : from->dims[i];
    if (axis >= 0)
        dims[axis] = count;
    assert_true(tensor_init(&out, from->type, from->rank, dims, &st));
    size_t bytes = (size_t)inner * dtype_size(from->type);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < (axis < 0 ? 1 : count); i++)
            memcpy((char *)out.data + (size_t)(o * (axis < 0 ? 1 : count) + i) * bytes,
                   (const char *)from->data + (size_t)(o * length + (axis < 0 ? 0 : at[i])) * bytes,
                   bytes);
    return out;
}

/* Two positions, the second of which may be the first again. */
static void hold_part(compiler_instance *whole, const compiler_signature *s, const tensor *inputs,
                      const tensor *outputs, const compiler_axis *axis) {
    enum { TAKEN = 2 };
    const int64_t taken = TAKEN, at[TAKEN] = {axis->extent - 1, random_number(axis->extent)};
    tensor some[ARRAYS] = {{0}}, got[ARRAYS] = {{0}};
    status st = STATUS_INIT;
    compiler_instance *part = compiler_part(whole, axis, &taken, 1, &st);
    if (!part)
        fail_msg("%s", st.message);
    for (uint32_t i = 0; i < s->input_count; i++)
        some[i] = chosen(&inputs[i], axis->inputs[i], at, TAKEN);
    if (!compiler_interpret(part, some, got, &st))
        fail_msg("%s", st.message);
    tensor expected = chosen(&outputs[0], axis->outputs[0], at, TAKEN);
    assert_memory_equal(expected.data, got[0].data, tensor_bytes(&expected));
    tensor_release(&expected);
    tensor_release_all(some, ARRAYS);
    tensor_release_all(got, ARRAYS);
    compiler_instance_free(part);
}

static void a_part_has_the_bits_of_the_whole(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        compiler_instance *instance = open_kernel(k);
        compiler_signature s;
        compiler_axis axes[8];
        tensor inputs[ARRAYS] = {{0}}, outputs[ARRAYS] = {{0}};
        char found[16] = "";
        uint32_t count;
        status st = STATUS_INIT;
        assert_true(compiler_signature_of(instance, &s, &st));
        for (uint32_t i = 0; i < s.input_count; i++)
            fill(&inputs[i], &s.inputs[i]);
        assert_true(compiler_interpret(instance, inputs, outputs, &st));
        assert_true(compiler_axes(instance, axes, COUNT_OF(axes), &count, &st));
        for (uint32_t i = 0; i < count; i++) {
            found[i] = (char)('0' + axes[i].outputs[0]);
            hold_part(instance, &s, inputs, outputs, &axes[i]);
        }
        bool same = strlen(found) == strlen(kernels[k].axes);
        for (const char *axis = kernels[k].axes; *axis; axis++)
            same = same && strchr(found, *axis);
        if (!same)
            fail_msg("%s: found '%s', not '%s'", kernels[k].body, found, kernels[k].axes);
        tensor_release_all(inputs, ARRAYS);
        tensor_release_all(outputs, ARRAYS);
        compiler_instance_free(instance);
    }
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches_follow_from_the_graph),
                                       cmocka_unit_test(a_part_has_the_bits_of_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
