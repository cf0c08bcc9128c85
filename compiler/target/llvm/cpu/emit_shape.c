/* emit_shape.c - constants, broadcasts, index tiles, padding and the folding of lanes. */
#include <string.h>

#include "target/llvm/emit.h"

static void code_constant(emitter *e, ir_op op) {
    const ir_attr_data *bits = ir_attr_get(e->m, ir_op_attr(e->m, op, "value"));
    code_new(e, ir_op_get(e->m, op)->results[0])->values[0] =
        code_bits(e, bits->element, bits->bits);
}

static void code_broadcast(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    emitted *t = code_new(e, d->results[0]);
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++)
            t->values[r * t->parts + p] =
                r && code_get(e, d->operands[0])->rows == 1
                    ? t->values[p]
                    : code_part(e, code_get(e, d->operands[0]), r, p, code_part_width(t, p));
}

/* base + r * row_step + c * column_step, in i32. */
static void code_iota(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int64_t row = ir_op_int(e->m, op, "row_step", 0),
            column = ir_op_int(e->m, op, "column_step", 0);
    emitted *t = code_new(e, d->results[0]);
    LLVMValueRef base = LLVMBuildTrunc(e->b, code_get(e, d->operands[0])->values[0], e->i32, "");
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p);
            LLVMValueRef lanes[64];
            for (int c = 0; c < width; c++)
                lanes[c] =
                    code_int(e, e->i32, (int32_t)(r * row + ((int64_t)p * t->width + c) * column));
            LLVMValueRef steps = width == 1 ? lanes[0] : LLVMConstVector(lanes, (unsigned)width);
            t->values[r * t->parts + p] = LLVMBuildAdd(e->b, code_splat(e, base, width), steps, "");
        }
}

/* The columns of part p of x, then lanes of `fill` up to `to`. */
static LLVMValueRef padded(emitter *e, const emitted *x, int p, LLVMValueRef fill, int to) {
    int mask[64], width = code_part_width(x, p), columns = code_part_columns(x, p);
    if (columns == to)
        return x->values[p];
    if (width == 1)
        return LLVMBuildInsertElement(e->b, fill, x->values[p], LLVMConstInt(e->i32, 0, 0), "");
    LLVMValueRef wide = code_extend(e, x->values[p], x->element, width, to);
    for (int i = 0; i < to; i++)
        mask[i] = i < columns ? i : to + i;
    return code_shuffle(e, wide, fill, mask, to);
}

static void code_pad(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]);
    const ir_attr_data *bits = ir_attr_get(e->m, ir_op_attr(e->m, op, "value"));
    emitted *t = code_new(e, d->results[0]);
    for (int p = 0; p < t->parts; p++) {
        int to = code_part_width(t, p);
        LLVMValueRef fill = code_splat_bits(e, bits->element, bits->bits, to);
        t->values[p] = p < x->parts ? padded(e, x, p, fill, to) : fill;
    }
}

static void code_row(emitter *e, ir_op op) {
    const emitted *x = code_get(e, ir_op_get(e->m, op)->operands[0]);
    emitted *t = code_new(e, ir_op_get(e->m, op)->results[0]);
    int64_t number = ir_op_int(e->m, op, "number", 0);
    for (int p = 0; p < t->parts; p++)
        t->values[p] = code_part(e, x, number, p, code_part_width(t, p));
}

/* Half of the lanes of a vector. */
static LLVMValueRef half(emitter *e, LLVMValueRef x, int width, bool high) {
    int mask[64], count = width / 2, first = high ? count : 0;
    if (count == 1)
        return LLVMBuildExtractElement(e->b, x, LLVMConstInt(e->i32, (unsigned)first, 0), "");
    for (int i = 0; i < count; i++)
        mask[i] = first + i;
    return code_shuffle(e, x, LLVMGetUndef(LLVMTypeOf(x)), mask, count);
}

/* Tells that a lane of some vector is a NaN. */
static LLVMValueRef any_nan(emitter *e, LLVMValueRef *v, int count, int width) {
    LLVMValueRef nan = NULL;
    for (int i = 0; i < count; i += 2) {
        LLVMValueRef pair =
            LLVMBuildFCmp(e->b, LLVMRealUNO, v[i], v[i + 1 < count ? i + 1 : i], "");
        nan = nan ? LLVMBuildOr(e->b, nan, pair, "") : pair;
    }
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, (unsigned)width);
    nan = LLVMBuildBitCast(e->b, nan, bits, "");
    return LLVMBuildICmp(e->b, LLVMIntNE, nan, LLVMConstInt(bits, 0, 0), "");
}

/* The extreme of all lanes of `count` vectors, of which NaNs are looked for beside: the chain has
 * one instruction and one exchange of lanes a step. NULL: there is no instruction. */
static LLVMValueRef fold_extreme(emitter *e, int opcode, LLVMValueRef *v, int count, int width) {
    static int exchanges[][4] = {{2, 3, 0, 1}, {1, 0, 3, 2}};
    if (!code_extreme_number(e, opcode, v[0], v[0]))
        return NULL;
    LLVMValueRef nan = any_nan(e, v, count, width), all;
    for (; count > 1; count /= 2)
        for (int i = 0; i < count / 2; i++)
            v[i] = code_extreme_number(e, opcode, v[i], v[i + count / 2]);
    for (all = v[0]; width > 4; width /= 2)
        all = code_extreme_number(e, opcode, half(e, all, width, false), half(e, all, width, true));
    for (int i = 0; i < 2; i++)
        all = code_extreme_number(
            e, opcode, all, code_shuffle(e, all, LLVMGetUndef(LLVMTypeOf(all)), exchanges[i], 4));
    all = LLVMBuildExtractElement(e->b, all, LLVMConstInt(e->i32, 0, 0), "");
    uint64_t bits = dtype_format_of(DTYPE_F32)->nan;
    return LLVMBuildSelect(e->b, nan, code_splat_bits(e, DTYPE_F32, bits, 1), all, "");
}

/* Lanes side by side are halved: first whole parts against each other, then halves of the last one.
 */
static void code_fold(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int opcode = code_combining(e, op);
    emitted *t = code_new(e, d->results[0]);
    LLVMValueRef v[64];
    int count = 0;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const emitted *x = code_get(e, d->operands[i]);
        for (int p = 0; p < x->parts; p++)
            v[count++] = x->values[p];
    }
    LLVMTypeRef type = LLVMTypeOf(v[0]);
    int width = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(type) : 1;
    bool extreme = opcode != TILE_ADD && opcode != TILE_MUL && t->element == DTYPE_F32;
    t->values[0] = extreme ? fold_extreme(e, opcode, v, count, width) : NULL;
    if (t->values[0])
        return;
    for (; count > 1; count /= 2)
        for (int i = 0; i < count / 2; i++)
            v[i] = code_binary_value(e, opcode, t->element, v[i], v[i + count / 2]);
    for (; width > 1; width /= 2)
        v[0] = code_binary_value(e, opcode, t->element, half(e, v[0], width, false),
                                 half(e, v[0], width, true));
    t->values[0] = v[0];
}

void code_shape_op(emitter *e, ir_op op) {
    switch (ir_op_get(e->m, op)->opcode) {
    case TILE_CONSTANT:
        code_constant(e, op);
        break;
    case TILE_BROADCAST:
        code_broadcast(e, op);
        break;
    case TILE_IOTA:
        code_iota(e, op);
        break;
    case TILE_PAD:
        code_pad(e, op);
        break;
    case TILE_ROW:
        code_row(e, op);
        break;
    default:
        code_fold(e, op);
    }
}
