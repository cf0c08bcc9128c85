/* expand_tile.c - one operation on tiles, written out for the lengths that they have. */
#include <string.h>

#include "graph/expand_tiles.h"
#include "ops/build.h"

enum { OPERANDS = LIMIT_OPERANDS, ATTRS = 16 };

/* An operation on its way: operands as they are in this instance, attributes with numbers. */
typedef struct written {
    ir_op op;
    int opcode;
    ir_value operands[OPERANDS];
    uint32_t operand_count;
    ir_named_attr attrs[ATTRS];
    uint32_t attr_count;
} written;

/* ---- attributes ---- */

static bool bind_attr(expansion *e, ir_op op, ir_attr attr, ir_attr *out) {
    const ir_attr_data d = *ir_attr_get(e->m, attr);
    int64_t number;
    *out = attr;
    if (d.kind == IR_ATTR_DIM) {
        bool ok = expansion_number(e, op, attr, &number);
        *out = ok ? ir_attr_int(e->m, number) : attr;
        return ok;
    }
    if (d.kind != IR_ATTR_ARRAY || d.count > OPERANDS)
        return true;
    ir_attr items[OPERANDS];
    for (uint32_t i = 0; i < d.count; i++)
        if (!bind_attr(e, op, d.items[i], &items[i]))
            return false;
    *out = ir_attr_array(e->m, items, d.count);
    return true;
}

static ir_attr *attr_of(written *w, const char *name) {
    for (uint32_t i = 0; i < w->attr_count; i++)
        if (strcmp(w->attrs[i].name, name) == 0)
            return &w->attrs[i].value;
    return NULL;
}

static uint32_t ints_of(const expansion *e, written *w, const char *name, int64_t *out) {
    const ir_attr *attr = attr_of(w, name);
    const ir_attr_data *d = attr ? ir_attr_get(e->m, *attr) : NULL;
    uint32_t count = d ? d->count : 0;
    for (uint32_t i = 0; i < count && i < IR_MAX_RANK; i++)
        out[i] = ir_attr_get(e->m, d->items[i])->integer;
    return count;
}

static bool begin(expansion *e, ir_op op, written *w) {
    const ir_op_data *d = ir_op_get(e->m, op);
    *w = (written){.op = op, .opcode = d->opcode, .operand_count = d->operand_count};
    if (d->operand_count > OPERANDS || d->attr_count > ATTRS)
        return expansion_refuse(e, op, "it has too many operands or attributes");
    for (uint32_t i = 0; i < d->operand_count; i++)
        w->operands[i] = e->now[d->operands[i]];
    w->attr_count = d->attr_count;
    for (uint32_t i = 0; i < d->attr_count; i++) {
        w->attrs[i].name = d->attrs[i].name;
        if (!bind_attr(e, op, ir_op_get(e->m, op)->attrs[i].value, &w->attrs[i].value))
            return false;
    }
    return true;
}

/* ---- lengths ---- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Operands of one shape are as long as the shortest along each axis. */
static void cut_alike(expansion *e, written *w) {
    int64_t size[IR_MAX_RANK];
    int rank = w->operand_count ? expansion_type(e, w->operands[0])->rank : 0;
    for (int i = 0; i < rank; i++) {
        size[i] = INT64_MAX;
        for (uint32_t k = 0; k < w->operand_count; k++)
            size[i] = least(size[i], expansion_type(e, w->operands[k])->dims[i]);
    }
    for (uint32_t k = 0; k < w->operand_count; k++)
        w->operands[k] = expansion_cut(e, w->operands[k], size);
}

/* x's axis i is as long as result axis axes[i]. */
static void fit_broadcast(expansion *e, written *w) {
    int64_t shape[IR_MAX_RANK], axes[IR_MAX_RANK];
    uint32_t rank = ints_of(e, w, "shape", shape), kept = ints_of(e, w, "axes", axes);
    const ir_type_data *x = expansion_type(e, w->operands[0]);
    for (uint32_t i = 0; i < kept; i++)
        shape[axes[i]] = x->dims[i];
    *attr_of(w, "shape") = ir_attr_int_array(e->m, shape, rank);
}

