/* describe.c - shapes, strides and roles of the arguments of BLAS, as its reference defines them.
 */
#include "describe.h"

#include <ctype.h>

enum { ROWS = 101, TRANS = 112, CONJ_TRANS = 113, UPPER = 121, UNIT = 132, LEFT = 141 };

static void flag(record_call *call, const blas_call *b, const char *name, int value) {
    if (b->is_cblas)
        record_integer(call, name, value);
    else
        record_letter(call, name, (char)value);
}

/* A flag of CBLAS, or the letter for it. */
static bool is_flag(int value, int number, int letter) {
    return value == number || toupper(value) == letter;
}

static bool is_transposed(int value) {
    return is_flag(value, TRANS, 'T') || is_flag(value, CONJ_TRANS, 'C');
}

static record_tensor tensor_of(const blas_call *b, const char *name, record_role role,
                               const void *data) {
    bool wide = b->item_bytes == 8;
    return (record_tensor){.name = name,
                           .role = role,
                           .dtype = wide ? "f64" : "f32",
                           .descr = wide ? "<f8" : "<f4",
                           .item_bytes = b->item_bytes,
                           .data = data};
}

static int64_t at_least_0(int64_t value) {
    return value > 0 ? value : 0;
}

typedef struct matrix {
    const char *name;
    record_role role;
    record_part part; /* as BLAS says it */
    int64_t rows, columns;
    const void *data;
    const char *step_name;
    int64_t step;
} matrix;

/* Seen along memory, an upper triangle in columns is a lower one. */
static record_part part_in_memory(record_part part, bool rows) {
    static const record_part turned[] = {RECORD_WHOLE, RECORD_LOWER, RECORD_UPPER,
                                         RECORD_LOWER_OPEN, RECORD_UPPER_OPEN};
    return rows ? part : turned[part];
}

static void put_matrix(record_call *call, const blas_call *b, const matrix *m) {
    bool rows = b->layout == ROWS;
    record_tensor t = tensor_of(b, m->name, m->role, m->data);
    t.rank = 2;
    t.part = part_in_memory(m->part, rows);
    t.shape[0] = m->data ? at_least_0(rows ? m->rows : m->columns) : 0;
    t.shape[1] = at_least_0(rows ? m->columns : m->rows);
    t.strides[0] = m->step;
    t.strides[1] = 1;
    record_tensor_of(call, &t);
    record_integer(call, m->step_name, m->step);
}

/* With a negative increment, the first element is the last one in memory. */
static void put_vector(record_call *call, const blas_call *b, const matrix *v) {
    record_tensor t = tensor_of(b, v->name, v->role, v->data);
    int64_t back = v->step < 0 && v->rows > 0 ? (v->rows - 1) * -v->step : 0;
    t.rank = 1;
    t.shape[0] = v->data ? at_least_0(v->rows) : 0;
    t.strides[0] = v->step;
    if (v->data)
        t.data = (const char *)v->data + back * (int64_t)b->item_bytes;
    record_tensor_of(call, &t);
    record_integer(call, v->step_name, v->step);
}

static void put_result(record_call *call, const blas_call *b) {
    record_tensor t = tensor_of(b, "result", RECORD_OUTPUT, b->result);
    record_result_of(call, &t);
}

static void put_layout(record_call *call, const blas_call *b) {
    if (b->is_cblas)
        record_integer(call, "layout", b->layout);
}

/* An operand whose beta is 0 is not read. */
static record_role role_by(double beta) {
    return beta == 0 ? RECORD_OUTPUT : RECORD_BOTH;
}

void describe_gemm(record_call *call, const blas_call *b) {
    bool ta = is_transposed(b->transa), tb = is_transposed(b->transb);
    put_layout(call, b);
    flag(call, b, "transa", b->transa);
    flag(call, b, "transb", b->transb);
    record_integer(call, "m", b->m);
    record_integer(call, "n", b->n);
    record_integer(call, "k", b->k);
    record_real(call, "alpha", b->alpha);
    put_matrix(call, b,
               &(matrix){"a", RECORD_INPUT, RECORD_WHOLE, ta ? b->k : b->m, ta ? b->m : b->k, b->a,
                         "lda", b->lda});
    put_matrix(call, b,
               &(matrix){"b", RECORD_INPUT, RECORD_WHOLE, tb ? b->n : b->k, tb ? b->k : b->n, b->b,
                         "ldb", b->ldb});
    record_real(call, "beta", b->beta);
    put_matrix(call, b,
               &(matrix){"c", role_by(b->beta), RECORD_WHOLE, b->m, b->n, b->c, "ldc", b->ldc});
}

