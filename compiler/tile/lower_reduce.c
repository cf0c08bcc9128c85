/* lower_reduce.c - reductions along a row, or along some rows side by side: 64 lanes, blocks of
 * 4096, halving (docs/numerics.md, order lanes64).
 *
 * The lanes are carried as sub-tiles, so that the work in front of the sum is done a few vectors at
 * a time. A ragged end is padded with the neutral element, which changes no lane. max, min and
 * integer sums take the same way; their order cannot be seen. */
#include <string.h>

#include "schedule/integers.h"
#include "tile/lowering.h"

uint64_t reduction_neutral(const char *kind, dtype element) {
    if (strcmp(kind, "sum") == 0)
        return dtype_is_float(element) ? UINT64_C(1) << (8 * dtype_size(element) - 1) : 0;
    return reduction_start(kind, element);
}

static uint64_t one_of(dtype element) {
    uint64_t bits = 0;
    dtype_store(element, &bits, 0, 1);
    return bits;
}

uint64_t reduction_start(const char *kind, dtype element) {
    bool max = strcmp(kind, "max") == 0;
    if (strcmp(kind, "sum") == 0)
        return 0;
    if (strcmp(kind, "prod") == 0)
        return dtype_is_float(element) ? one_of(element) : 1;
    if (dtype_is_float(element)) /* f32 or f64: the others have been widened */
        return dtype_format_of(element)->infinity |
               (max ? UINT64_C(1) << (8 * dtype_size(element) - 1) : 0);
    return dtype_wrap(element, max ? dtype_lowest(element) : dtype_highest(element));
}

int reduction_opcode(const char *kind) {
    return strcmp(kind, "sum") == 0    ? TILE_ADD
           : strcmp(kind, "prod") == 0 ? TILE_MUL
           : strcmp(kind, "max") == 0  ? TILE_MAXIMUM
                                       : TILE_MINIMUM;
}

enum { TRIP_MOST = 16 }; /* as parameters.def has it */

typedef struct reduction {
    frame f; /* the reduced index is its last */
    const char *kind;
    dtype element;
    int64_t sub, parts; /* columns of a sub-tile, sub-tiles in 64 lanes */
    int64_t trip;       /* how often 64 elements are added in one turn of a loop */
    int yields;
    ir_value partial; /* level 1 and up: memory of block results; 0 at level 0 */
    int64_t partials; /* ... of one row */
    ir_op pieces;     /* the loop over pieces, in which elements are made; 0: all are there */
    int64_t piece;    /* elements of one */
    int piece_index;  /* ... and the number of the index of its first */
} reduction;

/* Elements [column, column + width): the body's first yield, its other yields stored in passing.
 * Where `valid` is not 0, as many of them are there. */
static ir_value some_elements(reduction *r, ir_builder *b, ir_value column, int64_t width,
                              ir_value valid) {
    ir_value yields[SCHEDULE_OUTPUTS];
    if (r->partial) {
        tile_window w = {.rows = r->f.rows,
                         .columns = width,
                         .row_stride = r->f.rows > 1 ? r->partials : 0,
                         .column_stride = 1};
        w.more[TILE_MORE_VALID_COLUMNS] = valid;
        return tile_load_window(b, r->partial, column, &w);
    }
    r->f.index[r->f.axes - 1] = column;
    r->f.columns = width;
    r->f.valid_columns = valid;
    frame_body(&r->f, b, yields);
    for (int i = 1; i < r->yields; i++)
        frame_store(&r->f, b, i, yields[i]);
    return tile_broadcast(b, yields[0], r->f.rows, width);
}

static ir_value elements(reduction *r, ir_builder *b, ir_value column, int64_t width) {
    return some_elements(r, b, column, width, 0);
}

static ir_value combine(const reduction *r, ir_builder *b, ir_value x, ir_value y) {
    ir_value operands[] = {x, y};
    return tile_op(b, reduction_opcode(r->kind), operands, 2, DTYPE_NONE);
}

