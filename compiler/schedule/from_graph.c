/* from_graph.c - the way from Graph IR to Schedule IR: memory for stored values, then a phase for
 * each group. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/correct/build.h"
#include "ops/functions.h"
#include "ops/reductions.h"
#include "ops/symbols.h"
#include "parameters/thresholds.h"
#include "schedule/policy.h"
#include "schedule/scheduler.h"

/* Instructions of a conversion to a float of 8 bits. */
enum { NARROW_CONVERSION = 40 };

ir_attr scheduler_int(scheduler *s, int64_t value) {
    return ir_attr_int(s->m, value);
}

ir_attr scheduler_order(scheduler *s, order_id order) {
    return ir_attr_string(s->m, order_info_of(order)->name);
}

int64_t scheduler_estimate(const scheduler *s, ir_dim extent) {
    return ir_dim_estimate(s->p->dims, extent, SCHEDULE_USUAL_EXTENT);
}

int64_t scheduler_rows(const scheduler *s, ir_dim extent, ir_dim columns) {
    int64_t workgroups = 4 * (int64_t)s->target->threads, of_row = scheduler_estimate(s, columns),
            rows = WORKGROUP_ELEMENTS / (of_row > 0 ? of_row : 1),
            share = (scheduler_estimate(s, extent) + workgroups - 1) / workgroups;
    rows = rows < share ? rows : share;
    return rows > 0 ? rows : 1;
}

/* ---- structure ---- */

/* Parameters: a phase is a list for each property of its axes, which callers have as lists. */
ir_builder scheduler_phase(scheduler *s, const char *what, int axes, const ir_dim *extents,
                           const ir_attr *steps, const char *const *names, ir_value *indices) {
    ir_module *m = s->m;
    ir_named_attr attrs[] = {{"index", ir_attr_int(m, s->phase)},
                             {"what", ir_attr_string(m, what)}};
    ir_op_spec phase = {.opcode = SCHED_PHASE, .attrs = attrs, .attr_count = 2, .region_count = 1};
    ir_builder in = {m, ir_op_block(m, ir_build(&s->at, &phase), 0), 0, s->at.location};
    ir_attr axis_names[NEST_AXES];
    for (int i = 0; i < axes; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", i);
        axis_names[i] = ir_attr_string(m, names ? names[i] : name);
    }
    ir_named_attr grid[] = {{"axes", ir_attr_array(m, axis_names, (uint32_t)axes)},
                            {"extents", ir_attr_dim_array(m, extents, (uint32_t)axes)},
                            {"steps", ir_attr_array(m, steps, (uint32_t)axes)}};
    ir_op_spec parallel = {
        .opcode = SCHED_PARALLEL, .attrs = grid, .attr_count = 3, .region_count = 1};
    in.block = ir_op_block(m, ir_build(&in, &parallel), 0);
    for (int i = 0; i < axes; i++)
        indices[i] = ir_block_add_argument(m, in.block, ir_type_index(m), NULL);
    s->phase++;
    return in;
}

static ir_op loop_around(const scheduler *s, const ir_builder *in) {
    return ir_block_parent(s->m, in->block);
}

void scheduler_set_tail(scheduler *s, const ir_builder *in, const char *how, int64_t value) {
    ir_op loop = loop_around(s, in);
    if (ir_op_attr(s->m, loop, "tail"))
        ir_op_set_attr(s->m, loop, how, scheduler_int(s, value));
}

/* Parameters: a loop is its axis, start, extent and two sizes; names for them would be read only
 * here. */
ir_builder scheduler_for(scheduler *s, ir_builder *b, const char *axis, ir_value start,
                         ir_dim extent, ir_attr step, ir_attr span, ir_value *index) {
    ir_module *m = s->m;
    ir_named_attr attrs[5] = {
        {"axis", ir_attr_string(m, axis)}, {"extent", ir_attr_dim(m, extent)}, {"step", step}};
    uint32_t count = 3;
    if (span)
        attrs[count++] = (ir_named_attr){"span", span};
    if (!ir_dim_is_static(extent))
        attrs[count++] = (ir_named_attr){"tail", scheduler_int(s, s->target->vector_lanes)};
    ir_op_spec spec = {.opcode = SCHED_FOR,
                       .operands = &start,
                       .operand_count = start != 0,
                       .attrs = attrs,
                       .attr_count = count,
                       .region_count = 1};
    ir_builder in = {m, ir_op_block(m, ir_build(b, &spec), 0), 0, b->location};
    *index = ir_block_add_argument(m, in.block, ir_type_index(m), NULL);
    return in;
}

