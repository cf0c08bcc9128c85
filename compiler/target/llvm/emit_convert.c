/* emit_convert.c - conversions between element types, each with one rounding from the exact value.
 *
 * bf16 is always an integer sequence: the hardware's instruction flushes subnormals. f16 uses the
 * hardware's conversions where the ISA level has them, else an integer sequence with the same bits.
 */
#include "target/llvm/emit.h"

static LLVMValueRef k32(emitter *e, int64_t value, int width) {
    return code_splat(e, code_int(e, e->i32, value), width);
}

static LLVMValueRef as_type(emitter *e, LLVMValueRef x, dtype element, int width) {
    return LLVMBuildBitCast(e->b, x, code_vector(e, element, width), "");
}

static LLVMValueRef vector_of(emitter *e, LLVMTypeRef type, int width) {
    (void)e;
    return width == 1 ? LLVMGetUndef(type) : LLVMGetUndef(LLVMVectorType(type, (unsigned)width));
}

static LLVMTypeRef type_of_width(emitter *e, LLVMTypeRef type, int width) {
    return LLVMTypeOf(vector_of(e, type, width));
}

static LLVMValueRef select_lt(emitter *e, LLVMValueRef x, LLVMValueRef y, LLVMValueRef then,
                              LLVMValueRef otherwise) {
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntULT, x, y, ""), then, otherwise, "");
}

/* ---- bf16 ---- */

static LLVMValueRef bf16_to_float(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef wide = LLVMBuildZExt(e->b, x, type_of_width(e, e->i32, width), "");
    return as_type(e, LLVMBuildShl(e->b, wide, k32(e, 16, width), ""), DTYPE_F32, width);
}

/* Adds half a unit less one, plus the last kept bit: nearest, ties to even. */
static LLVMValueRef float_to_bf16(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef bits = as_type(e, x, DTYPE_I32, width);
    LLVMValueRef last =
        LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, bits, k32(e, 16, width), ""), k32(e, 1, width), "");
    LLVMValueRef rounded =
        LLVMBuildAdd(e->b, bits, LLVMBuildAdd(e->b, last, k32(e, 0x7fff, width), ""), "");
    rounded = LLVMBuildLShr(e->b, rounded, k32(e, 16, width), "");
    LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
    rounded = LLVMBuildSelect(e->b, nan, k32(e, 0x7fc0, width), rounded, "");
    return LLVMBuildTrunc(e->b, rounded, type_of_width(e, e->i16, width), "");
}

/* ---- f16 ---- */

static LLVMValueRef f16_to_float_hardware(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef half = LLVMBuildBitCast(e->b, x, type_of_width(e, e->f16, width), "");
    return LLVMBuildFPExt(e->b, half, type_of_width(e, e->f32, width), "");
}

static LLVMValueRef float_to_f16_hardware(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef half = LLVMBuildFPTrunc(e->b, x, type_of_width(e, e->f16, width), "");
    return LLVMBuildBitCast(e->b, half, type_of_width(e, e->i16, width), "");
}

/* Shifts the exponent and significand into place as an f32 that is 2^112 too small, and multiplies:
 * exact, also for subnormals. Infinity and NaN get the f32 exponent. */
static LLVMValueRef f16_to_float_sequence(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef wide = LLVMBuildZExt(e->b, x, type_of_width(e, e->i32, width), "");
    LLVMValueRef magnitude = LLVMBuildAnd(e->b, wide, k32(e, 0x7fff, width), "");
    LLVMValueRef sign = LLVMBuildShl(e->b, LLVMBuildAnd(e->b, wide, k32(e, 0x8000, width), ""),
                                     k32(e, 16, width), "");
    LLVMValueRef shifted = LLVMBuildShl(e->b, magnitude, k32(e, 13, width), "");
    LLVMValueRef scale = code_splat_bits(e, DTYPE_F32, 0x77800000, width); /* 2^112 */
    LLVMValueRef value = LLVMBuildFMul(e->b, as_type(e, shifted, DTYPE_F32, width), scale, "");
    LLVMValueRef special = LLVMBuildOr(e->b, shifted, k32(e, 0x7f800000, width), "");
    LLVMValueRef bits = select_lt(e, magnitude, k32(e, 0x7c00, width),
                                  as_type(e, value, DTYPE_I32, width), special);
    return as_type(e, LLVMBuildOr(e->b, bits, sign, ""), DTYPE_F32, width);
}

/* Normal results: round the significand as integers and rebias. Subnormal results: adding 0.5
 * (whose last place is 2^-24, the f16 subnormal step) lets the f32 adder round. */
