/* emit_elementwise.c - one LLVM operation, or a short exact sequence, for each element-wise tile
 * operation. */
#include <stdio.h>
#include <string.h>

#include "target/llvm/emit.h"

#include "ops/predicates.h"

static int lanes_of(LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(type) : 1;
}

/* The floats that are computed in; all others have been widened. */
static bool is_computed_float(dtype element) {
    return element == DTYPE_F32 || element == DTYPE_F64;
}

static LLVMValueRef int_splat(emitter *e, LLVMTypeRef type, int64_t value, int width) {
    return code_splat(e, code_int(e, type, value), width);
}

static LLVMValueRef unary_intrinsic(emitter *e, const char *name, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    return code_intrinsic(e, name, &type, 1, &x, 1);
}

static LLVMValueRef binary_intrinsic(emitter *e, const char *name, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[] = {x, y};
    return code_intrinsic(e, name, &type, 1, args, 2);
}

static bool is_x86(const emitter *e) {
    return strncmp(e->target->triple, "x86_64", 6) == 0 && e->target->class != TARGET_SIMT;
}

static LLVMValueRef whole_quotient(emitter *e, bool has_sign, LLVMValueRef x, LLVMValueRef y) {
    return has_sign ? LLVMBuildSDiv(e->b, x, y, "") : LLVMBuildUDiv(e->b, x, y, "");
}

/* x86 divides vectors of floats alone. x / y lies at least 1 / y from every integer that it is not,
 * and its rounding moves it by less where |x| has no more bits than a significand: cut, it is the
 * quotient of the integers. */
static LLVMValueRef quotient(emitter *e, dtype element, LLVMValueRef x, LLVMValueRef y) {
    const bool has_sign = !dtype_is_unsigned(element);
    const int width = lanes_of(x);
    if (width == 1 || !is_x86(e) || dtype_size(element) > 4 || LLVMIsConstant(y))
        return whole_quotient(e, has_sign, x, y);
    LLVMTypeRef type = LLVMTypeOf(x),
                real = code_vector(e, dtype_size(element) > 2 ? DTYPE_F64 : DTYPE_F32, width);
    x = has_sign ? LLVMBuildSIToFP(e->b, x, real, "") : LLVMBuildUIToFP(e->b, x, real, "");
    y = has_sign ? LLVMBuildSIToFP(e->b, y, real, "") : LLVMBuildUIToFP(e->b, y, real, "");
    LLVMValueRef q = LLVMBuildFDiv(e->b, x, y, "");
    return has_sign ? LLVMBuildFPToSI(e->b, q, type, "") : LLVMBuildFPToUI(e->b, q, type, "");
}

/* x / y with x / 0 = 0 and MIN / -1 = MIN: the processor must never see either. Lanes past the end
 * of a row hold some number: the same one for each use. */
static LLVMValueRef int_divide(emitter *e, dtype element, LLVMValueRef x, LLVMValueRef y) {
    int width = lanes_of(x);
    y = LLVMBuildFreeze(e->b, y, "");
    LLVMTypeRef type = code_element(e, element);
    LLVMValueRef zero = int_splat(e, type, 0, width), one = int_splat(e, type, 1, width);
    LLVMValueRef none = LLVMBuildICmp(e->b, LLVMIntEQ, y, zero, "");
    if (dtype_is_unsigned(element)) {
        LLVMValueRef by = LLVMBuildSelect(e->b, none, one, y, "");
        return LLVMBuildSelect(e->b, none, zero, quotient(e, element, x, by), "");
    }
    LLVMValueRef minus = LLVMBuildICmp(e->b, LLVMIntEQ, y, int_splat(e, type, -1, width), "");
    LLVMValueRef special = LLVMBuildOr(e->b, none, minus, "");
    LLVMValueRef q = quotient(e, element, x, LLVMBuildSelect(e->b, special, one, y, ""));
    q = LLVMBuildSelect(e->b, minus, LLVMBuildSub(e->b, zero, x, ""), q, "");
    return LLVMBuildSelect(e->b, none, zero, q, "");
}

/* An operation of the table that nobody taught this file: told, not guessed. */
static LLVMValueRef no_code(emitter *e, int opcode, LLVMValueRef x) {
    if (!e->failed)
        status_set(e->st, STATUS_INTERNAL, "no machine code for '%s' on these types",
                   op_info_get(opcode)->name);
    e->failed = true;
    return x;
}

