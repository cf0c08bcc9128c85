/* lower_exact.c - sums in the order exact: along a row, or of columns side by side.
 *
 * A block of elements is added as f64. Its greatest and least exponents tell whether every such
 * addition was exact, in whatever order (spread_most): then the block's sum is one number for the
 * words below, else each of its elements is. An f64 is two numbers of 26 and 27 bits.
 *
 * Word k, an i64, has the digits of weight 2^(32 k + least). A number is added to it as its 32 bits
 * there, with its sign; so words of no more than 2^31 numbers are exact, and nothing of them
 * depends on an order. At the end carries go upwards, and the 64 highest bits, and whether there is
 * anything below them, are rounded once (lower_exact_words.c). Beside them `plain`, the sum of all
 * blocks in f64, says what the words cannot: whether there is an infinity or a NaN, or nothing but
 * -0. */
#include <string.h>

#include "tile/lower_exact.h"

/* Elements of a block, and of the parts in which it is added again. */
enum { BLOCK = 1024, PART = 64, KEPT = 4, SUB_TILES = 2 };
/* A row up to here may be exact as f64, where a launch gives its length. */
enum { SHORT = 4096 };

/* The outcome of a block. */
typedef struct block_sum {
    ir_value state[KEPT]; /* sums, the greatest and the least exponent */
    ir_value bad;         /* results of which it is not the exact sum */
    ir_value again;       /* an index: 1 where there are any, else 0 */
    ir_value start, length;
    int64_t known; /* the length; 0: it is no number */
} block_sum;

static ir_value elements(exact *x, ir_builder *b, ir_value at, int64_t width, ir_value valid) {
    ir_value yield;
    x->f.index[x->f.axes - 1] = at;
    if (!x->columns) {
        x->f.columns = width;
        x->f.valid_columns = valid;
    }
    frame_body(&x->f, b, &yield);
    return tile_broadcast(b, yield, 1, x->columns ? x->width : width);
}

/* ---- a block ---- */

static int kept(const exact *x) {
    return x->sums + 2;
}

/* Sums from -0, so that they are -0 only of nothing but that; greatest and least of the bits
 * without the sign, of the latter without zeros. */
static void open_block(const exact *x, ir_builder *b, ir_value *state) {
    const ir_value minus = tile_constant(b, DTYPE_F64, EXACT_MINUS),
                   none = tile_constant(b, x->bits, 0),
                   all = tile_constant(b, x->bits, dtype_wrap(x->bits, -1));
    const ir_value first[KEPT] = {minus, x->sums > 1 ? minus : none, x->sums > 1 ? none : all, all};
    for (int64_t i = 0; i < x->parts * kept(x); i++)
        state[i] = tile_broadcast(b, first[i % kept(x)], 1, x->sub);
}

static void add_elements(const exact *x, ir_builder *b, ir_value v, ir_value *state) {
    const bool wide = x->element == DTYPE_F64;
    ir_value bits = tile_op(b, TILE_BITCAST, &v, 1, x->bits), parts[2] = {0};
    if (wide) {
        ir_value high =
            tile_binary(b, TILE_AND, bits, tile_constant(b, x->bits, ~((UINT64_C(1) << 27) - 1)));
        parts[0] = tile_op(b, TILE_BITCAST, &high, 1, DTYPE_F64);
        parts[1] = tile_binary(b, TILE_SUB, v, parts[0]);
    } else {
        parts[0] = tile_op(b, TILE_CONVERT, &v, 1, DTYPE_F64);
    }
    for (int i = 0; i < x->sums; i++)
        state[i] = tile_binary(b, TILE_ADD, state[i], parts[i]);
    ir_value one = tile_constant(b, x->bits, 1), key = tile_binary(b, TILE_SHL, bits, one),
             *range = state + x->sums;
    range[0] = tile_binary(b, TILE_MAXIMUM, range[0], key);
    range[1] = tile_binary(b, TILE_MINIMUM, range[1], tile_binary(b, TILE_SUB, key, one));
}

