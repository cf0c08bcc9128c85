/* transforms.h - transforms of functions: tessera.jvp, tessera.vjp, tessera.vmap,
 * tessera.checkpoint, and functions with a derivative of their own, tessera.custom_vjp and
 * tessera.custom_jvp.
 *
 * They hold the function as a block, like branches and loops (control.h); transforms/ puts
 * operations in their place, before any pass that looks at operations. */
#ifndef TESSERA_OPS_TRANSFORMS_H
#define TESSERA_OPS_TRANSFORMS_H

#include "ops/graph.h"

bool transform_is_one(int opcode);
/* Puts the first block's operations, which read the operands, in the operation's place. */
void transform_open(ir_module *m, ir_op op);

/* Numbers of a derivative. */
typedef struct transform_shape {
    const ir_value *values; /* that the first block takes; in a jvp, the tangents are before them */
    uint32_t value_count, result_count; /* ... and makes */
    const int64_t *wrt, *of;            /* in the module's arena */
    uint32_t wrt_count, of_count;
    uint32_t sliced; /* of a vmap */
    ir_dim count;    /* ... its parts */
} transform_shape;
/* The operation has been verified. */
transform_shape transform_shape_of(const ir_module *m, ir_op op);
/* Is a result of a tessera.shard the same for each shard? */
bool transform_is_whole(const ir_module *m, ir_op op, uint32_t result);
bool transform_verify(const ir_module *m, ir_op op, status *st);

/* Marks of operations (ir_location): a number of its own for each checkpoint that was opened, with
 * what it keeps of its values for a derivative. Equal operations with different marks stay two. */
typedef enum checkpoint_keep {
    CHECKPOINT_NOTHING,
    CHECKPOINT_DOTS,
    CHECKPOINT_EVERYTHING,
    CHECKPOINT_PLANNED, /* nothing, but for what is worth most of the module's planned values */
    CHECKPOINT_ANEW,    /* of no checkpoint: computed anew on purpose */
    CHECKPOINT_KEEPS
} checkpoint_keep;
/* The one of a word in sources and graphs; CHECKPOINT_ANEW: there is none such. A number of bytes
 * is CHECKPOINT_NOTHING, but for what is worth most of these. */
checkpoint_keep checkpoint_keep_named(const char *word);
/* The bytes that a word is the number of; -1: it is none. */
int64_t checkpoint_budget(const char *word);
/* The budget of a word "budget:BYTES", of CHECKPOINT_PLANNED: the room that a program may be
 * planned for; -1: it is none. */
int64_t checkpoint_room(const char *word);
/* The least budget of the module's checkpoints, and whose it is; -1: there is none. */
int64_t checkpoint_least_room(const ir_module *m, ir_op *checkpoint);
uint32_t checkpoint_number(const ir_module *m, checkpoint_keep keep);
static inline checkpoint_keep checkpoint_keep_of(uint32_t mark) {
    return (checkpoint_keep)(mark % CHECKPOINT_KEEPS);
}
/* A mark of the same checkpoint, for what is kept otherwise. */
static inline uint32_t checkpoint_again(uint32_t mark, checkpoint_keep keep) {
    return mark - mark % CHECKPOINT_KEEPS + keep;
}
/* Does a derivative compute the operation, a part of a checkpoint, again? */
bool checkpoint_drops(const ir_module *m, ir_op op);
static inline bool checkpoint_is_same(uint32_t a, uint32_t b) {
    return a / CHECKPOINT_KEEPS == b / CHECKPOINT_KEEPS;
}

/* Has it tangents? A float of any shape does. */
bool transform_is_float(const ir_module *m, ir_value v);
/* Numbers of those of `count` values that are floats; returns how many. */
uint32_t transform_floats(const ir_module *m, const ir_value *values, uint32_t count, int64_t *out);

#endif
