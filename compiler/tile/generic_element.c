/* generic_element.c - the elements of a value at an index, computed down to memory. */
#include <stdio.h>
#include <string.h>

#include "tile/generic.h"

void generic_nest_release(generic_nest *n) {
    vec_release(&n->memo);
}

ir_value generic_storage(const generic *s, ir_value v) {
    for (;;) {
        ir_op op = ir_value_get(s->g, v)->op;
        if (!op || s->stored[v])
            return v;
        if (ir_op_get(s->g, op)->opcode != GRAPH_RESHAPE)
            return 0;
        v = ir_op_get(s->g, op)->operands[0];
    }
}

ir_value generic_memory_of(generic *s, ir_builder *b, ir_value v) {
    const generic_memory *memory = &s->memory[v];
    if (memory->argument >= 0)
        return ir_block_get(s->m, s->kernel.block)->arguments[memory->argument];
    ir_named_attr attr = {"offset", ir_attr_int(b->m, 0)};
    ir_type type = ir_type_memory(b->m, generic_type(s, v)->element);
    return ir_build1(&s->dims.top, TILE_WORKSPACE, NULL, 0, type, &attr, 1);
}

static ir_value offset_in_memory(generic *s, ir_builder *b, ir_value storage, ir_value offset) {
    return s->memory[storage].argument >= 0
               ? offset
               : tile_index_add(b, offset, dim_values_get(&s->dims, s->memory[storage].offset));
}

static bool has_lanes(const generic_place *index, int rank) {
    bool lanes = false;
    for (int i = 0; i < rank; i++)
        lanes |= index[i].lane != 0;
    return lanes;
}

/* ---- leaves ---- */

static ir_value load(generic_nest *n, ir_value v, ir_value storage, const generic_place *index) {
    const ir_type_data *t = generic_type(n->s, v);
    generic_place at = generic_offset(n->s, n->probe ? NULL : n->b, t->dims, t->rank, index);
    n->scalar |= at.lane != 0 && at.lane != 1;
    if (n->probe)
        return 0;
    if (n->scalar)
        generic_fail(n->s, "a tensor would be read across its rows in one vector");
    ir_value memory = generic_memory_of(n->s, n->b, storage);
    return tile_load(n->b, memory, offset_in_memory(n->s, n->b, storage, at.at), 1,
                     at.lane ? n->width : 1, 0, at.lane ? 1 : 0);
}

static ir_value generated(generic_nest *n, ir_op op, const generic_place *index) {
    const ir_module *g = n->s->g;
    ir_module *m = n->s->m;
    int64_t dim;
    if (n->probe)
        return 0;
    if (ir_op_get(g, op)->opcode == GRAPH_CONSTANT) {
        const ir_attr_data *bits = ir_attr_get(g, ir_op_attr(g, op, "value"));
        return tile_constant(n->b, bits->element, bits->bits);
    }
    if (ir_op_get(g, op)->opcode == GRAPH_EXTENT) {
        const ir_attr_data *of = ir_attr_get(g, ir_op_attr(g, op, "of"));
        dim = ir_attr_get(g, of->items[0])->integer;
        ir_value value = dim_values_get(&n->s->dims, dim);
        return ir_build1(n->b, TILE_FROM_INDEX, &value, 1, ir_type_tile(m, DTYPE_I32, 1, 1, 0),
                         NULL, 0);
    }
    const generic_place *along = &index[ir_op_int(g, op, "axis", 0)];
    ir_named_attr attrs[] = {{"row_step", ir_attr_int(m, 0)},
                             {"column_step", ir_attr_int(m, along->lane)}};
    ir_type type = ir_type_tile(m, DTYPE_I32, 1, along->lane ? n->width : 1, 0);
    return ir_build1(n->b, TILE_IOTA, &along->at, 1, type, attrs, 2);
}

/* ---- operations ---- */

