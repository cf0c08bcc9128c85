/* collective.c - collectives over the axis of a tessera.shard, of the parts that stand along axis
 * 0.
 *
 * What they are on one rank, docs/collectives.md says; exchange.c moves and adds what other ranks
 * have. A value that is the same for each shard is not along axis 0: it is there once. */
#include <string.h>

#include "ops/control.h"
#include "transforms/batches.h"

/* ---- which ---- */

static const char *axis_of(const batching *s, ir_op op) {
    return ir_op_string(s->m, op, "axis", "");
}

bool batch_is_collective(const batching *s, ir_op op) {
    const int opcode = ir_op_get(s->m, op)->opcode;
    return s->axis && graph_op_class(opcode) == GRAPH_CLASS_COLLECTIVE &&
           (opcode == GRAPH_COTANGENT || opcode == GRAPH_VARY ||
            (opcode != GRAPH_EXCHANGE && strcmp(axis_of(s, op), s->axis->name) == 0));
}

bool batch_has_collectives(const batching *s, ir_op op) {
    bool found = false;
    if (!s->axis || ir_op_get(s->m, op)->region_count == 0)
        return false;
    for (ir_walk w = ir_walk_op(s->m, op); !found && ir_walk_next(&w);)
        found = batch_is_collective(s, w.op);
    return found;
}

bool batch_collective_differs(const batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    switch (d->opcode) {
    case GRAPH_ALL_REDUCE:
    case GRAPH_ALL_GATHER:
        return false;
    case GRAPH_COTANGENT:
        return batch_differs(s, d->operands[0]) && batch_differs(s, d->operands[1]);
    case GRAPH_VARY:
        return batch_any(s, d->operands, 2);
    default:
        return true;
    }
}

/* ---- shapes ---- */

typedef struct shape {
    int rank;
    ir_dim dims[IR_MAX_RANK + 1];
} shape;

static shape shape_of(const batching *s, ir_value x) {
    const ir_type_data *t = build_type(&s->b, x);
    shape out = {.rank = t->rank};
    memcpy(out.dims, t->dims, sizeof *t->dims * (size_t)t->rank);
    return out;
}

/* The axis becomes two: `outer` times the rest. */
static ir_value cut_axis(batching *s, ir_value x, int axis, ir_dim outer) {
    shape t = shape_of(s, x);
    memmove(t.dims + axis + 2, t.dims + axis + 1, sizeof *t.dims * (size_t)(t.rank - axis - 1));
    t.dims[axis + 1] = ir_dim_floordiv(s->m, t.dims[axis], outer);
    t.dims[axis] = outer;
    return build_reshape(&s->b, x, t.rank + 1, t.dims);
}

/* The axis and the next become one. */
static ir_value join_axes(batching *s, ir_value x, int axis) {
    shape t = shape_of(s, x);
    t.dims[axis] = ir_dim_mul(s->m, t.dims[axis], t.dims[axis + 1]);
    memmove(t.dims + axis + 1, t.dims + axis + 2, sizeof *t.dims * (size_t)(t.rank - axis - 2));
    return build_reshape(&s->b, x, t.rank - 1, t.dims);
}

/* ---- each of them ---- */

static bool refuse(batching *s, ir_op op, const char *why) {
    return transform_refuse(s->t, TRANSFORM_FAULT_SHARD, op, "%s() over '%s': %s",
                            op_info_get(ir_op_get(s->m, op)->opcode)->name + strlen("tessera."),
                            s->axis->name, why);
}

static ir_value operand(batching *s, ir_op op) {
    return batch_all(s, ir_op_get(s->m, op)->operands[0]);
}

static const char *kind_of(const batching *s, ir_op op) {
    return ir_op_string(s->m, op, "kind", "sum");
}

static const char *order_of(const batching *s, ir_op op) {
    return ir_op_string(s->m, op, "fold", "tree");
}

static int dim_of(const batching *s, ir_op op, const char *name) {
    return (int)ir_op_int(s->m, op, name, 0);
}

/* [shards, ...] with the parts of an axis before it: [shards, total, ...]. */
static ir_value parts_first(batching *s, ir_value x, int dim) {
    return build_moved(&s->b, cut_axis(s, x, dim, s->axis->total), dim, 1);
}

static bool all_gather(batching *s, ir_op op, ir_value *out) {
    const int dim = dim_of(s, op, "dim");
    const ir_value all = shard_gather(s, operand(s, op));
    *out = join_axes(s, build_moved(&s->b, all, 0, dim), dim);
    return true;
}

/* Parts of a sum that nothing else reads. */
static bool slice_of_sum(batching *s, ir_op op, ir_value *out) {
    const ir_op sum = ir_value_get(s->m, ir_op_get(s->m, op)->operands[0])->op;
    *out = shard_reduce_scatter(s, parts_first(s, operand(s, sum), dim_of(s, op, "dim") + 1),
                                order_of(s, sum));
    return true;
}

static bool shard_slice(batching *s, ir_op op, ir_value *out) {
    const int dim = dim_of(s, op, "dim");
    if (value_table_get(&s->in_parts, ir_op_get(s->m, op)->operands[0]))
        return slice_of_sum(s, op, out);
    const ir_value x = batch_stand(s, ir_op_get(s->m, op)->operands[0]);
    if (batch_differs(s, ir_op_get(s->m, op)->operands[0]))
        return refuse(s, op,
                      "the value differs from shard to shard, so that it has no parts of them: "
                      "all_gather() makes one that does not");
    const ir_value parts = build_moved(&s->b, cut_axis(s, x, dim, s->axis->total), dim, 0);
    *out = s->axis->rank_count == 1 ? parts : shard_rows(&s->b, parts, s->axis->first, s->count);
    return true;
}

