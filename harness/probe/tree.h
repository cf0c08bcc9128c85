/* tree.h - recovers the tree of an accumulation from the sizes of subtrees in which pairs of its
 * elements meet, after FPRev (Xie, Gao and others, "FPRev: Revealing Floating-Point Accumulation
 * Orders", USENIX ATC 2025).
 *
 * The meetings of one element with all others of a set are a path: those with equal sizes come in
 * through one addition. Each such group is a set of its own, one level further down. A pair costs a
 * measurement; a chain of n takes n - 1, a balanced tree about n log n. */
#ifndef TESSERA_HARNESS_PROBE_TREE_H
#define TESSERA_HARNESS_PROBE_TREE_H

#include "base/sha256.h"
#include "base/status.h"
#include "base/vec.h"

typedef struct tree_pair {
    int32_t i, j;
    int64_t size; /* out: of the subtree in which they meet */
} tree_pair;
typedef VEC(tree_pair) tree_pairs;

/* Measures all pairs at once. */
typedef bool (*tree_measure_fn)(void *context, tree_pair *pairs, size_t count, status *st);

/* An addition. A branch is the number of another one, which comes before it, or ~e for element e.
 * The last one is the whole sum; one element has none. */
typedef struct tree_node {
    int32_t left, right;
    int64_t size; /* elements below it */
} tree_node;
typedef VEC(tree_node) tree_nodes;

/* The digest of the tree of `n` elements, independent of the order in which its branches were
 * found; and the tree itself (`nodes` NULL: it is not kept; the caller releases it). False where
 * measuring failed, or where what was measured is no tree (STATUS_INVALID). */
bool tree_recover(int32_t n, tree_measure_fn measure, void *context, tree_nodes *nodes,
                  sha256 *digest, status *st);

#endif
