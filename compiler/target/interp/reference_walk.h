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
    status *st;
} reference_walker;

/* Runs the operations from `first` up to the last of its block, which ends it. */
bool reference_walk(reference_walker *w, ir_op first);
void reference_release(reference_value *v);
/* A branch or a loop (ops/control.h): fills w->values of the results. Where a condition could have
 * gone the other way, nothing is promised of what depends on it. */
bool reference_control(reference_walker *w, ir_op op);

#endif
