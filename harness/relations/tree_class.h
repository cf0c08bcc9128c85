/* tree_class.h - the name of a tree of additions, from the sizes of the subtrees in which pairs of
 * its elements meet. */
#ifndef TESSERA_HARNESS_RELATIONS_TREE_CLASS_H
#define TESSERA_HARNESS_RELATIONS_TREE_CLASS_H

#include "base/text.h"
#include "probe/tree.h"

/* "sequential", "sequential, from the last", "blocks of 384", "blocks of 384, then 200, 216", "8
 * lanes, halved", "16 lanes, neighbours joined", "pairwise", "pairwise over blocks of 128 in 8
 * lanes (NumPy's)"; "of no class that has a name here". `pairs` are all that were measured to
 * recover the tree of `n` elements. */
void tree_class_of(int64_t n, const tree_pairs *pairs, text *out);

#endif
