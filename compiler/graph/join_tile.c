/* join_tile.c - one operation on tiles as an operation on the tensors of all of them. */
#include <stdio.h>
#include <string.h>

#include "graph/join_tiles.h"
#include "ops/build.h"
#include "ops/orders.h"
#include "ops/tile_step.h"

/* An operation on its way. */
typedef struct joining_step {
    joining_pass *j;
    ir_op op;
    int opcode;
    joined x[JOIN_OPERANDS];
    uint32_t count;
    ir_named_attr attrs[JOIN_ATTRS];
    uint32_t attr_count;
} joining_step;

static bool give(joining_step *s, joined result) {
    s->j->now[ir_op_get(s->j->e.m, s->op)->results[0]] = result;
    return result.is_number || result.value != 0;
}

static const ir_type_data *tile_type(const joining_step *s, uint32_t operand) {
    return join_type(s->j, ir_op_get(s->j->e.m, s->op)->operands[operand]);
}

static const ir_type_data *result_type(const joining_step *s) {
    return join_type(s->j, ir_op_result(s->j->e.m, s->op, 0));
}

static ir_attr *attr_of(joining_step *s, const char *name) {
    for (uint32_t i = 0; i < s->attr_count; i++)
        if (strcmp(s->attrs[i].name, name) == 0)
            return &s->attrs[i].value;
    return NULL;
}

static uint32_t ints_of(const joining_step *s, const char *name, int64_t *out) {
    return ir_op_ints(s->j->e.m, s->op, name, out, IR_MAX_RANK);
}

static ir_value build(joining_step *s, const ir_value *operands) {
    return join_build(s->j, s->opcode, operands, s->count, s->attrs, s->attr_count);
}

/* Axes along which all places are alike, and that an operation tells apart. */
static bool spread(joining_step *s, uint32_t operand, uint32_t axes) {
    joined *x = &s->x[operand];
    layout l = join_layout(x);
    for (int i = 0; i < x->rank; i++) {
        bool alike = x->along[i] == AXIS_ALIKE;
        if (alike && (axes >> i & 1)) {
            l.along[i] = AXIS_OWN;
            l.length[i] = tile_type(s, operand)->dims[i];
        } else if (!alike) {
            l.length[i] = join_length(s->j, x, i);
        }
    }
    ir_value v = join_align(s->j, x, &l);
    *x = join_of_layout(&l, v);
    return v != 0;
}

/* An axis along which an operation computes has nothing joined to it. */
static bool own_axis(joining_step *s, uint32_t operand, int axis) {
    int along = s->x[operand].along[axis];
    return along >= 0 ? join_blame(s->j, along) : spread(s, operand, UINT32_C(1) << axis);
}

/* ---- element by element ---- */

/* Places of the tile in its tensor: iota + size * index. */
static bool step_places(joining_step *s, bool *done) {
    const joined *list = s->x[0].counts ? &s->x[0] : &s->x[1],
                 *number = s->x[0].counts ? &s->x[1] : &s->x[0];
    join_start start;
    *done = false;
    if (s->opcode != GRAPH_ADD || !list->counts || !number->is_number)
        return true;
    if (!join_start_of(s->j, s->op, number->number, &start))
        return false;
    int axis = 0;
    while (list->along[axis] != AXIS_OWN)
        axis++;
    int64_t size = join_length(s->j, list, axis);
    if (start.index < 0 || s->j->indices[start.index].in_front || start.delta != size || start.base)
        return true;
    joined_index *index = &s->j->indices[start.index];
    if (index->size && index->size != size)
        return join_blame(s->j, start.index);
    index->size = size;
    int64_t whole = size * index->count;
    joined places = *list;
    places.counts = false;
    places.along[axis] = start.index;
    places.value = build_iota(&s->j->e.b, 1, &whole, 0);
    *done = true;
    return whole <= INT32_MAX && give(s, places);
}

