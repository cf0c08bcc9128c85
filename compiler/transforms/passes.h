/* passes.h - the passes that take derivatives and batches of functions (ops/transforms.h). They
 * change the module in place; bits are what docs/derivatives.md says. */
#ifndef TESSERA_TRANSFORMS_PASSES_H
#define TESSERA_TRANSFORMS_PASSES_H

#include "ir/ir.h"
#include "tessera/ranks.h"

/* Transforms that cannot be. */
typedef enum transform_fault_kind {
    TRANSFORM_FAULT_NONE,
    TRANSFORM_FAULT_RULE,    /* an operation has no derivative, or none in this direction */
    TRANSFORM_FAULT_SIZE,    /* ... none of dimensions that are not known */
    TRANSFORM_FAULT_INTEGER, /* a derivative would go through integers or a comparison */
    TRANSFORM_FAULT_LOOP,    /* a loop without a bound, in reverse */
    TRANSFORM_FAULT_BATCH,   /* an operation has no rule for batches */
    TRANSFORM_FAULT_SHARD    /* a value is not what a collective or a result needs */
} transform_fault_kind;
typedef struct transform_fault {
    transform_fault_kind kind;
    ir_location at; /* of the operation */
    char why[300];
} transform_fault;
/* Operations stand in the place of transforms of one kind, with those within them, or of all (-1).
 * False: one cannot be; the module is not to be used. */
bool graph_transform(ir_module *m, int opcode, transform_fault *fault);
/* Tells that the operations of a derivative in the kernel's own block read an operand's elements:
 * what is linear does not need where it is taken. False, too, where there is no derivative. */
bool graph_derivative_needs(const ir_module *m, ir_op vjp, ir_value operand);
/* Axes of the meshes of a program, at most. */
enum { SHARD_AXES_MAX = 8 };
/* Operations on the shards of one rank stand in the place of shards, and exchanges between ranks in
 * that of collectives; NULL: one rank has all. */
bool graph_shard(ir_module *m, const shard_ranks *ranks, status *st);
/* Takes out what is said of placements, where one rank has all (ops/sharding.h). */
void graph_drop_placed(ir_module *m);
/* The same as passes. The last one is behind the others: what is left are marks. */
bool graph_vmap(ir_module *m, status *st);
bool graph_jvp(ir_module *m, status *st);
bool graph_vjp(ir_module *m, status *st);
bool graph_checkpoint(ir_module *m, status *st);
/* Before the last one: of all values of checkpoints with a budget it keeps so many bytes, and gives
 * how many they are. */
int64_t graph_keep_planned(ir_module *m, int64_t bytes);

#endif