/* Steps [low, high) behind `start`, which are whole ones: `parts` times `sub` elements each. */
static void whole_steps(exact *x, ir_builder *b, ir_value start, ir_value high, ir_value *state) {
    const uint32_t n = (uint32_t)(x->parts * kept(x));
    const int64_t ones[] = {1, 1}, each = x->columns ? 1 : x->sub;
    ir_op loop;
    ir_value at, next[SUB_TILES * KEPT];
    ir_builder in = tile_for(b, tile_index(b, 0), high, x->parts * each, state, n, &loop, &at);
    lowering_mark(x->f.l, loop, x->f.op);
    memcpy(next, &ir_block_get(b->m, in.block)->arguments[1], n * sizeof *next);
    for (int64_t i = 0; i < x->parts; i++) {
        ir_value place = tile_affine(&in, i * each, (ir_value[]){start, at}, ones, 2);
        add_elements(x, &in, elements(x, &in, place, x->sub, 0), next + i * kept(x));
    }
    tile_yield(&in, next, n);
    for (uint32_t i = 0; i < n; i++)
        state[i] = ir_op_result(b->m, loop, i);
}

/* Elements that change no state in the place of those that are not there: -0. */
static ir_value with_rest(const exact *x, ir_builder *b, ir_value v, int64_t width) {
    const ir_named_attr attr = {"value", ir_attr_bits(b->m, x->element, x->minus)};
    return width == x->sub
               ? v
               : ir_build1(b, TILE_PAD, &v, 1, ir_type_tile(b->m, x->element, 1, x->sub), &attr, 1);
}

static void known_steps(exact *x, ir_builder *b, ir_value start, int64_t length, ir_value *state) {
    const int64_t step = x->parts * (x->columns ? 1 : x->sub), whole = length / step * step;
    if (whole)
        whole_steps(x, b, start, tile_index(b, whole), state);
    for (int64_t done = whole, i = 0; done < length; done += x->sub, i++) {
        const int64_t width = length - done < x->sub ? length - done : x->sub;
        ir_value v = elements(x, b, tile_index_plus(b, start, done), width, 0);
        add_elements(x, b, with_rest(x, b, v, width), state + i * kept(x));
    }
}

/* A length that a launch gives, of a row: all of it goes to the first sub-tile. */
static void any_steps(exact *x, ir_builder *b, ir_value start, ir_value length, ir_value *state) {
    ir_op loop;
    ir_value at, next[KEPT], zero = tile_index(b, 0);
    const uint32_t n = (uint32_t)kept(x);
    ir_builder in = tile_for(b, zero, length, x->sub, state, n, &loop, &at);
    lowering_mark(x->f.l, loop, x->f.op);
    memcpy(next, &ir_block_get(b->m, in.block)->arguments[1], n * sizeof *next);
    ir_value valid = tile_index_sub(&in, length, at),
             v = elements(x, &in, tile_index_add(&in, start, at), x->sub, valid),
             there = tile_compare(&in, "lt", tile_iota(&in, tile_index(&in, 0), false, x->sub),
                                  tile_from_index(&in, valid)),
             none = tile_broadcast(&in, tile_constant(&in, x->element, x->minus), 1, x->sub);
    add_elements(x, &in, tile_select(&in, there, v, none), next);
    x->f.valid_columns = 0;
    tile_yield(&in, next, n);
    for (uint32_t i = 0; i < n; i++)
        state[i] = ir_op_result(b->m, loop, i);
}

/* One of each kind, of all parts. */
static void fold_block(const exact *x, ir_builder *b, ir_value *state) {
    ir_value parts[SUB_TILES];
    for (int i = 0; i < kept(x) && !x->columns; i++) {
        const char *kind = i < x->sums ? "sum" : i == x->sums ? "max" : "min";
        const ir_named_attr attr = {"kind", ir_attr_string(b->m, kind)};
        for (int64_t k = 0; k < x->parts; k++)
            parts[k] = state[k * kept(x) + i];
        dtype element = tile_type(b, parts[0])->element;
        state[i] = ir_build1(b, TILE_FOLD, parts, (uint32_t)x->parts,
                             ir_type_tile(b->m, element, 1, 1), &attr, 1);
        lowering_mark(x->f.l, ir_value_get(b->m, state[i])->op, x->f.op);
    }
}

