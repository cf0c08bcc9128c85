/* cost.c - what computations of a workgroup's threads use of a compute unit, and how long a phase
 * takes: waves of as many workgroups as a unit holds, bounded by instructions, the unit's memory,
 * its matrix unit, latencies, the last cache and memory. */
#include "schedule/cost.h"

#include <math.h>
#include <string.h>

#include "ops/orders.h"
#include "schedule/dot_shape.h"
#include "schedule/simt/simt.h"

/* Bytes that an instruction of a subgroup loads for a matrix unit, and that are fetched from far at
 * least. */
enum { LINE = 128, SECTOR = 32, WORD = 4 };
/* Bytes a cycle between a unit and the last cache. */
enum { UNIT_FAR_BYTES = 48 };
/* Instructions beside those of a body: for a load or store its address; for each element that is
 * copied into a workgroup's memory, in pieces of four. */
enum { ACCESS = 2 };
static const double carried = 1.5;
/* Elements of a row after which its lanes are folded. */
enum { BLOCK = ORDER_LANES64_CHUNK };
/* Elements that a load takes from the workgroup's memory at once. */
enum { PIECE = 4 };
/* Loads of a turn beyond which turns do not overlap; turns that do: of a thread with all registers,
 * of several rows, and of one, which is loaded under a condition. */
enum { LOADS_MOST = 8, TURNS_WITH_ALL = 12, TURNS_OF_ROWS = 4 };
static const double turns_of_row = 1.5;
/* Threads of a subgroup along the rows and the columns of a tile. */
enum { ROWS_OF_SUBGROUP = 4, COLUMNS_OF_SUBGROUP = 8 };

/* A device that is not known before. */
static const char usual[] = "sm_86";

const chip_rates *simt_rates_of(const schedule_target *target) {
    return target->rates ? target->rates : chip_rates_of(usual);
}

const chip_unit *simt_unit_of(const schedule_target *target) {
    return target->unit ? target->unit : chip_unit_of(usual);
}

static const chip_rates *rates_of(const cost_walk *w) {
    return simt_rates_of(w->target);
}

static const chip_unit *unit_of(const cost_walk *w) {
    return simt_unit_of(w->target);
}

static double threads_of(const cost_walk *w) {
    return w->warps > 0 ? w->warps * SIMT_COST_SUBGROUP : w->target->vector_lanes;
}

static void instructions(const cost_walk *w, cost_use *u, double lanes) {
    u->issue += lanes / rates_of(w)->instructions;
}

static void holds(cost_walk *w, double registers) {
    w->registers = cost_greater(w->registers, SIMT_COST_BASE_REGISTERS + registers);
}

/* All but the bottleneck overlaps with it, but for a tenth. */
static double overlapped(double a, double b) {
    return cost_greater(a, b) + 0.1 * (a + b - cost_greater(a, b));
}

double simt_busy_cycles(const cost_use *u) {
    double far = u->far_bytes / UNIT_FAR_BYTES;
    return overlapped(overlapped(overlapped(u->issue, u->functions), u->near),
                      overlapped(u->matrix, far));
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
    double words = cost_greater(bytes, WORD),
           abreast = run < SIMT_COST_SUBGROUP ? run : SIMT_COST_SUBGROUP;
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
    return is_far(w, op, 0, ir_op_int(w->m, op, "inputs", 0)) ? SIMT_COST_FAR : SIMT_COST_NEAR;
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
        u->wait += SIMT_COST_BARRIER;
    } else {
        touch_all(w, op, rows, columns, u);
    }
    instructions(w, u, n * work);
    u->wait += wait_for(w, op) + work * SIMT_COST_LATENCY;
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
    u->wait +=
        turns * (wait_for(w, op) / turns_ahead(w, rows, loads) + (work + trip) * SIMT_COST_LATENCY);
    u->wait +=
        cost_divide_up(extent, BLOCK) * (SIMT_COST_FOLD * SIMT_COST_NEAR + SIMT_COST_BARRIER);
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
    u->wait += cost_divide_up(extent, trip) * (wait_for(w, op) + (work + trip) * SIMT_COST_LATENCY);
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
    u->wait += cost_divide_up(extent, sub) * (wait_for(w, op) + sub * work * SIMT_COST_LATENCY);
    holds(w, sub * (double)inputs);
}

