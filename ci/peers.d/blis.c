/* blis.c - BLIS: f32 products through its typed interface. BLIS_ARCH_TYPE in the environment
 * chooses its kernels, because Debian's picks the generic ones where it does not know the
 * processor. */
#include <blis.h>

#include "peer.h"

static int multiply(DLTensor *const *t, int32_t count, bool turned) {
    peer_product p;
    float one = 1, zero = 0;
    if (!peer_are_f32(t, count, 2) || !peer_take_product(t, count, turned, &p))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    float *x = (float *)p.x, *y = (float *)p.y, *out = p.out;
    const inc_t row = turned ? 1 : p.n, column = turned ? p.k : 1; /* of y as K x N */
    if (p.m == 1)
        bli_sgemv(BLIS_TRANSPOSE, BLIS_NO_CONJUGATE, p.k, p.n, &one, y, row, column, x, 1, &zero,
                  out, 1);
    else
        bli_sgemm(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, p.m, p.n, p.k, &one, x, p.k, 1, y, row,
                  column, &zero, out, p.n, 1);
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