/* `each` times 64 elements in each turn, from number `low` behind `start` on, up to `full`. */
static void some_steps(reduction *r, ir_builder *b, const ir_value range[3], int64_t each,
                       ir_value *lanes) {
    ir_op loop;
    ir_value at, next[LANES];
    int64_t factors[] = {1, 1};
    ir_builder in =
        tile_for(b, range[1], range[2], LANES * each, lanes, (uint32_t)r->parts, &loop, &at);
    lowering_mark(r->f.l, loop, r->f.op);
    const ir_block_data *block = ir_block_get(b->m, in.block);
    ir_value sum[] = {range[0], at};
    /* All loads of a turn of several steps are under way at once. */
    const int64_t count = each * r->parts, at_once = each > 1 ? count : 1;
    ir_value x[LANES * TRIP_MOST];
    for (int64_t i = 0; i < r->parts; i++)
        next[i] = block->arguments[1 + i];
    for (int64_t first = 0; first < count; first += at_once) {
        for (int64_t i = first; i < first + at_once; i++)
            x[i] = elements(r, &in, tile_affine(&in, i * r->sub, sum, factors, 2), r->sub);
        for (int64_t i = first; i < first + at_once; i++)
            next[i % r->parts] = combine(r, &in, next[i % r->parts], x[i]);
    }
    tile_yield(&in, next, (uint32_t)r->parts);
    for (int64_t i = 0; i < r->parts; i++)
        lanes[i] = ir_op_result(b->m, loop, (uint32_t)i);
}

/* All full steps of 64 elements from number `low` behind `start` on, up to `full`. */
static void full_steps(reduction *r, ir_builder *b, ir_value start, int64_t low, int64_t full,
                       ir_value *lanes) {
    int64_t turn = LANES * r->trip, most = low + (full - low) / turn * turn;
    ir_value range[3] = {start};
    if (most > low) {
        range[2] = tile_index(b, most);
        range[1] = tile_index(b, low);
        some_steps(r, b, range, r->trip, lanes);
    }
    if (full > most) {
        range[2] = tile_index(b, full);
        range[1] = tile_index(b, most);
        some_steps(r, b, range, 1, lanes);
    }
}

static ir_value padded(const reduction *r, ir_builder *b, ir_value x, int64_t width) {
    if (width == r->sub)
        return x;
    ir_named_attr attr = {"value",
                          ir_attr_bits(b->m, r->element, reduction_neutral(r->kind, r->element))};
    return ir_build1(b, TILE_PAD, &x, 1, ir_type_tile(b->m, r->element, r->f.rows, r->sub), &attr,
                     1);
}

static void open_lanes(const reduction *r, ir_builder *b, ir_value *lanes) {
    ir_value first = tile_constant(b, r->element, reduction_start(r->kind, r->element));
    for (int64_t i = 0; i < r->parts; i++)
        lanes[i] = tile_broadcast(b, first, r->f.rows, r->sub);
}

static ir_value fold(const reduction *r, ir_builder *b, const ir_value *lanes) {
    ir_named_attr kind = {"kind", ir_attr_string(b->m, r->kind)};
    ir_value total = ir_build1(b, TILE_FOLD, lanes, (uint32_t)r->parts,
                               ir_type_tile(b->m, r->element, r->f.rows, 1), &kind, 1);
    lowering_mark(r->f.l, ir_value_get(b->m, total)->op, r->f.op);
    return total;
}

static void make_piece(reduction *r, ir_builder *b, ir_value first, int64_t count) {
    r->f.index[r->piece_index] = first;
    lowering_piece(r->f.l, b, r->pieces, first, count);
}

/* Whole pieces of a block are added to its lanes, and what is left of it is made. Returns how many
 * elements were added. */
