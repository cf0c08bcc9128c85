/* subscript.c - x[...]: slices, dropped axes, new axes (None) and the ellipsis; and items of
 * tuples. */
#include <string.h>

#include "check/check.h"

/* The slice that the indices of one subscript amount to. */
typedef struct selection {
    ir_dim start[IR_MAX_RANK], stop[IR_MAX_RANK];
    ir_dim step[IR_MAX_RANK];
    int axis;                  /* the next axis of x */
    bool moves;                /* something is left out */
    ir_dim shape[IR_MAX_RANK]; /* after the slice: dropped axes gone, new ones there */
    int sources[IR_MAX_RANK];  /* of each shape axis: the sliced axis it is, or -1 for a new one */
    int rank;
} selection;

static entity refuse(checker *c, diagnostic_id id, span at, const char *message) {
    diagnose_error(c->report, id, at, "%s", message);
    return entity_broken(at);
}

/* -N: from the end only where N is not 0, which depends on the case. */
static bool refuse_negated(checker *c, const node *n, ir_dim dim, ir_dim length) {
    const char *distance = arena_strdup(&c->memory, ir_dim_text(c->m, dim)),
               *end = arena_strdup(&c->memory, ir_dim_text(c->m, length));
    ir_dim position = ir_dim_sub(c->m, length, dim);
    diagnose_error(c->report, ERROR_DIMENSION_OPERANDS, n->at,
                   "only numbers count from the end of an axis, and %s is a dimension", distance);
    diagnose_help(c->report, "this axis has the length %s: %s%s", end,
                  position == IR_DIM_INVALID ? "nothing stands as far from its end" : "write ",
                  position == IR_DIM_INVALID ? "" : ir_dim_text(c->m, position));
    return false;
}

/* A start, stop or index; negative integers count from the end. */
static bool read_bound(checker *c, const node *n, ir_dim length, ir_dim *out) {
    bool negated = n->kind == NODE_UNARY && n->symbol == SYMBOL1('-');
    entity e = check_expression(c, negated ? n->left : n);
    if (negated && e.kind == ENTITY_DIM)
        return refuse_negated(c, n, e.dim, length);
    if (negated && e.kind == ENTITY_NUMBER) {
        e = number_negate(c, &e);
        e.at = n->at;
    }
    bool negative = e.kind == ENTITY_NUMBER && e.is_integer && e.integer < 0;
    if (!negative) {
        if (e.kind == ENTITY_TENSOR) {
            diagnose_error(c->report, ERROR_TENSOR_INDEX, n->at, "a tensor cannot be an index");
            diagnose_help(c->report, "take(x, indices, axis=0) picks rows by an i32 tensor");
            return false;
        }
        return argument_dim(c, &e, out);
    }
    *out = e.integer == INT64_MIN ? IR_DIM_INVALID : ir_dim_sub(c->m, length, -e.integer);
    if (*out == IR_DIM_INVALID) {
        diagnose_error(c->report, ERROR_INDEX_RANGE, n->at,
                       "index %lld lies before the start of an axis of length %s",
                       (long long)e.integer, ir_dim_text(c->m, length));
        return false;
    }
    return true;
}

static bool bound_fits(checker *c, ir_dim bound, ir_dim length, span at) {
    if (bound < 0 || length < 0 || bound <= length)
        return true;
    diagnose_error(c->report, ERROR_INDEX_RANGE, at,
                   "%lld lies beyond the end of an axis of length %lld", (long long)bound,
                   (long long)length);
    diagnose_help(c->report, "write %lld at most; x[start:] goes to the end", (long long)length);
    return false;
}

static bool push_axis(checker *c, selection *s, ir_dim size, int source, span at) {
    if (s->rank == IR_MAX_RANK) {
        refuse(c, ERROR_RANK_LIMIT, at, "the result would have too many axes");
        return false;
    }
    s->sources[s->rank] = source;
    s->shape[s->rank++] = size;
    return true;
}

static bool read_step(checker *c, const node *n, ir_dim *out) {
    entity step = check_expression(c, n);
    if (step.kind == ENTITY_DIM)
        *out = step.dim;
    else if (!argument_int(c, &step, "a step", out))
        return false;
    if (ir_dim_is_static(*out) && *out < 1) {
        refuse(c, ERROR_SLICE_STEP, n->at, "a step must be at least 1");
        return false;
    }
    return true;
}

static bool take_slice(checker *c, selection *s, const node *n, ir_dim length) {
    int a = s->axis;
    s->start[a] = 0;
    s->stop[a] = length;
    s->step[a] = 1;
    if ((n->left && !read_bound(c, n->left, length, &s->start[a])) ||
        (n->right && !read_bound(c, n->right, length, &s->stop[a])))
        return false;
    if (n->third && !read_step(c, n->third, &s->step[a]))
        return false;
    if (!bound_fits(c, s->start[a], length, n->at) || !bound_fits(c, s->stop[a], length, n->at))
        return false;
    if (s->start[a] >= 0 && s->stop[a] >= 0 && s->start[a] > s->stop[a]) {
        refuse(c, ERROR_SLICE_BOUNDS, n->at, "this slice starts after its stop");
        return false;
    }
    s->moves |= s->start[a] != 0 || s->stop[a] != length || s->step[a] != 1;
    s->axis++;
    return push_axis(c, s, 0, a, n->at);
}

static bool take_whole(checker *c, selection *s, ir_dim length, span at) {
    static const node everything = {.kind = NODE_SLICE};
    node whole = everything;
    whole.at = at;
    return take_slice(c, s, &whole, length);
}

