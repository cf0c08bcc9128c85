/* test_values.c - right values of integers at the ends of their types, of signed zeros, of rounded
 * floats, and of more places than 31 bits count. */
#include "test/values.h"

/* ---- integers ---- */

static uint64_t quotient(int64_t a, int64_t b) {
    return b == 0 ? 0 : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static int64_t edge(dtype t, int64_t i) {
    const int64_t least = least_of(t),
                  list[] = {least, least + 1, least / 2, -100, -16, -15,        -8,         -7,
                            -3,    -2,        -1,        0,    1,   2,          3,          6,
                            7,     8,         15,        16,   100, ~least / 2, ~least - 1, ~least};
    return list[i % (int64_t)COUNT_OF(list)];
}

enum { EDGES = 24 };

/* All pairs of a narrow type, or of the edges of a wide one. */
static void fill_pairs(subject *s) {
    static const int64_t divisors[] = {-2, -1, 1, 3, -7, 0};
    tensor *right = s->right;
    dtype t = s->inputs[0].type;
    int bits = dtype_integer_bits(t);
    int64_t each = bits <= 8 ? INT64_C(1) << bits : EDGES;
    assert_int_equal(tensor_count(&s->inputs[0]), each * each);
    for (int64_t i = 0; i < each * each; i++) {
        int64_t x = bits <= 8 ? least_of(t) + i % each : edge(t, i % each),
                y = bits <= 8 ? least_of(t) + i / each : edge(t, i / each);
        uint64_t a = (uint64_t)x, b = (uint64_t)y;
        put(&s->inputs[0], i, a);
        put(&s->inputs[1], i, b);
        const uint64_t values[] = {
            a + b, a - b, a * b, 0 - a, x < 0 ? 0 - a : a, quotient(x, y), a - quotient(x, y) * b};
        for (size_t k = 0; k < COUNT_OF(values); k++)
            put(&right[k], i, values[k]);
        for (size_t k = 0; k < COUNT_OF(divisors); k++)
            put(&right[COUNT_OF(values) + k], i, quotient(x, divisors[k]));
    }
}

static const char pairs[] =
    "@kernel\ndef f(x: " T_N ", y: " T_N ") -> tuple[" T_N ", " T_N ", " T_N ", " T_N ", " T_N
    ", " T_N ", " T_N ", " T_N ", " T_N ", " T_N ", " T_N ", " T_N ", " T_N "]:\n"
    "    return x + y, x - y, x * y, -x, abs(x), x / y, x - (x / y) * y, x / -2, x / -1, x / 1, "
    "x / 3, x / -7, x / 0\n";

/* Constants that could be folded into one, were it not for the overflow between them. */
static const char offsets[] =
    "@kernel\ndef f(x: Tensor[\"N\", i32]) -> tuple[Tensor[\"N\", i32], Tensor[\"N\", i32], "
    "Tensor[\"N\", i32]]:\n"
    "    return (x + 2147483647) * 5, (x * 2680 - 195640) / -23, "
    "(x + 1073741826) / 3 - 357913942\n";

static void fill_offsets(subject *s) {
    for (int64_t i = 0; i < tensor_count(&s->inputs[0]); i++) {
        uint64_t x = (uint64_t)(i < EDGES ? edge(DTYPE_I32, i) : (i - EDGES) * 1073741822);
        put(&s->inputs[0], i, x);
        x = (uint64_t)integer_at(&s->inputs[0], i);
        put(&s->right[0], i, (x + 2147483647) * 5);
        put(&s->right[1], i, x * 2680 - 195640);
        put(&s->right[1], i, quotient(integer_at(&s->right[1], i), -23));
        put(&s->right[2], i, x + 1073741826);
        put(&s->right[2], i, quotient(integer_at(&s->right[2], i), 3) - 357913942);
    }
}

static const char products[] =
    "@kernel\ndef f(x: Tensor[\"M\", \"K\", \"T\"], y: Tensor[\"K\", \"N\", \"U\"], z: "
    "Tensor[\"N\", \"K\", \"U\"]) -> tuple[Tensor[\"M\", \"N\", i32], Tensor[\"M\", \"N\", i32]]:\n"
    "    return x @ y, x @ z.T\n";

/* The ends of both types along the first and the last row and column, so that a saturating step
 * shows; in between, anything. */
static int64_t extreme(dtype t, int64_t line, int64_t lines, int64_t k) {
    if (line == 0)
        return least_of(t);
    if (line == lines - 1)
        return ~least_of(t);
    return least_of(t) + (line * 37 + k * 101) % (1 << dtype_integer_bits(t));
}

static void fill_products(subject *s) {
    int64_t m = dim_of(s, "M"), n = dim_of(s, "N"), depth = dim_of(s, "K");
    for (int64_t k = 0; k < depth; k++) {
        for (int64_t i = 0; i < m; i++)
            put(&s->inputs[0], i * depth + k, (uint64_t)extreme(s->inputs[0].type, i, m, k));
        for (int64_t j = 0; j < n; j++) {
            put(&s->inputs[1], k * n + j, (uint64_t)extreme(s->inputs[1].type, j, n, k));
            put(&s->inputs[2], j * depth + k, (uint64_t)extreme(s->inputs[1].type, j, n, k));
        }
    }
    for (int64_t i = 0; i < m * n; i++) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < depth; k++)
            sum += (uint64_t)(integer_at(&s->inputs[0], i / n * depth + k) *
                              integer_at(&s->inputs[1], k * n + i % n));
        put(&s->right[0], i, sum);
        put(&s->right[1], i, sum);
    }
}

