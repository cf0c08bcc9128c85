/* cost.c - what a kernel of tiles costs on a chip, where it is lowered as it stands: the same sums
 * as those of a schedule (schedule/simt/cost.c), over the operations of laid-out Tile IR. */
#include <math.h>

#include "schedule/simt/simt.h"
#include "tile/mma.h"
#include "tile/simt/access.h"
#include "tile/simt/index_range.h"
#include "tile/simt/pressure.h"
#include "tile/simt/simt.h"
#include "tile/simt/touches.h"
#include "tile/tensor_map.h"

/* Instructions of a division or a root, and of a step of a running sum. */
enum { DIVISION = 9, SCAN_STEP = 4, WORD = 4 };

typedef struct tile_cost {
    const ir_module *m;
    const schedule_target *target;
    double threads;
} tile_cost;

static void instructions(const tile_cost *c, cost_use *u, double of_thread) {
    u->issue += c->threads * of_thread / simt_rates_of(c->target)->instructions;
}

static void near_bytes(const tile_cost *c, cost_use *u, double bytes) {
    u->near += bytes / simt_rates_of(c->target)->shared_bytes;
}

/* Elements that a thread has of a tile. */
static double elements_of(const tile_cost *c, ir_value v) {
    const ir_type_data *t = ir_type_of(c->m, v);
    const ir_layout *l = &t->layout;
    if (t->kind != IR_TYPE_TILE || !l->row_threads)
        return 1;
    int64_t rows = t->dims[0] / ir_layout_row_groups(l),
            columns = t->dims[1] / ir_layout_column_groups(l);
    return (double)(touches_places(rows, l->row_threads, l->row_run) *
                    touches_places(columns, l->column_threads, l->column_run));
}

/* The mean of instances whose loops begin and end at different places. */
static double trips_of(const ir_module *m, ir_op loop) {
    const ir_op_data *d = ir_op_get(m, loop);
    index_range low = index_range_of(m, d->operands[0]), high = index_range_of(m, d->operands[1]);
    double step = (double)ir_op_int(m, loop, "step", 1), end = (double)(high.low + high.high) / 2;
    double begin = (double)(low.low + low.high) / 2, trips = ceil((end - begin) / step);
    return trips > 0 ? trips : 0;
}

/* ---- memory ---- */

/* Bytes that the first subgroup's threads take from the workgroup's memory, what they have in
 * common once. */
static double taken_bytes(const touches *t) {
    int64_t offsets[SIMT_COST_SUBGROUP];
    double bytes = 0;
    for (int64_t i = 0; i < touches_count(t); i++) {
        touches_at(t, i, 0, SIMT_COST_SUBGROUP, offsets);
        for (int a = 0; a < SIMT_COST_SUBGROUP; a++) {
            int b = 0;
            while (b < a && offsets[b] != offsets[a])
                b++;
            bytes += b == a && offsets[a] != TOUCH_EDGE && offsets[a] != TOUCH_OTHER
                         ? t->width_bytes
                         : 0;
        }
    }
    return bytes;
}

/* A load or a store. What is far is there when all that was asked for at once is. */
static void touch(const tile_cost *c, ir_op op, cost_use *u) {
    touches t;
    if (!touches_of(c->m, op, &t))
        return;
    double subgroups = c->threads / SIMT_COST_SUBGROUP;
    instructions(c, u, (double)touches_count(&t));
    if (t.shared) {
        near_bytes(c, u, subgroups * taken_bytes(&t));
        u->wait += SIMT_COST_NEAR;
        return;
    }
    double rows = t.a.row_stride ? (double)t.a.rows : 1,
           columns = t.a.column_stride ? (double)t.a.columns : 1;
    u->far_bytes += rows * columns * t.element_bytes;
    u->wait += t.a.writes ? 0 : SIMT_COST_FAR;
}

static void copy(const tile_cost *c, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(c->m, op);
    double bytes = (double)(ir_op_int(c->m, op, "rows", 1) * ir_op_int(c->m, op, "columns", 1)) *
                   (double)dtype_size(ir_type_of(c->m, d->operands[0])->element);
    u->issue += bytes / WORD * SIMT_COST_COPIED / simt_rates_of(c->target)->instructions;
    u->far_bytes += bytes;
    near_bytes(c, u, bytes);
}

/* Copies of a thread beside the workgroup's, of all trips. */
static void fetches(const tile_cost *c, ir_op loader, cost_use *u) {
    for (ir_walk w = ir_walk_op(c->m, loader); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(c->m, w.op);
        if (d->opcode != TILE_FETCH)
            continue;
        double bytes =
            trips_of(c->m, ir_block_parent(c->m, d->block)) *
            (double)(ir_op_int(c->m, w.op, "rows", 1) * ir_op_int(c->m, w.op, "columns", 1)) *
            (double)dtype_size(ir_type_of(c->m, d->operands[0])->element);
        u->far_bytes += bytes;
        near_bytes(c, u, bytes);
    }
}

