/* group_scatter.c - updates of tensors at indices, one after the other.
 *
 * Each result begins as a copy of its tensor, which is left out where both are one memory. Then a
 * loop walks the updates in their order and reads, combines and writes the element at each one's
 * index. Places that differ along other axes than that of the indices never meet, so these axes are
 * the grid and the columns; updates are, too, where their indices are all different. */
#include "ops/combine.h"
#include "schedule/integers.h"
#include "schedule/policy.h"
#include "schedule/scheduler.h"

enum { VECTORS_ABREAST = 4, UPDATES_OF_THREAD = 8 };

typedef struct scatter_nest {
    scheduler *s;
    const ir_op_data *d;
    combine_shape shape;
    const ir_block_data *block;
    const ir_value *next;                           /* what the block makes */
    axis_map map;                                   /* the updates, then the other axes */
    affine index;                                   /* the update's place among the indices */
    affine update[IR_MAX_RANK], place[IR_MAX_RANK]; /* of an element: in updates, in tensors */
    affine outputs[SCHEDULE_OUTPUTS], none[SCHEDULE_OUTPUTS][IR_MAX_RANK];
    ir_value destinations[SCHEDULE_OUTPUTS];
    substitute substitutes[2 * SCHEDULE_OUTPUTS];
} scatter_nest;

void schedule_scatter_tensors(scheduler *s, const plan_group *group) {
    const ir_op_data *d = ir_op_get(s->p->g, group->anchor);
    scheduler_begin_group(s, GROUP_MAP, plan_type(s->p, d->results[0])->element);
    for (uint32_t i = 0; i < d->result_count && !s->failed; i++)
        schedule_copy(s, d->operands[i], s->buffer_of[d->results[i]]);
    scheduler_end_group(s);
}

/* Axis 0 is that of the updates; the others follow. */
static void find_places(scatter_nest *n) {
    const combine_shape *shape = &n->shape;
    n->index.coefficient[0] = shape->updates != 1;
    for (int i = 0; i < shape->rank; i++) {
        int to = i < shape->axis ? i + 1 : i;
        bool moves = i != shape->axis && shape->dims[i] != 1;
        n->place[i].coefficient[to] = moves;
        n->update[i] = i == shape->axis ? n->index : n->place[i];
    }
}

static void find_operands(scatter_nest *n) {
    const plan *p = n->s->p;
    const uint32_t count = n->shape.count;
    for (uint32_t i = 0; i < count; i++) {
        ir_value result = n->d->results[i];
        n->destinations[i] = n->s->buffer_of[result];
        n->outputs[i] = expression_offset(p, result, n->place);
        n->substitutes[i] = (substitute){.kind = SUBSTITUTE_INDEXED,
                                         .value = n->block->arguments[i],
                                         .all = result,
                                         .axis = n->shape.axis,
                                         .place = n->place,
                                         .index = n->d->operands[count],
                                         .index_place = &n->index};
        n->substitutes[count + i] = (substitute){.kind = SUBSTITUTE_PLACE,
                                                 .value = n->block->arguments[count + i],
                                                 .all = n->d->operands[count + 1 + i],
                                                 .place = n->update};
    }
}

static void find_axes(scatter_nest *n, const expression *e) {
    const combine_shape *shape = &n->shape;
    axis_space space = {.axes = shape->rank, .extent = {shape->updates}};
    affine_list accesses = {0};
    for (int i = 0; i < shape->rank; i++)
        if (i != shape->axis)
            space.extent[i < shape->axis ? i + 1 : i] = shape->dims[i];
    space.keep[0] = space.barrier[0] = true;
    scheduler_collect(e, &accesses);
    for (uint32_t i = 0; i < shape->count; i++)
        vec_push(&accesses, n->outputs[i]);
    expression_merge(n->s->p, &space, accesses.items, accesses.count, &n->map);
    vec_release(&accesses);
}

/* ---- indices that are all different ---- */

/* Is it one number at all places of the row of indices? */
static bool is_uniform(const plan *p, ir_value v) {
    const int opcode = plan_opcode(p, v);
    const ir_op_data *d = opcode < 0 ? NULL : ir_op_get(p->g, plan_def(p, v));
    if (plan_type(p, v)->rank == 0 || opcode == GRAPH_CONSTANT)
        return true;
    if (opcode == GRAPH_BROADCAST)
        return plan_type(p, d->operands[0])->rank == 0;
    return false;
}

static bool is_negative(const plan *p, ir_value v) {
    while (plan_opcode(p, v) == GRAPH_BROADCAST)
        v = ir_op_get(p->g, plan_def(p, v))->operands[0];
    if (plan_opcode(p, v) != GRAPH_CONSTANT)
        return false;
    const ir_attr_data *bits = ir_attr_get(p->g, ir_op_attr(p->g, plan_def(p, v), "value"));
    return bits->element == DTYPE_I32 && (int32_t)bits->bits < 0;
}

