/* test_tree_order.c - orders that are written out as trees: what is well written, what they cover,
 * and the bits that the interpreter gives in them, against the same additions as C. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "ops/orders.h"
#include "ops/tree_order.h"
#include "tessera/compiler.h"

/* ---- text ---- */

static const struct {
    const char *order;
    int64_t extent; /* 0: it is not well written; -1: it covers no number of elements */
    int depth;
    bool rounded;
} orders[] = {
    {"tree(0)", 1, 1, false},
    {"tree(0:997)", 997, 1, false},
    {"tree(996:-1:-1)", 997, 1, false},
    {"tree(0:8:2+(1:8:2))", 8, 2, false},
    {"tree(rounded:0:8:2+(7:-1:-2))", 8, 2, true},
    {" tree( ( 0 + 1 )\n + ( ( 3 ) + 2 ) ) ", 4, 3, false},
    {"tree((((((0))))))", 1, 6, false},
    {"tree(0:4+0:4)", -1, 1, false},
    {"tree(0:4+5:8)", -1, 1, false},
    {"tree", 0, 0, false},
    {"tree()", 0, 0, false},
    {"tree(0:4", 0, 0, false},
    {"tree(0:4))", 0, 0, false},
    {"tree((0:4)", 0, 0, false},
    {"tree(0:4)+(4:8)", 0, 0, false},
    {"tree(0:4+)", 0, 0, false},
    {"tree(0 1)", 0, 0, false},
    {"tree(4:4)", 0, 0, false},
    {"tree(4:0)", 0, 0, false},
    {"tree(0:4:0)", 0, 0, false},
    {"tree(4:-2:-1)", 0, 0, false},
    {"tree(-1)", 0, 0, false},
    {"tree(2147483648)", 0, 0, false},
    {"tree(0:99999999999999999999999)", 0, 0, false},
    {"tree(x)", 0, 0, false},
    {"tree(fused:0:4)", 0, 0, false},
};

static void is_read_as_written(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        tree_order t;
        status st = STATUS_INIT;
        bool good = tree_order_parse(orders[i].order, &t, &st);
        if (good != (orders[i].extent != 0))
            fail_msg("%s: %s", orders[i].order, good ? "was read" : st.message);
        assert_int_equal(order_find(orders[i].order), ORDER_WRITTEN);
        if (good) {
            assert_int_equal(t.depth, orders[i].depth);
            assert_int_equal(t.rounded, orders[i].rounded);
            for (int64_t n = 0; n < 1000; n++)
                assert_int_equal(tree_order_covers(&t, n, &st), n == orders[i].extent);
        }
        tree_order_release(&t);
    }
}

static void is_nested_so_deep(void **state) {
    char order[512];
    (void)state;
    for (int depth = LIMIT_ORDER_DEPTH - 1; depth <= LIMIT_ORDER_DEPTH + 1; depth++) {
        tree_order t;
        status st = STATUS_INIT;
        snprintf(order, sizeof order, "tree(%.*s0%.*s)", depth,
                 "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((", depth,
                 "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))");
        assert_int_equal(tree_order_parse(order, &t, &st), depth <= LIMIT_ORDER_DEPTH);
        tree_order_release(&t);
    }
}

/* ---- bits ---- */

enum { N = 11 };

static float chain(const float *x, const float *y, int first, int stop, int step) {
    float sum = 0;
    for (int k = first; k < stop; k += step)
        sum = fmaf(x[k], y[k], sum);
    return sum;
}

static float in_lanes(const float *x, const float *y) {
    return chain(x, y, 0, N, 2) + chain(x, y, 1, N, 2) + 0;
}

/* The element behind the lanes by fma. */
static float with_tail(const float *x, const float *y) {
    return fmaf(x[10], y[10], chain(x, y, 0, 10, 2) + chain(x, y, 1, 10, 2)) + 0;
}

/* ... and as a product that is rounded. */
static float with_rounded_tail(const float *x, const float *y) {
    return chain(x, y, 0, 10, 2) + chain(x, y, 1, 10, 2) + x[10] * y[10];
}

static float rounded(const float *x, const float *y) {
    float sum = 0;
    for (int k = N; k-- > 0;)
        sum += x[k] * y[k];
    return sum;
}

static float second_first(const float *x, const float *y) {
    return fmaf(x[0], y[0], x[1] * y[1]) + chain(x, y, 2, N, 1);
}

static float plain_sum(const float *x, const float *y) {
    float even = 0, odd = 0;
    (void)y;
    for (int k = 0; k < N; k += 2)
        even += x[k];
    for (int k = 1; k < N; k += 2)
        odd += x[k];
    return even + odd;
}

static float wide_sum(const float *x, const float *y) {
    double sum = 0;
    (void)y;
    for (int k = N; k-- > 0;)
        sum += (double)x[k];
    return (float)sum;
}

