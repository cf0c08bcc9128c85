/* interp_dot.c - contractions in the orders chunk512, seq and pairs512, of rows and of windows
 * (a written tree: interp_tree.c; a matrix unit's: interp_matrix_unit.c).
 *
 * The right side is laid out in panels of 64 columns, so that one step of k is a loop over columns.
 * Each element still has its own chain: acc = fma(a[k], b[k], acc), k ascending; in pairs512 of
 * each pair the odd one first, and without subnormal numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/orders.h"
#include "target/interp/interp.h"
#include "target/interp/interp_matrix_unit.h"
#include "target/interp/interp_tree.h"

enum { PANEL = 64 };

/* ---- plan ---- */

typedef struct side {
    int64_t batch[IR_MAX_RANK], contract[IR_MAX_RANK], rest[IR_MAX_RANK];
    uint32_t batches, contracts, rests;
} side;

static side read_side(const interp_step *s, const tensor *t, const char *batch,
                      const char *contract) {
    side r = {.rests = 0};
    r.batches = ir_op_ints(s->m, s->op, batch, r.batch, IR_MAX_RANK);
    r.contracts = ir_op_ints(s->m, s->op, contract, r.contract, IR_MAX_RANK);
    for (int i = 0; i < t->rank; i++)
        if (!ir_ints_hold(r.batch, r.batches, i) && !ir_ints_hold(r.contract, r.contracts, i))
            r.rest[r.rests++] = i;
    return r;
}

static int64_t extent(const tensor *t, const int64_t *axes, uint32_t count) {
    int64_t n = 1;
    for (uint32_t i = 0; i < count; i++)
        n *= t->dims[axes[i]];
    return n;
}

static int64_t *put(int64_t *at, const int64_t *axes, uint32_t count) {
    memcpy(at, axes, sizeof *axes * count);
    return at + count;
}

window_plan interp_window_plan(const interp_step *s) {
    const tensor *x = s->in[0];
    int64_t window[2] = {0};
    ir_op_ints(s->m, s->op, "window", window, 2);
    return (window_plan){.height = x->dims[1],
                         .width = x->dims[2],
                         .channels = x->dims[3],
                         .rows = window[0],
                         .columns = window[1],
                         .down = s->out->dims[1],
                         .across = s->out->dims[2],
                         .stride = ir_op_int(s->m, s->op, "stride", 1),
                         .padding = ir_op_int(s->m, s->op, "padding", 0)};
}

bool interp_window_place(const window_plan *p, int64_t window, int64_t place, int64_t *at) {
    int64_t image = window / (p->down * p->across), line = window / p->across % p->down,
            column = window % p->across;
    int64_t y = line * p->stride - p->padding + place / p->columns,
            x = column * p->stride - p->padding + place % p->columns;
    *at = ((image * p->height + y) * p->width + x) * p->channels;
    return y >= 0 && y < p->height && x >= 0 && x < p->width;
}

static dot_plan window_dot_plan(const interp_step *s) {
    const int64_t *y = s->out->dims, *w = s->in[1]->dims;
    return (dot_plan){.batch = 1,
                      .m = y[0] * y[1] * y[2],
                      .n = w[1],
                      .k = w[0],
                      .x_axes = {0, 1, 2, 3},
                      .y_axes = {0, 1}};
}

static dot_plan side_dot_plan(const interp_step *s) {
    side x = read_side(s, s->in[0], "x_batch", "x_contract"),
         y = read_side(s, s->in[1], "y_batch", "y_contract");
    dot_plan p = {.batch = extent(s->in[0], x.batch, x.batches),
                  .m = extent(s->in[0], x.rest, x.rests),
                  .n = extent(s->in[1], y.rest, y.rests),
                  .k = extent(s->in[0], x.contract, x.contracts)};
    put(put(put(p.x_axes, x.batch, x.batches), x.rest, x.rests), x.contract, x.contracts);
    put(put(put(p.y_axes, y.batch, y.batches), y.contract, y.contracts), y.rest, y.rests);
    return p;
}

dot_plan interp_dot_plan(const interp_step *s) {
    return s->opcode == GRAPH_CONVOLVE ? window_dot_plan(s) : side_dot_plan(s);
}