/* A thread for each row or column, which lie in memory: the exchanges of a network. */
static void sort(cost_walk *w, ir_op op, cost_use *u) {
    double extent = (double)cost_extent(w, op), abreast = (double)cost_step_from_end(w, op, 1);
    double stages = log2(extent + 1), exchanges = extent * stages * (stages + 1) / 4;
    instructions(w, u, exchanges * abreast * 4 * ACCESS);
    u->near += 2 * exchanges * abreast;
    double at_once = (double)ir_op_int(w->m, op, "pairs", 1) / abreast;
    u->wait += exchanges / cost_greater(at_once, 1) * (SIMT_COST_FAR / 2 + 2 * SIMT_COST_BARRIER);
    holds(w, 4);
}

/* ---- contractions ---- */

typedef struct tile {
    double rows, columns, steps; /* of a workgroup; steps in all */
    double bytes;                /* of an element that is multiplied */
    double trip;                 /* steps of one */
    double sums;                 /* of a thread */
    double registers;            /* of 32 bits that a sum has */
    dot_shape shape;
} tile;

static tile tile_of(const cost_walk *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t axes = ir_op_int(w->m, op, "axes", 0), buffers = (int64_t)d->operand_count - axes;
    tile t;
    dot_shape_read(w->m, op, &t.shape);
    t.rows = (double)w->step_of[d->operands[t.shape.index[AXIS_M]]];
    t.columns = (double)w->step_of[d->operands[t.shape.index[AXIS_N]]];
    t.steps = (double)cost_dot_steps(w, op, &t.shape, &t.trip);
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
    double side = sqrt(t->sums), subgroups = threads_of(w) / SIMT_COST_SUBGROUP;
    double bytes = cost_greater(t->bytes, WORD) * side * (ROWS_OF_SUBGROUP + COLUMNS_OF_SUBGROUP);
    instructions(w, &u, steps * threads_of(w) * (t->sums + 2 * side / PIECE));
    u.issue = cost_greater(u.issue, fma_cycles(w, t, steps));
    u.near = steps * subgroups * bytes / rates_of(w)->shared_bytes;
    return u;
}

/* Products that subgroups load the factors of take twice as long where the chip has a unit that
 * reads them by itself: its rate is that unit's (chip/targets.def). */
static double times_as_long(const schedule_target *target) {
    double times = 1;
    for (uint32_t i = 0; i < target->unit_count; i++)
        times = target->units[i].in_memory ? 2 : times;
    return times;
}

/* An instruction takes as long whatever its steps, but for those of wide factors. */
void simt_use_unit(const schedule_target *target, const simt_products *p, cost_use *u) {
    const chip_rates *r = simt_rates_of(target);
    double work = p->rows * p->columns * p->steps / p->each;
    u->matrix += p->wide && r->wide_products > 0
                     ? p->rows * p->columns * p->steps / r->wide_products
                     : work * SIMT_COST_UNIT_STEPS * (p->in_memory ? 1 : times_as_long(target)) /
                           r->products;
    if (!p->in_memory)
        u->issue += work / SIMT_COST_UNIT_CELL * SIMT_COST_SUBGROUP / r->instructions;
}

static const schedule_unit *matrix_unit_of(const cost_walk *w, ir_op op) {
    static const schedule_unit usual_unit = {.k = SIMT_COST_UNIT_STEPS};
    const char *name = ir_op_string(w->m, op, "mma", "");
    for (uint32_t i = 0; i < w->target->unit_count; i++)
        if (strcmp(w->target->units[i].name, name) == 0)
            return &w->target->units[i];
    return &usual_unit;
}

/* ... and that a matrix unit does: its subgroups read halves of both sides, unless it reads them
 * itself. */
