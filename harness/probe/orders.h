/* orders.h - what `order` says about the tree in which elements are added.
 *
 * Elements i and j of an accumulation meet in one addition; the elements below it are its subtree.
 * The sizes of these subtrees, for all pairs, are the tree. */
#ifndef TESSERA_HARNESS_PROBE_ORDERS_H
#define TESSERA_HARNESS_PROBE_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

/* Size of the subtree in which i and j (i != j) of `n` elements meet. False where the order is not
 * known. */
bool order_meeting_size(const char *order, int64_t n, int64_t i, int64_t j, int64_t *size);
/* Do any two elements meet alone, whatever is between them? There is no tree of that. */
bool order_is_in_no_tree(const char *order);

#endif
