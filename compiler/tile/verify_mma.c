/* verify_mma.c - products of matrix units and copies to a workgroup's memory: each by itself, and
 * the loops of a dot that are made of such products.
 *
 * An instruction adds some products in an order that is its unit's. So it may stand where the
 * graph's order is that unit's name, or outside of strict in place of any other. The loops go
 * through all elements, one after the other; the last one may have more products than elements,
 * those of zeros, to the end of an instruction. */
#include <inttypes.h>
#include <string.h>

#include "tile/mma.h"
#include "tile/orders.h"
#include "tile/swizzle.h"
#include "tile/verify_parts.h"

/* Its layouts, once there are any: those of one cut into subgroups. */
static bool verify_fragments(const ir_module *m, const ir_op_data *d, const mma_unit *unit,
                             status *st) {
    static const ir_fragment fragments[] = {IR_FRAGMENT_A, IR_FRAGMENT_B, IR_FRAGMENT_C};
    const ir_layout *sums = &ir_type_of(m, d->results[0])->layout;
    mma_grid grid = {sums->row_groups, sums->column_groups};
    if (!sums->row_threads && !sums->vector)
        return true;
    for (int i = 0; i < 3; i++) {
        ir_layout expected = mma_layout(unit, fragments[i], grid);
        if (memcmp(&expected, &ir_type_of(m, d->operands[i])->layout, sizeof expected) != 0)
            return ir_broken(st, "an operand is not laid out as the unit's instruction has it");
    }
    const ir_type_data *t = ir_type_of(m, d->results[0]);
    return (grid.rows && t->dims[0] % ((int64_t)grid.rows * unit->m) == 0 &&
            t->dims[1] % ((int64_t)grid.columns * unit->n) == 0) ||
           ir_broken(st, "its subgroups' pieces are not whole instructions");
}

bool verify_mma(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const mma_unit *unit = mma_unit_of(m, op);
    const ir_type_data *a = ir_type_of(m, d->operands[0]), *b = ir_type_of(m, d->operands[1]),
                       *c = ir_type_of(m, d->operands[2]), *to = ir_type_of(m, d->results[0]);
    if (!unit)
        return ir_broken(st, "there is no such unit");
    if (a->element != unit->factor || b->element != unit->factor || c->element != unit->sum ||
        to->element != unit->sum)
        return ir_broken(st, "its values are not of the unit's types");
    bool shaped = a->dims[1] == b->dims[0] && a->dims[0] == c->dims[0] &&
                  b->dims[1] == c->dims[1] && to->dims[0] == c->dims[0] &&
                  to->dims[1] == c->dims[1];
    bool whole =
        a->dims[0] % unit->m == 0 && a->dims[1] % unit->k == 0 && b->dims[1] % unit->n == 0;
    if (!shaped || !whole)
        return ir_broken(st, "multiplies RxK by KxC, all of them multiples of the instruction's");
    return verify_fragments(m, d, unit, st);
}

/* A side's rows: of a pattern's length, which its lines, where the unit turns them, or its steps
 * fill. */
static bool is_side(const mma_unit *unit, int64_t bytes, bool turned, int64_t lines,
                    int64_t steps) {
    int64_t row = bytes / (int64_t)dtype_size(unit->factor);
    return bytes && swizzle_of_unit(bytes) && (turned ? lines : steps) % row == 0 &&
           (!turned || mma_reads_lines(unit));
}

/* The left side: in memory, or a tile in registers, which has a row for each line. */
static bool is_left(const ir_module *m, ir_op op, const mma_unit *unit, int64_t lines,
                    int64_t steps) {
    const ir_type_data *a = ir_type_of(m, ir_op_get(m, op)->operands[3]);
    bool turned = ir_op_attr(m, op, "left_turned") != 0;
    if (a->kind == IR_TYPE_TILE)
        return a->dims[0] == lines && a->dims[1] == steps && !turned && !ir_op_attr(m, op, "left");
    return is_side(unit, ir_op_int(m, op, "left", 0), turned, lines, steps);
}

