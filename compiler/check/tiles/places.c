/* places.c - which places of a whole tensor the axes of a tile are: found from the loads that
 * it is made of, in the order of the operations. */
#include <stdlib.h>
#include <string.h>

#include "check/tiles/tiles.h"

typedef struct place_table {
    checker *c;
    tile_place (*places)[IR_MAX_RANK]; /* by value */
} place_table;

static const ir_type_data *type_of(const place_table *p, ir_value v) {
    return ir_type_of(p->c->m, v);
}

static ir_dim dim_at(const place_table *p, ir_op op, const char *list, int64_t i) {
    const ir_attr_data *d = ir_attr_get(p->c->m, ir_op_attr(p->c->m, op, list));
    return ir_attr_get(p->c->m, d->items[i])->integer;
}

static void merge(tile_place *to, const tile_place *with) {
    if (to->kind == PLACE_NONE || with->kind == PLACE_SEVERAL)
        *to = *with;
    else if (with->kind == PLACE_ONE && to->kind == PLACE_ONE &&
             (with->start != to->start || with->extent != to->extent))
        to->kind = PLACE_SEVERAL;
}

static void merge_value(place_table *p, ir_value to, ir_value with) {
    for (int i = 0; i < type_of(p, to)->rank && i < type_of(p, with)->rank; i++)
        merge(&p->places[to][i], &p->places[with][i]);
}

/* ---- one operation ---- */

static void place_load(place_table *p, ir_op op, tile_place *out) {
    int64_t kept[IR_MAX_RANK];
    uint32_t count = ir_op_ints(p->c->m, op, "kept", kept, IR_MAX_RANK);
    const ir_type_data *x = type_of(p, ir_op_get(p->c->m, op)->operands[0]);
    for (uint32_t i = 0; i < count; i++)
        out[i] = (tile_place){PLACE_ONE, dim_at(p, op, "start", kept[i]), x->dims[kept[i]]};
}

static void place_broadcast(place_table *p, ir_op op, const tile_place *x, tile_place *out) {
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(p->c->m, op, "axes", axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < count; i++)
        out[axes[i]] = x[i];
}

/* Axes of one place come and go. */
static void place_reshape(const ir_type_data *from, const ir_type_data *to, const tile_place *x,
                          tile_place *out) {
    int at = 0;
    for (int i = 0; i < to->rank; i++) {
        while (to->dims[i] != 1 && at < from->rank && from->dims[at] == 1)
            at++;
        if (to->dims[i] == 1)
            continue;
        if (at == from->rank || from->dims[at] != to->dims[i])
            return;
        out[i] = x[at++];
    }
}

static void place_transpose(place_table *p, ir_op op, const tile_place *x, tile_place *out) {
    int64_t order[IR_MAX_RANK];
    uint32_t count = ir_op_ints(p->c->m, op, "permutation", order, IR_MAX_RANK);
    for (uint32_t i = 0; i < count; i++)
        out[i] = x[order[i]];
}

static void place_slice(place_table *p, ir_op op, int rank, const tile_place *x, tile_place *out) {
    for (int i = 0; i < rank; i++) {
        if (dim_at(p, op, "step", i) == 1 && x[i].kind == PLACE_ONE) {
            out[i] = x[i];
            out[i].start = ir_dim_add(p->c->m, x[i].start, dim_at(p, op, "start", i));
        }
    }
}

static void place_reduce(place_table *p, ir_op op, int rank, const tile_place *x, tile_place *out) {
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(p->c->m, op, "axes", axes, IR_MAX_RANK);
    for (int i = 0, at = 0; i < rank; i++)
        if (!ir_ints_hold(axes, count, i))
            out[at++] = x[i];
}

static void place_matmul(place_table *p, const ir_op_data *d, int rank, tile_place *out) {
    int x = type_of(p, d->operands[0])->rank, y = type_of(p, d->operands[1])->rank;
    if (x >= 2 && y >= 2) {
        out[rank - 2] = p->places[d->operands[0]][x - 2];
        out[rank - 1] = p->places[d->operands[1]][y - 1];
    }
}

static void place_elementwise(place_table *p, const ir_op_data *d) {
    for (uint32_t i = 0; i < d->operand_count; i++)
        merge_value(p, d->results[0], d->operands[i]);
}

static void place_result(place_table *p, ir_op op, const ir_op_data *d) {
    const ir_type_data *to = type_of(p, d->results[0]),
                       *from = d->operand_count ? type_of(p, d->operands[0]) : to;
    tile_place *out = p->places[d->results[0]];
    const tile_place *x = d->operand_count ? p->places[d->operands[0]] : out;
    switch (d->opcode) {
    case GRAPH_LOAD:
        place_load(p, op, out);
        return;
    case GRAPH_BROADCAST:
        place_broadcast(p, op, x, out);
        return;
    case GRAPH_RESHAPE:
        place_reshape(from, to, x, out);
        return;
    case GRAPH_TRANSPOSE:
        place_transpose(p, op, x, out);
        return;
    case GRAPH_SLICE:
        place_slice(p, op, to->rank, x, out);
        return;
    case GRAPH_REDUCE:
        place_reduce(p, op, from->rank, x, out);
        return;
    case GRAPH_MATMUL:
    case GRAPH_LINEAR:
        place_matmul(p, d, to->rank, out);
        return;
    case GRAPH_SOFTMAX:
    case GRAPH_LAYERNORM:
    case GRAPH_RMSNORM:
    case GRAPH_CUMSUM:
    case GRAPH_RELU:
    case GRAPH_SILU:
    case GRAPH_GELU:
        merge_value(p, d->results[0], d->operands[0]);
        return;
    default:
        if (graph_op_class(d->opcode) == GRAPH_CLASS_ELEMENTWISE)
            place_elementwise(p, d);
    }
}

/* Values that a loop carries are at first those before it, and behind it those of the last turn. */
static void place_op(const ir_module *m, ir_op op, place_table *p) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode == GRAPH_FOR) {
        const ir_block_data *body = ir_block_get(m, ir_op_block(m, op, 0));
        for (uint32_t i = 0; i < d->operand_count; i++) {
            merge_value(p, body->arguments[i], d->operands[i]);
            merge_value(p, d->results[i], d->operands[i]);
        }
    } else if (d->opcode == GRAPH_NEXT) {
        const ir_op_data *loop = ir_op_get(m, ir_block_parent(m, d->block));
        for (uint32_t i = 0; i < d->operand_count; i++)
            merge_value(p, loop->results[i], d->operands[i]);
    } else if (d->opcode != GRAPH_TILES && d->result_count) {
        place_result(p, op, d);
    }
}

void tiles_places(checker *c, ir_value tile, tile_place *out) {
    place_table p = {c, base_calloc(ir_value_count(c->m) + 1, sizeof *p.places)};
    for (ir_walk w = ir_walk_op(c->m, c->tiles->op); ir_walk_next(&w);)
        place_op(c->m, w.op, &p);
    memcpy(out, p.places[tile], sizeof *p.places);
    free(p.places);
}