/* Bits of a number are at least 2^lowest and at most 2^highest, by the fields of their exponents;
 * the sums of a block of so many numbers have 53 bits. Numbers of an f64 have 26 and 27 bits. */
static int64_t spread_most(const exact *x, int64_t block) {
    int64_t spread = x->element == DTYPE_F64 ? 53 - 27 : 53 - 24;
    for (int64_t n = 1; n < block; n *= 2)
        spread--;
    return spread;
}

/* Exponents of both ends as i32. An infinity or a NaN is too great, and so is an f64 whose sum may
 * be one. */
static ir_value exceeds(const exact *x, ir_builder *b, const ir_value *range, int64_t block) {
    const bool wide = x->element == DTYPE_F64;
    const ir_value by = tile_constant(b, x->bits, wide ? 53 : 24);
    ir_value field[2];
    for (int i = 0; i < 2; i++) {
        field[i] = tile_binary(b, TILE_USHR, range[i], by);
        field[i] = tile_op(b, TILE_CONVERT, &field[i], 1, DTYPE_I32);
    }
    ir_value most = tile_constant(b, DTYPE_I32, wide ? 2046 - 36 : 254),
             spread = tile_constant(b, DTYPE_I32, dtype_wrap(DTYPE_I32, spread_most(x, block))),
             apart = tile_compare(b, "gt", tile_binary(b, TILE_SUB, field[0], field[1]), spread);
    return tile_binary(b, TILE_OR, apart, tile_compare(b, "gt", field[0], most));
}

/* Is any of them true? An index: 1 or 0. */
static ir_value any_of(const exact *x, ir_builder *b, ir_value bad) {
    ir_op loop;
    ir_value i, found = tile_op(b, TILE_CONVERT, &bad, 1, DTYPE_I32);
    if (x->columns) {
        tile_store(b, x->flags, tile_index(b, 0), tile_broadcast(b, found, 1, x->width), 0, 1,
                   false);
        ir_value none = tile_constant(b, DTYPE_I32, 0);
        ir_builder in =
            tile_for(b, tile_index(b, 0), tile_index(b, x->width), 1, &none, 1, &loop, &i);
        ir_value next = tile_binary(&in, TILE_OR, ir_block_get(b->m, in.block)->arguments[1],
                                    tile_load(&in, x->flags, i, 1, 1, 0, 1));
        tile_yield(&in, &next, 1);
        found = ir_op_result(b->m, loop, 0);
    }
    return ir_build1(b, TILE_TO_INDEX, &found, 1, ir_type_index(b->m), NULL, 0);
}

/* Elements [start, start + length), a number or, where that is 0, `some`. */
static block_sum sum_block(exact *x, ir_builder *b, ir_value start, int64_t length, ir_value some) {
    ir_value state[SUB_TILES * KEPT];
    open_block(x, b, state);
    if (!some)
        known_steps(x, b, start, length, state);
    else if (x->columns)
        whole_steps(x, b, start, some, state);
    else
        any_steps(x, b, start, some, state);
    fold_block(x, b, state);
    block_sum s = {
        .start = start, .length = some ? some : tile_index(b, length), .known = some ? 0 : length};
    memcpy(s.state, state, sizeof s.state);
    s.bad = exceeds(x, b, state + x->sums, some ? BLOCK : length);
    s.again = any_of(x, b, s.bad);
    return s;
}

/* ---- blocks to words ---- */

/* The part of a number that `plain` takes: so little that no sum of it is an infinity. */
static ir_value little(ir_builder *b, ir_value v) {
    return tile_binary(b, TILE_MUL, v, tile_constant(b, DTYPE_F64, EXACT_LITTLE));
}

