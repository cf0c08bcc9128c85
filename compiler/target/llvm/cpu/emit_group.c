/* emit_group.c - groups of narrow elements in 32 bits, and their dot products: the instructions of
 * AVX512-VNNI and AVX512-BF16, and for pairs of bf16 the same bits by fma where there is none. */
#include "target/llvm/emit.h"

void code_group(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]);
    emitted *t = code_new(e, d->results[0]);
    int bits = 32 / (int)x->rows;
    for (int p = 0; p < t->parts; p++) {
        int width = code_part_width(t, p);
        LLVMTypeRef type = code_vector(e, DTYPE_I32, width);
        LLVMValueRef sum = NULL;
        for (int64_t r = 0; r < x->rows; r++) {
            LLVMValueRef part = LLVMBuildZExt(e->b, code_part(e, x, r, p, width), type, "");
            LLVMValueRef by = code_splat(e, code_int(e, e->i32, r * bits), width);
            part = r ? LLVMBuildShl(e->b, part, by, "") : part;
            sum = sum ? LLVMBuildOr(e->b, sum, part, "") : part;
        }
        t->values[p] = sum;
    }
}

/* ---- pairs of bf16 by fma ---- */

static LLVMValueRef sign_where(emitter *e, LLVMValueRef condition, LLVMValueRef sign_of,
                               LLVMValueRef otherwise, int width) {
    LLVMTypeRef bits = code_vector(e, DTYPE_I32, width), real = code_vector(e, DTYPE_F32, width);
    LLVMValueRef sign = LLVMBuildAnd(e->b, LLVMBuildBitCast(e->b, sign_of, bits, ""),
                                     code_splat_bits(e, DTYPE_I32, 0x80000000u, width), "");
    return LLVMBuildSelect(e->b, condition, LLVMBuildBitCast(e->b, sign, real, ""), otherwise, "");
}

static LLVMValueRef is_below(emitter *e, LLVMValueRef x, uint32_t limit_bits, int width) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef size = code_intrinsic(e, "llvm.fabs", &type, 1, &x, 1);
    return LLVMBuildFCmp(e->b, LLVMRealOLT, size, code_splat_bits(e, DTYPE_F32, limit_bits, width),
                         "");
}

/* One half of each group as f32; a subnormal number is a zero of its sign. */
static LLVMValueRef half_of(emitter *e, LLVMValueRef group, bool high, int width) {
    LLVMValueRef bits =
        high ? LLVMBuildAnd(e->b, group, code_splat_bits(e, DTYPE_I32, 0xffff0000u, width), "")
             : LLVMBuildShl(e->b, group, code_splat_bits(e, DTYPE_I32, 16, width), "");
    LLVMValueRef x = LLVMBuildBitCast(e->b, bits, code_vector(e, DTYPE_F32, width), "");
    return sign_where(e, is_below(e, x, 0x00800000u, width), x, x, width);
}

static LLVMValueRef times_2_64(emitter *e, LLVMValueRef x, int width) {
    return LLVMBuildFMul(e->b, x, code_splat_bits(e, DTYPE_F32, 0x5f800000u, width), "");
}

/* An operand of both fma: itself, and times 2^64. */
typedef struct scaled {
    LLVMValueRef x, far;
} scaled;

/* fma whose result is a zero of its sign where 24 bits with any exponent would hold it below
 * 2^-126. Those bits are in the fma of operands that are 2^64 times as large; where that overflows,
 * the result is far from there and the comparison does not hold. */
static LLVMValueRef flushed_fma(emitter *e, LLVMValueRef x, const scaled *y, LLVMValueRef sum,
                                int width) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef near[] = {x, y->x, sum}, far[] = {x, y->far, times_2_64(e, sum, width)};
    LLVMValueRef exact = code_intrinsic(e, "llvm.fma", &type, 1, far, 3);
    return sign_where(e, is_below(e, exact, 0x20800000u, width), exact,
                      code_intrinsic(e, "llvm.fma", &type, 1, near, 3), width);
}

/* A row of y, whose halves every row of x meets. */
static void pairs_of_column(emitter *e, emitted *t, const emitted *x, const emitted *y,
                            const emitted *sum, int p) {
    int width = code_part_width(t, p);
    scaled halves[2];
    for (int64_t r = 0; r < t->rows; r++) {
        LLVMValueRef next = code_part(e, sum, r, p, width),
                     left = code_splat(e, code_part(e, x, r, p, 1), width);
        for (int i = 0; i < 2 && (r == 0 || y->rows > 1); i++) {
            halves[i].x = half_of(e, code_part(e, y, r, p, width), i == 1, width);
            halves[i].far = times_2_64(e, halves[i].x, width);
        }
        for (int i = 1; i >= 0; i--)
            next = flushed_fma(e, half_of(e, left, i == 1, width), &halves[i], next, width);
        t->values[r * t->parts + p] = next;
    }
}

static void pairs_by_fma(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]), *y = code_get(e, d->operands[1]),
                  *sum = code_get(e, d->operands[2]);
    emitted *t = code_new(e, d->results[0]);
    for (int p = 0; p < t->parts; p++)
        pairs_of_column(e, t, x, y, sum, p);
}

/* A row's group in all lanes. One whose bits are flipped is flipped there: the instruction that
 * does so reads it from memory, and no other register holds it. */
static LLVMValueRef in_all_lanes(emitter *e, ir_value x, int64_t row, int p, int lanes) {
    const ir_op made = ir_value_get(e->m, x)->op;
    const ir_op_data *d = made ? ir_op_get(e->m, made) : NULL;
    if (!d || d->opcode != TILE_XOR)
        return code_splat(e, code_part(e, code_get(e, x), row, p, 1), lanes);
    LLVMValueRef parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = code_splat(e, code_part(e, code_get(e, d->operands[i]), row, p, 1), lanes);
    return LLVMBuildXor(e->b, parts[0], parts[1], "");
}

void code_group_dot(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *y = code_get(e, d->operands[1]), *sum = code_get(e, d->operands[2]);
    bool exact = sum->element == DTYPE_I32;
    if (!exact && !e->target->has_dots) {
        pairs_by_fma(e, op);
        return;
    }
    const char *name = exact ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512bf16.dpbf16ps.512";
    emitted *t = code_new(e, d->results[0]);
    int lanes = t->width;
    LLVMTypeRef pairs = LLVMVectorType(LLVMBFloatTypeInContext(e->context), 2 * (unsigned)lanes);
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p);
            LLVMValueRef args[] = {
                code_extend(e, code_part(e, sum, r, p, width), sum->element, width, lanes),
                in_all_lanes(e, d->operands[0], r, p, lanes),
                code_extend(e, code_part(e, y, r, p, width), DTYPE_I32, width, lanes)};
            for (int i = 1; i < 3 && !exact; i++)
                args[i] = LLVMBuildBitCast(e->b, args[i], pairs, "");
            LLVMValueRef next = code_intrinsic(e, name, NULL, 0, args, 3);
            t->values[r * t->parts + p] = code_shrink(e, next, lanes, width);
        }
}
