/* access.c - see access.h. Offsets are compared as linear forms: indices that both have, with the
 * same value, fall out of the difference; of the others the range is known, or not. */
#include "tile/simt/access.h"

#include <string.h>

#include "ops/donated.h"
#include "tile/simt/index_range.h"

/* ---- linear forms ---- */

static void add_term(linear *l, ir_value index, int64_t coefficient) {
    for (int i = 0; i < l->count; i++)
        if (l->index[i] == index) {
            l->coefficient[i] += coefficient;
            return;
        }
    if (l->count < 0 || l->count == ACCESS_TERMS) {
        l->count = -1;
        return;
    }
    l->index[l->count] = index;
    l->coefficient[l->count++] = coefficient;
}

static void add_index(const ir_module *m, linear *l, ir_value index, int64_t factor, int depth) {
    enum { DEEPEST = 24 };
    ir_op op = ir_value_get(m, index)->op;
    int opcode = op ? ir_op_get(m, op)->opcode : 0;
    int64_t factors[32];
    if (opcode == TILE_INDEX) {
        l->constant += factor * ir_op_int(m, op, "value", 0);
        return;
    }
    if (opcode != TILE_AFFINE || depth > DEEPEST) {
        add_term(l, index, factor);
        return;
    }
    ir_op_ints(m, op, "coefficients", factors, 32);
    l->constant += factor * ir_op_int(m, op, "constant", 0);
    for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++)
        add_index(m, l, ir_op_get(m, op)->operands[i], factor * factors[i], depth + 1);
}

/* ---- accesses ---- */

/* A donated input may be its output. */
static ir_value argument_memory(const ir_module *m, ir_value argument) {
    ir_op kernel = ir_module_kernel(m);
    int64_t output = donated_output(m, kernel, ir_value_get(m, argument)->index);
    return output < 0 ? argument : ir_kernel_body(m)->arguments[donated_inputs(m, kernel) + output];
}

static void name_memory(const ir_module *m, ir_value memory, access *out) {
    ir_op op = ir_value_get(m, memory)->op;
    out->opcode = op ? ir_op_get(m, op)->opcode : 0;
    out->memory = op ? ir_op_int(m, op, "offset", 0) : (int64_t)argument_memory(m, memory);
    out->element = ir_type_of(m, memory)->element;
}

/* The write of a copy; what it reads stays as it is. Which thread writes which element is not told.
 * Where places are swizzled, it is all of the rows. */
static void copy_access(const ir_module *m, ir_op op, access *out) {
    const ir_op_data *d = ir_op_get(m, op);
    int64_t stride = ir_op_int(m, op, "to_stride", 0), at = ir_op_int(m, op, "at", 0);
    bool whole = ir_op_int(m, op, "swizzle", 0) != 0;
    *out = (access){.op = op,
                    .writes = true,
                    .known = true,
                    .row_stride = stride,
                    .column_stride = ir_op_int(m, op, "to_step", 1),
                    .rows = ir_op_int(m, op, "rows", 0),
                    .columns = whole ? stride : ir_op_int(m, op, "columns", 0)};
    name_memory(m, d->operands[0], out);
    add_index(m, &out->offset, d->operands[1], 1, 0);
    out->offset.constant += whole ? at - at % stride : 0;
}

/* A side of a stage. What it reads until the products are waited for, it reads here: that a wait is
 * between it and what writes there next, behind the barrier, is for whoever makes the loop. */
static void stage_access(const ir_module *m, ir_op op, bool left, access *out) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *t = ir_type_of(m, d->results[0]);
    int64_t lines = t->dims[left ? 0 : 1], steps = ir_op_int(m, op, "steps", 0),
            all = left ? steps : ir_op_int(m, op, "right_steps", steps),
            panel = all > steps ? ir_op_int(m, op, "right", 0) /
                                      (int64_t)dtype_size(ir_type_of(m, d->operands[0])->element)
                                : lines;
    *out = (access){.op = op,
                    .known = true,
                    .row_stride = panel * all,
                    .column_stride = 1,
                    .rows = lines / panel,
                    .columns = panel * steps};
    name_memory(m, d->operands[left ? 3 : 0], out);
    add_index(m, &out->offset, d->operands[left ? 4 : 1], 1, 0);
}

bool access_of_left(const ir_module *m, ir_op op, access *out) {
    const ir_op_data *d = ir_op_get(m, op);
    bool there = d->opcode == TILE_MMA_STAGE && ir_type_of(m, d->operands[3])->kind != IR_TYPE_TILE;
    if (there)
        stage_access(m, op, true, out);
    return there;
}

