/* xsmm.c - libxsmm: f32 products by a kernel made for the very shape, as it is meant to be used;
 * with more threads each takes an equal part of the rows. */
#include <libxsmm.h>
#include <omp.h>

#include "peer.h"

enum { MOST = 512 };

/* The kernel of the last shape. */
static struct {
    int64_t rows, m, k;
    int threads;
    libxsmm_smmfunction run;
} made;

TSR_IMPLEMENTATION const char *tessera_error(void);
const char *tessera_error(void) {
    return "it is for products up to about 512, whose rows the threads divide";
}

/* Row-major x y is column-major (y^T x^T)^T, so the operands change places. */
static bool make(const peer_product *p) {
    const float one = 1, zero = 0;
    if (made.run && made.rows == p->m && made.m == p->n && made.k == p->k)
        return true;
    int threads = omp_get_max_threads();
    if (p->m > MOST || p->n > MOST || p->k > MOST || p->m % threads != 0)
        return false;
    libxsmm_blasint m = (libxsmm_blasint)p->n, k = (libxsmm_blasint)p->k;
    libxsmm_init();
    made.rows = p->m, made.m = p->n, made.k = p->k, made.threads = threads;
    made.run = libxsmm_smmdispatch(m, (libxsmm_blasint)(p->m / threads), k, &m, &k, &m, &one, &zero,
                                   NULL, NULL);
    return made.run != NULL;
}

static void run_part(const peer_product *p, int part) {
    const int64_t rows = p->m / made.threads;
    made.run(p->y, (const float *)p->x + part * rows * p->k, (float *)p->out + part * rows * p->n);
}

PEER_FUNCTION(matmul_f32) {
    peer_product p;
    if (!peer_are_f32(t, count, 2) || !peer_take_product(t, count, false, &p) || !make(&p))
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    if (made.threads == 1) {
        run_part(&p, 0);
        return 0;
    }
#pragma omp parallel num_threads(made.threads)
    run_part(&p, omp_get_thread_num());
    return 0;
}
