/* test_control.c - branches and loops in the interpreter: a loop against the same turns written out
 * one by one, and both sides of a branch, of turns that depend on a value; the walk into blocks. */
#include "runtime/test/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/philox.h"
#include "graph/passes.h"
#include "target/interp/interp.h"
#include "tessera/compiler.h"

enum { TURNS = 3, WIDTH = 4, INPUTS = 3, OUTPUTS = 4 };

/* Through the passes that an oracle's kernel goes through. */
static ir_module *primitives_of(char *source) {
    const ir_binding dims[] = {{"N", TURNS}};
    status st = STATUS_INIT;
    ir_module *m = ir_parse(source, &st);
    if (!m || !ir_verify(m, &st) || !graph_inline(m, &st) ||
        !graph_specialize(m, (ir_bindings){dims, 1}, &st) || !graph_decompose_all(m, &st) ||
        !graph_widen(m, &st) || !graph_normalize(m, &st) || !ir_verify(m, &st))
        fail_msg("%s", st.message);
    return m;
}

static ir_module *case_of(const char *path) {
    char *source;
    size_t size;
    status st = STATUS_INIT;
    if (!file_read(path, 1 << 20, &source, &size, &st))
        fail_msg("%s", st.message);
    ir_module *m = primitives_of(source);
    free(source);
    return m;
}

#define ROW "tensor<4xf32>"
#define ROWS "tensor<3x4xf32>"

static void append_turn(text *t, int i) {
    text_printf(t,
                "    %%s%d = \"tessera.slice\"(%%arg0) <{start = [%d, 0], step = [1, 1], stop = "
                "[%d, 4]}> : (" ROWS ") -> tensor<1x4xf32>\n"
                "    %%x%d = \"tessera.reshape\"(%%s%d) <{shape = [4]}> : (tensor<1x4xf32>) -> " ROW
                "\n"
                "    %%p%d = \"tessera.softmax\"(%%x%d) <{axis = 0 : i64}> : (" ROW ") -> " ROW "\n"
                "    %%c%d = \"tessera.fma\"(%%p%d, %%arg1, %%c%d) : (" ROW ", " ROW ", " ROW
                ") -> " ROW "\n"
                "    %%n%d = \"tessera.neg\"(%%c%d) : (" ROW ") -> " ROW "\n"
                "    %%r%d = \"tessera.reshape\"(%%n%d) <{shape = [1, 4]}> : (" ROW
                ") -> tensor<1x4xf32>\n",
                i, i, i + 1, i, i, i, i, i + 1, i, i, i, i + 1, i, i);
}

/* The loop of the case, turn by turn. */
static ir_module *written_out(void) {
    text t;
    text_init(&t);
    text_append(
        &t,
        "\"builtin.module\"() ({\n  \"tessera.kernel\"() <{inputs = [\"x\", \"w\", \"n\"], name = "
        "\"f\", "
        "outputs = [\"last\", \"all\"]}> ({\n  ^bb0(%arg0: " ROWS ", %arg1: " ROW
        ", %arg2: tensor<i32>):\n"
        "    %z = \"tessera.constant\"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>\n"
        "    %c0 = \"tessera.broadcast\"(%z) <{axes = [], shape = [4]}> : (tensor<f32>) -> " ROW
        "\n");
    for (int i = 0; i < TURNS; i++)
        append_turn(&t, i);
    text_append(&t, "    %all = \"tessera.concat\"(%r0, %r1, %r2) <{axis = 0 : i64}> : "
                    "(tensor<1x4xf32>, tensor<1x4xf32>, "
                    "tensor<1x4xf32>) -> " ROWS "\n    \"tessera.return\"(%c3, %all) : (" ROW
                    ", " ROWS ") -> ()\n  }) : () -> ()\n}) : () -> ()\n");
    ir_module *m = primitives_of(t.data);
    text_release(&t);
    return m;
}

static void fill(tensor *inputs, int32_t n, uint32_t seed) {
    const int64_t rows[] = {TURNS, WIDTH};
    status st = STATUS_INIT;
    assert_true(tensor_init(&inputs[0], DTYPE_F32, 2, rows, &st));
    assert_true(tensor_init(&inputs[1], DTYPE_F32, 1, rows + 1, &st));
    assert_true(tensor_init(&inputs[2], DTYPE_I32, 0, NULL, &st));
    for (uint32_t i = 0; i < 2; i++)
        for (int64_t k = 0; k < tensor_count(&inputs[i]); k++)
            dtype_store(DTYPE_F32, inputs[i].data, (size_t)k,
                        (double)philox_normal(philox_element(seed, (uint64_t)k, i, 0), 0, 1));
    *(int32_t *)inputs[2].data = n;
}

static void run(const ir_module *m, const tensor *inputs, tensor *outputs) {
    status st = STATUS_INIT;
    if (!interp_module(m, inputs, outputs, &st))
        fail_msg("%s", st.message);
}

static void expect_same(const tensor *a, const tensor *b) {
    assert_int_equal(tensor_bytes(a), tensor_bytes(b));
    assert_memory_equal(a->data, b->data, tensor_bytes(a));
}

