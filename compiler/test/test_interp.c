/* test_interp.c - the interpreter against literal transcriptions of the orders, and against the
 * details of docs/numerics.md: NaN, signed zeros, conversions, integers. Composites against NumPy:
 * oracle/. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "tessera/compiler.h"

/* ---- kernels from one line of source ---- */

typedef struct subject {
    compiler_source *source;
    compiler_instance *instance;
    compiler_signature signature;
    tensor inputs[4];
    tensor out;
} subject;

/* `parameters`, `result` and `expression` in the language; dimensions are N, K and M. */
static subject open_subject(const char *parameters, const char *result, const char *expression,
                            int64_t n, int64_t k, int64_t m) {
    const ir_binding dims[] = {{"N", n}, {"K", k}, {"M", m}};
    const compiler_case c = {.dims = dims, .dim_count = 3};
    subject s = {0};
    char source[1024];
    text said;
    status st = STATUS_INIT;
    text_init(&said);
    snprintf(source, sizeof source, "@kernel\ndef f(%s) -> %s:\n    return %s\n", parameters,
             result, expression);
    compiler_init();
    s.source = compiler_open_text("test.tsr", source, false, &said);
    s.instance = compiler_instance_open(s.source, compiler_kernel_at(s.source, 0), &c, &said);
    if (!s.instance)
        fail_msg("%s", said.data);
    text_release(&said);
    if (!compiler_signature_of(s.instance, &s.signature, &st))
        fail_msg("%s", st.message);
    for (uint32_t i = 0; i < s.signature.input_count; i++)
        assert_true(tensor_init(&s.inputs[i], s.signature.inputs[i].type,
                                s.signature.inputs[i].rank, s.signature.inputs[i].dims, &st));
    return s;
}

static void interpret(subject *s) {
    status st = STATUS_INIT;
    tensor_release(&s->out);
    if (!compiler_interpret(s->instance, s->inputs, &s->out, &st))
        fail_msg("%s", st.message);
}

static void close_subject(subject *s) {
    for (int i = 0; i < 4; i++)
        tensor_release(&s->inputs[i]);
    tensor_release(&s->out);
    compiler_instance_free(s->instance);
    compiler_close(s->source);
}

static void fill_normal(tensor *t, uint32_t parameter) {
    int64_t n = tensor_count(t);
    for (int64_t i = 0; i < n; i++)
        dtype_store(t->type, t->data, (size_t)i,
                    (double)philox_normal(philox_element(7, (uint64_t)i, parameter, 0), 0, 1));
}

static float *floats(const tensor *t) {
    return t->data;
}

/* ---- lanes64, written down once more ---- */

static float fold(const float *x, int64_t n) {
    float a[64];
    for (int j = 0; j < 64; j++) {
        a[j] = 0.0f;
        for (int64_t i = j; i < n; i += 64)
            a[j] = a[j] + x[i];
    }
    for (int j = 0; j < 32; j++)
        a[j] = a[j] + a[j + 32];
    for (int j = 0; j < 16; j++)
        a[j] = a[j] + a[j + 16];
    for (int j = 0; j < 8; j++)
        a[j] = a[j] + a[j + 8];
    for (int j = 0; j < 4; j++)
        a[j] = a[j] + a[j + 4];
    a[0] = a[0] + a[2];
    a[1] = a[1] + a[3];
    return a[0] + a[1];
}

static float lanes64(const float *x, int64_t n) {
    float *level = malloc(sizeof *level * (size_t)(n + 1));
    assert_non_null(level);
    memcpy(level, x, sizeof *x * (size_t)n);
    while (n > 1) {
        int64_t blocks = 0;
        for (int64_t first = 0; first < n; first += 4096)
            level[blocks++] = fold(level + first, n - first < 4096 ? n - first : 4096);
        n = blocks;
    }
    float result = (n == 1 ? level[0] : 0.0f) + 0.0f;
    free(level);
    return result;
}

