/* interp_walk.h - the interpreter's walk over a kernel, for the files that walk blocks of it. */
#ifndef TESSERA_TARGET_INTERP_INTERP_WALK_H
#define TESSERA_TARGET_INTERP_INTERP_WALK_H

#include "target/interp/interp.h"

typedef struct interpreter {
    const ir_module *m;
    tensor *values;         /* by value id */
    uint32_t *uses;         /* left */
    const uint32_t *counts; /* uses of a value in its block */
    status *st;
} interpreter;

/* Runs the operations from `first` up to the last of its block, which ends it. */
bool interp_run(interpreter *in, ir_op first);
/* A branch or a loop (ops/control.h): fills in->values of the results. */
bool interp_control(interpreter *in, ir_op op);

#endif