void scheduler_mark_inside(scheduler *s, const ir_builder *in) {
    ir_op_set_attr(s->m, loop_around(s, in), "inside", ir_attr_bool(s->m, true));
}

ir_value scheduler_buffer(scheduler *s, ir_builder *b, const char *space, dtype element, int rank,
                          const ir_dim *dims) {
    ir_named_attr attr = {"space", ir_attr_string(s->m, space)};
    ir_type type = ir_type_shaped(s->m, IR_TYPE_BUFFER, element, rank, dims);
    return ir_build1(b, SCHED_BUFFER, NULL, 0, type, &attr, 1);
}

void scheduler_clear(scheduler *s, ir_builder *b, ir_value buffer, dtype element) {
    ir_named_attr zero = {"value", ir_attr_bits(s->m, element, 0)};
    ir_op_spec fill = {.opcode = SCHED_FILL,
                       .operands = &buffer,
                       .operand_count = 1,
                       .attrs = &zero,
                       .attr_count = 1};
    ir_build(b, &fill);
}

ir_attr scheduler_reduction(scheduler *s, ir_op op) {
    return ir_attr_int(s->m, reduction_id(s->p->g, op));
}

void scheduler_mark_loop(scheduler *s, const ir_builder *in, ir_op op, order_id order) {
    ir_op loop = loop_around(s, in);
    const char *word = ir_op_string(s->p->g, op, "order", "");
    ir_op_set_attr(s->m, loop, "order", ir_attr_string(s->m, order_name(order, word)));
    ir_op_set_attr(s->m, loop, "reduction", scheduler_reduction(s, op));
    ir_op_remove_attr(s->m, loop, "tail"); /* it is not cut */
}

/* ---- computations ---- */

void scheduler_collect(const expression *e, affine_list *out) {
    for (size_t i = 0; i < e->inputs.count; i++)
        vec_push(out, e->inputs.items[i].access);
    for (size_t i = 0; i < e->indices.count; i++)
        vec_push(out, e->indices.items[i]);
}

bool scheduler_is_heavy(const expression *e) {
    for (size_t i = 0; i < e->memo.count; i++)
        if (graph_op_is_specified(plan_opcode(e->p, e->memo.items[i].value)))
            return true;
    return false;
}

static int length_of(math_set set, dtype element, int opcode) {
    math_function function = math_function_of(opcode);
    math_pair pair = math_pair_of(opcode);
    if (function != MATH_FUNCTION_COUNT)
        return math_length(set, element, function);
    return pair != MATH_PAIR_COUNT ? math_pair_length(element, pair) : 0;
}

/* A conversion to a float of 8 bits is written out, too. */
static int length_of_conversion(const plan *p, ir_value v) {
    dtype to = plan_type(p, v)->element;
    bool narrow = dtype_is_float(to) && dtype_size(to) == 1;
    return plan_opcode(p, v) == GRAPH_CONVERT && narrow ? NARROW_CONVERSION : 0;
}

int scheduler_work(const expression *e) {
    math_set set;
    const ir_module *g = e->p->g;
    int work = 0;
    math_set_named(ir_op_string(g, ir_module_kernel(g), "math", NULL), &set);
    for (size_t i = 0; i < e->memo.count; i++)
        work += length_of(set, plan_type(e->p, e->memo.items[i].value)->element,
                          plan_opcode(e->p, e->memo.items[i].value)) +
                length_of_conversion(e->p, e->memo.items[i].value);
    return work;
}

