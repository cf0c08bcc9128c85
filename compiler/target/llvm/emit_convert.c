/* emit_convert.c - conversions between element types, each with one rounding from the exact value.
 *
 * bf16 is an integer sequence on CPUs, whose instruction flushes subnormals, and on chips without
 * one that rounds as IEEE 754 says. f16 uses the hardware's conversions where the ISA level has
 * them, else an integer sequence with the same bits.
 * The 8-bit floats are integer sequences everywhere. */
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

static LLVMValueRef and32(emitter *e, LLVMValueRef x, int64_t mask, int width) {
    return LLVMBuildAnd(e->b, x, k32(e, mask, width), "");
}

static LLVMValueRef shr32(emitter *e, LLVMValueRef x, int count, int width) {
    return LLVMBuildLShr(e->b, x, k32(e, count, width), "");
}

/* The smaller (llvm.umin, llvm.smin) or larger of x and a constant. */
static LLVMValueRef limited(emitter *e, const char *intrinsic, LLVMValueRef x, LLVMValueRef limit) {
    LLVMTypeRef type = LLVMTypeOf(x);
    return code_intrinsic(e, intrinsic, &type, 1, (LLVMValueRef[]){x, limit}, 2);
}

/* ---- to f32 ---- */

static LLVMValueRef bf16_to_float(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef wide = LLVMBuildZExt(e->b, x, type_of_width(e, e->i32, width), "");
    return as_type(e, LLVMBuildShl(e->b, wide, k32(e, 16, width), ""), DTYPE_F32, width);
}

static LLVMValueRef f16_to_float_hardware(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef half = LLVMBuildBitCast(e->b, x, type_of_width(e, e->f16, width), "");
    return LLVMBuildFPExt(e->b, half, type_of_width(e, e->f32, width), "");
}

static LLVMValueRef float_to_f16_hardware(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef half = LLVMBuildFPTrunc(e->b, x, type_of_width(e, e->f16, width), "");
    return LLVMBuildBitCast(e->b, half, type_of_width(e, e->i16, width), "");
}

/* Normal numbers move into place and get the exponent's difference; subnormal ones are their
 * integer times the spacing, exactly. Infinity and NaN get the f32 exponent. */
static LLVMValueRef narrow_to_float(emitter *e, dtype from, LLVMValueRef x, int width) {
    const dtype_format *f = dtype_format_of(from);
    int sign_bit = 8 * (int)dtype_size(from) - 1, shift = 23 - f->mantissa_bits;
    int64_t rebias = INT64_C(128) - (INT64_C(1) << (f->exponent_bits - 1));
    LLVMValueRef wide = LLVMBuildZExt(e->b, x, type_of_width(e, e->i32, width), "");
    LLVMValueRef magnitude = and32(e, wide, (INT64_C(1) << sign_bit) - 1, width);
    LLVMValueRef sign = LLVMBuildShl(e->b, and32(e, wide, INT64_C(1) << sign_bit, width),
                                     k32(e, 31 - sign_bit, width), "");
    LLVMValueRef shifted = LLVMBuildShl(e->b, magnitude, k32(e, shift, width), "");
    LLVMValueRef normal = LLVMBuildAdd(e->b, shifted, k32(e, rebias << 23, width), "");
    LLVMValueRef tiny = LLVMBuildSIToFP(e->b, magnitude, type_of_width(e, e->f32, width), "");
    LLVMValueRef spacing = code_splat_bits(e, DTYPE_F32, f32_bits((float)f->spacing), width);
    tiny = as_type(e, LLVMBuildFMul(e->b, tiny, spacing, ""), DTYPE_I32, width);
    LLVMValueRef bits =
        select_lt(e, magnitude, k32(e, INT64_C(1) << f->mantissa_bits, width), tiny, normal);
    LLVMValueRef special = f->infinity ? LLVMBuildOr(e->b, shifted, k32(e, 0x7f800000, width), "")
                                       : k32(e, 0x7fc00000, width);
    bits = select_lt(e, magnitude, k32(e, (int64_t)f->greatest + 1, width), bits, special);
    return as_type(e, LLVMBuildOr(e->b, bits, sign, ""), DTYPE_F32, width);
}

