/* cost.c - walks phases, loops and computations, and adds up what they use. */
#include "schedule/cost.h"

#include <stdlib.h>
#include <string.h>

#include "ir/dim.h"
#include "ops/graph.h"

/* Instructions of a specified function, and of exp and exp2 by the chip's own instruction. */
enum { SPECIFIED_OPERATIONS = 25, HARDWARE_OPERATIONS = 2 };

double cost_greater(double a, double b) {
    return a > b ? a : b;
}

double cost_divide_up(double n, double by) {
    double whole = (double)(int64_t)(n / by);
    return whole * by < n ? whole + 1 : whole;
}

const ir_type_data *cost_type(const cost_walk *w, ir_value v) {
    return ir_type_of(w->m, v);
}

int64_t cost_estimate(const cost_walk *w, ir_dim extent) {
    return ir_dim_estimate((ir_module *)w->m, extent, SCHEDULE_USUAL_EXTENT);
}

int64_t cost_extent(const cost_walk *w, ir_op op) {
    return cost_estimate(w, ir_op_int(w->m, op, "extent", 1));
}

int64_t cost_dot_steps(const cost_walk *w, ir_op dot, const dot_shape *shape, double *trip) {
    int at = shape->index[shape->index[AXIS_STRIP] >= 0 ? AXIS_STRIP : AXIS_CHUNK];
    *trip = (double)schedule_step(w->m, dot_loop(w->m, dot, shape, AXIS_K), "step", 1);
    return at >= 0 ? w->step_of[ir_op_get(w->m, dot)->operands[at]]
                   : cost_estimate(w, dot_extent((ir_module *)w->m, w->m, dot, shape));
}

int64_t cost_step_from_end(const cost_walk *w, ir_op op, int64_t at) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    return at <= axes && at > 0 ? w->step_of[d->operands[axes - at]] : 1;
}

static double instructions_of(const cost_walk *w, int opcode) {
    if (w->target->exponentials > 0 && (opcode == GRAPH_EXP || opcode == GRAPH_EXP2))
        return HARDWARE_OPERATIONS;
    return graph_op_is_specified(opcode) ? SPECIFIED_OPERATIONS : 1;
}

double cost_body(const cost_walk *w, ir_op op) {
    double sum = 0;
    const ir_block_data *b = ir_block_get(w->m, ir_op_block(w->m, op, 0));
    for (ir_op i = b->first; i; i = ir_op_get(w->m, i)->next) {
        int opcode = ir_op_get(w->m, i)->opcode;
        if (opcode != SCHED_YIELD)
            sum += instructions_of(w, opcode);
    }
    return sum;
}

bool cost_is_own(const cost_walk *w, ir_value buffer) {
    ir_op from = ir_value_get(w->m, buffer)->op;
    return from && strcmp(ir_op_string(w->m, from, "space", ""), "workgroup") == 0;
}

static double buffer_bytes(const cost_walk *w, ir_value buffer) {
    const ir_type_data *t = cost_type(w, buffer);
    double bytes = (double)dtype_size(t->element);
    for (int axis = 0; axis < t->rank; axis++)
        bytes *= (double)cost_estimate(w, t->dims[axis]);
    return bytes;
}

/* Buffers of a computation, once for each phase; a workgroup's own stay in cache. */
static void count_traffic(cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0), inputs = ir_op_int(w->m, op, "inputs", 0);
    bool streams = schedule_step(w->m, op, "stream", 0) == 1;
    for (uint32_t i = (uint32_t)axes; i < d->operand_count; i++) {
        ir_value v = d->operands[i];
        if (w->touched[v] || cost_type(w, v)->kind != IR_TYPE_BUFFER || cost_is_own(w, v))
            continue;
        w->touched[v] = true;
        w->traffic +=
            w->model->transfer(w, buffer_bytes(w, v), i >= (uint32_t)(axes + inputs), streams);
    }
}

/* ---- structure ---- */