bool scheduler_draws(const expression *e) {
    for (size_t i = 0; i < e->memo.count; i++) {
        int opcode = plan_opcode(e->p, e->memo.items[i].value);
        if (opcode == GRAPH_STOCHASTIC_ROUND || opcode == GRAPH_RANDOM_BITS)
            return true;
    }
    return false;
}

/* The element of a leading buffer, as the type of a copy of it. */
static ir_value build_copy(ir_builder *b, dtype from, dtype to) {
    ir_value x = ir_block_add_argument(b->m, b->block, ir_type_scalar(b->m, from), NULL);
    ir_named_attr attr = {"to", ir_attr_type(b->m, ir_type_scalar(b->m, to))};
    return from == to ? x : ir_build1(b, GRAPH_CONVERT, &x, 1, ir_type_scalar(b->m, to), &attr, 1);
}

static void build_body(scheduler *s, const computation *c, ir_op op) {
    ir_builder body = {s->m, ir_op_block(s->m, op, 0), 0, ir_op_get(s->m, op)->location};
    ir_value yields[SCHEDULE_OUTPUTS + 1];
    expression *e = c->e;
    e->body = &body;
    e->map = c->map;
    e->hoist = false;
    e->inputs.count = e->memo.count = e->indices.count = 0;
    if (c->accumulator)
        ir_block_add_argument(s->m, body.block, ir_type_scalar(s->m, c->accumulator), NULL);
    if (c->copies)
        yields[0] = build_copy(&body, ir_type_of(s->m, c->leading[0])->element, c->copies);
    for (int i = 0; i < c->yield_count && !c->copies; i++)
        yields[i] = expression_root(e, c->yields[i], c->yield_index[i]);
    if (c->at)
        yields[c->yield_count] = expression_element(e, c->at->value, c->at->place);
    ir_op_spec end = {.opcode = SCHED_YIELD,
                      .operands = yields,
                      .operand_count = (uint32_t)c->yield_count + (c->at != NULL)};
    if (e->failed) /* a value without memory was read: the module is thrown away */
        end.operand_count = 0;
    ir_build(&body, &end);
}

/* Location of the operation that makes a value; arguments have none. */
static ir_location location_of(const scheduler *s, ir_value v, ir_location otherwise) {
    ir_op op = plan_def(s->p, v);
    return op ? ir_op_get(s->p->g, op)->location : otherwise;
}

void scheduler_compute(scheduler *s, ir_builder *b, const computation *c) {
    ir_module *m = s->m;
    ir_named_attr axes = {"axes", ir_attr_int(m, c->axes)};
    int n = 0, inputs;
    ir_op_spec spec = {.opcode = c->opcode, .attrs = &axes, .attr_count = 1, .region_count = 1};
    if (c->opcode == SCHED_MAP && !c->copies)
        b->location = location_of(s, c->yields[0], b->location);
    ir_op op = ir_build(b, &spec);
    for (int i = 0; i < c->attr_count; i++)
        if (c->attrs[i].value)
            ir_op_set_attr(m, op, c->attrs[i].name, c->attrs[i].value);
    if (c->at) {
        ir_op_set_attr(m, op, "stride", ir_attr_dim(m, c->at->stride));
        ir_op_set_attr(m, op, "limit", ir_attr_dim(m, c->at->limit));
    }
    build_body(s, c, op);
    inputs = c->leading_count + (int)c->e->inputs.count;
    size_t all = (size_t)(c->axes + inputs + c->yield_count) + 1;
    ir_value *operands = base_malloc(all * sizeof *operands);
    ir_attr *access = base_malloc(all * sizeof *access);
    memcpy(operands, c->indices, sizeof *operands * (size_t)c->axes);
    for (int i = 0; i < c->leading_count; i++, n++) {
        operands[c->axes + n] = c->leading[i];
        access[n] = expression_access(m, &c->leading_access[i], c->map, NEST_AXES);
    }
    for (size_t i = 0; i < c->e->inputs.count; i++, n++) {
        const expression_input *in = &c->e->inputs.items[i];
        operands[c->axes + n] = in->workgroup ? in->source : s->buffer_of[in->source];
        access[n] = expression_access(m, &in->access, c->map, NEST_AXES);
    }
    for (int i = 0; i < c->yield_count; i++, n++) {
        operands[c->axes + n] = c->outputs[i];
        access[n] = expression_access(m, &c->output_access[i], c->map, NEST_AXES);
    }
    ir_op_set_operands(m, op, operands, (uint32_t)(c->axes + n));
    ir_op_set_attr(m, op, "access", ir_attr_array(m, access, (uint32_t)n));
    ir_op_set_attr(m, op, "inputs", ir_attr_int(m, inputs));
    free(operands);
    free(access);
    s->failed |= c->e->failed;
}

