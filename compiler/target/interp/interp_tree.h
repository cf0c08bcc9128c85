/* interp_tree.h - sums and contractions in a written tree (ops/tree_order.h). */
#ifndef TESSERA_TARGET_INTERP_INTERP_TREE_H
#define TESSERA_TARGET_INTERP_INTERP_TREE_H

#include "ops/tree_order.h"
#include "target/interp/interp.h"

/* The tree that the step's order says, of `extent` elements: each once. The caller releases it in
 * any case. */
bool interp_tree_open(const interp_step *s, int64_t extent, tree_order *tree, status *st);

float interp_tree_sum_f32(const tree_order *t, const float *x);
double interp_tree_sum_f64(const tree_order *t, const double *x);

/* A contraction whose sides are permuted as the plan says. */
typedef struct interp_tree_job {
    const tree_order *tree;
    const dot_plan *plan;
    const tensor *x, *y;
    tensor *out;
} interp_tree_job;
void interp_tree_dot_f32(const interp_tree_job *d);
void interp_tree_dot_f64(const interp_tree_job *d);

#endif