/* Several groups of subgroups have rows each, of one instruction or of several. */
static bool is_laid_out(const ir_module *m, ir_op op, const mma_unit *unit) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *to = ir_type_of(m, d->results[0]), *a = ir_type_of(m, d->operands[3]);
    const ir_layout *sums = &to->layout;
    mma_grid grid = {1, 1};
    if (!sums->row_threads && !sums->vector)
        return true;
    grid.rows = sums->row_groups / mma_layout(unit, IR_FRAGMENT_C, grid).row_groups;
    if (grid.rows < 1 || to->dims[0] % ((int64_t)grid.rows * unit->m) != 0)
        return false;
    ir_layout c = mma_layout(unit, IR_FRAGMENT_C, grid),
              left = mma_layout(unit, IR_FRAGMENT_A, grid);
    return memcmp(&c, sums, sizeof c) == 0 &&
           (a->kind != IR_TYPE_TILE || memcmp(&left, &a->layout, sizeof left) == 0);
}

/* Reads what it multiplies from memory. */
bool verify_mma_stage(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const mma_unit *unit = mma_unit_of(m, op);
    const ir_type_data *y = ir_type_of(m, d->operands[0]), *c = ir_type_of(m, d->operands[2]),
                       *x = ir_type_of(m, d->operands[3]), *to = ir_type_of(m, d->results[0]);
    int64_t steps = ir_op_int(m, op, "steps", 0), rows = c->dims[0], columns = c->dims[1];
    if (!unit)
        return ir_broken(st, "there is no such unit that reads memory");
    if (x->element != unit->factor || y->element != unit->factor || c->element != unit->sum ||
        to->element != unit->sum)
        return ir_broken(st, "its values are not of the unit's types");
    if (rows != to->dims[0] || columns != to->dims[1] || rows % unit->m != 0 ||
        columns % unit->n != 0 || steps <= 0 || steps % unit->k != 0)
        return ir_broken(st, "its sums and steps are no multiples of the instruction's");
    int64_t side = ir_op_int(m, op, "right_steps", steps);
    if (side < steps || (side > steps && !ir_op_attr(m, op, "right_turned")))
        return ir_broken(st, "the right side has fewer steps than the stage, or is not turned");
    if (!is_left(m, op, unit, rows, steps) ||
        !is_side(unit, ir_op_int(m, op, "right", 0), ir_op_attr(m, op, "right_turned") != 0,
                 columns, steps))
        return ir_broken(st, "a side is not whole rows of 32, 64 or 128 bytes, as the unit reads");
    return is_laid_out(m, op, unit) ||
           ir_broken(st, "its sums are not laid out as the unit's instruction has them");
}

bool verify_mma_wait(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    int64_t left = ir_op_int(m, op, "left", -1);
    bool alike = d->operand_count == d->result_count;
    for (uint32_t i = 0; alike && i < d->operand_count; i++)
        alike = ir_value_get(m, d->operands[i])->type == ir_value_get(m, d->results[i])->type;
    return (alike && left >= 0 && left <= 16 && (left == 0 || d->operand_count == 0)) ||
           ir_broken(st, "waits for none but all of the products of the sums that it gives");
}

/* Checks rows where 16 bytes change places: they are the pattern's, which begins with one. */
static bool verify_swizzle(const ir_module *m, ir_op op, int64_t size, status *st) {
    int64_t row = ir_op_int(m, op, "swizzle", 0), at = ir_op_int(m, op, "at", 0);
    if (!row && !at)
        return true;
    int64_t stride = ir_op_int(m, op, "to_stride", 0), length = stride * size;
    bool whole = row && swizzle_of_row(length) == row &&
                 at % stride + ir_op_int(m, op, "columns", 0) <= stride;
    return (whole && at % ir_op_int(m, op, "piece", 1) == 0) ||
           ir_broken(st, "what is swizzled is not in rows of its pattern");
}