/* ---- memory ---- */

static ir_type buffer_type(scheduler *s, ir_value v) {
    const ir_type_data *t = plan_type(s->p, v);
    return ir_type_shaped(s->m, IR_TYPE_BUFFER, t->element, t->rank, t->dims);
}

/* The value whose memory is output `v`: reshapes of a value that is computed here write through. */
static ir_value output_source(const scheduler *s, ir_value v) {
    ir_value source = v;
    while (plan_opcode(s->p, source) == GRAPH_RESHAPE)
        source = ir_op_get(s->p->g, plan_def(s->p, source))->operands[0];
    return plan_opcode(s->p, source) >= 0 && s->p->stored[source] ? source : v;
}

static void open_kernel(scheduler *s, const char *profile) {
    ir_module *m = s->m, *g = s->p->g;
    reduction_list reductions;
    reductions_of(g, &reductions);
    ir_dim_adopt(m, g); /* with all that was made of them so far */
    s->p->dims = m;
    ir_op kernel = ir_module_kernel(g);
    const char *name = ir_op_string(g, kernel, "name", "kernel");
    ir_named_attr attrs[10] = {{"name", ir_attr_string(m, name)},
                               {"profile", ir_attr_string(m, profile)},
                               {"parameters", ir_attr_dict(m, NULL, NULL, 0)},
                               {"reductions", reductions_attr(m, &reductions)}};
    reductions_release(&reductions);
    static const char *const lists[] = {"inputs", "outputs"};
    for (int l = 0; l < 2; l++) {
        const ir_attr_data *list = ir_attr_get(g, ir_op_attr(g, kernel, lists[l]));
        ir_attr *names = base_malloc((list->count + 1) * sizeof *names);
        for (uint32_t i = 0; i < list->count; i++)
            names[i] = ir_attr_string(m, ir_attr_get(g, list->items[i])->string);
        attrs[4 + l] = (ir_named_attr){lists[l], ir_attr_array(m, names, list->count)};
        free(names);
    }
    const char *math = ir_op_string(g, kernel, "math", NULL);
    uint32_t count = 6;
    if (math)
        attrs[count++] = (ir_named_attr){"math", ir_attr_string(m, math)};
    if (s->request->symbolic) {
        ir_attr constraints = symbols_constraints(m, g, s->st);
        s->failed |= !constraints;
        attrs[count++] = (ir_named_attr){"dims", symbols_names(m, g)};
        attrs[count++] = (ir_named_attr){"constraints", constraints};
    }
    if (s->target->policy->threads)
        attrs[count++] = (ir_named_attr){"shared", ir_attr_int(m, s->target->l1_bytes)};
    s->at = (ir_builder){.m = m, .block = ir_module_body(m)};
    ir_op_spec spec = {
        .opcode = SCHED_KERNEL, .attrs = attrs, .attr_count = count, .region_count = 1};
    s->at.block = ir_op_block(m, ir_build(&s->at, &spec), 0);
}

typedef struct output_copy {
    ir_value value, buffer;
} output_copy;

typedef VEC(output_copy) output_copies;

/* Inputs and outputs get the kernel's arguments, other stored values a workspace. Outputs that are
 * an input, or the second time the same value, are copies. */
