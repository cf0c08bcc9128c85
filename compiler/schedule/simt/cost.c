/* cost.c - what computations of a workgroup's threads use of a compute unit, and how long a phase
 * takes: waves of as many workgroups as a unit holds, bounded by instructions, the unit's memory,
 * its matrix unit, latencies, the last cache and memory. */
#include "schedule/cost.h"

#include <math.h>

#include "ops/orders.h"
#include "schedule/dot_shape.h"
#include "schedule/simt/simt.h"

/* Cycles until what is far or in the unit's memory is there, until an instruction's result is, of a
 * barrier, and of a phase's start. */
enum { FAR = 700, NEAR = 30, LATENCY = 4, BARRIER = 40, PHASE = 2500 };
/* Bytes that an instruction of a subgroup loads for a matrix unit, and that are fetched from far at
 * least. */
enum { LINE = 128, SECTOR = 32, SUBGROUP = 32, WORD = 4 };
/* Bytes a cycle between a unit and the last cache. */
enum { UNIT_FAR_BYTES = 48 };
/* Instructions beside those of a body: for a load or store its address; for each element that is
 * copied into a workgroup's memory, in pieces of four. */
enum { ACCESS = 2 };
static const double copied = 0.5, carried = 1.5;
/* Exchanges of a fold of 64 lanes; elements after which there is one. */
enum { FOLD = 6, BLOCK = ORDER_LANES64_CHUNK };
/* Registers of a thread beside its tile; elements that a load takes from the workgroup's memory at
 * once. */
enum { BASE_REGISTERS = 28, PIECE = 4 };
/* Loads of a turn beyond which turns do not overlap; turns that do: of a thread with all registers,
 * of several rows, and of one, which is loaded under a condition. */
enum { LOADS_MOST = 8, TURNS_WITH_ALL = 12, TURNS_OF_ROWS = 4 };
static const double turns_of_row = 1.5;
/* Threads of a subgroup along the rows and the columns of a tile. */
enum { ROWS_OF_SUBGROUP = 4, COLUMNS_OF_SUBGROUP = 8 };
/* Multiply-adds of a subgroup's instruction for the matrix unit. */
enum { UNIT_STEP = 16 * 8 * 16 };

/* A device that is not known before. */
static const char usual[] = "sm_86";

static const chip_rates *rates_of(const cost_walk *w) {
    return w->target->rates ? w->target->rates : chip_rates_of(usual);
}

static const chip_unit *unit_of(const cost_walk *w) {
    return w->target->unit ? w->target->unit : chip_unit_of(usual);
}

static double threads_of(const cost_walk *w) {
    return w->target->vector_lanes;
}

static void instructions(const cost_walk *w, cost_use *u, double lanes) {
    u->issue += lanes / rates_of(w)->instructions;
}

static void holds(cost_walk *w, double registers) {
    w->registers = cost_greater(w->registers, BASE_REGISTERS + registers);
}

/* All but the bottleneck overlaps with it, but for a tenth. */
static double overlapped(double a, double b) {
    return cost_greater(a, b) + 0.1 * (a + b - cost_greater(a, b));
}

static double busy(const cost_use *u) {
    double far = u->far_bytes / UNIT_FAR_BYTES;
    return overlapped(overlapped(u->issue, u->near), overlapped(u->matrix, far));
}

/* ---- memory ---- */

static const ir_attr_data *access_of(const cost_walk *w, ir_op op, int64_t buffer) {
    const ir_attr_data *all = ir_attr_get(w->m, ir_op_attr(w->m, op, "access"));
    return ir_attr_get(w->m, all->items[buffer]);
}

/* Elements from one to the next along the index that is so many places from the last; 0: all are
 * the same, or there is no such index. */
static int64_t stride(const cost_walk *w, ir_op op, int64_t buffer, uint32_t from_end) {
    const ir_attr_data *a = access_of(w, op, buffer);
    if (from_end + 1 >= a->count)
        return 0;
    return cost_estimate(w, ir_attr_get(w->m, a->items[a->count - 1 - from_end])->integer);
}