int64_t interp_dot_steps(const interp_step *s, const dot_plan *p, int64_t row) {
    if (s->in_count < 3)
        return p->k;
    int64_t counts = tensor_count(s->in[2]), steps;
    interp_load_i64(s->in[2], row % counts, 1, &steps);
    return steps < 0 ? 0 : steps > p->k ? p->k : steps;
}

/* ---- kernels: one row of x by one panel of y ---- */

#define ALWAYS static inline __attribute__((always_inline))

#define ROW_BY_PANEL(T, suffix, fma)                                                               \
    ALWAYS void row_##suffix(const T *x, const bool *there, const T *panel, int64_t steps,         \
                             int64_t chunk, T *out) {                                              \
        T total[PANEL] = {0};                                                                      \
        for (int64_t first = 0; first < steps; first += chunk) {                                   \
            int64_t last = steps - first < chunk ? steps : first + chunk;                          \
            T acc[PANEL] = {0};                                                                    \
            for (int64_t k = first; k < last; k++)                                                 \
                for (int j = 0; j < PANEL && (!there || there[k]); j++)                            \
                    acc[j] = fma(x[k], panel[k * PANEL + j], acc[j]);                              \
            for (int j = 0; j < PANEL; j++)                                                        \
                total[j] = total[j] + acc[j];                                                      \
        }                                                                                          \
        for (int j = 0; j < PANEL; j++)                                                            \
            out[j] = total[j] + 0;                                                                 \
    }
ROW_BY_PANEL(float, f32, __builtin_fmaf)
ROW_BY_PANEL(double, f64, __builtin_fma)

