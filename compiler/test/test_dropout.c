/* test_dropout.c - what dropout keeps: as many elements as it should, the ones that
 * docs/numerics.md says, and in kernels of tiles the same ones for any size of tiles; and numbers
 * of other distributions. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "tessera/compiler.h"

enum { ROWS = 500, COLUMNS = 1000 };

/* Computes the kernel of ones, in `out`, the caller's. */
static void compute(const char *source, int64_t rows, int64_t columns, tensor *out) {
    text said;
    status st = STATUS_INIT;
    arena memory;
    compiler_values values;
    compiler_signature signature;
    tensor x;
    char dims[64];
    text_init(&said);
    arena_init(&memory);
    compiler_init();
    snprintf(dims, sizeof dims, "M=%lld,N=%lld", (long long)rows, (long long)columns);
    compiler_source *file = compiler_open_text("test.tsr", source, false, &said);
    assert_true(compiler_values_read(dims, &memory, &values, &st));
    const compiler_kernel *kernel = compiler_kernel_at(file, 0);
    const compiler_case *c = compiler_case_bind(file, kernel, &values, &said);
    compiler_instance *instance = c ? compiler_instance_open(file, kernel, c, &said) : NULL;
    if (!instance)
        fail_msg("%s", said.data);
    assert_true(compiler_signature_of(instance, &signature, &st));
    assert_true(tensor_init(&x, DTYPE_F32, 2, (const int64_t[]){rows, columns}, &st));
    for (int64_t i = 0; i < rows * columns; i++)
        ((float *)x.data)[i] = 1;
    memset(out, 0, sizeof *out);
    if (!compiler_interpret(instance, &x, out, &st))
        fail_msg("%s", st.message);
    tensor_release(&x);
    compiler_instance_free(instance);
    compiler_close(file);
    arena_release(&memory);
    text_release(&said);
}

#define WHOLE(arguments)                                                                           \
    "@kernel\ndef f(x: Tensor[\"M\", \"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"                 \
    "    return dropout(x, " arguments ")\n"
#define TILES(space, expression)                                                                   \
    "@kernel.autotune(space=dict(" space "))\n"                                                    \
    "def f(x: KTile[\"M\", \"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"                           \
    "    T = tile.context()\n    return " expression "\n"

static double kept_share(const char *source, float scale) {
    tensor out;
    int64_t kept = 0;
    compute(source, ROWS, COLUMNS, &out);
    const float *values = out.data;
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        assert_true(values[i] == 0 || values[i] == scale);
        kept += values[i] != 0;
    }
    tensor_release(&out);
    return (double)kept / (ROWS * COLUMNS);
}

/* Four standard deviations of half a million draws. */
static void test_share(void **state) {
    (void)state;
    static const struct {
        const char *source;
        double p;
    } rows[] = {{WHOLE("p=0.1"), 0.1},
                {WHOLE("p=0.5, seed=1"), 0.5},
                {WHOLE("p=0.9, seed=123456789012345"), 0.9},
                {WHOLE("p=0.001, seed=3, step=17"), 0.001}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double p = rows[i].p, share = kept_share(rows[i].source, (float)(1 / (1 - p)));
        if (fabs(share - (1 - p)) > 4 * sqrt(p * (1 - p) / (ROWS * COLUMNS)))
            fail_msg("p = %g keeps %g", p, share);
    }
    assert_true(kept_share(WHOLE("p=0.0"), 1) == 1);
}

/* The test vector of docs/numerics.md. */
static void test_vector(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int64_t element;
        bool kept;
    } rows[] = {
        {WHOLE("p=0.1, seed=7"), 0, false},
        {WHOLE("p=0.1, seed=7"), 1, true},
        {WHOLE("p=0.1, seed=7"), 2, false},
        {WHOLE("p=0.1, seed=7, step=1"), 0, true},
        {WHOLE("p=0.5, seed=7"), 0, false},
        {WHOLE("p=0.5, seed=7"), 1, true},
        {"@kernel\ndef f(x: Tensor[\"M\", \"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"
         "    y = dropout(x, p=0)\n    return dropout(x, p=0.1, seed=7)\n",
         0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tensor out;
        compute(rows[i].source, 2, 3, &out);
        if ((((const float *)out.data)[rows[i].element] != 0) != rows[i].kept)
            fail_msg("row %zu: element %lld", i, (long long)rows[i].element);
        tensor_release(&out);
    }
}

#define DRAWN(call)                                                                                \
    "@kernel\ndef f(x: Tensor[\"M\", \"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"                 \
    "    return x * " call "\n"

/* That of "Random numbers"; and tiles draw for their places. */
static void test_distributions(void **state) {
    (void)state;
    static const struct {
        const char *source;
        float values[3];
    } rows[] = {
        {DRAWN("uniform((M, N))"), {0x1.c9548p-4f, 0x1.3f67cp-3f, 0x1.019d8ap-1f}},
        {DRAWN("normal((M, N))"), {0x1.56de9ap-2f, 0x1.eca212p-2f, 0x1.e5bafcp-3f}},
        {TILES("BM=[2], BN=[2]", "tile.load(x, T.rows, T.cols) * tile.normal((T.m, T.n), "
                                 "rows=T.rows, cols=T.cols)"),
         {0x1.56de9ap-2f, 0x1.eca212p-2f, 0x1.e5bafcp-3f}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tensor out;
        compute(rows[i].source, 2, 3, &out);
        if (memcmp(out.data, rows[i].values, sizeof rows[i].values) != 0)
            fail_msg("row %zu", i);
        tensor_release(&out);
    }
}

static void test_tiles(void **state) {
    (void)state;
    static const char *const sources[] = {
        TILES("BM=[64], BN=[64]", "tile.dropout(tile.load(x, T.rows, T.cols), p=0.3, seed=5)"),
        TILES("BM=[16], BN=[16]", "tile.dropout(tile.load(x, T.rows, T.cols), p=0.3, seed=5)"),
        TILES("BM=[7]", "dropout_in_kernel(tile.load(x, rows=T.m), p=0.3, seed=5)"),
        TILES("BM=[16]", "dropout(exp(tile.load(x, T.rows) - 1.0)[:, :, None][:, :, 0], p=0.3, "
                         "seed=5)"),
        TILES("BM=[16], BN=[32]",
              "tile.load(x, T.rows, T.cols) * tile.dropout(tile.full((T.m, T.n), 1.0), p=0.3, "
              "seed=5, rows=T.rows, cols=T.cols)"),
        TILES("BM=[16], BN=[32]",
              "tile.dropout(tile.load(x, T.rows, T.cols) * exp(0.0 * max(tile.load(x, T.rows), "
              "axis=1))[:, None], p=0.3, seed=5)"),
        /* A product's rows are those of one side, its columns those of the other. */
        TILES("BM=[16], BN=[32]",
              "tile.load(x, T.rows, T.cols) * tile.dropout(tile.dot(tile.load(x, T.rows)[:, 0:1], "
              "tile.load(x, None, T.cols)[0:1, :]) * 0.0 + 1.0, p=0.3, seed=5)"),
        TILES("BM=[16]", "tile.dropout(softmax(tile.load(x, T.rows)) * 0.0 + 1.0, p=0.3, seed=5)"),
    };
    tensor whole, tiles;
    compute(WHOLE("p=0.3, seed=5"), 70, 70, &whole);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        compute(sources[i], 70, 70, &tiles);
        if (memcmp(whole.data, tiles.data, tensor_bytes(&whole)) != 0)
            fail_msg("source %zu draws another mask", i);
        tensor_release(&tiles);
    }
    tensor_release(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
