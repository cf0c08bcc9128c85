/* generic_reduce.c - reductions of rows of any length, in the order lanes64 (docs/numerics.md).
 *
 * A row is cut into blocks of 4096, whose results are a new sequence, and so on. A block's last
 * elements, fewer than 64, are put into a buffer of neutral ones first, which changes no lane. One
 * result more or less once is no matter, either: a sequence of one gives itself, but for -0, which
 * is +0 after the first time. */
#include <string.h>

#include "tile/generic.h"
#include "tile/lowering.h"

/* Of a thread's scratch: the last elements of a block; results of blocks of blocks; of blocks. */
enum { ELEMENT_BYTES = 8, LAST = 0, UPPER = LAST + GENERIC_LANES, LOWER = UPPER + GENERIC_BLOCK };

typedef struct row_reduction {
    generic *s;
    ir_value x;
    const char *kind;
    dtype element;
    generic_place index[IR_MAX_RANK]; /* the row */
    int last;                         /* the reduced axis */
    int64_t width;                    /* of the lanes' tiles */
    int tiles;
    ir_value from; /* memory of results of blocks; 0: x itself */
    ir_value tail; /* memory */
} row_reduction;

static ir_value scratch(const row_reduction *r, int64_t elements) {
    ir_module *m = r->s->m;
    ir_named_attr attr = {"offset", ir_attr_int(m, elements * ELEMENT_BYTES)};
    return ir_build1(&r->s->dims.top, TILE_SCRATCH, NULL, 0, ir_type_memory(m, r->element), &attr,
                     1);
}

static ir_value combine(const row_reduction *r, ir_builder *b, ir_value x, ir_value y) {
    return tile_op(b, reduction_opcode(r->kind), (ir_value[]){x, y}, 2, DTYPE_NONE);
}

/* Elements [at, at + width) of the sequence. */
static ir_value elements(row_reduction *r, ir_builder *b, ir_value at, int64_t width) {
    if (r->from)
        return tile_load(b, r->from, at, 1, width, 0, width > 1);
    generic_nest n = {.s = r->s, .b = b, .width = width};
    r->index[r->last] = (generic_place){at, width > 1};
    ir_value x = tile_broadcast(b, generic_element(&n, r->x, r->index), 1, width);
    generic_nest_release(&n);
    return x;
}

static void full_steps(row_reduction *r, ir_builder *b, ir_value start, ir_value length,
                       ir_value *lanes) {
    ir_op loop;
    ir_value at, next[GENERIC_LANES];
    ir_builder in = tile_for(b, r->s->zero, tile_index_floor(b, length, GENERIC_LANES),
                             GENERIC_LANES, lanes, (uint32_t)r->tiles, &loop, &at);
    const ir_block_data *block = ir_block_get(b->m, in.block);
    for (int i = 0; i < r->tiles; i++) {
        ir_value column = tile_index_step(&in, start, at, 1, i * r->width);
        next[i] = combine(r, &in, block->arguments[1 + i], elements(r, &in, column, r->width));
    }
    tile_yield(&in, next, (uint32_t)r->tiles);
    for (int i = 0; i < r->tiles; i++)
        lanes[i] = ir_op_result(b->m, loop, (uint32_t)i);
}

/* Runs its body where `count`, 0 or 1, is 1; lanes are carried through. */
static ir_builder open_maybe(row_reduction *r, ir_builder *b, ir_value count, ir_value *lanes,
                             ir_op *loop) {
    ir_value unused;
    ir_builder in =
        tile_for(b, r->s->zero, count, 1, lanes, lanes ? (uint32_t)r->tiles : 0, loop, &unused);
    const ir_block_data *block = ir_block_get(b->m, in.block);
    for (int i = 0; lanes && i < r->tiles; i++)
        lanes[i] = block->arguments[1 + i];
    return in;
}

static void last_elements(row_reduction *r, ir_builder *b, ir_value start, ir_value length,
                          ir_value *lanes) {
    ir_op loop;
    ir_value at, one = tile_index(&r->s->dims.top, 1);
    ir_value done = tile_index_floor(b, length, GENERIC_LANES),
             left = tile_index_sub(b, length, done);
    ir_builder in = open_maybe(r, b, tile_index_min(b, left, one), lanes, &loop);
    ir_value neutral = tile_constant(&in, r->element, reduction_neutral(r->kind, r->element));
    neutral = tile_broadcast(&in, neutral, 1, r->width);
    for (int i = 0; i < r->tiles; i++)
        tile_store(&in, r->tail, tile_index(&in, i * r->width), neutral, 0, 1, false);
    ir_builder each = tile_for(&in, r->s->zero, left, 1, NULL, 0, NULL, &at);
    ir_value from = tile_index_add(&each, tile_index_add(&each, start, done), at);
    tile_store(&each, r->tail, at, elements(r, &each, from, 1), 0, 0, false);
    tile_yield(&each, NULL, 0);
    for (int i = 0; i < r->tiles; i++) {
        ir_value x = tile_load(&in, r->tail, tile_index(&in, i * r->width), 1, r->width, 0, 1);
        lanes[i] = combine(r, &in, lanes[i], x);
    }
    tile_yield(&in, lanes, (uint32_t)r->tiles);
    for (int i = 0; i < r->tiles; i++)
        lanes[i] = ir_op_result(b->m, loop, (uint32_t)i);
}

