/* batching.h - how an operation of each part of a batch becomes one on all of them.
 *
 * Where an operand is batched it has the parts along axis 0, before the axes that it has in the
 * function; other operands are the same for every part, and stay as they are where a rule can. All
 * results are batched then. A rule keeps the order of every sum: what is reduced or contracted is
 * what it was, and the batch is another axis of rows.
 *
 * The rules are those that graph.def names in its column `batching` (docs/batches.md). Operations
 * with blocks have theirs in graph/, where blocks are built anew. */
#ifndef TESSERA_OPS_BATCHING_BATCHING_H
#define TESSERA_OPS_BATCHING_BATCHING_H

#include "ops/build.h"

typedef struct batch_query {
    ir_builder *b;
    ir_op op;            /* of one part: its types lack the batch */
    ir_dim count;        /* parts */
    const ir_value *x;   /* by operand: what stands for it, built before the builder's place */
    const bool *batched; /* by operand; one at least is */
} batch_query;

/* Fills `results`, each of which is batched. False: it is not possible for these operands, and
 * nothing was built; a composite goes by its decomposition then, and another operation part by
 * part. The ranks of operands and results are below IR_MAX_RANK. */
typedef bool (*batch_rule)(const batch_query *q, ir_value *results);

#define RULE(name, summary) bool batch_rule_##name(const batch_query *q, ir_value *results);
#include "ops/batching/batching.def"

/* NULL: it has none of its own. */
batch_rule batching_of(int opcode);

/* ---- what rules are made of ---- */

/* A value that is the same for each part, repeated for all of them. */
ir_value batch_repeat(ir_builder *b, ir_value x, ir_dim count);
/* An operand with the parts along axis 0; and all of them, LIMIT_OPERANDS at most, into `out`. */
ir_value batch_operand(const batch_query *q, uint32_t i);
void batch_operands(const batch_query *q, ir_value *out);
/* Is the one operand batched, and no other? */
bool batch_is_alone(const batch_query *q, uint32_t i);
/* The shape of a value of one part, with the batch before it. Returns its rank. */
int batch_shape(const batch_query *q, ir_value of, ir_dim *dims);
/* The operation again, of these operands, with `count` attributes in the place of its own. */
void batch_build(const batch_query *q, const ir_value *operands, const ir_named_attr *attrs,
                 uint32_t count, ir_value *results);
/* An attribute of the operation that is an axis, or a list of them, moved behind the batch. */
ir_named_attr batch_axis(const batch_query *q, const char *name);
ir_named_attr batch_axes(const batch_query *q, const char *name);
/* One that is a list with a number for each axis: another one for the batch, before these. */
ir_named_attr batch_list(const batch_query *q, const char *name, ir_dim first);

#endif
