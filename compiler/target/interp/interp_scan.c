/* interp_scan.c - running sums along an axis, in the order seq. */
#include "ops/orders.h"
#include "target/interp/interp.h"

scan_rows interp_scan_rows(const interp_step *s) {
    const tensor *x = s->in[0];
    int axis = (int)ir_op_int(s->m, s->op, "axis", 0);
    scan_rows rows = {.count = 1, .length = x->dims[axis], .stride = 1};
    for (int i = 0; i < x->rank; i++) {
        rows.count *= i == axis ? 1 : x->dims[i];
        rows.stride *= i > axis ? x->dims[i] : 1;
    }
    return rows;
}

int64_t interp_scan_start(const scan_rows *rows, int64_t row) {
    return row / rows->stride * rows->length * rows->stride + row % rows->stride;
}

/* The first sum is the first element itself: -0 stays -0. */
#define RUNNING(T, suffix)                                                                         \
    static void running_##suffix(const tensor *x, tensor *out, const scan_rows *rows,              \
                                 int64_t start) {                                                  \
        T sum = 0, element;                                                                        \
        for (int64_t i = 0; i < rows->length; i++) {                                               \
            interp_load_##suffix(x, start + i * rows->stride, 1, &element);                        \
            sum = i == 0 ? element : ADD_##suffix(sum, element);                                   \
            interp_store_##suffix(out, start + i * rows->stride, 1, &sum);                         \
        }                                                                                          \
    }
#define ADD_f32(a, b) ((a) + (b))
#define ADD_f64(a, b) ((a) + (b))
#define ADD_i64(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
RUNNING(float, f32)
RUNNING(double, f64)
RUNNING(int64_t, i64)

bool interp_scan(const interp_step *s, status *st) {
    const tensor *x = s->in[0];
    bool floats = dtype_is_float(x->type);
    if (order_of(s->m, s->op, ORDER_ANY) != (floats ? ORDER_SEQ : ORDER_ANY))
        return status_set(st, STATUS_INVALID,
                          "running sums cannot have the order '%s'; of floats seq is the one",
                          interp_text(s, "order"));
    bool wide = x->type == DTYPE_F64 || interp_accumulates_f64(s);
    scan_rows rows = interp_scan_rows(s);
    for (int64_t row = 0; row < rows.count; row++)
        (!floats ? running_i64
         : wide  ? running_f64
                 : running_f32)(x, s->out, &rows, interp_scan_start(&rows, row));
    return true;
}
