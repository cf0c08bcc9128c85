/* batches.h - a block of tessera.vmap that becomes operations on all parts, from the inside.
 *
 * First it is known which of its values differ from part to part (batch_flow.c), and then its
 * operations are built anew: plain ones by their rules (vmap.c, ops/batching), those with blocks
 * with blocks that were built anew (batch_control.c, batch_combine.c). */
#ifndef TESSERA_TRANSFORMS_BATCHES_H
#define TESSERA_TRANSFORMS_BATCHES_H

#include "ops/batching/batching.h"
#include "transforms/engine.h"

/* The shards of an axis that one rank has: so many from `first` on, of `total`. */
typedef struct shard_axis {
    const char *name;
    ir_dim total;
    int64_t first;
    uint32_t rank_count;   /* 1: this one has all */
    uint32_t own;          /* the number of this one along the axis */
    const int64_t *group;  /* ranks along the axis that share the other coordinates */
    int64_t whole_bytes;   /* of a sum of which each rank adds all, the most; -1: the usual */
    int64_t bucket_bytes;  /* of sums that are sent together, the most */
    const int64_t *starts; /* by rank along the axis, its first shard; then the total */
} shard_axis;

/* Sums that are sent together, in the order in which they are made. */
typedef struct sum_bucket {
    VEC(ir_op) sums;
    int64_t bytes;
} sum_bucket;

typedef struct batching {
    transforming *t;
    ir_module *m;
    ir_builder b;           /* where operations are built */
    ir_dim count;           /* parts */
    bool alike;             /* all parts draw the same random numbers */
    ir_op whole;            /* the operation that becomes these */
    const shard_axis *axis; /* of a tessera.shard; NULL: of a tessera.vmap */
    /* Two tables by value of the block, and of blocks in it. */
    value_table stands;    /* what stands for it */
    value_table batched;   /* is it another one for each part? Then that has the parts on axis 0. */
    value_table bucket_of; /* by result of a sum: 1 + the number of its bucket; 0: it has none */
    VEC(sum_bucket) buckets;
    value_table in_parts; /* by result of a sum: each rank makes its part of it alone */
} batching;

static inline bool batch_differs(const batching *s, ir_value v) {
    return value_table_get(&s->batched, v) != 0;
}
bool batch_any(const batching *s, const ir_value *values, uint32_t count);
/* batch_draw.c: does the operation draw random numbers, other ones for each part? */
bool batch_draws(const batching *s, ir_op op);
/* A draw whose step is the same for each part: of another step each. */
ir_value batch_draw(batching *s, ir_op op);

/* Finds the values of a block that differ, of those of its arguments that do. */
void batch_flow(batching *s, ir_block block);
void batch_flow_op(batching *s, ir_op op);

/* The stand-in of a value: as it is, for all parts, or for all parts where `batched`. */
static inline ir_value batch_stand(const batching *s, ir_value v) {
    return value_table_get(&s->stands, v);
}
ir_value batch_all(batching *s, ir_value v);
ir_value batch_as(batching *s, ir_value v, bool batched);
void batch_set(batching *s, ir_value v, ir_value stand);
/* The type of what stands for a value where it is batched, or is not. */
ir_type batch_type(const batching *s, ir_value v, bool batched);
/* In the module's arena. */
ir_value *batch_room(const batching *s, uint32_t count);

/* The same operation, with the same operands for each part. */
void batch_copy(batching *s, ir_op op);
/* Builds the operations of a block, for whose arguments something stands, but for its end. */
bool batch_block(batching *s, ir_block block);
/* The whole, for whose arguments something stands; `result` says what stands for each result of the
 * operation, which goes. */
bool batch_expand(batching *s, ir_op op, bool (*result)(batching *s, uint32_t i, ir_value *out));
/* An operation with blocks, of operands of which one differs. */
bool batch_control(batching *s, ir_op op);
void batch_combiner(batching *s, ir_op op);

/* ---- collectives (collective.c) ---- */

/* Is it a collective over the axis of the parts? */
bool batch_is_collective(const batching *s, ir_op op);
/* ... or is there one in its blocks? */
bool batch_has_collectives(const batching *s, ir_op op);
/* Does its result differ from shard to shard? */
bool batch_collective_differs(const batching *s, ir_op op);
bool batch_collective(batching *s, ir_op op);

/* ---- buckets.c ---- */

/* Moves the sums of a block, of which is known what differs, and fills the buckets. */
void batch_gather_sums(batching *s, ir_block block);
/* Builds the sums of a bucket, as `kind` and `order` of each of them says. */
bool batch_sum_bucket(batching *s, const sum_bucket *bucket, const char *kind, const char *order);

/* The shards that this rank has of `total` along an axis (shard.c). */
shard_axis shard_axis_of(transforming *t, const char *name, int64_t total);

/* ---- between ranks (exchange.c) ---- */

/* All shards of the axis, [total, ...], of those of this rank. */
ir_value shard_gather(batching *s, ir_value x);
/* The sum, or what `kind` says, of all shards, in the order "tree" or "exact". */
ir_value shard_reduce(batching *s, ir_value x, const char *kind, const char *order);
/* Sums [shards, total, ...] to [shards, ...], of which each has its own one of `total`. */
ir_value shard_reduce_scatter(batching *s, ir_value x, const char *order);
/* Lets both axes of [shards, total, ...] change places. */
ir_value shard_swap(batching *s, ir_value x);
/* Each shard's value is that of the shard `from` (by shard, -1: zeros), of [shards, ...]. */
ir_value shard_permute(batching *s, ir_value x, const int64_t *from);
/* Slices of whole rows along axis 0; its rows one behind the other. */
ir_value shard_rows(ir_builder *b, ir_value x, int64_t first, int64_t count);

/* Another block is built from here on: the place before that. */
ir_builder batch_enter(batching *s, ir_block block);
void batch_end(batching *s, const ir_value *values, uint32_t count);

#endif
