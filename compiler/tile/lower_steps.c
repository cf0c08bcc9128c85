/* lower_steps.c - the loops over the steps of a contraction's register tile.
 *
 * acc = +0; for k ascending: acc = fma(lhs column, rhs row, acc); that is one chunk. With counts,
 * steps at or past a row's count do not happen: the loop runs to the smallest count of the tile
 * without asking, then to the largest with a mask.
 *
 * A rhs whose steps, not its columns, are side by side in memory is read as a block of some steps
 * by the tile's columns, which the load turns over; what is left over goes step by step. */
#include <string.h>

#include "tile/lower_dot.h"

/* Parameters: those of tile_for, which it wraps. */
step_loop dot_open(const dot *t, ir_builder *b, ir_value low, ir_value high, int64_t step,
                   ir_value *sums, uint32_t n) {
    step_loop l;
    l.in = tile_for(b, low, high, step, sums, n, &l.op, &l.k);
    lowering_mark(t->f.l, l.op, t->loop);
    memcpy(sums, ir_block_get(b->m, l.in.block)->arguments + 1, sizeof *sums * n);
    return l;
}

void dot_close(step_loop *l, ir_value *sums, uint32_t n) {
    tile_yield(&l->in, sums, n);
    memcpy(sums, ir_op_get(l->in.m, l->op)->results, sizeof *sums * n);
}

ir_value dot_whole(const dot *t, ir_builder *b, ir_value low, ir_value high, int64_t trip) {
    if (t->known && t->extent % trip == 0 && t->chunk % trip == 0)
        return high;
    return tile_index_whole(b, low, high, trip);
}

/* Operands that were not packed are of the summed type, or (tf32) have its bits. */
ir_value dot_summed(const dot *t, ir_builder *b, ir_value x) {
    return tile_type(b, x)->element == t->element ? x : tile_op(b, TILE_CONVERT, &x, 1, t->element);
}

/* The lhs of one step: a column of the tile. */
static tile_window left_window(const dot *t) {
    tile_window w = frame_window(&t->f, t->lhs);
    w.rows = t->f.rows;
    w.columns = 1;
    return w;
}

static ir_value with_constant(ir_builder *b, int opcode, ir_value x, uint32_t y) {
    return tile_op(b, opcode, (ir_value[]){x, tile_constant(b, DTYPE_I32, y)}, 2, DTYPE_NONE);
}

ir_value dot_low_bits(ir_builder *b, ir_value x, dtype of) {
    if (of == DTYPE_I8)
        return with_constant(b, TILE_AND, tile_op(b, TILE_CONVERT, &x, 1, DTYPE_I32), 0xff);
    if (tile_type(b, x)->element != DTYPE_F32)
        x = tile_op(b, TILE_CONVERT, &x, 1, DTYPE_F32);
    return with_constant(b, TILE_USHR, tile_op(b, TILE_BITCAST, &x, 1, DTYPE_I32), 16);
}

/* The group at k of lhs, of whose elements those at or past `end` are 0. */
static ir_value last_group(dot *t, ir_builder *b, ir_value k, ir_value end) {
    frame *f = &t->f;
    tile_window w = left_window(t);
    ir_value group = 0, last = tile_index_step(b, end, end, 0, -1);
    for (int64_t i = 0; i < t->group; i++) {
        ir_value at = tile_index_step(b, k, k, 0, i);
        f->index[t->k] = tile_index_min(b, at, last);
        ir_value x = tile_load_window(b, frame_memory(f, 0), frame_offset(f, b, t->lhs), &w);
        x = with_constant(b, TILE_SHL, dot_low_bits(b, x, t->of), (uint32_t)(i * 32 / t->group));
        ir_value there = tile_compare(b, "lt", tile_from_index(b, at), tile_from_index(b, end));
        ir_value choice[] = {there, x, tile_constant(b, DTYPE_I32, 0)};
        x = tile_op(b, TILE_SELECT, choice, 3, DTYPE_NONE);
        group = group ? tile_op(b, TILE_OR, (ir_value[]){group, x}, 2, DTYPE_NONE) : x;
    }
    return group;
}