/* A product of one turn onto the sum of those before: the sum of all turns. */
static bool step_sum(joining_step *s, bool *done) {
    const joined *sum = &s->x[0], *product = &s->x[1];
    if (s->count == 2 && sum->role == ROLE_PRODUCT) {
        sum = &s->x[1];
        product = &s->x[0];
    }
    *done = false;
    for (uint32_t i = 0; i < s->count; i++)
        *done |= s->x[i].role != ROLE_TILE;
    if (!*done)
        return true;
    if (s->opcode != GRAPH_ADD || sum->role != ROLE_CARRIED || product->role != ROLE_PRODUCT)
        return join_blame(s->j, -1);
    joined all = *product;
    all.role = ROLE_SUM;
    all.carried = sum->carried;
    return give(s, all);
}

static bool step_elementwise(joining_step *s) {
    bool done;
    if (!step_sum(s, &done) || done)
        return done;
    if (!step_places(s, &done) || done)
        return done;
    for (uint32_t i = 0; i < s->count; i++)
        if (!join_number(s->j, &s->x[i]))
            return false;
    layout l = join_layout(&s->x[0]);
    ir_value operands[JOIN_OPERANDS];
    for (uint32_t i = 0; i < s->count; i++)
        if (!join_meet(s->j, &l, &s->x[i]))
            return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (!(operands[i] = join_align(s->j, &s->x[i], &l)))
            return join_blame(s->j, -1);
    return give(s, join_of_layout(&l, build(s, operands)));
}

/* ---- generators and data movement ---- */

static bool step_constant(joining_step *s) {
    joined x = {.value = build(s, NULL)};
    const ir_attr_data *bits = ir_attr_get(s->j->e.m, *attr_of(s, "value"));
    x.is_zero = bits->integer == 0;
    return give(s, x);
}

static bool step_iota(joining_step *s) {
    int64_t shape[IR_MAX_RANK], axis = ir_op_int(s->j->e.m, s->op, "axis", 0);
    joined x = {.rank = (int)ints_of(s, "shape", shape), .counts = true};
    for (int i = 0; i < x.rank; i++)
        x.along[i] = i == axis ? AXIS_OWN : AXIS_ALIKE;
    x.value = build_iota(&s->j->e.b, 1, &shape[axis], 0);
    return give(s, x);
}

static bool step_extent(joining_step *s) {
    joined x = {.is_number = true};
    x.number = ir_attr_get(s->j->e.m, ir_op_attr(s->j->e.m, s->op, "of"))->items[0];
    return give(s, x);
}

static bool step_broadcast(joining_step *s) {
    int64_t shape[IR_MAX_RANK], axes[IR_MAX_RANK];
    joined x = s->x[0];
    x.rank = (int)ints_of(s, "shape", shape);
    ints_of(s, "axes", axes);
    for (int i = 0; i < x.rank; i++)
        x.along[i] = AXIS_ALIKE;
    for (int i = 0; i < s->x[0].rank; i++) {
        if (i > 0 && axes[i] < axes[i - 1])
            return join_blame(s->j, -1);
        x.along[axes[i]] = s->x[0].along[i];
    }
    return give(s, x);
}

/* Axes that are one in the other: tiles may lie side by side along the first, and there is all of
 * the others. */
static bool reshape_axes(joining_step *s, const reshape_run *r, joined *y, int64_t *length) {
    const ir_type_data *from = tile_type(s, 0), *to = result_type(s);
    uint32_t run = 0;
    for (int i = r->from; i < r->from_end; i++)
        run |= UINT32_C(1) << i;
    if (!spread(s, 0, run))
        return false;
    const joined *x = &s->x[0];
    for (int i = r->from + 1; i < r->from_end; i++) {
        if (x->along[i] >= 0)
            return join_blame(s->j, x->along[i]);
        if (join_length(s->j, x, i) != from->dims[i])
            return join_blame(s->j, -1);
    }
    y->along[r->to] = x->along[r->from];
    length[r->to] = reshape_first(from, to, r, join_length(s->j, x, r->from));
    for (int i = r->to + 1; i < r->to_end; i++) {
        y->along[i] = AXIS_OWN;
        length[i] = to->dims[i];
    }
    return length[r->to] >= 0 || join_blame(s->j, -1);
}