/* An f8e5m2 is the upper half of the f16 of the same value. */
static LLVMValueRef e5m2_to_f16(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef wide = LLVMBuildZExt(e->b, x, type_of_width(e, e->i16, width), "");
    return LLVMBuildShl(e->b, wide, code_splat(e, code_int(e, e->i16, 8), width), "");
}

/* ---- from f32 ---- */

/* Adds half a unit less one, plus the last kept bit: nearest, ties to even. */
LLVMValueRef code_round_bf16(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef bits = as_type(e, x, DTYPE_I32, width);
    LLVMValueRef last = and32(e, shr32(e, bits, 16, width), 1, width);
    LLVMValueRef rounded =
        LLVMBuildAdd(e->b, bits, LLVMBuildAdd(e->b, last, k32(e, 0x7fff, width), ""), "");
    rounded = shr32(e, rounded, 16, width);
    LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
    rounded = LLVMBuildSelect(e->b, nan, k32(e, 0x7fc0, width), rounded, "");
    return LLVMBuildTrunc(e->b, rounded, type_of_width(e, e->i16, width), "");
}

/* Threads have one element each. */
static LLVMValueRef float_to_bf16_hardware(emitter *e, LLVMValueRef x) {
    return LLVMBuildBitCast(e->b, code_intrinsic(e, "llvm.nvvm.f2bf16.rn", NULL, 0, &x, 1), e->i16,
                            "");
}

/* Bits of the rounded magnitude. Normal results: round the significand as integers and rebias.
 * Subnormal results: adding a number whose last place is the spacing lets the f32 adder round. */
static LLVMValueRef rounded_magnitude(emitter *e, const dtype_format *f, LLVMValueRef magnitude,
                                      int width) {
    int shift = 23 - f->mantissa_bits;
    int64_t rebias = INT64_C(128) - (INT64_C(1) << (f->exponent_bits - 1));
    LLVMValueRef last = and32(e, shr32(e, magnitude, shift, width), 1, width);
    int64_t half = (INT64_C(1) << (shift - 1)) - 1 - (rebias << 23);
    LLVMValueRef normal =
        LLVMBuildAdd(e->b, magnitude, LLVMBuildAdd(e->b, last, k32(e, half, width), ""), "");
    normal = shr32(e, normal, shift, width);
    if (rebias == 0) /* bf16: its subnormal numbers are those of f32 */
        return normal;
    int64_t anchor = f32_bits((float)f->spacing * 0x1p23f);
    LLVMValueRef tiny = LLVMBuildFAdd(e->b, as_type(e, magnitude, DTYPE_F32, width),
                                      code_splat_bits(e, DTYPE_F32, (uint64_t)anchor, width), "");
    tiny = LLVMBuildSub(e->b, as_type(e, tiny, DTYPE_I32, width), k32(e, anchor, width), "");
    return select_lt(e, magnitude, k32(e, (rebias + 1) << 23, width), tiny, normal);
}

static LLVMValueRef float_to_narrow(emitter *e, dtype to, bool saturate, LLVMValueRef x,
                                    int width) {
    const dtype_format *f = dtype_format_of(to);
    int sign_bit = 8 * (int)dtype_size(to) - 1;
    LLVMValueRef bits = as_type(e, x, DTYPE_I32, width);
    LLVMValueRef magnitude = and32(e, bits, 0x7fffffff, width);
    LLVMValueRef sign =
        and32(e, shr32(e, bits, 31 - sign_bit, width), INT64_C(1) << sign_bit, width);
    LLVMValueRef result = rounded_magnitude(e, f, magnitude, width);
    uint64_t last = saturate || !f->infinity ? f->greatest : f->infinity;
    result = limited(e, "llvm.umin", result, k32(e, (int64_t)last, width));
    LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
    result = LLVMBuildSelect(e->b, nan, k32(e, (int64_t)f->nan, width),
                             LLVMBuildOr(e->b, result, sign, ""), "");
    return LLVMBuildTrunc(e->b, result, code_vector(e, to, width), "");
}