ir_value dot_left(dot *t, ir_builder *b, ir_value k, bool group) {
    t->f.index[t->k] = k;
    tile_window w = left_window(t);
    ir_value offset = frame_offset(&t->f, b, t->lhs);
    return (group ? tile_load_group : tile_load_window)(b, frame_memory(&t->f, 0), offset, &w);
}

ir_value dot_right(dot *t, ir_builder *b, ir_value k, int64_t count, int64_t group) {
    frame *f = &t->f;
    f->index[t->k] = k;
    tile_window w = frame_window(f, t->rhs);
    w.rows = group ? count / group : count;
    w.columns = f->columns;
    if (count > 1)
        w.row_stride = group ? group : 1;
    if (t->packed) { /* all of a panel may be read, whatever the coefficient of its columns */
        w.column_stride = 1;
        w.more[TILE_MORE_VALID_COLUMNS] = w.more[TILE_MORE_COLUMN_STRIDE] = 0;
    }
    ir_value offset = frame_offset(f, b, t->rhs);
    return (group ? tile_load_group : tile_load_window)(b, frame_memory(f, 1), offset, &w);
}

/* Elements of 8 bits, or of bf16, are turned over in groups of 32 bits. 0: each by itself. */
static int64_t turned_group(const dot *t) {
    dtype of = tile_type(t->b, frame_memory(&t->f, 1))->element;
    int64_t each = of == DTYPE_BF16 ? 2 : of == DTYPE_I8 || of == DTYPE_I4 ? 4 : 0;
    return each && t->unroll % each == 0 ? each : 0;
}

/* The rhs of a trip, a row for each step, or group of `each`: what goes into the second cache is
 * fetched with it, some trips ahead. */
static ir_value trip_rows(dot *t, ir_builder *b, ir_value k, int64_t each) {
    ir_value rows = dot_right(t, b, k, t->unroll, each);
    if (t->prefetch && !t->in_first)
        ir_op_set_attr(b->m, ir_value_get(b->m, rows)->op, "ahead",
                       ir_attr_int(b->m, t->prefetch * t->unroll));
    return rows;
}

/* Element i of each group of a row, in the summed type. */
static ir_value of_group(const dot *t, ir_builder *b, ir_value groups, int64_t each, int64_t i) {
    dtype of = tile_type(b, frame_memory(&t->f, 1))->element;
    if (of == DTYPE_BF16) { /* the high half of an f32 */
        ir_value bits = i ? with_constant(b, TILE_AND, groups, 0xffff0000u)
                          : with_constant(b, TILE_SHL, groups, 16);
        return dot_summed(t, b, tile_op(b, TILE_BITCAST, &bits, 1, DTYPE_F32));
    }
    uint32_t bits = of == DTYPE_I4 ? 4 : 8, above = (uint32_t)(each - 1 - i) * 8 + 8 - bits;
    ir_value x = above ? with_constant(b, TILE_SHL, groups, above) : groups;
    x = with_constant(b, TILE_SHR, x, 32 - bits);
    return t->element == DTYPE_I32 ? x : tile_op(b, TILE_CONVERT, &x, 1, t->element);
}

ir_value dot_multiply_add(const dot *t, ir_builder *b, ir_value x, ir_value y, ir_value sum) {
    if (dtype_is_float(t->element))
        return tile_op(b, TILE_FMA, (ir_value[]){x, y, sum}, 3, DTYPE_NONE);
    ir_value product = tile_op(b, TILE_MUL, (ir_value[]){x, y}, 2, DTYPE_NONE);
    return tile_op(b, TILE_ADD, (ir_value[]){product, sum}, 2, DTYPE_NONE);
}