static void place_memory(scheduler *s, output_copies *copies) {
    ir_module *g = s->p->g;
    const ir_block_data *body = ir_kernel_body(g);
    for (uint32_t i = 0; i < body->argument_count; i++)
        s->buffer_of[body->arguments[i]] =
            ir_block_add_argument(s->m, s->at.block, buffer_type(s, body->arguments[i]), NULL);
    const ir_op_data *end = ir_op_get(g, body->last);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        ir_value v = end->operands[i], source = output_source(s, v);
        ir_value buffer = ir_block_add_argument(s->m, s->at.block, buffer_type(s, v), NULL);
        if (plan_opcode(s->p, source) >= 0 && !s->buffer_of[source]) {
            s->buffer_of[source] = buffer;
            if (source != v)
                plan_unstore(s->p, v);
        } else {
            output_copy copy = {v, buffer};
            vec_push(copies, copy);
        }
    }
    for (ir_value v = 1; v <= ir_value_count(g); v++)
        if (s->p->stored[v] && !s->p->in_workgroup[v] && !s->buffer_of[v]) {
            const ir_type_data *t = plan_type(s->p, v);
            s->buffer_of[v] =
                scheduler_buffer(s, &s->at, "workspace", t->element, t->rank, t->dims);
        }
}

/* The type that a group's registers hold. */
static dtype group_element(const scheduler *s, const plan_group *group) {
    bool sums = group->kind == GROUP_DOT || group->kind == GROUP_COLUMN ||
                group->kind == GROUP_SCAN || group->kind == GROUP_SCATTER;
    ir_op op = sums ? group->anchor : 0;
    return op ? plan_type(s->p, ir_op_get(s->p->g, op)->results[0])->element : DTYPE_F32;
}

ir_location scheduler_location(const scheduler *s, const plan_group *group) {
    ir_location none = {0};
    if (group->anchor)
        return ir_op_get(s->p->g, group->anchor)->location;
    if (group->reduces.count)
        return ir_op_get(s->p->g, group->reduces.items[0])->location;
    return group->roots.count ? location_of(s, group->roots.items[0], none) : none;
}

static bool is_windowed(const scheduler *s, const plan_group *group) {
    return ir_op_get(s->p->g, group->anchor)->opcode == GRAPH_CONVOLVE;
}

static void schedule_group(scheduler *s, int g) {
    const plan_group *group = &s->p->groups[g];
    if (group->inside)
        return;
    if (group->kind == GROUP_SCATTER)
        schedule_scatter_tensors(s, group);
    s->at.location = scheduler_location(s, group);
    scheduler_begin_group(s, group->kind, group_element(s, group));
    switch (group->kind) {
    case GROUP_MAP:
        schedule_map_group(s, g);
        break;
    case GROUP_ROW:
        schedule_row_group(s, g);
        break;
    case GROUP_COLUMN:
        schedule_column_group(s, group);
        break;
    case GROUP_SCAN:
        schedule_scan_group(s, g);
        break;
    case GROUP_FOLD:
        schedule_fold_group(s, group);
        break;
    case GROUP_SCATTER:
        schedule_scatter_group(s, group);
        break;
    case GROUP_DOT:
        (group->ends_chain       ? schedule_chain_group
         : group->prologue       ? schedule_prologue_group
         : is_windowed(s, group) ? schedule_window_group
                                 : schedule_dot_group)(s, group);
        break;
    }
    scheduler_end_group(s);
}

/* Groups in order; those that run at once have their shares of the threads. */
static void schedule_groups(scheduler *s, int *order) {
    sibling list[SIBLINGS_MAX];
    for (int i = 0, count; i < s->p->group_count; i += count) {
        count = s->p->concurrent ? plan_siblings(s->p, order, i, s->target->threads, list) : 0;
        for (int k = 0; k < count && !s->failed; k++) {
            s->threads = list[k].threads;
            schedule_group(s, list[k].group);
        }
        s->threads = s->target->threads;
        if (count == 0 && !s->failed)
            schedule_group(s, order[i]);
        count = count ? count : 1;
    }
}

