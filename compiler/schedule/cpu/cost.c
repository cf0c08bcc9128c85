/* cost.c - what the computations of a thread with vectors cost, and its phases: cycles of the
 * slowest thread. */
#include "schedule/cost.h"

#include <math.h>

#include "ops/graph.h"
#include "parameters/thresholds.h"
#include "schedule/cpu/cpu.h"
#include "schedule/dot_shape.h"

/* Figures of a usual core; bytes a cycle for the levels of its memory. */
enum { WORKGROUP_CYCLES = 300, LOOP_CYCLES = 2, LATENCY = 4, ISSUED = 6 };
enum { EXCHANGE_CYCLES = 8 };
enum { LANES_OF_SUM = ORDER_LANES64_LANES, FOLD_CYCLES = 48 };
enum { PAGE_BYTES = 4096, TLB_PAGES = 64 };
static const double l1_rate = 64, l2_rate = 32, scattered_rate = 16, far_rate = 8;

/* Bytes a cycle from the level that holds so many. */
static double rate_of(const cost_walk *w, double bytes) {
    if (bytes <= (double)w->target->l1_bytes)
        return l1_rate;
    return bytes <= (double)w->target->l2_bytes ? l2_rate : far_rate;
}

static double lanes_of(const cost_walk *w, ir_value buffer) {
    size_t bytes = dtype_size(cost_type(w, buffer)->element);
    return (double)w->target->vector_lanes * 4 / (double)(bytes < 4 ? 4 : bytes);
}

/* Rate of a panel of `k` rows. Rows that are pages apart in more pages than the first-level TLB has
 * miss it with each row, and their lines share few sets of the cache. */
static double panel_rate(const cost_walk *w, ir_op op, double k, double width, double bytes) {
    const ir_attr_data *access = ir_attr_get(w->m, ir_op_attr(w->m, op, "access"));
    const ir_attr_data *rhs = ir_attr_get(w->m, access->items[1]);
    double stride =
        (double)cost_estimate(w, ir_attr_get(w->m, rhs->items[rhs->count - 1])->integer) * bytes;
    bool packed = ir_op_attr(w->m, op, "packed") != 0;
    return !packed && stride >= PAGE_BYTES && k > TLB_PAGES ? scattered_rate
                                                            : rate_of(w, k * width * bytes);
}

static void dot_cycles(cost_walk *w, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double unroll, most = 0, sum = 0;
    dot_shape shape;
    dot_shape_read(w->m, op, &shape);
    double k = (double)cost_dot_steps(w, op, &shape, &unroll);
    ir_value rhs = d->operands[axes + shape.buffer[DOT_RHS]];
    double mr = (double)w->step_of[d->operands[shape.index[AXIS_M]]];
    double nr = (double)w->step_of[d->operands[shape.index[AXIS_N]]];
    double bytes = (double)dtype_size(cost_type(w, rhs)->element), nv, missing, each;
    nv = cost_divide_up(nr, lanes_of(w, rhs));
    missing = mr * nv + (mr < nv ? mr : nv) + 1 - w->target->vector_registers;
    const double parts[] = {mr * nv / 2, (mr + nv) / 2, LATENCY,
                            (mr * nv + nv + 2.0 / unroll) / ISSUED,
                            nr * bytes / panel_rate(w, op, k, nr + mr, bytes)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        most = cost_greater(most, parts[i]);
        sum += parts[i];
    }
    /* All but the bottleneck overlaps with it, but for a tenth. */
    each = most + 0.1 * (sum - most) + cost_greater(missing, 0);
    u->issue = k * each + 4 * mr * nv;
}

static void map_cycles(cost_walk *w, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double rows = (double)cost_step_from_end(w, op, 2);
    double columns = (double)cost_step_from_end(w, op, 1);
    double lanes = lanes_of(w, d->operands[d->operand_count - 1]);
    double vectors = rows * cost_divide_up(columns, lanes), work = cost_body(w, op);
    double buffers = (double)d->operand_count - (double)axes;
    u->issue = cost_greater(vectors * work / 2, work * LATENCY) + vectors * buffers / 2;
}

