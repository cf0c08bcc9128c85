/* cost.c - walks phases, loops and computations, and adds up cycles. */
#include "schedule/cpu/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dim.h"
#include "ops/graph.h"
#include "parameters/thresholds.h"
#include "schedule/dot_shape.h"

/* Figures of a usual core; bytes a cycle for the levels of its memory. */
enum {
    WORKGROUP_CYCLES = 300,
    LOOP_CYCLES = 2,
    LATENCY = 4,
    SPECIFIED_OPERATIONS = 25,
    ISSUED = 6
};
enum { EXCHANGE_CYCLES = 8 };
enum { LANES_OF_SUM = ORDER_LANES64_LANES, FOLD_CYCLES = 48 };
enum { PAGE_BYTES = 4096, TLB_PAGES = 64 };
static const double l1_rate = 64, l2_rate = 32, scattered_rate = 16, far_rate = 8;

typedef struct cost_walk {
    const ir_module *m;
    const schedule_target *target;
    int64_t *step_of; /* by value: how many elements an index stands for */
    double traffic;   /* cycles of the present phase's memory */
    bool *touched;    /* by value: the phase's buffers counted so far */
} cost_walk;

static double greater(double a, double b) {
    return a > b ? a : b;
}

static double divide_up(double n, double by) {
    double whole = (double)(int64_t)(n / by);
    return whole * by < n ? whole + 1 : whole;
}

/* Bytes a cycle from the level that holds so many. */
static double rate_of(const cost_walk *w, double bytes) {
    if (bytes <= (double)w->target->l1_bytes)
        return l1_rate;
    return bytes <= (double)w->target->l2_bytes ? l2_rate : far_rate;
}

static const ir_type_data *type_of(const cost_walk *w, ir_value v) {
    return ir_type_of(w->m, v);
}

static int64_t estimate(const cost_walk *w, ir_dim extent) {
    return ir_dim_estimate((ir_module *)w->m, extent, SCHEDULE_USUAL_EXTENT);
}

static int64_t extent_of(const cost_walk *w, ir_op op) {
    return estimate(w, ir_op_int(w->m, op, "extent", 1));
}

static double lanes_of(const cost_walk *w, ir_value buffer) {
    size_t bytes = dtype_size(type_of(w, buffer)->element);
    return (double)w->target->vector_lanes * 4 / (double)(bytes < 4 ? 4 : bytes);
}

static int64_t step_from_end(const cost_walk *w, const ir_op_data *d, int64_t axes, int64_t at) {
    return at <= axes && at > 0 ? w->step_of[d->operands[axes - at]] : 1;
}

/* ---- bodies ---- */

static double body_operations(const cost_walk *w, ir_op op) {
    double sum = 0;
    const ir_block_data *b = ir_block_get(w->m, ir_op_block(w->m, op, 0));
    for (ir_op i = b->first; i; i = ir_op_get(w->m, i)->next) {
        int opcode = ir_op_get(w->m, i)->opcode;
        if (opcode != SCHED_YIELD)
            sum += graph_op_is_specified(opcode) ? SPECIFIED_OPERATIONS : 1;
    }
    return sum;
}

/* Buffers of a computation, once for each phase; a workgroup's own stay in cache. */
static void count_traffic(cost_walk *w, const ir_op_data *d, int64_t axes, int64_t inputs,
                          bool streams) {
    for (uint32_t i = (uint32_t)axes; i < d->operand_count; i++) {
        ir_value v = d->operands[i];
        ir_op from = ir_value_get(w->m, v)->op;
        const ir_type_data *t = type_of(w, v);
        if (w->touched[v] || t->kind != IR_TYPE_BUFFER ||
            (from && strcmp(ir_op_string(w->m, from, "space", ""), "workgroup") == 0))
            continue;
        double bytes = (double)dtype_size(t->element);
        for (int axis = 0; axis < t->rank; axis++)
            bytes *= (double)estimate(w, t->dims[axis]);
        bool output = i >= (uint32_t)(axes + inputs);
        w->touched[v] = true;
        w->traffic += bytes * (output && !streams ? 2 : 1) / rate_of(w, bytes);
    }
}

/* ---- computations ---- */

