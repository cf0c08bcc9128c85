/* soft.c - arithmetic that a device of Vulkan may not have right, in code of the module's own: one
 * function for each trait of vulkan_traits.def, which a specialization constant turns over to the
 * device's instruction.
 *
 * Round to odd: a sum whose bits do not suffice gets the last one set, so that it is on no half way
 * and rounds on to fewer bits as the exact sum does. S. Boldo and G. Melquiond, "Emulation of a FMA
 * and correctly rounded sums: proved algorithms using rounding to odd", IEEE Transactions on
 * Computers 57(4), 2008: for f32 the product in f64 is exact, and one such sum is all that is
 * needed (their section 1); for f64 it is their algorithm of figure 3, of operands that are scaled
 * to where nothing over- or underflows. */
#include <spirv/unified1/GLSL.std.450.h>

#include "target/llvm/spirv/translate.h"

enum { F32 = 32, F64 = 64, FRACTION_BITS = 52, BIAS = 1023, EXPONENT_MASK = 0x7ff };

/* ---- expressions ---- */

static uint32_t number(translator *t, uint64_t value) {
    return constant_int(t, F64, value);
}

static uint32_t real(translator *t, uint64_t bits) {
    const uint32_t words[] = {(uint32_t)bits, (uint32_t)(bits >> F32)};
    return spirv_once(&t->m, SpvOpConstant, type_float(t, F64), words, 2);
}

static uint32_t ints(translator *t, SpvOp op, uint32_t a, uint32_t b) {
    return made(t, (uint16_t)op, type_int(t, F64), (uint32_t[]){a, b}, 2);
}

static uint32_t is(translator *t, SpvOp op, uint32_t a, uint32_t b) {
    return made(t, (uint16_t)op, type_bool(t), (uint32_t[]){a, b}, 2);
}

static uint32_t reals(translator *t, SpvOp op, uint32_t a, uint32_t b) {
    uint32_t id = made(t, (uint16_t)op, type_float(t, F64), (uint32_t[]){a, b}, 2);
    spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpDecorate, (uint32_t[]){id, SpvDecorationNoContraction},
             2);
    return id;
}

static uint32_t add(translator *t, uint32_t a, uint32_t b) {
    return reals(t, SpvOpFAdd, a, b);
}

static uint32_t sub(translator *t, uint32_t a, uint32_t b) {
    return reals(t, SpvOpFSub, a, b);
}

static uint32_t mul(translator *t, uint32_t a, uint32_t b) {
    return reals(t, SpvOpFMul, a, b);
}

static uint32_t bits(translator *t, uint32_t x) {
    return made(t, SpvOpBitcast, type_int(t, F64), &x, 1);
}

static uint32_t of_bits(translator *t, uint32_t x) {
    return made(t, SpvOpBitcast, type_float(t, F64), &x, 1);
}

static uint32_t choose(translator *t, bool is_real, uint32_t when, uint32_t a, uint32_t b) {
    return made(t, SpvOpSelect, is_real ? type_float(t, F64) : type_int(t, F64),
                (uint32_t[]){when, a, b}, 3);
}

static uint32_t widen(translator *t, uint32_t x) {
    return made(t, SpvOpFConvert, type_float(t, F64), &x, 1);
}

static uint32_t narrow(translator *t, uint32_t x) {
    return made(t, SpvOpFConvert, type_float(t, F32), &x, 1);
}

/* ---- sums and products without loss ---- */

typedef struct pair {
    uint32_t high, low;
} pair;

/* high + low == a + b, and high is their sum rounded. D. Knuth, TAOCP 2, 4.2.2, theorem B. */
static pair two_sum(translator *t, uint32_t a, uint32_t b) {
    uint32_t sum = add(t, a, b), rest = sub(t, sum, a);
    return (pair){sum, add(t, sub(t, a, sub(t, sum, rest)), sub(t, b, rest))};
}

/* T. J. Dekker, "A floating-point technique for extending the available precision", 1971. */
static pair split(translator *t, uint32_t x) {
    uint32_t scaled = mul(t, x, real(t, 0x41a0000002000000)), /* 2^27 + 1 */
        high = sub(t, scaled, sub(t, scaled, x));
    return (pair){high, sub(t, x, high)};
}