/* maxps and minps give their second operand where none is greater: with both orders of operands,
 * the common bits of two zeros are +0 for a maximum, and all of their bits -0 for a minimum. */
static LLVMValueRef extreme_both_ways(emitter *e, int opcode, LLVMValueRef x, LLVMValueRef y) {
    LLVMRealPredicate wins = opcode == TILE_MAXIMUM ? LLVMRealOGT : LLVMRealOLT;
    LLVMTypeRef type = LLVMTypeOf(x), bits = code_vector(e, DTYPE_I32, lanes_of(x));
    LLVMValueRef one = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, wins, x, y, ""), x, y, ""),
                 other = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, wins, y, x, ""), y, x, "");
    one = LLVMBuildBitCast(e->b, one, bits, "");
    other = LLVMBuildBitCast(e->b, other, bits, "");
    one = opcode == TILE_MAXIMUM ? LLVMBuildAnd(e->b, one, other, "")
                                 : LLVMBuildOr(e->b, one, other, "");
    return LLVMBuildBitCast(e->b, one, type, "");
}

LLVMValueRef code_extreme_number(emitter *e, int opcode, LLVMValueRef x, LLVMValueRef y) {
    enum { OF_COMPARISON = 1 << 2, NO_ROUNDING = 4 };
    LLVMTypeRef type = LLVMTypeOf(x);
    int width = lanes_of(x);
    bool f32s = width > 1 && LLVMGetElementType(type) == e->f32;
    if (e->plain || !f32s || (width != 16 && width != 8 && width != 4))
        return NULL;
    if (!e->target->has_avx512)
        return is_x86(e) ? extreme_both_ways(e, opcode, x, y) : NULL;
    char name[48];
    snprintf(name, sizeof name, "llvm.x86.avx512.mask.range.ps.%d", 32 * width);
    LLVMValueRef args[] = {x,
                           y,
                           code_int(e, e->i32, OF_COMPARISON | (opcode == TILE_MAXIMUM)),
                           LLVMGetUndef(type),
                           code_int(e, width == 16 ? e->i16 : e->i8, -1),
                           code_int(e, e->i32, NO_ROUNDING)};
    return code_intrinsic(e, name, NULL, 0, args, width == 16 ? 6 : 5);
}

/* AVX-512 has an instruction for all but NaN; without it code generation takes six, with a latency
 * that a chain of maxima cannot hide; two ways and a test for NaN would be no fewer. Which NaN wins
 * cannot be seen. */
static LLVMValueRef extreme(emitter *e, int opcode, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef range = e->target->has_avx512 ? code_extreme_number(e, opcode, x, y) : NULL;
    int width = lanes_of(x);
    if (!range)
        return binary_intrinsic(e, opcode == TILE_MAXIMUM ? "llvm.maximum" : "llvm.minimum", x, y);
    LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, y, "");
    uint64_t bits = dtype_format_of(DTYPE_F32)->nan;
    return LLVMBuildSelect(e->b, nan, code_splat_bits(e, DTYPE_F32, bits, width), range, "");
}

static LLVMValueRef float_binary(emitter *e, int opcode, LLVMValueRef x, LLVMValueRef y) {
    switch (opcode) {
    case TILE_ADD:
        return LLVMBuildFAdd(e->b, x, y, "");
    case TILE_SUB:
        return LLVMBuildFSub(e->b, x, y, "");
    case TILE_MUL:
        return LLVMBuildFMul(e->b, x, y, "");
    case TILE_DIV:
        return LLVMBuildFDiv(e->b, x, y, "");
    case TILE_MAXIMUM:
    case TILE_MINIMUM:
        return extreme(e, opcode, x, y);
    default:
        return no_code(e, opcode, x);
    }
}

/* AVX-512 has an instruction; elsewhere n is cut in two halves, so that both scalings are powers of
 * two in range and a subnormal result rounds once. The result of n = -151 is 0: some processors
 * take twenty times as long for one that is less than all numbers, so it is not computed. */
