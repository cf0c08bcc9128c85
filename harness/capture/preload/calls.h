/* calls.h - a function for each family of BLAS and way of calling: it records, and calls the one
 * that was meant. preload.c makes them of blas.def.
 *
 * Lengths of letters, which some Fortran callers pass behind the arguments, are passed on. */
#ifndef TESSERA_HARNESS_CAPTURE_CALLS_H
#define TESSERA_HARNESS_CAPTURE_CALLS_H

#include "describe.h"
#include "resolve.h"

/* The function FAMILY called EXPORT: `parameters` and `arguments` in brackets, and what of a
 * blas_call they are. */
#define CALL_VOID(export, family, parameters, arguments, ...)                                      \
    __attribute__((visibility("default"))) void export parameters;                                 \
    __attribute__((visibility("default"))) void export parameters {                                \
        static symbol own = {.name = #export};                                                     \
        const resolved *r = symbol_resolve(&own, __builtin_return_address(0));                     \
        record_call call;                                                                          \
        if (record_open(&call, #export)) {                                                         \
            call.library = r->library;                                                             \
            describe_##family(&call, &(blas_call){__VA_ARGS__});                                   \
            record_before(&call);                                                                  \
        }                                                                                          \
        ((void(*) parameters)r->function) arguments;                                               \
        record_close(&call);                                                                       \
    }
#define CALL_VALUE(export, family, T, parameters, arguments, ...)                                  \
    __attribute__((visibility("default"))) T export parameters;                                    \
    __attribute__((visibility("default"))) T export parameters {                                   \
        static symbol own = {.name = #export};                                                     \
        const resolved *r = symbol_resolve(&own, __builtin_return_address(0));                     \
        record_call call;                                                                          \
        T value = 0;                                                                               \
        if (record_open(&call, #export)) {                                                         \
            call.library = r->library;                                                             \
            describe_##family(&call, &(blas_call){.result = &value, __VA_ARGS__});                 \
            record_before(&call);                                                                  \
        }                                                                                          \
        value = ((T(*) parameters)r->function)arguments;                                           \
        record_close(&call);                                                                       \
        return value;                                                                              \
    }

#define IN_ROWS(T) .is_cblas = true, .item_bytes = sizeof(T), .layout = layout
#define IN_C(T) .is_cblas = true, .item_bytes = sizeof(T)
#define IN_COLUMNS(T) .item_bytes = sizeof(T), .layout = 102

/* ---- CBLAS ---- */

#define CBLAS_gemm(export, T, I)                                                                   \
    CALL_VOID(export, gemm,                                                                        \
              (int layout, int ta, int tb, I m, I n, I k, T alpha, const T *a, I lda, const T *b,  \
               I ldb, T beta, T *c, I ldc),                                                        \
              (layout, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), IN_ROWS(T),          \
              .transa = ta, .transb = tb, .m = m, .n = n, .k = k, .alpha = (double)alpha, .a = a,  \
              .lda = lda, .b = b, .ldb = ldb, .beta = (double)beta, .c = c, .ldc = ldc)
#define CBLAS_syrk(export, T, I)                                                                   \
    CALL_VOID(export, syrk,                                                                        \
              (int layout, int uplo, int trans, I n, I k, T alpha, const T *a, I lda, T beta,      \
               T *c, I ldc),                                                                       \
              (layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc), IN_ROWS(T), .uplo = uplo,  \
              .transa = trans, .n = n, .k = k, .alpha = (double)alpha, .a = a, .lda = lda,         \
              .beta = (double)beta, .c = c, .ldc = ldc)
#define CBLAS_trsm(export, T, I)                                                                   \
    CALL_VOID(export, trsm,                                                                        \
              (int layout, int side, int uplo, int trans, int diag, I m, I n, T alpha, const T *a, \
               I lda, T *b, I ldb),                                                                \
              (layout, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb), IN_ROWS(T),          \
              .side = side, .uplo = uplo, .transa = trans, .diag = diag, .m = m, .n = n,           \
              .alpha = (double)alpha, .a = a, .lda = lda, .c = b, .ldc = ldb)
#define CBLAS_gemv(export, T, I)                                                                   \
    CALL_VOID(export, gemv,                                                                        \
              (int layout, int trans, I m, I n, T alpha, const T *a, I lda, const T *x, I incx,    \
               T beta, T *y, I incy),                                                              \
              (layout, trans, m, n, alpha, a, lda, x, incx, beta, y, incy), IN_ROWS(T),            \
              .transa = trans, .m = m, .n = n, .alpha = (double)alpha, .a = a, .lda = lda, .b = x, \
              .ldb = incx, .beta = (double)beta, .c = y, .ldc = incy)
#define CBLAS_ger(export, T, I)                                                                    \
    CALL_VOID(                                                                                     \
        export, ger,                                                                               \
        (int layout, I m, I n, T alpha, const T *x, I incx, const T *y, I incy, T *a, I lda),      \
        (layout, m, n, alpha, x, incx, y, incy, a, lda), IN_ROWS(T), .m = m, .n = n,               \
        .alpha = (double)alpha, .a = x, .lda = incx, .b = y, .ldb = incy, .c = a, .ldc = lda)
#define CBLAS_dot(export, T, I)                                                                    \
    CALL_VALUE(export, dot, T, (I n, const T *x, I incx, const T *y, I incy),                      \
               (n, x, incx, y, incy), IN_C(T), .n = n, .a = x, .lda = incx, .b = y, .ldb = incy)
#define CBLAS_nrm2(export, T, I)                                                                   \
    CALL_VALUE(export, nrm2, T, (I n, const T *x, I incx), (n, x, incx), IN_C(T), .n = n, .a = x,  \
               .lda = incx)
#define CBLAS_asum(export, T, I)                                                                   \
    CALL_VALUE(export, asum, T, (I n, const T *x, I incx), (n, x, incx), IN_C(T), .n = n, .a = x,  \
               .lda = incx)
#define CBLAS_axpy(export, T, I)                                                                   \
    CALL_VOID(export, axpy, (I n, T alpha, const T *x, I incx, T *y, I incy),                      \
              (n, alpha, x, incx, y, incy), IN_C(T), .n = n, .alpha = (double)alpha, .a = x,       \
              .lda = incx, .c = y, .ldc = incy)
#define CBLAS_scal(export, T, I)                                                                   \
    CALL_VOID(export, scal, (I n, T alpha, T * x, I incx), (n, alpha, x, incx), IN_C(T), .n = n,   \
              .alpha = (double)alpha, .c = x, .ldc = incx)

/* ---- Fortran: everything by reference ---- */

#define FORTRAN_gemm(export, T, I)                                                                 \
    CALL_VOID(export, gemm,                                                                        \
              (const char *ta, const char *tb, const I *m, const I *n, const I *k, const T *alpha, \
               const T *a, const I *lda, const T *b, const I *ldb, const T *beta, T *c,            \
               const I *ldc, size_t la, size_t lb),                                                \
              (ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, la, lb), IN_COLUMNS(T),       \
              .transa = *ta, .transb = *tb, .m = *m, .n = *n, .k = *k, .alpha = (double)*alpha,    \
              .a = a, .lda = *lda, .b = b, .ldb = *ldb, .beta = (double)*beta, .c = c,             \
              .ldc = *ldc)
#define FORTRAN_syrk(export, T, I)                                                                 \
    CALL_VOID(export, syrk,                                                                        \
              (const char *uplo, const char *trans, const I *n, const I *k, const T *alpha,        \
               const T *a, const I *lda, const T *beta, T *c, const I *ldc, size_t la, size_t lb), \
              (uplo, trans, n, k, alpha, a, lda, beta, c, ldc, la, lb), IN_COLUMNS(T),             \
              .uplo = *uplo, .transa = *trans, .n = *n, .k = *k, .alpha = (double)*alpha, .a = a,  \
              .lda = *lda, .beta = (double)*beta, .c = c, .ldc = *ldc)
#define FORTRAN_trsm(export, T, I)                                                                 \
    CALL_VOID(export, trsm,                                                                        \
              (const char *side, const char *uplo, const char *trans, const char *diag,            \
               const I *m, const I *n, const T *alpha, const T *a, const I *lda, T *b,             \
               const I *ldb, size_t l1, size_t l2, size_t l3, size_t l4),                          \
              (side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, l1, l2, l3, l4),              \
              IN_COLUMNS(T), .side = *side, .uplo = *uplo, .transa = *trans, .diag = *diag,        \
              .m = *m, .n = *n, .alpha = (double)*alpha, .a = a, .lda = *lda, .c = b, .ldc = *ldb)
#define FORTRAN_gemv(export, T, I)                                                                 \
    CALL_VOID(export, gemv,                                                                        \
              (const char *trans, const I *m, const I *n, const T *alpha, const T *a,              \
               const I *lda, const T *x, const I *incx, const T *beta, T *y, const I *incy,        \
               size_t la),                                                                         \
              (trans, m, n, alpha, a, lda, x, incx, beta, y, incy, la), IN_COLUMNS(T),             \
              .transa = *trans, .m = *m, .n = *n, .alpha = (double)*alpha, .a = a, .lda = *lda,    \
              .b = x, .ldb = *incx, .beta = (double)*beta, .c = y, .ldc = *incy)
#define FORTRAN_ger(export, T, I)                                                                  \
    CALL_VOID(export, ger,                                                                         \
              (const I *m, const I *n, const T *alpha, const T *x, const I *incx, const T *y,      \
               const I *incy, T *a, const I *lda),                                                 \
              (m, n, alpha, x, incx, y, incy, a, lda), IN_COLUMNS(T), .m = *m, .n = *n,            \
              .alpha = (double)*alpha, .a = x, .lda = *incx, .b = y, .ldb = *incy, .c = a,         \
              .ldc = *lda)
#define FORTRAN_dot(export, T, I)                                                                  \
    CALL_VALUE(export, dot, T, (const I *n, const T *x, const I *incx, const T *y, const I *incy), \
               (n, x, incx, y, incy), IN_COLUMNS(T), .n = *n, .a = x, .lda = *incx, .b = y,        \
               .ldb = *incy)
#define FORTRAN_nrm2(export, T, I)                                                                 \
    CALL_VALUE(export, nrm2, T, (const I *n, const T *x, const I *incx), (n, x, incx),             \
               IN_COLUMNS(T), .n = *n, .a = x, .lda = *incx)
#define FORTRAN_asum(export, T, I)                                                                 \
    CALL_VALUE(export, asum, T, (const I *n, const T *x, const I *incx), (n, x, incx),             \
               IN_COLUMNS(T), .n = *n, .a = x, .lda = *incx)
#define FORTRAN_axpy(export, T, I)                                                                 \
    CALL_VOID(export, axpy,                                                                        \
              (const I *n, const T *alpha, const T *x, const I *incx, T *y, const I *incy),        \
              (n, alpha, x, incx, y, incy), IN_COLUMNS(T), .n = *n, .alpha = (double)*alpha,       \
              .a = x, .lda = *incx, .c = y, .ldc = *incy)
#define FORTRAN_scal(export, T, I)                                                                 \
    CALL_VOID(export, scal, (const I *n, const T *alpha, T *x, const I *incx),                     \
              (n, alpha, x, incx), IN_COLUMNS(T), .n = *n, .alpha = (double)*alpha, .c = x,        \
              .ldc = *incx)

#endif