/* `n` elements of a buffer, `run` of which side by side, by neighbouring threads. */
static void touch(cost_walk *w, ir_op op, int64_t buffer, double n, double run, cost_use *u) {
    if (n <= 0)
        return;
    const ir_op_data *d = ir_op_get(w->m, op);
    ir_value v = d->operands[ir_op_int(w->m, op, "axes", 0) + buffer];
    double bytes = (double)dtype_size(cost_type(w, v)->element);
    double words = cost_greater(bytes, WORD), abreast = run < SUBGROUP ? run : SUBGROUP;
    instructions(w, u, n * ACCESS);
    u->near += n / abreast * cost_greater(abreast * words / rates_of(w)->shared_bytes, 1);
    if (!cost_is_own(w, v))
        u->far_bytes += n / run * cost_greater(run * bytes, SECTOR);
}

static bool is_far(const cost_walk *w, ir_op op, int64_t first, int64_t count) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0);
    for (int64_t i = first; i < first + count; i++)
        if (!cost_is_own(w, d->operands[axes + i]))
            return true;
    return false;
}

/* All buffers of a computation: of a body's inputs and its outputs so many elements each, in which
 * the last index is a run of `columns`. */
static void touch_all(cost_walk *w, ir_op op, double rows, double columns, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t buffers = (int64_t)d->operand_count - ir_op_int(w->m, op, "axes", 0);
    for (int64_t i = 0; i < buffers; i++) {
        int64_t along = stride(w, op, i, 0);
        double n = rows * (along ? columns : 1);
        touch(w, op, i, n, along == 1 ? columns : 1, u);
    }
}

static double wait_for(const cost_walk *w, ir_op op) {
    return is_far(w, op, 0, ir_op_int(w->m, op, "inputs", 0)) ? FAR : NEAR;
}

/* ---- computations ---- */

/* Squares that are turned in the workgroup's memory go through it once more, a row of it at a time.
 */
static void map(cost_walk *w, ir_op op, cost_use *u) {
    double rows = (double)cost_step_from_end(w, op, 2),
           columns = (double)cost_step_from_end(w, op, 1);
    double n = rows * columns, work = cost_body(w, op);
    int64_t inputs = ir_op_int(w->m, op, "inputs", 0);
    if (ir_op_attr(w->m, op, "staged")) {
        for (int64_t i = 0; i <= inputs; i++)
            touch(w, op, i, n, stride(w, op, i, 0) == 1 ? columns : rows, u);
        u->near += 2 * n * WORD / rates_of(w)->shared_bytes;
        u->wait += BARRIER;
    } else {
        touch_all(w, op, rows, columns, u);
    }
    instructions(w, u, n * work);
    u->wait += wait_for(w, op) + work * LATENCY;
    holds(w, n / threads_of(w) * ((double)inputs + 1));
}

/* Turns of a loop over rows whose loads, so many of a thread, are under way at once. Where a unit
 * has few workgroups, their threads have registers for more (target/llvm/simt/emit_kernel.c). */
static double turns_ahead(const cost_walk *w, double rows, double loads) {
    double of_unit = cost_divide_up(w->workgroups, w->target->threads);
    if (loads > LOADS_MOST)
        return 1;
    if (of_unit * threads_of(w) <= (double)unit_of(w)->threads / 2)
        return TURNS_WITH_ALL;
    return rows > 1 ? TURNS_OF_ROWS : turns_of_row;
}

/* Rows side by side in turns of 64 lanes, `trip` elements of each. Where the rows lie side by side
 * in memory, they are columns. */
