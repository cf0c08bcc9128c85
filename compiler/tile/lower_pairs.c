/* lower_pairs.c - the steps of a contraction in pairs512 whose operands were not packed in groups:
 * each pair is put together from two elements of both sides. Of an odd number the last has a 0
 * beside it, on both sides. */
#include "tile/lower_dot.h"

/* Two elements as 32 bits, the one of step k lowest. */
static ir_value together(const dot *t, ir_builder *b, ir_value x, ir_value after) {
    x = dot_low_bits(b, x, t->of);
    if (!after)
        return x;
    ir_value high[] = {dot_low_bits(b, after, t->of), tile_constant(b, DTYPE_I32, 16)};
    high[0] = tile_op(b, TILE_SHL, high, 2, DTYPE_NONE);
    return tile_op(b, TILE_OR, (ir_value[]){x, high[0]}, 2, DTYPE_NONE);
}

static ir_value left_pair(dot *t, ir_builder *b, ir_value k, ir_value next) {
    bool adjacent =
        t->lhs[1 + t->k] == 1 && tile_type(b, frame_memory(&t->f, 0))->element == DTYPE_BF16;
    if (adjacent && next)
        return dot_left(t, b, k, true);
    ir_value x = dot_left(t, b, k, false);
    return together(t, b, x, next ? dot_left(t, b, next, false) : 0);
}

static ir_value right_pair(dot *t, ir_builder *b, ir_value k, ir_value next) {
    ir_value y = dot_right(t, b, k, 1, 0);
    return together(t, b, y, next ? dot_right(t, b, next, 1, 0) : 0);
}

/* A pair each trip, or where the step is 1 an element without the other one. */
static ir_value pair_loop(dot *t, ir_builder *b, ir_value low, ir_value high, int64_t step,
                          ir_value sum) {
    int64_t one = 1;
    step_loop l = dot_open(t, b, low, high, step, &sum, 1);
    ir_value next = step == 2 ? tile_affine(&l.in, 1, &l.k, &one, 1) : 0;
    ir_value x = left_pair(t, &l.in, l.k, next), y = right_pair(t, &l.in, l.k, next);
    sum = tile_group_dot(&l.in, x, y, sum, t->of, false);
    dot_close(&l, &sum, 1);
    return sum;
}

ir_value lower_pairs(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum) {
    ir_value whole = dot_whole(t, b, low, high, 2);
    sum = pair_loop(t, b, low, whole, 2, sum);
    return whole == high ? sum : pair_loop(t, b, whole, high, 1, sum);
}
