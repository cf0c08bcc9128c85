/* verify_lanes.c - the loops and folds of a sum: lanes64 (docs/numerics.md).
 *
 * A block of at most 4096 elements is added to 64 lanes, in registers (a loop in steps of 64, whose
 * lanes a fold halves; it may be around another one that takes its steps, or go on where one before
 * it ended) or, for columns side by side, in memory (loops over the lanes, then six
 * halvings). From the steps and bounds follows how long each block is; the lengths of all blocks,
 * in order, must be those of the sequence, then those of the sequence of block results. */
#include <inttypes.h>
#include <string.h>

#include "tile/lowering.h"
#include "tile/orders.h"

/* ---- blocks ---- */

/* Entry `index` of the blocks of a sum over `extent` elements: `times` blocks of `length`. */
static bool expected_blocks(int64_t extent, int64_t index, int64_t *length, int64_t *times) {
    for (int64_t n = extent;;) {
        int64_t full = n / ORDER_BLOCK, rest = n % ORDER_BLOCK;
        *length = n <= ORDER_BLOCK ? n : ORDER_BLOCK;
        *times = n <= ORDER_BLOCK ? 1 : full;
        if (index-- == 0)
            return true;
        if (n <= ORDER_BLOCK)
            return false;
        *length = rest;
        *times = 1;
        if (rest && index-- == 0)
            return true;
        n = full + (rest > 0);
    }
}

/* Counts the runs of the present block: loops over blocks are in steps of 1. */
static bool count_blocks(const orders *o, ir_op op, int64_t *times) {
    int64_t number = ir_op_int(o->m, op, "reduction", -1), low, high;
    *times = 1;
    for (size_t i = 0; i < o->loops.count; i++) {
        ir_op loop = o->loops.items[i];
        if (ir_op_int(o->m, loop, "reduction", -2) != number)
            continue;
        if (!orders_bounds(o, loop, &low, &high) || ir_op_int(o->m, loop, "step", 0) != 1)
            return orders_fail(o, op, "a block ends inside the loop over its elements");
        if (__builtin_mul_overflow(*times, high - low, times))
            return orders_fail(o, op, "has more blocks than there are numbers");
    }
    return true;
}

static bool note_block(orders *o, ir_op op, const reduction_record *r, int64_t length) {
    order_track *t = orders_track(o, op);
    int64_t wanted_length, wanted_times, times;
    if (!count_blocks(o, op, &times))
        return false;
    expected_blocks(r->extent, t->block, &wanted_length, &wanted_times);
    if (length != wanted_length || times != wanted_times)
        return orders_fail(o, op,
                           "order 'lanes64' has %" PRId64 " block(s) of %" PRId64
                           " elements here, not %" PRId64 " of %" PRId64,
                           wanted_times, wanted_length, times, length);
    t->block++;
    if (!expected_blocks(r->extent, t->block, &wanted_length, &wanted_times)) {
        t->block = 0;
        t->realised++;
    }
    return true;
}

/* ---- lanes in registers ---- */

static int64_t columns(const orders *o, ir_value v) {
    return ir_type_of(o->m, v)->dims[1];
}

/* Lanes begin with +0, those of products with 1. */
static bool is_start(const orders *o, ir_value v) {
    return orders_is_splat(o, v, reduction_start(o->kind, ir_type_of(o->m, v)->element));
}

/* The loop that carried the lanes before; 0: another operation, or none. */
static ir_op lanes_before(const orders *o, ir_op loop, uint32_t i) {
    ir_value from = ir_op_get(o->m, loop)->operands[2 + i];
    ir_op before = orders_defined_by(o, from, TILE_FOR);
    return before &&
                   ir_op_int(o->m, before, "reduction", -1) ==
                       ir_op_int(o->m, loop, "reduction", -1) &&
                   i < ir_op_get(o->m, before)->result_count &&
                   ir_op_get(o->m, before)->results[i] == from
               ? before
               : 0;
}

/* Do lanes begin with +0, or go on from where they were: in a loop around this one, or at its
 * beginning, which is then where the one before ended? */
static bool begins(const orders *o, ir_op loop, uint32_t i, int64_t low) {
    ir_value from = ir_op_get(o->m, loop)->operands[2 + i];
    ir_op around = orders_loop_around(o, loop), before = lanes_before(o, loop, i);
    int64_t start, end;
    if (before)
        return before == lanes_before(o, loop, 0) && orders_bounds(o, before, &start, &end) &&
               end == low;
    if (is_start(o, from))
        return low == 0;
    return around && low == 0 &&
           ir_block_get(o->m, ir_op_block(o->m, around, 0))->argument_count > 1 + i &&
           ir_block_get(o->m, ir_op_block(o->m, around, 0))->arguments[1 + i] == from;
}