static LLVMValueRef scale(emitter *e, LLVMValueRef x, LLVMValueRef t, int width) {
    enum { NO_ROUNDING = 4 };
    LLVMTypeRef type = LLVMTypeOf(x), bits = code_vector(e, DTYPE_I32, width);
    LLVMValueRef least = code_splat(e, LLVMConstReal(e->f32, 0x1.8p23 + 254 - 151), width);
    if (!e->plain && e->target->has_avx512 && width == 16) {
        LLVMValueRef zero = code_splat(e, LLVMConstReal(e->f32, 0x1.8p23 + 254), width);
        LLVMValueRef some = LLVMBuildFCmp(e->b, LLVMRealUGT, t, least, "");
        LLVMValueRef args[] = {x, LLVMBuildFSub(e->b, t, zero, ""), LLVMConstNull(type),
                               LLVMBuildBitCast(e->b, some, e->i16, ""),
                               code_int(e, e->i32, NO_ROUNDING)};
        return code_intrinsic(e, "llvm.x86.avx512.mask.scalef.ps.512", NULL, 0, args, 5);
    }
    if (!e->plain && is_x86(e))
        x = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealUGT, t, least, ""), x,
                            LLVMConstNull(type), "");
    LLVMValueRef whole = LLVMBuildBitCast(e->b, t, bits, "");
    LLVMValueRef half = LLVMBuildLShr(e->b, whole, int_splat(e, e->i32, 1, width), "");
    LLVMValueRef parts[] = {half, LLVMBuildSub(e->b, whole, half, "")};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef power = LLVMBuildShl(e->b, parts[i], int_splat(e, e->i32, 23, width), "");
        x = LLVMBuildFMul(e->b, x, LLVMBuildBitCast(e->b, power, type, ""), "");
    }
    return x;
}

/* x86 multiplies the lower halves of 64 bits: once the even elements where they lie, once the odd
 * ones moved down. */
static LLVMValueRef high_product_of_pairs(emitter *e, LLVMValueRef x, LLVMValueRef y, int width) {
    LLVMTypeRef pairs = code_vector(e, DTYPE_I64, width / 2), type = LLVMTypeOf(x);
    LLVMValueRef low = int_splat(e, e->i64, 0xffffffff, width / 2),
                 by = int_splat(e, e->i64, 32, width / 2), product[2];
    x = LLVMBuildBitCast(e->b, x, pairs, "");
    y = LLVMBuildBitCast(e->b, y, pairs, "");
    product[0] =
        LLVMBuildMul(e->b, LLVMBuildAnd(e->b, x, low, ""), LLVMBuildAnd(e->b, y, low, ""), "");
    product[1] =
        LLVMBuildMul(e->b, LLVMBuildLShr(e->b, x, by, ""), LLVMBuildLShr(e->b, y, by, ""), "");
    int mask[64];
    for (int i = 0; i < width; i++)
        mask[i] = i % 2 ? width + i : i + 1;
    return code_shuffle(e, LLVMBuildBitCast(e->b, product[0], type, ""),
                        LLVMBuildBitCast(e->b, product[1], type, ""), mask, width);
}

/* Takes i32 through 64 bits, which the processor multiplies in one instruction. */
static LLVMValueRef high_product(emitter *e, LLVMValueRef x, LLVMValueRef y) {
    int width = lanes_of(x);
    if (width > 1 && width % 2 == 0 && !e->plain && is_x86(e))
        return high_product_of_pairs(e, x, y, width);
    LLVMTypeRef wide = code_vector(e, DTYPE_I64, width);
    LLVMValueRef product =
        LLVMBuildMul(e->b, LLVMBuildZExt(e->b, x, wide, ""), LLVMBuildZExt(e->b, y, wide, ""), "");
    LLVMValueRef high = LLVMBuildLShr(e->b, product, int_splat(e, e->i64, 32, width), "");
    return LLVMBuildTrunc(e->b, high, LLVMTypeOf(x), "");
}

/* Numbers that are known, all of them below `bits`. */
static bool are_below(LLVMValueRef y, int width, uint64_t bits) {
    bool below = LLVMIsConstant(y);
    for (int i = 0; i < width && below; i++) {
        LLVMValueRef one = width == 1 ? y : LLVMGetAggregateElement(y, (unsigned)i);
        below = one && LLVMIsAConstantInt(one) && LLVMConstIntGetZExtValue(one) < bits;
    }
    return below;
}

/* A shift by the width or more gives 0, or the sign: LLVM leaves that open, processors with shifts
 * by a vector do it, and the code generator knows these forms of it. */