/* Rate of a panel of `k` rows. Rows that are pages apart in more pages than the first-level TLB has
 * miss it with each row, and their lines share few sets of the cache. */
static double panel_rate(const cost_walk *w, ir_op op, double k, double width, double bytes) {
    const ir_attr_data *access = ir_attr_get(w->m, ir_op_attr(w->m, op, "access"));
    const ir_attr_data *rhs = ir_attr_get(w->m, access->items[1]);
    double stride =
        (double)estimate(w, ir_attr_get(w->m, rhs->items[rhs->count - 1])->integer) * bytes;
    bool packed = ir_op_attr(w->m, op, "packed") != 0;
    return !packed && stride >= PAGE_BYTES && k > TLB_PAGES ? scattered_rate
                                                            : rate_of(w, k * width * bytes);
}

static double dot_cycles(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0), extent = extent_of(w, op);
    dot_shape shape;
    dot_shape_read(w->m, op, &shape);
    ir_value rhs = d->operands[axes + shape.buffer[DOT_RHS]];
    double mr = (double)w->step_of[d->operands[shape.index[DOT_M]]];
    double nr = (double)w->step_of[d->operands[shape.index[DOT_N]]];
    double bytes = (double)dtype_size(type_of(w, rhs)->element), nv, k, missing, each;
    double unroll = (double)schedule_step(w->m, op, "unroll", 1), most = 0, sum = 0;
    bool chunks = shape.buffer[DOT_TOTALS] >= 0;
    nv = divide_up(nr, lanes_of(w, rhs));
    int64_t chunk = order_info_of(order_of(w->m, op, ORDER_CHUNK512))->chunk;
    k = (double)(chunks && extent > chunk ? chunk : extent);
    missing = mr * nv + (mr < nv ? mr : nv) + 1 - w->target->vector_registers;
    const double parts[] = {mr * nv / 2, (mr + nv) / 2, LATENCY,
                            (mr * nv + nv + 2.0 / unroll) / ISSUED,
                            nr * bytes / panel_rate(w, op, k, nr + mr, bytes)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        most = greater(most, parts[i]);
        sum += parts[i];
    }
    /* All but the bottleneck overlaps with it, but for a tenth. */
    each = most + 0.1 * (sum - most) + greater(missing, 0);
    return k * each + 4 * mr * nv;
}

static double map_cycles(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double rows = (double)step_from_end(w, d, axes, 2);
    double columns = (double)step_from_end(w, d, axes, 1);
    double lanes = lanes_of(w, d->operands[d->operand_count - 1]);
    double vectors = rows * divide_up(columns, lanes), work = body_operations(w, op);
    double buffers = (double)d->operand_count - (double)axes;
    return greater(vectors * work / 2, work * LATENCY) + vectors * buffers / 2;
}

/* A row in blocks of 64 lanes; `sub` of them have independent chains. */
static double reduce_cycles(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    double extent = (double)extent_of(w, op);
    double lanes = lanes_of(w, d->operands[ir_op_int(w->m, op, "axes", 0)]);
    double sub = (double)schedule_step(w->m, op, "sub", LANES_OF_SUM);
    double work = body_operations(w, op) + 1, vectors = divide_up(LANES_OF_SUM, lanes);
    double parts = LANES_OF_SUM / greater(sub, 1);
    double block = greater(vectors * work / 2, work * LATENCY) + parts * LOOP_CYCLES;
    return divide_up(extent, LANES_OF_SUM) * block + FOLD_CYCLES * divide_up(extent, SUM_BLOCK);
}

static double columns_cycles(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double extent = (double)extent_of(w, op);
    double vectors =
        divide_up((double)step_from_end(w, d, axes, 1), lanes_of(w, d->operands[axes]));
    double work = body_operations(w, op) + 1;
    return extent * (greater(vectors * work / 2, LATENCY) + LOOP_CYCLES) + vectors * FOLD_CYCLES;
}