static bool check_register_loop(const orders *o, ir_op loop) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int64_t lanes = 0, low, high, step = ir_op_int(o->m, loop, "step", 0);
    int steps;
    carried_kind wanted = strcmp(o->kind, "prod") == 0 ? CARRIED_MULTIPLIED : CARRIED_ADDED;
    if (!orders_bounds(o, loop, &low, &high) || (high - low) % step != 0)
        return orders_fail(o, loop, "does not run over whole steps of 64 from the block's start");
    for (uint32_t i = 0; i < d->result_count; i++) {
        if (orders_carried(o, loop, i, &steps) != wanted || step != ORDER_LANES * steps)
            return orders_fail(o, loop, "order 'lanes64' adds one element to each lane in 64");
        if (!begins(o, loop, i, low))
            return orders_fail(o, loop, "does not start with +0, nor where its lanes ended");
        lanes += columns(o, d->results[i]);
    }
    return lanes == ORDER_LANES ||
           orders_fail(o, loop, "order 'lanes64' has 64 lanes, not %" PRId64, lanes);
}

/* The columns from number `from` on that are added to all lanes, of a tile of them: `*of`, which
 * is 0 at first. */
static bool is_part_of(const orders *o, ir_value added, int64_t from, ir_value *of) {
    ir_op part = orders_defined_by(o, added, TILE_COLUMNS);
    ir_value x = part ? ir_op_get(o->m, part)->operands[0] : added;
    bool follows = part && ir_op_int(o->m, part, "first", -1) == from && (!*of || *of == x);
    *of = x;
    return follows;
}

/* Elements among so many columns: a ragged end is filled with -0. 0: with others. */
static int64_t filled(const orders *o, ir_value x, int64_t all) {
    ir_op pad = orders_defined_by(o, x, TILE_PAD);
    if (!pad)
        return all;
    const ir_attr_data *value = ir_attr_get(o->m, ir_op_attr(o->m, pad, "value"));
    int64_t elements = columns(o, ir_op_get(o->m, pad)->operands[0]);
    bool neutral = value->bits == reduction_neutral(o->kind, value->element);
    return neutral && elements <= all && elements > all - ORDER_LANES ? elements : 0;
}

/* Elements of a tile in registers that are added to all lanes, 64 after 64; `*v` becomes what was
 * before. 0: it is not so. */
static int64_t parts_of(const orders *o, ir_value *v) {
    ir_value sum = *v, of = 0;
    int64_t count = 0;
    ir_op add;
    for (; (add = orders_defined_by(o, sum, reduction_opcode(o->kind))); count++)
        sum = ir_op_get(o->m, add)->operands[0];
    sum = *v;
    for (int64_t i = count; count > 1 && i-- > 0;) {
        add = orders_defined_by(o, sum, reduction_opcode(o->kind));
        if (!is_part_of(o, ir_op_get(o->m, add)->operands[1], i * ORDER_LANES, &of))
            return 0;
        sum = ir_op_get(o->m, add)->operands[0];
    }
    if (count < 2)
        return 0;
    *v = sum;
    return filled(o, of, count * ORDER_LANES);
}

/* Elements that were added to a part of the lanes after the loop; `*v` becomes what was before. */
static int64_t tail_of(const orders *o, ir_value *v) {
    ir_op add = orders_defined_by(o, *v, reduction_opcode(o->kind));
    int64_t parts = parts_of(o, v);
    if (!add || parts)
        return parts;
    const ir_op_data *d = ir_op_get(o->m, add);
    ir_op pad = orders_defined_by(o, d->operands[1], TILE_PAD);
    *v = d->operands[0];
    return columns(o, pad ? ir_op_get(o->m, pad)->operands[0] : d->operands[1]);
}

static bool check_pad(const orders *o, ir_op fold, ir_value part) {
    ir_op add = orders_defined_by(o, part, reduction_opcode(o->kind));
    ir_op pad = add ? orders_defined_by(o, ir_op_get(o->m, add)->operands[1], TILE_PAD) : 0;
    if (!pad)
        return true;
    const ir_attr_data *value = ir_attr_get(o->m, ir_op_attr(o->m, pad, "value"));
    return value->bits == reduction_neutral(o->kind, value->element) ||
           orders_fail(o, fold, "a ragged end is padded with what changes no lane, as -0");
}