static void test_lanes64(void **state) {
    static const int64_t lengths[] = {0,   1,    2,    63,   64,   65,
                                      127, 4095, 4096, 4097, 9001, 4096 * 64 + 5};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        subject s =
            open_subject("x: Tensor[\"N\", f32]", "Tensor[f32]", "sum(x)", lengths[i], 0, 0);
        fill_normal(&s.inputs[0], 0);
        interpret(&s);
        float expected = lanes64(floats(&s.inputs[0]), lengths[i]);
        assert_int_equal(f32_bits(floats(&s.out)[0]), f32_bits(expected));
        close_subject(&s);
    }
}

/* Two reduced axes flatten by increasing index, wherever the kept one is. */
static void test_lanes64_axes(void **state) {
    enum { N = 5, K = 3, M = 71 };
    (void)state;
    subject s = open_subject("x: Tensor[\"N\", \"K\", \"M\", f32]", "Tensor[\"K\", f32]",
                             "sum(x, axis=(0, 2))", N, K, M);
    fill_normal(&s.inputs[0], 0);
    interpret(&s);
    for (int k = 0; k < K; k++) {
        float row[N * M];
        for (int n = 0; n < N; n++)
            memcpy(row + n * M, floats(&s.inputs[0]) + (n * K + k) * M, sizeof(float) * M);
        assert_int_equal(f32_bits(floats(&s.out)[k]), f32_bits(lanes64(row, N * M)));
    }
    close_subject(&s);
}

/* ---- chunk512 and seq ---- */

static float chain(const float *x, const float *y, int64_t stride, int64_t first, int64_t last) {
    float acc = 0.0f;
    for (int64_t k = first; k < last; k++)
        acc = fmaf(x[k], y[k * stride], acc);
    return acc;
}

static float chunk512(const float *x, const float *y, int64_t stride, int64_t count) {
    float t = 0.0f;
    for (int64_t first = 0; first < count; first += 512)
        t = t + chain(x, y, stride, first, first + 512 < count ? first + 512 : count);
    return t + 0.0f;
}

static void check_dot(int64_t k, bool seq) {
    enum { M = 3, N = 67 };
    subject s = open_subject("x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32]",
                             "Tensor[\"M\", \"N\", f32]",
                             seq ? "matmul(x, y, order=\"seq\")" : "x @ y", N, k, M);
    fill_normal(&s.inputs[0], 0);
    fill_normal(&s.inputs[1], 1);
    interpret(&s);
    for (int64_t i = 0; i < M * N; i++) {
        const float *x = floats(&s.inputs[0]) + i / N * k, *y = floats(&s.inputs[1]) + i % N;
        float expected = seq ? chain(x, y, N, 0, k) + 0.0f : chunk512(x, y, N, k);
        assert_int_equal(f32_bits(floats(&s.out)[i]), f32_bits(expected));
    }
    close_subject(&s);
}

static void test_dot_orders(void **state) {
    static const int64_t lengths[] = {0, 1, 511, 512, 513, 1024, 1031};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        check_dot(lengths[i], false);
        check_dot(lengths[i], true);
    }
}

/* A product of bf16 at some step; all others are 0. */
typedef struct product_at {
    int64_t k;
    float x, y;
} product_at;

static void check_pairs(int64_t k, const product_at *products, int count, uint32_t expected) {
    subject s =
        open_subject("x: Tensor[1, \"K\", bf16], y: Tensor[\"K\", \"N\", bf16]",
                     "Tensor[1, \"N\", f32]", "matmul(x, y, out=f32, order=\"pairs512\")", 1, k, 0);
    for (int i = 0; i < 2; i++)
        memset(s.inputs[i].data, 0, (size_t)k * 2);
    for (int i = 0; i < count; i++) {
        uint16_t x = (uint16_t)(f32_bits(products[i].x) >> 16),
                 y = (uint16_t)(f32_bits(products[i].y) >> 16);
        memcpy((uint16_t *)s.inputs[0].data + products[i].k, &x, sizeof x);
        memcpy((uint16_t *)s.inputs[1].data + products[i].k, &y, sizeof y);
    }
    interpret(&s);
    assert_int_equal(f32_bits(floats(&s.out)[0]), expected);
    close_subject(&s);
}