/* A row in blocks of 64 lanes; `sub` of them have independent chains. */
static void reduce_cycles(cost_walk *w, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    double extent = (double)cost_extent(w, op);
    double lanes = lanes_of(w, d->operands[ir_op_int(w->m, op, "axes", 0)]);
    double sub = (double)schedule_step(w->m, op, "sub", LANES_OF_SUM);
    double work = cost_body(w, op) + 1, vectors = cost_divide_up(LANES_OF_SUM, lanes);
    double parts = LANES_OF_SUM / cost_greater(sub, 1);
    double block = cost_greater(vectors * work / 2, work * LATENCY) + parts * LOOP_CYCLES;
    u->issue = cost_divide_up(extent, LANES_OF_SUM) * block +
               FOLD_CYCLES * cost_divide_up(extent, SUM_BLOCK);
}

static void columns_cycles(cost_walk *w, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double extent = (double)cost_extent(w, op);
    double vectors =
        cost_divide_up((double)cost_step_from_end(w, op, 1), lanes_of(w, d->operands[axes]));
    double work = cost_body(w, op) + 1;
    u->issue =
        extent * (cost_greater(vectors * work / 2, LATENCY) + LOOP_CYCLES) + vectors * FOLD_CYCLES;
}

/* Rows are turned in registers and back; a chain of columns waits for each addition. */
static void scan_cycles(cost_walk *w, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double extent = (double)cost_extent(w, op), lanes = lanes_of(w, d->operands[axes]);
    double sub = (double)schedule_step(w->m, op, "sub", 0);
    double abreast = (double)cost_step_from_end(w, op, 1), work = cost_body(w, op) + 2;
    if (sub == 0) {
        double row = cost_greater(cost_divide_up(abreast, lanes) * work / 2, LATENCY);
        u->issue = extent * (row + LOOP_CYCLES);
        return;
    }
    double vectors = abreast * cost_divide_up(sub, lanes), turns = 2 * log2(lanes);
    double step = cost_greater(vectors * (work / 2 + turns), sub * LATENCY) + LOOP_CYCLES;
    u->issue = cost_divide_up(extent, sub) * step;
}

/* Exchanges of a network, a vector of rows or columns each. */
static void sort_cycles(cost_walk *w, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    double extent = (double)cost_extent(w, op), stages = log2(extent + 1);
    double vectors =
        cost_divide_up((double)cost_step_from_end(w, op, 1), lanes_of(w, d->operands[axes]));
    u->issue = extent * stages * (stages + 1) / 4 * (vectors * EXCHANGE_CYCLES + LOOP_CYCLES);
}

/* A line that is written is read first, unless it goes past the caches. */
static double transfer(const cost_walk *w, double bytes, bool written, bool streams) {
    return bytes * (written && !streams ? 2 : 1) / rate_of(w, bytes);
}

static double phase(const cost_walk *w, const cost_use *each) {
    double turns = cost_divide_up(w->workgroups, w->target->threads);
    return cost_greater(turns * each->issue, w->traffic);
}

static const cost_model cpu_model = {.around_loop = {.issue = LOOP_CYCLES},
                                     .around_workgroup = {.issue = WORKGROUP_CYCLES},
                                     .use = {[COST_NUMBER(SCHED_MAP)] = map_cycles,
                                             [COST_NUMBER(SCHED_REDUCE)] = reduce_cycles,
                                             [COST_NUMBER(SCHED_DOT)] = dot_cycles,
                                             [COST_NUMBER(SCHED_COLUMNS)] = columns_cycles,
                                             [COST_NUMBER(SCHED_SCAN)] = scan_cycles,
                                             [COST_NUMBER(SCHED_SORT)] = sort_cycles},
                                     .transfer = transfer,
                                     .phase = phase};

double cpu_cost(const ir_module *schedule, const schedule_target *target) {
    return cost_of(schedule, target, &cpu_model);
}