/* Elements in the lanes of a fold: those of its loop and those of the ragged end. */
static bool lanes_length(const orders *o, ir_op fold, int64_t *length) {
    const ir_op_data *d = ir_op_get(o->m, fold);
    int64_t tail = 0, lanes = 0, low, high;
    ir_op first = 0;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        ir_value v = d->operands[i];
        int64_t more = tail_of(o, &v);
        if (more && tail != lanes)
            return orders_fail(o, fold, "a ragged end has a gap");
        if (!check_pad(o, fold, d->operands[i]))
            return false;
        tail += more;
        lanes += columns(o, d->operands[i]);
        ir_op loop = orders_defined_by(o, v, TILE_FOR);
        first = i == 0 ? loop : first;
        bool sums = loop && ir_op_int(o->m, loop, "reduction", -1) ==
                                ir_op_int(o->m, fold, "reduction", -1);
        if (loop != first || (sums && ir_op_get(o->m, loop)->results[i] != v) ||
            (!sums && !is_start(o, v)))
            return orders_fail(o, fold, "its parts are not the lanes of one loop, in order");
    }
    if (lanes != ORDER_LANES)
        return orders_fail(o, fold, "order 'lanes64' has 64 lanes, not %" PRId64, lanes);
    *length = tail;
    for (; first; first = lanes_before(o, first, 0)) {
        if (!orders_bounds(o, first, &low, &high))
            return orders_fail(o, fold, "its loop has no constant bounds");
        *length += high - low;
    }
    return true;
}

bool orders_check_fold(orders *o, ir_op fold, const reduction_record *r) {
    const char *kind = ir_op_string(o->m, fold, "kind", "");
    bool sums = reduction_rounds(kind) && orders_is_float(o, ir_op_get(o->m, fold)->results[0]);
    int64_t length = 0;
    o->kind = r->kind;
    if (strcmp(kind, r->kind) != 0)
        return orders_fail(o, fold, "is of another kind than the graph's reduction");
    if (r->order != ORDER_LANES64) {
        orders_track(o, fold)->realised++;
        return !sums || orders_fail(o, fold, "a sum of floats has an order");
    }
    return lanes_length(o, fold, &length) && note_block(o, fold, r, length);
}

/* ---- lanes in memory ---- */

static bool loads_from(const orders *o, ir_value v, ir_value memory) {
    ir_op load = orders_defined_by(o, v, TILE_LOAD);
    return load && ir_op_get(o->m, load)->operands[0] == memory;
}

ir_op orders_memory_sum(const orders *o, int opcode, ir_op store, ir_value *added, int *steps) {
    const ir_op_data *d = ir_op_get(o->m, store);
    ir_op sum = orders_defined_by(o, d->operands[2], opcode);
    if (!orders_is_float(o, d->operands[2]))
        return 0;
    for (*steps = 1; sum; ++*steps) {
        const ir_value *of = ir_op_get(o->m, sum)->operands;
        for (uint32_t i = 0; i < 2; i++) {
            *added = of[1 - i];
            if (loads_from(o, of[i], d->operands[0]) &&
                ir_op_get(o->m, orders_defined_by(o, of[i], TILE_LOAD))->operands[1] ==
                    d->operands[1])
                return *steps > 1 && loads_from(o, *added, d->operands[0]) ? 0 : store;
        }
        if (loads_from(o, of[1], d->operands[0]))
            return 0;
        sum = orders_defined_by(o, of[0], opcode);
    }
    return 0;
}

/* The sum in memory that stands directly in a loop; 0: none. */
static ir_op sum_inside(const orders *o, ir_op loop, ir_value *added, int *steps) {
    const ir_block_data *b = ir_block_get(o->m, ir_op_block(o->m, loop, 0));
    for (ir_op op = b->first; op; op = ir_op_get(o->m, op)->next)
        if (ir_op_get(o->m, op)->opcode == TILE_STORE &&
            orders_memory_sum(o, reduction_opcode(o->kind), op, added, steps))
            return op;
    return 0;
}

