/* tile_step.c - one operation on tiles, for the lengths that they have. */
#include "ops/tile_step.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool refuse(tile_step *s, tile_refusal refusal, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(tile_step *s, tile_refusal refusal, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->error, sizeof s->error, format, args);
    va_end(args);
    s->refusal = refusal;
    return false;
}

static const ir_type_data *operand(const tile_step *s, uint32_t i) {
    return ir_type_get(s->m, s->operands[i]);
}

/* ---- attributes ---- */

static bool bind_attr(tile_step *s, ir_attr attr, ir_attr *out) {
    const ir_attr_data d = *ir_attr_get(s->m, attr);
    const char *missing = NULL;
    int64_t number;
    *out = attr;
    if (d.kind == IR_ATTR_DIM) {
        if (!ir_dim_evaluate(s->m, d.integer, s->known, &number, &missing))
            return refuse(s, TILE_REFUSED_NUMBER, "%s is no number", ir_dim_text(s->m, d.integer));
        *out = ir_attr_int(s->m, number);
        return true;
    }
    if (d.kind != IR_ATTR_ARRAY || d.count > TILE_STEP_OPERANDS)
        return true;
    ir_attr items[TILE_STEP_OPERANDS];
    for (uint32_t i = 0; i < d.count; i++)
        if (!bind_attr(s, d.items[i], &items[i]))
            return false;
    *out = ir_attr_array(s->m, items, d.count);
    return true;
}

ir_attr *tile_step_attr(tile_step *s, const char *name) {
    for (uint32_t i = 0; i < s->attr_count; i++)
        if (strcmp(s->attrs[i].name, name) == 0)
            return &s->attrs[i].value;
    return NULL;
}

uint32_t tile_step_ints(tile_step *s, const char *name, int64_t *out) {
    const ir_attr *attr = tile_step_attr(s, name);
    const ir_attr_data *d = attr ? ir_attr_get(s->m, *attr) : NULL;
    uint32_t count = d ? d->count : 0;
    for (uint32_t i = 0; i < count && i < IR_MAX_RANK; i++)
        out[i] = ir_attr_get(s->m, d->items[i])->integer;
    return count;
}

bool tile_step_begin(tile_step *s) {
    const ir_op_data *d = ir_op_get(s->m, s->op);
    s->opcode = d->opcode;
    s->operand_count = d->operand_count;
    if (d->operand_count > TILE_STEP_OPERANDS || d->attr_count > TILE_STEP_ATTRS)
        return refuse(s, TILE_REFUSED_NUMBER, "it has too many operands or attributes");
    s->attr_count = d->attr_count;
    for (uint32_t i = 0; i < d->attr_count; i++) {
        s->attrs[i].name = d->attrs[i].name;
        if (!bind_attr(s, ir_op_get(s->m, s->op)->attrs[i].value, &s->attrs[i].value))
            return false;
    }
    return true;
}

/* ---- lengths ---- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The operand's first places along each axis. */
static void cut(tile_step *s, uint32_t i, const int64_t *size) {
    const ir_type_data *t = operand(s, i);
    s->operands[i] = ir_type_tensor(s->m, t->element, t->rank, size);
}

/* Operands of one shape are as long as the shortest along each axis. */
static void cut_alike(tile_step *s) {
    int64_t size[IR_MAX_RANK];
    int rank = s->operand_count ? operand(s, 0)->rank : 0;
    for (int i = 0; i < rank; i++) {
        size[i] = INT64_MAX;
        for (uint32_t k = 0; k < s->operand_count; k++)
            size[i] = least(size[i], operand(s, k)->dims[i]);
    }
    for (uint32_t k = 0; k < s->operand_count; k++)
        cut(s, k, size);
}

/* x's axis i is as long as result axis axes[i]. */
static void fit_broadcast(tile_step *s) {
    int64_t shape[IR_MAX_RANK], axes[IR_MAX_RANK];
    uint32_t rank = tile_step_ints(s, "shape", shape), kept = tile_step_ints(s, "axes", axes);
    const ir_type_data *x = operand(s, 0);
    for (uint32_t i = 0; i < kept; i++)
        shape[axes[i]] = x->dims[i];
    *tile_step_attr(s, "shape") = ir_attr_int_array(s->m, shape, rank);
}