/* Each element of a block by itself, where its sum is not exact. Returns the next `plain`. */
static ir_value add_each(exact *x, ir_builder *b, const block_sum *s, ir_value plain) {
    ir_op loop;
    ir_value i, count = ir_build1(b, TILE_INDEX_MUL, (ir_value[]){s->again, s->length}, 2,
                                  ir_type_index(b->m), NULL, 0);
    ir_builder in = tile_for(b, tile_index(b, 0), count, 1, &plain, 1, &loop, &i);
    lowering_mark(x->f.l, loop, x->f.op);
    ir_value v = elements(x, &in, tile_index_add(&in, s->start, i), 1, 0);
    v = x->element == DTYPE_F64 ? v : tile_op(&in, TILE_CONVERT, &v, 1, DTYPE_F64);
    ir_value size = tile_op(&in, TILE_ABS, &v, 1, DTYPE_NONE),
             finite = tile_compare(&in, "lt", size, tile_constant(&in, DTYPE_F64, EXACT_INFINITY)),
             counts = tile_binary(&in, TILE_AND, finite, s->bad),
             minus = tile_constant(&in, DTYPE_F64, EXACT_MINUS);
    exact_add_digits(x, &in, tile_select(&in, counts, v, tile_constant(&in, DTYPE_F64, 0)));
    ir_value next = tile_binary(&in, TILE_ADD, ir_block_get(b->m, in.block)->arguments[1],
                                tile_select(&in, s->bad, little(&in, v), minus));
    tile_yield(&in, &next, 1);
    return ir_op_result(b->m, loop, 0);
}

/* The sums of a block, but of results that `bad` or not `of` (0: all) tells to leave out. */
static ir_value add_sums(exact *x, ir_builder *b, const block_sum *s, ir_value of, ir_value plain) {
    ir_value zero = tile_constant(b, DTYPE_F64, 0),
             minus = tile_constant(b, DTYPE_F64, EXACT_MINUS);
    for (int i = 0; i < x->sums; i++) {
        ir_value v = tile_select(b, s->bad, zero, s->state[i]);
        exact_add_digits(x, b, of ? tile_select(b, of, v, zero) : v);
    }
    ir_value v = tile_select(b, s->bad, minus, little(b, s->state[0]));
    return tile_binary(b, TILE_ADD, plain, of ? tile_select(b, of, v, minus) : v);
}

/* A block whose sum is not exact is added again in parts, and of these what is not exact either
 * element by element. */
static ir_value add_parts(exact *x, ir_builder *b, const block_sum *s, ir_value plain) {
    const int64_t parts = s->known / PART, ones[] = {1, PART};
    ir_op loop;
    ir_value i, count = ir_build1(b, TILE_INDEX_MUL, (ir_value[]){s->again, tile_index(b, parts)},
                                  2, ir_type_index(b->m), NULL, 0);
    ir_builder in = tile_for(b, tile_index(b, 0), count, 1, &plain, 1, &loop, &i);
    lowering_mark(x->f.l, loop, x->f.op);
    block_sum part =
        sum_block(x, &in, tile_affine(&in, 0, (ir_value[]){s->start, i}, ones, 2), PART, 0);
    plain = add_sums(x, &in, &part, s->bad, ir_block_get(b->m, in.block)->arguments[1]);
    part.bad = tile_binary(&in, TILE_AND, part.bad, s->bad);
    plain = add_each(x, &in, &part, plain);
    tile_yield(&in, &plain, 1);
    block_sum rest = *s;
    rest.start = tile_index_plus(b, s->start, parts * PART);
    rest.length = tile_index(b, s->known % PART);
    plain = ir_op_result(b->m, loop, 0);
    return s->known % PART ? add_each(x, b, &rest, plain) : plain;
}

static ir_value add_block(exact *x, ir_builder *b, const block_sum *s, ir_value plain) {
    plain = add_sums(x, b, s, 0, plain);
    return (s->known >= PART ? add_parts : add_each)(x, b, s, plain);
}

static ir_value plain_of_none(const exact *x, ir_builder *b) {
    return tile_broadcast(b, tile_constant(b, DTYPE_F64, EXACT_MINUS), 1, x->width);
}