static bool step_reshape(joining_step *s) {
    const ir_type_data *from = tile_type(s, 0), *to = result_type(s);
    int64_t length[IR_MAX_RANK] = {0}, shape[IR_MAX_RANK];
    reshape_run r = {0};
    bool fits = true;
    joined y = s->x[0];
    for (int i = 0; i < y.rank; i++)
        if (from->dims[i] == 1 && y.along[i] >= 0)
            return join_blame(s->j, y.along[i]);
    y.rank = to->rank;
    for (int i = 0; i < to->rank; i++)
        y.along[i] = AXIS_ALIKE;
    while (reshape_next(from, to, &r, &fits)) {
        bool alone = r.from_end == r.from + 1 && r.to_end == r.to + 1;
        y.counts &= alone;
        if (!alone && !reshape_axes(s, &r, &y, length))
            return false;
        if (alone)
            y.along[r.to] = s->x[0].along[r.from];
        if (alone && y.along[r.to] != AXIS_ALIKE)
            length[r.to] = join_length(s->j, &s->x[0], r.from);
    }
    int rank = __builtin_popcount(y.batches);
    y.value = s->x[0].value;
    memcpy(shape, join_type(s->j, y.value)->dims, sizeof *shape * (size_t)rank);
    for (int i = 0; i < to->rank; i++)
        if (y.along[i] != AXIS_ALIKE)
            shape[rank++] = length[i];
    const ir_type_data *now = join_type(s->j, y.value);
    const ir_named_attr attr = {"shape", ir_attr_int_array(s->j->e.m, shape, (uint32_t)rank)};
    bool same = now->rank == rank && memcmp(now->dims, shape, sizeof *shape * (size_t)rank) == 0;
    if (!same)
        y.value = join_build(s->j, GRAPH_RESHAPE, &y.value, 1, &attr, 1);
    return fits ? give(s, y) : join_blame(s->j, -1);
}

static bool step_transpose(joining_step *s) {
    int64_t order[IR_MAX_RANK], moved[IR_MAX_RANK];
    joined x = s->x[0];
    int front = __builtin_popcount(x.batches), rank = 0;
    ints_of(s, "permutation", order);
    for (int i = 0; i < front; i++)
        moved[rank++] = i;
    for (int i = 0; i < x.rank; i++) {
        x.along[i] = s->x[0].along[order[i]];
        if (x.along[i] != AXIS_ALIKE)
            moved[rank++] = join_axis(&s->x[0], (int)order[i]);
    }
    const ir_named_attr attr = {"permutation", ir_attr_int_array(s->j->e.m, moved, (uint32_t)rank)};
    x.value = rank ? join_build(s->j, GRAPH_TRANSPOSE, &x.value, 1, &attr, 1) : x.value;
    x.counts = false;
    return give(s, x);
}

static bool step_slice(joining_step *s) {
    int64_t start[IR_MAX_RANK], stop[IR_MAX_RANK], step[IR_MAX_RANK];
    int64_t from[IR_MAX_RANK] = {0}, to[IR_MAX_RANK], by[IR_MAX_RANK];
    joined x = s->x[0];
    uint32_t rank = (uint32_t)join_rank(&x);
    ints_of(s, "start", start);
    ints_of(s, "stop", stop);
    ints_of(s, "step", step);
    for (uint32_t i = 0; i < rank; i++) {
        to[i] = join_type(s->j, x.value)->dims[i];
        by[i] = 1;
    }
    for (int i = 0; i < x.rank; i++) {
        bool whole = !start[i] && stop[i] == tile_type(s, 0)->dims[i] && step[i] == 1;
        int at = join_axis(&x, i);
        if (x.along[i] == AXIS_ALIKE || whole)
            continue;
        if (x.along[i] >= 0)
            return join_blame(s->j, x.along[i]);
        to[at] = stop[i] < to[at] ? stop[i] : to[at];
        from[at] = start[i] < to[at] ? start[i] : to[at];
        by[at] = step[i];
    }
    const ir_named_attr attrs[] = {{"start", ir_attr_int_array(s->j->e.m, from, rank)},
                                   {"stop", ir_attr_int_array(s->j->e.m, to, rank)},
                                   {"step", ir_attr_int_array(s->j->e.m, by, rank)}};
    x.value = join_build(s->j, GRAPH_SLICE, &x.value, 1, attrs, 3);
    x.counts = x.is_zero = false;
    return give(s, x);
}