/* A dimension of a whole tile; -1: it has no number yet. */
static int64_t whole_dim(tile_step *s, ir_dim dim) {
    const char *missing = NULL;
    int64_t number;
    return ir_dim_evaluate(s->m, dim, s->known, &number, &missing) ? number : -1;
}

static bool is_nothing(const ir_type_data *t) {
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] == 0)
            return true;
    return false;
}

bool reshape_next(const ir_type_data *from, const ir_type_data *to, reshape_run *r, bool *fits) {
    int f = r->from_end, t = r->to_end;
    while (f < from->rank && from->dims[f] == 1)
        f++;
    while (t < to->rank && to->dims[t] == 1)
        t++;
    bool more = f < from->rank && t < to->rank;
    *fits = more || (f == from->rank && t == to->rank) || (is_nothing(from) && is_nothing(to));
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
    bool found = *fits;
    *fits |= is_nothing(from) && is_nothing(to);
    return found;
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

/* A shape with numbers; false: some are not known yet. */
static bool whole_shape(tile_step *s, ir_value v, ir_type_data *out) {
    *out = *ir_type_of(s->m, v);
    bool known = true;
    for (int i = 0; i < out->rank; i++) {
        out->dims[i] = whole_dim(s, out->dims[i]);
        known &= out->dims[i] >= 0;
    }
    return known;
}

/* Fits axes that are one in the other, of which the first may be shorter: what is left fills whole
 * places of the new ones, or it is refused. */
static bool fit_reshape(tile_step *s) {
    const ir_op_data *d = ir_op_get(s->m, s->op);
    const ir_type_data *x = operand(s, 0);
    ir_type_data whole, to;
    int64_t shape[IR_MAX_RANK];
    uint32_t rank = tile_step_ints(s, "shape", shape);
    reshape_run r = {0};
    bool known = whole_shape(s, d->operands[0], &whole), fits = true;
    if (memcmp(whole.dims, x->dims, sizeof(ir_dim) * (size_t)x->rank) == 0)
        return true;
    if (!known || !whole_shape(s, d->results[0], &to))
        return refuse(s, TILE_REFUSED_NUMBER, "the shape of a whole tile is not known");
    while (reshape_next(&whole, &to, &r, &fits)) {
        shape[r.to] = reshape_first(&whole, &to, &r, x->dims[r.from]);
        fits = shape[r.to] >= 0;
        for (int i = r.from + 1; i < r.from_end; i++)
            fits &= x->dims[i] == whole.dims[i];
        if (!fits)
            break;
    }
    if (!fits)
        return refuse(s, TILE_REFUSED_EDGE,
                      "at an edge, where tiles are shorter, this one has %lld of %lld places, "
                      "which do not fill the new axes",
                      (long long)x->dims[r.from], (long long)whole.dims[r.from]);
    *tile_step_attr(s, "shape") = ir_attr_int_array(s->m, shape, rank);
    return true;
}

static void fit_slice(tile_step *s) {
    const ir_type_data *x = operand(s, 0);
    int64_t start[IR_MAX_RANK], stop[IR_MAX_RANK];
    uint32_t rank = tile_step_ints(s, "start", start);
    tile_step_ints(s, "stop", stop);
    for (uint32_t i = 0; i < rank; i++) {
        stop[i] = least(stop[i], x->dims[i]);
        start[i] = least(start[i], stop[i]);
    }
    *tile_step_attr(s, "start") = ir_attr_int_array(s->m, start, rank);
    *tile_step_attr(s, "stop") = ir_attr_int_array(s->m, stop, rank);
}

/* Steps that one side lacks do not happen. */
static void cut_pair(tile_step *s, int x_axis, int y_axis) {
    int64_t sizes[2][IR_MAX_RANK];
    for (uint32_t side = 0; side < 2; side++) {
        const ir_type_data *t = operand(s, side);
        memcpy(sizes[side], t->dims, sizeof(int64_t) * (size_t)t->rank);
    }
    int64_t steps = least(sizes[0][x_axis], sizes[1][y_axis]);
    sizes[0][x_axis] = sizes[1][y_axis] = steps;
    for (uint32_t side = 0; side < 2; side++)
        cut(s, side, sizes[side]);
}

static void fit_matmul(tile_step *s) {
    int x = operand(s, 0)->rank, y = operand(s, 1)->rank;
    if (x < 2 || y < 2)
        return;
    cut_pair(s, x - 1, y - 2);
    for (int i = 0; i < x - 2 && x == y; i++)
        cut_pair(s, i, i);
}

static void fit_dot(tile_step *s) {
    int64_t x[IR_MAX_RANK], y[IR_MAX_RANK];
    static const char *const lists[][2] = {{"x_contract", "y_contract"}, {"x_batch", "y_batch"}};
    for (int l = 0; l < 2; l++) {
        uint32_t count = tile_step_ints(s, lists[l][0], x);
        tile_step_ints(s, lists[l][1], y);
        for (uint32_t i = 0; i < count; i++)
            cut_pair(s, (int)x[i], (int)y[i]);
    }
}

static bool fit(tile_step *s) {
    switch (s->opcode) {
    case GRAPH_BROADCAST:
        fit_broadcast(s);
        return true;
    case GRAPH_RESHAPE:
        return fit_reshape(s);
    case GRAPH_SLICE:
        fit_slice(s);
        return true;
    case GRAPH_MATMUL:
        fit_matmul(s);
        return true;
    case GRAPH_DOT:
        fit_dot(s);
        return true;
    default:
        if (graph_op_class(s->opcode) == GRAPH_CLASS_ELEMENTWISE)
            cut_alike(s);
        return true;
    }
}

bool tile_step_fit(tile_step *s) {
    if (!fit(s))
        return false;
    graph_infer_query q = {.m = s->m,
                           .opcode = s->opcode,
                           .operands = s->operands,
                           .operand_count = s->operand_count,
                           .attrs = s->attrs,
                           .attr_count = s->attr_count};
    bool ok = graph_infer(&q);
    memcpy(s->results, q.results, sizeof s->results);
    return ok ||
           refuse(s, TILE_REFUSED_EDGE, "at an edge, where tiles are shorter: %.400s", q.error);
}

/* ---- loads ---- */

void placed_load_count(placed_load *l, const ir_type_data *x) {
    for (int i = 0; i < l->rank; i++) {
        int64_t from = l->begin[i] < 0 ? 0 : l->begin[i];
        int64_t to = least(l->begin[i] + l->size[i], x->dims[i]);
        l->first[i] = from - l->begin[i];
        l->inside[i] = to > from ? to - from : 0;
        l->empty |= l->inside[i] == 0;
    }
}

static void give_kept(tile_step *s, const placed_load *l) {
    int64_t kept[IR_MAX_RANK], shape[IR_MAX_RANK];
    uint32_t rank = tile_step_ints(s, "kept", kept);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = l->size[kept[i]];
    s->results[0] = ir_type_tensor(s->m, operand(s, 0)->element, (int)rank, shape);
}

bool tile_step_load(tile_step *s, placed_load *l) {
    const ir_type_data *x = operand(s, 0);
    int64_t start[IR_MAX_RANK], size[IR_MAX_RANK], shift[IR_MAX_RANK] = {0};
    tile_step_ints(s, "start", start);
    tile_step_ints(s, "size", size);
    tile_step_ints(s, "shift", shift);
    *l = (placed_load){.rank = x->rank};
    for (int i = 0; i < x->rank; i++) {
        l->size[i] = least(size[i], x->dims[i] - start[i]);
        /* All of an axis may be none. */
        if (l->size[i] < 0 || (l->size[i] == 0 && size[i] > 0))
            return refuse(s, TILE_REFUSED_PLACE,
                          "a tile begins at %lld of axis %d, of which there are %lld places",
                          (long long)start[i], i, (long long)x->dims[i]);
        l->begin[i] = start[i] + shift[i];
    }
    placed_load_count(l, x);
    l->empty = l->empty && tile_step_attr(s, "other"); /* all of an axis may be none */
    give_kept(s, l);
    return true;
}
