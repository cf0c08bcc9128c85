/* test_empty.c - right values where a dimension is 0: what reductions, products, moves, images and
 * losses give of no elements; and of few or odd ones, by the same code for any dimensions. */
#include "test/values.h"

/* ---- nothing ---- */

#define OF_A_C "Tensor[\"A\", \"C\", f32]"
static const char reductions[] =
    "@kernel\ndef f(x: Tensor[\"A\", \"B\", \"C\", f32]) -> tuple[" OF_A_C ", " OF_A_C ", " OF_A_C
    ", " OF_A_C ", " OF_A_C ", Tensor[\"A\", \"C\", i32], Tensor[\"A\", \"C\", i32], Tensor[f32], "
    "Tensor[\"A\", \"B\", \"C\", f32]]:\n"
    "    return sum(x, axis=1), mean(x, axis=1), max(x, axis=1), min(x, axis=1), "
    "logsumexp(x, axis=1), argmax(x, axis=1), argmin(x, axis=1), sum(x), cumsum(x, axis=1)\n";

/* Results of no elements: each reduction's beginning; of one or more equal ones, that number. */
static void fill_reductions(subject *s) {
    const bool none = dim_of(s, "B") == 0;
    const double value = 3, empty[] = {0, NAN, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
    put_all(&s->inputs[0], value);
    for (int k = 0; k < 5; k++)
        put_all(&s->right[k], none ? empty[k] : value);
    put_all(&s->right[5], none ? INT32_MAX : 0);
    put_all(&s->right[6], none ? INT32_MAX : 0);
    put_all(&s->right[7], value * (double)tensor_count(&s->inputs[0]));
    put_all(&s->right[8], value);
}

static const char typed_reductions[] =
    "@kernel\ndef f(x: Tensor[\"N\", 0, \"T\"]) -> tuple[" T_N ", " T_N ", " T_N "]:\n"
    "    return sum(x, axis=1), max(x, axis=1), min(x, axis=1)\n";

/* The greatest of nothing is the least that the type has, an infinity where it has one. */
static void fill_typed(subject *s) {
    dtype t = s->inputs[0].type;
    const dtype_format *format = dtype_format_of(t);
    const int64_t least = format ? 0 : least_of(t);
    for (int64_t i = 0; i < dim_of(s, "N"); i++) {
        if (format) {
            dtype_store(t, s->right[1].data, (size_t)i, -HUGE_VAL);
            dtype_store(t, s->right[2].data, (size_t)i, HUGE_VAL);
        } else {
            put(&s->right[1], i, (uint64_t)least);
            put(&s->right[2], i, ~(uint64_t)least);
        }
    }
}

static const char sums_of_products[] =
    "@kernel\ndef f(x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32], b: Tensor[\"N\", "
    "f32]) -> tuple[" M_N ", " M_N ", " M_N "]:\n"
    "    return x @ y, linear(x, y, b, activation=\"relu\"), einsum(\"mk,kn->mn\", x, y)\n";

static void fill_sums(subject *s) {
    double k = (double)dim_of(s, "K");
    put_all(&s->inputs[0], -2);
    put_all(&s->inputs[1], -1);
    put_all(&s->inputs[2], 1);
    put_all(&s->right[0], 2 * k);
    put_all(&s->right[1], 2 * k + 1);
    put_all(&s->right[2], 2 * k);
}

static const char moves[] =
    "@kernel\ndef f(x: " M_N ", y: Tensor[\"P\", \"N\", f32]) -> tuple[Tensor[\"M + P\", \"N\", "
    "f32], Tensor[\"N\", \"M\", f32], " M_N ", Tensor[\"M*N\", f32], Tensor[\"M + 3\", \"N + 1\", "
    "f32], Tensor[\"M\", \"N + 2\", f32]]:\n"
    "    return concat([x, y]), x.T, sort(x), reshape(x, (M * N,)), pad(x, ((1, 2), (0, 1)), nan), "
    "pad(x, ((0, 0), (1, 1)), -0.0)\n";

static void fill_moves(subject *s) {
    int64_t m = dim_of(s, "M"), n = dim_of(s, "N"), p = dim_of(s, "P");
    float *const right[] = {s->right[0].data, s->right[1].data, s->right[2].data,
                            s->right[3].data, s->right[4].data, s->right[5].data};
    put_all(&s->right[4], NAN);
    put_all(&s->right[5], -0.0);
    for (int64_t i = 0; i < (m + p) * n; i++) {
        float value = (float)-i;
        right[0][i] = value;
        if (i >= m * n) {
            ((float *)s->inputs[1].data)[i - m * n] = value;
            continue;
        }
        int64_t r = i / n, c = i % n;
        ((float *)s->inputs[0].data)[i] = right[1][c * m + r] = right[2][r * n + n - 1 - c] =
            right[3][i] = right[4][(r + 1) * (n + 1) + c] = right[5][r * (n + 2) + c + 1] = value;
    }
}

static const char pieces[] =
    "@kernel\ndef f(x: Tensor[\"N\", f32]) -> tuple[Tensor[\"N - 2\", f32], Tensor[\"N // 2\", "
    "f32], Tensor[\"(N + 2) // 3\", f32], Tensor[\"N\", f32]]:\n"
    "    return x[1:-1], x[:N // 2], x[::3], cumsum(x)\n";

static void fill_pieces(subject *s) {
    float sum = 0;
    for (int64_t i = 0, n = dim_of(s, "N"); i < n; i++) {
        float value = (float)(i % 5 - 2);
        ((float *)s->inputs[0].data)[i] = value;
        ((float *)s->right[3].data)[i] = sum += value;
        if (i > 0 && i < n - 1)
            ((float *)s->right[0].data)[i - 1] = value;
        if (i < n / 2)
            ((float *)s->right[1].data)[i] = value;
        if (i % 3 == 0)
            ((float *)s->right[2].data)[i / 3] = value;
    }
}

static const char image[] =
    "@kernel\ndef f(x: Tensor[\"B\", \"H\", \"W\", \"C\", f32], w: Tensor[2, 2, \"C\", \"O\", "
    "f32]) -> Tensor[\"B\", \"H + 1\", \"W + 1\", \"O\", f32]:\n"
    "    return conv2d(x, w, padding=1)\n";

/* Sums of ones: as many as the window has inside. */
static void fill_image(subject *s) {
    int64_t h = dim_of(s, "H"), w = dim_of(s, "W"), o = dim_of(s, "O"), each = (h + 1) * (w + 1);
    put_all(&s->inputs[0], 1);
    put_all(&s->inputs[1], 1);
    for (int64_t i = 0; i < tensor_count(&s->right[0]); i++) {
        int64_t r = i / o % each / (w + 1), c = i / o % (w + 1);
        int64_t rows = (r > 0 && h > 0) + (r < h), columns = (c > 0 && w > 0) + (c < w);
        ((float *)s->right[0].data)[i] = (float)(rows * columns * dim_of(s, "C"));
    }
}

static const char loss[] =
    "@kernel\ndef f(x: Tensor[\"M\", \"V\", f32], t: Tensor[\"M\", i32]) -> Tensor[f32]:\n"
    "    return cross_entropy(x, t)\n";

/* The mean of no losses is none; that of a single class is 0. */
static void fill_loss(subject *s) {
    put_all(&s->inputs[0], 5);
    put_all(&s->right[0], dim_of(s, "M") ? 0 : NAN);
}

static void of_nothing(void **state) {
    static const row rows[] = {{reductions, "A=2,B=0,C=4", fill_reductions},
                               {reductions, "A=1,B=0,C=1", fill_reductions},
                               {reductions, "A=0,B=3,C=4", fill_reductions},
                               {reductions, "A=2,B=3,C=0", fill_reductions},
                               {reductions, "A=0,B=0,C=0", fill_reductions},
                               {reductions, "A=17,B=0,C=33", fill_reductions},
                               {reductions, "A=3,B=1,C=5", fill_reductions},
                               {typed_reductions, "N=3,T=i4", fill_typed},
                               {typed_reductions, "N=3,T=i8", fill_typed},
                               {typed_reductions, "N=17,T=i32", fill_typed},
                               {typed_reductions, "N=3,T=i64", fill_typed},
                               {typed_reductions, "N=3,T=f8e4m3fn", fill_typed},
                               {typed_reductions, "N=3,T=bf16", fill_typed},
                               {sums_of_products, "M=3,K=0,N=4", fill_sums},
                               {sums_of_products, "M=0,K=5,N=4", fill_sums},
                               {sums_of_products, "M=3,K=5,N=0", fill_sums},
                               {sums_of_products, "M=0,K=0,N=0", fill_sums},
                               {sums_of_products, "M=17,K=0,N=33", fill_sums},
                               {sums_of_products, "M=5,K=1030,N=66", fill_sums},
                               {moves, "M=0,N=3,P=2", fill_moves},
                               {moves, "M=2,N=0,P=3", fill_moves},
                               {moves, "M=0,N=0,P=0", fill_moves},
                               {moves, "M=1,N=1,P=0", fill_moves},
                               {moves, "M=17,N=33,P=5", fill_moves},
                               {pieces, "N=2", fill_pieces},
                               {pieces, "N=3", fill_pieces},
                               {pieces, "N=5", fill_pieces},
                               {pieces, "N=1000", fill_pieces},
                               {image, "B=1,H=0,W=3,C=2,O=2", fill_image},
                               {image, "B=1,H=3,W=3,C=0,O=2", fill_image},
                               {image, "B=0,H=2,W=2,C=1,O=1", fill_image},
                               {image, "B=1,H=2,W=2,C=1,O=0", fill_image},
                               {image, "B=2,H=0,W=0,C=1,O=3", fill_image},
                               {image, "B=2,H=3,W=5,C=3,O=2", fill_image},
                               {loss, "M=0,V=5", fill_loss},
                               {loss, "M=2,V=1", fill_loss}};
    (void)state;
    hold(rows, COUNT_OF(rows), false);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
