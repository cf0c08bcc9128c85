/* verify_orders.c - every accumulation in Tile IR is one of the graph's, in the order that it has
 * there. */
#include "base/vec.h"
#include "tile/mma.h"
#include "tile/orders.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool orders_fail(const orders *o, ir_op op, const char *format, ...) {
    char message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    int64_t number = ir_op_int(o->m, op, "reduction", -1);
    char of[40] = "";
    if (number >= 0)
        snprintf(of, sizeof of, " of reduction %" PRId64, number);
    return status_set(o->st, STATUS_INTERNAL, "'%s'%s: %s",
                      op_info_get(ir_op_get(o->m, op)->opcode)->name, of, message);
}

ir_op orders_loop_around(const orders *o, ir_op op) {
    int64_t number = ir_op_int(o->m, op, "reduction", -1);
    for (size_t i = o->loops.count; i-- > 0;)
        if (ir_op_int(o->m, o->loops.items[i], "reduction", -2) == number)
            return o->loops.items[i];
    return 0;
}

ir_op orders_defined_by(const orders *o, ir_value v, int opcode) {
    ir_op op = ir_value_get(o->m, v)->op;
    return op && ir_op_get(o->m, op)->opcode == opcode ? op : 0;
}

bool orders_constant(const orders *o, ir_value index, int64_t *value) {
    ir_op op = orders_defined_by(o, index, TILE_INDEX);
    if (op)
        *value = ir_op_int(o->m, op, "value", 0);
    return op != 0;
}

bool orders_is_splat(const orders *o, ir_value v, uint64_t bits) {
    ir_op broadcast = orders_defined_by(o, v, TILE_BROADCAST);
    ir_op op = orders_defined_by(o, broadcast ? ir_op_get(o->m, broadcast)->operands[0] : v,
                                 TILE_CONSTANT);
    return op && ir_attr_get(o->m, ir_op_attr(o->m, op, "value"))->bits == bits;
}

bool orders_is_zero(const orders *o, ir_value v) {
    return orders_is_splat(o, v, 0);
}

bool orders_is_float(const orders *o, ir_value v) {
    return dtype_is_float(ir_type_of(o->m, v)->element);
}

bool orders_bounds(const orders *o, ir_op loop, int64_t *low, int64_t *high) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    return orders_constant(o, d->operands[0], low) && orders_constant(o, d->operands[1], high);
}

/* ---- carried values ---- */

/* The state of a value: kind in the low bits, steps above. */
enum { KIND_BITS = 4, KIND_MASK = (1 << KIND_BITS) - 1, MOST_STEPS = (1 << (16 - KIND_BITS)) - 1 };

static uint16_t state_of(carried_kind kind, int steps) {
    return (uint16_t)((int)kind | (steps > MOST_STEPS ? MOST_STEPS : steps) << KIND_BITS);
}

static uint16_t after_sum(const uint16_t *s, const ir_op_data *d, carried_kind kind) {
    bool products = kind == CARRIED_FMA || kind == CARRIED_PAIRS || kind == CARRIED_MMA;
    uint32_t at = products ? 2 : s[d->operands[0]] ? 0 : 1;
    carried_kind before = (carried_kind)(s[d->operands[at]] & KIND_MASK);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (i != at && s[d->operands[i]])
            return state_of(CARRIED_OTHER, 0);
    if (before != CARRIED_SAME && before != kind)
        return state_of(CARRIED_OTHER, 0);
    return state_of(kind, (s[d->operands[at]] >> KIND_BITS) + 1);
}

/* Some steps at once: of integers, whose order cannot be seen, and pairs of bf16, which have one.
 */
static uint16_t after_group(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    dtype of = ir_type_get(o->m, ir_attr_get(o->m, ir_op_attr(o->m, op, "of"))->type)->element;
    int steps = 4 / (int)dtype_size(of);
    carried_kind kind = dtype_is_float(of) ? CARRIED_PAIRS : CARRIED_FMA;
    uint16_t s = after_sum(o->state, d, kind);
    return (carried_kind)(s & KIND_MASK) == kind ? state_of(kind, (s >> KIND_BITS) + steps - 1) : s;
}

/* Another part of the left factor, by the same elements of the right one as just before: those of
 * a tile, or of a place in memory, whose steps are then as many. */
static bool is_again(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    ir_op before = orders_defined_by(o, d->operands[2], d->opcode);
    const ir_op_data *b = before ? ir_op_get(o->m, before) : NULL;
    bool stage = d->opcode == TILE_MMA_STAGE;
    return ir_op_attr(o->m, op, "again") && before && b->operands[1] == d->operands[1] &&
           (!stage || (b->operands[0] == d->operands[0] &&
                       ir_op_int(o->m, before, "steps", 0) == ir_op_int(o->m, op, "steps", 0)));
}

