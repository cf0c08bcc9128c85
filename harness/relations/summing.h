/* summing.h - a function that is one sum, or one contraction, asked by runs: the tree of its
 * additions, how it multiplies, in what it adds. */
#ifndef TESSERA_HARNESS_RELATIONS_SUMMING_H
#define TESSERA_HARNESS_RELATIONS_SUMMING_H

#include "probe/tree.h"
#include "relations/runner.h"
#include "relations/tree_text.h"

enum { SUMMING_NOTHING = -1 };

/* Numbers of a type that show a tree: whatever is added to a mask is lost. */
typedef struct summing_numbers {
    double unit, mask;
    double great, small; /* f32 does not hold both of them in one number */
    double factor;       /* its square has one bit more than a product that is rounded; 0: no
                            product of such numbers is rounded */
} summing_numbers;

typedef struct summing {
    const relations_request *request;
    runner *runner;
    uint64_t end_ns;
    compiler_cut cut;
    shape shape;
    summing_numbers numbers;
    uint32_t threads;
    bool every;       /* all results are looked at, and must be equal; else the first alone */
    tree_pairs pairs; /* all that were measured for the tree in hand */
    tree_nodes nodes; /* that tree */
    bool mirrored; /* elements are counted from the last one: such chains cost n pairs then, not n *
                      n; `pairs` and the tree are counted from the first */
} summing;

/* A tree, and what it is told by. */
typedef struct found_tree {
    char digest[65];
    text name;
} found_tree;

void summing_open(summing *s, const relations_request *request);
void summing_close(summing *s);

/* Gives what is summed over many elements, and each batch one position; `batch` says which are. */
bool summing_dims(const relations_request *request, const compiler_case *like, int64_t *dims,
                  bool *batch, status *st);
/* ... or so many that all together are no more than the most of two. */
int64_t summing_positions_most(const bool *batch, uint32_t dims);
enum { SUMMING_POSITIONS = 256 };
/* The first case that is not large; NULL: there is none. */
const compiler_case *summing_case(const relations_request *request, status *st);

/* A shape; `dims` NULL: that of the case. STATUS_UNAVAILABLE: it is no single sum there. */
bool summing_shape(summing *s, const compiler_case *like, const int64_t *dims, status *st);
/* The tree at the shape in hand. */
bool summing_recover(summing *s, found_tree *out, status *st);
/* 1: products are not rounded before they are added; 0: they are; SUMMING_NOTHING: it cannot be
 * told. */
int summing_fused(summing *s);
/* "f32", "wider", or NULL: it cannot be told. */
const char *summing_accumulator(summing *s);

/* For each addition of the tree in hand, which of its branches is an element that is taken as it
 * is (tree_text.h). `exact`: no product is rounded. */
bool summing_joins(summing *s, bool exact, signed char *joins, status *st);

#endif
