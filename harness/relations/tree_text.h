/* tree_text.h - a tree of additions as an order of the language (docs/numerics.md, "tree"). */
#ifndef TESSERA_HARNESS_RELATIONS_TREE_TEXT_H
#define TESSERA_HARNESS_RELATIONS_TREE_TEXT_H

#include "base/text.h"
#include "probe/tree.h"

/* Appends "tree(...)". `joins` as of summing_joins, one for each addition; `dot`: products are
 * added. A chain goes to the larger branch, so that parentheses are nested no deeper than the
 * logarithm of the number of elements; elements with equal steps are a range. */
void tree_text(const tree_nodes *nodes, const signed char *joins, bool dot, text *out);

#endif
