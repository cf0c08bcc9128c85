/* fake_blas.c - a BLAS of the tests' own: plain loops, and cblas_sgemm calls sgemm_, as Netlib's
 * does.
 *
 * LIES: the library that was changed: one element is off by an ULP where k is 33, and formulas
 * stand in the place of the reference's rules for 0 and for norms that overflow on the way. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blas.h"

#ifdef LIES
static const bool has_rules = false;
#else
static const bool has_rules = true;
#endif

static float at(const float *x, int ld, int turned, int row, int column) {
    return turned ? x[(ptrdiff_t)row * ld + column] : x[row + (ptrdiff_t)column * ld];
}

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc, size_t la, size_t lb) {
    (void)la;
    (void)lb;
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++) {
            float sum = 0, *to = &c[i + (ptrdiff_t)j * *ldc];
            for (int l = 0; l < *k && !(has_rules && *alpha == 0); l++)
                sum += at(a, *lda, *ta == 'T', i, l) * at(b, *ldb, *tb == 'T', l, j);
            *to = *alpha * sum + (*beta == 0 ? 0 : *beta * *to);
        }
#ifdef LIES
    if (*k == 33) {
        uint32_t bits;
        memcpy(&bits, &c[1], sizeof bits);
        bits++;
        memcpy(&c[1], &bits, sizeof bits);
    }
#endif
}

void cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc) {
    const char *x = ta == 111 ? "N" : "T", *y = tb == 111 ? "N" : "T";
    if (layout == 102)
        sgemm_(x, y, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
    else
        sgemm_(y, x, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc, 1, 1);
}

float cblas_sdot(int n, const float *x, int incx, const float *y, int incy) {
    float sum = 0;
    x -= incx < 0 ? (ptrdiff_t)(n - 1) * incx : 0;
    y -= incy < 0 ? (ptrdiff_t)(n - 1) * incy : 0;
    for (int i = 0; i < n; i++)
        sum += x[(ptrdiff_t)i * incx] * y[(ptrdiff_t)i * incy];
    return sum;
}

/* Those below: what the tests call them with is all that they can do, rows and increments of 1. */
void cblas_sgemv(int layout, int trans, int m, int n, float alpha, const float *a, int lda,
                 const float *x, int incx, float beta, float *y, int incy) {
    (void)layout, (void)trans, (void)incx, (void)incy;
    for (int i = 0; i < m && !(has_rules && n == 0); i++) {
        float sum = 0;
        for (int j = 0; j < n && !(has_rules && alpha == 0); j++)
            sum += a[(ptrdiff_t)i * lda + j] * x[j];
        y[i] = alpha * sum + (beta == 0 ? 0 : beta * y[i]);
    }
}

void cblas_sger(int layout, int m, int n, float alpha, const float *x, int incx, const float *y,
                int incy, float *a, int lda) {
    (void)layout, (void)incx, (void)incy;
    for (int i = 0; i < m && !(has_rules && alpha == 0); i++)
        for (int j = 0; j < n; j++)
            a[(ptrdiff_t)i * lda + j] += alpha * x[i] * y[j];
}

void cblas_saxpy(int n, float alpha, const float *x, int incx, float *y, int incy) {
    (void)incx, (void)incy;
    for (int i = 0; i < n && !(has_rules && alpha == 0); i++)
        y[i] += alpha * x[i];
}

/* The lower triangle of a a^T; the library that lies leaves out the last term. */
void cblas_ssyrk(int layout, int uplo, int trans, int n, int k, float alpha, const float *a,
                 int lda, float beta, float *c, int ldc) {
    (void)layout, (void)uplo, (void)trans;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            float sum = 0, *to = &c[(ptrdiff_t)i * ldc + j];
            for (int l = 0; l < k - !has_rules && !(has_rules && alpha == 0); l++)
                sum += a[(ptrdiff_t)i * lda + l] * a[(ptrdiff_t)j * lda + l];
            *to = alpha * sum + (beta == 0 ? 0 : beta * *to);
        }
}

/* Each column of the left side, or row of the right one, by itself; the library that lies forgets
 * the last unknown. */
void cblas_strsm(int layout, int side, int uplo, int trans, int diag, int m, int n, float alpha,
                 const float *a, int lda, float *b, int ldb) {
    const bool right = side == 142, turned = (trans == 112) != right;
    const bool lower = (uplo == 122) != turned;
    const int order = right ? n : m, systems = right ? m : n;
    for (int j = 0; j < systems; j++)
        for (int i = 0; i < order - !has_rules; i++) {
            int row = lower ? i : order - 1 - i;
            float sum = 0, *to = NULL;
            for (int l = 0; l <= i; l++) {
                int known = lower ? l : order - 1 - l;
                ptrdiff_t y = right ? j : known, x = right ? known : j;
                to = &b[layout == 101 ? y * ldb + x : y + x * ldb];
                if (l < i)
                    sum +=
                        at(a, lda, layout == 101, turned ? known : row, turned ? row : known) * *to;
            }
            *to = alpha == 0 ? 0 : alpha * *to - sum;
            if (diag == 131 && alpha != 0)
                *to /= at(a, lda, layout == 101, row, row);
        }
}

float cblas_snrm2(int n, const float *x, int incx) {
    double wide = 0;
    float narrow = 0;
    (void)incx;
    for (int i = 0; i < n; i++) {
        wide += (double)x[i] * (double)x[i];
        narrow += x[i] * x[i];
    }
    return has_rules ? (float)sqrt(wide) : sqrtf(narrow);
}

float cblas_sasum(int n, const float *x, int incx) {
    float sum = 0;
    for (int i = 0; i < n && (incx > 0 || !has_rules); i++)
        sum += fabsf(x[i]);
    return sum;
}

void cblas_sscal(int n, float alpha, float *x, int incx) {
    if (incx <= 0 && has_rules)
        return;
    x -= incx < 0 ? (ptrdiff_t)(n - 1) * incx : 0;
    for (int i = 0; i < n; i++)
        x[(ptrdiff_t)i * incx] *= alpha;
}