/* ---- all blocks ---- */

/* The sum that a state holds, where it is exact. The lower parts of -0 are +0. */
static ir_value sum_of_state(const exact *x, ir_builder *b, const ir_value *state) {
    if (x->element != DTYPE_F64)
        return tile_op(b, TILE_CONVERT, state, 1, x->element);
    ir_value none = tile_compare(b, "eq", state[1], tile_constant(b, DTYPE_F64, 0)),
             sum = tile_binary(b, TILE_ADD, state[0], state[1]);
    return tile_select(b, none, state[0], x->odd ? exact_to_odd(b, sum, state) : sum);
}

/* The only block: its sum is the result, but where it is not exact. */
static ir_value only_block(exact *x, ir_builder *b, int64_t length) {
    ir_op loop;
    ir_value unused, zero = tile_index(b, 0);
    block_sum s = sum_block(x, b, zero, length, 0);
    ir_value sum = sum_of_state(x, b, s.state);
    ir_builder in = tile_for(b, zero, s.again, 1, &sum, 1, &loop, &unused);
    lowering_mark(x->f.l, loop, x->f.op);
    exact_clear_words(x, &in);
    sum = exact_round_words(x, &in, add_block(x, &in, &s, plain_of_none(x, &in)));
    tile_yield(&in, &sum, 1);
    return ir_op_result(b->m, loop, 0);
}

/* Carried from block to block: the state of all, and `plain`. */
enum { PLAIN = KEPT, CARRIED };

static void next_block(exact *x, ir_builder *b, const block_sum *s, ir_value *carried) {
    const int range = x->sums;
    for (int i = 0; i < kept(x); i++)
        carried[i] = tile_binary(b,
                                 i < range    ? TILE_ADD
                                 : i == range ? TILE_MAXIMUM
                                              : TILE_MINIMUM,
                                 carried[i], s->state[i]);
    carried[PLAIN] = add_block(x, b, s, carried[PLAIN]);
}

/* The words, but where the sum of all blocks as f64 is exact, too: short rows, of `most` elements,
 * or where that is 0 of `length`. */
static ir_value total(const exact *x, ir_builder *b, const ir_value *carried, int64_t most,
                      ir_value length) {
    ir_op loop;
    ir_value unused, sum = sum_of_state(x, b, carried),
                     again = any_of(x, b, exceeds(x, b, carried + x->sums, most ? most : SHORT));
    if (!most)
        again = tile_index_min(
            b, tile_index(b, 1),
            tile_index_add(b, again, tile_index_by(b, TILE_INDEX_DIV, length, SHORT + 1)));
    ir_builder in = tile_for(b, tile_index(b, 0), again, 1, &sum, 1, &loop, &unused);
    lowering_mark(x->f.l, loop, x->f.op);
    sum = exact_round_words(x, &in, carried[PLAIN]);
    tile_yield(&in, &sum, 1);
    return ir_op_result(b->m, loop, 0);
}

static void open_carried(const exact *x, ir_builder *b, ir_value *carried) {
    const exact one = {.bits = x->bits, .sums = x->sums, .parts = 1, .sub = x->width};
    open_block(&one, b, carried);
    if (x->sums == 1)
        carried[KEPT - 1] = carried[0];
    carried[PLAIN] = plain_of_none(x, b);
}

