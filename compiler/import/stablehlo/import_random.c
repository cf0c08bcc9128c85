/* import_random.c - random bits by a state: Threefry2x32-20 and Philox4x32-10 (J. Salmon, M.
 * Moraes, R. Dror and D. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011).
 *
 * The state is a key of 64 bits and a counter of 64 or 128. The specification of StableHLO leaves
 * open how counters become elements; here they do as in XLA, so a program draws the numbers that it
 * draws there (docs/stablehlo.md). */
#include <string.h>

#include "import/stablehlo/import.h"

enum { PHILOX_WORDS = 4, PHILOX_ROUNDS = 10, THREEFRY_GROUPS = 5, THREEFRY_ROUNDS = 4 };

/* 64 bits as two words: [n] each. */
typedef struct words {
    ir_value low, high;
} words;

static ir_value exclusive(importer *im, ir_value x, ir_value y) {
    return import_binary(im, GRAPH_XOR, x, y);
}

static words split(importer *im, ir_value x) {
    return (words){build_convert(&im->b, x, DTYPE_U32),
                   build_convert(&im->b, import_shifted(im, GRAPH_RIGHT_SHIFT, x, 32), DTYPE_U32)};
}

static ir_value joined(importer *im, words w) {
    ir_value high = build_convert(&im->b, w.high, DTYPE_U64);
    return import_binary(im, GRAPH_OR, build_convert(&im->b, w.low, DTYPE_U64),
                         import_shifted(im, GRAPH_LEFT_SHIFT, high, 32));
}

/* Element i of the state in a shape [n]. */
static ir_value state_word(importer *im, ir_value state, int i, ir_dim n) {
    ir_value one = build_slice_axis(&im->b, state, 0, i, i + 1);
    return import_spread(im, import_shaped(im, one, 0, NULL), 1, &n);
}

/* first, first + 1, ...; *carried (NULL: nobody asks): 1 where that is beyond 64 bits. */
static ir_value counted(importer *im, ir_value first, ir_dim n, ir_value *carried) {
    ir_value step = build_convert(&im->b, import_places(im, n), DTYPE_U64);
    ir_value sum = import_add(im, first, step);
    if (carried)
        *carried = build_convert(&im->b, import_is(im, "lt", sum, first), DTYPE_U64);
    return sum;
}

/* Tensors [n] as one [n, count]. */
static ir_value beside(importer *im, const ir_value *list, uint32_t count) {
    ir_value columns[PHILOX_WORDS];
    const ir_dim shape[] = {import_type_of(im, list[0])->dims[0], 1};
    for (uint32_t i = 0; i < count; i++)
        columns[i] = import_shaped(im, list[i], 2, shape);
    return build_concat(&im->b, 1, columns, count);
}

/* ---- Threefry ---- */

static words threefry(importer *im, words key, words x) {
    static const int turns[2][THREEFRY_ROUNDS] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const ir_value keys[] = {
        key.low, key.high,
        exclusive(im, exclusive(im, key.low, key.high), import_bits_like(im, key.low, 0x1BD11BDA))};
    x = (words){import_add(im, x.low, keys[0]), import_add(im, x.high, keys[1])};
    for (int group = 0; group < THREEFRY_GROUPS; group++) {
        for (int i = 0; i < THREEFRY_ROUNDS; i++) {
            const int by = turns[group % 2][i];
            x.low = import_add(im, x.low, x.high);
            ir_value turned =
                import_binary(im, GRAPH_OR, import_shifted(im, GRAPH_LEFT_SHIFT, x.high, by),
                              import_shifted(im, GRAPH_RIGHT_SHIFT, x.high, 32 - by));
            x.high = exclusive(im, turned, x.low);
        }
        x.low = import_add(im, x.low, keys[(group + 1) % 3]);
        x.high = import_add(im, x.high, keys[(group + 2) % 3]);
        x.high = import_add(im, x.high, import_bits_like(im, x.high, (uint64_t)group + 1));
    }
    return x;
}

/* The axis whose neighbours have the two words of one counter: the first of an even extent, else
 * the longest one. */
static int paired_axis(const ir_type_data *t) {
    int longest = 0;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] % 2 == 0)
            return i;
    for (int i = 1; i < t->rank; i++)
        if (t->dims[i] > t->dims[longest])
            longest = i;
    return longest;
}

/* Words of 32 bits: the counters fill a shape with half of the paired axis. */
static ir_value threefry_words(importer *im, ir_value state, const ir_type_data *t, ir_dim *drawn) {
    ir_type_data shape = *t;
    const int axis = paired_axis(t);
    if (shape.rank == 0)
        shape.dims[shape.rank++] = 1;
    const ir_dim extent = shape.dims[axis];
    shape.dims[axis] = (extent + 1) / 2;
    const ir_dim n = *drawn = graph_elements(shape.rank, shape.dims);
    words w = threefry(im, split(im, state_word(im, state, 0, n)),
                       split(im, counted(im, state_word(im, state, 1, n), n, NULL)));
    ir_value pair[] = {w.low, w.high};
    ir_dim inner = 1;
    for (int i = axis + 1; i < shape.rank; i++)
        inner *= shape.dims[i];
    const ir_dim parts[] = {n / inner, 1, inner};
    for (int i = 0; i < 2; i++)
        pair[i] = import_shaped(im, pair[i], 3, parts);
    ir_value all = build_concat(&im->b, 1, pair, 2);
    shape.dims[axis] *= 2;
    all = import_shaped(im, all, shape.rank, shape.dims);
    return import_shaped(im, build_slice_axis(&im->b, all, axis, 0, extent), t->rank, t->dims);
}