bool access_of(const ir_module *m, ir_op op, access *out) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode == TILE_COPY) {
        copy_access(m, op, out);
        return true;
    }
    if (d->opcode == TILE_MMA_STAGE) {
        stage_access(m, op, false, out);
        return true;
    }
    bool scatters = d->opcode == TILE_SCATTER, writes = d->opcode == TILE_STORE || scatters,
         groups = d->opcode == TILE_LOAD_GROUP, gathers = d->opcode == TILE_GATHER;
    if (!writes && !groups && !gathers && d->opcode != TILE_LOAD)
        return false;
    ir_value tile = writes ? d->operands[2] : d->results[0];
    const ir_type_data *t = ir_type_of(m, tile);
    *out = (access){.op = op,
                    .writes = writes,
                    .known = !groups && !gathers && !scatters,
                    .row_stride = ir_op_int(m, op, "row_stride", 0),
                    .column_stride = ir_op_int(m, op, "column_stride", 0),
                    .rows = t->dims[0],
                    .columns = t->dims[1],
                    .layout = t->layout};
    if (tile_is_in_panels(m, op)) { /* all of it, and which thread has which is not told */
        out->row_stride = out->columns = out->rows * out->columns;
        out->rows = 1;
        out->layout = (ir_layout){0};
    }
    out->known &=
        !tile_more_of(m, op, TILE_MORE_ROW_STRIDE) && !tile_more_of(m, op, TILE_MORE_COLUMN_STRIDE);
    name_memory(m, d->operands[0], out);
    add_index(m, &out->offset, d->operands[1], 1, 0);
    return true;
}

bool access_same_memory(const access *a, const access *b) {
    return a->opcode == b->opcode && a->memory == b->memory;
}

/* Elements from the first to the last that it touches. */
static int64_t extent_of(const access *a) {
    int64_t down = (a->rows - 1) * a->row_stride, across = (a->columns - 1) * a->column_stride;
    return (down < 0 ? -down : down) + (across < 0 ? -across : across) + 1;
}

/* Tells that the value is made anew in each trip of the loop. */
static bool is_inside(const ir_module *m, ir_value v, ir_op loop) {
    const ir_value_data *d = ir_value_get(m, v);
    ir_block block = d->op ? ir_op_get(m, d->op)->block : d->block;
    while (block) {
        ir_op parent = ir_block_parent(m, block);
        if (parent == loop)
            return true;
        block = parent ? ir_op_get(m, parent)->block : 0;
    }
    return false;
}

/* now's offset less before's: its range, and a number that divides all that it can be. */
typedef struct difference {
    index_range range;
    int64_t divisor;
} difference;

static int64_t divisor_at(const ir_module *m, ir_value index, int depth);

static int64_t divisor_of(int64_t x, int64_t y) {
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

static int64_t divisor_of_form(const ir_module *m, const linear *l, int depth) {
    int64_t divisor = l->constant;
    for (int i = 0; i < l->count; i++)
        divisor = divisor_of(divisor, l->coefficient[i] * divisor_at(m, l->index[i], depth));
    return l->count < 0 ? 1 : divisor;
}

/* Divisor of the smaller or larger of two. */
static int64_t divisor_of_extreme(const ir_module *m, ir_op op, int depth) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode != TILE_INDEX_MIN && d->opcode != TILE_INDEX_MAX)
        return 1;
    return divisor_of(divisor_at(m, d->operands[0], depth), divisor_at(m, d->operands[1], depth));
}

/* A loop's index takes steps from its first value on. 0: the index is 0. */
static int64_t divisor_at(const ir_module *m, ir_value index, int depth) {
    enum { DEEPEST = 8 };
    const ir_value_data *v = ir_value_get(m, index);
    linear low = {.constant = 0};
    if (depth > DEEPEST)
        return 1;
    if (v->op) {
        add_index(m, &low, index, 1, 0);
        bool made = low.count == 1 && low.index[0] == index; /* by no affine operation */
        return made ? divisor_of_extreme(m, v->op, depth + 1) : divisor_of_form(m, &low, depth + 1);
    }
    ir_op parent = ir_block_parent(m, v->block);
    if (ir_op_get(m, parent)->opcode != TILE_FOR || v->index != 0)
        return 1;
    add_index(m, &low, ir_op_get(m, parent)->operands[0], 1, 0);
    return divisor_of(divisor_of_form(m, &low, depth + 1), ir_op_int(m, parent, "step", 1));
}

