/* group_map.c - an element-wise nest: blocks of rows and columns over the merged axes of stored
 * values of one shape.
 *
 * Where an input is contiguous along another axis than the output, the tile gets rows along that
 * axis, so that the target can transpose it in registers. */
#include <stdlib.h>
#include <string.h>

#include "parameters/thresholds.h"
#include "schedule/integers.h"
#include "schedule/policy.h"

enum { STEPS_AHEAD = 0, STEPS_AHEAD_TRANSPOSED = 1 };
/* Steps of the axis before rows and columns, where these are too few for a workgroup. */
enum { OUTER_OF_WORKGROUP = 8 };
typedef struct nest {
    scheduler *s;
    int group, count;                  /* group: -1 where a single value is written elsewhere */
    ir_value values[SCHEDULE_OUTPUTS]; /* yielded */
    affine index[SCHEDULE_OUTPUTS][IR_MAX_RANK];
    ir_value destinations[SCHEDULE_OUTPUTS];
    affine outputs[SCHEDULE_OUTPUTS];
    axis_map map;
    bool transposed;
} nest;

static int64_t at_most(int64_t n, int64_t limit) {
    return n < limit ? n : limit;
}

static int64_t at_least(int64_t n, int64_t limit) {
    return n > limit ? n : limit;
}

/* Coefficient of an access for merged index `i`. */
static ir_dim along(const affine *a, const axis_map *map, int i) {
    for (int axis = 0; axis < NEST_AXES; axis++)
        if (map->index_of[axis] == i)
            return a->coefficient[axis];
    return 0;
}

/* Exchanges two indices of a map. */
static void exchange(axis_map *map, int a, int b) {
    ir_dim extent = map->extent[a];
    map->extent[a] = map->extent[b];
    map->extent[b] = extent;
    for (int axis = 0; axis < NEST_AXES; axis++)
        if (map->index_of[axis] == a)
            map->index_of[axis] = b;
        else if (map->index_of[axis] == b)
            map->index_of[axis] = a;
}

/* Brings the axis along which some input is contiguous, while the last one is not, beside the last
 * one. */
static void find_transposed(nest *n, const expression *e) {
    int last = n->map.count - 1;
    for (size_t i = 0; i < e->inputs.count && !n->transposed; i++) {
        const affine *a = &e->inputs.items[i].access;
        ir_dim stride = along(a, &n->map, last);
        for (int q = 0; q < last && stride != 0 && stride != 1; q++)
            if (along(a, &n->map, q) == 1 && n->map.extent[q] != 1) {
                exchange(&n->map, q, last - 1);
                n->transposed = true;
                break;
            }
    }
}

static void analyse(nest *n, const expression *e, const axis_space *space) {
    affine_list accesses = {0};
    scheduler_collect(e, &accesses);
    for (int i = 0; i < n->count; i++)
        vec_push(&accesses, n->outputs[i]);
    expression_merge(n->s->p, space, accesses.items, accesses.count, &n->map);
    vec_release(&accesses);
    if (n->map.count > 1)
        find_transposed(n, e);
}

static ir_builder column_loop(nest *n, ir_builder *b, ir_attr step, ir_attr span,
                              ir_value *indices) {
    int last = n->map.count - 1;
    return scheduler_for(n->s, b, "column", indices[last], n->map.extent[last], step, span,
                         &indices[last]);
}

static bool has_numbers(const axis_map *map) {
    bool all = true;
    for (int i = 0; i < map->count; i++)
        all &= ir_dim_is_static(map->extent[i]);
    return all;
}

static int64_t elements_of(const nest *n) {
    int64_t elements = 1;
    if (!has_numbers(&n->map))
        return INT64_MAX;
    for (int i = 0; i < n->map.count; i++)
        if (__builtin_mul_overflow(elements, n->map.extent[i], &elements))
            return INT64_MAX;
    return elements;
}

static nest_work work_of(const nest *n, const expression *e) {
    const ir_module *g = n->s->p->g;
    return (nest_work){.transposed = n->transposed,
                       .draws = scheduler_draws(e),
                       .correct = *ir_op_string(g, ir_module_kernel(g), "math", "") != 0,
                       .functions = scheduler_work(e),
                       .elements = elements_of(n)};
}

/* As many as keep all threads busy to the end; one, where another thread takes longer to begin than
 * the caller to end. */
static int64_t workgroups_of(const nest *n, const nest_work *work) {
    enum { INSTRUCTIONS = 16384, PLAIN = 4 };
    const schedule_target *t = n->s->target;
    double all = (double)work->elements / t->vector_lanes * (work->functions + PLAIN);
    bool few = !t->policy->threads && t->threads > 1 && all < INSTRUCTIONS;
    return few ? 1 : at_least(4 * t->threads, 1);
}