static void test_pairs_flush_and_begin_with_the_odd_one(void **state) {
    (void)state;
    /* 1 + 2^-24 is a tie that goes to 1, and 1 + 1.5 * 2^-24 is 1 + 2^-23; the other way round it
     * would be 1 + 2^-22. */
    const product_at odd_first[] = {{0, 1, 1}, {2, 0x1.8p-24f, 1}, {3, 0x1p-24f, 1}};
    check_pairs(4, odd_first, 3, 0x3f800001u);
    check_pairs(5, odd_first, 3, 0x3f800001u);
    /* Just below 2^-126: a tie of 24 bits goes to it and stays; what is less is flushed, also
     * where f32 would store 2^-126. */
    product_at border[] = {{0, 0x1p-126f, 1}, {2, 0x1p-75f, -0x1p-76f}};
    check_pairs(4, border, 2, 0x00800000u);
    border[1].x = 0x1.4p-75f;
    check_pairs(3, border, 2, 0);
    /* A subnormal operand is 0, however large the other one is. */
    check_pairs(2, (product_at[]){{1, 0x1p-133f, 0x1p120f}}, 1, 0);
    /* Sums of chunks are added as everywhere. */
    const product_at chunks[] = {{7, 0x1.8p-126f, 1}, {513, -0x1p-126f, 1}};
    check_pairs(514, chunks, 2, 0x00400000u);
}

/* A chunk that is infinite must not be met by rows that see less of it. */
static void test_causal_attention_leaves_masked_steps_out(void **state) {
    (void)state;
    subject s = open_subject(
        "q: Tensor[\"N\", \"K\", f32], k: Tensor[\"N\", \"K\", f32], v: Tensor[\"N\", \"K\", f32]",
        "Tensor[\"N\", \"K\", f32]", "attention(q, k, v, causal=True)", 5, 4, 0);
    for (uint32_t i = 0; i < 3; i++)
        fill_normal(&s.inputs[i], i);
    for (int i = 16; i < 20; i++)
        floats(&s.inputs[2])[i] = HUGE_VALF;
    interpret(&s);
    for (int i = 0; i < 16; i++)
        assert_true(isfinite(floats(&s.out)[i]));
    assert_true(isinf(floats(&s.out)[16]));
    for (int i = 0; i < 4; i++) /* the first query sees itself alone */
        assert_true(floats(&s.out)[i] == floats(&s.inputs[2])[i]);
    close_subject(&s);
}

/* ---- one operation on chosen values ---- */

typedef struct pair_case {
    const char *expression;
    float x, y;
    uint32_t bits;
} pair_case;

static uint32_t eval_pair(const pair_case *c) {
    subject s =
        open_subject("x: Tensor[f32], y: Tensor[f32]", "Tensor[f32]", c->expression, 1, 1, 1);
    floats(&s.inputs[0])[0] = c->x;
    floats(&s.inputs[1])[0] = c->y;
    interpret(&s);
    uint32_t bits = f32_bits(floats(&s.out)[0]);
    close_subject(&s);
    return bits;
}