static const char places[] =
    "@kernel\ndef f(x: Tensor[\"N\", i64]) -> tuple[Tensor[\"N\", i64], Tensor[\"N\", i32], "
    "Tensor[\"N\", f64], Tensor[\"N\", f32]]:\n"
    "    wide = cast(arange(N), i64) * 1000000000\n"
    "    return wide + x * 3000000000, arange(N) * 1000000000, cast(wide, f64) / 3.0, "
    "cast(wide * 7 + 1, f32)\n";

static void fill_places(subject *s) {
    for (int64_t i = 0; i < tensor_count(&s->inputs[0]); i++) {
        int64_t wide = i * 1000000000, x = (i - 5) * INT64_C(12345678901);
        put(&s->inputs[0], i, (uint64_t)x);
        put(&s->right[0], i, (uint64_t)wide + (uint64_t)x * UINT64_C(3000000000));
        put(&s->right[1], i, (uint64_t)wide);
        ((double *)s->right[2].data)[i] = (double)wide / 3.0;
        ((float *)s->right[3].data)[i] = (float)(wide * 7 + 1);
    }
}

static void integers(void **state) {
    static const row rows[] = {
        {pairs, "N=256,T=i4", fill_pairs},
        {pairs, "N=65536,T=i8", fill_pairs},
        {pairs, "N=576,T=i32", fill_pairs},
        {pairs, "N=576,T=i64", fill_pairs},
        {offsets, "N=37", fill_offsets},
        {products, "M=1,K=4,N=1,T=i8,U=i8", fill_products},
        {products, "M=5,K=1,N=5,T=i8,U=i8", fill_products},
        {products, "M=17,K=129,N=19,T=i8,U=i8", fill_products},
        {products, "M=1,K=131077,N=1,T=i8,U=i8", fill_products}, /* wraps */
        {products, "M=3,K=67,N=33,T=i8,U=i4", fill_products},
        {products, "M=2,K=1030,N=7,T=i8,U=i4", fill_products},
        {products, "M=3,K=67,N=33,T=i4,U=i4", fill_products},
        {places, "N=11", fill_places},
        {places, "N=67", fill_places},
    };
    (void)state;
    hold(rows, COUNT_OF(rows), false);
}

/* ---- signed zeros ---- */

static const char zeros[] =
    "@kernel\ndef f(x: Tensor[\"N\", 4, f32], y: Tensor[4, \"N\", f32]) -> tuple[Tensor[4, f32], "
    "Tensor[4, f32], Tensor[4, f32], Tensor[4, f32], Tensor[4, f32], Tensor[4, f32]]:\n"
    "    return max(x, axis=0), min(x, axis=0), sum(x, axis=0), max(y, axis=1), min(y, axis=1), "
    "sum(y, axis=1)\n";

/* All -0, but for one +0 at the beginning, in the middle or at the end of all columns but the
 * first. */
static void fill_zeros(subject *s) {
    int64_t n = dim_of(s, "N"), at[] = {-1, 0, n / 2, n - 1};
    for (int64_t c = 0; c < 4; c++) {
        for (int64_t i = 0; i < n; i++)
            ((float *)s->inputs[0].data)[i * 4 + c] = ((float *)s->inputs[1].data)[c * n + i] =
                i == at[c] ? 0.0f : -0.0f;
        for (int k = 0; k < 6; k += 3) {
            ((float *)s->right[k].data)[c] = c == 0 ? -0.0f : 0.0f;
            ((float *)s->right[k + 1].data)[c] = c != 0 && n == 1 ? 0.0f : -0.0f;
        }
    }
}

