/* transforms.h - functions of functions that give functions: grad, value_and_grad, vmap and their
 * like (ops/transforms.h). */
#ifndef TESSERA_CHECK_TRANSFORMS_H
#define TESSERA_CHECK_TRANSFORMS_H

#include "check/regions.h"

typedef enum transform_kind {
    TRANSFORM_GRAD,
    TRANSFORM_VALUE_AND_GRAD,
    TRANSFORM_JACFWD,
    TRANSFORM_JACREV,
    TRANSFORM_VMAP,
    TRANSFORM_SHARD,
    TRANSFORM_CHECKPOINT,
    TRANSFORM_PULLBACK /* of vjp(): takes cotangents */
} transform_kind;

/* A function that was made of another one. */
typedef struct transformed {
    transform_kind kind;
    entity of;
    entity which; /* argnums, in_axes or in_specs */
    entity out;  /* vmap: out_axes; shard_map: out_specs; a pullback: the results of the function */
    entity mesh; /* shard_map */
    uint32_t level;   /* ... the axis of it that comes next */
    const char *axis; /* pmap: its name; NULL: a vmap */
    bool has_aux;
    const char *keep;      /* checkpoint */
    call_arguments *given; /* a pullback: what the function was given */
} transformed;

/* Told where a checkpoint is asked to keep something else. */
extern const char checkpoint_choices[];
/* The word of the operation for what was asked for: a budget, or what is kept; a number, or words
 * (NULL: it is none). "": there is no such choice. */
const char *checkpoint_word(arena *memory, bool budget, const int64_t *number, const char *words);
/* A call of it. */
entity transform_call(checker *c, const entity *f, const node *n);
/* ... of vmap(f), and of jacfwd(f) and jacrev(f) (transform_batch.c). */
entity transform_call_vmap(checker *c, const transformed *t, call_arguments *given);
/* The axis `from` of a tensor becomes its axis `to`. */
entity transform_moved(checker *c, const entity *x, int64_t from, int64_t to, span at);
entity transform_call_shard(checker *c, const transformed *t, call_arguments *given);
entity transform_call_jacobian(checker *c, const transformed *t, call_arguments *given);

/* ---- a function in a block of its own (transform_block.c) ---- */

/* A function with what it is given, of which tensors come into the block as its arguments, and what
 * else it is given is the same there. */
typedef struct applied {
    checker *c;
    entity f;
    int plain;  /* of a function with rules of its own: as checker.plain_level; 0: with them */
    bool ruled; /* the operation has another block, for the rule, */
    const value_list *rule; /* ... which makes these */
    call_arguments *given;  /* outside */
    span at;
    region_draft draft;
    bool batched;                    /* vmap: */
    ir_dim sliced_count;             /* the length of axis 0 */
    bool sliced[CALL_MAX_ARGUMENTS]; /* by argument: it is a part of axis 0 there */
    /* Filled: */
    entity_list tensors;                 /* outside, in the order of the block's arguments */
    uint32_t first[CALL_MAX_ARGUMENTS];  /* by argument: its first one of these, */
    uint32_t behind[CALL_MAX_ARGUMENTS]; /* ... and the one behind its last */
    entity result;                       /* inside */
    entity_list made;                    /* its tensors */
    value_list next;                     /* ... for the block's end */
    type_list results;
    uint32_t seen; /* results of the operation behind these: values that something looks at */
} applied;

/* Arguments of a call of the function, placed by the names of its parameters; NULL when reported.
 */
call_arguments *applied_arguments(checker *c, const entity *f, const node *n);
/* Builds the block; false when reported. */
bool applied_begin(applied *a);
/* The operation in its place, with operands before the tensors and results behind the function's.
 * 0 when reported. */
typedef struct applied_request {
    int opcode;
    const value_list *before;
    const type_list *behind;
    const ir_named_attr *attrs;
    uint32_t attr_count;
} applied_request;
ir_op applied_build(applied *a, const applied_request *q);
/* The block, which was begun, as a checkpoint's: its result. */
entity applied_checkpoint(applied *a, const char *keep);
void applied_release(applied *a);
/* A call of values by place, whose names no source has; its callee is not yet there. */
node *applied_node(checker *c, const entity *values, uint32_t count, span at);
/* f(...) of values in the block that is written, by place. */
entity applied_call(checker *c, const entity *f, const entity *values, uint32_t count, span at);
/* The result outside, of the operation's results from `*next` on, which is moved. */
entity applied_result(applied *a, const entity *like, const ir_value **next);

#endif
