/* openblas.c - OpenBLAS: f32 products. The driver sets OPENBLAS_CORETYPE, because Debian's picks
 * Haswell where it does not know the processor. */
#include <stdio.h>
#include <string.h>

#include <cblas.h>

#include "peer.h"

static const float *x, *y;
static float *out;
static blasint m, n, k;
static bool turned; /* the right side is stored as N x K */

const char *peer_version(void) {
    static char version[128];
    snprintf(version, sizeof version, "%.80s, core %.30s", openblas_get_config(),
             openblas_get_corename());
    return version;
}

bool peer_prepare(peer_case *c) {
    turned = strcmp(c->words[0], "linear") == 0;
    if ((!turned && strcmp(c->words[0], "matmul") != 0) || c->count != 5 ||
        strcmp(c->words[1], "f32") != 0)
        return peer_refuse(c, "OpenBLAS has matmul f32 alone");
    m = (blasint)peer_number(c, 2);
    n = (blasint)peer_number(c, 3);
    k = (blasint)peer_number(c, 4);
    openblas_set_num_threads(c->threads);
    x = peer_input(c, 0, PEER_F32, (size_t)m * (size_t)k);
    y = peer_input(c, 1, PEER_F32, (size_t)k * (size_t)n);
    out = peer_output_buffer(c, PEER_F32, (size_t)m * (size_t)n);
    peer_run();
    return true;
}

/* One row is a product of a matrix and a vector, which libraries have apart. */
void peer_run(void) {
    if (m == 1 && turned)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1.0f, y, k, x, 1, 0.0f, out, 1);
    else if (m == 1)
        cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1.0f, y, n, x, 1, 0.0f, out, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, turned ? CblasTrans : CblasNoTrans, m, n, k, 1.0f,
                    x, k, y, turned ? k : n, 0.0f, out, n);
}

void peer_release(void) {}