/* The steps of a trip: turned, the rhs of all of them is loaded first. */
static ir_value trip(dot *t, ir_builder *b, ir_value k, ir_value sum) {
    int64_t one = 1, each = t->turned ? turned_group(t) : 0;
    ir_value rows = t->turned ? trip_rows(t, b, k, each) : 0;
    rows = rows && !each ? dot_summed(t, b, rows) : rows;
    for (int64_t i = 0; i < t->unroll; i++) {
        ir_value y = rows ? tile_row(b, rows, each ? i / each : i) : 0;
        ir_value at = i ? tile_affine(b, i, &k, &one, 1) : k, x = dot_left(t, b, at, false);
        y = rows ? y : dot_right(t, b, at, 1, 0);
        x = dot_summed(t, b, x);
        y = each ? of_group(t, b, y, each, i % each) : dot_summed(t, b, y);
        sum = dot_multiply_add(t, b, x, y, sum);
    }
    return sum;
}

static void fetch(const dot *t, ir_builder *b, ir_value offset, int64_t columns) {
    ir_op op = tile_prefetch(b, frame_memory(&t->f, 1), offset, columns);
    if (t->in_first)
        ir_op_set_attr(b->m, op, "near", ir_attr_bool(b->m, true));
}

/* The tiles of this panel bring the next one near, each its share, some lines in each trip. */
static void prefetch(dot *t, ir_builder *b, ir_value k, ir_value low) {
    ir_value memory = frame_memory(&t->f, 1), parts[] = {t->near, k, low};
    int64_t line = 64 / (int64_t)dtype_size(tile_type(b, memory)->element);
    int64_t run = t->prefetch * line, each = run / t->unroll, factors[] = {1, each, -each};
    fetch(t, b, tile_affine(b, 0, parts, factors, 3), run);
}

/* The place in rhs so many steps behind step k, for a prefetch: behind the tile's last step in the
 * tile of the next columns, whose steps come then. `low`: the first step. */
static ir_value look_ahead(dot *t, ir_builder *b, ir_value low, ir_value k, int64_t by) {
    frame *f = &t->f;
    int64_t one = 1, length = f->shape.buffer[DOT_TOTALS] >= 0 ? t->chunk : t->extent;
    ir_value at = tile_affine(b, by, &k, &one, 1);
    f->index[t->k] = at;
    if (!t->known || f->column_axis < 0)
        return frame_offset(f, b, t->rhs);
    ir_value *column = &f->index[f->column_axis],
             passed = tile_index_quotient(b, tile_index_sub(b, at, low), tile_index(b, length)),
             from[] = {at, passed}, columns[] = {*column, passed};
    const int64_t back[] = {1, -length}, further[] = {1, f->columns};
    f->index[t->k] = tile_affine(b, 0, from, back, 2);
    *column = tile_affine(b, 0, columns, further, 2);
    ir_value offset = frame_offset(f, b, t->rhs);
    *column = columns[0];
    return offset;
}

/* The row of rhs some steps ahead. */
static void prefetch_rows(dot *t, ir_builder *b, ir_value low, ir_value k) {
    for (int64_t i = 0; i < t->unroll; i++)
        fetch(t, b, look_ahead(t, b, low, k, t->prefetch + i), t->f.columns);
}

/* The block of rhs some trips ahead, a run of steps for each column: into the first cache, because
 * each line is read once, by one load. */
static void prefetch_block(dot *t, ir_builder *b, ir_value low, ir_value k) {
    frame *f = &t->f;
    int64_t one = 1;
    if (!t->in_first) /* loads fetch for themselves */
        return;
    ir_value offset = look_ahead(t, b, low, k, t->prefetch * t->unroll);
    tile_window w = frame_window(f, t->rhs);
    for (int64_t c = 0; c < f->columns && !w.more[TILE_MORE_COLUMN_STRIDE]; c++)
        fetch(t, b, tile_affine(b, c * w.column_stride, &offset, &one, 1), t->unroll);
}

