/* group_column.c - one reduction over an axis that is not the last: runs of columns side by side,
 * each with its own accumulators. */
#include <string.h>

#include "schedule/scheduler.h"
#include "space/thresholds.h"

enum { ROWS_AHEAD = 16 };

/* Index of x with the reduced axis moved behind all others. */
static void column_index(const plan *p, ir_value x, int axis, affine *index) {
    const ir_type_data *t = plan_type(p, x);
    for (int i = 0; i < t->rank; i++) {
        index[i] = (affine){0};
        int to = i == axis ? t->rank - 1 : i > axis ? i - 1 : i;
        if (t->dims[i] != 1 || i == axis)
            index[i].coefficient[to] = 1;
    }
}

static void find_axes(scheduler *s, ir_value x, int axis, const expression *e, const affine *output,
                      axis_map *map) {
    const ir_type_data *t = plan_type(s->p, x);
    axis_space space = {.axes = t->rank};
    affine_list accesses = {0};
    for (int i = 0, n = 0; i < t->rank; i++)
        space.extent[i == axis ? t->rank - 1 : n++] = t->dims[i];
    space.keep[t->rank - 1] = true;
    space.barrier[t->rank - 2] = true;
    scheduler_collect(e, &accesses);
    vec_push(&accesses, *output);
    expression_merge(s->p, &space, accesses.items, accesses.count, map);
    vec_release(&accesses);
}

void schedule_column_group(scheduler *s, const plan_group *group) {
    const ir_op_data *d = ir_op_get(s->p->g, group->anchor);
    ir_value x = d->operands[0], y = d->results[0], indices[NEST_AXES];
    int64_t axis = 0;
    affine index[1][IR_MAX_RANK], own[IR_MAX_RANK];
    axis_map map;
    ir_attr steps[NEST_AXES], name;
    if (ir_type_count(s->p->g, ir_value_get(s->p->g, y)->type) == 0)
        return;
    ir_op_ints(s->p->g, group->anchor, "axes", &axis, 1);
    column_index(s->p, x, (int)axis, index[0]);
    expression_identity(s->p, y, 0, own);
    affine output = expression_offset(s->p, y, own);
    expression e = {.p = s->p, .group = -1};
    expression_element(&e, x, index[0]);
    find_axes(s, x, (int)axis, &e, &output, &map);
    int n = map.count - 1;
    traffic t;
    scheduler_traffic(s, &x, 1, &y, 1, ROWS_AHEAD, &t);
    /* Long runs of every row where that leaves enough workgroups: 64 lanes of them fill a first
     * cache.
     */
    int64_t lanes = s->target->vector_lanes, run = COLUMN_RUN * lanes;
    bool wide =
        scheduler_estimate(s, map.extent[n - 1]) >= WIDE_COLUMNS * lanes * s->target->threads;
    scheduler_parameter(s, IN_COLUMN, COLUMNS, wide ? run : run / 2, &name);
    for (int i = 0; i < n; i++)
        steps[i] = i == n - 1 ? name : scheduler_int(s, 1);
    ir_builder b = scheduler_phase(s, "columns", n, map.extent, steps, NULL, indices);
    b = scheduler_for(s, &b, "column", indices[n - 1], map.extent[n - 1], name, name,
                      &indices[n - 1]);
    ir_named_attr attrs[7] = {
        {"extent", ir_attr_dim(s->m, map.extent[n])},
        {"kind", ir_attr_string(s->m, ir_op_string(s->p->g, group->anchor, "kind", "sum"))},
        {"order", scheduler_order(s, order_of(s->p->g, group->anchor, ORDER_ANY))},
        {"reduction", scheduler_reduction(s, group->anchor)}};
    computation c = {.opcode = SCHED_COLUMNS,
                     .indices = indices,
                     .axes = n,
                     .map = &map,
                     .e = &e,
                     .yields = &x,
                     .yield_index = index,
                     .yield_count = 1,
                     .outputs = &s->buffer_of[y],
                     .output_access = &output,
                     .attrs = attrs,
                     .attr_count = 4 + traffic_attrs(s, &t, false, n, attrs + 4)};
    scheduler_compute(s, &b, &c);
    expression_release(&e);
}