/* As many products as the left factor has columns, or a stage steps. */
static uint16_t after_mma(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    bool free = true;
    for (uint32_t i = 0; i < d->operand_count; i++)
        free &= i == 2 || !o->state[d->operands[i]];
    if (is_again(o, op) && free)
        return o->state[d->operands[2]];
    const ir_type_data *a = ir_type_of(o->m, d->operands[0]);
    bool stage = d->opcode == TILE_MMA_STAGE;
    const mma_unit *unit = mma_unit_of(o->m, op);
    carried_kind kind = unit && mma_unit_is_chain(unit) ? CARRIED_FMA : CARRIED_MMA;
    uint16_t s = after_sum(o->state, d, kind);
    bool added = (carried_kind)(s & KIND_MASK) == kind;
    int steps = (int)(stage ? ir_op_int(o->m, op, "steps", 0) : a->dims[1]);
    return added ? state_of(kind, (s >> KIND_BITS) + steps - 1) : s;
}

/* A masked step: where the mask does not hold, the value of before. */
static uint16_t after_select(const uint16_t *s, const ir_op_data *d) {
    uint16_t then = s[d->operands[1]], otherwise = s[d->operands[2]];
    bool masks = !s[d->operands[0]] && then && otherwise &&
                 (then >> KIND_BITS) == (otherwise >> KIND_BITS) + 1 &&
                 (then & KIND_MASK) != CARRIED_OTHER && (otherwise & KIND_MASK) != CARRIED_OTHER;
    return masks ? then : state_of(CARRIED_OTHER, 0);
}

/* The sums of each row go on from those before, by as many steps as there are columns. */
static uint16_t after_scan(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    const ir_type_data *x = ir_type_of(o->m, d->operands[0]);
    uint16_t before = o->state[d->operands[1]];
    bool chain = !o->state[d->operands[0]] && (before & KIND_MASK) == CARRIED_SAME;
    bool products = strcmp(ir_op_string(o->m, op, "kind", "sum"), "prod") == 0;
    carried_kind kind = products ? CARRIED_MULTIPLIED : CARRIED_ADDED;
    return state_of(chain ? kind : CARRIED_OTHER, chain ? (int)x->dims[1] : 0);
}

static void follow_block(const orders *o, ir_block block);

/* Outcome of a value that a loop carries on, of which one trip makes `after`. */
static uint16_t after_trips(const orders *o, ir_op loop, uint16_t before, uint16_t after) {
    int64_t low, high, step = ir_op_int(o->m, loop, "step", 1);
    carried_kind kind = (carried_kind)(after & KIND_MASK);
    bool begins = (carried_kind)(before & KIND_MASK) == CARRIED_SAME;
    if (before == after)
        return before;
    if (before && kind == CARRIED_FREE)
        return after;
    bool counts = kind == CARRIED_ADDED || kind == CARRIED_MULTIPLIED;
    if (!begins || !counts || !orders_bounds(o, loop, &low, &high) || high <= low)
        return state_of(CARRIED_OTHER, 0);
    int64_t trips = (high - low + step - 1) / step;
    return state_of(kind, trips < MOST_STEPS ? (int)trips * (after >> KIND_BITS) : MOST_STEPS);
}

static void follow_loop(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    const ir_block_data *b = ir_block_get(o->m, ir_op_block(o->m, op, 0));
    for (uint32_t i = 0; i < d->result_count; i++)
        o->state[b->arguments[1 + i]] = o->state[d->operands[2 + i]];
    follow_block(o, ir_op_block(o->m, op, 0));
    const ir_op_data *yield = ir_op_get(o->m, b->last);
    for (uint32_t i = 0; i < d->result_count; i++) {
        o->state[d->results[i]] =
            after_trips(o, op, o->state[d->operands[2 + i]], o->state[yield->operands[i]]);
        o->state[b->arguments[1 + i]] = 0;
    }
}

static void follow_op(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    if (d->opcode == TILE_FOR) {
        follow_loop(o, op);
        return;
    }
    uint16_t *s = o->state, result = 0;
    bool depends = false;
    for (uint32_t i = 0; i < d->operand_count; i++)
        depends |= s[d->operands[i]] != 0;
    for (uint32_t r = 0; r < d->region_count; r++)
        follow_block(o, ir_op_block(o->m, op, r));
    if (depends && d->opcode == TILE_ADD)
        result = after_sum(s, d, CARRIED_ADDED);
    else if (depends && d->opcode == TILE_MUL)
        result = after_sum(s, d, CARRIED_MULTIPLIED);
    else if (depends && d->opcode == TILE_FMA)
        result = after_sum(s, d, CARRIED_FMA);
    else if (depends && d->opcode == TILE_GROUP_DOT)
        result = after_group(o, op);
    else if (depends && (d->opcode == TILE_MMA || d->opcode == TILE_MMA_STAGE))
        result = after_mma(o, op);
    else if (depends && d->opcode == TILE_SCAN)
        result = after_scan(o, op);
    else if (depends && d->opcode == TILE_SELECT)
        result = after_select(s, d);
    else if (depends && (d->opcode == TILE_MAXIMUM || d->opcode == TILE_MINIMUM))
        result = state_of(CARRIED_FREE, 0);
    else if (depends)
        result = state_of(CARRIED_OTHER, 0);
    for (uint32_t i = 0; i < d->result_count; i++)
        s[d->results[i]] = result;
}