void dot_share_panel(dot *t, ir_builder *b, ir_value start) {
    frame *f = &t->f;
    int64_t line = 64 / (int64_t)dtype_size(tile_type(b, frame_memory(f, 1))->element);
    int64_t share = t->chunk / t->unroll * t->prefetch * line;
    if (f->shape.buffer[DOT_TOTALS] < 0 || f->row_axis < 0 || share == 0 ||
        share > t->chunk * f->columns) {
        t->prefetch = 0;
        return;
    }
    int64_t tiles = t->chunk * f->columns / share, each = share / f->rows;
    f->index[t->k] = start;
    ir_value panel = frame_offset(f, b, t->rhs),
             rows[] = {f->index[f->row_axis], f->index[f->shape.index[AXIS_BLOCK_M]]};
    int64_t difference[] = {1, -1}, factors[] = {1, each};
    ir_value tile = tile_affine(b, 0, rows, difference, 2);
    tile = tile_index_op(b, TILE_INDEX_MIN, tile, tile_index(b, (tiles - 1) * f->rows));
    ir_value parts[] = {panel, tile};
    t->near = tile_affine(b, f->columns * t->rhs[1 + f->column_axis], parts, factors, 2);
}

ir_value dot_steps(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum, bool masked) {
    step_loop l = dot_open(t, b, low, high, t->unroll, &sum, 1);
    ir_builder *in = &l.in;
    ir_value next = trip(t, in, l.k, sum);
    if (t->prefetch && !masked)
        (t->turned   ? prefetch_block(t, in, low, l.k)
         : t->packed ? prefetch(t, in, l.k, low)
                     : prefetch_rows(t, in, low, l.k));
    if (masked) {
        ir_value mask = tile_compare(in, "lt", tile_from_index(in, l.k), t->counts);
        next = tile_select(in, mask, next, sum);
    }
    dot_close(&l, &next, 1);
    return next;
}

/* Offset of row r, or of the last one that is there. */
static ir_value row_offset(const frame *f, ir_builder *b, ir_value offset, int64_t r,
                           int64_t stride) {
    int64_t one = 1;
    if (!f->valid_rows || r == 0)
        return tile_affine(b, r * stride, &offset, &one, 1);
    ir_value last = tile_index_step(b, f->valid_rows, f->valid_rows, 0, -1);
    return tile_index_step(b, offset, tile_index_min(b, tile_index(b, r), last), stride, 0);
}

void dot_load_counts(dot *t, ir_builder *b, dot_buffer which) {
    ir_dim access[LOWERING_AXES + 1];
    frame *f = &t->f;
    int number = f->shape.buffer[which];
    frame_access(f, number, access);
    f->index[t->k] = tile_index(b, 0);
    int64_t stride = frame_row_stride(f, access);
    ir_value offset = frame_offset(f, b, access);
    tile_window w = frame_window(f, access);
    t->counts = tile_load_window(b, frame_memory(f, number), offset, &w);
    for (int64_t r = 0; r < f->rows; r++) {
        ir_value at = row_offset(f, b, offset, r, stride);
        ir_value count = tile_load(b, frame_memory(f, number), at, 1, 1, 0, 0);
        ir_value index = ir_build1(b, TILE_TO_INDEX, &count, 1, ir_type_index(b->m), NULL, 0);
        t->least = r ? tile_index_op(b, TILE_INDEX_MIN, t->least, index) : index;
        t->most = r ? tile_index_op(b, TILE_INDEX_MAX, t->most, index) : index;
    }
}

static bool is_signed_left(const dot *t) {
    return !dtype_is_unsigned(tile_type(t->b, frame_memory(&t->f, 0))->element);
}

/* Groups of elements, some in a trip. Bytes on the left have no sign: to each of i8 128 is added.
 * What that adds is summed beside them where they are turned over, and taken away; for `unit` it is
 * all that is summed. `end` (may be 0): elements from there on are none; on the right they are 0.
 */