/* A core turns squares along the lines that it writes, and goes from workgroup to workgroup along
 * those that it reads: the lines behind its columns are all that is fetched at once, however many
 * share a set of a cache. */
static bool goes_by_lines(const nest *n) {
    return n->transposed && !n->s->target->policy->threads;
}

static ir_builder open_phase(nest *n, ir_attr *steps, ir_value *indices) {
    const char *what = n->transposed ? "transpose" : "map";
    int row = n->map.count - 2, column = n->map.count - 1;
    if (!goes_by_lines(n))
        return scheduler_phase(n->s, what, n->map.count, n->map.extent, steps, NULL, indices);
    ir_dim extents[NEST_AXES];
    ir_attr step = steps[row];
    memcpy(extents, n->map.extent, sizeof extents);
    extents[row] = n->map.extent[column];
    extents[column] = n->map.extent[row];
    steps[row] = steps[column];
    steps[column] = step;
    ir_builder b = scheduler_phase(n->s, what, n->map.count, extents, steps, NULL, indices);
    ir_value index = indices[row];
    indices[row] = indices[column];
    indices[column] = index;
    return b;
}

/* Opens grid and loops; indices end up as the computation's operands. */
static ir_builder open_loops(nest *n, const expression *e, ir_value *indices) {
    scheduler *s = n->s;
    int64_t last = scheduler_estimate(s, n->map.extent[n->map.count - 1]);
    const nest_work work = work_of(n, e);
    int64_t vector = s->target->policy->nest_vector(s, &work);
    int64_t workgroups = workgroups_of(n, &work);
    int count = n->map.count;
    ir_attr steps[NEST_AXES], vector_name, block_name, rows_name = 0,
                                                       row_step = scheduler_int(s, 1);
    vector = scheduler_parameter(s, IN_MAP, VECTOR, vector, &vector_name);
    int64_t block = n->transposed
                        ? s->target->policy->turned_columns
                        : at_most(round_up(last, vector), s->target->policy->nest_elements);
    if (count == 1)
        block = round_up(at_least(at_most(block, last / workgroups), 1), vector);
    block = scheduler_parameter(s, IN_MAP, BLOCK, round_up(block, vector), &block_name);
    for (int i = 0; i < count; i++)
        steps[i] = scheduler_int(s, 1);
    steps[count - 1] = block_name;
    if (count > 1) {
        int64_t rows = n->transposed ? s->target->policy->turned_rows
                                     : at_least(s->target->policy->nest_elements / block, 1);
        int64_t extent = scheduler_estimate(s, n->map.extent[count - 2]);
        rows = at_least(
            at_most(rows, n->transposed ? extent : (extent + workgroups - 1) / workgroups), 1);
        if (n->transposed)
            scheduler_parameter(s, IN_MAP, SIDE, round_up(rows, vector), &rows_name);
        else
            scheduler_parameter(s, IN_MAP, ROWS, rows, &rows_name);
        steps[count - 2] = rows_name;
        if (n->transposed)
            row_step = vector_name;
    }
    bool gathers = count > 2 && !has_numbers(&n->map);
    if (gathers)
        steps[count - 3] = scheduler_int(s, OUTER_OF_WORKGROUP);
    ir_builder b = open_phase(n, steps, indices);
    if (gathers)
        b = scheduler_for(s, &b, "outer", indices[count - 3], n->map.extent[count - 3],
                          scheduler_int(s, 1), scheduler_int(s, OUTER_OF_WORKGROUP),
                          &indices[count - 3]);
    /* Threads that share a transposition read whole lines of the rows behind its columns. */
    bool column_first = n->transposed && !goes_by_lines(n);
    if (column_first)
        b = column_loop(n, &b, vector_name, block_name, indices);
    if (count > 1)
        b = scheduler_for(s, &b, "row", indices[count - 2], n->map.extent[count - 2], row_step,
                          rows_name, &indices[count - 2]);
    return column_first ? b : column_loop(n, &b, vector_name, block_name, indices);
}

static void find_traffic(const nest *n, const expression *e, traffic *t) {
    ir_value *sources = base_malloc((e->inputs.count + 1) * sizeof *sources);
    size_t count = 0;
    for (size_t i = 0; i < e->inputs.count; i++)
        if (!e->inputs.items[i].workgroup)
            sources[count++] = e->inputs.items[i].source;
    scheduler_traffic(n->s, sources, count, n->values, (size_t)n->count,
                      n->transposed ? STEPS_AHEAD_TRANSPOSED : STEPS_AHEAD, t);
    free(sources);
}