/* offset = stride * index + constant, of the loop's own index. */
static bool lane_offset(const orders *o, ir_op loop, ir_value offset, int64_t *stride,
                        int64_t *constant) {
    ir_value index = ir_block_get(o->m, ir_op_block(o->m, loop, 0))->arguments[0];
    ir_op op = orders_defined_by(o, offset, TILE_AFFINE);
    *stride = 1;
    *constant = 0;
    if (!op)
        return offset == index;
    const ir_op_data *d = ir_op_get(o->m, op);
    *constant = ir_op_int(o->m, op, "constant", 0);
    return d->operand_count == 1 && d->operands[0] == index &&
           ir_op_ints(o->m, op, "coefficients", stride, 1) == 1;
}

/* One of the six halvings: lane l += lane l + half. */
static bool check_halving(orders *o, ir_op loop, const reduction_record *r, ir_op load,
                          int64_t stride, int64_t half) {
    order_track *t = orders_track(o, loop);
    int64_t other, constant, wanted = t->half ? t->half : ORDER_LANES / 2;
    if (half != wanted)
        return orders_fail(o, loop, "halves %" PRId64 " lanes where the order halves %" PRId64,
                           2 * half, 2 * wanted);
    if (!lane_offset(o, loop, ir_op_get(o->m, load)->operands[1], &other, &constant) ||
        other != stride || constant != half * stride)
        return orders_fail(o, loop, "does not add lane l + %" PRId64 " to lane l", half);
    t->half = half / 2;
    if (half > 1)
        return true;
    int64_t length = t->lanes;
    t->lanes = 0;
    return note_block(o, loop, r, length);
}

/* Elements are added to `count` lanes, `steps` to each: to all, in a loop in steps of so many times
 * 64, or one to each of a ragged end. */
static bool check_lane_sums(orders *o, ir_op loop, int64_t count, int steps) {
    order_track *t = orders_track(o, loop);
    ir_op around = orders_loop_around(o, loop);
    int64_t low, high;
    if (t->half)
        return orders_fail(o, loop, "adds elements after the first halving");
    if (!around || ir_op_int(o->m, around, "step", 0) == 1) {
        t->lanes += count;
        return (count < ORDER_LANES && t->lanes % ORDER_LANES == count && steps == 1) ||
               orders_fail(o, loop, "a ragged end has fewer than 64 elements and comes last");
    }
    if (count != ORDER_LANES || !orders_bounds(o, around, &low, &high))
        return orders_fail(o, loop, "order 'lanes64' has 64 lanes, not %" PRId64, count);
    if (low != t->lanes)
        return orders_fail(o, loop, "does not go on where the loop before it ended");
    if (ir_op_int(o->m, around, "step", 0) != ORDER_LANES * steps)
        return orders_fail(o, loop, "order 'lanes64' adds one element to each lane in 64");
    t->lanes += high - low;
    return true;
}

static bool check_memory_loop(orders *o, ir_op loop, const reduction_record *r, ir_op store,
                              ir_value added, int steps) {
    const ir_op_data *d = ir_op_get(o->m, store);
    int64_t low, high, stride, constant;
    ir_op load = orders_defined_by(o, added, TILE_LOAD);
    if (!orders_bounds(o, loop, &low, &high) || low != 0 || ir_op_int(o->m, loop, "step", 0) != 1)
        return orders_fail(o, loop, "does not run over the lanes from the first");
    if (!lane_offset(o, loop, d->operands[1], &stride, &constant) || constant != 0)
        return orders_fail(o, loop, "does not add to the lane of its index");
    if (loads_from(o, added, d->operands[0]))
        return check_halving(o, loop, r, load, stride, high);
    return check_lane_sums(o, loop, high, steps);
}

bool orders_check_lanes_loop(orders *o, ir_op loop, const reduction_record *r) {
    int64_t low, high, step = ir_op_int(o->m, loop, "step", 0);
    int steps;
    ir_value added;
    o->kind = r->kind;
    if (ir_op_get(o->m, loop)->result_count)
        return check_register_loop(o, loop);
    ir_op store = sum_inside(o, loop, &added, &steps);
    if (store)
        return check_memory_loop(o, loop, r, store, added, steps);
    if (!orders_bounds(o, loop, &low, &high) || (low != 0 && step == 1))
        return orders_fail(o, loop, "has no constant bounds from 0");
    bool whole = step > 1 && step % ORDER_LANES == 0 && (high - low) % step == 0;
    return step == 1 || (whole && high <= ORDER_BLOCK) ||
           orders_fail(o, loop, "order 'lanes64' walks in steps of 64, not %" PRId64, step);
}