/* ---- the rest ---- */

static void use_unit(const tile_cost *c, ir_op op, double steps, cost_use *u) {
    const ir_type_data *sum = ir_type_of(c->m, ir_op_get(c->m, op)->results[0]);
    const mma_unit *unit = mma_unit_of(c->m, op);
    simt_use_unit(c->target,
                  &(simt_products){.rows = (double)sum->dims[0],
                                   .columns = (double)sum->dims[1],
                                   .steps = steps,
                                   .each = unit->k,
                                   .in_memory = mma_in_memory(unit),
                                   .wide = dtype_is_float(unit->sum) && mma_unit_is_chain(unit)},
                  u);
}

/* ... by which memory gives the sides that are no tiles in registers. */
static void multiply_stage(const tile_cost *c, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(c->m, op);
    const ir_type_data *sum = ir_type_of(c->m, d->results[0]),
                       *left = ir_type_of(c->m, d->operands[3]);
    double rows = (double)sum->dims[0], columns = (double)sum->dims[1],
           steps = (double)ir_op_int(c->m, op, "steps", 0),
           bytes = (double)dtype_size(left->element), pieces = rows / mma_unit_of(c->m, op)->m;
    use_unit(c, op, steps, u);
    near_bytes(c, u,
               (left->kind == IR_TYPE_TILE ? columns * pieces : rows + columns * pieces) * steps *
                   bytes);
}

static void multiply(const tile_cost *c, ir_op op, cost_use *u) {
    use_unit(c, op, (double)ir_type_of(c->m, ir_op_get(c->m, op)->operands[0])->dims[1], u);
    u->wait += SIMT_COST_LATENCY;
}

static void fold(const tile_cost *c, ir_op op, cost_use *u) {
    const ir_op_data *d = ir_op_get(c->m, op);
    double rows = elements_of(c, d->results[0]), each = 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        each += elements_of(c, d->operands[i]);
    instructions(c, u, each + 2 * SIMT_COST_FOLD * rows);
    u->wait += SIMT_COST_FOLD * (simt_fold_waits(c->m, op) ? SIMT_COST_NEAR : SIMT_COST_LATENCY);
}

static void compute(const tile_cost *c, ir_op op, cost_use *u) {
    int opcode = ir_op_get(c->m, op)->opcode;
    double work = opcode == TILE_DIV || opcode == TILE_SQRT ? DIVISION : 1;
    double elements = elements_of(c, ir_op_get(c->m, op)->results[0]);
    instructions(c, u, work * elements);
    if (opcode == TILE_HARDWARE_EXP2)
        u->functions += c->threads * elements / c->target->exponentials;
    u->wait += work * SIMT_COST_LATENCY;
}

/* ---- loops ---- */

static cost_use use_of_block(const tile_cost *c, ir_block block);

/* Copies that begin behind the wait of a trip are waited for in a later one. */
static void loop(const tile_cost *c, ir_op op, cost_use *u) {
    cost_use one = use_of_block(c, ir_op_block(c->m, op, 0));
    instructions(c, &one, 2);
    one.wait += 2 * SIMT_COST_LATENCY;
    cost_add(u, trips_of(c->m, op), &one);
}

static bool copies(const tile_cost *c, ir_op op) {
    if (ir_op_get(c->m, op)->opcode == TILE_COPY)
        return true;
    if (ir_op_get(c->m, op)->opcode != TILE_FOR)
        return false;
    for (ir_walk w = ir_walk_op(c->m, op); ir_walk_next(&w);)
        if (ir_op_get(c->m, w.op)->opcode == TILE_COPY)
            return true;
    return false;
}

/* Until what is far is there; what was on its way during the block's other work, so much shorter.
 */
static double wait_for_copies(const cost_use *block, bool ahead) {
    return ahead ? cost_greater(SIMT_COST_FAR - simt_busy_cycles(block), 0) : SIMT_COST_FAR;
}

