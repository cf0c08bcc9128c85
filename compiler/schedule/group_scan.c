/* group_scan.c - running sums along one axis, with the element-wise work before and behind them,
 * and the order of elements along one, with the work before it.
 *
 * A chain of sums waits for each addition, so several go side by side. Along the last axis these
 * are rows, a block of which is turned in registers so that a vector has an element of each; along
 * another axis they are columns, and a vector has them as they lie. */
#include <string.h>

#include "parameters/thresholds.h"
#include "schedule/policy.h"
#include "schedule/scheduler.h"

enum { SCAN_STEPS = 16, SORT_STEPS = 4, SCAN_YIELDS = 8 };

typedef struct scan_nest {
    scheduler *s;
    const plan_group *group;
    ir_value x; /* what is scanned; the results have its shape */
    int axis;
    bool along_rows; /* nothing but single elements is behind the axis */
    axis_map map;    /* others..., those side by side, the scanned axis */
    affine place[IR_MAX_RANK];
    affine index[SCAN_YIELDS][IR_MAX_RANK], outputs[SCAN_YIELDS];
    ir_value destinations[SCAN_YIELDS];
    bool sorts;             /* yields what is sorted */
    const ir_value *yields; /* else the results */
    int count;              /* of the results */
} scan_nest;

/* Axis 0 is one element, for what has no other axis; then the others; the scanned one is last. */
static void find_place(scan_nest *n) {
    const ir_type_data *t = plan_type(n->s->p, n->x);
    n->along_rows = true;
    for (int i = 0; i < t->rank; i++) {
        int to = i == n->axis ? t->rank : i < n->axis ? i + 1 : i;
        n->place[i] = (affine){0};
        n->place[i].coefficient[to] = t->dims[i] != 1 || i == n->axis;
        n->along_rows &= i <= n->axis || t->dims[i] == 1;
    }
}

static void find_outputs(scan_nest *n) {
    scheduler *s = n->s;
    size_t bytes = sizeof(affine) * (size_t)plan_type(s->p, n->x)->rank;
    n->count = (int)n->group->roots.count;
    n->yields = n->sorts ? &n->x : n->group->roots.items;
    for (int i = 0; i < n->count; i++) {
        ir_value v = n->group->roots.items[i];
        memcpy(n->index[i], n->place, bytes);
        n->destinations[i] = s->buffer_of[v];
        n->outputs[i] = expression_offset(s->p, v, n->place);
    }
}

static void find_axes(scan_nest *n, const expression *e) {
    const ir_type_data *t = plan_type(n->s->p, n->x);
    axis_space space = {.axes = t->rank + 1, .extent = {1}};
    affine_list accesses = {0};
    for (int i = 0; i < t->rank; i++)
        space.extent[i == n->axis ? t->rank : i < n->axis ? i + 1 : i] = t->dims[i];
    space.keep[t->rank] = space.keep[t->rank - 1] = true;
    space.barrier[t->rank - 1] = true;
    scheduler_collect(e, &accesses);
    for (int i = 0; i < n->count; i++)
        vec_push(&accesses, n->outputs[i]);
    expression_merge(n->s->p, &space, accesses.items, accesses.count, &n->map);
    vec_release(&accesses);
}

static void find_traffic(const scan_nest *n, const expression *e, traffic *t) {
    ir_value *sources = base_malloc((e->inputs.count + 1) * sizeof *sources);
    size_t count = 0;
    for (size_t i = 0; i < e->inputs.count; i++)
        sources[count++] = e->inputs.items[i].source;
    scheduler_traffic(n->s, sources, count, n->group->roots.items, n->group->roots.count, 0, t);
    free(sources);
}

/* Pairs of a sort that a thread exchanges at once: what it waits for, it waits for together. */
enum { PAIRS_OF_THREAD = 4 };

/* Rows or columns that a workgroup's threads sort side by side: no more than it takes to give each
 * thread its pairs, so that many workgroups sort, and in their own memory. Columns are read in
 * whole runs of memory. */
static int64_t sorted_beside(const scan_nest *n) {
    enum { LEAST_COLUMNS = 16 };
    const scheduler *s = n->s;
    int64_t beside = n->along_rows ? 1 : LEAST_COLUMNS, lanes = s->machine.lanes,
            extent = scheduler_estimate(s, plan_type(s->p, n->x)->dims[n->axis]);
    while (beside < lanes && beside * extent / 2 < PAIRS_OF_THREAD * s->target->vector_lanes)
        beside *= 2;
    return beside;
}

/* Number side by side: rows fill a vector; columns a few, where that leaves every thread some. */
static int64_t abreast(const scan_nest *n) {
    const scheduler *s = n->s;
    int64_t lanes = s->machine.lanes,
            extent = scheduler_estimate(s, n->map.extent[n->map.count - 2]);
    if (n->sorts && s->target->policy->threads)
        return sorted_beside(n);
    if (n->along_rows)
        return lanes;
    bool wide = extent >= WIDE_COLUMNS * s->target->vector_lanes * s->target->threads;
    return n->sorts ? lanes : (wide ? COLUMN_RUN : COLUMN_RUN / 2) * lanes;
}

