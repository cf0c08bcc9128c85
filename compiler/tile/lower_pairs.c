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
        return dot_left_group(t, b, k);
    ir_value x = dot_left(t, b, k);
    return together(t, b, x, next ? dot_left(t, b, next) : 0);
}

static ir_value right_pair(dot *t, ir_builder *b, ir_value k, ir_value next) {
    ir_value y = dot_right(t, b, k, 1);
    return together(t, b, y, next ? dot_right(t, b, next, 1) : 0);
}

/* A pair each trip, or where the step is 1 an element without the other one. */
static ir_value pair_loop(dot *t, ir_builder *b, ir_value low, ir_value high, int64_t step,
                          ir_value sum) {
    ir_op loop;
    ir_value k;
    int64_t one = 1;
    ir_builder in = tile_for(b, low, high, step, &sum, 1, &loop, &k);
    lowering_mark(t->f.l, loop, t->loop);
    ir_value next = step == 2 ? tile_affine(&in, 1, &k, &one, 1) : 0;
    ir_value x = left_pair(t, &in, k, next), y = right_pair(t, &in, k, next);
    sum = tile_group_dot(&in, x, y, ir_block_get(b->m, in.block)->arguments[1], t->of, false);
    tile_yield(&in, &sum, 1);
    return ir_op_result(b->m, loop, 0);
}

ir_value lower_pairs(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum) {
    ir_value whole = high;
    if (t->odd)
        whole = tile_index_add(b, low, tile_index_floor(b, tile_index_sub(b, high, low), 2));
    sum = pair_loop(t, b, low, whole, 2, sum);
    return t->odd ? pair_loop(t, b, whole, high, 1, sum) : sum;
}