/* Rows are turned in registers and back; a chain of columns waits for each addition. */
static double scan_cycles(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double extent = (double)extent_of(w, op), lanes = lanes_of(w, d->operands[axes]);
    double sub = (double)schedule_step(w->m, op, "sub", 0);
    double abreast = (double)step_from_end(w, d, axes, 1), work = body_operations(w, op) + 2;
    if (sub == 0)
        return extent * (greater(divide_up(abreast, lanes) * work / 2, LATENCY) + LOOP_CYCLES);
    double vectors = abreast * divide_up(sub, lanes), turns = 2 * log2(lanes);
    double step = greater(vectors * (work / 2 + turns), sub * LATENCY) + LOOP_CYCLES;
    return divide_up(extent, sub) * step;
}

/* Exchanges of a network, a vector of rows or columns each. */
static double sort_cycles(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double extent = (double)extent_of(w, op), stages = log2(extent + 1);
    double vectors =
        divide_up((double)step_from_end(w, d, axes, 1), lanes_of(w, d->operands[axes]));
    return extent * stages * (stages + 1) / 4 * (vectors * EXCHANGE_CYCLES + LOOP_CYCLES);
}

static double computation_cycles(cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int opcode = d->opcode;
    if (opcode != SCHED_MAP && opcode != SCHED_REDUCE && opcode != SCHED_COLUMNS &&
        opcode != SCHED_DOT && opcode != SCHED_SCAN && opcode != SCHED_SORT)
        return 0;
    count_traffic(w, d, ir_op_int(w->m, op, "axes", 0), ir_op_int(w->m, op, "inputs", 0),
                  schedule_step(w->m, op, "stream", 0) == 1);
    return opcode == SCHED_DOT      ? dot_cycles(w, op)
           : opcode == SCHED_MAP    ? map_cycles(w, op)
           : opcode == SCHED_REDUCE ? reduce_cycles(w, op)
           : opcode == SCHED_SCAN   ? scan_cycles(w, op)
           : opcode == SCHED_SORT   ? sort_cycles(w, op)
                                    : columns_cycles(w, op);
}

/* ---- structure ---- */

static double block_cycles(cost_walk *w, ir_block block);

static double loop_cycles(cost_walk *w, ir_op op) {
    double extent = (double)extent_of(w, op);
    double span = (double)schedule_step(w->m, op, "span", INT64_MAX);
    int64_t step = schedule_step(w->m, op, "step", 1);
    ir_block inner = ir_op_block(w->m, op, 0);
    double length = span > 0 && span < extent ? span : extent;
    w->step_of[ir_block_get(w->m, inner)->arguments[0]] =
        (double)step < length ? step : (int64_t)length;
    return divide_up(length, (double)step) * (block_cycles(w, inner) + LOOP_CYCLES);
}

static double block_cycles(cost_walk *w, ir_block block) {
    double sum = 0;
    for (ir_op op = ir_block_get(w->m, block)->first; op; op = ir_op_get(w->m, op)->next)
        sum += ir_op_get(w->m, op)->opcode == SCHED_FOR ? loop_cycles(w, op)
                                                        : computation_cycles(w, op);
    return sum;
}

static double phase_cycles(cost_walk *w, ir_op phase) {
    ir_op grid = ir_block_get(w->m, ir_op_block(w->m, phase, 0))->first;
    const ir_attr_data *extents = ir_attr_get(w->m, ir_op_attr(w->m, grid, "extents"));
    const ir_attr_data *steps = ir_attr_get(w->m, ir_op_attr(w->m, grid, "steps"));
    const ir_block_data *inner = ir_block_get(w->m, ir_op_block(w->m, grid, 0));
    double workgroups = 1, threads = w->target->threads;
    for (uint32_t i = 0; i < extents->count; i++) {
        int64_t extent = estimate(w, ir_attr_get(w->m, extents->items[i])->integer);
        int64_t step = schedule_step_value(w->m, steps->items[i]);
        workgroups *= divide_up((double)extent, (double)(step < 1 ? 1 : step));
        if (i < inner->argument_count)
            w->step_of[inner->arguments[i]] = step < extent ? step : extent;
    }
    w->traffic = 0;
    memset(w->touched, 0, ir_value_count(w->m) + 1);
    double workgroup = block_cycles(w, ir_op_block(w->m, grid, 0)) + WORKGROUP_CYCLES;
    return greater(divide_up(workgroups, threads) * workgroup, w->traffic);
}

double schedule_cost(const ir_module *m, const schedule_target *target) {
    cost_walk w = {.m = m, .target = target};
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
