/* libxsmm.c - an independent witness of the order `seq`: libxsmm's f32 matrix products, made by
 * people who do not know us, have exactly its bits. And not those of `chunk512` where the two
 * differ, so the comparison can fail. */
#include "runtime/test/test.h"

#include <libxsmm.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "tessera/compiler.h"

typedef struct product {
    int64_t m, n, k;
} product;

static void fill(tensor *t, uint32_t parameter) {
    for (int64_t i = 0; i < tensor_count(t); i++)
        ((float *)t->data)[i] =
            philox_normal(philox_element(7, (uint64_t)i, parameter, 0), 0.0f, 1.0f);
}

/* The interpreter's result in an order. */
static tensor ours(const product *p, const char *order, const tensor *inputs) {
    char source[300];
    text said;
    tensor out;
    status st = STATUS_INIT;
    const ir_binding dims[] = {{"M", p->m}, {"N", p->n}, {"K", p->k}};
    const compiler_case c = {.dims = dims, .dim_count = 3};
    text_init(&said);
    snprintf(source, sizeof source,
             "@kernel\ndef f(x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32]) -> "
             "Tensor[\"M\", \"N\", f32]:\n    return matmul(x, y, order=\"%s\")\n",
             order);
    compiler_source *s = compiler_open_text("witness.tsr", source, false, &said);
    compiler_instance *instance = compiler_instance_open(s, compiler_kernel_at(s, 0), &c, &said);
    if (!instance)
        fail_msg("%s", said.data);
    if (!compiler_interpret(instance, inputs, &out, &st))
        fail_msg("%s", st.message);
    compiler_instance_free(instance);
    compiler_close(s);
    text_release(&said);
    return out;
}

/* Row-major x y is column-major (y^T x^T)^T, so the operands change places. */
static void theirs(const product *p, const tensor *inputs, float *out) {
    const float one = 1, zero = 0;
    libxsmm_blasint m = (libxsmm_blasint)p->n, n = (libxsmm_blasint)p->m, k = (libxsmm_blasint)p->k;
    libxsmm_smmfunction kernel = libxsmm_smmdispatch(m, n, k, &m, &k, &m, &one, &zero, NULL, NULL);
    if (!kernel)
        fail_msg("libxsmm makes no kernel for %d x %d x %d", n, m, k);
    kernel(inputs[1].data, inputs[0].data, out);
}

static void test_libxsmm_has_the_bits_of_seq(void **state) {
    static const product products[] = {{1, 1, 1},    {3, 5, 7},     {16, 16, 16},  {13, 29, 127},
                                       {64, 64, 64}, {31, 33, 513}, {8, 48, 1031}, {5, 64, 2048}};
    (void)state;
    int64_t apart = 0;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const product *p = &products[i];
        status st = STATUS_INIT;
        tensor inputs[2], got;
        assert_true(tensor_init(&inputs[0], DTYPE_F32, 2, (int64_t[]){p->m, p->k}, &st));
        assert_true(tensor_init(&inputs[1], DTYPE_F32, 2, (int64_t[]){p->k, p->n}, &st));
        assert_true(tensor_init(&got, DTYPE_F32, 2, (int64_t[]){p->m, p->n}, &st));
        fill(&inputs[0], 0);
        fill(&inputs[1], 1);
        theirs(p, inputs, got.data);
        tensor seq = ours(p, "seq", inputs), chunks = ours(p, "chunk512", inputs);
        if (memcmp(seq.data, got.data, tensor_bytes(&got)) != 0)
            fail_msg("%d x %d x %d: other bits than seq", (int)p->m, (int)p->n, (int)p->k);
        apart += memcmp(chunks.data, got.data, tensor_bytes(&got)) != 0;
        tensor_release(&seq);
        tensor_release(&chunks);
        tensor_release(&got);
        tensor_release(&inputs[0]);
        tensor_release(&inputs[1]);
    }
    assert_int_equal(apart, 3); /* those with more than 512 steps */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_libxsmm_has_the_bits_of_seq)};
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
