/* tree_text.h - a tree of additions as an order of the language (docs/numerics.md, "tree"). */
#ifndef TESSERA_HARNESS_RELATIONS_TREE_TEXT_H
#define TESSERA_HARNESS_RELATIONS_TREE_TEXT_H

#include "base/text.h"
#include "probe/tree.h"

/* The branch of an addition that is an element and taken by the other one's chain as it is, its
 * product not rounded before: none, the left or the right one; of two elements either, where the
 * bits are the same. */
enum { TREE_NONE = -1, TREE_LEFT, TREE_RIGHT, TREE_EITHER };

/* ... of an addition where no product is rounded. */
signed char tree_join(const tree_node *n);

/* Appends "tree(...)". `joins` has one for each addition; `dot`: products are added. A chain goes
 * to the larger branch, so that parentheses are nested no deeper than the logarithm of the number
 * of elements; elements with equal steps are a range. */
void tree_text(const tree_nodes *nodes, const signed char *joins, bool dot, text *out);

#endif