static cost_use stage_of_unit(const cost_walk *w, ir_op op, const tile *t, double steps) {
    cost_use u = {0};
    const simt_products p = {.rows = t->rows,
                             .columns = t->columns,
                             .steps = steps,
                             .each = matrix_unit_of(w, op)->k,
                             .wide = matrix_unit_of(w, op)->chain,
                             .in_memory = ir_op_attr(w->m, op, "mma_in_memory") != 0};
    simt_use_unit(w->target, &p, &u);
    if (p.in_memory)
        return u;
    double subgroups = threads_of(w) / SIMT_COST_SUBGROUP,
           loads = subgroups * (t->rows + t->columns) / 2 * steps * t->bytes;
    instructions(w, &u, loads / LINE * SIMT_COST_SUBGROUP);
    u.near = loads / rates_of(w)->shared_bytes;
    return u;
}

/* Stages on their way while others are multiplied: a workgroup waits for what that leaves of their
 * latency, and at a barrier each time. A loader's are nobody else's work. */
static void staged_dot(cost_walk *w, ir_op op, const tile *t, cost_use *u) {
    ir_op loop = dot_loop(w->m, op, &t->shape, AXIS_STAGE);
    double stage = (double)schedule_step(w->m, loop, "step", 1), stages = t->steps / stage;
    double depth = (double)schedule_step(w->m, loop, "depth", 0);
    bool unit = ir_op_attr(w->m, op, "mma") != 0,
         loads = schedule_step(w->m, loop, "loader", 0) != 0;
    double elements = (t->rows + t->columns) * stage, ahead = cost_greater(depth, 2) - 1;
    cost_use one = unit ? stage_of_unit(w, op, t, stage) : stage_of_threads(w, t, stage);
    double carries = loads ? 0 : depth > 0 ? SIMT_COST_COPIED : carried;
    instructions(w, &one, elements * carries * t->bytes / WORD);
    one.near += elements * t->bytes / rates_of(w)->shared_bytes;
    one.far_bytes += elements * t->bytes;
    one.wait = (loads ? SIMT_COST_NEAR : SIMT_COST_BARRIER) +
               cost_greater(SIMT_COST_FAR - ahead * simt_busy_cycles(&one), 0);
    cost_add(u, stages, &one);
    u->wait += SIMT_COST_FAR;
    w->own_bytes += cost_greater(depth, 1) * elements * t->bytes;
    w->loaders = loads ? simt_loaders_beside((int64_t)threads_of(w)) : w->loaders;
    double side = sqrt(t->sums);
    holds(w, t->registers * (t->sums + (unit ? 0 : 2 * side)) +
                 (depth > 0 ? 0 : elements / threads_of(w)));
}

/* Threads read what they need as it lies: a row of the left side all of them, columns of the right
 * one each its own. */
static void plain_dot(cost_walk *w, ir_op op, const tile *t, cost_use *u) {
    double unroll = t->trip, steps = t->steps;
    double trips = cost_divide_up(steps, unroll), columns = t->columns;
    int64_t rhs = t->shape.buffer[DOT_RHS];
    bool beside = stride(w, op, rhs, (uint32_t)0) != 1; /* steps are not: columns are */
    double subgroups = cost_divide_up(columns, SIMT_COST_SUBGROUP);
    touch(w, op, rhs, columns * steps, beside ? columns : 1, u);
    touch(w, op, t->shape.buffer[DOT_LHS], t->rows * steps, unroll, u);
    u->near += t->rows * steps * subgroups;
    instructions(w, u, t->rows * columns * steps);
    u->issue = cost_greater(u->issue, fma_cycles(w, t, steps));
    double each = is_far(w, op, t->shape.buffer[DOT_LHS], 1) || is_far(w, op, rhs, 1)
                      ? SIMT_COST_FAR
                      : SIMT_COST_NEAR;
    u->wait += trips * (each + unroll * SIMT_COST_LATENCY);
    holds(w, t->registers * t->sums + unroll * (1 + columns / threads_of(w)));
}