static pair two_product(translator *t, uint32_t a, uint32_t b) {
    uint32_t product = mul(t, a, b);
    pair x = split(t, a), y = split(t, b);
    uint32_t low = sub(t, mul(t, x.high, y.high), product);
    low = add(t, add(t, low, mul(t, x.high, y.low)), mul(t, x.low, y.high));
    return (pair){product, add(t, low, mul(t, x.low, y.low))};
}

static uint32_t odd_sum(translator *t, uint32_t a, uint32_t b) {
    pair sum = two_sum(t, a, b);
    uint32_t s = bits(t, sum.high), zero = number(t, 0), one = number(t, 1);
    uint32_t away =
        is(t, SpvOpSGreaterThanEqual, ints(t, SpvOpBitwiseXor, s, bits(t, sum.low)), zero);
    uint32_t other = choose(t, false, away, ints(t, SpvOpIAdd, s, one), ints(t, SpvOpISub, s, one));
    uint32_t inexact = is(t, SpvOpFOrdNotEqual, sum.low, real(t, 0)),
             even = is(t, SpvOpIEqual, ints(t, SpvOpBitwiseAnd, s, one), zero);
    uint32_t moved = is(t, SpvOpLogicalAnd, inexact, even);
    return of_bits(t, choose(t, false, moved, other, s));
}

/* ---- numbers as fraction and exponent ---- */

static uint32_t exponent_field(translator *t, uint32_t x) {
    uint32_t shifted = ints(t, SpvOpShiftRightLogical, bits(t, x), number(t, FRACTION_BITS));
    return ints(t, SpvOpBitwiseAnd, shifted, number(t, EXPONENT_MASK));
}

/* high: x / 2^low, its magnitude in [1, 2); of finite numbers that are not 0. */
static pair parts(translator *t, uint32_t x) {
    enum { RAISE = 54 };
    uint32_t subnormal = is(t, SpvOpIEqual, exponent_field(t, x), number(t, 0));
    uint32_t raised = choose(t, true, subnormal, mul(t, x, real(t, 0x4350000000000000)), x);
    uint32_t bias = choose(t, false, subnormal, number(t, BIAS + RAISE), number(t, BIAS));
    uint32_t fraction = ints(t, SpvOpBitwiseAnd, bits(t, raised), number(t, 0x800fffffffffffff));
    fraction = ints(t, SpvOpBitwiseOr, fraction, number(t, 0x3ff0000000000000));
    return (pair){of_bits(t, fraction), ints(t, SpvOpISub, exponent_field(t, raised), bias)};
}

static uint32_t clamp(translator *t, uint32_t x, int64_t least, int64_t most) {
    uint32_t low = number(t, (uint64_t)least), high = number(t, (uint64_t)most);
    x = choose(t, false, is(t, SpvOpSLessThan, x, low), low, x);
    return choose(t, false, is(t, SpvOpSGreaterThan, x, high), high, x);
}

static uint32_t power_of_two(translator *t, uint32_t exponent) {
    uint32_t biased = ints(t, SpvOpIAdd, exponent, number(t, BIAS));
    return of_bits(t, ints(t, SpvOpShiftLeftLogical, biased, number(t, FRACTION_BITS)));
}

static uint32_t with_sign_of(translator *t, uint32_t magnitude, uint32_t sign) {
    uint32_t bit = ints(t, SpvOpBitwiseAnd, bits(t, sign), number(t, 0x8000000000000000));
    return of_bits(t, ints(t, SpvOpBitwiseOr, bits(t, magnitude), bit));
}

static uint32_t times_power(translator *t, uint32_t x, uint32_t exponent) {
    uint32_t half = ints(t, SpvOpShiftRightArithmetic, exponent, number(t, 1)),
             rest = ints(t, SpvOpISub, exponent, half);
    x = mul(t, x, power_of_two(t, clamp(t, half, -1022, 1023)));
    return mul(t, x, power_of_two(t, clamp(t, rest, -1022, 1023)));
}

/* ---- the functions ---- */

static uint32_t fma_f32(translator *t, const uint32_t *x) {
    uint32_t product = mul(t, widen(t, x[0]), widen(t, x[1]));
    return narrow(t, odd_sum(t, product, widen(t, x[2])));
}

static uint32_t divide_f32(translator *t, const uint32_t *x) {
    return narrow(t, reals(t, SpvOpFDiv, widen(t, x[0]), widen(t, x[1])));
}