static ir_value elementwise(generic_nest *n, ir_op op, const generic_place *index) {
    const ir_module *g = n->s->g;
    const ir_op_data *d = ir_op_get(g, op);
    ir_value x[4];
    for (uint32_t i = 0; i < d->operand_count; i++)
        x[i] = generic_element(n, d->operands[i], index);
    if (n->probe)
        return 0;
    n->b->location = d->location;
    if (d->opcode == GRAPH_COMPARE)
        return tile_compare(n->b, ir_op_string(g, op, "predicate", "eq"), x[0], x[1]);
    dtype to = generic_type(n->s, d->results[0])->element;
    ir_value y = tile_op(n->b, TILE_NEG + d->opcode - GRAPH_NEG, x, d->operand_count, to);
    ir_op made = ir_value_get(n->s->m, y)->op;
    static const char *const numbers[] = {"seed", "stream"};
    if (ir_op_int(g, op, "saturate", 0))
        ir_op_set_attr(n->s->m, made, "saturate", ir_attr_bool(n->s->m, true));
    for (int i = 0; i < 2; i++)
        if (ir_op_attr(g, op, numbers[i]))
            ir_op_set_attr(n->s->m, made, numbers[i],
                           ir_attr_int(n->s->m, ir_op_int(g, op, numbers[i], 0)));
    return y;
}

/* An index that is data, within the axis: as an index of the tile, which must be one element. */
static ir_value clamped(generic_nest *n, ir_value which, ir_dim limit) {
    ir_builder *b = n->b;
    ir_value index = ir_build1(b, TILE_TO_INDEX, &which, 1, ir_type_index(b->m), NULL, 0);
    ir_value last = tile_index_step(b, dim_values_get(&n->s->dims, limit), n->s->zero, 0, -1);
    return tile_index_min(b, tile_index_max(b, index, n->s->zero), last);
}

static ir_value gather(generic_nest *n, ir_op op, const generic_place *index) {
    const ir_module *g = n->s->g;
    ir_value x = ir_op_get(g, op)->operands[0], indices = ir_op_get(g, op)->operands[1];
    int axis = (int)ir_op_int(g, op, "axis", 0), batch = (int)ir_op_int(g, op, "batch_dims", 0);
    const ir_type_data *tx = generic_type(n->s, x), *ti = generic_type(n->s, indices);
    generic_place at[IR_MAX_RANK], where[IR_MAX_RANK];
    for (int i = 0; i < ti->rank; i++)
        where[i] = i < batch ? index[i] : index[axis + i - batch];
    n->scalar |= has_lanes(where, ti->rank);
    ir_value which = generic_element(n, indices, where);
    for (int i = 0; i < tx->rank; i++)
        at[i] = i < axis    ? index[i]
                : i == axis ? (generic_place){0, 0}
                            : index[i - 1 + ti->rank - batch];
    if (!n->probe)
        at[axis].at = clamped(n, which, tx->dims[axis]);
    return generic_element(n, x, at);
}

static generic_place scaled(generic_nest *n, generic_place x, int64_t step, ir_dim start) {
    generic_place y = {0, x.lane * step};
    if (!n->probe)
        y.at = tile_index_step(n->b, dim_values_get(&n->s->dims, start), x.at, step, 0);
    return y;
}

