/* test_promise.c - @verify.numerics of functions that kernels call: which promises intervals prove
 * for any finite floats, and, on inputs of one's own, that nothing was proved that is broken. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tessera/promise.h"

enum { ELEMENTS = 6, INPUTS_MAX = 3 }; /* x, i, and that there is a call */

/* The function's body, of x of six f32 and i, as many i32 from 0 on. */
static const struct {
    const char *promise, *body;
    bool proved;
} functions[] = {
    {"bounded=[0, 6]", "minimum(maximum(x, 0), 6)", true},
    {"bounded=[0, 5]", "minimum(maximum(x, 0), 6)", false},
    {"bounded=[0, 1e39]", "x * x", false}, /* it overflows */
    {"bounded=[0, 1e39]", "sqrt(abs(x))", true},
    {"bounded=[-1, 1]", "sin(x) * 0.5", true},
    {"bounded=[-2, 6]", "where(x > 0, full((6,), 5, f32), 2.0)", true},
    {"bounded=[2, 2]", "where(x > 0, full((6,), 5, f32), 2.0)", false},
    {"bounded=[5, 5]", "where(x > 0, full((6,), 5, f32), 2.0)", false},
    {"bounded=[0, 6]", "max(minimum(maximum(x, 0), 6))", true},
    {"bounded=[0, 6]", "reshape(minimum(maximum(x, 0), 6), (2, 3)).T", true},
    {"bounded=[-1e39, 1e39]", "x / x", false},
    {"bounded=[0, 61]", "sum(minimum(maximum(x, 0), 10))", true},
    {"bounded=[0, 59]", "sum(minimum(maximum(x, 0), 10))", false},
    /* Whole numbers that floats decide. */
    {"bounded=[0, 0]", "cast(x > 0, i32)", false},
    {"bounded=[0, 0]", "cast(minimum(maximum(x, 0), 6), i32)", false},
    {"bounded=[0, 0]", "argmax(x)", false},
    {"bounded=[0, 0]", "take(cast(i, f32), argmax(x))", false},
    {"bounded=[0, 5]", "cast(i, f32)", true}, /* those of the case */
    /* Numbers on the way are finite. */
    {"stable=True", "minimum(maximum(x, 0), 6)", true},
    {"stable=True", "x * 0.5", true},
    {"stable=True", "1.0 / (x * x)", false},
    {"stable=True", "x * 2", false},
    {"stable=True", "exp(minimum(x, 80.0))", true},
    {"stable=True", "log(maximum(x, 1e-6))", true},
    {"stable=True", "where(x > 0, x, -inf)", false},
};

static const float trials[][ELEMENTS] = {
    {0, 0, 0, 0, 0, 0},
    {1, -1, 7, -7, 0.5F, 3},
    {3e38F, -3e38F, 1e-30F, 0, 20, 1},
    {-5, -4, -3, -2, -1, 9},
};

static bool holds(const compiler_promise *p, const tensor *inputs) {
    status st = STATUS_INIT;
    tensor *results = tensors_new(1);
    compiler_escape e = {.found = false};
    assert_true(compiler_interpret(p->body, inputs, results, &st));
    bool good = true;
    for (int64_t i = 0; p->numerics->bounded && i < tensor_count(results); i++) {
        double value = dtype_load(results->type, results->data, (size_t)i);
        good &= value >= p->numerics->low && value <= p->numerics->high;
    }
    if (p->numerics->stable)
        assert_true(compiler_find_escape(p->body, inputs, &e, &st));
    tensors_free(results);
    return good && !e.found;
}

/* Reads the inputs of the body off these of the kernel. */
static void read_inputs(const compiler_promise *p, const float *x, tensor *out) {
    const int64_t six[] = {ELEMENTS};
    status st = STATUS_INIT;
    tensor *own = tensors_new(2);
    assert_true(tensor_init(&own[0], DTYPE_F32, 1, six, &st) &&
                tensor_init(&own[1], DTYPE_I32, 1, six, &st));
    memcpy(own[0].data, x, ELEMENTS * sizeof *x);
    for (int32_t k = 0; k < ELEMENTS; k++)
        ((int32_t *)own[1].data)[k] = k;
    assert_non_null(p->arguments);
    assert_true(compiler_interpret(p->arguments, own, out, &st));
    tensors_free(own);
}

static void look_at(size_t number, const compiler_promise *p) {
    for (size_t i = 0; i < COUNT_OF(trials); i++) {
        status st = STATUS_INIT;
        bool proved;
        tensor *inputs = tensors_new(INPUTS_MAX);
        read_inputs(p, trials[i], inputs);
        if (!compiler_proves(p, inputs, &proved, &st))
            fail_msg("%s: %s", functions[number].body, st.message);
        if (proved != functions[number].proved)
            fail_msg("%s of %s: %s", functions[number].promise, functions[number].body,
                     proved ? "proved" : "not proved");
        if (proved && !holds(p, inputs))
            fail_msg("%s of %s: proved, and broken", functions[number].promise,
                     functions[number].body);
        tensors_free(inputs);
    }
}

static void intervals_prove_what_holds(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        char source[1024];
        uint32_t count;
        text said;
        text_init(&said);
        snprintf(source, sizeof source,
                 "@verify.numerics(%s)\ndef g(x, i):\n    return %s\n"
                 "@kernel\ndef f(x: Tensor[6, f32], i: Tensor[6, i32]) -> Tensor[f32]:\n"
                 "    return cast(max(reshape(g(x, i), (-1,))), f32)\n",
                 functions[i].promise, functions[i].body);
        compiler_source *s = compiler_open_text("test.tsr", source, false, &said);
        if (compiler_error_count(s))
            fail_msg("%s", said.data);
        compiler_promise *list =
            compiler_promises(s, compiler_kernel_at(s, 0), NULL, &count, &said);
        assert_non_null(list);
        assert_int_equal(count, 1);
        assert_string_equal(list[0].function, "g");
        assert_int_equal(list[0].line, 6);
        look_at(i, &list[0]);
        compiler_promises_free(list, count);
        compiler_close(s);
        text_release(&said);
    }
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_prove_what_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