/* Numbers one after the other from anywhere, or all of them left out. */
static bool is_distinct(const plan *p, ir_value v) {
    for (int opcode; (opcode = plan_opcode(p, v)) != GRAPH_IOTA;) {
        const ir_op_data *d = opcode < 0 ? NULL : ir_op_get(p->g, plan_def(p, v));
        const bool adds = opcode == GRAPH_ADD || opcode == GRAPH_SUB;
        if (adds && is_uniform(p, d->operands[1]))
            v = d->operands[0];
        else if (opcode == GRAPH_ADD && is_uniform(p, d->operands[0]))
            v = d->operands[1];
        else if (opcode == GRAPH_SELECT && is_uniform(p, d->operands[0]) &&
                 is_negative(p, d->operands[2]))
            v = d->operands[1];
        else
            return false;
    }
    return true;
}

/* ---- loops ---- */

static int64_t columns_of(const scatter_nest *n) {
    const scheduler *s = n->s;
    const int64_t lanes = s->machine.lanes,
                  extent = scheduler_estimate(s, n->map.extent[n->map.count - 1]),
                  most = s->target->policy->threads ? lanes : VECTORS_ABREAST * lanes;
    return clamp(round_up(extent, lanes), lanes, most);
}

/* Updates of a workgroup, where these do not wait for each other. */
static int64_t updates_of(const scatter_nest *n) {
    const scheduler *s = n->s;
    const int64_t extent = scheduler_estimate(s, n->map.extent[0]);
    return s->target->policy->threads ? UPDATES_OF_THREAD
                                      : clamp(extent / (4 * s->target->threads), 1, extent);
}

/* The grid over the axes along which no two updates meet, and in it the loops over the updates and
 * over the columns of each. */
static ir_builder open_updates(scatter_nest *n, ir_value *indices) {
    scheduler *s = n->s;
    const int last = n->map.count - 1, first = !is_distinct(s->p, n->d->operands[n->shape.count]);
    const ir_attr one = scheduler_int(s, 1);
    ir_attr steps[NEST_AXES], columns = 0, updates = 0;
    const ir_dim *extents = n->map.extent;
    for (int i = 0; i <= last; i++)
        steps[i] = one;
    if (last > 0) {
        scheduler_parameter(s, IN_SCATTER, COLUMNS, columns_of(n), &columns);
        steps[last] = columns;
    }
    if (!first) {
        scheduler_parameter(s, IN_SCATTER, ROWS, updates_of(n), &updates);
        steps[0] = updates;
    }
    ir_builder b = scheduler_phase(s, "scatter", last + 1 - first, extents + first, steps + first,
                                   NULL, indices + first);
    b = scheduler_for(s, &b, "update", first ? 0 : indices[0], extents[0], one, updates,
                      &indices[0]);
    if (last > 0)
        b = scheduler_for(s, &b, "column", indices[last], extents[last], columns, columns,
                          &indices[last]);
    return b;
}

static void schedule_updates(scatter_nest *n, expression *e) {
    scheduler *s = n->s;
    ir_value indices[NEST_AXES];
    const computation_index at = {.value = n->d->operands[n->shape.count],
                                  .place = &n->index,
                                  .stride =
                                      expression_stride(s->p, n->d->results[0], n->shape.axis),
                                  .limit = n->shape.dims[n->shape.axis]};
    ir_builder b = open_updates(n, indices);
    const computation c = {.opcode = SCHED_MAP,
                           .indices = indices,
                           .axes = n->map.count,
                           .map = &n->map,
                           .e = e,
                           .yields = n->next,
                           .yield_index = (const affine(*)[IR_MAX_RANK])n->none,
                           .yield_count = (int)n->shape.count,
                           .outputs = n->destinations,
                           .output_access = n->outputs,
                           .at = &at};
    scheduler_compute(s, &b, &c);
}

static bool is_empty(const scatter_nest *n) {
    bool empty = n->shape.updates == 0;
    for (int i = 0; i < n->shape.rank; i++)
        empty |= n->shape.dims[i] == 0;
    return empty;
}

void schedule_scatter_group(scheduler *s, const plan_group *group) {
    const ir_module *g = s->p->g;
    const ir_block_data *block = ir_block_get(g, ir_op_block(g, group->anchor, 0));
    scatter_nest n = {.s = s,
                      .d = ir_op_get(g, group->anchor),
                      .shape = combine_shape_of(g, group->anchor),
                      .block = block,
                      .next = ir_op_get(g, block->last)->operands};
    if (is_empty(&n))
        return;
    find_places(&n);
    find_operands(&n);
    expression e = {.p = s->p,
                    .group = -1,
                    .substitutes = n.substitutes,
                    .substitute_count = 2 * n.shape.count};
    const affine none[IR_MAX_RANK] = {0};
    for (uint32_t i = 0; i < n.shape.count; i++)
        expression_root(&e, n.next[i], none);
    expression_element(&e, n.d->operands[n.shape.count], &n.index);
    find_axes(&n, &e);
    schedule_updates(&n, &e);
    expression_release(&e);
}
