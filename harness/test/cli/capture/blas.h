/* blas.h - the calls of BLAS that the program makes and the library of the tests has. */
#ifndef TESSERA_TEST_CAPTURE_BLAS_H
#define TESSERA_TEST_CAPTURE_BLAS_H

#include <stddef.h>

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc, size_t la, size_t lb);
void cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc);
float cblas_sdot(int n, const float *x, int incx, const float *y, int incy);
void cblas_sscal(int n, float alpha, float *x, int incx);
void cblas_sgemv(int layout, int trans, int m, int n, float alpha, const float *a, int lda,
                 const float *x, int incx, float beta, float *y, int incy);
void cblas_sger(int layout, int m, int n, float alpha, const float *x, int incx, const float *y,
                int incy, float *a, int lda);
void cblas_saxpy(int n, float alpha, const float *x, int incx, float *y, int incy);
void cblas_ssyrk(int layout, int uplo, int trans, int n, int k, float alpha, const float *a,
                 int lda, float beta, float *c, int ldc);
void cblas_strsm(int layout, int side, int uplo, int trans, int diag, int m, int n, float alpha,
                 const float *a, int lda, float *b, int ldb);
float cblas_snrm2(int n, const float *x, int incx);
float cblas_sasum(int n, const float *x, int incx);

#endif
