/* group_column.c - one reduction over an axis that is not the last: runs of columns side by side,
 * each with its own accumulators. */
#include <string.h>

#include "parameters/thresholds.h"
#include "schedule/policy.h"

/* Rows that are fetched ahead: of a lane's, 64 apart, and of those that follow each other. */
enum { LANES_AHEAD = 2, ROWS_AHEAD = 16, EXACT_VECTORS = 2 };

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

/* Tells that x, with these extents, is too large for a cache. */
static bool is_far(const scheduler *s, ir_value x, const axis_map *map) {
    int64_t bytes = (int64_t)dtype_size(plan_type(s->p, x)->element);
    for (int i = 0; i < map->count; i++)
        bytes *= scheduler_estimate(s, map->extent[i]);
    return bytes >= USUAL_CACHE_BYTES;
}

static column_plan plan_columns(const scheduler *s, ir_value x, const axis_map *map, bool sums) {
    int n = map->count - 1;
    const column_work work = {.columns = scheduler_estimate(s, map->extent[n - 1]),
                              .rows = scheduler_estimate(s, map->extent[n]),
                              .known = ir_dim_is_static(map->extent[n]),
                              .sums = sums,
                              .far = is_far(s, x, map)};
    return s->target->policy->column(s, &work);
}

/* Columns of an exact sum: of each there are two f64 or one, and a greatest and a least number. */
static int64_t exact_run(const scheduler *s) {
    return s->target->policy->threads ? s->machine.lanes : EXACT_VECTORS * s->machine.lanes;
}

void schedule_column_group(scheduler *s, const plan_group *group) {
    const ir_op_data *d = ir_op_get(s->p->g, group->anchor);
    ir_value x = d->operands[0], y = d->results[0], indices[NEST_AXES];
    int64_t axis = 0;
    affine index[1][IR_MAX_RANK], own[IR_MAX_RANK];
    axis_map map;
    ir_attr steps[NEST_AXES], name, trip = 0, sub = 0;
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
    order_id order = order_of(s->p->g, group->anchor, ORDER_ANY);
    bool trips = order == ORDER_LANES64 && ir_dim_is_static(map.extent[n]);
    column_plan chosen = plan_columns(s, x, &map, trips);
    if (order_is_exact(order))
        chosen = (column_plan){.run = exact_run(s), .trip = 1};
    if (chosen.registers)
        sub = scheduler_int(s, ORDER_LANES64_LANES);
    else
        scheduler_traffic(s, &x, 1, &y, 1, chosen.trip > 1 ? LANES_AHEAD : ROWS_AHEAD, &t);
    scheduler_parameter(s, IN_COLUMN, COLUMNS, chosen.run, &name);
    if (trips)
        scheduler_parameter(s, IN_COLUMN, TRIP, chosen.trip, &trip);
    for (int i = 0; i < n; i++)
        steps[i] = i == n - 1 ? name : scheduler_int(s, 1);
    ir_builder b = scheduler_phase(s, "columns", n, map.extent, steps, NULL, indices);
    b = scheduler_for(s, &b, "column", indices[n - 1], map.extent[n - 1], name, name,
                      &indices[n - 1]);
    ir_named_attr attrs[8] = {
        {"extent", ir_attr_dim(s->m, map.extent[n])},
        {"kind", ir_attr_string(s->m, ir_op_string(s->p->g, group->anchor, "kind", "sum"))},
        {"order", scheduler_order(s, order)},
        {"reduction", scheduler_reduction(s, group->anchor)}};
    int count = 4;
    if (trip)
        attrs[count++] = (ir_named_attr){"trip", trip};
    if (sub)
        attrs[count++] = (ir_named_attr){"sub", sub};
    else
        count += traffic_attrs(s, &t, false, n, attrs + count);
    computation c = {.opcode = chosen.registers ? SCHED_REDUCE : SCHED_COLUMNS,
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
                     .attr_count = count};
    scheduler_compute(s, &b, &c);
    expression_release(&e);
}