/* A subnormal number is a zero of its sign. */
ALWAYS float without_subnormal(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* One step of pairs512. Whether a result is below the normal numbers is asked of what 24 bits and
 * any exponent would hold: `far`, which is that times 2^64. Where that is none because the operands
 * are too large, the result is far from there. */
ALWAYS float flushed_fma(float x, float y, float sum) {
    float near = __builtin_fmaf(x, y, sum), far = __builtin_fmaf(x * 0x1p64f, y, sum * 0x1p64f);
    return fabsf(far) < 0x1p-62f ? copysignf(0, far) : near;
}

ALWAYS void pair_steps(float x, const float *y, float *acc) {
    for (int j = 0; j < PANEL; j++)
        acc[j] = flushed_fma(x, y[j], acc[j]);
}

/* Operands are without subnormal numbers. Of an odd number of steps the last is the even one of a
 * pair with zeros: their product is 0, and what adding it changes, the sign of a zero, the total
 * from +0 takes away. It is added all the same, as it is written. */
ALWAYS void row_pairs(const float *x, const bool *there, const float *panel, int64_t steps,
                      int64_t chunk, float *out) {
    static const float zeros[PANEL];
    float total[PANEL] = {0};
    (void)there;
    for (int64_t first = 0; first < steps; first += chunk) {
        int64_t last = steps - first < chunk ? steps : first + chunk;
        float acc[PANEL] = {0};
        for (int64_t k = first; k < last; k += 2) {
            bool whole = k + 1 < last;
            pair_steps(whole ? x[k + 1] : 0, whole ? panel + (k + 1) * PANEL : zeros, acc);
            pair_steps(x[k], panel + k * PANEL, acc);
        }
        for (int j = 0; j < PANEL; j++)
            total[j] = total[j] + acc[j];
    }
    for (int j = 0; j < PANEL; j++)
        out[j] = total[j] + 0;
}

typedef void (*row_f32_fn)(const float *x, const bool *there, const float *panel, int64_t steps,
                           int64_t chunk, float *out);
typedef void (*row_f64_fn)(const double *x, const bool *there, const double *panel, int64_t steps,
                           int64_t chunk, double *out);

static void row_f32_plain(const float *x, const bool *there, const float *panel, int64_t steps,
                          int64_t chunk, float *out) {
    row_f32(x, there, panel, steps, chunk, out);
}

static void pairs_f32_plain(const float *x, const bool *there, const float *panel, int64_t steps,
                            int64_t chunk, float *out) {
    row_pairs(x, there, panel, steps, chunk, out);
}

static void row_f64_plain(const double *x, const bool *there, const double *panel, int64_t steps,
                          int64_t chunk, double *out) {
    row_f64(x, there, panel, steps, chunk, out);
}

#if defined(__x86_64__)
/* The same lines, compiled with hardware fma: the same bits, without a library call a step. */
__attribute__((target("avx2,fma"))) static void row_f32_fma(const float *x, const bool *there,
                                                            const float *panel, int64_t steps,
                                                            int64_t chunk, float *out) {
    row_f32(x, there, panel, steps, chunk, out);
}

__attribute__((target("avx2,fma"))) static void pairs_f32_fma(const float *x, const bool *there,
                                                              const float *panel, int64_t steps,
                                                              int64_t chunk, float *out) {
    row_pairs(x, there, panel, steps, chunk, out);
}

__attribute__((target("avx2,fma"))) static void row_f64_fma(const double *x, const bool *there,
                                                            const double *panel, int64_t steps,
                                                            int64_t chunk, double *out) {
    row_f64(x, there, panel, steps, chunk, out);
}

static bool has_fma(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define row_f32_fma row_f32_plain
#define pairs_f32_fma pairs_f32_plain
#define row_f64_fma row_f64_plain
static bool has_fma(void) {
    return false;
}
#endif

/* ---- a batch ---- */

typedef struct dot_job {
    const interp_step *s;
    dot_plan p;
    tensor x, y; /* permuted */
    int64_t chunk;
    bool pairs;                 /* the order is pairs512 */
    const window_plan *windows; /* of a convolve */
    bool *there;                /* ... which steps of the present row happen */
} dot_job;

static row_f32_fn row_f32_of(const dot_job *d) {
    row_f32_fn fast = d->pairs ? pairs_f32_fma : row_f32_fma,
               plain = d->pairs ? pairs_f32_plain : row_f32_plain;
    return has_fma() ? fast : plain;
}

static row_f64_fn row_f64_of(const dot_job *d) {
    (void)d;
    return has_fma() ? row_f64_fma : row_f64_plain;
}

static void flush_f32(const dot_job *d, float *x, int64_t count) {
    for (int64_t i = 0; d->pairs && i < count; i++)
        x[i] = without_subnormal(x[i]);
}

static void flush_f64(const dot_job *d, double *x, int64_t count) {
    (void)d;
    (void)x;
    (void)count;
}

/* Columns first .. first + PANEL of batch b of y, absent ones 0; only sums that are not stored see
 * those. */
#define PACK(T, suffix)                                                                            \
    static void window_##suffix(const dot_job *d, int64_t window, T *row) {                        \
        const window_plan *w = d->windows;                                                         \
        int64_t at;                                                                                \
        for (int64_t i = 0; i < w->rows * w->columns; i++) {                                       \
            bool inside = interp_window_place(w, window, i, &at);                                  \
            memset(d->there + i * w->channels, inside, (size_t)w->channels);                       \
            if (inside)                                                                            \
                interp_load_##suffix(&d->x, at, w->channels, row + i * w->channels);               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void pack_##suffix(const dot_job *d, int64_t b, int64_t first, T *panel) {              \
        int64_t n = d->p.n - first < PANEL ? d->p.n - first : PANEL;                               \
        memset(panel, 0, sizeof *panel *PANEL *(size_t)d->p.k);                                    \
        for (int64_t k = 0; k < d->p.k; k++)                                                       \
            interp_load_##suffix(&d->y, (b * d->p.k + k) * d->p.n + first, n, panel + k * PANEL);  \
    }                                                                                              \
                                                                                                   \
    static void panel_##suffix(const dot_job *d, int64_t b, int64_t first, T *panel, T *row) {     \
        row_##suffix##_fn one = row_##suffix##_of(d);                                              \
        int64_t n = d->p.n - first < PANEL ? d->p.n - first : PANEL;                               \
        T sums[PANEL];                                                                             \
        pack_##suffix(d, b, first, panel);                                                         \
        flush_##suffix(d, panel, d->p.k *PANEL);                                                   \
        for (int64_t m = 0; m < d->p.m; m++) {                                                     \
            int64_t at = b * d->p.m + m, steps = interp_dot_steps(d->s, &d->p, m);                 \
            if (d->windows)                                                                        \
                window_##suffix(d, m, row);                                                        \
            else                                                                                   \
                interp_load_##suffix(&d->x, at * d->p.k, d->p.k, row);                             \
            flush_##suffix(d, row, d->p.k);                                                        \
            one(row, d->there, panel, steps, d->chunk ? d->chunk : steps + 1, sums);               \
            interp_store_##suffix(d->s->out, at * d->p.n + first, n, sums);                        \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void dot_##suffix(const dot_job *d) {                                                   \
        T *panel = base_malloc(sizeof *panel * (PANEL + 1) * (size_t)(d->p.k + 1));                \
        for (int64_t b = 0; b < d->p.batch; b++)                                                   \
            for (int64_t first = 0; first < d->p.n; first += PANEL)                                \
                panel_##suffix(d, b, first, panel, panel + PANEL * d->p.k);                        \
        free(panel);                                                                               \
    }
PACK(float, f32)
PACK(double, f64)

/* Exact modulo 2^64, so any order is right. */
static int64_t dot_element(const dot_job *d, const int64_t *x, const int64_t *y, int64_t steps) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < steps; k++)
        sum += (uint64_t)x[k] * (uint64_t)y[k * d->p.n];
    return (int64_t)sum;
}