void cost_add(cost_use *sum, double times, const cost_use *u) {
    sum->issue += times * u->issue;
    sum->near += times * u->near;
    sum->matrix += times * u->matrix;
    sum->functions += times * u->functions;
    sum->wait += times * u->wait;
    sum->far_bytes += times * u->far_bytes;
}

static cost_use block_use(cost_walk *w, ir_block block);

static cost_use loop_use(cost_walk *w, ir_op op) {
    int64_t end = cost_estimate(w, ir_op_int(w->m, op, "to", ir_op_int(w->m, op, "extent", 1)));
    double extent = (double)(end - cost_estimate(w, ir_op_int(w->m, op, "from", 0)));
    double span = (double)schedule_step(w->m, op, "span", INT64_MAX);
    int64_t step = schedule_step(w->m, op, "step", 1);
    ir_block inner = ir_op_block(w->m, op, 0);
    double length = span > 0 && span < extent ? span : extent;
    w->step_of[ir_block_get(w->m, inner)->arguments[0]] =
        (double)step < length ? step : (int64_t)length;
    cost_use trip = block_use(w, inner), all = {0};
    cost_add(&trip, 1, &w->model->around_loop);
    cost_add(&all, cost_divide_up(length, (double)step), &trip);
    return all;
}

/* A contraction counts the steps of its loop by itself. */
static cost_use block_use(cost_walk *w, ir_block block) {
    cost_use sum = {0};
    for (ir_op at = ir_block_get(w->m, block)->first; at; at = ir_op_get(w->m, at)->next) {
        cost_use one = {0};
        ir_op dot = dot_of_loop(w->m, at), op = dot ? dot : at;
        int opcode = ir_op_get(w->m, op)->opcode, number = COST_NUMBER(opcode);
        if (opcode == SCHED_FOR)
            one = loop_use(w, op);
        else if (opcode == SCHED_BUFFER)
            w->own_bytes += buffer_bytes(w, ir_op_result(w->m, op, 0));
        else if (w->model->use[number]) {
            w->model->use[number](w, op, &one);
            count_traffic(w, op);
        }
        cost_add(&sum, 1, &one);
    }
    return sum;
}

static double phase_cycles(cost_walk *w, ir_op phase) {
    ir_op grid = ir_block_get(w->m, ir_op_block(w->m, phase, 0))->first;
    const ir_attr_data *extents = ir_attr_get(w->m, ir_op_attr(w->m, grid, "extents"));
    const ir_attr_data *steps = ir_attr_get(w->m, ir_op_attr(w->m, grid, "steps"));
    const ir_block_data *inner = ir_block_get(w->m, ir_op_block(w->m, grid, 0));
    w->workgroups = 1;
    w->warps = (double)schedule_step(w->m, grid, "warps", 0);
    for (uint32_t i = 0; i < extents->count; i++) {
        int64_t extent = cost_estimate(w, ir_attr_get(w->m, extents->items[i])->integer);
        int64_t step = schedule_step_value(w->m, steps->items[i]);
        w->workgroups *= cost_divide_up((double)extent, (double)(step < 1 ? 1 : step));
        if (i < inner->argument_count)
            w->step_of[inner->arguments[i]] = step < extent ? step : extent;
    }
    w->traffic = w->own_bytes = w->registers = 0;
    memset(w->touched, 0, ir_value_count(w->m) + 1);
    cost_use each = block_use(w, ir_op_block(w->m, grid, 0));
    cost_add(&each, 1, &w->model->around_workgroup);
    return w->model->phase(w, &each);
}

double cost_of(const ir_module *m, const schedule_target *target, const cost_model *model) {
    cost_walk w = {.m = m, .target = target, .model = model};
    double sum = 0;
    w.step_of = base_calloc(ir_value_count(m) + 1, sizeof *w.step_of);
    w.touched = base_calloc(ir_value_count(m) + 1, sizeof *w.touched);
    for (uint32_t v = 0; v <= ir_value_count(m); v++)
        w.step_of[v] = 1;
    const ir_block_data *body = ir_kernel_body(m);
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == SCHED_PHASE)
            sum += phase_cycles(&w, op);
    free(w.step_of);
    free(w.touched);
    return sum;
}