/* Whole blocks, then what is left of `length`, which is `most` where that is not 0. */
static ir_value several_blocks(exact *x, ir_builder *b, ir_value length, int64_t most) {
    const int64_t block = BLOCK;
    ir_value blocks =
        most ? tile_index(b, most / BLOCK) : tile_index_by(b, TILE_INDEX_DIV, length, BLOCK);
    ir_op loop;
    ir_value number, carried[CARRIED];
    open_carried(x, b, carried);
    exact_clear_words(x, b);
    ir_builder in = tile_for(b, tile_index(b, 0), blocks, 1, carried, CARRIED, &loop, &number);
    lowering_mark(x->f.l, loop, x->f.op);
    memcpy(carried, &ir_block_get(b->m, in.block)->arguments[1], sizeof carried);
    block_sum s = sum_block(x, &in, tile_affine(&in, 0, &number, &block, 1), BLOCK, 0);
    next_block(x, &in, &s, carried);
    tile_yield(&in, carried, CARRIED);
    for (int i = 0; i < CARRIED; i++)
        carried[i] = ir_op_result(b->m, loop, (uint32_t)i);
    if (!most || most % BLOCK) {
        ir_value start = tile_affine(b, 0, &blocks, &block, 1);
        s = sum_block(x, b, start, most % BLOCK, most ? 0 : tile_index_sub(b, length, start));
        next_block(x, b, &s, carried);
    }
    return total(x, b, carried, most, length);
}

/* A sum of no elements is +0. */
static ir_value or_zero(const exact *x, ir_builder *b, ir_value sum, ir_value length) {
    ir_value none = tile_constant(b, DTYPE_I32, 0),
             empty = tile_compare(b, "eq", tile_from_index(b, length), none);
    return tile_select(b, empty, tile_constant(b, x->element, 0), sum);
}

static ir_value sum_of(exact *x, ir_builder *b, ir_dim extent) {
    if (extent == 0)
        return tile_broadcast(b, tile_constant(b, x->element, 0), 1, x->width);
    if (ir_dim_is_static(extent) && extent <= BLOCK)
        return only_block(x, b, extent);
    ir_value length = lowering_dim(x->f.l, b, extent);
    if (ir_dim_is_static(extent))
        return several_blocks(x, b, length, extent);
    return or_zero(x, b, several_blocks(x, b, length, 0), length);
}

static exact exact_of(lowering *l, ir_op op, bool columns) {
    exact x = {.f = frame_of(l, op),
               .odd = order_of(l->s, op, ORDER_ANY) == ORDER_EXACT_ODD,
               .columns = columns};
    const ir_value out = ir_op_get(l->s, op)->operands[x.f.first_input + x.f.body_inputs];
    x.element = ir_type_of(l->s, out)->element;
    const bool wide = x.element == DTYPE_F64;
    x.bits = wide ? DTYPE_U64 : DTYPE_U32;
    x.minus = wide ? EXACT_MINUS : UINT64_C(1) << 31;
    x.sums = wide ? 2 : 1;
    x.least = wide ? -1074 : -149;
    x.digits = wide ? 67 : 10;
    x.width = columns ? x.f.columns : 1;
    x.sub = columns ? x.width : schedule_step(l->s, op, "sub", LANES);
    if (!columns && (x.sub < 1 || LANES % x.sub != 0))
        x.sub = LANES;
    x.parts = columns || x.sub >= LANES ? 1 : SUB_TILES;
    return x;
}

void lower_exact(lowering *l, ir_builder *b, ir_op op) {
    const bool columns = ir_op_get(l->s, op)->opcode == SCHED_COLUMNS;
    exact x = exact_of(l, op, columns);
    if (!columns && x.f.axes > 0 && x.f.columns > 1) {
        lowering_fail(l, "an exact sum has one row at a time");
        return;
    }
    x.f.row_axis = -1;
    x.f.rows = 1;
    x.f.valid_rows = 0;
    x.f.index[x.f.axes] = tile_index(b, 0);
    if (!columns)
        x.f.column_axis = x.f.axes;
    x.f.axes++;
    const size_t ready = l->ready.count;
    if (!columns)
        frame_load_ahead(&x.f, b);
    x.memory = lowering_scratch(l, b, DTYPE_I64, exact_words(&x) * x.width);
    if (columns)
        x.flags = lowering_scratch(l, b, DTYPE_I32, x.width);
    ir_value sum = sum_of(&x, b, ir_op_int(l->s, op, "extent", 0));
    l->ready.count = ready;
    x.f.index[x.f.axes - 1] = tile_index(b, 0);
    if (!columns) {
        x.f.columns = 1;
        x.f.valid_columns = 0;
    }
    frame_store(&x.f, b, 0, sum);
}