static bool all_reduce(batching *s, ir_op op, ir_value *out) {
    if (!batch_differs(s, ir_op_get(s->m, op)->operands[0]))
        return refuse(s, op,
                      "the value is the same on all shards, and its sum would be a multiple of it. "
                      "The gradient of such a value is the sum over the shards already");
    *out = shard_reduce(s, operand(s, op), kind_of(s, op), order_of(s, op));
    return true;
}

static bool reduce_scatter(batching *s, ir_op op, ir_value *out) {
    const int dim = dim_of(s, op, "dim");
    *out = shard_reduce_scatter(s, parts_first(s, operand(s, op), dim + 1), order_of(s, op));
    return true;
}

static bool all_to_all(batching *s, ir_op op, ir_value *out) {
    const int split = dim_of(s, op, "split"), concat = dim_of(s, op, "concat");
    const ir_value swapped = shard_swap(s, parts_first(s, operand(s, op), split + 1));
    *out = join_axes(s, build_moved(&s->b, swapped, 1, concat + 1), concat + 1);
    return true;
}

static bool permute(batching *s, ir_op op, ir_value *out) {
    const int64_t total = s->axis->total;
    const ir_attr_data *pairs = ir_attr_get(s->m, ir_op_attr(s->m, op, "pairs"));
    int64_t *from = base_malloc(sizeof *from * (size_t)(total + 1));
    bool ok = true;
    for (int64_t i = 0; i < total; i++)
        from[i] = -1;
    for (uint32_t i = 0; i + 1 < pairs->count && ok; i += 2) {
        const int64_t a = ir_attr_get(s->m, pairs->items[i])->integer,
                      b = ir_attr_get(s->m, pairs->items[i + 1])->integer;
        ok = a >= 0 && a < total && b >= 0 && b < total && from[b] < 0;
        if (ok)
            from[b] = a;
    }
    if (ok)
        *out = shard_permute(s, operand(s, op), from);
    free(from);
    return ok || refuse(s, op, "a pair names a shard that there is not, or two go to the same one");
}

static bool shard_index(batching *s, ir_op op, ir_value *out) {
    (void)op;
    *out = build_iota(&s->b, 1, &s->count, 0);
    if (s->axis->first)
        *out =
            build_binary(&s->b, GRAPH_ADD, *out, build_i32(&s->b, (int32_t)s->axis->first, *out));
    return true;
}

/* Along this axis it is done; along outer ones, if there are any, it stays to be. */
static bool cotangent(batching *s, ir_op op, ir_value *out) {
    const ir_value *operands = ir_op_get(s->m, op)->operands;
    *out = batch_stand(s, operands[0]);
    if (batch_differs(s, operands[0]) && !batch_differs(s, operands[1]))
        *out = shard_reduce(s, *out, "sum", "tree");
    *out = shard_as(&s->b, GRAPH_COTANGENT, *out, batch_stand(s, operands[1]));
    return true;
}

static bool vary(batching *s, ir_op op, ir_value *out) {
    const ir_value *operands = ir_op_get(s->m, op)->operands;
    *out = batch_as(s, operands[0], batch_any(s, operands, 2));
    *out = shard_as(&s->b, GRAPH_VARY, *out, batch_stand(s, operands[1]));
    return true;
}

/* The first one of a bucket is made with all others. */
static bool sum_of_bucket(batching *s, ir_op op, uint32_t number) {
    const sum_bucket *bucket = &s->buckets.items[number];
    return bucket->sums.items[0] != op ||
           batch_sum_bucket(s, bucket, kind_of(s, op), order_of(s, op));
}

bool batch_collective(batching *s, ir_op op) {
    static bool (*const rules[])(batching *, ir_op,
                                 ir_value *) = {[GRAPH_ALL_REDUCE] = all_reduce,
                                                [GRAPH_ALL_GATHER] = all_gather,
                                                [GRAPH_REDUCE_SCATTER] = reduce_scatter,
                                                [GRAPH_SHARD_SLICE] = shard_slice,
                                                [GRAPH_ALL_TO_ALL] = all_to_all,
                                                [GRAPH_PERMUTE] = permute,
                                                [GRAPH_SHARD_INDEX] = shard_index,
                                                [GRAPH_COTANGENT] = cotangent,
                                                [GRAPH_VARY] = vary};
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_value out = 0;
    if (!ir_dim_is_static(s->axis->total))
        return transform_refuse(s->t, TRANSFORM_FAULT_SIZE, op,
                                "the shards of '%s' are %s, which is not a number yet",
                                s->axis->name, ir_dim_text(s->m, s->axis->total));
    if (value_table_get(&s->in_parts, d->results[0]))
        return true;
    const uint32_t bucket = value_table_get(&s->bucket_of, d->results[0]);
    if (bucket)
        return sum_of_bucket(s, op, bucket - 1);
    if (!rules[d->opcode](s, op, &out))
        return false;
    batch_set(s, d->results[0], out);
    return !ir_failure(s->m);
}