static int64_t whole_pieces(reduction *r, ir_builder *b, ir_value start, int64_t length,
                            ir_value *lanes) {
    if (!r->pieces || r->partial)
        return 0;
    ir_op loop;
    ir_value at, next[LANES];
    int64_t whole = length / r->piece * r->piece, factors[] = {1, 1};
    if (whole) {
        ir_builder in = tile_for(b, tile_index(b, 0), tile_index(b, whole), r->piece, lanes,
                                 (uint32_t)r->parts, &loop, &at);
        lowering_mark(r->f.l, loop, r->f.op);
        ir_value sum[] = {start, at}, first = tile_affine(&in, 0, sum, factors, 2);
        make_piece(r, &in, first, r->piece);
        for (int64_t i = 0; i < r->parts; i++)
            next[i] = ir_block_get(b->m, in.block)->arguments[1 + i];
        full_steps(r, &in, first, 0, r->piece, next);
        tile_yield(&in, next, (uint32_t)r->parts);
        for (int64_t i = 0; i < r->parts; i++)
            lanes[i] = ir_op_result(b->m, loop, (uint32_t)i);
    }
    if (whole < length)
        make_piece(r, b, tile_index_plus(b, start, whole), length - whole);
    return whole;
}

/* One block of at most 4096 elements from `start`: 64 lanes, then halving. */
static ir_value reduce_block(void *of, ir_builder *b, ir_value start, int64_t length) {
    reduction *r = of;
    ir_value lanes[LANES];
    open_lanes(r, b, lanes);
    int64_t whole = whole_pieces(r, b, start, length, lanes), done = length / LANES * LANES;
    if (done > whole)
        full_steps(r, b, start, whole, done, lanes);
    for (int64_t i = 0; i < r->parts && done + i * r->sub < length; i++) {
        int64_t left = length - done - i * r->sub, width = left < r->sub ? left : r->sub;
        ir_value x = elements(r, b, tile_index_plus(b, start, done + i * r->sub), width);
        lanes[i] = combine(r, b, lanes[i], padded(r, b, x, width));
    }
    return fold(r, b, lanes);
}

/* ---- rows whose length a launch gives ---- */

/* Neutral elements from number `valid` on. */
static ir_value neutral_from(const reduction *r, ir_builder *b, ir_value x, ir_value valid) {
    ir_value numbers = tile_iota(b, tile_index(b, 0), false, r->sub), neutral;
    ir_value limit =
        ir_build1(b, TILE_FROM_INDEX, &valid, 1, ir_type_tile(b->m, DTYPE_I32, 1, 1), NULL, 0);
    neutral = tile_constant(b, r->element, reduction_neutral(r->kind, r->element));
    ir_value operands[] = {tile_compare(b, "lt", numbers, limit), x,
                           tile_broadcast(b, neutral, 1, r->sub)};
    return tile_op(b, TILE_SELECT, operands, 3, DTYPE_NONE);
}

/* Reduces the rest of a block behind its whole steps: a part of the lanes after the other, each
 * only where it has elements. */
static void last_steps(reduction *r, ir_builder *b, ir_value start, ir_value done, ir_value length,
                       ir_value *lanes) {
    ir_op loop;
    ir_value at, left = tile_index_sub(b, length, done);
    start = tile_index_add(b, start, done);
    for (int64_t i = 0; i < r->parts; i++) {
        ir_builder in =
            tile_for(b, tile_index(b, i * r->sub), left, LANES, &lanes[i], 1, &loop, &at);
        lowering_mark(r->f.l, loop, r->f.op);
        ir_value valid = tile_index_sub(&in, left, at);
        ir_value x = some_elements(r, &in, tile_index_add(&in, start, at), r->sub, valid);
        x = neutral_from(r, &in, tile_broadcast(&in, x, 1, r->sub), valid);
        ir_value next = combine(r, &in, ir_block_get(b->m, in.block)->arguments[1], x);
        tile_yield(&in, &next, 1);
        lanes[i] = ir_op_result(b->m, loop, 0);
    }
    r->f.valid_columns = 0;
}