static void follow_block(const orders *o, ir_block block) {
    for (ir_op op = ir_block_get(o->m, block)->first; op; op = ir_op_get(o->m, op)->next)
        follow_op(o, op);
}

/* Beyond strict pairs may stand for two fma each. An odd end is a pair of its own, the other half
 * of which is 0, in a loop of single steps. */
bool orders_adds_products(const orders *o, const reduction_record *r, ir_op loop, carried_kind kind,
                          int steps) {
    int64_t step = ir_op_int(o->m, loop, "step", 0);
    if (r->order == ORDER_PAIRS512)
        return kind == CARRIED_PAIRS && (steps == step || (step == 1 && steps == 2));
    return (kind == CARRIED_FMA || (kind == CARRIED_PAIRS && !tile_is_strict(o->m))) &&
           steps == step;
}

carried_kind orders_carried(const orders *o, ir_op loop, uint32_t i, int *steps) {
    ir_block block = ir_op_block(o->m, loop, 0);
    const ir_block_data *b = ir_block_get(o->m, block);
    ir_value carried = b->arguments[1 + i];
    o->state[carried] = state_of(CARRIED_SAME, 0);
    follow_block(o, block);
    uint16_t found = o->state[ir_op_get(o->m, b->last)->operands[i]];
    o->state[carried] = 0;
    *steps = found >> KIND_BITS;
    return (carried_kind)(found & KIND_MASK);
}

/* ---- what names no order ---- */

static bool check_unmarked_loop(const orders *o, ir_op loop) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int steps;
    for (uint32_t i = 0; i < d->result_count; i++) {
        carried_kind kind = orders_carried(o, loop, i, &steps);
        if (orders_is_float(o, d->results[i]) && kind > CARRIED_SAME && kind != CARRIED_FREE)
            return orders_fail(o, loop, "accumulates floats and names no order");
    }
    return true;
}

bool orders_depends_on(const orders *o, ir_value index, ir_value on) {
    bool *seen = base_calloc(ir_value_count(o->m) + 1, sizeof *seen), found = false;
    VEC(ir_value) waiting = {0};
    vec_push(&waiting, index);
    while (waiting.count && !found) {
        ir_value v = vec_pop(&waiting);
        ir_op op = ir_value_get(o->m, v)->op;
        bool is_index = ir_type_of(o->m, v)->kind == IR_TYPE_INDEX;
        found = v == on;
        for (uint32_t i = 0; op && is_index && !seen[v] && i < ir_op_get(o->m, op)->operand_count;
             i++)
            vec_push(&waiting, ir_op_get(o->m, op)->operands[i]);
        seen[v] = true;
    }
    vec_release(&waiting);
    free(seen);
    return found;
}

/* A sum in memory, at a place that a loop around it comes back to. */
static bool check_store(const orders *o, ir_op op) {
    ir_value added, offset = ir_op_get(o->m, op)->operands[1];
    bool returns = false;
    int steps;
    if (!orders_memory_sum(o, TILE_ADD, op, &added, &steps))
        return true;
    ir_op source = orders_defined_by(o, added, TILE_FOR);
    if (source && ir_op_attr(o->m, source, "reduction"))
        return true;
    for (size_t i = 0; i < o->loops.count; i++) {
        ir_op loop = o->loops.items[i];
        if (ir_op_attr(o->m, loop, "reduction"))
            return true;
        ir_value index = ir_block_get(o->m, ir_op_block(o->m, loop, 0))->arguments[0];
        returns |= !orders_depends_on(o, offset, index);
    }
    return !returns ||
           orders_fail(o, op, "accumulates floats in memory, and no loop names an order");
}

/* ---- the walk ---- */

static const reduction_record *record_of(const orders *o, ir_op op) {
    status why = STATUS_INIT;
    const reduction_record *r = reduction_named(o->m, op, &o->list, &why);
    if (!r)
        status_set(o->st, STATUS_INTERNAL, "'%s': %s",
                   op_info_get(ir_op_get(o->m, op)->opcode)->name, why.message);
    return r;
}

