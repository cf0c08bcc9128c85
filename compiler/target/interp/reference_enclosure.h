/* reference_enclosure.h - intervals of what may come, beside the bounds of a reference.
 *
 * A bound is a first-order term, which is infinite as soon as a domain begins, or a divisor is 0,
 * within it. The interval still knows that a square is not negative, and that a square root of what
 * is near 0 is near 0. Intervals are kept for the elements alone that a bound says too little of.
 */
#ifndef TESSERA_TARGET_INTERP_REFERENCE_ENCLOSURE_H
#define TESSERA_TARGET_INTERP_REFERENCE_ENCLOSURE_H

#include "target/interp/reference.h"

typedef struct enclosure {
    double low, high; /* every number and infinity that may come; low > high: none */
    bool nan;         /* a NaN may come. A low of +0 says that -0 may not */
} enclosure;

/* The limits that the bound alone gives. */
enclosure enclosure_of(bounded x);
/* Everything. */
enclosure enclosure_unknown(void);
/* All that either holds. */
enclosure enclosure_hull(enclosure a, enclosure b);
/* The numbers that both hold (those of `a` where they have none in common), and b's NaN. */
enclosure enclosure_meet(enclosure a, enclosure b);
bool enclosure_is_finite(enclosure x);

/* `roundings` roundings to `type`; `saturate`: what overflows becomes the greatest number. */
enclosure enclosure_rounded(enclosure x, dtype type, double roundings, bool saturate);
/* An element-wise operation on floats, before its own rounding. `same`: both operands are one
 * value. */
enclosure enclosure_operate(int opcode, const enclosure *x, bool same, dtype type);

/* A sum in any order. */
typedef struct enclosure_sum {
    double low, high, reach, count;
    bool nan, up, down, not_negative, not_positive;
} enclosure_sum;
enclosure_sum enclosure_sum_begin(void);
void enclosure_sum_add(enclosure_sum *sum, enclosure x);
/* Accumulated in `wide`, of what enclosure_sum_add had, and rounded to `result`. */
enclosure enclosure_sum_end(const enclosure_sum *sum, dtype wide, dtype result);

/* ---- of a tensor's elements ---- */

/* The kept one, else what the bound says. */
enclosure enclosure_at(const reference_value *v, int64_t i);
/* Is one kept? */
bool enclosure_kept(const reference_value *v, int64_t i);
void enclosure_keep(reference_value *v, int64_t i, enclosure x);
void enclosure_forget(reference_value *v, int64_t i);
/* Writes an element of a result, whose bound alone is `r` and whose enclosure is `e`: a bound that
 * is infinite becomes a finite one where `e` is finite and `may_bound`, and `e` is kept where it
 * says more than the bound. */
void enclosure_put(reference_value *v, int64_t i, bounded r, enclosure e, bool may_bound);
/* The interval ends and the NaN marks of `v` as three tensors of its shape, which are views;
 * `room` is the caller's to free, and NULL where `v` keeps its own. */
void enclosure_views(const reference_value *v, tensor views[3], double **room);
/* Makes room for intervals, none of which is kept. */
void enclosure_allocate(reference_value *v);

#endif
