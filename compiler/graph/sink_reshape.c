/* sink_reshape.c - a reshape that joins axes of element-wise results, for a reduction, goes to
 * where these are read from: they need no memory.
 *
 * It stays where that would read more than before: where an element-wise value that others use,
 * too, is made of several tensors, for a single sum also any, where what is read is moved itself,
 * and where a product has nothing else to do than to compute them. */
#include <string.h>

#include "graph/sink_moves.h"
#include "ops/build.h"

enum { TREE = 24 };

/* Element-wise values behind a reshape, each behind those that are made of it but for shared ones;
 * and what stands for them. */
typedef struct tree {
    const sink_state *s;
    ir_builder *b;
    ir_type_data from, to;
    int first[IR_MAX_RANK + 1]; /* of the axes of `from` that are an axis of `to` */
    int count;
    ir_value old[TREE], made[TREE];
} tree;

/* Does every axis of the result stand for neighbours of the operand's? */
static bool joins_axes(tree *t) {
    int axis = 0;
    for (int i = 0; i < t->to.rank; i++) {
        ir_dim product = 1;
        t->first[i] = axis;
        while (axis < t->from.rank && (product != t->to.dims[i] || t->from.dims[axis] == 1)) {
            if (!ir_dim_is_static(t->from.dims[axis]))
                return false;
            product *= t->from.dims[axis++];
        }
        if (product != t->to.dims[i])
            return false;
    }
    t->first[t->to.rank] = t->from.rank;
    return axis == t->from.rank && t->to.rank < t->from.rank;
}

static const ir_op_data *def(const tree *t, ir_value v) {
    ir_op op = ir_value_get(t->s->m, v)->op;
    return op ? ir_op_get(t->s->m, op) : NULL;
}

static bool is_broadcast(const tree *t, ir_value v) {
    const ir_op_data *d = def(t, v);
    return d && d->opcode == GRAPH_BROADCAST;
}

/* An element-wise value that costs no more where it is computed for this reader alone. */
static bool is_inside(const tree *t, ir_value v) {
    const ir_op_data *d = def(t, v);
    if (!d || graph_op_class(d->opcode) != GRAPH_CLASS_ELEMENTWISE)
        return false;
    uint32_t tensors = 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        tensors += !is_broadcast(t, d->operands[i]);
    return tensors <= 1 || sink_uses(t->s, v) == 1;
}

/* Axes of the operand of a broadcast, by axis of its result; -1: repeated along it. */
static void axes_of_broadcast(const tree *t, ir_value v, int *from) {
    int64_t axes[IR_MAX_RANK];
    const ir_op op = ir_value_get(t->s->m, v)->op;
    const uint32_t n = ir_op_ints(t->s->m, op, "axes", axes, IR_MAX_RANK);
    const ir_type_data *x = ir_type_of(t->s->m, ir_op_get(t->s->m, op)->operands[0]);
    for (int i = 0; i < t->from.rank; i++)
        from[i] = -1;
    for (uint32_t i = 0; i < n; i++)
        if (x->dims[i] == t->from.dims[axes[i]])
            from[axes[i]] = (int)i;
}

/* Is each joined axis repeated as a whole, or not at all? */
static bool broadcast_joins(const tree *t, ir_value v) {
    int from[IR_MAX_RANK];
    axes_of_broadcast(t, v, from);
    for (int i = 0; i < t->to.rank; i++) {
        int whole = 0, repeated = 0;
        for (int axis = t->first[i]; axis < t->first[i + 1]; axis++)
            if (t->from.dims[axis] != 1) {
                whole += from[axis] >= 0;
                repeated += from[axis] < 0;
            }
        if (whole && repeated)
            return false;
    }
    return true;
}

/* A value that is in memory, or will be. */
static bool is_leaf(const tree *t, ir_value v) {
    const ir_op_data *d = def(t, v);
    const graph_class class = d ? graph_op_class(d->opcode) : GRAPH_CLASS_KERNEL;
    if (is_broadcast(t, v))
        return broadcast_joins(t, v);
    return class != GRAPH_CLASS_GENERATOR &&
           (class != GRAPH_CLASS_MOVE || d->opcode == GRAPH_RESHAPE);
}

static int place_of(const tree *t, ir_value v) {
    for (int i = 0; i < t->count; i++)
        if (t->old[i] == v)
            return i;
    return -1;
}

/* Does a product, or a running sum, have the tree as its only reader? */
static bool ends_in_tree(const tree *t, ir_value v) {
    const ir_op_data *d = def(t, v);
    const graph_class class = d ? graph_op_class(d->opcode) : GRAPH_CLASS_KERNEL;
    uint32_t inside = 0;
    if (class != GRAPH_CLASS_DOT && class != GRAPH_CLASS_SCAN)
        return false;
    for (int i = 0; i < t->count; i++)
        for (uint32_t k = 0; k < def(t, t->old[i])->operand_count; k++)
            inside += def(t, t->old[i])->operands[k] == v;
    return inside == sink_uses(t->s, v);
}

static bool ends_product(const tree *t) {
    for (int i = 0; i < t->count; i++)
        for (uint32_t k = 0; k < def(t, t->old[i])->operand_count; k++)
            if (ends_in_tree(t, def(t, t->old[i])->operands[k]))
                return true;
    return false;
}