static void signed_zeros(void **state) {
    static const row rows[] = {{zeros, "N=1", fill_zeros},    {zeros, "N=2", fill_zeros},
                               {zeros, "N=17", fill_zeros},   {zeros, "N=64", fill_zeros},
                               {zeros, "N=65", fill_zeros},   {zeros, "N=8193", fill_zeros},
                               {zeros, "N=16385", fill_zeros}};
    (void)state;
    hold(rows, COUNT_OF(rows), false);
}

/* ---- extremes of rows ---- */

static const char extremes[] = "@kernel\ndef f(x: Tensor[\"3*N\", \"N\", f32]) -> "
                               "tuple[Tensor[\"3*N\", f32], Tensor[\"3*N\", f32]]:\n"
                               "    return max(x, axis=1), min(x, axis=1)\n";

/* Each place of a row has in turn what decides it: a NaN among numbers, a +0 among -0, a -0 among
 * +0. */
static void fill_extremes(subject *s) {
    int64_t n = dim_of(s, "N");
    float *x = s->inputs[0].data, *most = s->right[0].data, *least = s->right[1].data;
    const float others[] = {1, -0.0f, 0.0f}, deciding[] = {-NAN, 0.0f, -0.0f};
    for (int64_t r = 0; r < 3 * n; r++) {
        int64_t kind = r / n;
        for (int64_t i = 0; i < n; i++)
            x[r * n + i] = i == r % n ? deciding[kind] : others[kind] * (float)(i + 1);
        bool alone = n == 1;
        most[r] = kind == 0 ? NAN : kind == 2 && alone ? -0.0f : 0.0f;
        least[r] = kind == 0 ? NAN : kind == 1 && alone ? 0.0f : -0.0f;
    }
}

static void extremes_of_rows(void **state) {
    static const row rows[] = {{extremes, "N=1", fill_extremes},  {extremes, "N=4", fill_extremes},
                               {extremes, "N=5", fill_extremes},  {extremes, "N=16", fill_extremes},
                               {extremes, "N=32", fill_extremes}, {extremes, "N=64", fill_extremes},
                               {extremes, "N=130", fill_extremes}};
    (void)state;
    hold(rows, COUNT_OF(rows), false);
}

/* ---- floats ---- */

#define OF_N(type) "Tensor[\"N\", " type "]"
static const char roundings[] =
    "@kernel\ndef f(x: " OF_N("bf16") ", y: " OF_N("bf16") ", z: " OF_N("f32") ") -> tuple[" OF_N(
        "bf16") ", " OF_N("f32") "]:\n"
                                 "    total = x + y\n    back = total - x\n"
                                 "    return y - back, cast(cast(cast(z, f16), bf16), f32)\n";

/* The error of a sum, which is 0 where a rounding is left out; a number that is rounded twice. */
static void fill_roundings(subject *s) {
    for (int64_t i = 0; i < dim_of(s, "N"); i++) {
        philox_words w = philox_element(3, (uint64_t)i, 0, PHILOX_DOMAIN_INPUTS);
        uint16_t x = f32_to_bf16(philox_uniform(w, -3, 3)),
                 y = f32_to_bf16((float)(w.w[1] >> 8) * 0x1p-24f);
        float total = bf16_to_f32(f32_to_bf16(bf16_to_f32(x) + bf16_to_f32(y))),
              back = bf16_to_f32(f32_to_bf16(total - bf16_to_f32(x)));
        ((uint16_t *)s->inputs[0].data)[i] = x;
        ((uint16_t *)s->inputs[1].data)[i] = y;
        ((uint16_t *)s->right[0].data)[i] = f32_to_bf16(bf16_to_f32(y) - back);
        float z = i % 2 ? philox_normal(w, 0, 1) : 0x1.01p0f + (float)(i % 64) * 0x1p-12f;
        ((float *)s->inputs[2].data)[i] = z;
        ((float *)s->right[1].data)[i] = bf16_to_f32(f32_to_bf16(f16_to_f32(f32_to_f16(z))));
    }
}

static const char norms[] =
    "@kernel\ndef f(x: Tensor[\"M\", \"N\", \"T\"], g: " T_N ", b: " T_N ") -> tuple["
    "Tensor[\"M\", \"N\", \"T\"], Tensor[\"M\", \"N\", \"T\"], Tensor[\"M\", \"N\", \"T\"]]:\n"
    "    return layernorm(x, g, b), rmsnorm(x, g), softmax(x)\n";