static void add_op(const tile_cost *c, ir_op op, cost_use *u) {
    int opcode = ir_op_get(c->m, op)->opcode;
    switch (opcode) {
    case TILE_FOR:
        loop(c, op, u);
        break;
    case TILE_LOAD:
    case TILE_GATHER:
    case TILE_STORE:
    case TILE_SCATTER:
        touch(c, op, u);
        break;
    case TILE_COPY:
        copy(c, op, u);
        break;
    case TILE_LOADER:
        fetches(c, op, u);
        break;
    case TILE_MMA:
        multiply(c, op, u);
        break;
    case TILE_MMA_STAGE:
        multiply_stage(c, op, u);
        break;
    case TILE_MMA_WAIT:
        u->wait += SIMT_COST_LATENCY;
        break;
    case TILE_FOLD:
        fold(c, op, u);
        break;
    case TILE_BARRIER:
        u->wait += SIMT_COST_BARRIER;
        break;
    case TILE_SCAN:
        instructions(c, u, SCAN_STEP * elements_of(c, ir_op_get(c->m, op)->results[0]));
        break;
    default:
        if (tile_is_elementwise(opcode))
            compute(c, op, u);
    }
}

static cost_use use_of_block(const tile_cost *c, ir_block block) {
    cost_use u = {0};
    int waits = 0, waits_before_copies = 0;
    bool copied = false;
    for (ir_op op = ir_block_get(c->m, block)->first; op; op = ir_op_get(c->m, op)->next) {
        const bool slot = ir_op_get(c->m, op)->opcode == TILE_SLOT_WAIT;
        const bool wait = slot || ir_op_get(c->m, op)->opcode == TILE_COPY_WAIT;
        copied |= copies(c, op);
        waits += wait;
        waits_before_copies += wait && !copied;
        copied |= slot; /* a loader goes on meanwhile */
        add_op(c, op, &u);
    }
    double ahead = waits_before_copies, wait = ahead * wait_for_copies(&u, copied);
    u.wait += wait + (waits - ahead) * wait_for_copies(&u, false);
    return u;
}

/* ---- phases ---- */

/* Cycles of the kernel's buffers, each once. */
static double traffic_of(const tile_cost *c) {
    ir_op kernel = ir_module_kernel(c->m);
    const ir_attr_data *shapes = ir_attr_get(c->m, ir_op_attr(c->m, kernel, "shapes"));
    const ir_block_data *body = ir_block_get(c->m, ir_op_block(c->m, kernel, 0));
    double cycles = 0;
    for (uint32_t i = 0; i < shapes->count; i++) {
        const ir_attr_data *dims = ir_attr_get(c->m, shapes->items[i]);
        double bytes = (double)dtype_size(ir_type_of(c->m, body->arguments[i])->element);
        for (uint32_t k = 0; k < dims->count; k++)
            bytes *= (double)ir_attr_get(c->m, dims->items[k])->integer;
        cycles += simt_transfer_cycles(c->target, bytes);
    }
    return cycles;
}

/* Trips of all loops around an operation. */
static double trips_around(const ir_module *m, ir_op op) {
    double trips = 1;
    for (op = ir_block_parent(m, ir_op_get(m, op)->block); op;
         op = ir_block_parent(m, ir_op_get(m, op)->block))
        trips *= ir_op_get(m, op)->opcode == TILE_FOR ? trips_of(m, op) : 1;
    return trips;
}

/* Registers that no instruction names go to others, or to memory, and back, where most are held. */
static void spill(const tile_cost *c, const pressure *p, cost_use *u) {
    enum { NAMED = 256 };
    const int most = c->target->vector_registers < NAMED ? c->target->vector_registers : NAMED;
    double more = (double)p->registers - most;
    if (more > 0)
        instructions(c, u, 2 * more * trips_around(c->m, p->at));
}

double simt_tiles_cost(const ir_module *m, const schedule_target *target) {
    ir_op kernel = ir_module_kernel(m);
    tile_cost c = {m, target, (double)ir_op_int(m, kernel, "threads", SIMT_THREADS)};
    double cycles = 0, traffic = traffic_of(&c), loaders = tile_loaders(m);
    for (ir_op op = ir_block_get(m, ir_op_block(m, kernel, 0))->first; op;
         op = ir_op_get(m, op)->next) {
        if (ir_op_get(m, op)->opcode != TILE_PHASE)
            continue;
        cost_use u = use_of_block(&c, ir_op_block(m, op, 0));
        pressure most = simt_pressure_of(m, op);
        u.wait += SIMT_COST_FAR / 2;
        spill(&c, &most, &u);
        const simt_phase_needs needs = {
            .threads = c.threads + loaders,
            .registers = simt_registers_beside(c.threads, loaders,
                                               SIMT_COST_BASE_REGISTERS + (double)most.registers),
            .own_bytes = (double)ir_op_int(m, kernel, "scratch_bytes", 0),
            .workgroups = (double)ir_op_int(m, op, "grid", 0),
            .traffic = traffic,
            .groups = simt_groups_beside(c.threads, loaders)};
        cycles += simt_phase_cycles(target, &needs, &u);
    }
    return cycles;
}
