/* turns.c - how often the loops of a thread turn, for drivers that end them after so many.
 *
 * Index arithmetic, and that of single numbers of i32 between indices, is computed as the code
 * will, for the first workgroup, whose share of every axis is whole. A loop without loops in it
 * turns as often as its bounds say; others are gone through.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "ops/orders.h"
#include "ops/predicates.h"
#include "tile/simt/simt.h"
#include "tile/tile.h"

typedef struct turns {
    const ir_module *m;
    int64_t *of; /* by value: an index, or a single i32 or bool */
    int64_t count, most;
} turns;

static int64_t quotient(int64_t x, int64_t by) {
    return by ? x / by : 0;
}

static int64_t affine(const turns *t, ir_op op) {
    int64_t factors[IR_MAX_RANK * 4] = {0}, sum = ir_op_int(t->m, op, "constant", 0);
    const ir_op_data *d = ir_op_get(t->m, op);
    ir_op_ints(t->m, op, "coefficients", factors, IR_MAX_RANK * 4);
    for (uint32_t i = 0; i < d->operand_count && i < IR_MAX_RANK * 4; i++)
        sum += factors[i] * t->of[d->operands[i]];
    return sum;
}

static int64_t constant(const turns *t, ir_op op) {
    const ir_attr_data *bits = ir_attr_get(t->m, ir_op_attr(t->m, op, "value"));
    return bits->element == DTYPE_I32 ? (int32_t)bits->bits : (int64_t)bits->bits;
}

/* A single number of i32; of other types it means nothing. */
static int64_t number_of(const turns *t, ir_op op, int64_t x, int64_t y) {
    enum { BITS = 32 };
    const ir_op_data *d = ir_op_get(t->m, op);
    switch (d->opcode) {
    case TILE_CONSTANT:
        return constant(t, op);
    case TILE_COMPARE:
        return predicate_holds_i64(predicate_of(ir_op_string(t->m, op, "predicate", "")), x, y);
    case TILE_SELECT:
        return x ? y : t->of[d->operands[2]];
    case TILE_ADD:
        return (int32_t)((uint32_t)x + (uint32_t)y);
    case TILE_SUB:
        return (int32_t)((uint32_t)x - (uint32_t)y);
    case TILE_AND:
        return x & y;
    case TILE_OR:
        return x | y;
    case TILE_XOR:
        return x ^ y;
    case TILE_SHL:
        return y >= 0 && y < BITS ? (int32_t)((uint32_t)x << y) : 0;
    case TILE_SHR:
        return (int32_t)x >> (y >= 0 && y < BITS ? y : BITS - 1);
    default:
        return 0;
    }
}

/* Takes what is read from memory, which is not known, for 0. */
static int64_t index_of(const turns *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->m, op);
    int64_t x = d->operand_count ? t->of[d->operands[0]] : 0,
            y = d->operand_count > 1 ? t->of[d->operands[1]] : 0;
    switch (d->opcode) {
    case TILE_TO_INDEX:
    case TILE_FROM_INDEX:
        return x;
    case TILE_INDEX:
        return ir_op_int(t->m, op, "value", 0);
    case TILE_AFFINE:
        return affine(t, op);
    case TILE_INDEX_MIN:
        return x < y ? x : y;
    case TILE_INDEX_MAX:
        return x > y ? x : y;
    case TILE_INDEX_DIV:
        return quotient(x, ir_op_int(t->m, op, "by", 1));
    case TILE_INDEX_REM:
        return x - quotient(x, ir_op_int(t->m, op, "by", 1)) * ir_op_int(t->m, op, "by", 1);
    case TILE_INDEX_MUL:
        return x * y;
    case TILE_INDEX_QUOTIENT:
        return quotient(x, y);
    default:
        return number_of(t, op, x, y);
    }
}

static bool is_number(const ir_module *m, ir_value v) {
    const ir_type_data *t = ir_type_of(m, v);
    return t->kind == IR_TYPE_INDEX ||
           (t->kind == IR_TYPE_TILE && t->dims[0] == 1 && t->dims[1] == 1);
}

static bool has_loop(const ir_module *m, ir_block block) {
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == TILE_FOR)
            return true;
    return false;
}

static void count_block(turns *t, ir_block block);

/* An exact sum adds a block's elements one by one where it has to: as often as there are elements,
 * times an index that is 0 or 1. */
static int64_t most_turns(const turns *t, ir_value high) {
    ir_op op = ir_value_get(t->m, high)->op;
    const ir_op_data *d = op ? ir_op_get(t->m, op) : NULL;
    return d && d->opcode == TILE_INDEX_MUL ? t->of[d->operands[1]] : 1;
}

static void count_loop(turns *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->m, op);
    ir_block block = ir_op_block(t->m, op, 0);
    int64_t low = t->of[d->operands[0]], high = t->of[d->operands[1]],
            step = ir_op_int(t->m, op, "step", 1);
    if (high <= low && order_is_exact(order_of(t->m, op, ORDER_ANY)))
        high = most_turns(t, d->operands[1]);
    if (step < 1 || high <= low)
        return;
    if (!has_loop(t->m, block)) {
        t->count += (high - low - 1) / step + 1;
        return;
    }
    for (; low < high && t->count <= t->most; low += step) {
        t->of[ir_block_get(t->m, block)->arguments[0]] = low;
        t->count++;
        count_block(t, block);
    }
}

static void count_block(turns *t, ir_block block) {
    for (ir_op op = ir_block_get(t->m, block)->first; op; op = ir_op_get(t->m, op)->next) {
        const ir_op_data *d = ir_op_get(t->m, op);
        if (d->opcode == TILE_FOR)
            count_loop(t, op);
        else if (d->result_count == 1 && is_number(t->m, d->results[0]))
            t->of[d->results[0]] = index_of(t, op);
    }
}

bool simt_turns_beyond(const ir_module *m, int64_t most) {
    ir_op kernel = ir_module_kernel(m);
    turns t = {.m = m, .most = most};
    bool beyond = false;
    if (ir_op_attr(m, kernel, "dims"))
        return false;
    t.of = base_calloc(ir_value_count(m) + 1, sizeof *t.of);
    for (ir_op op = ir_block_get(m, ir_op_block(m, kernel, 0))->first; op && !beyond;
         op = ir_op_get(m, op)->next) {
        if (ir_op_get(m, op)->opcode != TILE_PHASE)
            continue;
        t.count = 0;
        count_block(&t, ir_op_block(m, op, 0));
        beyond = t.count > most;
    }
    free(t.of);
    return beyond;
}