static ir_value reduce_block(row_reduction *r, ir_builder *b, ir_value start, ir_value length) {
    ir_module *m = b->m;
    ir_value lanes[GENERIC_LANES];
    ir_value first = tile_constant(b, r->element, reduction_start(r->kind, r->element));
    for (int i = 0; i < r->tiles; i++)
        lanes[i] = tile_broadcast(b, first, 1, r->width);
    full_steps(r, b, start, length, lanes);
    last_elements(r, b, start, length, lanes);
    ir_named_attr attrs[] = {{"kind", ir_attr_string(m, r->kind)},
                             {"order", ir_attr_string(m, order_info_of(ORDER_LANES64)->name)},
                             {"reduction", ir_attr_int(m, 0)}};
    return ir_build1(b, TILE_FOLD, lanes, (uint32_t)r->tiles, ir_type_tile(m, r->element, 1, 1, 0),
                     attrs, 3);
}

/* The results of a sequence's blocks (one where it is empty), into memory; how many. */
static ir_value reduce_blocks(row_reduction *r, ir_builder *b, ir_value length, ir_value into) {
    ir_value number, block = tile_index(&r->s->dims.top, GENERIC_BLOCK);
    ir_value count = tile_index_step(b, length, r->s->zero, 0, GENERIC_BLOCK - 1);
    count = tile_index_by(b, TILE_INDEX_DIV, count, GENERIC_BLOCK);
    count = tile_index_max(b, count, tile_index(b, 1));
    ir_builder in = tile_for(b, r->s->zero, count, 1, NULL, 0, NULL, &number);
    ir_value start = tile_index_step(&in, r->s->zero, number, GENERIC_BLOCK, 0);
    ir_value left = tile_index_min(&in, tile_index_sub(&in, length, start), block);
    tile_store(&in, into, number, reduce_block(r, &in, start, left), 0, 0, false);
    tile_yield(&in, NULL, 0);
    return count;
}

/* Three levels are enough for 2^36 elements; most rows have one. */
static ir_value reduce_row(row_reduction *r, ir_builder *b, ir_value length) {
    ir_value lower = scratch(r, LOWER), upper = scratch(r, UPPER);
    ir_value one = tile_index(b, 1), several;
    ir_value count = reduce_blocks(r, b, length, lower);
    several = tile_index_min(b, tile_index_step(b, count, r->s->zero, 0, -1), one);
    ir_builder in = open_maybe(r, b, several, NULL, NULL);
    r->from = lower;
    count = reduce_blocks(r, &in, count, upper);
    r->from = upper;
    tile_store(&in, lower, r->s->zero, reduce_block(r, &in, r->s->zero, count), 0, 0, false);
    tile_yield(&in, NULL, 0);
    return tile_load(b, lower, r->s->zero, 1, 1, 0, 0);
}

static void need_scratch(generic *s, ir_dim length) {
    ir_module *g = s->g;
    ir_dim blocks = ir_dim_add(g, ir_dim_floordiv(g, length, GENERIC_BLOCK), LOWER + 1);
    s->scratch_bytes = ir_dim_add(g, s->scratch_bytes, ir_dim_mul(g, blocks, ELEMENT_BYTES));
}

void generic_reduce(generic *s, ir_op op) {
    ir_value v = ir_op_get(s->g, op)->results[0], x = ir_op_get(s->g, op)->operands[0], cell;
    ir_value at[IR_MAX_RANK];
    const ir_type_data *t = generic_type(s, x);
    row_reduction r = {.s = s,
                       .x = x,
                       .kind = ir_op_string(s->g, op, "kind", "sum"),
                       .element = t->element,
                       .last = t->rank - 1,
                       .width = s->lanes,
                       .tiles = GENERIC_LANES / s->lanes};
    ir_dim cells = 1;
    for (int i = 0; i < r.last; i++)
        cells = ir_dim_mul(s->g, cells, t->dims[i]);
    need_scratch(s, t->dims[r.last]);
    ir_builder b = generic_phase(s, "rows", cells, &cell);
    r.tail = scratch(&r, LAST);
    generic_unravel(s, &b, cell, t->dims, r.last, at);
    for (int i = 0; i < r.last; i++)
        r.index[i] = (generic_place){at[i], 0};
    generic_place row[IR_MAX_RANK];
    memcpy(row, r.index, sizeof row);
    ir_value total = reduce_row(&r, &b, dim_values_get(&s->dims, t->dims[r.last]));
    generic_store(s, &b, v, row, total);
}
