/* lower_sort.c - the order of elements along an axis: Batcher's merge exchange (D. Knuth, The Art
 * of Computer Programming, vol. 3, 5.2.2, algorithm M), a network for any number of elements.
 *
 * Rows, or columns, lie side by side in the thread's own memory, a line for each element, so that
 * one exchange is of as many pairs as there are rows. Threads exchange several pairs of a row at
 * once: those of one step of the network have no element in common. What is compared are integers
 * in the order of the elements, and of equal ones the positions: no two are the same, and so the
 * order is stable.
 */
#include <string.h>

#include "tile/lowering.h"

typedef struct sort {
    frame f; /* the sorted index is its last */
    ir_dim extent;
    ir_value length;
    int64_t step, abreast; /* elements that are moved at once; rows or columns side by side */
    bool along_rows, descending;
    bool threads; /* share the memory: a line has a key for each of them, whatever is there */
    dtype key;
    ir_value keys, places; /* [element][abreast] */
    int64_t pairs;         /* of a row or column, at once, by threads; 0: one */
    int64_t lanes;         /* rows or columns that are moved at once: all, or */
    ir_value row;          /* only this one */
} sort;

/* ---- keys ---- */

/* Floats as integers of their order: those below zero turn around; zeros are one, NaNs the last. */
static ir_value key_of_float(ir_builder *b, ir_value x, dtype key) {
    int64_t bits = 8 * (int64_t)dtype_size(key);
    uint64_t magnitude = (UINT64_C(1) << (bits - 1)) - 1;
    ir_value nan = tile_compare(b, "uno", x, x), last = tile_constant(b, key, magnitude);
    x = tile_binary(b, TILE_ADD, x, tile_constant(b, tile_type(b, x)->element, 0));
    x = tile_op(b, TILE_BITCAST, &x, 1, key);
    ir_value sign = tile_binary(b, TILE_SHR, x, tile_constant(b, key, (uint64_t)bits - 1));
    return tile_select(b, nan, last,
                       tile_binary(b, TILE_XOR, x, tile_binary(b, TILE_AND, sign, last)));
}

/* As many bits, whose least is that of a type with a sign. */
static ir_value key_of_unsigned(ir_builder *b, ir_value x, dtype key) {
    x = tile_op(b, TILE_BITCAST, &x, 1, key);
    return tile_binary(b, TILE_XOR, x, tile_constant(b, key, dtype_wrap(key, dtype_lowest(key))));
}

static ir_value key_of(const sort *q, ir_builder *b, ir_value x) {
    const dtype element = tile_type(b, x)->element;
    if (dtype_is_float(element))
        x = key_of_float(b, x, q->key);
    else if (dtype_is_unsigned(element) && dtype_size(element) == dtype_size(q->key))
        x = key_of_unsigned(b, x, q->key);
    else if (element != q->key)
        x = tile_op(b, TILE_CONVERT, &x, 1, q->key);
    return q->descending ? tile_op(b, TILE_NOT, &x, 1, DTYPE_NONE) : x;
}

/* ---- in and out ---- */

/* `count` elements from `at` on, of which `left` (0: all) are there. */
typedef void (*visit)(sort *q, ir_builder *b, ir_value at, int64_t count, ir_value left);

static ir_value line(const sort *q, ir_builder *b, ir_value at) {
    ir_value parts[] = {at, q->row};
    return tile_affine(b, 0, parts, (int64_t[]){q->abreast, 1}, q->row ? 2 : 1);
}

static void fill(sort *q, ir_builder *b, ir_value at, int64_t count, ir_value left) {
    ir_value yields[SCHEDULE_OUTPUTS];
    frame *f = &q->f;
    f->index[f->axes - 1] = at;
    f->row_axis = count > 1 ? f->axes - 1 : -1;
    f->column_axis = f->axes - 2;
    f->rows = count;
    f->columns = q->lanes;
    f->valid_rows = left;
    frame_body(f, b, yields);
    ir_value key = tile_broadcast(b, key_of(q, b, yields[0]), count, q->lanes);
    tile_store(b, q->keys, line(q, b, at), key, q->abreast, 1, false);
    ir_value places = tile_iota(b, at, true, count);
    tile_store(b, q->places, line(q, b, at), tile_broadcast(b, places, count, q->lanes), q->abreast,
               1, false);
}