void describe_syrk(record_call *call, const blas_call *b) {
    bool ta = is_transposed(b->transa), upper = is_flag(b->uplo, UPPER, 'U');
    put_layout(call, b);
    flag(call, b, "uplo", b->uplo);
    flag(call, b, "trans", b->transa);
    record_integer(call, "n", b->n);
    record_integer(call, "k", b->k);
    record_real(call, "alpha", b->alpha);
    put_matrix(call, b,
               &(matrix){"a", RECORD_INPUT, RECORD_WHOLE, ta ? b->k : b->n, ta ? b->n : b->k, b->a,
                         "lda", b->lda});
    record_real(call, "beta", b->beta);
    put_matrix(call, b,
               &(matrix){"c", role_by(b->beta), upper ? RECORD_UPPER : RECORD_LOWER, b->n, b->n,
                         b->c, "ldc", b->ldc});
}

void describe_trsm(record_call *call, const blas_call *b) {
    bool upper = is_flag(b->uplo, UPPER, 'U'), unit = is_flag(b->diag, UNIT, 'U');
    int64_t side = is_flag(b->side, LEFT, 'L') ? b->m : b->n;
    record_part closed = upper ? RECORD_UPPER : RECORD_LOWER;
    put_layout(call, b);
    flag(call, b, "side", b->side);
    flag(call, b, "uplo", b->uplo);
    flag(call, b, "transa", b->transa);
    flag(call, b, "diag", b->diag);
    record_integer(call, "m", b->m);
    record_integer(call, "n", b->n);
    record_real(call, "alpha", b->alpha);
    put_matrix(call, b,
               &(matrix){"a", RECORD_INPUT,
                         unit ? (upper ? RECORD_UPPER_OPEN : RECORD_LOWER_OPEN) : closed, side,
                         side, b->a, "lda", b->lda});
    put_matrix(call, b, &(matrix){"b", RECORD_BOTH, RECORD_WHOLE, b->m, b->n, b->c, "ldb", b->ldc});
}

void describe_gemv(record_call *call, const blas_call *b) {
    bool t = is_transposed(b->transa);
    put_layout(call, b);
    flag(call, b, "trans", b->transa);
    record_integer(call, "m", b->m);
    record_integer(call, "n", b->n);
    record_real(call, "alpha", b->alpha);
    put_matrix(call, b,
               &(matrix){"a", RECORD_INPUT, RECORD_WHOLE, b->m, b->n, b->a, "lda", b->lda});
    put_vector(
        call, b,
        &(matrix){"x", RECORD_INPUT, RECORD_WHOLE, t ? b->m : b->n, 1, b->b, "incx", b->ldb});
    record_real(call, "beta", b->beta);
    bool returns = b->m <= 0 || b->n <= 0; /* at once, and y is what it was */
    put_vector(call, b,
               &(matrix){"y", returns ? RECORD_BOTH : role_by(b->beta), RECORD_WHOLE,
                         t ? b->n : b->m, 1, b->c, "incy", b->ldc});
}

void describe_ger(record_call *call, const blas_call *b) {
    put_layout(call, b);
    record_integer(call, "m", b->m);
    record_integer(call, "n", b->n);
    record_real(call, "alpha", b->alpha);
    put_vector(call, b, &(matrix){"x", RECORD_INPUT, RECORD_WHOLE, b->m, 1, b->a, "incx", b->lda});
    put_vector(call, b, &(matrix){"y", RECORD_INPUT, RECORD_WHOLE, b->n, 1, b->b, "incy", b->ldb});
    put_matrix(call, b, &(matrix){"a", RECORD_BOTH, RECORD_WHOLE, b->m, b->n, b->c, "lda", b->ldc});
}

void describe_dot(record_call *call, const blas_call *b) {
    record_integer(call, "n", b->n);
    put_vector(call, b, &(matrix){"x", RECORD_INPUT, RECORD_WHOLE, b->n, 1, b->a, "incx", b->lda});
    put_vector(call, b, &(matrix){"y", RECORD_INPUT, RECORD_WHOLE, b->n, 1, b->b, "incy", b->ldb});
    put_result(call, b);
}

void describe_nrm2(record_call *call, const blas_call *b) {
    record_integer(call, "n", b->n);
    put_vector(call, b, &(matrix){"x", RECORD_INPUT, RECORD_WHOLE, b->n, 1, b->a, "incx", b->lda});
    put_result(call, b);
}

void describe_asum(record_call *call, const blas_call *b) {
    describe_nrm2(call, b);
}

void describe_axpy(record_call *call, const blas_call *b) {
    record_integer(call, "n", b->n);
    record_real(call, "alpha", b->alpha);
    put_vector(call, b, &(matrix){"x", RECORD_INPUT, RECORD_WHOLE, b->n, 1, b->a, "incx", b->lda});
    put_vector(call, b, &(matrix){"y", RECORD_BOTH, RECORD_WHOLE, b->n, 1, b->c, "incy", b->ldc});
}

void describe_scal(record_call *call, const blas_call *b) {
    record_integer(call, "n", b->n);
    record_real(call, "alpha", b->alpha);
    put_vector(call, b, &(matrix){"x", RECORD_BOTH, RECORD_WHOLE, b->n, 1, b->c, "incx", b->ldc});
}