static void dot(cost_walk *w, ir_op op, cost_use *u) {
    const tile t = tile_of(w, op);
    if (t.shape.index[AXIS_STAGE] >= 0)
        staged_dot(w, op, &t, u);
    else
        plain_dot(w, op, &t, u);
    instructions(w, u, t.rows * t.columns * (cost_body(w, op) + ACCESS));
}

/* ---- phases ---- */

/* A buffer that fits into the last cache with something beside it is there since the launch before.
 */
double simt_transfer_cycles(const schedule_target *target, double bytes) {
    const chip_rates *r = simt_rates_of(target);
    bool near = bytes <= r->cache_mib * (1 << 20) / 2;
    return bytes / (near ? r->cache_bytes : r->memory_bytes);
}

static double transfer(const cost_walk *w, double bytes, bool written, bool streams) {
    (void)written;
    (void)streams;
    return simt_transfer_cycles(w->target, bytes);
}

/* So many workgroups of a unit, side by side, of such groups. */
static double wave(const cost_use *each, double workgroups, double groups) {
    return overlapped(workgroups * simt_busy_cycles(each),
                      each->wait + simt_busy_cycles(each) / groups);
}

double simt_groups_beside(double threads, double loaders) {
    return loaders > 0 ? cost_greater(floor(threads / SIMT_GROUP), 1) : 1;
}

double simt_registers_beside(double threads, double loaders, double registers) {
    if (loaders < SIMT_GROUP)
        return registers;
    double most = simt_registers_handed_over((int64_t)threads),
           each = registers < most ? registers : most;
    return (each * threads + loaders * SIMT_LOADER_REGISTERS) / (threads + loaders);
}

double simt_phase_cycles(const schedule_target *target, const simt_phase_needs *p,
                         const cost_use *each) {
    double most = target->vector_registers, registers = p->registers < most ? p->registers : most;
    /* Buffers that do not fit lie in memory that the launch brings. */
    bool fits = p->own_bytes <= (double)target->l1_bytes;
    occupancy o = occupancy_of(simt_unit_of(target), (int64_t)p->threads, (int64_t)registers,
                               fits ? (int64_t)p->own_bytes : 0);
    double beside = o.workgroups > 1 ? (double)o.workgroups : 1;
    double of_unit = cost_divide_up(p->workgroups, target->threads);
    double waves = floor(of_unit / beside), rest = of_unit - waves * beside;
    double units =
        waves * wave(each, beside, p->groups) + (rest > 0 ? wave(each, rest, p->groups) : 0);
    double cache = p->workgroups * each->far_bytes / simt_rates_of(target)->cache_bytes;
    return SIMT_COST_PHASE + overlapped(units, cost_greater(cache, p->traffic));
}

static double phase(const cost_walk *w, const cost_use *each) {
    const simt_phase_needs needs = {
        .threads = threads_of(w) + w->loaders,
        .registers = simt_registers_beside(threads_of(w), w->loaders, w->registers),
        .own_bytes = w->own_bytes,
        .workgroups = w->workgroups,
        .traffic = w->traffic,
        .groups = simt_groups_beside(threads_of(w), w->loaders)};
    return simt_phase_cycles(w->target, &needs, each);
}

static const cost_model simt_model = {.around_loop = {.issue = 2, .wait = 2 * SIMT_COST_LATENCY},
                                      .around_workgroup = {.wait = SIMT_COST_FAR / 2},
                                      .use = {[COST_NUMBER(SCHED_MAP)] = map,
                                              [COST_NUMBER(SCHED_REDUCE)] = reduce,
                                              [COST_NUMBER(SCHED_DOT)] = dot,
                                              [COST_NUMBER(SCHED_COLUMNS)] = columns,
                                              [COST_NUMBER(SCHED_SCAN)] = scan,
                                              [COST_NUMBER(SCHED_SORT)] = sort},
                                      .transfer = transfer,
                                      .phase = phase};

double simt_cost(const ir_module *schedule, const schedule_target *target) {
    return cost_of(schedule, target, &simt_model);
}