static ir_value group_loop(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value end,
                           ir_value sum) {
    const uint32_t all = 0x80808080u;
    bool exact = t->of == DTYPE_I8, biased = exact && is_signed_left(t),
         beside = biased && t->turned;
    int64_t one = 1, step = t->unroll > t->group ? t->unroll : t->group;
    ir_value sums[2] = {sum}, *offsets = &sums[!t->unit];
    if (beside)
        sums[1] = tile_broadcast(b, tile_constant(b, DTYPE_I32, 0), 1, t->f.columns);
    step_loop l = dot_open(t, b, low, high, step, sums, 1 + beside);
    ir_builder *in = &l.in;
    ir_value rows = t->turned ? trip_rows(t, in, l.k, t->group) : 0;
    for (int64_t i = 0; i < step; i += t->group) {
        ir_value at = i ? tile_affine(in, i, &l.k, &one, 1) : l.k;
        ir_value y = rows ? tile_row(in, rows, i / t->group) : dot_right(t, in, at, 1, 0);
        if (beside || t->unit)
            *offsets =
                tile_group_dot(in, tile_constant(in, DTYPE_I32, all), y, *offsets, t->of, true);
        if (t->unit)
            continue;
        ir_value x = end ? last_group(t, in, at, end) : dot_left(t, in, at, true);
        x = biased ? with_constant(in, TILE_XOR, x, all) : x;
        sums[0] = tile_group_dot(in, x, y, sums[0], t->of, exact);
    }
    if (t->turned && t->prefetch)
        prefetch_block(t, in, low, l.k);
    dot_close(&l, sums, 1 + beside);
    return beside ? tile_op(b, TILE_SUB, sums, 2, DTYPE_NONE) : sums[0];
}

/* The last group may be one in part, where the steps are no known number. */
static ir_value grouped_steps(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum) {
    ir_dim access[LOWERING_AXES + 1];
    frame *f = &t->f;
    ir_value whole = t->unit ? high : dot_whole(t, b, low, high, t->group);
    sum = group_loop(t, b, low, whole, 0, sum);
    if (whole != high)
        sum = group_loop(t, b, whole, high, high, sum);
    int number = f->shape.buffer[DOT_OFFSETS];
    if (number < 0)
        return sum;
    frame_access(f, number, access);
    f->index[t->k] = tile_index(b, 0);
    ir_value offsets = tile_load(b, frame_memory(f, number), frame_offset(f, b, access), 1,
                                 f->columns, 0, frame_column_stride(f, access));
    return tile_op(b, TILE_SUB, (ir_value[]){sum, offsets}, 2, DTYPE_NONE);
}

/* Turned trips as far as whole ones go, then single steps. */
static ir_value turned_steps(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum) {
    ir_value whole = dot_whole(t, b, low, high, t->unroll);
    sum = t->group ? group_loop(t, b, low, whole, 0, sum) : dot_steps(t, b, low, whole, sum, false);
    if (whole == high)
        return sum;
    if (t->pairs)
        return lower_pairs(t, b, whole, high, sum);
    t->turned = t->in_first = false;
    t->unroll = 1;
    return dot_steps(t, b, whole, high, sum, false);
}

ir_value dot_chunk(dot *t, ir_builder *b, ir_value low, ir_value high) {
    ir_value sum = dot_zero(t, b);
    if (t->turned)
        return turned_steps(t, b, low, high, sum);
    if (t->group)
        return grouped_steps(t, b, low, high, sum);
    if (t->pairs)
        return lower_pairs(t, b, low, high, sum);
    if (t->f.shape.buffer[DOT_COUNTS] < 0)
        return dot_steps(t, b, low, high, sum, false);
    dot_load_counts(t, b, DOT_COUNTS);
    ir_value first = tile_index_clamp(b, t->least, low, high),
             last = tile_index_clamp(b, t->most, low, high);
    sum = dot_steps(t, b, low, first, sum, false);
    /* All rows have as many steps where there is one count. */
    return t->least == t->most ? sum : dot_steps(t, b, first, last, sum, true);
}
