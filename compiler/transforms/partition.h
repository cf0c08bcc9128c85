/* partition.h - parts of values: where a rank keeps some of a value's shards outside of shards.
 *
 * The inputs and outputs of a program may lie on a mesh (ops/sharding.h); so do values that come
 * out of a tessera.shard along its axis. Which part of every other value a rank has follows from
 * these (propagate.c), by the dimensions that operations keep (kept_dims.c): an operation that does
 * the same to each row does it to the rows that a rank has. Where an operation needs what its rank
 * lacks, rows are exchanged, or left out (partition.c).
 *
 * No dimension is cut that is summed over, so that each element is computed as on one rank. */
#ifndef TESSERA_TRANSFORMS_PARTITION_H
#define TESSERA_TRANSFORMS_PARTITION_H

#include "ir/uses.h"
#include "ops/sharding.h"
#include "transforms/batches.h"

enum { PARTITION_AXES_MAX = 2 * SHARD_AXES_MAX };

/* The axes that each dimension is cut along, the first one outermost: 1 + their numbers in the
 * partition's list; 0: no more. All zeros: a rank has the whole value. */
typedef struct placement {
    uint8_t axes[IR_MAX_RANK][SHARDING_AXES];
} placement;

typedef struct partition {
    transforming *t;
    ir_module *m;
    shard_axis axes[PARTITION_AXES_MAX]; /* those that several ranks share */
    uint32_t axis_count;
    placement *said; /* of inputs, then outputs, as the kernel has it */
    placement *of;   /* by value, as far as there were any when it began */
    uint32_t value_count;
} partition;

static inline bool placement_is_cut(const placement *p, int dim) {
    return p->axes[dim][0] != 0;
}
bool placement_is_whole(const placement *p);
bool placement_equal(const placement *a, const placement *b);
/* Shards along a dimension: all, and those of this rank. */
int64_t placement_shards(const partition *p, const placement *of, int dim, bool own);
/* The number of an axis with so many shards, which is added where it is new; 0: one rank has it. */
uint8_t partition_axis(partition *p, const char *name, size_t length, int64_t shards);
/* A text of ops/sharding.h for a value of this type; NULL, and one that does not fit: whole. */
placement partition_read(partition *p, const char *words, const ir_type_data *type);

/* ---- kept_dims.c ---- */

/* Tells which dimension of a result each dimension of an operand goes to, as it is; -1: to none, so
 * that a rank needs all of it. False: the operation keeps none. */
bool kept_dims(const ir_module *m, ir_op op, uint32_t operand, uint32_t result, int8_t *to);
/* A reshape, and back: of axes of a shape those that the other one has, too. */
placement kept_by_reshape(const partition *p, const placement *of, const ir_type_data *from,
                          const ir_type_data *to);

/* ---- propagate.c ---- */

/* Fills the placements of all values. */
void partition_propagate(partition *p);
/* The placement that an operation needs of an operand. */
placement partition_wanted(const partition *p, ir_op op, uint32_t operand);
/* The part of a value that each reader takes, if they agree. */
placement partition_taken(const partition *p, const ir_uses *uses, ir_value v);

/* ---- scatter.c ---- */

/* Has shards make the parts of a sum that all readers take, whose placements are known. True: there
 * are other values, whose placements are not. */
bool partition_scatter(const partition *p);

/* ---- partition.c ---- */

/* Values become the parts of this rank: what tessera.shard takes and gives of several shards are
 * its own ones. */
void partition_run(transforming *t);

#endif