static void dot_i64(const dot_job *d) {
    const dot_plan *p = &d->p;
    int64_t *x = base_malloc(sizeof *x * (size_t)(p->k + 1)),
            *y = base_malloc(sizeof *y * (size_t)(p->k * p->n + 1));
    for (int64_t b = 0; b < p->batch; b++) {
        interp_load_i64(&d->y, b * p->k * p->n, p->k * p->n, y);
        for (int64_t m = 0; m < p->m; m++) {
            int64_t steps = interp_dot_steps(d->s, p, m);
            interp_load_i64(&d->x, (b * p->m + m) * p->k, p->k, x);
            for (int64_t n = 0; n < p->n; n++) {
                int64_t sum = dot_element(d, x, y + n, steps);
                interp_store_i64(d->s->out, (b * p->m + m) * p->n + n, 1, &sum);
            }
        }
    }
    free(x);
    free(y);
}

static bool is_wide(const dot_job *d) {
    return d->x.type == DTYPE_F64 || interp_accumulates_f64(d->s);
}

static bool dot_in_tree(const dot_job *d, status *st) {
    tree_order tree;
    const interp_tree_job job = {&tree, &d->p, &d->x, &d->y, d->s->out};
    bool ok = interp_tree_open(d->s, d->p.k, &tree, st);
    if (ok)
        (is_wide(d) ? interp_tree_dot_f64 : interp_tree_dot_f32)(&job);
    tree_order_release(&tree);
    return ok;
}

static bool dot_in_unit(const dot_job *d) {
    const matrix_unit *unit = matrix_unit_find(interp_text(d->s, "order"));
    const interp_unit_job job = {unit, &d->p, &d->x, &d->y, d->s->out};
    interp_unit_dot(&job);
    return true;
}

bool interp_dot(const interp_step *s, status *st) {
    order_id id = order_of(s->m, s->op, ORDER_CHUNK512);
    const order_info *order = order_info_of(id);
    window_plan windows;
    dot_job d = {
        .s = s, .p = interp_dot_plan(s), .chunk = order->chunk, .pairs = id == ORDER_PAIRS512};
    if (!order_suits(id, ORDER_OF_DOT))
        return status_set(st, STATUS_INVALID,
                          "a contraction cannot have the order '%s'; chunk512, seq, pairs512, a "
                          "written tree or a matrix unit's",
                          interp_text(s, "order"));
    if (s->opcode == GRAPH_CONVOLVE) {
        windows = interp_window_plan(s);
        d.windows = &windows;
        d.there = base_calloc((size_t)d.p.k + 1, sizeof *d.there);
    }
    bool ok = interp_permute(s->in[0], d.p.x_axes, &d.x, st) &&
              interp_permute(s->in[1], d.p.y_axes, &d.y, st);
    if (ok && !dtype_is_float(d.x.type))
        dot_i64(&d);
    else if (ok && id == ORDER_WRITTEN)
        ok = dot_in_tree(&d, st);
    else if (ok && id == ORDER_UNIT)
        ok = dot_in_unit(&d);
    else if (ok && is_wide(&d))
        dot_f64(&d);
    else if (ok)
        dot_f32(&d);
    tensor_release(&d.x);
    tensor_release(&d.y);
    free(d.there);
    return ok;
}
