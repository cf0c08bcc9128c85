/* share_factors.c - heads of queries that share keys: products whose right side repeats a factor.
 *
 * One query for each of H = G * n heads, [.., H, 1, D], by keys of G heads that are repeated n
 * times, is n queries for each of G heads, [.., G, n, D], by the keys as they are: nothing is
 * repeated in memory, and a key is read once for n queries. What is computed of the product gets
 * the same form, so that softmax(x @ y) @ z stays one loop. Each sum has its terms in its order. */
#include <string.h>

#include "base/vec.h"
#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"

enum { ATTRIBUTES = 12 };

/* Dimensions H, 1 at `axis` and behind it that are groups, many in the other form. */
typedef struct heads {
    int axis;
    ir_dim groups, many;
} heads;

typedef struct pairing {
    ir_value whole, shared;
    heads at;
} pairing;

typedef VEC(pairing) pairings;

static const pairing *pairing_of(const pairings *all, ir_value v) {
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].whole == v)
            return &all->items[i];
    return NULL;
}

static ir_op made_by(const ir_module *m, ir_value v, int opcode) {
    ir_op op = ir_value_get(m, v)->op;
    return op && ir_op_get(m, op)->opcode == opcode ? op : 0;
}

/* The same operation on other operands. */
static ir_value again(ir_builder *b, ir_op op, const ir_value *operands) {
    const ir_op_data *d = ir_op_get(b->m, op);
    ir_named_attr attrs[ATTRIBUTES];
    const uint32_t count = d->attr_count;
    memcpy(attrs, d->attrs, count * sizeof *attrs);
    return ir_op_result(b->m, graph_build(b, d->opcode, operands, d->operand_count, attrs, count),
                        0);
}

/* ---- values in the other form ---- */

static ir_value regrouped(const pairings *all, ir_builder *b, ir_value v, heads at) {
    const pairing *known = pairing_of(all, v);
    if (known && known->at.axis == at.axis && known->at.groups == at.groups &&
        known->at.many == at.many)
        return known->shared;
    ir_type_data t = *build_type(b, v);
    t.dims[at.axis] = at.groups;
    t.dims[at.axis + 1] = at.many;
    return build_reshape(b, v, t.rank, t.dims);
}

/* A broadcast, whose source has both axes, neither, or only the one of length 1, which it loses; 0
 * for any other. */
static ir_value shared_broadcast(const pairings *all, ir_builder *b, ir_op op, heads at) {
    const ir_op_data *d = ir_op_get(b->m, op);
    ir_value from = d->operands[0];
    ir_type_data t = *build_type(b, d->results[0]), x = *build_type(b, from);
    int64_t axes[IR_MAX_RANK];
    ir_op_ints(b->m, op, "axes", axes, IR_MAX_RANK);
    int first = -1, second = -1;
    for (int i = 0; i < x.rank; i++) {
        first = axes[i] == at.axis ? i : first;
        second = axes[i] == at.axis + 1 ? i : second;
    }
    if (first >= 0 && (second != first + 1 || x.dims[first] != t.dims[at.axis]))
        return 0;
    if (first >= 0) {
        from = regrouped(all, b, from, (heads){first, at.groups, at.many});
    } else if (second >= 0) {
        const size_t behind = (size_t)(x.rank - second - 1);
        memmove(x.dims + second, x.dims + second + 1, behind * sizeof *x.dims);
        memmove(axes + second, axes + second + 1, behind * sizeof *axes);
        from = build_reshape(b, from, x.rank - 1, x.dims);
    }
    t.dims[at.axis] = at.groups;
    t.dims[at.axis + 1] = at.many;
    return build_broadcast(b, from, t.rank, t.dims, axes);
}

static ir_value shared_form(const pairings *all, ir_builder *b, ir_value v, heads at) {
    ir_op spread = pairing_of(all, v) ? 0 : made_by(b->m, v, GRAPH_BROADCAST);
    ir_value same = spread ? shared_broadcast(all, b, spread, at) : 0;
    return same ? same : regrouped(all, b, v, at);
}

