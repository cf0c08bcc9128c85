/* reference_walk.h - the walk of compiler_reference over a kernel, for the files that walk blocks
 * of it. */
#ifndef TESSERA_TARGET_INTERP_REFERENCE_WALK_H
#define TESSERA_TARGET_INTERP_REFERENCE_WALK_H

#include "target/interp/reference.h"
#include "tessera/compiler.h"

typedef struct reference_walker {
    const ir_module *m;
    reference_value *values; /* by value id */
    uint32_t *uses;          /* left */
    const uint32_t *counts;  /* uses of a value in its block */
    bool whole;           /* no fraction so far, and nothing beyond what its type holds exactly */
    const tensor *strict; /* by value id, what the interpreter has; NULL: nothing is looked for */
    compiler_escape *escape;
    bool any_floats; /* inputs are any finite numbers */
    bool *safe;      /* see compiler_references; or NULL */
    int64_t lanes;   /* 0; else a block of scalars is run, on so many of each at once */
    status *st;
} reference_walker;

/* Runs the operations from `first` up to the last of its block, which ends it. */
bool reference_walk(reference_walker *w, ir_op first);
void reference_release(reference_value *v);
void reference_release_all(reference_value *list, uint32_t count);
/* Runs a block on arguments that it borrows, and copies what it ends in to `out`. */
bool reference_run_block(reference_walker *w, ir_block id, const reference_value *arguments,
                         reference_value *out);
/* An operation with blocks (ops/control.h): fills w->values of the results. Where a condition could
 * have gone the other way, nothing is promised of what depends on it. */
bool reference_control(reference_walker *w, ir_op op);

/* The values that one of them runs on. */
typedef struct control_values {
    const ir_op_data *d;
    ir_op op;
    reference_value *operands; /* borrowed */
    reference_value *results;
    bool sure; /* becomes false where a condition could have been the other */
} control_values;
/* A combiner (ops/combine.h). */
bool reference_combine(reference_walker *w, control_values *c);

/* Elements from `first` on of `from`, to those from `at` on of `to`. */
void reference_copy(const reference_value *from, int64_t first, reference_value *to, int64_t at,
                    int64_t count);
/* Room for values like those of `like`, in another shape. */
bool reference_allocate(const tensor *like, int rank, const int64_t *dims, reference_value *to,
                        status *st);

#endif