static LLVMValueRef float_to_f16_sequence(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef bits = as_type(e, x, DTYPE_I32, width);
    LLVMValueRef magnitude = LLVMBuildAnd(e->b, bits, k32(e, 0x7fffffff, width), "");
    LLVMValueRef sign = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, bits, k32(e, 16, width), ""),
                                     k32(e, 0x8000, width), "");
    LLVMValueRef last = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, magnitude, k32(e, 13, width), ""),
                                     k32(e, 1, width), "");
    LLVMValueRef normal = LLVMBuildAdd(
        e->b, magnitude, LLVMBuildAdd(e->b, last, k32(e, 0xfff - 0x38000000, width), ""), "");
    normal = LLVMBuildLShr(e->b, normal, k32(e, 13, width), "");
    LLVMValueRef half = code_splat_bits(e, DTYPE_F32, 0x3f000000, width);
    LLVMValueRef tiny = LLVMBuildFAdd(e->b, as_type(e, magnitude, DTYPE_F32, width), half, "");
    tiny = LLVMBuildSub(e->b, as_type(e, tiny, DTYPE_I32, width), k32(e, 0x3f000000, width), "");
    LLVMValueRef result = select_lt(e, magnitude, k32(e, 0x38800000, width), tiny, normal);
    result = select_lt(e, magnitude, k32(e, 0x477ff000, width), result, k32(e, 0x7c00, width));
    LLVMValueRef nan = LLVMBuildICmp(e->b, LLVMIntUGT, magnitude, k32(e, 0x7f800000, width), "");
    result = LLVMBuildSelect(e->b, nan, k32(e, 0x7e00, width), result, "");
    return LLVMBuildTrunc(e->b, LLVMBuildOr(e->b, result, sign, ""),
                          type_of_width(e, e->i16, width), "");
}

/* ---- f64 ---- */

/* The f32 that rounds to f16 and bf16 as x itself would: where x lies between two f32, the one with
 * an odd last bit ("round to odd"). */
static LLVMValueRef double_to_odd_float(emitter *e, LLVMValueRef x, int width) {
    LLVMTypeRef wide = LLVMTypeOf(x);
    LLVMValueRef near = LLVMBuildFPTrunc(e->b, x, type_of_width(e, e->f32, width), "");
    LLVMValueRef back = LLVMBuildFPExt(e->b, near, wide, "");
    LLVMValueRef size = code_intrinsic(e, "llvm.fabs", &wide, 1, &x, 1);
    LLVMValueRef back_size = code_intrinsic(e, "llvm.fabs", &wide, 1, &back, 1);
    LLVMValueRef beyond = LLVMBuildFCmp(e->b, LLVMRealOGT, back_size, size, "");
    LLVMValueRef inexact = LLVMBuildFCmp(e->b, LLVMRealONE, back_size, size, "");
    LLVMValueRef bits = as_type(e, near, DTYPE_I32, width), one = k32(e, 1, width);
    bits = LLVMBuildSelect(e->b, beyond, LLVMBuildSub(e->b, bits, one, ""), bits, "");
    bits = LLVMBuildSelect(e->b, inexact, LLVMBuildOr(e->b, bits, one, ""), bits, "");
    return as_type(e, bits, DTYPE_F32, width);
}

/* ---- integers ---- */

static LLVMValueRef float_to_int(emitter *e, dtype to, int width, LLVMValueRef x) {
    LLVMTypeRef types[] = {code_vector(e, to, width), LLVMTypeOf(x)};
    return code_intrinsic(e, "llvm.fptosi.sat", types, 2, &x, 1);
}

/* A float that rounds to bf16 as the integer itself would, exact: an f32 for i32, an f64 for i64.
 * Where the integer has more bits than that holds, the lowest are folded into one far below bf16's
 * last place. */
static LLVMValueRef int_to_float_sticky(emitter *e, LLVMValueRef x, int width, bool is_long) {
    LLVMTypeRef integer = is_long ? e->i64 : e->i32, real = is_long ? e->f64 : e->f32;
    int64_t low_bits = is_long ? 0xfff : 0xff, limit = INT64_C(1) << (is_long ? 53 : 24);
    LLVMValueRef zero = code_splat(e, code_int(e, integer, 0), width);
    LLVMValueRef mask = code_splat(e, code_int(e, integer, low_bits), width);
    LLVMValueRef fold = code_splat(e, code_int(e, integer, low_bits + 1), width);
    LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, x, zero, "");
    LLVMValueRef magnitude = LLVMBuildSelect(e->b, negative, LLVMBuildNeg(e->b, x, ""), x, "");
    LLVMValueRef any =
        LLVMBuildICmp(e->b, LLVMIntNE, LLVMBuildAnd(e->b, magnitude, mask, ""), zero, "");
    LLVMValueRef high = LLVMBuildAnd(e->b, magnitude, LLVMBuildNot(e->b, mask, ""), "");
    LLVMValueRef folded = LLVMBuildOr(e->b, high, LLVMBuildSelect(e->b, any, fold, zero, ""), "");
    LLVMValueRef few = code_splat(e, code_int(e, integer, limit), width);
    LLVMValueRef used = select_lt(e, magnitude, few, magnitude, folded);
    LLVMValueRef value = LLVMBuildUIToFP(e->b, used, type_of_width(e, real, width), "");
    return LLVMBuildSelect(e->b, negative, LLVMBuildFNeg(e->b, value, ""), value, "");
}