static bool take_one(checker *c, selection *s, const node *n, ir_dim length) {
    int a = s->axis;
    if (!read_bound(c, n, length, &s->start[a]))
        return false;
    s->stop[a] = ir_dim_add(c->m, s->start[a], 1);
    s->step[a] = 1;
    if (s->start[a] >= 0 && length >= 0 && s->start[a] >= length) {
        diagnose_error(c->report, ERROR_INDEX_RANGE, n->at,
                       "index %lld is outside of an axis of length %lld", (long long)s->start[a],
                       (long long)length);
        if (length > 0) {
            diagnose_help(c->report, "write %lld at most; x[-1] is the last one",
                          (long long)length - 1);
        }
        return false;
    }
    s->moves = true;
    s->axis++;
    return true;
}

static bool take_index(checker *c, selection *s, const node *n, const ir_type_data *type,
                       int left) {
    if (n->kind == NODE_NONE)
        return push_axis(c, s, 1, -1, n->at);
    if (n->kind == NODE_ELLIPSIS) {
        while (s->axis < type->rank - left)
            if (!take_whole(c, s, type->dims[s->axis], n->at))
                return false;
        return true;
    }
    ir_dim length = type->dims[s->axis];
    return n->kind == NODE_SLICE ? take_slice(c, s, n, length) : take_one(c, s, n, length);
}

static int count_axes(const node *const *items, uint32_t count) {
    int axes = 0;
    for (uint32_t i = 0; i < count; i++)
        axes += items[i]->kind != NODE_NONE && items[i]->kind != NODE_ELLIPSIS;
    return axes;
}

static entity apply(checker *c, selection *s, const entity *x, span at) {
    entity out = *x;
    uint32_t rank = (uint32_t)s->axis;
    if (s->moves) {
        ir_named_attr attrs[] = {{"start", ir_attr_dim_array(c->m, s->start, rank)},
                                 {"stop", ir_attr_dim_array(c->m, s->stop, rank)},
                                 {"step", ir_attr_dim_array(c->m, s->step, rank)}};
        out = emit_one(c, GRAPH_SLICE, x, 1, attrs, 3, at);
    }
    if (out.kind == ENTITY_BROKEN)
        return out;
    const ir_type_data *sliced = tensor_type(c, &out);
    for (int i = 0; i < s->rank; i++)
        s->shape[i] = s->sources[i] < 0 ? 1 : sliced->dims[s->sources[i]];
    return emit_reshape(c, &out, s->rank, s->shape, at);
}

static bool indices_fit(checker *c, const node *n, const node *const *items, uint32_t count,
                        int rank) {
    int ellipses = 0;
    for (uint32_t i = 0; i < count; i++)
        ellipses += items[i]->kind == NODE_ELLIPSIS;
    if (ellipses > 1) {
        refuse(c, ERROR_ELLIPSIS, n->at, "only one '...' can stand in a subscript");
        return false;
    }
    if (count_axes(items, count) > rank) {
        diagnose_error(c->report, ERROR_INDEX_COUNT, n->at, "%d indices for a tensor of rank %d",
                       count_axes(items, count), rank);
        return false;
    }
    return true;
}

static entity subscript_tensor(checker *c, const node *n, const entity *x) {
    const ir_type_data type = *tensor_type(c, x);
    const node *const *items = (const node *const *)n->items;
    uint32_t count = n->count;
    if (count == 1 && items[0]->kind == NODE_TUPLE) {
        count = items[0]->count;
        items = (const node *const *)items[0]->items;
    }
    if (!indices_fit(c, n, items, count, type.rank)) {
        note_tensor(c, x);
        return entity_broken(n->at);
    }
    selection s = {.rank = 0};
    for (uint32_t i = 0; i < count; i++)
        if (!take_index(c, &s, items[i], &type, count_axes(items + i + 1, count - i - 1)))
            return entity_broken(n->at);
    while (s.axis < type.rank)
        if (!take_whole(c, &s, type.dims[s.axis], n->at))
            return entity_broken(n->at);
    return apply(c, &s, x, n->at);
}

static entity subscript_tuple(checker *c, const node *n, const entity *tuple) {
    if (n->count != 1 || n->items[0]->kind == NODE_SLICE || n->items[0]->kind == NODE_ELLIPSIS)
        return refuse(c, ERROR_TUPLE_INDEX, n->at, "a tuple takes one integer index");
    entity index = check_expression(c, n->items[0]);
    int64_t i = 0;
    if (!argument_int(c, &index, "an index", &i))
        return entity_broken(n->at);
    i += i < 0 ? (int64_t)tuple->count : 0;
    if (i < 0 || i >= (int64_t)tuple->count) {
        diagnose_error(c->report, ERROR_INDEX_RANGE, n->items[0]->at,
                       "index %lld is outside of a tuple of %u", (long long)index.integer,
                       tuple->count);
        return entity_broken(n->at);
    }
    entity out = tuple->items[i];
    out.at = n->at;
    return out;
}

entity check_subscript(checker *c, const node *n) {
    entity base = check_expression(c, n->left);
    if (base.kind == ENTITY_BROKEN)
        return base;
    if (base.kind == ENTITY_TUPLE)
        return subscript_tuple(c, n, &base);
    if (base.kind != ENTITY_TENSOR) {
        diagnose_error(c->report, ERROR_NOT_SUBSCRIPTABLE, n->at, "%s cannot be subscripted",
                       entity_describe(&base));
        return entity_broken(n->at);
    }
    return subscript_tensor(c, n, &base);
}