/* Gives lines; those of rows are turned. */
static void give(sort *q, ir_builder *b, ir_value at, int64_t count, ir_value left) {
    frame *f = &q->f;
    ir_value rows_there = q->along_rows ? f->valid_columns : 0;
    f->index[f->axes - 1] = at;
    if (!q->along_rows) {
        f->row_axis = -1;
        f->rows = 1;
        f->valid_rows = 0;
        frame_store(f, b, 0, tile_load(b, q->places, line(q, b, at), 1, q->lanes, 0, 1));
        return;
    }
    f->row_axis = q->lanes > 1 ? f->axes - 2 : -1;
    f->column_axis = f->axes - 1;
    f->rows = q->lanes;
    f->columns = count;
    f->valid_rows = rows_there;
    f->valid_columns = left;
    frame_store(f, b, 0, tile_load(b, q->places, line(q, b, at), q->lanes, count, 1, q->abreast));
    f->valid_columns = rows_there;
}

static void visit_loop(sort *q, ir_builder *b, visit each, ir_value low, ir_value high,
                       ir_value end) {
    ir_value at;
    ir_builder in = tile_for(b, low, high, q->step, NULL, 0, NULL, &at);
    each(q, &in, at, q->step, end ? tile_index_sub(&in, end, at) : 0);
    tile_yield(&in, NULL, 0);
}

/* Elements from `low` on, one by one in each of the rows. */
static void visit_singly(sort *q, ir_builder *b, visit each, ir_value low) {
    sort one = *q;
    frame *f = &one.f;
    ir_value at, row, rows = tile_index(b, q->abreast), first = f->index[f->axes - 2];
    if (f->valid_columns)
        rows = tile_index_min(b, f->valid_columns, rows);
    ir_builder lines = tile_for(b, low, q->length, 1, NULL, 0, NULL, &at);
    ir_builder in = tile_for(&lines, tile_index(&lines, 0), rows, 1, NULL, 0, NULL, &row);
    f->index[f->axes - 2] = tile_index_add(&in, first, row);
    f->valid_columns = 0;
    one.lanes = 1;
    one.row = row;
    each(&one, &in, at, 1, 0);
    tile_yield(&in, NULL, 0);
    tile_yield(&lines, NULL, 0);
}

/* A body for what steps leave over would be turned in registers like that of the steps, for a few
 * elements beside all the exchanges. */
static void visit_all(sort *q, ir_builder *b, visit each) {
    bool known = ir_dim_is_static(q->extent);
    ir_value zero = tile_index(b, 0), full = tile_index_floor(b, q->length, q->step);
    if (!known || q->extent >= q->step)
        visit_loop(q, b, each, zero, full, 0);
    bool rest = !known || (q->threads && q->extent % q->step);
    if (rest && q->step > 1)
        visit_loop(q, b, each, full, q->length, q->length);
    else if (known && q->extent % q->step && q->extent > q->step)
        visit_singly(q, b, each, full);
    else if (known && q->extent % q->step)
        each(q, b, full, q->extent, 0);
}

/* ---- the network ---- */

static ir_value index_of(ir_builder *b, ir_value number) {
    return ir_build1(b, TILE_TO_INDEX, &number, 1, ir_type_index(b->m), NULL, 0);
}

static ir_value power_of_two(ir_builder *b, ir_value exponent) {
    return tile_binary(b, TILE_SHL, tile_constant(b, DTYPE_I32, 1), exponent);
}

/* The least t with 2^t not below the length. */
static ir_value count_stages(const sort *q, ir_builder *b) {
    int64_t stages = 0;
    if (ir_dim_is_static(q->extent)) {
        while ((INT64_C(1) << stages) < q->extent)
            stages++;
        return tile_index(b, stages);
    }
    enum { MOST_STAGES = 31 };
    ir_value none = tile_constant(b, DTYPE_I32, 0), length = tile_from_index(b, q->length), at;
    ir_op loop;
    ir_builder in =
        tile_for(b, tile_index(b, 0), tile_index(b, MOST_STAGES), 1, &none, 1, &loop, &at);
    ir_value stage = tile_from_index(&in, at),
             below = tile_compare(&in, "lt", power_of_two(&in, stage), length);
    ir_value next =
        tile_select(&in, below, tile_from_index(&in, tile_index_add(&in, at, tile_index(&in, 1))),
                    ir_block_get(b->m, in.block)->arguments[1]);
    tile_yield(&in, &next, 1);
    return index_of(b, ir_op_result(b->m, loop, 0));
}

