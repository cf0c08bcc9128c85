/* join_axes.c - the axes of joined tiles: where they are in a value, and bringing values to the
 * same ones. */
#include <string.h>

#include "graph/join_tiles.h"
#include "ops/build.h"

const ir_type_data *join_type(const joining_pass *j, ir_value v) {
    return expansion_type(&j->e, v);
}

static int bits_below(uint32_t set, int index) {
    return __builtin_popcount(set & ((UINT32_C(1) << index) - 1));
}

int join_front(const joined *x, int index) {
    return bits_below(x->batches, index);
}

int join_axis(const joined *x, int axis) {
    int at = __builtin_popcount(x->batches);
    for (int i = 0; i < axis; i++)
        at += x->along[i] != AXIS_ALIKE;
    return at;
}

int join_rank(const joined *x) {
    return join_axis(x, x->rank);
}

int64_t join_length(const joining_pass *j, const joined *x, int axis) {
    return join_type(j, x->value)->dims[join_axis(x, axis)];
}

ir_value join_build(joining_pass *j, int opcode, const ir_value *operands, uint32_t count,
                    const ir_named_attr *attrs, uint32_t attr_count) {
    ir_type types[JOIN_OPERANDS];
    if (count > JOIN_OPERANDS)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        types[i] = ir_value_get(j->e.m, operands[i])->type;
    graph_infer_query q = {.m = j->e.m,
                           .opcode = opcode,
                           .operands = types,
                           .operand_count = count,
                           .attrs = attrs,
                           .attr_count = attr_count};
    if (!graph_infer(&q) || q.result_count != 1)
        return 0;
    return ir_build1(&j->e.b, opcode, operands, count, q.results[0], attrs, attr_count);
}

/* ---- layouts ---- */

layout join_layout(const joined *x) {
    layout l = {.batches = x->batches, .rank = x->rank};
    memcpy(l.along, x->along, sizeof l.along);
    for (int i = 0; i < IR_MAX_RANK; i++)
        l.length[i] = INT64_MAX;
    return l;
}

joined join_of_layout(const layout *l, ir_value value) {
    joined x = {.value = value, .batches = l->batches, .rank = l->rank};
    memcpy(x.along, l->along, sizeof x.along);
    return x;
}

/* Along one axis or in front, and not both. */
static bool is_met_once(joining_pass *j, const layout *l) {
    uint32_t seen = l->batches;
    for (int i = 0; i < l->rank; i++) {
        if (l->along[i] < 0)
            continue;
        if (seen >> l->along[i] & 1)
            return join_blame(j, l->along[i]);
        seen |= UINT32_C(1) << l->along[i];
    }
    return true;
}

bool join_meet(joining_pass *j, layout *l, const joined *x) {
    if (x->rank != l->rank)
        return join_blame(j, -1);
    l->batches |= x->batches;
    for (int i = 0; i < l->rank; i++) {
        if (x->along[i] == AXIS_ALIKE)
            continue;
        if (l->along[i] != AXIS_ALIKE && l->along[i] != x->along[i])
            return join_blame(j, l->along[i] >= 0 ? l->along[i] : x->along[i]);
        l->along[i] = x->along[i];
        int64_t length = join_length(j, x, i);
        l->length[i] = length < l->length[i] ? length : l->length[i];
    }
    return is_met_once(j, l);
}

/* ---- alignment ---- */

ir_value join_align(joining_pass *j, const joined *x, const layout *to) {
    int64_t cut[IR_MAX_RANK] = {0}, shape[IR_MAX_RANK] = {0}, axes[IR_MAX_RANK] = {0};
    int rank = 0, own = 0;
    if ((x->batches & ~to->batches) || x->rank != to->rank ||
        __builtin_popcount(to->batches) + to->rank > IR_MAX_RANK)
        return 0;
    for (int i = 0; i < j->index_count; i++) {
        if (!(to->batches >> i & 1))
            continue;
        if (x->batches >> i & 1) {
            cut[own] = j->indices[i].count;
            axes[own++] = rank;
        }
        shape[rank++] = j->indices[i].count;
    }
    for (int i = 0; i < to->rank; i++) {
        if (to->along[i] == AXIS_ALIKE && x->along[i] == AXIS_ALIKE)
            continue;
        if (x->along[i] != AXIS_ALIKE && x->along[i] != to->along[i])
            return 0;
        if (x->along[i] != AXIS_ALIKE) {
            if (join_length(j, x, i) < to->length[i])
                return 0;
            cut[own] = to->length[i];
            axes[own++] = rank;
        }
        shape[rank++] = to->length[i];
    }
    ir_value v = own ? expansion_cut(&j->e, x->value, cut) : x->value;
    return own == rank ? v : build_broadcast(&j->e.b, v, rank, shape, axes);
}

/* ---- numbers of indices ---- */

static bool value_at(joining_pass *j, ir_op op, ir_attr dim, int index, int64_t at, int64_t *out) {
    for (int i = 0; i < j->index_count; i++) {
        ir_binding b = {j->indices[i].name, i == index ? at : 0};
        vec_push(&j->e.indices, b);
    }
    bool ok = expansion_number(&j->e, op, dim, out);
    j->e.indices.count -= (size_t)j->index_count;
    return ok;
}

bool join_start_of(joining_pass *j, ir_op op, ir_attr dim, join_start *out) {
    *out = (join_start){.index = -1};
    if (!value_at(j, op, dim, -1, 0, &out->base))
        return false;
    for (int i = 0; i < j->index_count; i++) {
        int64_t last = j->indices[i].count - 1, one, end;
        if (!value_at(j, op, dim, i, 1, &one) || !value_at(j, op, dim, i, last, &end))
            return false;
        if (end == out->base && one == out->base)
            continue;
        if (out->index >= 0 || end - out->base != (one - out->base) * last)
            return join_blame(j, -1);
        out->index = i;
        out->delta = one - out->base;
    }
    return true;
}

bool join_number(joining_pass *j, joined *x) {
    join_start s;
    if (!x->is_number)
        return true;
    if (!join_start_of(j, j->e.tiles, x->number, &s))
        return false;
    x->is_number = false;
    ir_builder *b = &j->e.b;
    const ir_named_attr base = {"value", ir_attr_bits(b->m, DTYPE_I32, (uint32_t)s.base)};
    x->value = join_build(j, GRAPH_CONSTANT, NULL, 0, &base, 1);
    if (s.index < 0)
        return x->value != 0;
    int64_t count = j->indices[s.index].count;
    ir_value places = build_iota(b, 1, &count, 0);
    places = build_binary(b, GRAPH_MUL, places, build_i32(b, (int32_t)s.delta, places));
    x->value = build_binary(b, GRAPH_ADD, places, build_i32(b, (int32_t)s.base, places));
    x->batches = UINT32_C(1) << s.index;
    return s.delta <= INT32_MAX && s.base <= INT32_MAX;
}
