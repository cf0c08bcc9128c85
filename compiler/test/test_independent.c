/* test_independent.c - which dimensions are batches, for one kernel of each kind that moves
 * positions: what must be found, and where they lie in the outputs; and what must not be taken for
 * one. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <string.h>

#include "tessera/compiler.h"

/* Numbers that are large and unlike each other. */
static const struct {
    const char *parameters, *result, *body;
    const char *batches; /* dimension and its axis of the output: "M0 N1" */
} kernels[] = {
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]", "relu(x)", "M0 N1"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"N\", \"M\", f32]", "x.T", "M1 N0"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]", "softmax(x)", "M0"},
    {"x: Tensor[\"M\", \"N\", f32], b: Tensor[\"N\", f32]", "Tensor[\"M\", \"N\", f32]", "x + b",
     "M0 N1"},
    {"x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]",
     "x @ y", "M0 N1"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", f32]", "max(x, axis=1)", "M0"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]", "cumsum(x, axis=0)", "N1"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", i32]", "argsort(x, axis=1)", "M0"},
    {"x: Tensor[\"M\", 2, \"N\", f32]", "Tensor[\"M\", \"2*N\", f32]", "reshape(x, (M, 2 * N))",
     "M0"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N - 1\", f32]", "x[:, 1:]", "M0"},
    {"q: Tensor[\"B\", \"M\", \"D\", f32], k: Tensor[\"B\", \"N\", \"D\", f32], v: Tensor[\"B\", "
     "\"N\", \"E\", f32]",
     "Tensor[\"B\", \"M\", \"E\", f32]", "attention(q, k, v)", "B0 M1 E2"},
    {"q: Tensor[\"B\", \"M\", \"D\", f32], k: Tensor[\"B\", \"M\", \"D\", f32], v: Tensor[\"B\", "
     "\"M\", \"D\", f32]",
     "Tensor[\"B\", \"M\", \"D\", f32]", "attention(q, k, v, causal=True)", "B0"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"N\", f32]",
     "x + reshape(cast(iota((M,)), f32), (M, 1))", "N1"},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[f32]", "sum(sum(x, axis=1), axis=0)", ""},
    {"x: Tensor[\"M\", \"N\", f32]", "Tensor[\"M\", \"M\", f32]", "x @ x.T", ""},
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

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches_follow_from_the_graph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