static ir_value reduce_some(void *of, ir_builder *b, ir_value start, ir_value length) {
    reduction *r = of;
    ir_value lanes[LANES], done = tile_index_floor(b, length, LANES);
    open_lanes(r, b, lanes);
    some_steps(r, b, (ir_value[]){start, tile_index(b, 0), done}, 1, lanes);
    last_steps(r, b, start, done, length, lanes);
    return fold(r, b, lanes);
}

/* ---- blocks ---- */

/* A sequence that is reduced block by block: a row, rows side by side, or columns side by side. */
typedef struct sequence {
    frame *f;
    dtype element;
    int64_t columns;   /* results of one block, side by side */
    ir_value *partial; /* what the results of blocks are a sequence in; 0: what is reduced itself */
    int64_t *partials; /* of one of several rows, each of which has its sequence; NULL */
    void *of;
    ir_value (*block)(void *of, ir_builder *b, ir_value start, int64_t length);
    ir_value (*some)(void *of, ir_builder *b, ir_value start, ir_value length);
} sequence;

/* Stores one of `blocks` results of each row. */
static void store_at(ir_builder *b, ir_value results, ir_value at, ir_value x, int64_t blocks) {
    tile_store(b, results, at, x, tile_type(b, x)->dims[0] > 1 ? blocks : 0, 1, false);
}

static void store_result(const sequence *q, ir_builder *b, ir_value results, ir_value number,
                         ir_value x, int64_t blocks) {
    ir_value at = q->columns == 1 ? number : tile_affine(b, 0, &number, &q->columns, 1);
    store_at(b, results, at, x, blocks);
}

/* Block results are a new sequence. */
static ir_value reduce_sequence(const sequence *q, ir_builder *b, int64_t length) {
    if (length <= LANES_BLOCK)
        return q->block(q->of, b, tile_index(b, 0), length);
    int64_t full = length / LANES_BLOCK, blocks = (length + LANES_BLOCK - 1) / LANES_BLOCK,
            step = LANES_BLOCK;
    int64_t rows = q->partials ? q->f->rows : 1;
    ir_value results = lowering_scratch(q->f->l, b, q->element, rows * blocks * q->columns), number;
    ir_op loop;
    ir_builder in = tile_for(b, tile_index(b, 0), tile_index(b, full), 1, NULL, 0, &loop, &number);
    lowering_mark(q->f->l, loop, q->f->op);
    ir_value x = q->block(q->of, &in, tile_affine(&in, 0, &number, &step, 1), LANES_BLOCK);
    store_result(q, &in, results, number, x, blocks);
    tile_yield(&in, NULL, 0);
    if (blocks > full) {
        x = q->block(q->of, b, tile_index(b, full * LANES_BLOCK), length - full * LANES_BLOCK);
        store_at(b, results, tile_index(b, full * q->columns), x, blocks);
    }
    *q->partial = results;
    if (q->partials)
        *q->partials = blocks;
    return reduce_sequence(q, b, blocks);
}

/* Levels that there may be: sequences have at most 2^36 elements (ops/symbols.c). */
enum { LANES_LEVELS = 3 };

static ir_dim blocks_of(lowering *l, ir_dim length) {
    return ir_dim_floordiv(l->m, ir_dim_add_scaled(l->m, length, LANES_BLOCK - 1, 1), LANES_BLOCK);
}

/* Reduces a length that a launch gives. The first block is in registers; where there are more, all
 * are a sequence in memory. */
