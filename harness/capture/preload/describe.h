/* describe.h - what a call of BLAS reads and writes. */
#ifndef TESSERA_HARNESS_CAPTURE_DESCRIBE_H
#define TESSERA_HARNESS_CAPTURE_DESCRIBE_H

#include "capture/record/record.h"

/* The arguments of any family, as they were given; a family uses some. Flags of CBLAS are its
 * numbers, of Fortran letters. */
typedef struct blas_call {
    bool is_cblas;
    uint32_t item_bytes; /* 4: f32, 8: f64 */
    int layout;          /* 101: rows, 102: columns, which Fortran always has */
    int side, uplo, transa, transb, diag;
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b; /* vectors x and y of the families that have no matrix */
    const void *c;
    int64_t lda, ldb, ldc; /* or increments */
    const void *result;    /* of what the function returns; NULL: nothing */
} blas_call;

/* Arguments and tensors, in the order of the call. */
void describe_gemm(record_call *call, const blas_call *b);
void describe_syrk(record_call *call, const blas_call *b);
void describe_trsm(record_call *call, const blas_call *b);
void describe_gemv(record_call *call, const blas_call *b);
void describe_ger(record_call *call, const blas_call *b);
void describe_dot(record_call *call, const blas_call *b);
void describe_nrm2(record_call *call, const blas_call *b);
void describe_asum(record_call *call, const blas_call *b);
void describe_axpy(record_call *call, const blas_call *b);
void describe_scal(record_call *call, const blas_call *b);

#endif