static bool step_concat(joining_step *s) {
    int axis = (int)ir_op_int(s->j->e.m, s->op, "axis", 0);
    ir_value operands[JOIN_OPERANDS];
    layout l;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!own_axis(s, i, axis))
            return false;
        l = i ? l : join_layout(&s->x[0]);
        if (!join_meet(s->j, &l, &s->x[i]))
            return false;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        l.length[axis] = join_length(s->j, &s->x[i], axis);
        if (!(operands[i] = join_align(s->j, &s->x[i], &l)))
            return false;
    }
    joined x = join_of_layout(&l, 0);
    *attr_of(s, "axis") = ir_attr_int(s->j->e.m, join_axis(&x, axis));
    x.value = build(s, operands);
    return give(s, x);
}

/* ---- along an axis ---- */

static joined without(const joined *x, uint32_t axes) {
    joined y = *x;
    y.rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (!(axes >> i & 1))
            y.along[y.rank++] = x->along[i];
    return y;
}

static bool step_reduce(joining_step *s) {
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ints_of(s, "axes", axes), set = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!own_axis(s, 0, (int)axes[i]))
            return false;
        set |= UINT32_C(1) << axes[i];
    }
    for (uint32_t i = 0; i < count; i++)
        axes[i] = join_axis(&s->x[0], (int)axes[i]);
    *attr_of(s, "axes") = ir_attr_int_array(s->j->e.m, axes, count);
    joined y = without(&s->x[0], set);
    y.value = build(s, &s->x[0].value);
    return give(s, y);
}

/* An operation with the attribute `axis`, which may vanish. */
static bool step_along(joining_step *s) {
    int axis = (int)ir_op_int(s->j->e.m, s->op, "axis", -1);
    joined *x = &s->x[0];
    axis = axis < 0 ? axis + x->rank : axis;
    if (!own_axis(s, 0, axis))
        return false;
    *attr_of(s, "axis") = ir_attr_int(s->j->e.m, join_axis(x, axis));
    joined y = result_type(s)->rank < x->rank ? without(x, UINT32_C(1) << axis) : *x;
    y.value = build(s, &x->value);
    return give(s, y);
}

/* Rows that are normalised, with a gain and a bias for each column. */
static bool step_rows(joining_step *s) {
    ir_value operands[JOIN_OPERANDS];
    for (uint32_t i = 0; i < s->count; i++) {
        if (!own_axis(s, i, s->x[i].rank - 1) || (i && s->x[i].batches))
            return join_blame(s->j, -1);
        operands[i] = s->x[i].value;
    }
    joined y = s->x[0];
    y.value = build(s, operands);
    return give(s, y);
}

/* ---- contractions ---- */

/* The order of a contraction in chunks of so many steps; NULL: there is none. */
static const char *order_of_chunks(const joining_step *s, int64_t steps) {
    char name[32];
    snprintf(name, sizeof name, "chunk%lld", (long long)steps);
    order_id order = order_find(name);
    if (!dtype_is_float(result_type(s)->element))
        return ir_op_string(s->j->e.m, s->op, "order", "chunk512");
    return order == ORDER_COUNT || order_of(s->j->e.m, s->op, ORDER_CHUNK512) != ORDER_CHUNK512
               ? NULL
               : order_info_of(order)->name;
}

/* Both sides go along the blocks of the loop at hand. */
static bool over_blocks(joining_step *s, int x_axis, int y_axis, joined_role *role) {
    int along = s->x[0].along[x_axis];
    if (along < 0 || along != s->j->contracted || s->x[1].along[y_axis] != along)
        return true;
    const char *order = order_of_chunks(s, s->j->indices[along].size);
    ir_attr *attr = attr_of(s, "order");
    if (!order || !attr)
        return join_blame(s->j, -1);
    *attr = ir_attr_string(s->j->e.m, order);
    *role = ROLE_PRODUCT;
    return true;
}

static void share_batches(const joining_step *s, layout *x, layout *y) {
    uint32_t both = s->x[0].batches | s->x[1].batches;
    x->batches = both;
    y->batches = s->x[1].batches || both != s->x[0].batches ? both : 0;
}