static int64_t step_of(const ir_module *m, ir_value index) {
    return divisor_at(m, index, 0);
}

static void differ(const ir_module *m, difference *d, ir_value index, int64_t by) {
    d->range = index_range_plus(d->range, index_range_scaled(index_range_of(m, index), by));
    d->divisor = divisor_of(d->divisor, by * step_of(m, index));
}

int64_t access_divisor(const ir_module *m, const access *a) {
    return divisor_of_form(m, &a->offset, 0);
}

int64_t access_index_divisor(const ir_module *m, ir_value index) {
    linear l = {.constant = 0};
    add_index(m, &l, index, 1, 0);
    return divisor_of_form(m, &l, 0);
}

/* Compares sums of indices: what both have falls out. */
static bool is_within(const ir_module *m, ir_value x, ir_value y, int64_t distance) {
    linear l = {.constant = 0};
    add_index(m, &l, x, 1, 0);
    add_index(m, &l, y, -1, 0);
    index_range r = {l.constant, l.constant};
    for (int i = 0; i < l.count; i++)
        r = index_range_plus(r,
                             index_range_scaled(index_range_of(m, l.index[i]), l.coefficient[i]));
    return l.count >= 0 && r.high <= distance;
}

bool access_distance(const ir_module *m, ir_value x, ir_value y, int64_t *distance) {
    linear l = {.constant = 0};
    add_index(m, &l, x, 1, 0);
    add_index(m, &l, y, -1, 0);
    for (int i = 0; i < l.count; i++)
        if (l.coefficient[i] != 0)
            return false;
    *distance = l.constant;
    return l.count >= 0;
}

bool access_is_within(const ir_module *m, ir_value x, ir_value y, int64_t distance) {
    ir_op op = ir_value_get(m, x)->op;
    if (!op || ir_op_get(m, op)->opcode != TILE_INDEX_MIN)
        return is_within(m, x, y, distance);
    const ir_op_data *d = ir_op_get(m, op);
    return is_within(m, d->operands[0], y, distance) || is_within(m, d->operands[1], y, distance);
}

bool access_runs_once(const ir_module *m, ir_op loop) {
    const ir_op_data *d = ir_op_get(m, loop);
    return access_is_within(m, d->operands[1], d->operands[0], ir_op_int(m, loop, "step", 1));
}

/* A later trip's index less an earlier one's of the same loop. */
static void differ_by_trips(const ir_module *m, difference *d, ir_op loop, int64_t by) {
    ir_value index = ir_block_get(m, ir_op_block(m, loop, 0))->arguments[0];
    index_range r = index_range_of(m, index);
    int64_t step = ir_op_int(m, loop, "step", 1), most = index_range_limited(r.high - r.low);
    index_range trips = {step, most > step ? most : step};
    d->range = index_range_plus(d->range, index_range_scaled(trips, by));
    d->divisor = divisor_of(d->divisor, by * step);
}

static bool is_index_of(const ir_module *m, ir_value v, ir_op loop) {
    return loop && ir_block_get(m, ir_op_block(m, loop, 0))->arguments[0] == v;
}

static difference difference_of(const ir_module *m, const access *before, const access *now) {
    const linear *x = &now->offset, *y = &before->offset;
    int64_t constant = x->constant - y->constant;
    difference d = {{constant, constant}, constant < 0 ? -constant : constant};
    bool met[ACCESS_TERMS] = {false};
    if (x->count < 0 || y->count < 0)
        return (difference){index_range_anything, 1};
    for (int i = 0; i < x->count; i++) {
        int64_t by = x->coefficient[i];
        int found = -1;
        for (int k = 0; k < y->count; k++)
            found = y->index[k] == x->index[i] ? k : found;
        if (found >= 0 && is_index_of(m, x->index[i], before->earlier) &&
            y->coefficient[found] == by) {
            differ_by_trips(m, &d, before->earlier, by);
            met[found] = true;
            continue;
        }
        bool same = !before->earlier || !is_inside(m, x->index[i], before->earlier);
        for (int k = 0; k < y->count && same; k++)
            if (y->index[k] == x->index[i]) {
                by -= y->coefficient[k];
                met[k] = true;
            }
        if (by)
            differ(m, &d, x->index[i], by);
    }
    for (int k = 0; k < y->count; k++)
        if (!met[k])
            differ(m, &d, y->index[k], -y->coefficient[k]);
    return d;
}