bool reshape_next(const ir_type_data *from, const ir_type_data *to, reshape_run *r, bool *fits) {
    int f = r->from_end, t = r->to_end;
    while (f < from->rank && from->dims[f] == 1)
        f++;
    while (t < to->rank && to->dims[t] == 1)
        t++;
    bool more = f < from->rank && t < to->rank;
    *fits = more || (f == from->rank && t == to->rank);
    if (!more)
        return false;
    *r = (reshape_run){f, f + 1, t, t + 1};
    int64_t a = from->dims[f], b = to->dims[t];
    while (a != b && *fits) {
        *fits = a < b ? r->from_end < from->rank : r->to_end < to->rank;
        if (*fits && a < b)
            a *= from->dims[r->from_end++];
        else if (*fits)
            b *= to->dims[r->to_end++];
    }
    return *fits;
}

int64_t reshape_first(const ir_type_data *from, const ir_type_data *to, const reshape_run *r,
                      int64_t first) {
    int64_t count = first, each = 1;
    for (int i = r->from + 1; i < r->from_end; i++)
        count *= from->dims[i];
    for (int i = r->to + 1; i < r->to_end; i++)
        each *= to->dims[i];
    return each == 0 ? to->dims[r->to] : count % each ? -1 : count / each;
}

/* Of axes that are one in the other, the first may be shorter: what is left fills whole places of
 * the new ones, or it is refused. */
static bool fit_reshape(expansion *e, written *w) {
    const ir_op_data *d = ir_op_get(e->m, w->op);
    const ir_type_data *whole = expansion_type(e, d->operands[0]),
                       *to = expansion_type(e, d->results[0]),
                       *x = expansion_type(e, w->operands[0]);
    int64_t shape[IR_MAX_RANK];
    uint32_t rank = ints_of(e, w, "shape", shape);
    reshape_run r = {0};
    bool fits = true;
    if (memcmp(whole->dims, x->dims, sizeof(ir_dim) * (size_t)x->rank) == 0)
        return true;
    while (reshape_next(whole, to, &r, &fits)) {
        shape[r.to] = reshape_first(whole, to, &r, x->dims[r.from]);
        fits = shape[r.to] >= 0;
        for (int i = r.from + 1; i < r.from_end; i++)
            fits &= x->dims[i] == whole->dims[i];
        if (!fits)
            break;
    }
    if (!fits)
        return expansion_refuse(e, w->op,
                                "at an edge, where tiles are shorter, this one has %lld of %lld "
                                "places, which do not fill the new axes",
                                (long long)x->dims[r.from], (long long)whole->dims[r.from]);
    *attr_of(w, "shape") = ir_attr_int_array(e->m, shape, rank);
    return true;
}

static void fit_slice(expansion *e, written *w) {
    const ir_type_data *x = expansion_type(e, w->operands[0]);
    int64_t start[IR_MAX_RANK], stop[IR_MAX_RANK];
    uint32_t rank = ints_of(e, w, "start", start);
    ints_of(e, w, "stop", stop);
    for (uint32_t i = 0; i < rank; i++) {
        stop[i] = least(stop[i], x->dims[i]);
        start[i] = least(start[i], stop[i]);
    }
    *attr_of(w, "start") = ir_attr_int_array(e->m, start, rank);
    *attr_of(w, "stop") = ir_attr_int_array(e->m, stop, rank);
}

/* Steps that one side lacks do not happen. */
static void cut_pair(expansion *e, written *w, int x_axis, int y_axis) {
    int64_t sizes[2][IR_MAX_RANK];
    for (int side = 0; side < 2; side++) {
        const ir_type_data *t = expansion_type(e, w->operands[side]);
        memcpy(sizes[side], t->dims, sizeof(int64_t) * (size_t)t->rank);
    }
    int64_t steps = least(sizes[0][x_axis], sizes[1][y_axis]);
    sizes[0][x_axis] = sizes[1][y_axis] = steps;
    for (int side = 0; side < 2; side++)
        w->operands[side] = expansion_cut(e, w->operands[side], sizes[side]);
}

static void fit_matmul(expansion *e, written *w) {
    int x = expansion_type(e, w->operands[0])->rank, y = expansion_type(e, w->operands[1])->rank;
    if (x < 2 || y < 2)
        return;
    cut_pair(e, w, x - 1, y - 2);
    for (int i = 0; i < x - 2 && x == y; i++)
        cut_pair(e, w, i, i);
}