/* Rows far from 0 whose elements are equal, or a step apart: 40000, 40001, ... */
static void fill_norms(subject *s) {
    int64_t m = dim_of(s, "M"), n = dim_of(s, "N");
    double step = n <= 4 && n > 1 ? 1 : 0, middle = (double)(n - 1) / 2 * step;
    put_all(&s->inputs[1], 1);
    s->tolerance = 5e-3;
    for (int64_t r = 0; r < m; r++) {
        double first = step != 0 ? 40000.0 * (double)(r + 1) : 1234.0 * (double)r,
               of_squares = 1e-5, variance = 1e-5, powers = 0;
        for (int64_t c = 0; c < n; c++) {
            double x = first + (double)c * step;
            of_squares += x * x / (double)n;
            variance += ((double)c * step - middle) * ((double)c * step - middle) / (double)n;
            powers += exp((double)c * step);
        }
        for (int64_t c = 0; c < n; c++) {
            double x = first + (double)c * step;
            size_t at = (size_t)(r * n + c);
            dtype t = s->inputs[0].type;
            dtype_store(t, s->inputs[0].data, at, x);
            dtype_store(t, s->right[0].data, at, ((double)c * step - middle) / sqrt(variance));
            dtype_store(t, s->right[1].data, at, x / sqrt(of_squares));
            dtype_store(t, s->right[2].data, at, exp((double)c * step) / powers);
        }
    }
}

static const char masks[] =
    "@kernel\ndef f(x: " M_N ", a: Tensor[i32], b: Tensor[i32], c: Tensor[i32]) -> tuple[" M_N
    ", " M_N ", " M_N ", " M_N "]:\n"
    "    return dropout(x, 0.1, seed=7, step=a), dropout(x, 0.1, seed=7, step=b), "
    "dropout(x, 0.1, seed=7, step=c), dropout(x, 0.9999999999, seed=7, step=a)\n";

/* Each call draws a mask of its own, at each step another; what is dropped is 0, were it a NaN. */
static void fill_masks(subject *s) {
    static const int32_t steps[] = {0, INT32_MAX, -1, 0};
    float *x = s->inputs[0].data;
    for (int k = 0; k < 3; k++)
        *(int32_t *)s->inputs[k + 1].data = steps[k];
    for (int64_t i = 0; i < tensor_count(&s->inputs[0]); i++) {
        x[i] = i % 7 ? (float)i - 100 : NAN;
        for (int k = 0; k < 4; k++) {
            double p = k < 3 ? 0.1 : 0.9999999999;
            uint64_t counter = (uint64_t)i | (uint64_t)(uint32_t)steps[k] << 32;
            bool kept = philox_element(7, counter, (uint32_t)k, PHILOX_DOMAIN_RANDOM_BITS).w[0] >=
                        (uint32_t)(p * 0x1p32);
            ((float *)s->right[k].data)[i] = kept ? x[i] * (float)(1 / (1 - p)) : 0;
        }
    }
}

static void floats(void **state) {
    static const row rows[] = {
        {roundings, "N=500", fill_roundings}, {norms, "M=2,N=256,T=f32", fill_norms},
        {norms, "M=2,N=4,T=f32", fill_norms}, {norms, "M=3,N=1,T=f32", fill_norms},
        {norms, "M=1,N=8,T=f16", fill_norms}, {masks, "M=19,N=37", fill_masks},
    };
    (void)state;
    hold(rows, COUNT_OF(rows), false);
}

/* ---- more places than 31 bits count ---- */

static const char far_places[] =
    "@kernel\ndef f(x: Tensor[\"M\", i32], y: Tensor[\"N\", i32]) -> Tensor[\"M\", i32]:\n"
    "    return max(x[:, None] ^ y[None, :], axis=1)\n";

/* Rows of the high half of a word, columns of the low one. */
static void fill_far(subject *s) {
    int64_t m = dim_of(s, "M"), n = dim_of(s, "N");
    assert_true(m * n > INT32_MAX && n <= 1 << 16);
    for (int64_t i = 0; i < n; i++)
        put(&s->inputs[1], i, (uint64_t)i);
    for (int64_t i = 0; i < m; i++) {
        put(&s->inputs[0], i, (uint64_t)i << 16);
        put(&s->right[0], i, (uint64_t)(integer_at(&s->inputs[0], i) + n - 1));
    }
}

static void far_away(void **state) {
    static const row rows[] = {{far_places, "M=32800,N=65536", fill_far}};
    (void)state;
    hold(rows, COUNT_OF(rows), true);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers), cmocka_unit_test(signed_zeros),
                                       cmocka_unit_test(extremes_of_rows), cmocka_unit_test(floats),
                                       cmocka_unit_test(far_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