static void test_floats(void **state) {
    static const float inf = HUGE_VALF;
    const pair_case cases[] = {
        {"maximum(x, y)", 0.0f, -0.0f, 0},
        {"maximum(x, y)", -0.0f, 0.0f, 0},
        {"minimum(x, y)", 0.0f, -0.0f, 0x80000000},
        {"minimum(x, y)", -0.0f, 0.0f, 0x80000000},
        {"maximum(x, y)", -NAN, inf, 0x7fc00000},
        {"minimum(x, y)", -inf, NAN, 0x7fc00000},
        {"x + y", inf, -inf, 0x7fc00000},
        {"x * y", 0.0f, inf, 0x7fc00000},
        {"-x + y * 0", NAN, 1.0f, 0x7fc00000},
        {"abs(x) + y", -NAN, 1.0f, 0x7fc00000},
        {"x / y", -1.0f, 0.0f, 0xff800000},
        {"x * y", 0x1p-100f, 0x1.8p-49f, 2}, /* a subnormal tie goes to even */
        {"x + y", 0x1p-149f, 0x1p-149f, 2},
        {"fma(x, x, -y)", 0x1.000002p0f, 0x1.000004p0f, 0x28800000},
        {"x * x - y", 0x1.000002p0f, 0x1.000004p0f, 0},
        {"where(x < y, x, y)", NAN, 2.0f, 0x40000000},
        {"where(x != y, x * 0 + 3, y)", 1.0f, NAN, 0x40400000},
        {"where(x == x, y, y + 1)", NAN, 2.0f, 0x40400000},
        {"x - x + y * 0", 1.0f, -1.0f, 0},
        {"sqrt(x) + y", -1.0f, 0.0f, 0x7fc00000},
        {"maximum(floor(x), y)", -0.0f, -inf, 0x80000000},
        {"maximum(floor(x), y)", -0x1p-149f, -inf, 0xbf800000},
        {"maximum(floor(x), y)", -NAN, -inf, 0x7fc00000},
        {"maximum(ceil(x), y)", -0.5f, -inf, 0x80000000},
        {"maximum(ceil(x), y)", 0x1p-149f, -inf, 0x3f800000},
        {"maximum(ceil(x), y)", inf, -inf, 0x7f800000},
        {"maximum(round(x), y)", -0.5f, -inf, 0x80000000},
        {"maximum(round(x), y)", 0x1.fffffep-2f, -inf, 0},
        {"maximum(round(x), y)", 1.5f, -inf, 0x40000000},
        {"maximum(round(x), y)", 2.5f, -inf, 0x40000000},
        {"maximum(round(x), y)", 0x1.000002p23f, -inf, 0x4b000001},
        {"maximum(trunc(x), y)", -0x1.fffffep-1f, -inf, 0x80000000},
        {"maximum(trunc(x), y)", 0x1.fffffep22f, -inf, 0x4afffffe},
        {"maximum(sign(x), y)", -0.0f, -inf, 0x80000000},
        {"maximum(sign(x), y)", -NAN, -inf, 0x7fc00000},
        {"maximum(sign(x), y)", -0x1p-149f, -inf, 0xbf800000},
        {"clip(x, y, 1)", NAN, 0.0f, 0x7fc00000},
        {"clip(x, y, 1)", 0.0f, NAN, 0x7fc00000},
        {"clip(x, y, 1)", 0.0f, 3.0f, 0x3f800000},
        {"cast(isfinite(x), f32) + y", 0x1.fffffep127f, 0.0f, 0x3f800000},
        {"cast(isfinite(x), f32) + y", -inf, 0.0f, 0},
        {"cast(isfinite(x), f32) + y", NAN, 0.0f, 0},
        {"cast(isnan(x), f32) + y", -NAN, 0.0f, 0x3f800000},
        {"cast(isnan(x), f32) + y", -inf, 0.0f, 0},
        {"cast(cast(x, bf16), f32) + y * 0", 0x1.01p0f, 1.0f, 0x3f800000},
        {"cast(cast(x, f16), f32) + y * 0", 65520.0f, 1.0f, 0x7f800000},
        {"cast(cast(x, i32), f32) + y * 0", NAN, 1.0f, 0},
        {"cast(cast(x, i32), f32) + y * 0", 1e20f, 1.0f, 0x4f000000},
        {"cast(cast(x, i32), f32) + y * 0", -1.9f, 1.0f, 0xbf800000},
        {"cast(cast(x, i8), f32) + y * 0", 300.0f, 1.0f, 0x42fe0000},
        {"cast(cast(cast(x, i32), i8), f32) + y * 0", 300.0f, 1.0f, 0x42300000},
        {"cast(cast(x, bool), f32) + y * 0", NAN, 1.0f, 0x3f800000},
        {"cast(cast(x, bool), f32) + y * 0", -0.0f, 1.0f, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t got = eval_pair(&cases[i]);
        if (got != cases[i].bits)
            fail_msg("%s at %a, %a: 0x%08x, not 0x%08x", cases[i].expression, (double)cases[i].x,
                     (double)cases[i].y, got, cases[i].bits);
    }
}

typedef struct integer_case {
    const char *type, *expression;
    int64_t x, y, result;
} integer_case;

static int64_t eval_integers(const integer_case *c) {
    char parameters[128], result[64];
    snprintf(parameters, sizeof parameters, "x: Tensor[%s], y: Tensor[%s]", c->type, c->type);
    snprintf(result, sizeof result, "Tensor[%s]", c->type);
    subject s = open_subject(parameters, result, c->expression, 1, 1, 1);
    memcpy(s.inputs[0].data, &c->x, dtype_size(s.inputs[0].type));
    memcpy(s.inputs[1].data, &c->y, dtype_size(s.inputs[1].type));
    interpret(&s);
    int64_t value = dtype_integer(s.out.type, dtype_load_bits(s.out.type, s.out.data, 0));
    close_subject(&s);
    return value;
}

static void test_integers(void **state) {
    static const integer_case cases[] = {
        {"i32", "x / y", 7, 0, 0},
        {"i32", "x / y", INT32_MIN, -1, INT32_MIN},
        {"i64", "x / y", INT64_MIN, -1, INT64_MIN},
        {"i32", "x / y", -7, 2, -3},
        {"i32", "x + y", INT32_MAX, 1, INT32_MIN},
        {"i8", "x * y", 100, 3, 44},
        {"i8", "-x + y", -128, 0, -128},
        {"i32", "abs(x) + y", INT32_MIN, 0, INT32_MIN},
        {"i32", "maximum(x, y)", -5, 3, 3},
        {"i32", "minimum(x, y)", -5, 3, -5},
        {"i32", "x & ~y", 12, 4, 8},
        {"i64", "cast(cast(x, f64), i64) + y", 1 << 20, 1, (1 << 20) + 1},
        {"i16", "x + y", INT16_MAX, 1, INT16_MIN},
        {"u8", "x - y", 1, 2, 255},
        {"u16", "x >> y", 0x8000, 15, 1},
        {"u32", "x // y", -2, 3, 0x55555554},
        {"u64", "x / y", -1, 10, INT64_C(1844674407370955161)},
        {"u64", "maximum(x, y)", -1, 1, -1},
        {"u64", "minimum(x, y)", -1, 1, 1},
        {"u64", "where(x > y, y, x)", INT64_MIN, 1, 1},
        {"u64", "x ^ 0x8000000000000000 + y", 0, 1, INT64_MIN + 1},
        {"u64", "cast(cast(x, f64), u64) - y", INT64_MIN, 0, INT64_MIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (eval_integers(&cases[i]) != cases[i].result)
            fail_msg("%s on %s gave %lld", cases[i].expression, cases[i].type,
                     (long long)eval_integers(&cases[i]));
}

static void test_extremes_of_nothing(void **state) {
    (void)state;
    subject s = open_subject("x: Tensor[\"N\", f32]", "Tensor[f32]", "max(x)", 0, 1, 1);
    interpret(&s);
    assert_int_equal(f32_bits(floats(&s.out)[0]), 0xff800000);
    close_subject(&s);
    s = open_subject("x: Tensor[\"N\", i32]", "Tensor[i32]", "min(x)", 0, 1, 1);
    interpret(&s);
    assert_int_equal(*(int32_t *)s.out.data, INT32_MAX);
    close_subject(&s);
    s = open_subject("x: Tensor[\"N\", i8]", "Tensor[i8]", "max(x)", 0, 1, 1);
    interpret(&s);
    assert_int_equal(*(int8_t *)s.out.data, INT8_MIN);
    close_subject(&s);
}

static void test_gather_clamps_and_nan_moves_canonically(void **state) {
    (void)state;
    subject s = open_subject("x: Tensor[\"N\", \"K\", f32], i: Tensor[\"M\", i32]",
                             "Tensor[\"M\", \"K\", f32]", "take(x, i)", 3, 2, 4);
    const int32_t indices[] = {-7, 1, 2, 99}, rows[] = {0, 1, 2, 2};
    memcpy(s.inputs[1].data, indices, sizeof indices);
    for (int i = 0; i < 6; i++)
        floats(&s.inputs[0])[i] = (float)i;
    floats(&s.inputs[0])[5] = f32_from_bits(0xffc12345);
    interpret(&s);
    for (int i = 0; i < 8; i++) {
        uint32_t expected = f32_bits((float)(rows[i / 2] * 2 + i % 2));
        assert_int_equal(f32_bits(floats(&s.out)[i]),
                         rows[i / 2] * 2 + i % 2 == 5 ? 0x7fc00000 : expected);
    }
    close_subject(&s);
}

/* bf16: one element at a time in f32, rounded once; a sum in f32, rounded once. */
static void test_narrow_types_round_once(void **state) {
    (void)state;
    subject s = open_subject("x: Tensor[\"N\", bf16]", "Tensor[bf16]", "sum(x)", 1000, 1, 1);
    float wide[1000];
    fill_normal(&s.inputs[0], 0);
    for (int i = 0; i < 1000; i++)
        wide[i] = bf16_to_f32(((uint16_t *)s.inputs[0].data)[i]);
    interpret(&s);
    assert_int_equal(*(uint16_t *)s.out.data, f32_to_bf16(lanes64(wide, 1000)));
    close_subject(&s);
}

static void test_integer_dot_is_exact(void **state) {
    (void)state;
    subject s = open_subject("x: Tensor[\"M\", \"K\", i8], y: Tensor[\"K\", \"N\", i8]",
                             "Tensor[\"M\", \"N\", i32]", "x @ y", 2, 1000, 1);
    memset(s.inputs[0].data, 0x80, 1000);
    memset(s.inputs[1].data, 0x80, 2000);
    interpret(&s);
    assert_int_equal(((int32_t *)s.out.data)[0], 16384000);
    assert_int_equal(((int32_t *)s.out.data)[1], 16384000);
    close_subject(&s);
}

/* ---- the reference and the cost ---- */

static void check_bound(const char *parameters, const char *result, const char *expression,
                        int64_t n, int64_t k, int64_t m) {
    subject s = open_subject(parameters, result, expression, n, k, m);
    tensor reference = {0}, bound = {0};
    status st = STATUS_INIT;
    for (uint32_t i = 0; i < s.signature.input_count; i++)
        fill_normal(&s.inputs[i], i);
    interpret(&s);
    const compiler_references references = {.values = &reference, .bounds = &bound};
    assert_true(compiler_reference(s.instance, s.inputs, &references, &st));
    for (int64_t i = 0; i < tensor_count(&s.out); i++) {
        double got = dtype_load(s.out.type, s.out.data, (size_t)i),
               r = ((double *)reference.data)[i];
        double b = ((double *)bound.data)[i];
        if (!(fabs(got - r) <= b) || !(b <= 0.02 * (1 + fabs(r))))
            fail_msg("%s: %a, reference %a, bound %a", expression, got, r, b);
    }
    tensor_release(&reference);
    tensor_release(&bound);
    close_subject(&s);
}

/* Each result lies within its bound, and the bound is no blank cheque. */
static void test_bounds_hold(void **state) {
    static const char *const row[] = {"softmax(x)",
                                      "exp(x)",
                                      "tanh(x)",
                                      "erf(x)",
                                      "sigmoid(x)",
                                      "gelu(x)",
                                      "silu(x)",
                                      "gelu(x, approximate=\"none\")",
                                      "rsqrt(abs(x) + 1)",
                                      "x / (x * x + 1)",
                                      "exp2(x)",
                                      "expm1(x)",
                                      "log2(abs(x) + 1)",
                                      "log1p(abs(x))",
                                      "sin(x)",
                                      "cos(x)",
                                      "floor(x)",
                                      "round(x) + ceil(x) * trunc(x)",
                                      "clip(x, -1, 1)"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(row); i++) {
        check_bound("x: Tensor[\"N\", \"K\", f32]", "Tensor[\"N\", \"K\", f32]", row[i], 7, 301, 0);
        check_bound("x: Tensor[\"N\", \"K\", bf16]", "Tensor[\"N\", \"K\", bf16]", row[i], 7, 301,
                    0);
    }
    check_bound("x: Tensor[\"N\", \"K\", f32], y: Tensor[\"K\", \"M\", f32]",
                "Tensor[\"N\", \"M\", f32]", "x @ y", 9, 700, 33);
    check_bound("x: Tensor[\"N\", \"K\", f32], y: Tensor[\"K\", f32], z: Tensor[\"K\", f32]",
                "Tensor[\"N\", \"K\", f32]", "layernorm(x, y, z)", 9, 700, 33);
    check_bound(
        "x: Tensor[\"N\", \"K\", f32], y: Tensor[\"N\", \"K\", f32], z: Tensor[\"N\", \"K\", f32]",
        "Tensor[\"N\", \"K\", f32]", "attention(x, y, z, causal=True)", 37, 16, 0);
}

static void check_cost(const char *parameters, const char *result, const char *expression,
                       uint64_t flops, uint64_t bytes) {
    subject s = open_subject(parameters, result, expression, 8, 16, 4);
    uint64_t f, b;
    status st = STATUS_INIT;
    assert_true(compiler_cost(s.instance, &f, &b, &st));
    if (f != flops || b != bytes)
        fail_msg("%s: %llu flops, %llu bytes", expression, (unsigned long long)f,
                 (unsigned long long)b);
    close_subject(&s);
}

static void test_cost(void **state) {
    (void)state;
    check_cost("x: Tensor[\"N\", \"K\", f32], y: Tensor[\"K\", \"M\", f32]",
               "Tensor[\"N\", \"M\", f32]", "x @ y", 2 * 8 * 16 * 4, 4 * (8 * 16 + 16 * 4 + 8 * 4));
    check_cost("x: Tensor[\"N\", f32]", "Tensor[\"N\", f32]", "x * 2 + 1", 16, 64);
    check_cost("x: Tensor[\"N\", \"K\", f32]", "Tensor[\"N\", f32]", "sum(x, axis=1)", 128,
               512 + 32);
    check_cost("x: Tensor[\"N\", \"K\", f32], i: Tensor[\"M\", i32]", "Tensor[\"M\", \"K\", f32]",
               "take(x, i)", 0, 4 * (4 * 16) * 2 + 16);
    /* a product that is written twice is computed once, whatever type its results have */
    check_cost("x: Tensor[\"N\", \"K\", f32], y: Tensor[\"K\", \"M\", f32]",
               "Tensor[\"N\", \"M\", f32]", "x @ y + cast(matmul(x, y, out=f64), f32)",
               2 * 8 * 16 * 4 + 8 * 4, 4 * (8 * 16 + 16 * 4 + 8 * 4));
    /* only what an output needs */
    check_cost("x: Tensor[\"N\", f32]", "Tensor[4, f32]", "(x * 2)[:4]", 4, 16 + 16);
    check_cost("x: Tensor[\"N\", \"K\", f32], y: Tensor[\"K\", \"M\", f32]",
               "Tensor[2, \"M\", f32]", "(x @ y)[:2]", 2 * 2 * 16 * 4,
               4 * (8 * 16 + 16 * 4 + 2 * 4));
    check_cost("x: Tensor[\"N\", \"K\", f32]", "Tensor[0, f32]", "sum(x, axis=1)[:0]", 0, 0);
    /* of the 1+...+8 places that the mask lets see: scores and products 2*16 each, scale, subtract,
     * exp; of all 8*8: select, max, select, sum; divide and the choice of empty rows 8*16 each */
    check_cost(
        "q: Tensor[\"N\", \"K\", f32], k: Tensor[\"N\", \"K\", f32], v: Tensor[\"N\", \"K\", f32]",
        "Tensor[\"N\", \"K\", f32]", "attention(q, k, v, causal=True)",
        2 * (2 * 16 * 36) + 3 * 36 + 4 * 64 + 2 * 128, 4 * 4 * 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes64),
        cmocka_unit_test(test_lanes64_axes),
        cmocka_unit_test(test_dot_orders),
        cmocka_unit_test(test_pairs_flush_and_begin_with_the_odd_one),
        cmocka_unit_test(test_causal_attention_leaves_masked_steps_out),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_extremes_of_nothing),
        cmocka_unit_test(test_gather_clamps_and_nan_moves_canonically),
        cmocka_unit_test(test_narrow_types_round_once),
        cmocka_unit_test(test_integer_dot_is_exact),
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