static void fit_dot(expansion *e, written *w) {
    int64_t x[IR_MAX_RANK], y[IR_MAX_RANK];
    static const char *const lists[][2] = {{"x_contract", "y_contract"}, {"x_batch", "y_batch"}};
    for (int l = 0; l < 2; l++) {
        uint32_t count = ints_of(e, w, lists[l][0], x);
        ints_of(e, w, lists[l][1], y);
        for (uint32_t i = 0; i < count; i++)
            cut_pair(e, w, (int)x[i], (int)y[i]);
    }
}

static bool fit(expansion *e, written *w) {
    switch (w->opcode) {
    case GRAPH_BROADCAST:
        fit_broadcast(e, w);
        return true;
    case GRAPH_RESHAPE:
        return fit_reshape(e, w);
    case GRAPH_SLICE:
        fit_slice(e, w);
        return true;
    case GRAPH_MATMUL:
        fit_matmul(e, w);
        return true;
    case GRAPH_DOT:
        fit_dot(e, w);
        return true;
    default:
        if (graph_op_class(w->opcode) == GRAPH_CLASS_ELEMENTWISE)
            cut_alike(e, w);
        return true;
    }
}

/* ---- one operation ---- */

static bool build(expansion *e, written *w) {
    const ir_op_data d = *ir_op_get(e->m, w->op);
    ir_type types[OPERANDS];
    for (uint32_t i = 0; i < w->operand_count; i++)
        types[i] = ir_value_get(e->m, w->operands[i])->type;
    graph_infer_query q = {.m = e->m,
                           .opcode = w->opcode,
                           .operands = types,
                           .operand_count = w->operand_count,
                           .attrs = w->attrs,
                           .attr_count = w->attr_count};
    if (!graph_infer(&q))
        return expansion_refuse(e, w->op, "at an edge, where tiles are shorter: %s", q.error);
    ir_op op = ir_build(&e->b, &(ir_op_spec){.opcode = w->opcode,
                                             .operands = w->operands,
                                             .operand_count = w->operand_count,
                                             .results = q.results,
                                             .result_count = q.result_count,
                                             .attrs = w->attrs,
                                             .attr_count = w->attr_count});
    for (uint32_t i = 0; i < d.result_count; i++)
        e->now[d.results[i]] = ir_op_result(e->m, op, i);
    return true;
}

/* An index of instances or loops is a number now. */
static bool step_extent(expansion *e, written *w) {
    int64_t value = 0;
    ints_of(e, w, "of", &value);
    const ir_named_attr attr = {"value", ir_attr_bits(e->m, DTYPE_I32, (uint32_t)value)};
    ir_op op = graph_build(&e->b, GRAPH_CONSTANT, NULL, 0, &attr, 1);
    e->now[ir_op_get(e->m, w->op)->results[0]] = ir_op_result(e->m, op, 0);
    return true;
}

bool expansion_step(expansion *e, ir_op op) {
    written w;
    if (!begin(e, op, &w))
        return false;
    return w.opcode == GRAPH_EXTENT ? step_extent(e, &w) : fit(e, &w) && build(e, &w);
}

/* ---- loads ---- */

/* A load with numbers: places from `begin` on, of which `inside` are in x, from place `first` of
 * the tile on. */
typedef struct placed_load {
    int rank;
    int64_t begin[IR_MAX_RANK], size[IR_MAX_RANK], first[IR_MAX_RANK], inside[IR_MAX_RANK];
    bool empty;
} placed_load;

static void count_inside(placed_load *l, const ir_type_data *x) {
    for (int i = 0; i < l->rank; i++) {
        int64_t from = l->begin[i] < 0 ? 0 : l->begin[i];
        int64_t to = least(l->begin[i] + l->size[i], x->dims[i]);
        l->first[i] = from - l->begin[i];
        l->inside[i] = to > from ? to - from : 0;
        l->empty |= l->inside[i] == 0;
    }
}

