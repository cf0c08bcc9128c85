/* interp_reduce.c - sum, prod, max and min over axes: in the order lanes64, exact, or in a written
 * tree. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/reductions.h"
#include "target/interp/interp.h"
#include "target/interp/interp_exact.h"
#include "target/interp/interp_tree.h"

enum { LANES = ORDER_LANES64_LANES, BLOCK = ORDER_LANES64_CHUNK };

/* One block: element i goes to lane i mod 64, ascending; then the lanes are halved. */
#define LANES64(T, name, suffix, combine, first)                                                   \
    static T name##_block_##suffix(const T *x, int64_t n) {                                        \
        T lanes[LANES];                                                                            \
        for (int j = 0; j < LANES; j++)                                                            \
            lanes[j] = first;                                                                      \
        for (int64_t i = 0; i < n; i++)                                                            \
            lanes[i % LANES] = lanes[i % LANES] combine x[i];                                      \
        for (int width = LANES / 2; width > 0; width /= 2)                                         \
            for (int j = 0; j < width; j++)                                                        \
                lanes[j] = lanes[j] combine lanes[j + width];                                      \
        return lanes[0];                                                                           \
    }                                                                                              \
                                                                                                   \
    T name##_##suffix(const T *x, int64_t n) {                                                     \
        int64_t blocks = (n + BLOCK - 1) / BLOCK;                                                  \
        if (n <= BLOCK)                                                                            \
            return name##_block_##suffix(x, n) combine first;                                      \
        T *found = base_malloc(sizeof *found * (size_t)blocks);                                    \
        for (int64_t b = 0; b < blocks; b++)                                                       \
            found[b] =                                                                             \
                name##_block_##suffix(x + b * BLOCK, b == blocks - 1 ? n - b * BLOCK : BLOCK);     \
        T total = name##_##suffix(found, blocks);                                                  \
        free(found);                                                                               \
        return total;                                                                              \
    }
LANES64(float, interp_lanes64, f32, +, 0)
LANES64(double, interp_lanes64, f64, +, 0)
LANES64(float, interp_products64, f32, *, 1)
LANES64(double, interp_products64, f64, *, 1)

bool interp_reduce_rows(const interp_step *s, tensor *rows, int64_t *length, status *st) {
    int64_t axes[IR_MAX_RANK], order[IR_MAX_RANK];
    uint32_t count = ir_op_ints(s->m, s->op, "axes", axes, IR_MAX_RANK), next = 0;
    int kept = 0, rank = s->in[0]->rank;
    *length = 1;
    for (int i = 0; i < rank; i++) {
        if (next < count && axes[next] == i) {
            order[rank - (int)count + (int)next++] = i;
            *length *= s->in[0]->dims[i];
        } else {
            order[kept++] = i;
        }
    }
    return interp_permute(s->in[0], order, rows, st);
}

/* ---- one row ---- */

/* IEEE 754-2019 maximum and minimum. */
static double greater(double a, double b) {
    if (isnan(a) || isnan(b))
        return NAN;
    return a > b || (a == b && !signbit(a)) ? a : b;
}

static double extreme_f64(const double *x, int64_t n, bool max) {
    double best = -HUGE_VAL;
    for (int64_t i = 0; i < n; i++)
        best = greater(best, max ? x[i] : -x[i]);
    return max ? best : -best;
}

static int64_t reduce_i64(const char *kind, const int64_t *x, int64_t n, dtype type) {
    bool sum = strcmp(kind, "sum") == 0, max = strcmp(kind, "max") == 0,
         prod = strcmp(kind, "prod") == 0;
    int64_t best = sum ? 0 : prod ? 1 : max ? dtype_lowest(type) : dtype_highest(type);
    for (int64_t i = 0; i < n; i++)
        if (sum)
            best = (int64_t)((uint64_t)best + (uint64_t)x[i]);
        else if (prod)
            best = (int64_t)((uint64_t)best * (uint64_t)x[i]);
        else if (max ? dtype_integer_less(type, best, x[i]) : dtype_integer_less(type, x[i], best))
            best = x[i];
    return best;
}

static float sum_f32(const interp_reduction *r, const float *x, int64_t n) {
    if (strcmp(r->kind, "prod") == 0)
        return interp_products64_f32(x, n);
    if (r->exact)
        return interp_exact_f32(x, n);
    return r->tree ? interp_tree_sum_f32(r->tree, x) : interp_lanes64_f32(x, n);
}

static double sum_f64(const interp_reduction *r, const double *x, int64_t n) {
    if (strcmp(r->kind, "prod") == 0)
        return interp_products64_f64(x, n);
    if (r->exact)
        return interp_exact_f64(x, n, r->odd);
    return r->tree ? interp_tree_sum_f64(r->tree, x) : interp_lanes64_f64(x, n);
}

void interp_reduce_row(const interp_reduction *r, const tensor *rows, int64_t row, int64_t length,
                       void *work, tensor *out) {
    const char *kind = r->kind;
    bool rounds = reduction_rounds(kind);
    if (!dtype_is_float(rows->type)) {
        interp_load_i64(rows, row * length, length, work);
        int64_t result = reduce_i64(kind, work, length, rows->type);
        interp_store_i64(out, row, 1, &result);
    } else if (rounds && !r->wide) {
        interp_load_f32(rows, row * length, length, work);
        float result = sum_f32(r, work, length);
        interp_store_f32(out, row, 1, &result);
    } else { /* the greatest and least are the same in f64 */
        interp_load_f64(rows, row * length, length, work);
        double result =
            rounds ? sum_f64(r, work, length) : extreme_f64(work, length, strcmp(kind, "max") == 0);
        interp_store_f64(out, row, 1, &result);
    }
}

bool interp_reduce(const interp_step *s, status *st) {
    tensor rows;
    tree_order tree = {0};
    int64_t length;
    order_id order = order_of(s->m, s->op, ORDER_ANY);
    if (order != ORDER_ANY && !order_suits(order, ORDER_OF_SUM))
        return status_set(
            st, STATUS_INVALID,
            "a reduction cannot have the order '%s'; lanes64, exact, or a written tree",
            interp_text(s, "order"));
    if (!interp_reduce_rows(s, &rows, &length, st))
        return false;
    bool ok = order != ORDER_WRITTEN || interp_tree_open(s, length, &tree, st);
    void *work = base_malloc(sizeof(double) * (size_t)(length + 1));
    const interp_reduction r = {.kind = interp_text(s, "kind"),
                                .wide = rows.type == DTYPE_F64 || interp_accumulates_f64(s),
                                .tree = order == ORDER_WRITTEN ? &tree : NULL,
                                .exact = order_is_exact(order),
                                .odd = order == ORDER_EXACT_ODD};
    int64_t count = tensor_count(s->out);
    for (int64_t row = 0; row < count && ok; row++)
        interp_reduce_row(&r, &rows, row, length, work, s->out);
    free(work);
    tree_order_release(&tree);
    tensor_release(&rows);
    return ok;
}