/* Each turn of a fold, from the first to the last, one after the other. Where each instance has a
 * beginning or an end of its own, that is no number: nothing here says which it should be. */
static bool check_turns(orders *o, ir_op loop, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int64_t low = -1, high = -1;
    bool begins = orders_constant(o, d->operands[0], &low),
         ends = orders_constant(o, d->operands[1], &high);
    orders_track(o, loop)->realised++;
    return ((!begins || !ends || high - low == r->extent) &&
            ir_op_int(o->m, loop, "step", 0) == 1) ||
           orders_fail(o, loop, "does not take each turn");
}

static bool check_marked_loop(orders *o, ir_op loop) {
    const reduction_record *r = record_of(o, loop);
    if (!r)
        return false;
    if (strcmp(r->kind, "fold") == 0)
        return check_turns(o, loop, r);
    if (order_is_exact(r->order))
        return orders_check_exact(o, loop, r);
    if (reduction_scans(r->kind))
        return orders_check_scan_loop(o, loop, r);
    if (strcmp(r->kind, "dot") == 0 && orders_is_window_loop(o, loop))
        return orders_check_window_loop(o, loop, r);
    if (o->symbolic)
        return orders_check_symbolic_loop(o, loop, r);
    if (strcmp(r->kind, "dot") == 0)
        return orders_check_dot_loop(o, loop, r);
    if (r->order == ORDER_LANES64)
        return orders_check_lanes_loop(o, loop, r);
    orders_track(o, loop)->realised++;
    return check_unmarked_loop(o, loop);
}

static bool check_loop(orders *o, ir_op loop) {
    bool marked = ir_op_attr(o->m, loop, "order") || ir_op_attr(o->m, loop, "reduction");
    return marked ? check_marked_loop(o, loop) : check_unmarked_loop(o, loop);
}

static bool check_op(orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    const reduction_record *r;
    if (!o->symbolic && !orders_check_chunk_use(o, op))
        return false;
    if (d->opcode == TILE_FOR)
        return check_loop(o, op);
    if (d->opcode == TILE_FOLD)
        return (r = record_of(o, op)) && (order_is_exact(r->order) ? orders_check_exact
                                          : o->symbolic            ? orders_check_symbolic_fold
                                                                   : orders_check_fold)(o, op, r);
    if (d->opcode == TILE_SCAN)
        return (r = record_of(o, op)) && orders_check_scan(o, op, r);
    if (d->opcode == TILE_STORE)
        return check_store(o, op);
    return true;
}

/* Each operation with the loops around it. */
static bool check_all(orders *o) {
    ir_walk w = ir_walk_op(o->m, ir_module_kernel(o->m));
    bool ok = true;
    while (ok && ir_walk_step(&w)) {
        bool loop = ir_op_get(o->m, w.op)->opcode == TILE_FOR;
        o->loops.count -= loop && w.leaving;
        ok = w.leaving || check_op(o, w.op);
        if (loop && !w.leaving)
            vec_push(&o->loops, w.op);
    }
    return ok;
}

static bool check_complete(const orders *o, size_t at) {
    const reduction_record *r = &o->list.items.items[at];
    const order_track *t = &o->tracks[at];
    /* Kinds and orders that have no step where there is no element. */
    bool none = strcmp(r->kind, "dot") == 0 || reduction_scans(r->kind) || order_is_exact(r->order);
    bool nothing = r->results == 0 || (none && r->extent == 0);
    bool ends = (t->realised > 0 || nothing) && t->block == 0 && t->lanes == 0 && t->half == 0 &&
                (t->end == 0 || t->end == r->extent);
    return ends || status_set(o->st, STATUS_INTERNAL,
                              "reduction %" PRId64 " of the graph (%s over %" PRId64
                              " elements, order '%s') is not accumulated to its end",
                              r->id, r->kind, r->extent, order_info_of(r->order)->name);
}

bool tile_verify_orders(const ir_module *m, status *st) {
    orders o = {.m = m, .st = st};
    o.symbolic = ir_op_attr(m, ir_module_kernel(m), "dims") != 0;
    reductions_of(m, &o.list);
    o.tracks = base_calloc(o.list.items.count + 1, sizeof *o.tracks);
    o.state = base_calloc(ir_value_count(m) + 1, sizeof *o.state);
    bool ok = reductions_sound(&o.list, st) && check_all(&o);
    if (ok && o.open)
        ok = orders_fail(&o, o.open, "ends inside its chunk");
    for (size_t i = 0; i < o.list.items.count && ok; i++)
        ok = (o.symbolic ? orders_check_symbolic_end : check_complete)(&o, i);
    vec_release(&o.loops);
    free(o.state);
    free(o.tracks);
    reductions_release(&o.list);
    return ok;
}