static const struct {
    const char *result, *expression;
    float (*as_c)(const float *x, const float *y);
} formulas[] = {
    {"f32", "sum(x, axis=0, order='tree(0:11:2+(1:11:2))')", plain_sum},
    {"f32 @ accum(f64)", "sum(x, axis=0, order='tree(10:-1:-1)')", wide_sum},
    {"f32", "dot(x, y, x_contract=(0,), y_contract=(0,), order='tree(0:11:2+(1:11:2))')", in_lanes},
    {"f32", "dot(x, y, x_contract=(0,), y_contract=(0,), order='tree(0:10:2+(1:10:2)+10)')",
     with_tail},
    {"f32", "dot(x, y, x_contract=(0,), y_contract=(0,), order='tree(0:10:2+(1:10:2)+(10))')",
     with_rounded_tail},
    {"f32", "dot(x, y, x_contract=(0,), y_contract=(0,), order='tree(rounded:10:-1:-1)')", rounded},
    {"f32", "dot(x, y, x_contract=(0,), y_contract=(0,), order='tree(1+0+(2:11))')", second_first},
};

static void compute(const char *result, const char *expression, const tensor *inputs, float *out) {
    char source[400];
    text said;
    tensor outputs[1];
    status st = STATUS_INIT;
    text_init(&said);
    snprintf(source, sizeof source,
             "@kernel\ndef f(x: Tensor[11, f32], y: Tensor[11, f32]) -> Tensor[%s]:\n"
             "    return %s\n",
             result, expression);
    compiler_source *s = compiler_open_text("test.tsr", source, false, &said);
    compiler_instance *instance = compiler_instance_open(s, compiler_kernel_at(s, 0), NULL, &said);
    if (!instance)
        fail_msg("%s", said.data);
    assert_true(compiler_kernel_at(s, 0)->interpreted);
    if (!compiler_interpret(instance, inputs, outputs, &st))
        fail_msg("%s: %s", expression, st.message);
    memcpy(out, outputs[0].data, sizeof *out);
    tensor_release(&outputs[0]);
    compiler_instance_free(instance);
    compiler_close(s);
    text_release(&said);
}

static void has_the_bits_of_c(void **state) {
    (void)state;
    tensor inputs[2];
    status st = STATUS_INIT;
    const int64_t dims[] = {N};
    compiler_init();
    for (int i = 0; i < 2; i++)
        assert_true(tensor_init(&inputs[i], DTYPE_F32, 1, dims, &st));
    for (uint64_t seed = 0; seed < 50; seed++) {
        for (uint32_t i = 0; i < 2; i++)
            for (uint64_t k = 0; k < N; k++)
                ((float *)inputs[i].data)[k] = philox_normal(philox_element(seed, k, i, 0), 0, 1);
        for (size_t f = 0; f < COUNT_OF(formulas); f++) {
            float ours, theirs = formulas[f].as_c(inputs[0].data, inputs[1].data);
            compute(formulas[f].result, formulas[f].expression, inputs, &ours);
            if (memcmp(&ours, &theirs, sizeof ours) != 0)
                fail_msg("%s: %a, and %a in C", formulas[f].expression, (double)ours,
                         (double)theirs);
        }
    }
    for (int i = 0; i < 2; i++)
        tensor_release(&inputs[i]);
}

/* ---- what it is no order of ---- */

static const struct {
    const char *id, *parameters, *expression;
} refused[] = {
    {"E0620", "x: Tensor[4, 4, i32], y: Tensor[4, 4, i32]", "matmul(x, y, order='tree(0:4)')"},
    {"E0620", "x: Tensor[4, 4, f32], y: Tensor[4, i32]",
     "dot(x, x, x_contract=(1,), y_contract=(0,), k_count=y, order='tree(0:4)')"},
    {"E0620", "x: Tensor[1, 4, 4, 1, f32], y: Tensor[2, 2, 1, 1, f32]",
     "conv2d(x, y, order='tree(0:4)')"},
    {"E0621", "x: Tensor[4, 4, f32], y: Tensor[4, 4, f32]", "matmul(x, y, order='tree(0:4')"},
    {"E0621", "x: Tensor[4, 4, f32], y: Tensor[4, 4, f32]", "sum(x, axis=1, order='tree(4:0)')"},
};

static void is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        char source[400];
        text said;
        text_init(&said);
        snprintf(source, sizeof source, "@kernel\ndef f(%s) -> Tensor[4, 4, f32]:\n    return %s\n",
                 refused[i].parameters, refused[i].expression);
        compiler_source *s = compiler_open_text("test.tsr", source, false, &said);
        if (compiler_error_count(s) == 0)
            compiler_instance_free(
                compiler_instance_open(s, compiler_kernel_at(s, 0), NULL, &said));
        if (!strstr(said.data, refused[i].id))
            fail_msg("%s: %s", refused[i].expression, said.data);
        compiler_close(s);
        text_release(&said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_read_as_written), cmocka_unit_test(is_nested_so_deep),
        cmocka_unit_test(has_the_bits_of_c), cmocka_unit_test(is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
