/* interp_tree.c - sums and contractions in a written tree: the steps of the text one after the
 * other, on a stack of accumulators.
 *
 * A contraction goes by panels of 64 columns, as in interp_dot.c, so that one step is a loop over
 * columns; each element still has its own tree. */
#include "target/interp/interp_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { PANEL = 64 };

#define ALWAYS static inline __attribute__((always_inline))

/* ---- sums ---- */

#define TREE_SUM(T, suffix)                                                                        \
    T interp_tree_sum_##suffix(const tree_order *t, const T *x) {                                  \
        T stack[LIMIT_ORDER_DEPTH + 1] = {0};                                                      \
        T *acc = stack;                                                                            \
        for (size_t i = 0; i < t->steps.count; i++) {                                              \
            const tree_step *s = &t->steps.items[i];                                               \
            if (s->kind == TREE_BEGIN) {                                                           \
                *++acc = 0;                                                                        \
            } else if (s->kind == TREE_END) {                                                      \
                acc--;                                                                             \
                acc[0] = acc[0] + acc[1];                                                          \
            } else {                                                                               \
                for (int64_t k = 0, e = s->first; k < s->count; k++, e += s->step)                 \
                    *acc += x[e];                                                                  \
            }                                                                                      \
        }                                                                                          \
        return stack[0] + 0;                                                                       \
    }
TREE_SUM(float, f32)
TREE_SUM(double, f64)

/* ---- contractions: one row of x by one panel of y ---- */

#define TREE_ROW(T, suffix, fma)                                                                   \
    ALWAYS void take_##suffix(const tree_step *s, bool rounded, const T *x, const T *panel,        \
                              T *acc) {                                                            \
        for (int64_t k = 0, e = s->first; k < s->count; k++, e += s->step)                         \
            for (int j = 0; j < PANEL; j++)                                                        \
                acc[j] = rounded ? acc[j] + x[e] * panel[e * PANEL + j]                            \
                                 : fma(x[e], panel[e * PANEL + j], acc[j]);                        \
    }                                                                                              \
                                                                                                   \
    ALWAYS void row_##suffix(const tree_order *t, const T *x, const T *panel, T *stack) {          \
        T *acc = stack;                                                                            \
        memset(acc, 0, PANEL * sizeof *acc);                                                       \
        for (size_t i = 0; i < t->steps.count; i++) {                                              \
            const tree_step *s = &t->steps.items[i];                                               \
            if (s->kind == TREE_TAKE) {                                                            \
                take_##suffix(s, t->rounded, x, panel, acc);                                       \
            } else if (s->kind == TREE_BEGIN) {                                                    \
                acc += PANEL;                                                                      \
                memset(acc, 0, PANEL * sizeof *acc);                                               \
            } else {                                                                               \
                acc -= PANEL;                                                                      \
                for (int j = 0; j < PANEL; j++)                                                    \
                    acc[j] = acc[j] + acc[PANEL + j];                                              \
            }                                                                                      \
        }                                                                                          \
        for (int j = 0; j < PANEL; j++)                                                            \
            stack[j] = stack[j] + 0;                                                               \
    }
TREE_ROW(float, f32, __builtin_fmaf)
TREE_ROW(double, f64, __builtin_fma)

typedef void (*row_f32_fn)(const tree_order *t, const float *x, const float *panel, float *stack);
typedef void (*row_f64_fn)(const tree_order *t, const double *x, const double *panel,
                           double *stack);

static void row_f32_plain(const tree_order *t, const float *x, const float *panel, float *stack) {
    row_f32(t, x, panel, stack);
}

static void row_f64_plain(const tree_order *t, const double *x, const double *panel,
                          double *stack) {
    row_f64(t, x, panel, stack);
}

#if defined(__x86_64__)
/* The same lines, compiled with hardware fma: the same bits. */
__attribute__((target("avx2,fma"))) static void row_f32_fma(const tree_order *t, const float *x,
                                                            const float *panel, float *stack) {
    row_f32(t, x, panel, stack);
}

__attribute__((target("avx2,fma"))) static void row_f64_fma(const tree_order *t, const double *x,
                                                            const double *panel, double *stack) {
    row_f64(t, x, panel, stack);
}

static bool has_fma(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define row_f32_fma row_f32_plain
#define row_f64_fma row_f64_plain
static bool has_fma(void) {
    return false;
}
#endif

/* Columns that are absent are 0 in the panel; only sums that are not stored see those. */
#define TREE_DOT(T, suffix)                                                                        \
    static void pack_##suffix(const interp_tree_job *d, int64_t b, int64_t first, T *panel) {      \
        const dot_plan *p = d->plan;                                                               \
        int64_t n = p->n - first < PANEL ? p->n - first : PANEL;                                   \
        memset(panel, 0, sizeof *panel *PANEL *(size_t)p->k);                                      \
        for (int64_t k = 0; k < p->k; k++)                                                         \
            interp_load_##suffix(d->y, (b * p->k + k) * p->n + first, n, panel + k * PANEL);       \
    }                                                                                              \
                                                                                                   \
    void interp_tree_dot_##suffix(const interp_tree_job *d) {                                      \
        const dot_plan *p = d->plan;                                                               \
        row_##suffix##_fn one = has_fma() ? row_##suffix##_fma : row_##suffix##_plain;             \
        T *panel = base_malloc(sizeof *panel * (PANEL + 1) * (size_t)(p->k + 1)),                  \
          *row = panel + PANEL * p->k,                                                             \
          *stack = base_malloc(sizeof *stack * PANEL * (size_t)d->tree->depth);                    \
        for (int64_t b = 0; b < p->batch; b++)                                                     \
            for (int64_t first = 0; first < p->n; first += PANEL) {                                \
                int64_t n = p->n - first < PANEL ? p->n - first : PANEL;                           \
                pack_##suffix(d, b, first, panel);                                                 \
                for (int64_t m = b * p->m; m < (b + 1) * p->m; m++) {                              \
                    interp_load_##suffix(d->x, m * p->k, p->k, row);                               \
                    one(d->tree, row, panel, stack);                                               \
                    interp_store_##suffix(d->out, m * p->n + first, n, stack);                     \
                }                                                                                  \
            }                                                                                      \
        free(stack);                                                                               \
        free(panel);                                                                               \
    }
TREE_DOT(float, f32)
TREE_DOT(double, f64)

/* ---- the order of a step ---- */

bool interp_tree_open(const interp_step *s, int64_t extent, tree_order *tree, status *st) {
    status why = STATUS_INIT;
    bool sum = s->opcode == GRAPH_REDUCE;
    bool ok = tree_order_parse(interp_text(s, "order"), tree, &why) &&
              tree_order_covers(tree, extent, &why);
    if (ok && sum && tree->rounded)
        ok = status_set(&why, STATUS_INVALID,
                        "'rounded:' is about products, and a sum has none: leave it out");
    return ok || status_set(st, STATUS_INVALID, "line %u: %s",
                            ir_op_get(s->m, s->op)->location.line, why.message);
}