static ir_value reduce_symbolic(const sequence *q, ir_builder *b, ir_dim length, int level) {
    lowering *l = q->f->l;
    ir_op several, loop;
    ir_value unused, number, count = lowering_dim(l, b, length), zero = tile_index(b, 0);
    ir_value block = tile_index(b, LANES_BLOCK);
    ir_value first = q->some(q->of, b, zero, tile_index_min(b, count, block));
    if (level == LANES_LEVELS)
        return first;
    ir_builder in = tile_for(b, block, count, INT64_C(1) << 40, &first, 1, &several, &unused);
    lowering_mark(l, several, q->f->op);
    ir_dim blocks = blocks_of(l, length), size = ir_dim_add_scaled(l->m, 0, blocks, q->columns);
    ir_value results = lowering_scratch(l, &in, q->element, size), partial = *q->partial;
    tile_store(&in, results, zero, first, 0, 1, false);
    ir_builder each =
        tile_for(&in, tile_index(&in, 1), lowering_dim(l, &in, blocks), 1, NULL, 0, &loop, &number);
    lowering_mark(l, loop, q->f->op);
    ir_value start = tile_index_step(&each, zero, number, LANES_BLOCK, 0);
    ir_value left = tile_index_min(&each, tile_index_sub(&each, count, start), block);
    store_result(q, &each, results, number, q->some(q->of, &each, start, left), 0);
    tile_yield(&each, NULL, 0);
    *q->partial = results;
    ir_value total = reduce_symbolic(q, &in, blocks, level + 1);
    *q->partial = partial;
    tile_yield(&in, &total, 1);
    return ir_op_result(b->m, several, 0);
}

static ir_value reduce_all(const sequence *q, ir_builder *b, ir_dim length) {
    return ir_dim_is_static(length) ? reduce_sequence(q, b, length)
                                    : reduce_symbolic(q, b, length, 1);
}

/* ---- the end ---- */

/* The final `+ 0` of float sums. */
static ir_value finished(const char *kind, ir_builder *b, ir_value x) {
    ir_value operands[] = {x, tile_constant(b, tile_type(b, x)->element, 0)};
    if (strcmp(kind, "sum") != 0 || !dtype_is_float(tile_type(b, x)->element))
        return x;
    return tile_op(b, TILE_ADD, operands, 2, DTYPE_NONE);
}

/* The reduced index is one more, behind that of the rows. */
static void go_along_rows(frame *f) {
    bool several = f->axes > 0 && f->columns > 1;
    f->row_axis = several ? f->axes - 1 : -1;
    f->rows = several ? f->columns : 1;
    f->valid_rows = several ? f->valid_columns : 0;
    f->column_axis = f->axes++;
}

void lower_reduce(lowering *l, ir_builder *b, ir_op op) {
    reduction r = {.f = frame_of(l, op), .kind = ir_op_string(l->s, op, "kind", "sum")};
    const ir_op_data *d = ir_op_get(l->s, op);
    ir_dim length = ir_op_int(l->s, op, "extent", 0);
    r.yields = (int)d->operand_count - r.f.axes - r.f.body_inputs;
    r.f.index[r.f.axes] = tile_index(b, 0);
    go_along_rows(&r.f);
    ir_value out = d->operands[r.f.first_input + r.f.body_inputs];
    r.element = ir_type_of(l->s, out)->element;
    r.sub = schedule_step(l->s, op, "sub", LANES);
    if (r.sub > LANES || LANES % r.sub != 0)
        r.sub = LANES;
    r.parts = LANES / r.sub;
    r.trip = clamp(schedule_step(l->s, op, "trip", 1), 1, TRIP_MOST);
    if (ir_op_attr(l->s, op, "piece")) {
        r.piece_index = (int)ir_op_int(l->s, op, "piece", 0);
        r.pieces = ir_block_parent(l->s, d->block);
        r.piece = schedule_step(l->s, r.pieces, "step", LANES);
    }
    size_t ready = l->ready.count;
    frame_load_ahead(&r.f, b);
    const sequence row = {.f = &r.f,
                          .element = r.element,
                          .columns = 1,
                          .partial = &r.partial,
                          .partials = &r.partials,
                          .of = &r,
                          .block = reduce_block,
                          .some = reduce_some};
    ir_value result = finished(r.kind, b, reduce_all(&row, b, length));
    l->ready.count = ready;
    r.f.index[r.f.axes - 1] = tile_index(b, 0);
    r.f.columns = 1;
    r.f.valid_columns = 0;
    frame_store(&r.f, b, 0, result);
}

/* ---- columns ---- */