static uint32_t root_f32(translator *t, const uint32_t *x) {
    uint32_t wide = widen(t, x[0]);
    const uint32_t words[] = {t->functions, GLSLstd450Sqrt, wide};
    return narrow(t, made(t, SpvOpExtInst, type_float(t, F64), words, 3));
}

/* The exact high + low, of which `value` is the nearest f64, times 2^scale: rounded once. Where
 * that is subnormal, a number whose last bit is theirs is added first and taken away again. */
static uint32_t scaled_once(translator *t, uint32_t high, uint32_t low, uint32_t value,
                            uint32_t scale) {
    const int64_t least = -1074, normal = -1022;
    uint32_t field = ints(t, SpvOpISub, exponent_field(t, value), number(t, BIAS)),
             small = is(t, SpvOpSLessThan, ints(t, SpvOpIAdd, field, scale),
                        number(t, (uint64_t)normal));
    uint32_t last = ints(t, SpvOpISub, number(t, (uint64_t)(least + FRACTION_BITS)), scale),
             unit = with_sign_of(t, power_of_two(t, clamp(t, last, -1000, 1000)), value);
    unit = choose(t, true, small, unit, real(t, 0));
    pair sum = two_sum(t, unit, high);
    uint32_t rounded = sub(t, add(t, sum.high, odd_sum(t, sum.low, low)), unit),
             result = times_power(t, rounded, clamp(t, scale, -2200, 2200));
    uint32_t vanished = is(t, SpvOpLogicalAnd, is(t, SpvOpFOrdEqual, rounded, real(t, 0)),
                           is(t, SpvOpFOrdNotEqual, value, real(t, 0)));
    return choose(t, true, vanished, with_sign_of(t, real(t, 0), value), result);
}

static uint32_t is_special(translator *t, uint32_t x, bool zero_too) {
    uint32_t special = is(t, SpvOpIEqual, exponent_field(t, x), number(t, EXPONENT_MASK));
    return zero_too ? is(t, SpvOpLogicalOr, special, is(t, SpvOpFOrdEqual, x, real(t, 0)))
                    : special;
}

static uint32_t fma_f64(translator *t, const uint32_t *x) {
    enum { FAR = 240 }; /* beyond it the smaller of product and addend is no more than a sign */
    pair a = parts(t, x[0]), b = parts(t, x[1]), c = parts(t, x[2]);
    uint32_t scale = ints(t, SpvOpIAdd, a.low, b.low), apart = ints(t, SpvOpISub, c.low, scale),
             near = clamp(t, apart, -FAR, FAR);
    uint32_t above = is(t, SpvOpSGreaterThan, apart, number(t, FAR));
    scale = choose(t, false, above, ints(t, SpvOpISub, c.low, near), scale);
    uint32_t addend = mul(t, c.high, power_of_two(t, near));
    addend = choose(t, true, is(t, SpvOpFOrdEqual, x[2], real(t, 0)), x[2], addend);
    pair product = two_product(t, a.high, b.high), inner = two_sum(t, addend, product.low),
         outer = two_sum(t, product.high, inner.high);
    uint32_t low = odd_sum(t, inner.low, outer.low), value = add(t, outer.high, low);
    uint32_t result = scaled_once(t, outer.high, low, value, scale);
    uint32_t factors = is(t, SpvOpLogicalOr, is_special(t, x[0], true), is_special(t, x[1], true));
    result = choose(t, true, is_special(t, x[2], false), add(t, x[2], x[2]), result);
    return choose(t, true, factors, add(t, mul(t, x[0], x[1]), x[2]), result);
}

/* The device's own. */
static uint32_t own(translator *t, vulkan_trait trait, const uint32_t *x, uint32_t width) {
    static const enum GLSLstd450 functions[] = {[VULKAN_FMA_F32] = GLSLstd450Fma,
                                                [VULKAN_FMA_F64] = GLSLstd450Fma,
                                                [VULKAN_ROOT_F32] = GLSLstd450Sqrt,
                                                [VULKAN_ROOT_F64] = GLSLstd450Sqrt};
    const bool divides = trait == VULKAN_DIVIDE_F32 || trait == VULKAN_DIVIDE_F64;
    uint32_t type = type_float(t, width), count = divides                             ? 2
                                                  : functions[trait] == GLSLstd450Fma ? 3
                                                                                      : 1;
    uint32_t words[] = {t->functions, (uint32_t)functions[trait], x[0], x[1], x[2]};
    uint32_t id = divides ? made(t, SpvOpFDiv, type, x, count)
                          : made(t, SpvOpExtInst, type, words, 2 + count);
    spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpDecorate, (uint32_t[]){id, SpvDecorationNoContraction},
             2);
    return id;
}