/* An infinity, which in an f32 that was rounded stands for overflow, becomes the greatest number.
 */
static LLVMValueRef finite_float(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef bits = as_type(e, x, DTYPE_I32, width);
    LLVMValueRef infinite = LLVMBuildICmp(e->b, LLVMIntEQ, and32(e, bits, 0x7fffffff, width),
                                          k32(e, 0x7f800000, width), "");
    LLVMValueRef below = LLVMBuildSub(e->b, bits, k32(e, 1, width), "");
    return as_type(e, LLVMBuildSelect(e->b, infinite, below, bits, ""), DTYPE_F32, width);
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

LLVMValueRef code_wrap_i4(emitter *e, LLVMValueRef x, int width) {
    LLVMValueRef four = code_splat(e, code_int(e, e->i8, 4), width);
    return LLVMBuildAShr(e->b, LLVMBuildShl(e->b, x, four, ""), four, "");
}

/* x within the range of another integer type, as far as it may be beyond. */
static LLVMValueRef clamp_int(emitter *e, dtype from, dtype to, LLVMValueRef x, int width) {
    LLVMTypeRef type = code_element(e, from);
    const int64_t lowest = dtype_lowest(to), highest = dtype_highest(to);
    if (dtype_lowest(from) < lowest)
        x = limited(e, "llvm.smax", x, code_splat(e, code_int(e, type, lowest), width));
    if ((uint64_t)dtype_highest(from) > (uint64_t)highest)
        x = limited(e, dtype_is_unsigned(from) ? "llvm.umin" : "llvm.smin", x,
                    code_splat(e, code_int(e, type, highest), width));
    return x;
}

static LLVMValueRef real_splat(emitter *e, dtype element, double value, int width) {
    uint64_t bits = element == DTYPE_F64 ? f64_bits(value) : f32_bits((float)value);
    return code_splat_bits(e, element, bits, width);
}

/* Truncated and saturated, a NaN to 0. LLVM's own llvm.fptosi.sat would take vectors apart. */
static LLVMValueRef float_to_int(emitter *e, dtype from, dtype to, int width, LLVMValueRef x) {
    LLVMTypeRef types[] = {code_vector(e, to, width), LLVMTypeOf(x)};
    if (dtype_size(to) == 8)
        return code_intrinsic(e, to == DTYPE_U64 ? "llvm.fptoui.sat" : "llvm.fptosi.sat", types, 2,
                              &x, 1);
    double limit = (double)dtype_highest(to) + 1;
    bool is_long = dtype_size(to) == 4;
    bool exact = from == DTYPE_F64 || !is_long; /* is limit - 1 a number of the type? */
    LLVMValueRef most = real_splat(e, from, exact ? limit - 1 : limit * (1 - 0x1p-24), width),
                 least = real_splat(e, from, (double)dtype_lowest(to), width);
    LLVMValueRef below = LLVMBuildFCmp(e->b, LLVMRealOLT, x, most, "");
    LLVMValueRef within = LLVMBuildSelect(e->b, below, x, most, "");
    LLVMValueRef above = LLVMBuildFCmp(e->b, LLVMRealOGT, within, least, "");
    within = LLVMBuildSelect(e->b, above, within, least, "");
    LLVMTypeRef word = type_of_width(e, e->i32, width);
    LLVMValueRef whole = to == DTYPE_U32 ? LLVMBuildFPToUI(e->b, within, word, "")
                                         : LLVMBuildFPToSI(e->b, within, word, "");
    if (!exact) {
        LLVMValueRef end = real_splat(e, from, limit, width);
        LLVMValueRef over = LLVMBuildFCmp(e->b, LLVMRealOGE, x, end, "");
        whole = LLVMBuildSelect(e->b, over, k32(e, dtype_highest(to), width), whole, "");
    }
    LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
    whole = LLVMBuildSelect(e->b, nan, k32(e, 0, width), whole, "");
    return is_long ? whole : LLVMBuildTrunc(e->b, whole, types[0], "");
}

/* A float that rounds to bf16 (from i64: to f32 too) as the integer itself would, exact: an f32 for
 * i32, an f64 for i64. Where the integer has more bits than that holds, the lowest are folded into
 * one far below bf16's last place. */
static LLVMValueRef int_to_float_sticky(emitter *e, dtype from, LLVMValueRef x, int width) {
    const bool is_long = dtype_size(from) == 8, has_sign = !dtype_is_unsigned(from);
    LLVMTypeRef integer = is_long ? e->i64 : e->i32, real = is_long ? e->f64 : e->f32;
    int64_t low_bits = is_long ? 0xfff : 0xff, limit = INT64_C(1) << (is_long ? 53 : 24);
    LLVMValueRef zero = code_splat(e, code_int(e, integer, 0), width);
    LLVMValueRef mask = code_splat(e, code_int(e, integer, low_bits), width);
    LLVMValueRef fold = code_splat(e, code_int(e, integer, low_bits + 1), width);
    LLVMValueRef negative = has_sign ? LLVMBuildICmp(e->b, LLVMIntSLT, x, zero, "") : NULL;
    LLVMValueRef magnitude =
        has_sign ? LLVMBuildSelect(e->b, negative, LLVMBuildNeg(e->b, x, ""), x, "") : x;
    LLVMValueRef any =
        LLVMBuildICmp(e->b, LLVMIntNE, LLVMBuildAnd(e->b, magnitude, mask, ""), zero, "");
    LLVMValueRef high = LLVMBuildAnd(e->b, magnitude, LLVMBuildNot(e->b, mask, ""), "");
    LLVMValueRef folded = LLVMBuildOr(e->b, high, LLVMBuildSelect(e->b, any, fold, zero, ""), "");
    LLVMValueRef few = code_splat(e, code_int(e, integer, limit), width);
    LLVMValueRef used = select_lt(e, magnitude, few, magnitude, folded);
    LLVMValueRef value = LLVMBuildUIToFP(e->b, used, type_of_width(e, real, width), "");
    return has_sign ? LLVMBuildSelect(e->b, negative, LLVMBuildFNeg(e->b, value, ""), value, "")
                    : value;
}

/* ---- the table of pairs ---- */

/* Narrow floats become f32 first: exact. */
static LLVMValueRef widen(emitter *e, dtype *from, int width, LLVMValueRef x) {
    dtype element = *from;
    if (!dtype_is_narrow(element))
        return x;
    *from = DTYPE_F32;
    if (element == DTYPE_TF32)
        return x;
    if (element == DTYPE_BF16)
        return bf16_to_float(e, x, width);
    if (e->target->has_f16c && element == DTYPE_F8E5M2)
        return f16_to_float_hardware(e, e5m2_to_f16(e, x, width), width);
    return e->target->has_f16c && element == DTYPE_F16 ? f16_to_float_hardware(e, x, width)
                                                       : narrow_to_float(e, element, x, width);
}

static LLVMValueRef to_single(emitter *e, dtype from, int width, LLVMValueRef x, bool saturate) {
    if (from == DTYPE_F64)
        x = LLVMBuildFPTrunc(e->b, x, code_vector(e, DTYPE_F32, width), "");
    return saturate ? finite_float(e, x, width) : x;
}

static LLVMValueRef from_float(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                               bool saturate) {
    bool narrow = dtype_is_narrow(to) && to != DTYPE_TF32;
    if (from == DTYPE_F64 && narrow)
        x = double_to_odd_float(e, x, width);
    switch (to) {
    case DTYPE_F64:
        return from == DTYPE_F64 ? x : LLVMBuildFPExt(e->b, x, code_vector(e, to, width), "");
    case DTYPE_F32:
    case DTYPE_TF32:
        return to_single(e, from, width, x, saturate);
    case DTYPE_BOOL:
        return LLVMBuildFCmp(e->b, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    default:
        break;
    }
    if (!narrow)
        return float_to_int(e, from, to, width, x);
    if (to == DTYPE_BF16 && !saturate)
        return e->target->rounds_bf16 ? float_to_bf16_hardware(e, x) : code_round_bf16(e, x, width);
    return to == DTYPE_F16 && !saturate && e->target->has_f16c
               ? float_to_f16_hardware(e, x, width)
               : float_to_narrow(e, to, saturate, x, width);
}

/* `near` is x rounded to a narrow float; where its magnitude is beyond that of x, the one before.
 */
static LLVMValueRef toward_zero(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                                LLVMValueRef near) {
    dtype wide = to;
    LLVMValueRef back = widen(e, &wide, width, near);
    LLVMTypeRef type = LLVMTypeOf(x);
    if (wide != from)
        back = from_float(e, wide, from, width, back, false);
    LLVMValueRef size = code_intrinsic(e, "llvm.fabs", &type, 1, &x, 1);
    LLVMValueRef back_size = code_intrinsic(e, "llvm.fabs", &type, 1, &back, 1);
    LLVMValueRef beyond = LLVMBuildFCmp(e->b, LLVMRealOGT, back_size, size, "");
    LLVMValueRef step = LLVMBuildSExt(e->b, beyond, LLVMTypeOf(near), "");
    return LLVMBuildAdd(e->b, near, step, "");
}

static LLVMValueRef rounded(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                            bool saturate) {
    LLVMValueRef near = from_float(e, from, to, width, x, saturate);
    bool narrow = dtype_is_float(to) && dtype_size(to) < dtype_size(DTYPE_F32);
    return e->toward_zero && narrow ? toward_zero(e, from, to, width, x, near) : near;
}

static LLVMValueRef whole_to_float(emitter *e, dtype from, LLVMValueRef x, LLVMTypeRef type) {
    return dtype_is_unsigned(from) ? LLVMBuildUIToFP(e->b, x, type, "")
                                   : LLVMBuildSIToFP(e->b, x, type, "");
}

/* AArch64's code generation goes through f64, and would round twice without this. */
static LLVMValueRef long_to_float(emitter *e, dtype from, LLVMValueRef x, int width) {
    LLVMTypeRef type = code_vector(e, DTYPE_F32, width);
    if (width == 1 || e->target->rounds_i64_once)
        return whole_to_float(e, from, x, type);
    return LLVMBuildFPTrunc(e->b, int_to_float_sticky(e, from, x, width), type, "");
}

/* Every integer that a type narrower than bf16 can hold is exact in f32, so those round once. */
static LLVMValueRef int_to_float(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                                 bool saturate) {
    bool is_long = dtype_size(from) == 8;
    if (to == DTYPE_BF16 && dtype_size(from) >= 4) {
        LLVMValueRef exact = int_to_float_sticky(e, from, x, width);
        return rounded(e, is_long ? DTYPE_F64 : DTYPE_F32, to, width, exact, saturate);
    }
    LLVMTypeRef type = code_vector(e, to == DTYPE_F64 ? to : DTYPE_F32, width);
    x = is_long && to != DTYPE_F64 ? long_to_float(e, from, x, width)
                                   : whole_to_float(e, from, x, type);
    return to == DTYPE_F64 ? x : rounded(e, DTYPE_F32, to, width, x, saturate);
}

static LLVMValueRef int_to_int(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                               bool saturate) {
    LLVMTypeRef type = code_vector(e, to, width);
    const bool holds = dtype_holds(to, from);
    if (saturate && !holds)
        x = clamp_int(e, from, to, x, width);
    if (from == DTYPE_BOOL || dtype_size(to) > dtype_size(from))
        return dtype_is_unsigned(from) ? LLVMBuildZExt(e->b, x, type, "")
                                       : LLVMBuildSExt(e->b, x, type, "");
    x = LLVMTypeOf(x) == type ? x : LLVMBuildTrunc(e->b, x, type, "");
    return to == DTYPE_I4 && !saturate && !holds ? code_wrap_i4(e, x, width) : x;
}

LLVMValueRef code_convert_value(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                                bool saturate) {
    if (from == to)
        return x;
    x = widen(e, &from, width, x);
    if (dtype_is_float(from))
        return rounded(e, from, to, width, x, saturate);
    if (dtype_is_float(to))
        return int_to_float(e, from, to, width, x, saturate);
    return to == DTYPE_BOOL ? LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "")
                            : int_to_int(e, from, to, width, x, saturate);
}
