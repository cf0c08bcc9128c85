/* interp_walk.h - the interpreter's walk over a kernel, for the files that walk blocks of it. */
#ifndef TESSERA_TARGET_INTERP_INTERP_WALK_H
#define TESSERA_TARGET_INTERP_INTERP_WALK_H

#include "target/interp/interp.h"

typedef struct interp_meeting interp_meeting;

typedef struct interpreter {
    const ir_module *m;
    tensor *values;            /* by value id */
    uint32_t *uses;            /* left */
    const uint32_t *counts;    /* uses of a value in its block */
    const interp_watch *watch; /* or NULL */
    int64_t lanes;             /* 0; else a block of scalars is run, on so many of each at once */
    interp_meeting *meeting;   /* of several ranks, of which this is `rank`; or NULL */
    uint32_t rank;
    status *st;
} interpreter;

/* Runs the operations from `first` up to the last of its block, which ends it. */
bool interp_run(interpreter *in, ir_op first);
/* Runs a block on arguments that it borrows, and copies what it ends in to `out`. */
bool interp_run_block(interpreter *in, ir_block id, const tensor *arguments, tensor *out);
/* The values of a turn become those of the next; copies of values. */
void interp_take_over(tensor *values, tensor *next, uint32_t count);
bool interp_copy_all(const tensor *from, tensor *to, uint32_t count, status *st);
/* An operation with blocks (ops/control.h): fills in->values of the results. */
bool interp_control(interpreter *in, ir_op op);
/* Likewise a fold (ops/fold.h), which is no loop to an onlooker: passes make it. */
bool interp_folded(interpreter *in, ir_op op);
/* Likewise a call, of a function beside the kernel. */
bool interp_call(interpreter *in, ir_op op);
/* Likewise rows that ranks send each other. */
bool interp_exchange(interpreter *in, ir_op op);
/* Parameters: interp_module's, and the rank among others that it is of. */
bool interp_module_of(const ir_module *m, interp_meeting *meeting, uint32_t rank,
                      const tensor *inputs, tensor *outputs, status *st);
/* The results of a fold. */
bool interp_fold(interpreter *in, ir_op op, const tensor *operands, tensor *results);
/* The results of a combiner (ops/combine.h). */
bool interp_combine(interpreter *in, ir_op op, const tensor *operands, tensor *results);

#endif
