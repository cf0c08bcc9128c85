/* test_needed.c - which elements of the inputs outputs are made from: for each kind of primitive
 * what must be found, as marks on the first input. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <string.h>

#include "tessera/compiler.h"

enum { ARRAYS = 16 }; /* at least as many as a kernel here takes or gives */

/* x is 2 x 3, `n` are the lengths 1 and 3. `element` -1: all outputs. */
static const struct {
    const char *result, *body;
    int64_t element;
    const char *marks; /* of x, row by row */
} kernels[] = {
    {"Tensor[2, 3, f32]", "x + x", -1, "111111"},
    {"Tensor[2, 3, f32]", "relu(x)", 4, "000010"},
    {"Tensor[2, 3, f32]", "where(iota((2, 3), axis=1) < reshape(n, (2, 1)), x, 0)", -1, "100111"},
    {"Tensor[2, 3, f32]", "softmax(where(iota((2, 3), axis=1) < reshape(n, (2, 1)), x, -inf))", -1,
     "100111"},
    {"Tensor[2, 3, f32]", "where(iota((2, 3), axis=1) < reshape(n, (2, 1)), x, 0) * x", -1,
     "111111"},
    {"Tensor[2, 3, f32]", "where(x > x, x, 0)", -1, "111111"},
    {"Tensor[2, f32]", "sum(x, axis=1)", 1, "000111"},
    {"Tensor[3, f32]", "max(x, axis=0)", 2, "001001"},
    {"Tensor[3, 2, f32]", "x.T", 1, "000100"},
    {"Tensor[2, 2, f32]", "x[:, 1:]", -1, "011011"},
    {"Tensor[4, 3, f32]", "concat((x, -x))", 4, "000010"},
    {"Tensor[4, 3, f32]", "concat((-x, x))", 7, "010000"},
    {"Tensor[2, 2, f32]", "x @ x.T", 0, "111000"},
    {"Tensor[2, 2, f32]", "x @ x.T", 1, "111111"},
    {"Tensor[1, 3, f32]", "take(x, full((1,), 1, i32))", -1, "000111"},
    {"Tensor[2, 3, f32]", "cumsum(x)", 0, "111111"},
};

static void needed_follow_from_the_graph(void **state) {
    (void)state;
    const int64_t shape[] = {2, 3}, rows[] = {2};
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        char source[1024], found[7] = "";
        text said;
        status st = STATUS_INIT;
        tensor inputs[2], needed[ARRAYS] = {{0}};
        text_init(&said);
        snprintf(source, sizeof source,
                 "@kernel\ndef f(x: Tensor[2, 3, f32], n: Tensor[2, i32]) -> %s:\n    return %s\n",
                 kernels[i].result, kernels[i].body);
        compiler_source *s = compiler_open_text("test.tsr", source, false, &said);
        if (compiler_error_count(s))
            fail_msg("%s", said.data);
        compiler_instance *instance =
            compiler_instance_open(s, compiler_kernel_at(s, 0), NULL, &said);
        assert_true(tensor_init(&inputs[0], DTYPE_F32, 2, shape, &st) &&
                    tensor_init(&inputs[1], DTYPE_I32, 1, rows, &st));
        for (int e = 0; e < 6; e++)
            ((float *)inputs[0].data)[e] = (float)e;
        memcpy(inputs[1].data, (int32_t[]){1, 3}, 8);
        const compiler_element of = {0, kernels[i].element};
        if (!compiler_needed(instance, inputs, of.element < 0 ? NULL : &of, needed, &st))
            fail_msg("%s: %s", kernels[i].body, st.message);
        for (int e = 0; e < 6; e++)
            found[e] = ((const unsigned char *)needed[0].data)[e] ? '1' : '0';
        if (strcmp(found, kernels[i].marks) != 0)
            fail_msg("%s, element %lld: %s, not %s", kernels[i].body, (long long)kernels[i].element,
                     found, kernels[i].marks);
        tensor_release_all(inputs, 2);
        tensor_release_all(needed, ARRAYS);
        compiler_instance_free(instance);
        compiler_close(s);
        text_release(&said);
    }
}

static void no_formula_needs_nothing_known(void **state) {
    (void)state;
    text said;
    status st = STATUS_INIT;
    tensor x = {0}, needed[ARRAYS] = {{0}};
    text_init(&said);
    compiler_source *s = compiler_open_text(
        "test.tsr", "@kernel\ndef f(x: Tensor[f32]) -> Tensor[f32]: ...\n", false, &said);
    compiler_instance *instance = compiler_instance_open(s, compiler_kernel_at(s, 0), NULL, &said);
    assert_non_null(instance);
    assert_true(compiler_instance_is_contract(instance));
    assert_true(tensor_init(&x, DTYPE_F32, 0, NULL, &st));
    assert_false(compiler_needed(instance, &x, NULL, needed, &st));
    tensor_release(&x);
    compiler_instance_free(instance);
    compiler_close(s);
    text_release(&said);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needed_follow_from_the_graph),
        cmocka_unit_test(no_formula_needs_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