/* The operand's index behind data movement. */
static void move_index(generic_nest *n, ir_op op, const generic_place *index, generic_place *out) {
    const ir_module *g = n->s->g;
    const ir_type_data *x = generic_type(n->s, ir_op_get(g, op)->operands[0]);
    int64_t list[IR_MAX_RANK] = {0};
    switch (ir_op_get(g, op)->opcode) {
    case GRAPH_BROADCAST:
        ir_op_ints(g, op, "axes", list, IR_MAX_RANK);
        for (int i = 0; i < x->rank; i++)
            out[i] = x->dims[i] == 1 ? (generic_place){n->s->zero, 0} : index[list[i]];
        break;
    case GRAPH_TRANSPOSE:
        ir_op_ints(g, op, "permutation", list, IR_MAX_RANK);
        for (int i = 0; i < x->rank; i++)
            out[list[i]] = index[i];
        break;
    case GRAPH_WINDOW: {
        int64_t axis = ir_op_int(g, op, "axis", 0), stride = ir_op_int(g, op, "stride", 1);
        memcpy(out, index, sizeof *out * (size_t)x->rank);
        out[axis].lane = index[axis].lane * stride + index[x->rank].lane;
        if (!n->probe)
            out[axis].at = tile_index_step(n->b, index[x->rank].at, index[axis].at, stride, 0);
        break;
    }
    default: { /* GRAPH_SLICE */
        const ir_attr_data *start = ir_attr_get(g, ir_op_attr(g, op, "start"));
        ir_op_ints(g, op, "step", list, IR_MAX_RANK);
        for (int i = 0; i < x->rank; i++)
            out[i] = scaled(n, index[i], list[i], ir_attr_get(g, start->items[i])->integer);
    }
    }
}

static ir_value operation(generic_nest *n, ir_value v, const generic_place *index) {
    const ir_module *g = n->s->g;
    ir_op op = ir_value_get(g, v)->op;
    const ir_op_data *d = ir_op_get(g, op);
    generic_place moved[IR_MAX_RANK];
    switch (graph_op_class(d->opcode)) {
    case GRAPH_CLASS_GENERATOR:
        return generated(n, op, index);
    case GRAPH_CLASS_ELEMENTWISE:
        return elementwise(n, op, index);
    case GRAPH_CLASS_MOVE:
        if (d->opcode == GRAPH_GATHER)
            return gather(n, op, index);
        if (d->opcode == GRAPH_RESHAPE) /* of something stored: generic_plan sees to it */
            return load(n, v, generic_storage(n->s, d->operands[0]), index);
        move_index(n, op, index, moved);
        return generic_element(n, d->operands[0], moved);
    default:
        generic_fail(n->s, "'%s' has no memory", op_info_get(d->opcode)->name);
        return n->probe ? 0 : tile_constant(n->b, generic_type(n->s, v)->element, 0);
    }
}

static bool same_places(const generic_place *a, const generic_place *b, int rank) {
    bool same = true;
    for (int i = 0; i < rank; i++)
        same &= a[i].at == b[i].at && a[i].lane == b[i].lane;
    return same;
}

ir_value generic_element(generic_nest *n, ir_value v, const generic_place *index) {
    int rank = generic_type(n->s, v)->rank;
    for (size_t i = 0; i < n->memo.count; i++)
        if (n->memo.items[i].value == v && same_places(n->memo.items[i].index, index, rank))
            return n->memo.items[i].tile;
    ir_value storage = v == n->computes ? 0 : generic_storage(n->s, v);
    generic_memo memo = {.value = v};
    memcpy(memo.index, index, sizeof *index * (size_t)rank);
    memo.tile = storage ? load(n, v, storage, index) : operation(n, v, index);
    vec_push(&n->memo, memo);
    return memo.tile;
}

bool generic_vectors(generic *s, ir_value v, int axis, bool computes) {
    generic_place index[IR_MAX_RANK] = {{0, 0}};
    generic_nest n = {.s = s, .width = 1, .computes = computes ? v : 0, .probe = true};
    if (axis < 0 || generic_type(s, v)->dims[axis] == 1)
        return false;
    index[axis].lane = 1;
    generic_element(&n, v, index);
    generic_nest_release(&n);
    return !n.scalar;
}

void generic_store(generic *s, ir_builder *b, ir_value v, const generic_place *index,
                   ir_value tile) {
    const ir_type_data *t = generic_type(s, v);
    generic_place at = generic_offset(s, b, t->dims, t->rank, index);
    int64_t columns = tile_type(b, tile)->dims[1];
    bool clean = s->memory[v].is_output && dtype_is_float(t->element);
    tile_store(b, generic_memory_of(s, b, v), offset_in_memory(s, b, v, at.at), tile, 0,
               columns > 1 ? 1 : 0, clean);
}
