/* interp_scan.c - running sums along an axis, in the order seq, and the order of its elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/reductions.h"
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

/* IEEE 754-2019 maximum. */
static double greater(double a, double b) {
    if (isnan(a) || isnan(b))
        return NAN;
    return a > b || (a == b && !signbit(a)) ? a : b;
}

typedef enum running_kind { RUNNING_SUM, RUNNING_PROD, RUNNING_MAX, RUNNING_MIN } running_kind;

static running_kind running_kind_of(const char *kind) {
    return strcmp(kind, "sum") == 0    ? RUNNING_SUM
           : strcmp(kind, "prod") == 0 ? RUNNING_PROD
           : strcmp(kind, "max") == 0  ? RUNNING_MAX
                                       : RUNNING_MIN;
}

#define TOGETHER(T, suffix)                                                                        \
    static T together_##suffix(dtype type, running_kind kind, T a, T b) {                          \
        (void)type;                                                                                \
        switch (kind) {                                                                            \
        case RUNNING_SUM:                                                                          \
            return a + b;                                                                          \
        case RUNNING_PROD:                                                                         \
            return a * b;                                                                          \
        case RUNNING_MAX:                                                                          \
            return (T)greater(a, b);                                                               \
        default:                                                                                   \
            return (T)-greater(-a, -b);                                                            \
        }                                                                                          \
    }
TOGETHER(float, f32)
TOGETHER(double, f64)

static int64_t together_i64(dtype type, running_kind kind, int64_t a, int64_t b) {
    switch (kind) {
    case RUNNING_SUM:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case RUNNING_PROD:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case RUNNING_MAX:
        return dtype_integer_less(type, b, a) ? a : b;
    default:
        return dtype_integer_less(type, a, b) ? a : b;
    }
}

/* The first sum is the first element itself: -0 stays -0. */
#define RUNNING(T, suffix)                                                                         \
    static void running_##suffix(const tensor *x, tensor *out, const scan_rows *rows,              \
                                 int64_t start, running_kind kind) {                               \
        T sum = 0, element;                                                                        \
        for (int64_t i = 0; i < rows->length; i++) {                                               \
            interp_load_##suffix(x, start + i * rows->stride, 1, &element);                        \
            sum = i == 0 ? element : together_##suffix(x->type, kind, sum, element);               \
            interp_store_##suffix(out, start + i * rows->stride, 1, &sum);                         \
        }                                                                                          \
    }
RUNNING(float, f32)
RUNNING(double, f64)
RUNNING(int64_t, i64)

static bool running_sums(const interp_step *s, status *st) {
    const tensor *x = s->in[0];
    const char *kind = ir_op_string(s->m, s->op, "kind", "sum");
    bool floats = dtype_is_float(x->type), rounds = floats && reduction_rounds(kind);
    if (order_of(s->m, s->op, ORDER_ANY) != (rounds ? ORDER_SEQ : ORDER_ANY))
        return status_set(st, STATUS_INVALID,
                          "running sums cannot have the order '%s'; of floats seq is the one",
                          interp_text(s, "order"));
    bool wide = x->type == DTYPE_F64 || interp_accumulates_f64(s);
    scan_rows rows = interp_scan_rows(s);
    for (int64_t row = 0; row < rows.count; row++)
        (!floats ? running_i64
         : wide
             ? running_f64
             : running_f32)(x, s->out, &rows, interp_scan_start(&rows, row), running_kind_of(kind));
    return true;
}

/* ---- positions in order ---- */

/* Elements of one row: numbers or integers, whichever x is of. */
typedef struct sort_row {
    dtype type;
    const double *numbers;
    const int64_t *integers; /* NULL: numbers */
    bool descending;
} sort_row;

/* A NaN is above every number; zeros are equal. */
static bool is_below(const sort_row *r, int32_t i, int32_t j) {
    if (r->integers)
        return dtype_integer_less(r->type, r->integers[i], r->integers[j]);
    return !isnan(r->numbers[i]) && (isnan(r->numbers[j]) || r->numbers[i] < r->numbers[j]);
}

static bool comes_before(const sort_row *r, int32_t i, int32_t j) {
    return r->descending ? is_below(r, j, i) : is_below(r, i, j);
}

/* Merges two runs that are in order: of equal elements, that of the first. */
static void merge_runs(const sort_row *r, const int32_t *from, int64_t middle, int64_t end,
                       int32_t *to) {
    int64_t left = 0, right = middle;
    for (int64_t i = 0; i < end; i++) {
        bool second = left == middle || (right < end && comes_before(r, from[right], from[left]));
        to[i] = from[second ? right++ : left++];
    }
}

/* `positions` and `work` have room for n each; the result is in the one that is returned. */
static int32_t *merge_sort(const sort_row *r, int64_t n, int32_t *positions, int32_t *work) {
    for (int64_t i = 0; i < n; i++)
        positions[i] = (int32_t)i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t at = 0; at < n; at += 2 * run) {
            int64_t left = n - at, middle = left < run ? left : run;
            merge_runs(r, positions + at, middle, left < 2 * run ? left : 2 * run, work + at);
        }
        int32_t *other = positions;
        positions = work;
        work = other;
    }
    return positions;
}

static void sort_one(const interp_step *s, const scan_rows *rows, int64_t start, void *elements,
                     int32_t *room) {
    const tensor *x = s->in[0];
    bool floats = dtype_is_float(x->type);
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t at = start + i * rows->stride;
        if (floats)
            interp_load_f64(x, at, 1, (double *)elements + i);
        else
            interp_load_i64(x, at, 1, (int64_t *)elements + i);
    }
    sort_row r = {.type = x->type,
                  .numbers = elements,
                  .integers = floats ? NULL : elements,
                  .descending = ir_op_int(s->m, s->op, "descending", 0) != 0};
    const int32_t *sorted = merge_sort(&r, rows->length, room, room + rows->length);
    for (int64_t i = 0; i < rows->length; i++)
        ((int32_t *)s->out->data)[start + i * rows->stride] = sorted[i];
}

static void sorted_positions(const interp_step *s) {
    scan_rows rows = interp_scan_rows(s);
    size_t length = (size_t)rows.length + 1;
    void *elements = base_malloc(sizeof(double) * length);
    int32_t *room = base_malloc(sizeof *room * 2 * length);
    for (int64_t row = 0; row < rows.count; row++)
        sort_one(s, &rows, interp_scan_start(&rows, row), elements, room);
    free(elements);
    free(room);
}

bool interp_scan(const interp_step *s, status *st) {
    if (s->opcode == GRAPH_CUMSUM)
        return running_sums(s, st);
    sorted_positions(s);
    return true;
}