/* Tells that the second of two elements comes first; i and j are where they were. */
static ir_value swaps(ir_builder *b, ir_value x, ir_value y, ir_value i, ir_value j) {
    ir_value same =
        tile_binary(b, TILE_AND, tile_compare(b, "eq", x, y), tile_compare(b, "lt", j, i));
    return tile_binary(b, TILE_OR, tile_compare(b, "lt", y, x), same);
}

/* Lines `low` and `high` in order. */
static void exchange(const sort *q, ir_builder *b, ir_value low, ir_value high) {
    int64_t n = q->abreast;
    ir_value x = tile_load(b, q->keys, low, 1, n, 0, 1),
             y = tile_load(b, q->keys, high, 1, n, 0, 1);
    ir_value i = tile_load(b, q->places, low, 1, n, 0, 1),
             j = tile_load(b, q->places, high, 1, n, 0, 1);
    ir_value swap = swaps(b, x, y, i, j);
    tile_store(b, q->keys, low, tile_select(b, swap, y, x), 0, 1, false);
    tile_store(b, q->keys, high, tile_select(b, swap, x, y), 0, 1, false);
    tile_store(b, q->places, low, tile_select(b, swap, j, i), 0, 1, false);
    tile_store(b, q->places, high, tile_select(b, swap, i, j), 0, 1, false);
}

/* A step of the network, as single numbers of i32: p - 1, r and d below. */
typedef struct pair_step {
    ir_value mask, r, d;
} pair_step;

/* Exchanges the pairs from number `u` on, as many as are exchanged at once, `left` of which there
 * are: a row of tiles each, a column for each row or column that is sorted. */
static void exchange_pairs(const sort *q, ir_builder *b, ir_value u, ir_value left,
                           const pair_step *s) {
    int64_t n = q->abreast, count = q->pairs;
    ir_value zero = tile_index(b, 0), number = tile_iota(b, u, true, count), at[2];
    ir_value twice = tile_binary(b, TILE_ADD, number, number);
    at[0] = tile_binary(b, TILE_ADD,
                        tile_binary(b, TILE_SUB, twice, tile_binary(b, TILE_AND, number, s->mask)),
                        s->r);
    at[1] = tile_binary(b, TILE_ADD, at[0], s->d);
    ir_value lane = tile_iota(b, zero, false, n);
    for (int i = 0; i < 2; i++) {
        at[i] = tile_binary(b, TILE_MUL, at[i], tile_constant(b, DTYPE_I32, (uint64_t)n));
        at[i] = tile_broadcast(b, tile_binary(b, TILE_ADD, at[i], lane), count, n);
    }
    tile_window w = {.rows = count, .columns = n, .stride = 1};
    w.more[TILE_MORE_VALID_ROWS] = left;
    ir_value x = tile_gather_window(b, q->keys, zero, at[0], &w),
             y = tile_gather_window(b, q->keys, zero, at[1], &w);
    ir_value i = tile_gather_window(b, q->places, zero, at[0], &w),
             j = tile_gather_window(b, q->places, zero, at[1], &w);
    ir_value swap = swaps(b, x, y, i, j);
    tile_scatter_window(b, q->keys, zero, tile_select(b, swap, y, x), at[0], &w);
    tile_scatter_window(b, q->keys, zero, tile_select(b, swap, x, y), at[1], &w);
    tile_scatter_window(b, q->places, zero, tile_select(b, swap, j, i), at[0], &w);
    tile_scatter_window(b, q->places, zero, tile_select(b, swap, i, j), at[1], &w);
}

/* All i with (i & p) == r and i + d below the length, for a power of two p and r either 0 or p:
 * pair number u is i = 2u - (u & (p - 1)) + r. */