static bool collect(tree *t, ir_value root) {
    t->old[t->count++] = root;
    for (int i = 0; i < t->count; i++) {
        const ir_op_data *d = def(t, t->old[i]);
        for (uint32_t k = 0; k < d->operand_count; k++) {
            const ir_value v = d->operands[k];
            if (place_of(t, v) >= 0)
                continue;
            if (!is_inside(t, v) && !is_leaf(t, v))
                return false;
            if (!is_inside(t, v))
                continue;
            if (t->count == TREE)
                return false;
            t->old[t->count++] = v;
        }
    }
    return !ends_product(t);
}

static ir_value joined_broadcast(tree *t, ir_value v) {
    const ir_value x = def(t, v)->operands[0];
    int from[IR_MAX_RANK], rank = 0;
    ir_dim shape[IR_MAX_RANK];
    int64_t axes[IR_MAX_RANK];
    axes_of_broadcast(t, v, from);
    for (int i = 0; i < t->to.rank; i++) {
        bool whole = false;
        for (int axis = t->first[i]; axis < t->first[i + 1]; axis++)
            whole |= from[axis] >= 0 && t->from.dims[axis] != 1;
        if (!whole)
            continue;
        axes[rank] = i;
        shape[rank++] = t->to.dims[i];
    }
    const ir_type_data *d = build_type(t->b, x);
    bool same = d->rank == rank && memcmp(d->dims, shape, sizeof *shape * (size_t)rank) == 0;
    return build_broadcast(t->b, same ? x : build_reshape(t->b, x, rank, shape), t->to.rank,
                           t->to.dims, axes);
}

static ir_value joined_leaf(tree *t, ir_value v) {
    if (is_broadcast(t, v))
        return joined_broadcast(t, v);
    while (def(t, v) && def(t, v)->opcode == GRAPH_RESHAPE)
        v = def(t, v)->operands[0];
    const ir_type_data *d = build_type(t->b, v);
    bool same = d->rank == t->to.rank &&
                memcmp(d->dims, t->to.dims, sizeof *d->dims * (size_t)d->rank) == 0;
    return same ? v : build_reshape(t->b, v, t->to.rank, t->to.dims);
}

/* Builds one value of the tree; 0: it waits for another one. */
static ir_value build_one(tree *t, ir_value v) {
    const ir_op_data *d = def(t, v);
    ir_value operands[4];
    for (uint32_t i = 0; i < d->operand_count; i++) {
        int place = place_of(t, d->operands[i]);
        if (place >= 0 && !t->made[place])
            return 0;
    }
    for (uint32_t i = 0; i < d->operand_count; i++) {
        int place = place_of(t, d->operands[i]);
        operands[i] = place >= 0 ? t->made[place] : joined_leaf(t, d->operands[i]);
    }
    d = def(t, v);
    t->b->location = d->location;
    return ir_op_result(
        t->b->m, graph_build(t->b, d->opcode, operands, d->operand_count, d->attrs, d->attr_count),
        0);
}

/* Bytes of the distinct tensors that an element is made of. */
static int64_t bytes_read(const tree *t) {
    ir_value seen[4 * TREE];
    int count = 0;
    int64_t bytes = 0;
    for (int i = 0; i < t->count; i++)
        for (uint32_t k = 0; k < def(t, t->old[i])->operand_count; k++) {
            const ir_value v = def(t, t->old[i])->operands[k];
            bool known = place_of(t, v) >= 0 || is_broadcast(t, v);
            for (int j = 0; j < count; j++)
                known |= seen[j] == v;
            if (known)
                continue;
            seen[count++] = v;
            bytes += (int64_t)dtype_size(ir_type_of(t->s->m, v)->element);
        }
    return bytes;
}

/* One thread makes a single sum: it reads no more than the elements that others could make. */
static bool reads_little(const tree *t, ir_op reshape) {
    const ir_value x = ir_op_get(t->s->m, reshape)->results[0];
    const ir_op reduction = ir_uses_reader(&t->s->readers, x, 0);
    const ir_value sum = ir_op_get(t->s->m, reduction)->results[0];
    return ir_type_count(t->s->m, ir_value_get(t->s->m, sum)->type) > 1 ||
           bytes_read(t) <= (int64_t)dtype_size(t->from.element);
}

static bool is_for_reduction(const sink_state *s, ir_value v) {
    return ir_uses_count(&s->readers, v) == 1 &&
           ir_op_get(s->m, ir_uses_reader(&s->readers, v, 0))->opcode == GRAPH_REDUCE;
}

ir_value sink_reshape(const sink_state *s, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    const ir_value x = d->operands[0];
    tree t = {.s = s, .b = b, .from = *build_type(b, x), .to = *build_type(b, d->results[0])};
    if (!is_for_reduction(s, d->results[0]) || !joins_axes(&t) || !is_inside(&t, x) ||
        !collect(&t, x) || !reads_little(&t, op))
        return 0;
    while (!t.made[0])
        for (int i = t.count; i-- > 0;)
            if (!t.made[i])
                t.made[i] = build_one(&t, t.old[i]);
    return t.made[0];
}
