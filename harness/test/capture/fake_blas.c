/* fake_blas.c - a BLAS of the tests' own: plain loops, and cblas_sgemm calls sgemm_, as Netlib's
 * does.
 *
 * LIES: the library that was changed: one element is off by an ULP where k is 33. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc, size_t la, size_t lb);
void cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc);
float cblas_sdot(int n, const float *x, int incx, const float *y, int incy);
void cblas_sscal(int n, float alpha, float *x, int incx);

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
            for (int l = 0; l < *k; l++)
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

void cblas_sscal(int n, float alpha, float *x, int incx) {
    for (int i = 0; i < n; i++)
        x[(ptrdiff_t)i * incx] *= alpha;
}