static ir_value threefry_bits(importer *im, ir_value state, const ir_type_data *t, ir_dim *drawn) {
    if (dtype_size(t->element) == 4)
        return threefry_words(im, state, t, drawn);
    const ir_dim n = *drawn = graph_elements(t->rank, t->dims);
    words w = threefry(im, split(im, state_word(im, state, 0, n)),
                       split(im, counted(im, state_word(im, state, 1, n), n, NULL)));
    return import_shaped(im, joined(im, w), t->rank, t->dims);
}

/* ---- Philox ---- */

/* The product's upper and lower word. */
static words product(importer *im, ir_value x, uint32_t by) {
    ir_value wide = build_convert(&im->b, x, DTYPE_U64);
    return split(im, import_mul(im, wide, import_bits_like(im, wide, by)));
}

static void philox(importer *im, words key, ir_value x[PHILOX_WORDS]) {
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        const words a = product(im, x[0], 0xD2511F53), b = product(im, x[2], 0xCD9E8D57);
        ir_value next[] = {exclusive(im, exclusive(im, b.high, x[1]), key.low), b.low,
                           exclusive(im, exclusive(im, a.high, x[3]), key.high), a.low};
        memcpy(x, next, sizeof next);
        key.low = import_add(im, key.low, import_bits_like(im, key.low, 0x9E3779B9));
        key.high = import_add(im, key.high, import_bits_like(im, key.high, 0xBB67AE85));
    }
}

/* Four words a counter of 128 bits, whose upper half is the key where the state has no third
 * element. */
static ir_value philox_bits(importer *im, ir_value state, const ir_type_data *t, ir_dim *drawn) {
    const ir_dim elements = graph_elements(t->rank, t->dims),
                 each = dtype_size(t->element) == 4 ? PHILOX_WORDS : PHILOX_WORDS / 2,
                 n = *drawn = (elements + each - 1) / each;
    const bool third = import_type_of(im, state)->dims[0] == 3;
    ir_value carried, key = state_word(im, state, 0, n);
    ir_value low = counted(im, state_word(im, state, 1, n), n, &carried);
    ir_value high = import_add(im, third ? state_word(im, state, 2, n) : key, carried);
    const words lower = split(im, low), upper = split(im, high);
    ir_value x[] = {lower.low, lower.high, upper.low, upper.high};
    philox(im, split(im, key), x);
    if (each < PHILOX_WORDS) {
        x[0] = joined(im, (words){x[0], x[1]});
        x[1] = joined(im, (words){x[2], x[3]});
    }
    ir_value all = import_flat(im, beside(im, x, (uint32_t)each));
    return import_shaped(im, build_slice_axis(&im->b, all, 0, 0, elements), t->rank, t->dims);
}

/* ---- the operation ---- */

/* The state after so many counters: a carry goes on into a third element. */
static ir_value state_after(importer *im, ir_value state, ir_dim drawn) {
    const ir_dim count = import_type_of(im, state)->dims[0];
    ir_value parts[3], carry = 0;
    for (int i = 0; i < count; i++) {
        parts[i] = build_slice_axis(&im->b, state, 0, i, i + 1);
        if (i == 1) {
            ir_value sum =
                import_add(im, parts[i], import_bits_like(im, parts[i], (uint64_t)drawn));
            carry = build_convert(&im->b, import_is(im, "lt", sum, parts[i]), DTYPE_U64);
            parts[i] = sum;
        } else if (i == 2) {
            parts[i] = import_add(im, parts[i], carry);
        }
    }
    return build_concat(&im->b, 0, parts, (uint32_t)count);
}

static bool fits(importer *im, const shlo_op *op, bool threefry_state) {
    if (op->operand_count != 1 || op->result_count != 2)
        return import_refuse(im, op, "takes a state and gives one, and bits");
    const ir_type_data *t = import_type_of(im, import_operand(im, op, 0));
    if (t->rank != 1 || t->element != DTYPE_U64 ||
        (t->dims[0] != 2 && (threefry_state || t->dims[0] != 3)))
        return import_refuse(im, op, "needs a state of 2 elements of ui64, of Philox 2 or 3");
    return true;
}

bool import_rng_bit_generator(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const bool by_threefry =
        strcmp(shlo_op_string(op, "rng_algorithm", "DEFAULT"), "THREE_FRY") == 0;
    const ir_type wanted =
        fits(im, op, by_threefry) && !im->failed ? import_result_type(im, op, 1) : 0;
    if (!wanted)
        return false;
    ir_type_data t = *ir_type_get(im->m, wanted);
    const dtype element = t.element;
    const size_t bytes = dtype_size(element);
    if (element == DTYPE_BOOL || dtype_integer_bits(element) == 4)
        return import_refuse(im, op, "of %s is not supported", dtype_name(element));
    t.element = bytes == 8 ? DTYPE_U64 : DTYPE_U32;
    ir_value state = import_operand(im, op, 0);
    ir_dim drawn = 0;
    if (graph_elements(t.rank, t.dims) == 0)
        results[1] = import_spread(im, import_number(im, t.element, 0), t.rank, t.dims);
    else
        results[1] = (by_threefry ? threefry_bits : philox_bits)(im, state, &t, &drawn);
    if (bytes < 4) /* the low bits of a word each */
        results[1] = build_convert(&im->b, results[1], bytes == 2 ? DTYPE_U16 : DTYPE_U8);
    results[1] = import_bitcast(im, results[1], element);
    results[0] = state_after(im, state, drawn);
    return true;
}