static const struct {
    uint32_t width, arguments;
    uint32_t (*body)(translator *t, const uint32_t *x); /* NULL: a device must have it */
} softs[VULKAN_TRAIT_COUNT] = {
    [VULKAN_FMA_F32] = {F32, 3, fma_f32},   [VULKAN_DIVIDE_F32] = {F32, 2, divide_f32},
    [VULKAN_ROOT_F32] = {F32, 1, root_f32}, [VULKAN_FMA_F64] = {F64, 3, fma_f64},
    [VULKAN_DIVIDE_F64] = {F64, 2, NULL},   [VULKAN_ROOT_F64] = {F64, 1, NULL},
};

uint32_t trait_constant(translator *t, vulkan_trait trait) {
    if (!t->traits[trait]) {
        uint32_t words[] = {type_bool(t), spirv_id(&t->m)};
        spirv_op(&t->m, SPIRV_GLOBALS, SpvOpSpecConstantTrue, words, 2);
        spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpDecorate,
                 (uint32_t[]){words[1], SpvDecorationSpecId, (uint32_t)trait}, 3);
        t->traits[trait] = words[1];
    }
    return t->traits[trait];
}

static void label(translator *t, uint32_t id) {
    spirv_op(&t->m, t->into, SpvOpLabel, &id, 1);
}

static void give_back(translator *t, uint32_t value) {
    spirv_op(&t->m, t->into, SpvOpReturnValue, &value, 1);
}

static void write_function(translator *t, vulkan_trait trait, uint32_t id) {
    enum { MOST = 3 };
    uint32_t type = type_float(t, softs[trait].width), count = softs[trait].arguments;
    uint32_t kind[] = {type, type, type, type}, x[MOST] = {0}, right = trait_constant(t, trait);
    uint32_t start = spirv_id(&t->m), yes = spirv_id(&t->m), no = spirv_id(&t->m),
             end = spirv_id(&t->m);
    uint32_t signature = spirv_once(&t->m, SpvOpTypeFunction, 0, kind, 1 + count);
    spirv_op(&t->m, t->into, SpvOpFunction,
             (uint32_t[]){type, id, SpvFunctionControlMaskNone, signature}, 4);
    for (uint32_t i = 0; i < count; i++) {
        x[i] = spirv_id(&t->m);
        spirv_op(&t->m, t->into, SpvOpFunctionParameter, (uint32_t[]){type, x[i]}, 2);
    }
    label(t, start);
    spirv_op(&t->m, t->into, SpvOpSelectionMerge, (uint32_t[]){end, SpvSelectionControlMaskNone},
             2);
    spirv_op(&t->m, t->into, SpvOpBranchConditional, (uint32_t[]){right, yes, no}, 3);
    label(t, yes);
    give_back(t, own(t, trait, x, softs[trait].width));
    label(t, no);
    give_back(t, softs[trait].body(t, x));
    label(t, end);
    spirv_op(&t->m, t->into, SpvOpUnreachable, NULL, 0);
    spirv_op(&t->m, t->into, SpvOpFunctionEnd, NULL, 0);
}

uint32_t soft_result(translator *t, vulkan_trait trait, const uint32_t *x) {
    enum { MOST = 3 };
    uint32_t width = softs[trait].width, count = softs[trait].arguments;
    trait_constant(t, trait);
    if (!softs[trait].body)
        return own(t, trait, x, width);
    if (!t->softs[trait]) {
        spirv_section outside = t->into;
        t->softs[trait] = spirv_id(&t->m);
        t->into = SPIRV_HELPERS;
        write_function(t, trait, t->softs[trait]);
        t->into = outside;
    }
    uint32_t words[1 + MOST] = {t->softs[trait]};
    for (uint32_t i = 0; i < count; i++)
        words[1 + i] = x[i];
    return made(t, SpvOpFunctionCall, type_float(t, width), words, 1 + count);
}