/* ---- a factor that repeats ---- */

/* The one axis along which a broadcast repeats. -1: there are others, or none. */
static int repeated_axis(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *t = ir_type_of(m, d->results[0]), *x = ir_type_of(m, d->operands[0]);
    int64_t axes[IR_MAX_RANK];
    ir_dim dims[IR_MAX_RANK];
    int found = -1, count = 0;
    ir_op_ints(m, op, "axes", axes, IR_MAX_RANK);
    for (int i = 0; i < t->rank; i++)
        dims[i] = 1;
    for (int i = 0; i < x->rank; i++)
        dims[axes[i]] = x->dims[i];
    for (int i = 0; i < t->rank; i++)
        if (dims[i] != t->dims[i]) {
            found = i;
            count++;
        }
    return count == 1 ? found : -1;
}

/* The repeated axis is flattened into the one before it, `axis` of `flat`. */
static bool is_flattened(const ir_type_data *t, int repeated, const ir_type_data *flat, int axis) {
    const int behind = flat->rank - axis - 1;
    return repeated > 0 && t->rank - repeated - 1 == behind &&
           t->dims[repeated - 1] * t->dims[repeated] == flat->dims[axis] &&
           memcmp(t->dims + repeated + 1, flat->dims + axis + 1,
                  (size_t)behind * sizeof *t->dims) == 0;
}

/* The value behind conversions, transpositions and then reshapes, of which *flat is the last one's.
 * `made` gets the others; *axis is followed through them. */
static ir_value behind_moves(const ir_module *m, ir_value v, ir_op *made, size_t *count, int *axis,
                             ir_value *flat) {
    for (ir_op op; (op = ir_value_get(m, v)->op) != 0; v = ir_op_get(m, op)->operands[0]) {
        const int opcode = ir_op_get(m, op)->opcode;
        int64_t permutation[IR_MAX_RANK];
        if (opcode == GRAPH_RESHAPE) {
            *flat = *flat ? *flat : v;
            continue;
        }
        bool turns = opcode == GRAPH_TRANSPOSE && !*flat;
        if ((opcode != GRAPH_CONVERT && !turns) || *count == ATTRIBUTES)
            break;
        made[(*count)++] = op;
        if (turns) {
            ir_op_ints(m, op, "permutation", permutation, IR_MAX_RANK);
            *axis = (int)permutation[*axis];
        }
    }
    return v;
}

/* y as it is before it is repeated along `axis`; 0: it is not. */
static ir_value unrepeated(ir_builder *b, ir_value y, int axis, heads *at) {
    ir_op made[ATTRIBUTES]; /* of what is not repeated, anew */
    size_t count = 0;
    ir_value flat = 0, v = behind_moves(b->m, y, made, &count, &axis, &flat);
    ir_op op = made_by(b->m, v, GRAPH_BROADCAST);
    int repeated = op ? repeated_axis(b->m, op) : -1;
    const ir_type_data *t = build_type(b, v);
    ir_type_data kept = *build_type(b, flat ? flat : v);
    if (repeated < 0)
        return 0;
    if (!flat && repeated == axis)
        *at = (heads){0, 1, t->dims[repeated]};
    else if (flat && is_flattened(t, repeated, &kept, axis))
        *at = (heads){0, t->dims[repeated - 1], t->dims[repeated]};
    else
        return 0;
    kept.dims[axis] = at->groups;
    v = build_reshape(b, ir_op_get(b->m, op)->operands[0], kept.rank, kept.dims);
    while (count-- > 0)
        v = again(b, made[count], &v);
    return v;
}

/* ---- operations ---- */