typedef struct column_reduction {
    frame f; /* the reduced index is its last; the columns are the one before */
    const char *kind;
    dtype element;
    ir_value partial; /* [blocks][columns] of the level below; 0 at level 0 */
    ir_value lanes;   /* lanes64: [lane][columns] */
    int64_t trip;     /* lanes64: rows that a lane gets at once, at most */
} column_reduction;

static ir_value column_elements(column_reduction *r, ir_builder *b, ir_value row) {
    ir_value x;
    int64_t stride = r->f.columns;
    if (r->partial)
        return tile_load(b, r->partial, tile_affine(b, 0, &row, &stride, 1), 1, r->f.columns, 0, 1);
    r->f.index[r->f.axes - 1] = row;
    frame_body(&r->f, b, &x);
    return tile_broadcast(b, x, 1, r->f.columns);
}

/* Order cannot be seen: one accumulator for each column. */
static ir_value columns_any(column_reduction *r, ir_builder *b, ir_value length) {
    ir_op loop;
    ir_value row, start = tile_constant(b, r->element, reduction_start(r->kind, r->element));
    start = tile_broadcast(b, start, 1, r->f.columns);
    ir_builder in = tile_for(b, tile_index(b, 0), length, 1, &start, 1, &loop, &row);
    lowering_mark(r->f.l, loop, r->f.op);
    ir_value operands[] = {ir_block_get(b->m, in.block)->arguments[1],
                           column_elements(r, &in, row)};
    ir_value next = tile_op(&in, reduction_opcode(r->kind), operands, 2, DTYPE_NONE);
    tile_yield(&in, &next, 1);
    return ir_op_result(b->m, loop, 0);
}

/* lanes[l] += element at row start + at + l, for l in [0, count); then that of each 64 rows later,
 * `each` in all. */
static void add_rows(column_reduction *r, ir_builder *b, const ir_value place[2], ir_value count,
                     int64_t each) {
    ir_op loop;
    ir_value l, parts[3] = {place[0], place[1], 0};
    int64_t factors[] = {1, 1, 1}, stride = r->f.columns;
    ir_builder in = tile_for(b, tile_index(b, 0), count, 1, NULL, 0, &loop, &l);
    lowering_mark(r->f.l, loop, r->f.op);
    parts[2] = l;
    ir_value x = column_elements(r, &in, tile_affine(&in, 0, parts, factors, 3));
    ir_value offset = tile_affine(&in, 0, &l, &stride, 1);
    ir_value sum = tile_load(&in, r->lanes, offset, 1, r->f.columns, 0, 1);
    sum = tile_op(&in, reduction_opcode(r->kind), (ir_value[]){sum, x}, 2, DTYPE_NONE);
    for (int64_t i = 1; i < each; i++) {
        x = column_elements(r, &in, tile_affine(&in, i * LANES, parts, factors, 3));
        sum = tile_op(&in, reduction_opcode(r->kind), (ir_value[]){sum, x}, 2, DTYPE_NONE);
    }
    tile_store(&in, r->lanes, offset, sum, 0, 1, false);
    tile_yield(&in, NULL, 0);
}

static void fold_rows(const column_reduction *r, ir_builder *b, int64_t half) {
    ir_op loop;
    ir_value l;
    int64_t stride = r->f.columns;
    ir_builder in = tile_for(b, tile_index(b, 0), tile_index(b, half), 1, NULL, 0, &loop, &l);
    lowering_mark(r->f.l, loop, r->f.op);
    ir_value low = tile_affine(&in, 0, &l, &stride, 1),
             high = tile_affine(&in, half * stride, &l, &stride, 1);
    ir_value operands[] = {tile_load(&in, r->lanes, low, 1, r->f.columns, 0, 1),
                           tile_load(&in, r->lanes, high, 1, r->f.columns, 0, 1)};
    tile_store(&in, r->lanes, low, tile_op(&in, reduction_opcode(r->kind), operands, 2, DTYPE_NONE),
               0, 1, false);
    tile_yield(&in, NULL, 0);
}