/* Does one thread alone touch each element? */
static bool is_single(const access *a) {
    if (!a->layout.row_threads || a->layout.fragment == IR_FRAGMENT_A ||
        a->layout.fragment == IR_FRAGMENT_B)
        return false;
    if (a->writes)
        return true;
    return (a->rows > 1 || a->layout.row_threads == 1) &&
           (a->columns > 1 || a->layout.column_threads == 1);
}

/* Period of tiles of one form: two of them whose distance is a multiple of it do not overlap. 0: it
 * cannot be said. */
static int64_t period_of(const access *a) {
    int64_t rows = a->rows, columns = a->columns, down = a->row_stride, across = a->column_stride;
    if (rows == 1)
        return across > 0 ? columns * across : 0;
    if (columns == 1)
        return down > 0 ? rows * down : 0;
    if (across > 0 && down >= columns * across)
        return rows * down;
    return down > 0 && across >= rows * down ? columns * across : 0;
}

static bool same_strides(const access *a, const access *b) {
    return (a->row_stride == b->row_stride || a->rows == 1) &&
           (a->column_stride == b->column_stride || (a->columns == 1 && b->columns == 1));
}

/* Tiles of one form in rows that are a number of their columns long, whole tiles along the same
 * rows from each other: they are apart, or the same. */
static bool is_along_rows(const access *a, const difference *d) {
    int64_t down = a->row_stride;
    return a->rows > 1 && a->column_stride == 1 && down >= a->columns && down % a->columns == 0 &&
           d->divisor % a->columns == 0 && d->range.low > -down && d->range.high < down;
}

/* Each element is touched by the same thread in both, if by both. Rows by themselves may differ in
 * their columns: the longer one's length is what their distance must be a multiple of. */
static bool by_same_thread(const access *a, const access *b, const difference *d) {
    bool alike = a->known && b->known && is_single(a) && is_single(b) && a->rows == b->rows &&
                 memcmp(&a->layout, &b->layout, sizeof a->layout) == 0 && same_strides(a, b);
    if (!alike)
        return false;
    if (a->columns != b->columns && (a->rows > 1 || a->layout.row_groups))
        return false;
    int64_t period = period_of(a->columns > b->columns ? a : b);
    if (a->columns == b->columns && is_along_rows(a, d))
        return true;
    return (d->range.low == 0 && d->range.high == 0) || (period > 0 && d->divisor % period == 0);
}

/* Tells that two accesses are apart, as far as numbers say. */
static bool is_apart(const access *before, const access *now, const difference *d) {
    bool forward = before->row_stride >= 0 && before->column_stride >= 0 && now->row_stride >= 0 &&
                   now->column_stride >= 0;
    return forward && (d->range.low >= extent_of(before) || d->range.high <= -extent_of(now));
}

/* ---- rows of memory ---- */

/* The part of an access that goes by whole rows of `row` elements, or the rest, within a row. */
static access part_of(const access *a, int64_t row, bool whole) {
    access part = *a;
    bool down = a->row_stride % row == 0, across = a->column_stride % row == 0;
    int64_t within = a->offset.constant % row;
    part.offset.constant = whole ? a->offset.constant - within : within;
    part.offset.count = 0;
    for (int i = 0; i < a->offset.count; i++)
        if ((a->offset.coefficient[i] % row == 0) == whole) {
            part.offset.index[part.offset.count] = a->offset.index[i];
            part.offset.coefficient[part.offset.count++] = a->offset.coefficient[i];
        }
    part.rows = down == whole ? a->rows : 1;
    part.columns = across == whole ? a->columns : 1;
    return part;
}

/* Checks that it stays in one row, so that other rows are other memory. */
static bool stays_within(const ir_module *m, const access *part, int64_t row) {
    index_range r = {part->offset.constant, part->offset.constant};
    for (int i = 0; i < part->offset.count; i++)
        r = index_range_plus(r, index_range_scaled(index_range_of(m, part->offset.index[i]),
                                                   part->offset.coefficient[i]));
    return r.low >= 0 && r.high + extent_of(part) <= row;
}

bool access_stays_in_rows(const ir_module *m, ir_value index, int64_t row, int64_t length) {
    access a = {.rows = 1, .columns = length, .column_stride = 1};
    add_index(m, &a.offset, index, 1, 0);
    access within = part_of(&a, row, false);
    within.columns = length;
    return row > 0 && a.offset.count >= 0 && stays_within(m, &within, row);
}

/* One element of each row, by the thread that has the row. */
static bool by_thread_of_row(const access *within, const access *before, const access *now,
                             const difference *rows) {
    return within[0].rows == 1 && within[0].columns == 1 && within[1].rows == 1 &&
           within[1].columns == 1 && by_same_thread(before, now, rows);
}

