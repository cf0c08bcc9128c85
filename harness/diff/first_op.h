/* first_op.h - the first operation of a kernel whose result differs between two ways to run it.
 *
 * For an operation of the kernel's primitives (composites replaced), a graph that returns its
 * result is run on both sides and the bits are compared: in program order up to 64 operations,
 * beyond that by bisection, which assumes that a difference once made stays. Each such graph is
 * compiled by itself, so a mistake of several operations compiled together may show only in the
 * kernel's own outputs; then the operation that makes the output is named. */
#ifndef TESSERA_HARNESS_DIFF_FIRST_OP_H
#define TESSERA_HARNESS_DIFF_FIRST_OP_H

#include "diff/compute.h"
#include "diff/elements.h"

enum { FIRST_OP_IN_ORDER = 64 };

typedef struct first_op {
    bool found;
    bool whole; /* only the kernel's own outputs differ, no prefix of it */
    bool bisected;
    uint32_t result;              /* of the operation, where it has several */
    uint32_t number;              /* %NUMBER in tsr compile --emit-after decompose */
    char name[64];                /* "tessera.exp" */
    uint32_t line, column;        /* in the kernel's source; 0: not known */
    uint32_t operations, unknown; /* all; and those that a side could not run */
    char why_unknown[256];        /* of the first of them */
    dtype type;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    element_diff found_diff;
    /* The f64 reference on the first element that differs: its value, how far from it any order and
     * function may be, and how far the sides are, in bounds. */
    bool has_exact;
    double exact, bound, a_error, b_error;
} first_op;

/* `a` and `b` ask for the kernel itself and differ in `how`. The kernel's own outputs are given, so
 * that what was done to them (a fault on purpose) is seen. The exact value is looked for where the
 * reference is not too much work: `exact`. False where nothing could be looked at;
 * compiler_primitives failed. */
bool first_op_find(const compute_request *a, const compute_request *b, const tensor *a_outputs,
                   const tensor *b_outputs, bool exact, first_op *out, status *st);

#endif