static void reduce(cost_walk *w, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(w->m, op);
    double rows = (double)cost_step_from_end(w, op, 1), extent = (double)cost_extent(w, op);
    double trip = (double)schedule_step(w->m, op, "trip", 1), work = cost_body(w, op) + 1;
    double turns = cost_divide_up(extent, ORDER_LANES64_LANES * trip), n = rows * extent;
    int64_t inputs = ir_op_int(w->m, op, "inputs", 0);
    int64_t buffers = (int64_t)d->operand_count - ir_op_int(w->m, op, "axes", 0);
    for (int64_t i = 0; i < buffers; i++) {
        bool along = stride(w, op, i, 0) != 0;
        double run = stride(w, op, i, 0) == 1 ? extent : stride(w, op, i, 1) == 1 ? rows : 1;
        touch(w, op, i, along ? n : rows, run, u);
    }
    instructions(w, u, n * work);
    double loads = cost_divide_up(trip * rows * ORDER_LANES64_LANES, threads_of(w));
    u->wait += turns * (wait_for(w, op) / turns_ahead(w, rows, loads) + (work + trip) * LATENCY);
    u->wait += cost_divide_up(extent, BLOCK) * (FOLD * NEAR + BARRIER);
    holds(w, trip * rows * ORDER_LANES64_LANES / threads_of(w) * (double)inputs);
}

/* A thread for each column. */
static void columns(cost_walk *w, ir_op op, cost_use *u) {
    double extent = (double)cost_extent(w, op), abreast = (double)cost_step_from_end(w, op, 1);
    double trip = (double)schedule_step(w->m, op, "trip", 1), work = cost_body(w, op) + 1;
    int64_t inputs = ir_op_int(w->m, op, "inputs", 0);
    for (int64_t i = 0; i < inputs; i++)
        touch(w, op, i, extent * abreast, stride(w, op, i, 1) == 1 ? abreast : 1, u);
    instructions(w, u, extent * abreast * work);
    u->wait += cost_divide_up(extent, trip) * (wait_for(w, op) + (work + trip) * LATENCY);
    holds(w, trip);
}

/* A thread for each row or column, which takes `sub` elements at a time. */
static void scan(cost_walk *w, ir_op op, cost_use *u) {
    double extent = (double)cost_extent(w, op), abreast = (double)cost_step_from_end(w, op, 1);
    double sub = cost_greater((double)schedule_step(w->m, op, "sub", 0), 1);
    double work = cost_body(w, op) + 1;
    int64_t inputs = ir_op_int(w->m, op, "inputs", 0);
    for (int64_t i = 0; i <= inputs; i++)
        touch(w, op, i, extent * abreast, stride(w, op, i, 1) == 1 ? abreast : 1, u);
    instructions(w, u, extent * abreast * work);
    u->wait += cost_divide_up(extent, sub) * (wait_for(w, op) + sub * work * LATENCY);
    holds(w, sub * (double)inputs);
}

/* A thread for each row or column, which lie in memory: the exchanges of a network. */
static void sort(cost_walk *w, ir_op op, cost_use *u) {
    double extent = (double)cost_extent(w, op), abreast = (double)cost_step_from_end(w, op, 1);
    double stages = log2(extent + 1), exchanges = extent * stages * (stages + 1) / 4;
    instructions(w, u, exchanges * abreast * 4 * ACCESS);
    u->near += 2 * exchanges * abreast;
    u->wait += exchanges * FAR / 2;
    holds(w, 4);
}

/* ---- contractions ---- */

typedef struct tile {
    double rows, columns, steps; /* of a workgroup; steps in all */
    double bytes;                /* of an element that is multiplied */
    double sums;                 /* of a thread */
    double registers;            /* of 32 bits that a sum has */
    dot_shape shape;
} tile;