static LLVMValueRef shift(emitter *e, int opcode, dtype element, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef type = code_element(e, element);
    int64_t bits = 8 * (int64_t)dtype_size(element);
    int width = lanes_of(x);
    bool known = are_below(y, width, (uint64_t)bits);
    if (opcode == TILE_SHR && !known)
        y = binary_intrinsic(e, "llvm.umin", y, int_splat(e, type, bits - 1, width));
    if (opcode == TILE_SHR)
        return LLVMBuildAShr(e->b, x, y, "");
    LLVMValueRef shifted =
        opcode == TILE_SHL ? LLVMBuildShl(e->b, x, y, "") : LLVMBuildLShr(e->b, x, y, "");
    if (known)
        return shifted;
    LLVMValueRef below = LLVMBuildICmp(e->b, LLVMIntULT, y, int_splat(e, type, bits, width), "");
    return LLVMBuildSelect(e->b, below, shifted, int_splat(e, type, 0, width), "");
}

static LLVMValueRef int_binary(emitter *e, int opcode, dtype element, LLVMValueRef x,
                               LLVMValueRef y) {
    const bool has_sign = !dtype_is_unsigned(element);
    switch (opcode) {
    case TILE_ADD:
        return LLVMBuildAdd(e->b, x, y, "");
    case TILE_SUB:
        return LLVMBuildSub(e->b, x, y, "");
    case TILE_MUL:
        return LLVMBuildMul(e->b, x, y, "");
    case TILE_DIV:
        return int_divide(e, element, x, y);
    case TILE_MAXIMUM:
        return binary_intrinsic(e, has_sign ? "llvm.smax" : "llvm.umax", x, y);
    case TILE_MINIMUM:
        return binary_intrinsic(e, has_sign ? "llvm.smin" : "llvm.umin", x, y);
    case TILE_AND:
        return LLVMBuildAnd(e->b, x, y, "");
    case TILE_OR:
        return LLVMBuildOr(e->b, x, y, "");
    case TILE_XOR:
        return LLVMBuildXor(e->b, x, y, "");
    case TILE_SHR:
        return shift(e, has_sign ? TILE_SHR : TILE_USHR, element, x, y);
    case TILE_SHL:
    case TILE_USHR:
        return shift(e, opcode, element, x, y);
    case TILE_UMULH:
        return high_product(e, x, y);
    default:
        return no_code(e, opcode, x);
    }
}

int code_combining(const emitter *e, ir_op op) {
    const char *kind = ir_op_string(e->m, op, "kind", "sum");
    return strcmp(kind, "sum") == 0    ? TILE_ADD
           : strcmp(kind, "prod") == 0 ? TILE_MUL
           : strcmp(kind, "max") == 0  ? TILE_MAXIMUM
                                       : TILE_MINIMUM;
}

LLVMValueRef code_binary_value(emitter *e, int opcode, dtype element, LLVMValueRef x,
                               LLVMValueRef y) {
    bool is_float = is_computed_float(element);
    return is_float ? float_binary(e, opcode, x, y) : int_binary(e, opcode, element, x, y);
}

/* ---- comparisons ---- */

/* Names that no graph has are Tile IR's `uno`. */
static LLVMValueRef compare(emitter *e, const char *name, dtype element, LLVMValueRef x,
                            LLVMValueRef y) {
    static const struct {
        LLVMRealPredicate real;
        LLVMIntPredicate integer, natural;
    } table[] = {[PREDICATE_EQ] = {LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ},
                 [PREDICATE_NE] = {LLVMRealUNE, LLVMIntNE, LLVMIntNE},
                 [PREDICATE_LT] = {LLVMRealOLT, LLVMIntSLT, LLVMIntULT},
                 [PREDICATE_LE] = {LLVMRealOLE, LLVMIntSLE, LLVMIntULE},
                 [PREDICATE_GT] = {LLVMRealOGT, LLVMIntSGT, LLVMIntUGT},
                 [PREDICATE_GE] = {LLVMRealOGE, LLVMIntSGE, LLVMIntUGE},
                 [PREDICATE_COUNT] = {LLVMRealUNO, LLVMIntNE, LLVMIntNE}};
    predicate p = predicate_of(name);
    if (is_computed_float(element))
        return LLVMBuildFCmp(e->b, table[p].real, x, y, "");
    return LLVMBuildICmp(e->b, dtype_is_unsigned(element) ? table[p].natural : table[p].integer, x,
                         y, "");
}

/* ---- the operation ---- */

/* The intrinsic of one chip takes a type, that of another is of f32 alone. No power of 2 has a
 * minus sign, so that a sum which begins with 0 may begin with it. */
