/* tree_order.h - an order of accumulation that is written out as a tree of additions:
 *
 *   order := "tree(" ["rounded:"] chain ")"
 *   chain := term {"+" term}
 *   term  := FIRST [":" STOP [":" STEP]]       elements, as range(FIRST, STOP, STEP) counts them
 *          | "(" chain ")"                     the result of a chain of its own
 *
 * A chain is one accumulator that begins as +0 and takes its terms from the left: an element of a
 * contraction by fma (a product that is rounded first is a chain of one, or `rounded:` says it of
 * all), an element of a sum and the result of another chain by an addition. Spaces mean nothing.
 * docs/numerics.md, "tree". */
#ifndef TESSERA_OPS_TREE_ORDER_H
#define TESSERA_OPS_TREE_ORDER_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/vec.h"
#include "ir/limits.h"

/* From the left: a chain begins, elements are taken, a chain ends and is added to the one around
 * it. */
typedef enum tree_step_kind { TREE_BEGIN, TREE_TAKE, TREE_END } tree_step_kind;
typedef struct tree_step {
    tree_step_kind kind;
    int64_t first, count, step; /* of TREE_TAKE */
} tree_step;

typedef struct tree_order {
    VEC(tree_step) steps; /* the outermost chain is not among them */
    bool rounded;         /* products are, before they are added */
    int depth;            /* accumulators that are live at once */
} tree_order;

/* Does a word name an order of this kind, well written or not? */
bool tree_order_is(const char *order);
/* False where it is not well written: the message says what and at which letter. Each number is of
 * 31 bits. The caller releases `out` in any case. */
bool tree_order_parse(const char *order, tree_order *out, status *st);
void tree_order_release(tree_order *t);
/* Checks that it takes each of 0 ... n - 1 once, and nothing else. */
bool tree_order_covers(const tree_order *t, int64_t n, status *st);
/* The same without spaces, as it stands in Graph IR. */
void tree_order_canonical(const char *order, text *out);

#endif