static tile tile_of(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0), buffers = (int64_t)d->operand_count - axes;
    tile t;
    dot_shape_read(w->m, op, &t.shape);
    t.rows = (double)w->step_of[d->operands[t.shape.index[DOT_M]]];
    t.columns = (double)w->step_of[d->operands[t.shape.index[DOT_N]]];
    t.steps = (double)cost_extent(w, op);
    if (t.shape.index[DOT_CHUNK] >= 0)
        t.steps = (double)w->step_of[d->operands[t.shape.index[DOT_CHUNK]]];
    /* As of a triangle. */
    if (t.shape.buffer[DOT_COUNTS] >= 0)
        t.steps /= 2;
    if (t.shape.buffer[DOT_LIMITS] >= 0)
        t.steps /= 2;
    t.bytes =
        (double)dtype_size(cost_type(w, d->operands[axes + t.shape.buffer[DOT_RHS]])->element);
    size_t out = dtype_size(cost_type(w, d->operands[axes + buffers - 1])->element);
    t.registers = out > WORD ? 2 : 1;
    t.sums = cost_divide_up(t.rows * t.columns, threads_of(w));
    return t;
}

static double fma_cycles(const cost_walk *w, const tile *t, double steps) {
    const chip_rates *r = rates_of(w);
    return t->rows * t->columns * steps / (t->registers > 1 ? r->fma_f64 : r->fma);
}

/* A stage that threads multiply: each holds a square of sums, and a subgroup reads what
 * its rows and columns of threads have in common once. */
static cost_use stage_of_threads(const cost_walk *w, const tile *t, double steps) {
    cost_use u = {0};
    double side = sqrt(t->sums), subgroups = threads_of(w) / SUBGROUP;
    double bytes = cost_greater(t->bytes, WORD) * side * (ROWS_OF_SUBGROUP + COLUMNS_OF_SUBGROUP);
    instructions(w, &u, steps * threads_of(w) * (t->sums + 2 * side / PIECE));
    u.issue = cost_greater(u.issue, fma_cycles(w, t, steps));
    u.near = steps * subgroups * bytes / rates_of(w)->shared_bytes;
    return u;
}

/* ... and that a matrix unit does: its subgroups read halves of both sides, unless it reads them
 * itself. */
static cost_use stage_of_unit(const cost_walk *w, const tile *t, double steps, bool in_memory) {
    cost_use u = {0};
    double subgroups = threads_of(w) / SUBGROUP, work = t->rows * t->columns * steps;
    u.matrix = work * t->bytes / 2 / rates_of(w)->products;
    if (in_memory)
        return u;
    double loads = subgroups * (t->rows + t->columns) / 2 * steps * t->bytes;
    instructions(w, &u, work / UNIT_STEP * SUBGROUP + loads / LINE * SUBGROUP);
    u.near = loads / rates_of(w)->shared_bytes;
    return u;
}

/* Stages on their way while others are multiplied: a workgroup waits for what that leaves of their
 * latency, and at a barrier each time. */
static void staged_dot(cost_walk *w, ir_op op, const tile *t, cost_use *u) {
    double stage = (double)schedule_step(w->m, op, "stage", 1), stages = t->steps / stage;
    double depth = (double)schedule_step(w->m, op, "depth", 0);
    bool unit = ir_op_attr(w->m, op, "mma") != 0,
         in_memory = ir_op_attr(w->m, op, "mma_in_memory") != 0;
    double elements = (t->rows + t->columns) * stage, ahead = cost_greater(depth, 2) - 1;
    cost_use one = unit ? stage_of_unit(w, t, stage, in_memory) : stage_of_threads(w, t, stage);
    instructions(w, &one, elements * (depth > 0 ? copied : carried) * t->bytes / WORD);
    one.near += elements * t->bytes / rates_of(w)->shared_bytes;
    one.far_bytes += elements * t->bytes;
    one.wait = BARRIER + cost_greater(FAR - ahead * busy(&one), 0);
    cost_add(u, stages, &one);
    u->wait += FAR;
    w->own_bytes += cost_greater(depth, 1) * elements * t->bytes;
    double side = sqrt(t->sums);
    holds(w, t->registers * (t->sums + (unit ? 0 : 2 * side)) +
                 (depth > 0 ? 0 : elements / threads_of(w)));
}

/* Threads read what they need as it lies: a row of the left side all of them, columns of the right
 * one each its own. */