static void schedule_nest(nest *n) {
    scheduler *s = n->s;
    const ir_type_data *type = plan_type(s->p, n->values[0]);
    axis_space space = {.axes = type->rank};
    expression e = {.p = s->p, .group = n->group};
    ir_value indices[NEST_AXES];
    memcpy(space.extent, type->dims, sizeof(int64_t) * (size_t)type->rank);
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i] == 0)
            return;
    for (int i = 0; i < n->count; i++)
        expression_root(&e, n->values[i], n->index[i]);
    analyse(n, &e, &space);
    traffic t;
    ir_named_attr attrs[4];
    find_traffic(n, &e, &t);
    ir_builder b = open_loops(n, &e, indices);
    int attr_count = traffic_attrs(s, &t, true, n->map.count - 1 - goes_by_lines(n), attrs);
    if (n->transposed && s->target->policy->turns_staged)
        attrs[attr_count++] = (ir_named_attr){"staged", ir_attr_bool(s->m, true)};
    computation c = {.opcode = SCHED_MAP,
                     .indices = indices,
                     .axes = n->map.count,
                     .map = &n->map,
                     .e = &e,
                     .yields = n->values,
                     .yield_index = (const affine(*)[IR_MAX_RANK])n->index,
                     .yield_count = n->count,
                     .outputs = n->destinations,
                     .output_access = n->outputs,
                     .attrs = attrs,
                     .attr_count = attr_count};
    scheduler_compute(s, &b, &c);
    expression_release(&e);
}

/* A value at its own indices into memory of the shape of `whole`, at an offset along an axis. */
static void add_value(nest *n, ir_value v, ir_value destination, ir_value whole,
                      const ir_dim *start) {
    affine shifted[IR_MAX_RANK];
    int i = n->count++;
    n->values[i] = v;
    n->destinations[i] = destination;
    expression_identity(n->s->p, v, 0, n->index[i]);
    memcpy(shifted, n->index[i], sizeof shifted);
    for (int axis = 0; axis < plan_type(n->s->p, v)->rank; axis++)
        shifted[axis].constant =
            ir_dim_add_scaled(n->s->p->dims, shifted[axis].constant, start[axis], 1);
    n->outputs[i] = expression_offset(n->s->p, whole, shifted);
}

static const ir_dim at_start[IR_MAX_RANK];

/* A concatenation, with the place of its next piece. */
typedef struct open_concat {
    ir_value value;
    uint32_t next;
    ir_dim at[IR_MAX_RANK];
} open_concat;

static void schedule_piece(scheduler *s, ir_value root, ir_value piece, const ir_dim *at) {
    nest n = {.s = s, .group = -1};
    add_value(&n, piece, s->buffer_of[root], root, at);
    schedule_nest(&n);
}

/* The pieces of a concatenation are nests of their own, side by side in one memory. A piece that is
 * itself one, and of nothing else, is no memory of its own: its pieces come in its place. */
static void schedule_concat(scheduler *s, ir_value root) {
    VEC(open_concat) open = {0};
    open_concat whole = {.value = root};
    vec_push(&open, whole);
    while (open.count) {
        open_concat *c = &open.items[open.count - 1], inner = *c;
        ir_op op = plan_def(s->p, c->value);
        if (c->next == ir_op_get(s->p->g, op)->operand_count) {
            open.count--;
            continue;
        }
        int axis = (int)ir_op_int(s->p->g, op, "axis", 0);
        ir_value piece = ir_op_get(s->p->g, op)->operands[c->next++];
        c->at[axis] =
            ir_dim_add_scaled(s->p->dims, c->at[axis], plan_type(s->p, piece)->dims[axis], 1);
        inner.value = piece;
        inner.next = 0;
        if (plan_opcode(s->p, piece) == GRAPH_CONCAT && !s->p->stored[piece])
            vec_push(&open, inner);
        else
            schedule_piece(s, root, piece, inner.at);
    }
    vec_release(&open);
}

void schedule_map_group(scheduler *s, int group) {
    const plan_group *g = &s->p->groups[group];
    nest n = {.s = s, .group = group};
    if (g->roots.count == 0)
        return;
    if (plan_opcode(s->p, g->roots.items[0]) == GRAPH_CONCAT) {
        schedule_concat(s, g->roots.items[0]);
        return;
    }
    for (size_t i = 0; i < g->roots.count; i++)
        add_value(&n, g->roots.items[i], s->buffer_of[g->roots.items[i]], g->roots.items[i],
                  at_start);
    schedule_nest(&n);
}

void schedule_copy(scheduler *s, ir_value value, ir_value destination) {
    nest n = {.s = s, .group = -1};
    add_value(&n, value, destination, value, at_start);
    schedule_nest(&n);
}
