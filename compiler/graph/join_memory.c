/* join_memory.c - tiles that are loaded, of all instances at once, and results that they give. */
#include <string.h>

#include "graph/join_tiles.h"
#include "ops/build.h"

/* An axis on its way between a tensor in memory and a joined tile: an index in front (tile axis
 * -1), or an axis of the tile (index -1: nothing else along it). */
typedef struct piece {
    int index, axis;
    int64_t length;
} piece;

typedef struct pieces {
    piece items[2 * IR_MAX_RANK];
    int count;
} pieces;

static void add_piece(pieces *p, int index, int axis, int64_t length) {
    p->items[p->count++] = (piece){index, axis, length};
}

/* Indices in front, ascending; then the tile's axes. */
static int rank_of(const piece *p) {
    return p->axis < 0 ? p->index : JOIN_INDICES + p->axis;
}

static ir_value reshape(joining_pass *j, ir_value v, const int64_t *dims, int rank) {
    const ir_named_attr attr = {"shape", ir_attr_int_array(j->e.m, dims, (uint32_t)rank)};
    return join_build(j, GRAPH_RESHAPE, &v, 1, &attr, 1);
}

static ir_value permute(joining_pass *j, ir_value v, const int64_t *order, int rank) {
    bool still = true;
    for (int i = 0; i < rank; i++)
        still &= order[i] == i;
    const ir_named_attr attr = {"permutation", ir_attr_int_array(j->e.m, order, (uint32_t)rank)};
    return still ? v : join_build(j, GRAPH_TRANSPOSE, &v, 1, &attr, 1);
}

/* order[i]: the piece that is axis i of the joined tile. */
static void sort_pieces(const pieces *p, int64_t *order) {
    for (int i = 0; i < p->count; i++) {
        int at = 0;
        for (int k = 0; k < p->count; k++)
            at += rank_of(&p->items[k]) < rank_of(&p->items[i]);
        order[at] = i;
    }
}

static bool same_size(joining_pass *j, int index, int64_t size) {
    joined_index *known = &j->indices[index];
    if (known->size && known->size != size)
        return join_blame(j, index);
    known->size = size;
    return true;
}

/* ---- loads ---- */

typedef struct joined_load {
    int64_t begin[IR_MAX_RANK], size[IR_MAX_RANK];
    pieces p;
    joined x;
} joined_load;

/* An axis of the tile, cut into tiles by an index: [count, size] where that is in front. */
static bool load_kept(joining_pass *j, joined_load *l, const join_start *s, int64_t size,
                      int64_t places, int axis) {
    if (s->index < 0) {
        int64_t room = places - s->base, length = size < room ? size : room;
        l->x.along[axis] = AXIS_OWN;
        add_piece(&l->p, -1, axis, length);
        return length > 0;
    }
    int64_t count = j->indices[s->index].count, whole = count * size;
    if (s->base || s->delta != size || places <= whole - size)
        return join_blame(j, -1);
    if (!same_size(j, s->index, size))
        return false;
    bool front = j->indices[s->index].in_front;
    l->x.along[axis] = front ? AXIS_OWN : s->index;
    if (front) {
        add_piece(&l->p, s->index, -1, count);
        l->x.batches |= UINT32_C(1) << s->index;
    }
    add_piece(&l->p, s->index, axis, front ? size : places < whole ? places : whole);
    return !front || places >= whole || join_blame(j, -1);
}

static bool load_one(joining_pass *j, joined_load *l, const join_start *s, int64_t places) {
    int64_t count = s->index < 0 ? 1 : j->indices[s->index].count;
    if (s->base + s->delta * (count - 1) >= places || (s->index >= 0 && s->delta != 1))
        return join_blame(j, -1);
    if (s->index < 0)
        return true;
    if (l->x.batches >> s->index & 1)
        return join_blame(j, -1);
    l->x.batches |= UINT32_C(1) << s->index;
    add_piece(&l->p, s->index, -1, count);
    return true;
}

static bool load_axes(joining_pass *j, ir_op op, joined_load *l) {
    const ir_op_data *d = ir_op_get(j->e.m, op);
    const ir_type_data *x = join_type(j, d->operands[0]);
    const ir_attr_data *starts = ir_attr_get(j->e.m, ir_op_attr(j->e.m, op, "start"));
    int64_t size[IR_MAX_RANK], kept[IR_MAX_RANK], shift[IR_MAX_RANK] = {0};
    uint32_t count = ir_op_ints(j->e.m, op, "kept", kept, IR_MAX_RANK);
    ir_op_ints(j->e.m, op, "size", size, IR_MAX_RANK);
    ir_op_ints(j->e.m, op, "shift", shift, IR_MAX_RANK);
    uint32_t seen = 0;
    for (int i = 0; i < x->rank; i++) {
        join_start s;
        int first = l->p.count;
        if (!join_start_of(j, op, starts->items[i], &s))
            return false;
        if (s.index >= 0 && (seen >> s.index & 1))
            return join_blame(j, -1);
        seen |= s.index >= 0 ? UINT32_C(1) << s.index : 0;
        bool keeps = ir_ints_hold(kept, count, i);
        if (!(keeps ? load_kept(j, l, &s, size[i], x->dims[i], l->x.rank)
                    : load_one(j, l, &s, x->dims[i])))
            return false;
        l->x.rank += keeps;
        l->begin[i] = s.base + shift[i];
        l->size[i] = 1;
        for (int k = first; k < l->p.count; k++)
            l->size[i] *= l->p.items[k].length;
    }
    return true;
}