static void plain_dot(cost_walk *w, ir_op op, const tile *t, cost_use *u) {
    double unroll = (double)schedule_step(w->m, op, "unroll", 1), steps = t->steps;
    double trips = cost_divide_up(steps, unroll), columns = t->columns;
    int64_t rhs = t->shape.buffer[DOT_RHS];
    bool beside = stride(w, op, rhs, (uint32_t)0) != 1; /* steps are not: columns are */
    double subgroups = cost_divide_up(columns, SUBGROUP);
    touch(w, op, rhs, columns * steps, beside ? columns : 1, u);
    touch(w, op, t->shape.buffer[DOT_LHS], t->rows * steps, unroll, u);
    u->near += t->rows * steps * subgroups;
    instructions(w, u, t->rows * columns * steps);
    u->issue = cost_greater(u->issue, fma_cycles(w, t, steps));
    double each = is_far(w, op, t->shape.buffer[DOT_LHS], 1) || is_far(w, op, rhs, 1) ? FAR : NEAR;
    u->wait += trips * (each + unroll * LATENCY);
    holds(w, t->registers * t->sums + unroll * (1 + columns / threads_of(w)));
}

static void dot(cost_walk *w, ir_op op, cost_use *u) {
    const tile t = tile_of(w, op);
    if (schedule_step(w->m, op, "stage", 0) > 0)
        staged_dot(w, op, &t, u);
    else
        plain_dot(w, op, &t, u);
    instructions(w, u, t.rows * t.columns * (cost_body(w, op) + ACCESS));
}

/* ---- phases ---- */

static bool computation(cost_walk *w, ir_op op, cost_use *out) {
    static const struct {
        int opcode;
        void (*use)(cost_walk *w, ir_op op, cost_use *u);
    } of[] = {{SCHED_MAP, map},         {SCHED_REDUCE, reduce}, {SCHED_DOT, dot},
              {SCHED_COLUMNS, columns}, {SCHED_SCAN, scan},     {SCHED_SORT, sort}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (ir_op_get(w->m, op)->opcode == of[i].opcode) {
            of[i].use(w, op, out);
            return true;
        }
    return false;
}

/* A buffer that fits into the last cache with something beside it is there since the launch before.
 */
static double transfer(const cost_walk *w, double bytes, bool written, bool streams) {
    const chip_rates *r = rates_of(w);
    bool near = bytes <= r->cache_mib * (1 << 20) / 2;
    (void)written;
    (void)streams;
    return bytes / (near ? r->cache_bytes : r->memory_bytes);
}

/* So many workgroups of a unit, side by side. */
static double wave(const cost_use *each, double workgroups) {
    return overlapped(workgroups * busy(each), each->wait + busy(each));
}

static double phase(const cost_walk *w, const cost_use *each) {
    const chip_unit *unit = unit_of(w);
    double most = w->target->vector_registers,
           registers = w->registers < most ? w->registers : most;
    /* Buffers that do not fit lie in memory that the launch brings. */
    bool fits = w->own_bytes <= (double)w->target->l1_bytes;
    occupancy o = occupancy_of(unit, w->target->vector_lanes, (int64_t)registers,
                               fits ? (int64_t)w->own_bytes : 0);
    double beside = o.workgroups > 1 ? (double)o.workgroups : 1;
    double of_unit = cost_divide_up(w->workgroups, w->target->threads);
    double waves = floor(of_unit / beside), rest = of_unit - waves * beside;
    double units = waves * wave(each, beside) + (rest > 0 ? wave(each, rest) : 0);
    double cache = w->workgroups * each->far_bytes / rates_of(w)->cache_bytes;
    return PHASE + overlapped(units, cost_greater(cache, w->traffic));
}

static const cost_model simt_model = {.around_loop = {.issue = 2, .wait = 2 * LATENCY},
                                      .around_workgroup = {.wait = FAR / 2},
                                      .computation = computation,
                                      .transfer = transfer,
                                      .phase = phase};

double simt_cost(const ir_module *schedule, const schedule_target *target) {
    return cost_of(schedule, target, &simt_model);
}