static LLVMValueRef hardware_exp2(emitter *e, LLVMValueRef x) {
    enum { NEGATIVE = 0x3c }; /* LLVM's FPClassTest: fcNegative */
    static const char never[] = "nofpclass";
    const char *name = chip_exp2_of(e->target->cpu)->intrinsic;
    bool takes_type = LLVMIntrinsicIsOverloaded(LLVMLookupIntrinsicID(name, strlen(name))) != 0;
    LLVMValueRef power = code_intrinsic(e, name, &e->f32, takes_type, &x, 1);
    unsigned kind = LLVMGetEnumAttributeKindForName(never, sizeof never - 1);
    LLVMAddCallSiteAttribute(power, LLVMAttributeReturnIndex,
                             LLVMCreateEnumAttribute(e->context, kind, NEGATIVE));
    return power;
}

static LLVMValueRef unary(emitter *e, int opcode, dtype element, LLVMValueRef x) {
    bool is_float = is_computed_float(element);
    int width = lanes_of(x);
    switch (opcode) {
    case TILE_NEG:
        return is_float ? LLVMBuildFNeg(e->b, x, "") : LLVMBuildNeg(e->b, x, "");
    case TILE_ABS: {
        if (is_float)
            return unary_intrinsic(e, "llvm.fabs", x);
        if (dtype_is_unsigned(element))
            return x;
        LLVMValueRef zero = int_splat(e, code_element(e, element), 0, width);
        LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, x, zero, "");
        return LLVMBuildSelect(e->b, negative, LLVMBuildNeg(e->b, x, ""), x, "");
    }
    case TILE_NOT:
        return LLVMBuildNot(e->b, x, "");
    case TILE_SQRT:
        return unary_intrinsic(e, "llvm.sqrt", x);
    case TILE_HARDWARE_EXP2:
        return hardware_exp2(e, x);
    case TILE_FLOOR:
        return unary_intrinsic(e, "llvm.floor", x);
    case TILE_CEIL:
        return unary_intrinsic(e, "llvm.ceil", x);
    case TILE_ROUND:
        return unary_intrinsic(e, "llvm.roundeven", x);
    case TILE_TRUNC:
        return unary_intrinsic(e, "llvm.trunc", x);
    default:
        return no_code(e, opcode, x);
    }
}

/* One part of the result from the same part of the operands. */
static LLVMValueRef part_of(emitter *e, ir_op op, dtype result, const dtype *elements,
                            LLVMValueRef *x, int width) {
    int opcode = ir_op_get(e->m, op)->opcode;
    switch (opcode) {
    case TILE_CONVERT:
        return code_convert_value(e, elements[0], result, width, x[0],
                                  ir_op_int(e->m, op, "saturate", 0) != 0);
    case TILE_BITCAST:
        return LLVMBuildBitCast(e->b, x[0], code_vector(e, result, width), "");
    case TILE_CUT: {
        LLVMTypeRef words = code_vector(e, DTYPE_I32, width), to = code_vector(e, result, width);
        LLVMValueRef high = LLVMBuildLShr(e->b, LLVMBuildBitCast(e->b, x[0], words, ""),
                                          code_splat(e, code_int(e, e->i32, 16), width), "");
        return LLVMBuildTrunc(e->b, high, to, "");
    }
    case TILE_SCALE:
        return scale(e, x[0], x[1], width);
    case TILE_COMPARE:
        return compare(e, ir_op_string(e->m, op, "predicate", "eq"), elements[0], x[0], x[1]);
    case TILE_SELECT:
        return LLVMBuildSelect(e->b, x[0], x[1], x[2], "");
    case TILE_FMA: {
        LLVMTypeRef type = LLVMTypeOf(x[0]);
        return code_intrinsic(e, "llvm.fma", &type, 1, x, 3);
    }
    default:
        if (ir_op_get(e->m, op)->operand_count == 1)
            return unary(e, opcode, elements[0], x[0]);
        return code_binary_value(e, opcode, elements[0], x[0], x[1]);
    }
}

void code_elementwise_part(emitter *e, ir_op op, int64_t r, int p) {
    const ir_op_data *d = ir_op_get(e->m, op);
    emitted *t = &e->of[d->results[0]];
    LLVMValueRef x[3] = {NULL, NULL, NULL};
    dtype elements[3];
    int width = code_part_width(t, p);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const emitted *operand = code_get(e, d->operands[i]);
        elements[i] = operand->element;
        x[i] = code_part(e, operand, r, p, width);
    }
    t->values[r * t->parts + p] = part_of(e, op, t->element, elements, x, width);
}

void code_elementwise(emitter *e, ir_op op) {
    const emitted *t = code_new(e, ir_op_get(e->m, op)->results[0]);
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++)
            code_elementwise_part(e, op, r, p);
}