static void exchange_all(const sort *q, ir_builder *b, ir_value p, ir_value r, ir_value d) {
    ir_value zero = tile_index(b, 0), pair = index_of(b, p), first = index_of(b, r);
    ir_value apart = index_of(b, d), u;
    ir_value room = tile_index_sub(b, tile_index_sub(b, q->length, apart), first);
    room = tile_index_max(b, room, zero);
    ir_value both = tile_index_step(b, zero, pair, 2, 0),
             whole = tile_index_quotient(b, room, both);
    ir_value rest = tile_index_sub(b, room, tile_index_mul(b, whole, both));
    ir_value count =
        tile_index_add(b, tile_index_mul(b, whole, pair), tile_index_min(b, rest, pair));
    ir_value mask = tile_binary(b, TILE_SUB, p, tile_constant(b, DTYPE_I32, 1));
    if (q->pairs) {
        ir_builder wide = tile_for(b, zero, count, q->pairs, NULL, 0, NULL, &u);
        const pair_step step = {mask, r, d};
        exchange_pairs(q, &wide, u, tile_index_sub(&wide, count, u), &step);
        tile_yield(&wide, NULL, 0);
        return;
    }
    ir_builder in = tile_for(b, zero, count, 1, NULL, 0, NULL, &u);
    ir_value within = index_of(&in, tile_binary(&in, TILE_AND, tile_from_index(&in, u), mask));
    ir_value parts[] = {u, within, first, apart};
    int64_t n = q->abreast, low[] = {2 * n, -n, n}, high[] = {2 * n, -n, n, n};
    exchange(q, &in, tile_affine(&in, 0, parts, low, 3), tile_affine(&in, 0, parts, high, 4));
    tile_yield(&in, NULL, 0);
}

static void network(const sort *q, ir_builder *b) {
    ir_value stages = count_stages(q, b), zero = tile_index(b, 0), k, j;
    ir_builder outer = tile_for(b, zero, stages, 1, NULL, 0, NULL, &k);
    int64_t back[] = {1, -1};
    ir_value p = power_of_two(
        &outer, tile_from_index(&outer, tile_affine(&outer, -1, (ir_value[]){stages, k}, back, 2)));
    ir_value end = tile_index_add(&outer, k, tile_index(&outer, 1));
    ir_builder in = tile_for(&outer, zero, end, 1, NULL, 0, NULL, &j);
    ir_value none = tile_constant(&in, DTYPE_I32, 0);
    ir_value is_first = tile_compare(&in, "eq", tile_from_index(&in, j), none);
    ir_value from = tile_from_index(&in, tile_affine(&in, 0, (ir_value[]){stages, j}, back, 2));
    ir_value later = tile_binary(&in, TILE_SUB, power_of_two(&in, from), p);
    exchange_all(q, &in, p, tile_select(&in, is_first, none, p),
                 tile_select(&in, is_first, p, later));
    tile_yield(&in, NULL, 0);
    tile_yield(&outer, NULL, 0);
}

static dtype key_type(const sort *q) {
    const lowering *l = q->f.l;
    ir_op end = ir_block_get(l->s, ir_op_block(l->s, q->f.op, 0))->last;
    ir_value x = ir_op_get(l->s, end)->operands[0];
    dtype element = ir_type_of(l->s, x)->element;
    return dtype_size(element) == 8 ? DTYPE_I64 : DTYPE_I32;
}

/* As many as threads have of each row or column, a power of two. Where those are few, it is one:
 * the places of rows side by side need no numbers. */
static int64_t pairs_of(const sort *q) {
    enum { FEWEST = 16 };
    int64_t most = ir_op_int(q->f.l->s, q->f.op, "pairs", 0) / q->abreast, pairs = 1;
    while (2 * pairs <= most && (!ir_dim_is_static(q->extent) || pairs < q->extent))
        pairs *= 2;
    return pairs >= FEWEST ? pairs : 0;
}

void lower_sort(lowering *l, ir_builder *b, ir_op op) {
    sort q = {.f = frame_of(l, op), .step = schedule_step(l->s, op, "sub", 0)};
    q.extent = ir_op_int(l->s, op, "extent", 0);
    q.length = lowering_dim(l, b, q.extent);
    q.along_rows = q.step > 0;
    q.step = q.along_rows ? q.step : 1;
    q.descending = ir_op_int(l->s, op, "descending", 0) != 0;
    q.abreast = q.lanes = q.f.columns;
    q.key = key_type(&q);
    q.threads = ir_op_attr(l->s, op, "pairs") != 0;
    q.pairs = pairs_of(&q);
    if (q.pairs && q.along_rows && q.step < q.pairs)
        q.step = q.pairs;
    q.f.index[q.f.axes++] = tile_index(b, 0);
    /* A last step may reach past the end. */
    ir_dim lines = ir_dim_add_scaled(l->m, q.step, q.extent, 1);
    ir_dim count = ir_dim_add_scaled(l->m, 0, lines, q.abreast);
    q.keys = lowering_scratch(l, b, q.key, count);
    q.places = lowering_scratch(l, b, DTYPE_I32, count);
    visit_all(&q, b, fill);
    network(&q, b);
    visit_all(&q, b, give);
}