/* The turns of the while: doubled until it is 100 or more. */
static int32_t doubled(int32_t n) {
    while (n < 100)
        n *= 2;
    return n;
}

/* `n` decides how often the while goes on, and with that which side of the branch is taken. */
static void test_case(void **state) {
    (void)state;
    static const int32_t values[] = {3, 7, 99, 100, 101, 1000};
    ir_module *loops = case_of("compiler/test/cases/graph/control.mlir"), *plain = written_out();
    for (uint32_t i = 0; i < sizeof values / sizeof *values; i++) {
        tensor inputs[INPUTS] = {{0}}, found[OUTPUTS] = {{0}}, wanted[2] = {{0}};
        fill(inputs, values[i], i + 1);
        run(loops, inputs, found);
        run(plain, inputs, wanted);
        expect_same(&found[0], &wanted[0]);
        expect_same(&found[1], &wanted[1]);
        assert_int_equal(*(int32_t *)found[2].data, doubled(values[i]));
        for (int k = 0; k < WIDTH; k++) {
            const float *last = wanted[0].data, *w = inputs[1].data;
            float other = (last[k] - w[k]) * (last[k] - w[k]),
                  picked = doubled(values[i]) > 200 ? last[k] : other;
            assert_memory_equal(&((float *)found[3].data)[k], &picked, sizeof picked);
        }
        tensor_release_all(inputs, INPUTS);
        tensor_release_all(found, OUTPUTS);
        tensor_release_all(wanted, 2);
    }
    ir_module_free(loops);
    ir_module_free(plain);
}

/* ---- walking ---- */

static ir_op put_op(ir_module *m, ir_block block, uint32_t regions) {
    ir_builder b = {.m = m, .block = block};
    ir_type type = ir_type_tensor(m, DTYPE_F32, 0, NULL);
    ir_op_spec spec = {
        .opcode = GRAPH_IF, .results = &type, .result_count = 1, .region_count = regions};
    return ir_build(&b, &spec);
}

/* 1 { 2 { 3 } { } { 4, 5 }, 6 { }, 7 }, 8: operations by number, regions in braces. */
static ir_module *nested_ops(void) {
    ir_module *m = ir_module_new();
    ir_op outer = put_op(m, ir_module_body(m), 1), inner = put_op(m, ir_op_block(m, outer, 0), 3);
    put_op(m, ir_op_block(m, inner, 0), 0);
    put_op(m, ir_op_block(m, inner, 2), 0);
    put_op(m, ir_op_block(m, inner, 2), 0);
    put_op(m, ir_op_block(m, outer, 0), 1);
    put_op(m, ir_op_block(m, outer, 0), 0);
    put_op(m, ir_module_body(m), 0);
    return m;
}

/* Operations as they are met: "number/depth"; '<' before one that is left. */
static void expect_walk(ir_walk w, bool both, ir_op skipped, ir_op erased, const char *wanted) {
    text met;
    text_init(&met);
    while (both ? ir_walk_step(&w) : ir_walk_next(&w)) {
        text_printf(&met, "%s%s%u/%u", met.length ? " " : "", w.leaving ? "<" : "", w.op, w.depth);
        w.skip = w.op == skipped;
        if (w.op == erased && !w.leaving)
            ir_op_erase((ir_module *)w.m, w.op);
    }
    assert_false(ir_walk_step(&w));
    assert_string_equal(met.data, wanted);
    text_release(&met);
}

static void test_walk(void **state) {
    (void)state;
    ir_module *m = nested_ops();
    ir_walk all = ir_walk_block(m, ir_module_body(m)), first = ir_walk_op(m, 1);
    expect_walk(all, false, 0, 0, "1/0 2/1 3/2 4/2 5/2 6/1 7/1 8/0");
    expect_walk(first, false, 0, 0, "1/0 2/1 3/2 4/2 5/2 6/1 7/1");
    expect_walk(ir_walk_op(m, 2), true, 0, 0, "2/0 3/1 <3/1 4/1 <4/1 5/1 <5/1 <2/0");
    expect_walk(ir_walk_block(m, ir_op_block(m, 2, 2)), true, 0, 0, "4/0 <4/0 5/0 <5/0");
    expect_walk(ir_walk_block(m, ir_op_block(m, 2, 1)), true, 0, 0, "");
    expect_walk(all, false, 2, 0, "1/0 2/1 6/1 7/1 8/0");
    expect_walk(first, true, 2, 0, "1/0 2/1 <2/1 6/1 <6/1 7/1 <7/1 <1/0");
    expect_walk(ir_walk_op(m, 2), false, 0, 5, "2/0 3/1 4/1 5/1");
    expect_walk(ir_walk_op(m, 2), false, 0, 3, "2/0 3/1 4/1");
    expect_walk(first, true, 0, 2, "1/0 2/1 6/1 <6/1 7/1 <7/1 <1/0");
    expect_walk(all, false, 0, 7, "1/0 6/1 7/1 8/0");
    expect_walk(ir_walk_op(m, 8), true, 0, 8, "8/0");
    expect_walk(ir_walk_block(m, ir_module_body(m)), false, 0, 1, "1/0");
    ir_module_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case),
        cmocka_unit_test(test_walk),
    };
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