static bool place(expansion *e, written *w, placed_load *l) {
    const ir_type_data *x = expansion_type(e, w->operands[0]);
    int64_t start[IR_MAX_RANK], size[IR_MAX_RANK], shift[IR_MAX_RANK] = {0};
    ints_of(e, w, "start", start);
    ints_of(e, w, "size", size);
    ints_of(e, w, "shift", shift);
    *l = (placed_load){.rank = x->rank};
    for (int i = 0; i < x->rank; i++) {
        l->size[i] = least(size[i], x->dims[i] - start[i]);
        /* All of an axis may be none. */
        if (l->size[i] < 0 || (l->size[i] == 0 && size[i] > 0))
            return expansion_refuse(
                e, w->op, "a tile begins at %lld of axis %d, of which there are %lld places",
                (long long)start[i], i, (long long)x->dims[i]);
        l->begin[i] = start[i] + shift[i];
    }
    count_inside(l, x);
    l->empty = l->empty && attr_of(w, "other"); /* all of an axis may be none */
    return true;
}

static ir_value fill(expansion *e, written *w, int rank, const int64_t *size) {
    const ir_named_attr value = {"value", *attr_of(w, "other")};
    ir_value scalar = ir_op_result(e->m, graph_build(&e->b, GRAPH_CONSTANT, NULL, 0, &value, 1), 0);
    return build_broadcast(&e->b, scalar, rank, size, NULL);
}

static ir_value slice(expansion *e, ir_value x, const placed_load *l) {
    ir_dim start[IR_MAX_RANK], stop[IR_MAX_RANK];
    for (int i = 0; i < l->rank; i++) {
        start[i] = l->begin[i] + l->first[i];
        stop[i] = start[i] + l->inside[i];
    }
    return build_slice(&e->b, x, start, stop);
}

/* What is outside of x along one axis is filled. */
static ir_value pad_axis(expansion *e, written *w, ir_value x, const placed_load *l, int axis) {
    int64_t size[IR_MAX_RANK];
    ir_value parts[3];
    uint32_t count = 0;
    for (int i = 0; i < l->rank; i++)
        size[i] = expansion_type(e, x)->dims[i];
    int64_t before = l->first[axis], after = l->size[axis] - before - l->inside[axis];
    size[axis] = before;
    if (before)
        parts[count++] = fill(e, w, l->rank, size);
    parts[count++] = x;
    size[axis] = after;
    if (after)
        parts[count++] = fill(e, w, l->rank, size);
    const ir_named_attr attr = {"axis", ir_attr_int(e->m, axis)};
    return count == 1
               ? x
               : ir_op_result(e->m, graph_build(&e->b, GRAPH_CONCAT, parts, count, &attr, 1), 0);
}

static ir_value part(expansion *e, written *w, ir_value x, const placed_load *l) {
    x = l->empty ? fill(e, w, l->rank, l->size) : slice(e, x, l);
    for (int i = 0; i < l->rank && !l->empty; i++)
        x = pad_axis(e, w, x, l, i);
    return x;
}

ir_value expansion_part(expansion *e, ir_op load, ir_value x, const int64_t *begin,
                        const int64_t *size) {
    written w = {
        .op = load, .attrs = {{"other", ir_op_attr(e->m, load, "other")}}, .attr_count = 1};
    placed_load l = {.rank = expansion_type(e, x)->rank};
    memcpy(l.begin, begin, sizeof *begin * (size_t)l.rank);
    memcpy(l.size, size, sizeof *size * (size_t)l.rank);
    count_inside(&l, expansion_type(e, x));
    return part(e, &w, x, &l);
}

bool expansion_load(expansion *e, ir_op op) {
    written w;
    placed_load l;
    int64_t kept[IR_MAX_RANK], shape[IR_MAX_RANK];
    if (!begin(e, op, &w) || !place(e, &w, &l))
        return false;
    ir_value x = part(e, &w, w.operands[0], &l);
    uint32_t rank = ints_of(e, &w, "kept", kept);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = l.size[kept[i]];
    const ir_named_attr attr = {"shape", ir_attr_int_array(e->m, shape, rank)};
    if ((int)rank != l.rank)
        x = ir_op_result(e->m, graph_build(&e->b, GRAPH_RESHAPE, &x, 1, &attr, 1), 0);
    e->now[ir_op_get(e->m, op)->results[0]] = x;
    return true;
}