/* ---- the table of pairs ---- */

/* Narrow floats become f32 first: exact. */
static LLVMValueRef widen(emitter *e, dtype *from, int width, LLVMValueRef x) {
    dtype element = *from;
    if (element != DTYPE_F16 && element != DTYPE_BF16)
        return x;
    *from = DTYPE_F32;
    if (element == DTYPE_BF16)
        return bf16_to_float(e, x, width);
    return e->isa->has_f16c ? f16_to_float_hardware(e, x, width)
                            : f16_to_float_sequence(e, x, width);
}

static LLVMValueRef from_float(emitter *e, dtype from, dtype to, int width, LLVMValueRef x) {
    if (from == DTYPE_F64 && (to == DTYPE_F16 || to == DTYPE_BF16))
        x = double_to_odd_float(e, x, width);
    switch (to) {
    case DTYPE_F64:
        return from == DTYPE_F64 ? x : LLVMBuildFPExt(e->b, x, code_vector(e, to, width), "");
    case DTYPE_F32:
        return from == DTYPE_F32 ? x : LLVMBuildFPTrunc(e->b, x, code_vector(e, to, width), "");
    case DTYPE_BF16:
        return float_to_bf16(e, x, width);
    case DTYPE_F16:
        return e->isa->has_f16c ? float_to_f16_hardware(e, x, width)
                                : float_to_f16_sequence(e, x, width);
    case DTYPE_BOOL:
        return LLVMBuildFCmp(e->b, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    default:
        return float_to_int(e, to, width, x);
    }
}

static LLVMValueRef from_int(emitter *e, dtype from, dtype to, int width, LLVMValueRef x) {
    LLVMTypeRef type = code_vector(e, to, width);
    bool is_bool = from == DTYPE_BOOL;
    if (to == DTYPE_BOOL)
        return LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    if (to == DTYPE_BF16 && (from == DTYPE_I32 || from == DTYPE_I64)) {
        bool is_long = from == DTYPE_I64;
        LLVMValueRef exact = int_to_float_sticky(e, x, width, is_long);
        return from_float(e, is_long ? DTYPE_F64 : DTYPE_F32, to, width, exact);
    }
    if (to == DTYPE_F32 || to == DTYPE_F64)
        return is_bool ? LLVMBuildUIToFP(e->b, x, type, "") : LLVMBuildSIToFP(e->b, x, type, "");
    if (to == DTYPE_F16 || to == DTYPE_BF16)
        return from_float(e, DTYPE_F32, to, width, from_int(e, from, DTYPE_F32, width, x));
    if (dtype_size(to) > dtype_size(from) || is_bool)
        return is_bool ? LLVMBuildZExt(e->b, x, type, "") : LLVMBuildSExt(e->b, x, type, "");
    return LLVMBuildTrunc(e->b, x, type, "");
}

/* `near` is x rounded to a narrow float; where its magnitude is beyond that of x, the one before.
 */
static LLVMValueRef toward_zero(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                                LLVMValueRef near) {
    dtype wide = to;
    LLVMValueRef back = widen(e, &wide, width, near);
    LLVMTypeRef type = LLVMTypeOf(x);
    if (wide != from)
        back = from_float(e, wide, from, width, back);
    LLVMValueRef size = code_intrinsic(e, "llvm.fabs", &type, 1, &x, 1);
    LLVMValueRef back_size = code_intrinsic(e, "llvm.fabs", &type, 1, &back, 1);
    LLVMValueRef beyond = LLVMBuildFCmp(e->b, LLVMRealOGT, back_size, size, "");
    LLVMValueRef step = LLVMBuildSExt(e->b, beyond, LLVMTypeOf(near), "");
    return LLVMBuildAdd(e->b, near, step, "");
}

LLVMValueRef code_convert_value(emitter *e, dtype from, dtype to, int width, LLVMValueRef x) {
    if (from == to)
        return x;
    x = widen(e, &from, width, x);
    if (!dtype_is_float(from))
        return from_int(e, from, to, width, x);
    LLVMValueRef result = from_float(e, from, to, width, x);
    bool narrow = dtype_is_float(to) && dtype_size(to) < dtype_size(DTYPE_F32);
    return e->toward_zero && narrow ? toward_zero(e, from, to, width, x, result) : result;
}