/* Heads are the last batch axis, and behind it x has one row. */
static ir_value shared_dot(const pairings *all, ir_builder *b, ir_op op, heads *at) {
    const ir_op_data *d = ir_op_get(b->m, op);
    int64_t x_batch[IR_MAX_RANK], y_batch[IR_MAX_RANK];
    const uint32_t count = ir_op_ints(b->m, op, "x_batch", x_batch, IR_MAX_RANK);
    ir_op_ints(b->m, op, "y_batch", y_batch, IR_MAX_RANK);
    const ir_type_data *x = build_type(b, d->operands[0]);
    if (d->operand_count != 2 || count == 0 || x->rank != (int)count + 2 ||
        !ir_type_is_static(b->m, ir_value_get(b->m, d->operands[0])->type) ||
        !ir_type_is_static(b->m, ir_value_get(b->m, d->operands[1])->type))
        return 0;
    const int axis = (int)x_batch[count - 1];
    int64_t contracted = -1;
    ir_op_ints(b->m, op, "x_contract", &contracted, 1);
    if (axis + 1 >= x->rank || contracted == axis + 1 || x->dims[axis + 1] != 1 ||
        ir_ints_hold(x_batch, count, axis + 1))
        return 0;
    ir_value operands[] = {d->operands[0], d->operands[1]};
    operands[1] = unrepeated(b, operands[1], (int)y_batch[count - 1], at);
    if (!operands[1])
        return 0;
    at->axis = axis;
    operands[0] = shared_form(all, b, operands[0], *at);
    at->axis = (int)count - 1;
    return again(b, op, operands);
}

/* An element-wise operation. */
static ir_value shared_elements(const pairings *all, ir_builder *b, ir_op op, heads at) {
    const uint32_t count = ir_op_get(b->m, op)->operand_count;
    ir_value operands[4];
    for (uint32_t i = 0; i < count; i++)
        operands[i] = shared_form(all, b, ir_op_get(b->m, op)->operands[i], at);
    return again(b, op, operands);
}

static ir_value shared_reduce(const pairings *all, ir_builder *b, ir_op op, heads *at) {
    int64_t axis = 0;
    ir_op_ints(b->m, op, "axes", &axis, 1);
    if (axis == at->axis || axis == at->axis + 1)
        return 0;
    ir_value x = shared_form(all, b, ir_op_get(b->m, op)->operands[0], *at);
    at->axis -= axis < at->axis;
    return again(b, op, &x);
}

/* The operation in the other form, where one of its operands has it; *at: where its result does. 0:
 * it stays. */
static ir_value shared_result(const pairings *all, ir_builder *b, ir_op op, heads *at) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const pairing *known = NULL;
    for (uint32_t i = 0; i < d->operand_count && !known; i++)
        known = pairing_of(all, d->operands[i]);
    if (!known)
        return 0;
    *at = known->at;
    if (graph_op_class(d->opcode) == GRAPH_CLASS_ELEMENTWISE && d->operand_count <= 4)
        return shared_elements(all, b, op, *at);
    if (d->opcode == GRAPH_REDUCE)
        return shared_reduce(all, b, op, at);
    if (d->opcode != GRAPH_BROADCAST)
        return 0;
    int64_t axes[IR_MAX_RANK];
    ir_op_ints(b->m, op, "axes", axes, IR_MAX_RANK);
    if (axes[at->axis + 1] != axes[at->axis] + 1)
        return 0;
    at->axis = (int)axes[at->axis];
    return shared_broadcast(all, b, op, *at);
}

static control_rewritten rewrite(ir_builder *b, ir_op op, ir_value *results, void *context) {
    pairings *all = context;
    const ir_op_data *d = ir_op_get(b->m, op);
    if (d->result_count != 1 || d->region_count || d->attr_count > ATTRIBUTES)
        return CONTROL_KEPT;
    const ir_type_data whole = *build_type(b, d->results[0]);
    heads at = {0};
    ir_value shared =
        d->opcode == GRAPH_DOT ? shared_dot(all, b, op, &at) : shared_result(all, b, op, &at);
    if (!shared)
        return CONTROL_KEPT;
    results[0] = build_reshape(b, shared, whole.rank, whole.dims);
    vec_push(all, ((pairing){results[0], shared, at}));
    return CONTROL_REPLACED;
}

bool graph_share_factors(ir_module *m, status *st) {
    pairings all = {0};
    (void)st;
    bool ok = control_rewrite(m, rewrite, &all);
    vec_release(&all);
    return ok;
}
