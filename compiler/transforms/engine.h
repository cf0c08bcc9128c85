/* engine.h - derivatives and batches of functions, from the inside (ops/transforms.h).
 *
 * A transform is expanded where it stands: its block's operations are built before it, with what
 * the transform adds, and its results are replaced. Transforms within it are expanded first, so a
 * rule meets plain operations, loops, branches and calls with rules of their own, alone. */
#ifndef TESSERA_TRANSFORMS_ENGINE_H
#define TESSERA_TRANSFORMS_ENGINE_H

#include "base/vec.h"
#include "ops/derivatives/derivative.h"
#include "ops/transforms.h"
#include "transforms/passes.h"

/* Something by value, as far as values are known; others have 0. */
typedef VEC(uint32_t) value_table;
uint32_t value_table_get(const value_table *t, ir_value v);
void value_table_set(value_table *t, ir_value v, uint32_t what);

typedef struct transforming {
    ir_module *m;
    transform_fault *fault;
    const struct shard_grid *grid; /* ranks that shards are spread over; NULL: one has all */
    int64_t exchanges;             /* with a number, so far */
} transforming;

typedef struct shard_grid shard_grid;
/* All transforms of one kind, as a pass; with a grid, values are the parts of a rank first
 * (partition.c). */
bool transforms_run(ir_module *m, int opcode, const shard_grid *grid, status *st);

/* Says what cannot be done, and where. Returns false. */
bool transform_refuse(transforming *t, transform_fault_kind kind, ir_op op, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* These values stand for the results of a transform, which goes. */
void transform_replace(ir_module *m, ir_op op, const ir_value *by);

/* Expands one transform, whose block has none in it. */
bool expand_jvp(transforming *t, ir_op op);
bool expand_vjp(transforming *t, ir_op op);
bool expand_vmap(transforming *t, ir_op op);
bool expand_shard(transforming *t, ir_op op);
/* Any one, and all within it first. */
bool expand_transform(transforming *t, ir_op op);

/* The mark of a checkpoint's operations (ir_location): another one for each time that it is built.
 */
uint32_t checkpoint_mark(const ir_module *m, ir_op op);
/* Keeps results of so many bytes, of the operations with the mark from `first` on in its block. */
void checkpoint_spend(ir_module *m, uint32_t mark, ir_op first, int64_t bytes);

/* ---- a block that is derived (derive.c) ---- */

typedef enum flow {
    FLOW_NONE,
    FLOW_HIDDEN, /* an integer or a bool made of an active value: no derivative goes through it */
    FLOW_ACTIVE
} flow;

/* An operation that something flows through, as it was built; of a function with a rule of its own
 * the operation that holds the rule, with what stands for its operands and results. */
typedef struct tape_entry {
    ir_op op;
    const ir_value *operands, *results;
} tape_entry;

typedef struct derivation {
    transforming *t;
    ir_module *m;
    ir_builder b;
    bool reverse;
    bool muted;          /* nothing flows: inside of a function with a rule of its own */
    bool sharded;        /* within a tessera.shard */
    uint32_t checkpoint; /* whose part is built; 0: of none */
    ir_value *copies;    /* by value of the block: what stands for it */
    uint32_t copy_count;
    value_table flows;    /* by value that was built: a flow */
    value_table tangents; /* forward: by value; 0: it has none */
    VEC(tape_entry) tape; /* reverse */
} derivation;

/* A block with values for its arguments; with respect to some of these. */
typedef struct derived_function {
    ir_block block;
    const ir_value *values;
    const int64_t *wrt;
    uint32_t wrt_count;
} derived_function;
uint32_t derived_result_count(const ir_module *m, ir_block block);

derivation derive_begin(transforming *t, const ir_builder *b);
void derive_end(derivation *d);
/* The block's arguments are these values; gives what stands for those of `wrt`, each of which is
 * active, and a value of its own. In the module's arena. */
const ir_value *derive_bind(derivation *d, const derived_function *f);
/* Builds the operations of a block, whose arguments are bound; fills what stands for its results.
 */
bool derive_block(derivation *d, ir_block block, ir_value *results);
/* The same of a block through which nothing flows. */
bool derive_plain(derivation *d, ir_block block, const ir_value *values, ir_value *results);
/* The function, and the cotangents of its values `wrt`, of those of its results (0: it has none);
 * 0 where nothing flows. */
bool derive_pull(transforming *t, const ir_builder *b, const derived_function *f, ir_value *results,
                 const ir_value *cotangents, ir_value *out);
static inline flow derive_flow(const derivation *d, ir_value v) {
    return (flow)value_table_get(&d->flows, v);
}
void derive_activate(derivation *d, ir_value v);
bool derive_is_active(const derivation *d, const ir_value *values, uint32_t count);
/* The flow into an operation's results. */
flow derive_strongest(const derivation *d, ir_op op);
/* Is there a derivative of the operation, of which nothing is built? */
bool derive_may(derivation *d, ir_op op);
/* derive_tiles.c: refuses a kernel of tiles that something flows into. */
bool derive_tiles(derivation *d, ir_op tiles);
/* Within a tessera.shard x as a cotangent of a value, of all shards if that is the same for each
 * (GRAPH_COTANGENT), or as one that differs where another one does (GRAPH_VARY); elsewhere x. */
ir_value shard_as(ir_builder *b, int opcode, ir_value x, ir_value like);
bool shard_is_around(const ir_module *m, ir_block block);
static inline ir_value derive_of_shards(derivation *d, ir_value cotangent, ir_value of) {
    return d->sharded ? shard_as(&d->b, GRAPH_COTANGENT, cotangent, of) : cotangent;
}
/* Operations that are built from now on are of this operation. */
void derive_at(derivation *d, ir_op op);
/* A tangent that is there, or a zero of the value's type. */
ir_value derive_tangent(derivation *d, ir_value v);
/* An element-wise operation as its rule sees it: narrow floats are widened. */
element derive_element(ir_builder *b, ir_op op);
/* `t` by a factor; 0 where nothing flows. */
ir_value derive_scale(ir_builder *b, const factor *f, ir_value t);

/* Loops and branches (derive_loop.c, derive_branch.c) that something flows into, with what stands
 * for their operands: built before the transform, with their tangents or noted in reverse; there
 * `out` gets the cotangents of their operands. False: refused. */
bool derive_control(derivation *d, ir_op op, const ir_value *operands);
bool derive_control_transpose(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                              ir_value *out);
bool derive_loop_forward(derivation *d, ir_op op, const ir_value *operands);
bool derive_loop_record(derivation *d, ir_op op, const ir_value *operands);
bool derive_loop_transpose(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                           ir_value *out);
/* In reverse: the operation as it is, of which some results are active. */
bool derive_record(derivation *d, ir_op op);
/* derive_shard.c: shards of a function, from outside. */
bool derive_shard(derivation *d, ir_op op, const ir_value *operands);
bool derive_shard_transpose(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                            ir_value *out);
/* derive_combine.c: a reduction with a function is a loop, and a scatter with one is a loop over
 * the updates; of a sort the positions are gathered. */
bool derive_reduction(derivation *d, ir_op op, const ir_value *operands);
bool derive_sort(derivation *d, ir_op op, const ir_value *operands);
bool derive_scatter(derivation *d, ir_op op, const ir_value *operands);
/* Room for what stands for the values that there are by now. */
void derive_make_room(derivation *d);
/* Notes the operations from one to the last that is there by now; tangents are built behind. */
bool derive_note_all(derivation *d, ir_op first);

#endif