static void clear_lanes(const column_reduction *r, ir_builder *b) {
    ir_value l, zero = tile_constant(b, r->element, reduction_start(r->kind, r->element));
    int64_t stride = r->f.columns;
    ir_builder in = tile_for(b, tile_index(b, 0), tile_index(b, LANES), 1, NULL, 0, NULL, &l);
    tile_store(&in, r->lanes, tile_affine(&in, 0, &l, &stride, 1),
               tile_broadcast(&in, zero, 1, r->f.columns), 0, 1, false);
    tile_yield(&in, NULL, 0);
}

/* Whole steps of 64 rows from `start`, those of [from, to), `each` of them in one trip. */
static void add_steps(column_reduction *r, ir_builder *b, ir_value start, ir_value from,
                      ir_value to, int64_t each) {
    ir_op loop;
    ir_value at;
    ir_builder in = tile_for(b, from, to, LANES * each, NULL, 0, &loop, &at);
    lowering_mark(r->f.l, loop, r->f.op);
    add_rows(r, &in, (ir_value[]){start, at}, tile_index(&in, LANES), each);
    tile_yield(&in, NULL, 0);
}

static ir_value fold_lanes(const column_reduction *r, ir_builder *b) {
    for (int64_t half = LANES / 2; half > 0; half /= 2)
        fold_rows(r, b, half);
    return tile_load(b, r->lanes, tile_index(b, 0), 1, r->f.columns, 0, 1);
}

static ir_value columns_block(void *of, ir_builder *b, ir_value start, int64_t length) {
    column_reduction *r = of;
    int64_t full = length / LANES * LANES, trip = LANES * r->trip, trips = length / trip * trip;
    clear_lanes(r, b);
    if (trips)
        add_steps(r, b, start, tile_index(b, 0), tile_index(b, trips), r->trip);
    if (full > trips)
        add_steps(r, b, start, tile_index(b, trips), tile_index(b, full), 1);
    if (length > full)
        add_rows(r, b, (ir_value[]){start, tile_index(b, full)}, tile_index(b, length - full), 1);
    return fold_lanes(r, b);
}

static ir_value columns_some(void *of, ir_builder *b, ir_value start, ir_value length) {
    column_reduction *r = of;
    ir_value full = tile_index_floor(b, length, LANES);
    clear_lanes(r, b);
    add_steps(r, b, start, tile_index(b, 0), full, 1);
    add_rows(r, b, (ir_value[]){start, full}, tile_index_sub(b, length, full), 1);
    return fold_lanes(r, b);
}

void lower_columns(lowering *l, ir_builder *b, ir_op op) {
    column_reduction r = {.f = frame_of(l, op), .kind = ir_op_string(l->s, op, "kind", "sum")};
    const ir_op_data *d = ir_op_get(l->s, op);
    ir_dim length = ir_op_int(l->s, op, "extent", 0);
    ir_value out = d->operands[r.f.first_input + r.f.body_inputs], result;
    r.element = ir_type_of(l->s, out)->element;
    r.f.row_axis = -1;
    r.f.rows = 1;
    r.f.index[r.f.axes++] = tile_index(b, 0);
    if (order_of(l->s, op, ORDER_ANY) == ORDER_LANES64) {
        const sequence side_by_side = {.f = &r.f,
                                       .element = r.element,
                                       .columns = r.f.columns,
                                       .partial = &r.partial,
                                       .of = &r,
                                       .block = columns_block,
                                       .some = columns_some};
        r.lanes = lowering_scratch(l, b, r.element, LANES * r.f.columns);
        r.trip = schedule_step(l->s, op, "trip", 1);
        result = reduce_all(&side_by_side, b, length);
    } else {
        result = columns_any(&r, b, lowering_dim(l, b, length));
    }
    r.f.index[r.f.axes - 1] = tile_index(b, 0);
    frame_store(&r.f, b, 0, finished(r.kind, b, result));
}
