/* xsmm.c - libxsmm: f32 products by a kernel made for the very shape, as it is meant to be used;
 * with more threads each takes an equal part of the rows. */
#include <stdio.h>
#include <string.h>

#include <libxsmm.h>
#include <omp.h>

#include "peer.h"

static const float *x, *y;
static float *out;
static libxsmm_blasint m, n, k; /* n rows of m columns a thread */
static int threads;
static libxsmm_smmfunction kernel;

const char *peer_version(void) {
    static char version[64];
    libxsmm_init();
    snprintf(version, sizeof version, "libxsmm %s, %s", LIBXSMM_VERSION, libxsmm_get_target_arch());
    return version;
}

/* Row-major x y is column-major (y^T x^T)^T, so the operands change places. */
bool peer_prepare(peer_case *c) {
    const float one = 1, zero = 0;
    if (strcmp(c->words[0], "matmul") != 0 || c->count != 5 || strcmp(c->words[1], "f32") != 0)
        return peer_refuse(c, "libxsmm is measured with matmul f32 alone");
    int64_t rows = peer_number(c, 2);
    m = (libxsmm_blasint)peer_number(c, 3);
    k = (libxsmm_blasint)peer_number(c, 4);
    threads = c->threads;
    if (rows > 512 || m > 512 || k > 512)
        return peer_refuse(c, "libxsmm is for products up to about 512");
    if (rows % threads != 0)
        return peer_refuse(c, "%d threads do not divide the rows", threads);
    n = (libxsmm_blasint)(rows / threads);
    kernel = libxsmm_smmdispatch(m, n, k, &m, &k, &m, &one, &zero, NULL, NULL);
    if (!kernel)
        return peer_refuse(c, "libxsmm makes no kernel of this shape");
    x = peer_input(c, 0, PEER_F32, (size_t)(rows * k));
    y = peer_input(c, 1, PEER_F32, (size_t)k * (size_t)m);
    out = peer_output_buffer(c, PEER_F32, (size_t)(rows * m));
    peer_run();
    return true;
}

static void run_part(int part) {
    kernel(y, x + (size_t)part * (size_t)n * (size_t)k, out + (size_t)part * (size_t)n * (size_t)m);
}

void peer_run(void) {
    if (threads == 1) {
        run_part(0);
        return;
    }
#pragma omp parallel num_threads(threads)
    run_part(omp_get_thread_num());
}

void peer_release(void) {}