static void schedule_copies(scheduler *s, const output_copies *copies) {
    s->at.location.setting = 0;
    scheduler_begin_group(s, GROUP_MAP, DTYPE_F32);
    for (size_t i = 0; i < copies->count && !s->failed; i++)
        schedule_copy(s, copies->items[i].value, copies->items[i].buffer);
    scheduler_end_group(s);
}

/* The order of the plan's groups, owned by the caller; NULL with a message where there are too
 * many. */
static int *order_groups(const plan *p, const schedule_request *request, status *st) {
    if (p->group_count > LIMIT_PHASES) {
        if (request->crowded)
            *request->crowded = true;
        status_set(st, STATUS_UNAVAILABLE,
                   "the kernel is more than %d phases: a program of several kernels, which only a "
                   "module holds (--emit module), for the dimensions of a case",
                   LIMIT_PHASES);
        return NULL;
    }
    int *order = base_calloc((size_t)p->group_count + 1, sizeof *order);
    if (plan_order(p, order))
        return order;
    free(order);
    status_set(st, STATUS_INTERNAL, "groups of the schedule wait for each other");
    return NULL;
}

static bool has_few_buffers(const ir_module *g, const schedule_request *request, status *st) {
    uint32_t count = functions_buffers(g, ir_module_kernel(g));
    if (request->target->buffers == 0 || count <= request->target->buffers)
        return true;
    if (request->crowded)
        *request->crowded = true;
    return status_set(st, STATUS_UNAVAILABLE,
                      "the kernel takes and gives %u tensors, and one launch here at most %u: a "
                      "program of several kernels, which only a module holds (--emit module), for "
                      "the dimensions of a case",
                      count, request->target->buffers);
}

static ir_module *schedule_plan(plan *p, int *order, const schedule_request *request, status *st) {
    output_copies copies = {0};
    scheduler s = {.p = p,
                   .m = ir_module_new(),
                   .target = request->target,
                   .request = request,
                   .st = st,
                   .threads = request->target->threads};
    s.buffer_of = base_calloc(ir_value_count(p->g) + 1, sizeof(ir_value));
    open_kernel(&s, request->profile);
    place_memory(&s, &copies);
    s.operands = base_calloc(ir_block_get(s.m, s.at.block)->argument_count + 1, sizeof *s.operands);
    scheduler_read_request(&s);
    schedule_groups(&s, order);
    scheduler_end_constants(&s);
    schedule_copies(&s, &copies);
    scheduler_end_donated(&s, p->g);
    scheduler_mark_concurrent(&s);
    scheduler_end_parameters(&s);
    if (request->space && !s.failed)
        request->space->cycles = request->target->policy->cost(s.m, request->target);
    if (s.failed && st->code == STATUS_OK)
        status_set(st, STATUS_INTERNAL, "the schedule could not reach a value by affine indices");
    vec_release(&s.parameters);
    vec_release(&s.overrides);
    vec_release(&copies);
    free(s.operands);
    free(s.buffer_of);
    if (!s.failed)
        return s.m;
    ir_module_free(s.m);
    return NULL;
}

bool schedule_runs_at_once(const schedule_target *target) {
    return !target->policy->threads && target->threads > 1;
}

/* Threads keep a chain's scores where they share memory, which rows of any length do not fit. */
static int64_t scores_room(const schedule_request *request) {
    int64_t chain;
    if (scheduler_asked(request, "CHAIN", &chain))
        return chain ? 0 : INT64_MAX;
    bool unknown = request->symbolic && request->target->policy->threads;
    return unknown ? INT64_MAX : request->target->scores_room;
}

ir_module *schedule_from_graph(ir_module *graph, const schedule_request *request, status *st) {
    plan p;
    if (!has_few_buffers(graph, request, st))
        return NULL;
    reductions_number(graph);
    plan_build(&p, graph, ir_module_kernel(graph),
               request->target->unfused ? PLAN_UNFUSED : PLAN_KERNEL,
               schedule_runs_at_once(request->target), scores_room(request));
    int *order = order_groups(&p, request, st);
    ir_module *schedule = order ? schedule_plan(&p, order, request, st) : NULL;
    free(order);
    plan_release(&p);
    return schedule;
}