static bool step_matmul(joining_step *s) {
    joined *x = &s->x[0], *y = &s->x[1];
    joined_role role = ROLE_TILE;
    if (x->rank != 2 || y->rank != 2 || !over_blocks(s, 1, 0, &role))
        return join_blame(s->j, -1);
    if (role == ROLE_TILE && (!own_axis(s, 0, 1) || !own_axis(s, 1, 0)))
        return false;
    if (!spread(s, 0, 3) || !spread(s, 1, 3))
        return false;
    layout lx = join_layout(x), ly = join_layout(y), l = {.rank = 2};
    int64_t a = join_length(s->j, x, 1), b = join_length(s->j, y, 0);
    share_batches(s, &lx, &ly);
    lx.length[0] = join_length(s->j, x, 0);
    ly.length[1] = join_length(s->j, y, 1);
    lx.length[1] = ly.length[0] = a < b ? a : b;
    l.batches = lx.batches;
    l.along[0] = x->along[0];
    l.along[1] = y->along[1];
    l.length[0] = l.length[1] = INT64_MAX;
    joined product = join_of_layout(&l, 0);
    if (role == ROLE_PRODUCT && (l.batches >> s->j->contracted & 1))
        return join_blame(s->j, -1);
    for (int i = 0; i < 2; i++)
        if (l.along[i] >= 0 && ((l.batches >> l.along[i] & 1) || l.along[0] == l.along[1]))
            return join_blame(s->j, l.along[i]);
    ir_value operands[] = {join_align(s->j, x, &lx), join_align(s->j, y, &ly)};
    if (!operands[0] || !operands[1])
        return join_blame(s->j, -1);
    product.value = build(s, operands);
    product.role = role;
    return give(s, product);
}

/* ---- which it is ---- */

static bool begin(joining_pass *j, ir_op op, joining_step *s) {
    const ir_op_data *d = ir_op_get(j->e.m, op);
    *s = (joining_step){.j = j, .op = op, .opcode = d->opcode, .count = d->operand_count};
    if (d->operand_count > JOIN_OPERANDS || d->attr_count > JOIN_ATTRS || d->result_count != 1)
        return join_blame(j, -1);
    memcpy(s->attrs, d->attrs, sizeof *d->attrs * d->attr_count);
    s->attr_count = d->attr_count;
    bool whole = graph_op_class(d->opcode) == GRAPH_CLASS_ELEMENTWISE;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        s->x[i] = j->now[d->operands[i]];
        if ((!s->x[i].value && !s->x[i].is_number) || (s->x[i].role != ROLE_TILE && !whole))
            return join_blame(j, -1);
        if (!whole && d->opcode != GRAPH_BROADCAST && !join_number(j, &s->x[i]))
            return false;
    }
    return true;
}

bool join_step(joining_pass *j, ir_op op) {
    joining_step s;
    if (!begin(j, op, &s))
        return false;
    switch (s.opcode) {
    case GRAPH_CONSTANT:
        return step_constant(&s);
    case GRAPH_IOTA:
        return step_iota(&s);
    case GRAPH_EXTENT:
        return step_extent(&s);
    case GRAPH_BROADCAST:
        return step_broadcast(&s);
    case GRAPH_RESHAPE:
        return step_reshape(&s);
    case GRAPH_TRANSPOSE:
        return step_transpose(&s);
    case GRAPH_SLICE:
        return step_slice(&s);
    case GRAPH_CONCAT:
        return step_concat(&s);
    case GRAPH_REDUCE:
        return step_reduce(&s);
    case GRAPH_SOFTMAX:
    case GRAPH_LOGSUMEXP:
    case GRAPH_MEAN:
    case GRAPH_CUMSUM:
    case GRAPH_ARGSORT:
        return step_along(&s);
    case GRAPH_LAYERNORM:
    case GRAPH_RMSNORM:
        return step_rows(&s);
    case GRAPH_MATMUL:
        return step_matmul(&s);
    case GRAPH_RELU:
    case GRAPH_GELU:
    case GRAPH_SILU:
        return step_elementwise(&s);
    default:
        return graph_op_class(s.opcode) == GRAPH_CLASS_ELEMENTWISE ? step_elementwise(&s)
                                                                   : join_blame(j, -1);
    }
}
