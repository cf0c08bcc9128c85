/* expand_tile.c - one operation on tiles, written out for the lengths that they have. */
#include <string.h>

#include "graph/expand_tiles.h"
#include "ops/build.h"
#include "ops/tile_step.h"

/* ---- one operation ---- */

static bool refuse(expansion *e, const tile_step *s) {
    return expansion_refuse(e, s->op, "%s", s->error);
}

static bool begin(expansion *e, ir_op op, tile_step *s) {
    const ir_op_data *d = ir_op_get(e->m, op);
    *s = (tile_step){.m = e->m, .op = op, .known = {e->indices.items, (uint32_t)e->indices.count}};
    for (uint32_t i = 0; i < d->operand_count && i < TILE_STEP_OPERANDS; i++)
        s->operands[i] = ir_value_get(e->m, e->now[d->operands[i]])->type;
    return tile_step_begin(s) || refuse(e, s);
}

static bool build(expansion *e, const tile_step *s) {
    const ir_op_data d = *ir_op_get(e->m, s->op);
    ir_value operands[TILE_STEP_OPERANDS];
    for (uint32_t i = 0; i < s->operand_count; i++)
        operands[i] =
            expansion_cut(e, e->now[d.operands[i]], ir_type_get(e->m, s->operands[i])->dims);
    ir_op op = ir_build(&e->b, &(ir_op_spec){.opcode = s->opcode,
                                             .operands = operands,
                                             .operand_count = s->operand_count,
                                             .results = s->results,
                                             .result_count = d.result_count,
                                             .attrs = s->attrs,
                                             .attr_count = s->attr_count});
    for (uint32_t i = 0; i < d.result_count; i++)
        e->now[d.results[i]] = ir_op_result(e->m, op, i);
    return true;
}

/* An index of instances or loops is a number now. */
static bool step_extent(expansion *e, tile_step *s) {
    int64_t value = 0;
    tile_step_ints(s, "of", &value);
    const ir_named_attr attr = {"value", ir_attr_bits(e->m, DTYPE_I32, (uint32_t)value)};
    ir_op op = graph_build(&e->b, GRAPH_CONSTANT, NULL, 0, &attr, 1);
    e->now[ir_op_get(e->m, s->op)->results[0]] = ir_op_result(e->m, op, 0);
    return true;
}

bool expansion_step(expansion *e, ir_op op) {
    tile_step s;
    if (!begin(e, op, &s))
        return false;
    if (s.opcode == GRAPH_EXTENT)
        return step_extent(e, &s);
    return tile_step_fit(&s) ? build(e, &s) : refuse(e, &s);
}

/* ---- loads ---- */

static ir_value fill(expansion *e, ir_attr other, int rank, const int64_t *size) {
    const ir_named_attr value = {"value", other};
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

/* Fills what is outside of x along one axis. */
static ir_value pad_axis(expansion *e, ir_attr other, ir_value x, const placed_load *l, int axis) {
    int64_t size[IR_MAX_RANK];
    ir_value parts[3];
    uint32_t count = 0;
    for (int i = 0; i < l->rank; i++)
        size[i] = expansion_type(e, x)->dims[i];
    int64_t before = l->first[axis], after = l->size[axis] - before - l->inside[axis];
    size[axis] = before;
    if (before)
        parts[count++] = fill(e, other, l->rank, size);
    parts[count++] = x;
    size[axis] = after;
    if (after)
        parts[count++] = fill(e, other, l->rank, size);
    return build_concat(&e->b, axis, parts, count);
}

static ir_value part(expansion *e, ir_attr other, ir_value x, const placed_load *l) {
    x = l->empty ? fill(e, other, l->rank, l->size) : slice(e, x, l);
    for (int i = 0; i < l->rank && !l->empty; i++)
        x = pad_axis(e, other, x, l, i);
    return x;
}

ir_value expansion_part(expansion *e, ir_op load, ir_value x, const int64_t *begin,
                        const int64_t *size) {
    placed_load l = {.rank = expansion_type(e, x)->rank};
    memcpy(l.begin, begin, sizeof *begin * (size_t)l.rank);
    memcpy(l.size, size, sizeof *size * (size_t)l.rank);
    placed_load_count(&l, expansion_type(e, x));
    return part(e, ir_op_attr(e->m, load, "other"), x, &l);
}

bool expansion_load(expansion *e, ir_op op) {
    tile_step s;
    placed_load l;
    if (!begin(e, op, &s))
        return false;
    if (!tile_step_load(&s, &l))
        return refuse(e, &s);
    const ir_op_data *d = ir_op_get(e->m, op);
    ir_value x = part(e, ir_op_attr(e->m, op, "other"), e->now[d->operands[0]], &l),
             to = d->results[0];
    const ir_type_data *tile = ir_type_get(e->m, s.results[0]);
    if (tile->rank != l.rank)
        x = build_reshape(&e->b, x, tile->rank, tile->dims);
    e->now[to] = x;
    return true;
}