bool verify_copy(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const int64_t most = INT64_C(1) << 20;
    int64_t rows = ir_op_int(m, op, "rows", 0), columns = ir_op_int(m, op, "columns", 0),
            piece = ir_op_int(m, op, "piece", 0);
    dtype element = ir_type_of(m, d->operands[0])->element;
    if (element != ir_type_of(m, d->operands[2])->element)
        return ir_broken(st, "the memories hold elements of different types");
    int64_t bytes = piece * (int64_t)dtype_size(element);
    if (rows < 1 || columns < 1 || rows > most || columns > most)
        return ir_broken(st, "the number of rows or of columns is out of range");
    if (!verify_swizzle(m, op, (int64_t)dtype_size(element), st))
        return false;
    return ((bytes == 4 || bytes == 8 || bytes == 16) && columns % piece == 0 &&
            ir_op_int(m, op, "to_stride", 0) % piece == 0 &&
            (piece == 1 || !ir_op_attr(m, op, "to_step")) &&
            (rows == 1 || ir_op_int(m, op, "from_stride", 0) % piece == 0)) ||
           ir_broken(st, "copies 4, 8 or 16 bytes at once, to which rows and strides are aligned");
}

bool verify_copy_wait(const ir_module *m, ir_op op, status *st) {
    int64_t left = ir_op_int(m, op, "left", -1);
    return (left >= 0 && left <= 16) || ir_broken(st, "the number of groups is out of range");
}

/* ---- loops ---- */

static const mma_unit *unit_in(const orders *o, ir_op loop) {
    ir_block block = ir_op_block(o->m, loop, 0);
    const mma_unit *found = NULL;
    for (ir_op op = ir_block_get(o->m, block)->first; op && !found; op = ir_op_get(o->m, op)->next)
        found = mma_unit_of(o->m, op);
    return found;
}

/* A unit that adds as threads do is checked as they are. */
bool orders_is_mma_loop(const orders *o, ir_op loop) {
    const mma_unit *unit = unit_in(o, loop);
    const reduction_record *r = reduction_find(&o->list, ir_op_int(o->m, loop, "reduction", -1));
    return unit && !(mma_unit_is_chain(unit) && r && r->order != ORDER_UNIT);
}

static bool may_stand(const orders *o, ir_op loop, const reduction_record *r) {
    ir_block block = ir_op_block(o->m, loop, 0);
    bool free = r->order != ORDER_UNIT && !tile_is_strict(o->m);
    for (ir_op op = ir_block_get(o->m, block)->first; op; op = ir_op_get(o->m, op)->next)
        if (mma_unit_of(o->m, op) && !free &&
            strcmp(ir_op_string(o->m, op, "unit", ""), r->name) != 0)
            return orders_fail(o, loop, "adds as '%s', and the order is '%s'",
                               ir_op_string(o->m, op, "unit", ""), r->name);
    return true;
}

/* Checks that trips of `steps` products are trips of `step` elements: the only one of the last loop
 * may have more, to the end of an instruction. */
static bool fits_trips(const mma_unit *unit, int64_t low, int64_t high, int64_t step, int steps,
                       int64_t extent) {
    if ((high - low) % step != 0)
        return false;
    bool last = high == extent && high - low == step;
    return steps == step || (last && steps == (step + unit->k - 1) / unit->k * unit->k);
}

bool orders_check_mma_loop(orders *o, ir_op loop, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int64_t low, high, step = ir_op_int(o->m, loop, "step", 1);
    ir_op before;
    int steps = 0;
    if (!may_stand(o, loop, r) || !orders_find_before(o, loop, &before))
        return false;
    if (!orders_bounds(o, loop, &low, &high) || (!before && low != 0))
        return orders_fail(o, loop, "does not go on where the loop before it ended");
    const carried_kind kind = mma_unit_is_chain(unit_in(o, loop)) ? CARRIED_FMA : CARRIED_MMA;
    for (uint32_t i = 0; i < d->result_count; i++)
        if (orders_carried(o, loop, i, &steps) != kind ||
            !fits_trips(unit_in(o, loop), low, high, step, steps, r->extent))
            return orders_fail(o, loop, "is not a matrix unit's products of each element");
    if (low % unit_in(o, loop)->k != 0)
        return orders_fail(o, loop, "begins inside of an instruction");
    return orders_note_elements(o, loop, r, low, high);
}