/* Are there so few to be sorted that to compile long steps takes longer than they save? */
static bool sorts_few(const scan_nest *n) {
    enum { FEW_ELEMENTS = 65536 };
    const ir_type_data *t = plan_type(n->s->p, n->x);
    int64_t elements = 1;
    for (int i = 0; i < t->rank; i++) {
        if (!ir_dim_is_static(t->dims[i]))
            return false;
        elements *= elements <= FEW_ELEMENTS ? t->dims[i] : 1;
    }
    return n->sorts && elements <= FEW_ELEMENTS;
}

static ir_builder open_scan(scan_nest *n, ir_value *indices) {
    scheduler *s = n->s;
    ir_attr steps[NEST_AXES], name;
    int count = n->map.count - 1;
    scheduler_parameter(s, IN_SCAN, COLUMNS, abreast(n), &name);
    for (int i = 0; i < count; i++)
        steps[i] = i == count - 1 ? name : scheduler_int(s, 1);
    ir_builder b =
        scheduler_phase(s, n->sorts ? "sort" : "scan", count, n->map.extent, steps, NULL, indices);
    return scheduler_for(s, &b, n->along_rows ? "row" : "column", indices[count - 1],
                         n->map.extent[count - 1], name, name, &indices[count - 1]);
}

/* Fills in the operation's own attributes; returns how many. */
static int scan_attrs(const scan_nest *n, ir_named_attr *attrs) {
    scheduler *s = n->s;
    const ir_module *g = s->p->g;
    ir_op op = n->group->anchor;
    int count = 0;
    attrs[count++] =
        (ir_named_attr){"extent", ir_attr_dim(s->m, plan_type(s->p, n->x)->dims[n->axis])};
    if (n->sorts && ir_op_int(g, op, "descending", 0))
        attrs[count++] = (ir_named_attr){"descending", ir_attr_bool(s->m, true)};
    if (n->sorts && s->target->policy->threads)
        attrs[count++] =
            (ir_named_attr){"pairs", ir_attr_int(s->m, PAIRS_OF_THREAD * s->target->vector_lanes)};
    if (n->sorts)
        return count;
    char kind[8] = "cum";
    strncat(kind, ir_op_string(g, op, "kind", "sum"), sizeof kind - 1 - strlen(kind));
    attrs[count++] = (ir_named_attr){"kind", ir_attr_string(s->m, kind)};
    attrs[count++] = (ir_named_attr){"order", scheduler_order(s, order_of(g, op, ORDER_ANY))};
    attrs[count++] = (ir_named_attr){"reduction", scheduler_reduction(s, op)};
    return count;
}

static void schedule_scan(scan_nest *n, expression *e) {
    scheduler *s = n->s;
    ir_value indices[NEST_AXES];
    ir_attr sub = 0;
    traffic t = {0};
    if (!n->sorts)
        find_traffic(n, e, &t);
    if (n->along_rows)
        scheduler_parameter(s, IN_SCAN, STEPS, sorts_few(n) ? SORT_STEPS : SCAN_STEPS, &sub);
    ir_builder b = open_scan(n, indices);
    ir_named_attr attrs[10];
    int count = scan_attrs(n, attrs);
    if (sub)
        attrs[count++] = (ir_named_attr){"sub", sub};
    count += traffic_attrs(s, &t, true, n->map.count - 1, attrs + count);
    computation c = {.opcode = n->sorts ? SCHED_SORT : SCHED_SCAN,
                     .indices = indices,
                     .axes = n->map.count - 1,
                     .map = &n->map,
                     .e = e,
                     .yields = n->yields,
                     .yield_index = (const affine(*)[IR_MAX_RANK])n->index,
                     .yield_count = n->count,
                     .outputs = n->destinations,
                     .output_access = n->outputs,
                     .attrs = attrs,
                     .attr_count = count};
    scheduler_compute(s, &b, &c);
}

void schedule_scan_group(scheduler *s, int group) {
    const plan_group *g = &s->p->groups[group];
    const ir_module *graph = s->p->g;
    scan_nest n = {.s = s, .group = g, .x = ir_op_get(graph, g->anchor)->operands[0]};
    const ir_type_data *t = plan_type(s->p, n.x);
    n.axis = (int)ir_op_int(graph, g->anchor, "axis", 0);
    n.sorts = ir_op_get(graph, g->anchor)->opcode == GRAPH_ARGSORT;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] == 0)
            return;
    find_place(&n);
    find_outputs(&n);
    expression e = {.p = s->p, .group = group, .place = n.place};
    for (int i = 0; i < n.count; i++)
        expression_root(&e, n.yields[i], n.index[i]);
    find_axes(&n, &e);
    schedule_scan(&n, &e);
    expression_release(&e);
}