/* Apart, or of one thread, as blocks of rows of that length, of which one begins at element `from`.
 */
static bool is_apart_in_rows_from(const ir_module *m, access first, access second, int64_t row,
                                  int64_t from) {
    const access *before = &first, *now = &second;
    first.offset.constant -= from;
    second.offset.constant -= from;
    const access within[] = {part_of(before, row, false), part_of(now, row, false)},
                 whole[] = {part_of(before, row, true), part_of(now, row, true)};
    if (!stays_within(m, &within[0], row) || !stays_within(m, &within[1], row))
        return false;
    difference inside = difference_of(m, &within[0], &within[1]),
               rows = difference_of(m, &whole[0], &whole[1]);
    return is_apart(&within[0], &within[1], &inside) || is_apart(&whole[0], &whole[1], &rows) ||
           by_thread_of_row(within, &whole[0], &whole[1], &rows);
}

/* Rows begin where memory does, or where the first of both does. */
static bool is_apart_in_rows(const ir_module *m, const access *before, const access *now,
                             int64_t row) {
    int64_t x = before->offset.constant, y = now->offset.constant;
    if (row <= 1 || before->offset.count < 0 || now->offset.count < 0)
        return false;
    return is_apart_in_rows_from(m, *before, *now, row, 0) ||
           is_apart_in_rows_from(m, *before, *now, row, x < y ? x : y);
}

/* ---- slots ---- */

/* x where the index is x modulo a number. */
static bool is_remainder(const ir_module *m, ir_value index, ir_value *x, int64_t *modulus) {
    ir_op op = ir_value_get(m, index)->op;
    if (!op || ir_op_get(m, op)->opcode != TILE_INDEX_REM)
        return false;
    *x = ir_op_get(m, op)->operands[0];
    *modulus = ir_op_int(m, op, "by", 1);
    return true;
}

/* The number of slot `a` goes to, of slots of so many elements: a remainder, and nothing else that
 * goes by whole slots. */
static bool slot_of(const ir_module *m, const access *a, int64_t slot, linear *number,
                    int64_t *modulus) {
    access whole = part_of(a, slot, true);
    ir_value x;
    *number = (linear){.constant = 0};
    if (whole.offset.count == 0) { /* a constant */
        number->constant = whole.offset.constant / slot;
        return true;
    }
    if (whole.offset.count != 1 || whole.offset.constant != 0 ||
        whole.offset.coefficient[0] != slot || !is_remainder(m, whole.offset.index[0], &x, modulus))
        return false;
    add_index(m, number, x, 1, 0);
    return number->count >= 0;
}

/* Both stay in a slot, in slots whose numbers never are the same modulo how many there are. */
static bool in_other_slots(const ir_module *m, const access *before, const access *now,
                           int64_t slot, int64_t modulus) {
    access numbers[2] = {*before, *now};
    int64_t other = modulus;
    const access within[] = {part_of(before, slot, false), part_of(now, slot, false)};
    if (!stays_within(m, &within[0], slot) || !stays_within(m, &within[1], slot) ||
        !slot_of(m, before, slot, &numbers[0].offset, &other) ||
        !slot_of(m, now, slot, &numbers[1].offset, &other) || other != modulus)
        return false;
    difference d = difference_of(m, &numbers[0], &numbers[1]);
    return d.range.low == d.range.high && d.range.low % modulus != 0;
}

static bool is_apart_in_slots(const ir_module *m, const access *before, const access *now) {
    const access *const both[] = {before, now};
    int64_t modulus;
    ir_value x;
    if (before->offset.count < 0 || now->offset.count < 0)
        return false;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < both[k]->offset.count; i++)
            if (both[k]->offset.coefficient[i] > 1 &&
                is_remainder(m, both[k]->offset.index[i], &x, &modulus))
                return in_other_slots(m, before, now, both[k]->offset.coefficient[i], modulus);
    return false;
}

bool access_conflicts(const ir_module *m, const access *before, const access *now) {
    if ((!before->writes && !now->writes) || !access_same_memory(before, now))
        return false;
    difference d = difference_of(m, before, now);
    if (!before->known || !now->known || dtype_size(before->element) != dtype_size(now->element))
        return true;
    return !is_apart(before, now, &d) && !by_same_thread(before, now, &d) &&
           !is_apart_in_rows(m, before, now, before->row_stride) &&
           !is_apart_in_rows(m, before, now, before->column_stride) &&
           !is_apart_in_slots(m, before, now);
}