bool join_load(joining_pass *j, ir_op op) {
    joined_load l = {.x = {.rank = 0}};
    int64_t dims[2 * IR_MAX_RANK], order[2 * IR_MAX_RANK];
    if (!load_axes(j, op, &l) || l.p.count > IR_MAX_RANK)
        return join_blame(j, -1);
    ir_value v = expansion_part(&j->e, op, j->now[ir_op_get(j->e.m, op)->operands[0]].value,
                                l.begin, l.size);
    for (int i = 0; i < l.p.count; i++)
        dims[i] = l.p.items[i].length;
    sort_pieces(&l.p, order);
    v = reshape(j, v, dims, l.p.count);
    l.x.value = v ? permute(j, v, order, l.p.count) : 0;
    j->now[ir_op_get(j->e.m, op)->results[0]] = l.x;
    return l.x.value != 0;
}

/* ---- results ---- */

typedef struct joined_result {
    const ir_type_data *whole;
    joined x;
    layout to;
    pieces p;
    uint32_t seen; /* indices along its axes */
} joined_result;

/* A kept axis of a result: all of it, or a tile for each place of an index. */
static bool give_kept(joining_pass *j, joined_result *r, const join_start *s, int64_t places,
                      int axis, int64_t tile) {
    layout *to = &r->to;
    int along = r->x.along[axis];
    bool front = s->index >= 0 && j->indices[s->index].in_front;
    int wanted = s->index < 0 || front ? AXIS_OWN : s->index;
    if (s->base || (along != AXIS_ALIKE && along != wanted))
        return join_blame(j, along >= 0 ? along : s->index);
    to->along[axis] = wanted;
    to->length[axis] = front ? tile : places;
    int64_t whole = s->index < 0 ? tile : tile * j->indices[s->index].count;
    if (whole < places || (front && whole != places) || (s->index >= 0 && s->delta != tile))
        return join_blame(j, -1);
    if (s->index >= 0 && !same_size(j, s->index, tile))
        return false;
    if (front) {
        to->batches |= UINT32_C(1) << s->index;
        add_piece(&r->p, s->index, -1, j->indices[s->index].count);
    }
    add_piece(&r->p, s->index, axis, to->length[axis]);
    return true;
}

static bool give_one(joining_pass *j, joined_result *r, const join_start *s, int64_t places) {
    int64_t count = s->index < 0 ? 1 : j->indices[s->index].count;
    if (s->base || count != places || (s->index >= 0 && s->delta != 1))
        return join_blame(j, -1);
    if (s->index >= 0) {
        r->to.batches |= UINT32_C(1) << s->index;
        add_piece(&r->p, s->index, -1, count);
    }
    return true;
}

static bool give_axes(joining_pass *j, ir_op give, uint32_t number, joined_result *r) {
    const ir_module *m = j->e.m;
    const ir_type_data *tile = join_type(j, ir_op_get(m, give)->operands[number]);
    const ir_attr_data *starts =
        ir_attr_get(m, ir_attr_get(m, ir_op_attr(m, give, "start"))->items[number]);
    const ir_attr_data *kept =
        ir_attr_get(m, ir_attr_get(m, ir_op_attr(m, give, "kept"))->items[number]);
    uint32_t next = 0;
    for (int i = 0; i < r->whole->rank; i++) {
        join_start s;
        if (!join_start_of(j, give, starts->items[i], &s) ||
            (s.index >= 0 && (r->seen >> s.index & 1)))
            return join_blame(j, -1);
        r->seen |= s.index >= 0 ? UINT32_C(1) << s.index : 0;
        bool keeps = next < kept->count && ir_attr_get(m, kept->items[next])->integer == i;
        if (!(keeps ? give_kept(j, r, &s, r->whole->dims[i], (int)next, tile->dims[next])
                    : give_one(j, r, &s, r->whole->dims[i])))
            return false;
        next += keeps;
    }
    return r->seen == (UINT32_C(1) << j->index_count) - 1 || join_blame(j, -1);
}

static bool give_result(joining_pass *j, ir_op give, uint32_t number, ir_value *out) {
    ir_op_data *d = ir_op_get(j->e.m, give);
    joined_result r = {.whole = join_type(j, ir_op_get(j->e.m, j->e.tiles)->results[number]),
                       .x = j->now[d->operands[number]]};
    int64_t order[2 * IR_MAX_RANK], back[2 * IR_MAX_RANK];
    r.to.rank = r.x.rank;
    if (!join_number(j, &r.x) || !r.x.value || !give_axes(j, give, number, &r) ||
        r.p.count > IR_MAX_RANK)
        return join_blame(j, -1);
    ir_value v = join_align(j, &r.x, &r.to);
    if (!v)
        return join_blame(j, -1);
    sort_pieces(&r.p, order);
    for (int i = 0; i < r.p.count; i++)
        back[order[i]] = i;
    v = permute(j, v, back, r.p.count);
    *out = v ? reshape(j, v, r.whole->dims, r.whole->rank) : 0;
    return *out != 0;
}

bool join_give(joining_pass *j, ir_op give, ir_value *results) {
    for (uint32_t i = 0; i < ir_op_get(j->e.m, give)->operand_count; i++)
        if (!give_result(j, give, i, &results[i]))
            return false;
    return true;
}
