/* openblas.c - OpenBLAS: f32 products. OPENBLAS_CORETYPE in the environment chooses its kernels,
 * because Debian's picks Haswell where it does not know the processor. */
#include <cblas.h>

#include "peer.h"

/* One row is a product of a matrix and a vector, which libraries have apart. */
static int multiply(DLTensor *const *t, int32_t count, bool turned) {
    peer_product p;
    if (!peer_are_f32(t, count, 2) || !peer_take_product(t, count, turned, &p))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    const blasint m = (blasint)p.m, n = (blasint)p.n, k = (blasint)p.k;
    if (m == 1 && turned)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1.0f, p.y, k, p.x, 1, 0.0f, p.out, 1);
    else if (m == 1)
        cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1.0f, p.y, n, p.x, 1, 0.0f, p.out, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, turned ? CblasTrans : CblasNoTrans, m, n, k, 1.0f,
                    p.x, k, p.y, turned ? k : n, 0.0f, p.out, n);
    return 0;
}

PEER_FUNCTION(matmul_f32) {
    return multiply(t, count, false);
}

PEER_FUNCTION(linear_f32) {
    return multiply(t, count, true);
}

/* As the corpus calls them. */
PEER_ALIAS(matmul_f32_yt, linear_f32)
PEER_ALIAS(decode, linear_f32)
