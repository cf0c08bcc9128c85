/* blis.c - BLIS: f32 products through its typed interface. The driver sets BLIS_ARCH_TYPE, because
 * Debian's picks the generic kernels where it does not know the processor. */
#include <stdio.h>
#include <string.h>

#include <blis.h>

#include "peer.h"

static float *x, *y, *out;
static dim_t m, n, k;

const char *peer_version(void) {
    static char version[128];
    bli_init();
    snprintf(version, sizeof version, "BLIS %s, %s kernels", bli_info_get_version_str(),
             bli_arch_string(bli_arch_query_id()));
    return version;
}

bool peer_prepare(peer_case *c) {
    if (strcmp(c->words[0], "matmul") != 0 || c->count != 5 || strcmp(c->words[1], "f32") != 0)
        return peer_refuse(c, "BLIS has matmul f32 alone");
    m = (dim_t)peer_number(c, 2);
    n = (dim_t)peer_number(c, 3);
    k = (dim_t)peer_number(c, 4);
    bli_thread_set_num_threads(c->threads);
    x = peer_input(c, 0, PEER_F32, (size_t)(m * k));
    y = peer_input(c, 1, PEER_F32, (size_t)(k * n));
    out = peer_output_buffer(c, PEER_F32, (size_t)(m * n));
    peer_run();
    return true;
}

void peer_run(void) {
    float one = 1, zero = 0;
    if (m == 1)
        bli_sgemv(BLIS_TRANSPOSE, BLIS_NO_CONJUGATE, k, n, &one, y, n, 1, x, 1, &zero, out, 1);
    else
        bli_sgemm(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, m, n, k, &one, x, k, 1, y, n, 1, &zero, out,
                  n, 1);
}

void peer_release(void) {}
