/* interp_matrix_unit.c - contractions as a matrix unit computes them (chip/matrix_unit.h): k in
 * ascending order, an instruction's products at a time, the last ones padded with zeros; the first
 * accumulator is +0, each other one what the instruction before it returned. */
#include "target/interp/interp_matrix_unit.h"

#include <stdlib.h>

#include "base/arena.h"
#include "ops/unit_order.h"

/* Columns that are taken apart at once. */
enum { PANEL = 32 };

typedef struct unit_walk {
    const interp_unit_job *job;
    const binary_format *format; /* of the factors */
    int64_t batch, first;        /* columns first .. first + columns - 1 */
    int64_t columns;
    matrix_factors *panel; /* PANEL columns, then a row */
    uint64_t *sums;        /* of each row, PANEL accumulators */
} unit_walk;

/* Elements at, at + stride, ...: `count` of them, then zeros to a whole instruction. */
static void take(const unit_walk *w, const tensor *t, int64_t at, int64_t stride, int64_t count,
                 matrix_factors *out) {
    const matrix_unit *unit = w->job->unit;
    uint64_t codes[MATRIX_UNIT_MAX_K] = {0};
    for (int64_t k = 0; k < count; k++)
        codes[k] = dtype_load_bits(t->type, t->data, (size_t)(at + k * stride));
    int64_t whole = (count + unit->k - 1) / unit->k * unit->k;
    matrix_factors_decode(out, unit, w->format, codes, (size_t)whole);
}

/* Products k .. k + count - 1 of all rows and the panel's columns. */
static void add_products(unit_walk *w, int64_t k, int64_t count) {
    const interp_unit_job *job = w->job;
    const dot_plan *p = job->plan;
    matrix_factors *row = w->panel + PANEL;
    for (int64_t j = 0; j < w->columns; j++)
        take(w, job->y, (w->batch * p->k + k) * p->n + w->first + j, p->n, count, &w->panel[j]);
    for (int64_t m = 0; m < p->m; m++) {
        uint64_t *sums = w->sums + m * PANEL;
        take(w, job->x, (w->batch * p->m + m) * p->k + k, 1, count, row);
        for (int64_t j = 0; j < w->columns; j++)
            sums[j] = matrix_unit_dot(job->unit, row, &w->panel[j], sums[j]);
    }
}

static void store_sums(const unit_walk *w) {
    const dot_plan *p = w->job->plan;
    for (int64_t m = 0; m < p->m; m++) {
        double values[PANEL];
        for (int64_t j = 0; j < w->columns; j++)
            values[j] = binary_value(w->job->unit->accumulator, w->sums[m * PANEL + j]);
        interp_store_f64(w->job->out, (w->batch * p->m + m) * p->n + w->first, w->columns, values);
    }
}

void interp_unit_dot(const interp_unit_job *job) {
    const dot_plan *p = job->plan;
    int64_t span = (int64_t)matrix_unit_span(job->unit);
    unit_walk w = {.job = job, .format = unit_order_format(job->x->type)};
    w.panel = base_malloc(sizeof *w.panel * (PANEL + 1));
    w.sums = base_malloc(sizeof *w.sums * PANEL * (size_t)(p->m + 1));
    for (w.batch = 0; w.batch < p->batch; w.batch++)
        for (w.first = 0; w.first < p->n; w.first += PANEL) {
            w.columns = p->n - w.first < PANEL ? p->n - w.first : PANEL;
            for (int64_t i = 0; i < p->m * PANEL; i++)
                w.sums[i] = 0;
            for (int64_t k = 0; k < p->k; k += span)
                add_products(&w, k, p->k - k < span ? p->k - k : span);
            store_sums(&w);
        }
    free(w.sums);
    free(w.panel);
}
