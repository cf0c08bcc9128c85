/* calls.c - what the LLVM IR calls: functions of LLVM, of which SPIR-V has some, and the machine.
 */
#include <spirv/unified1/GLSL.std.450.h>
#include <string.h>

/* The header's other names are too short for C. */
enum {
    OPENCL_CEIL = 12,
    OPENCL_FLOOR = 25,
    OPENCL_FMA = 26,
    OPENCL_RINT = 53,
    OPENCL_SQRT = 61,
    OPENCL_TRUNC = 66
};

#include "target/llvm/spirv/translate.h"

enum { WORD_BITS = 32, ADDRESS_BITS = 64 };

static uint32_t argument(translator *t, LLVMValueRef call, unsigned n) {
    return value_of(t, LLVMGetOperand(call, n));
}

static void give(translator *t, LLVMValueRef call, uint16_t opcode, const uint32_t *x,
                 uint32_t count) {
    uint32_t words[8] = {type_of(t, LLVMTypeOf(call)), value_of(t, call)};
    for (uint32_t i = 0; i < count; i++)
        words[2 + i] = x[i];
    spirv_op(&t->m, SPIRV_FUNCTIONS, opcode, words, 2 + count);
}

static uint32_t one_type(translator *t, LLVMValueRef call, bool *scalar) {
    LLVMTypeRef type = LLVMTypeOf(call);
    *scalar = lanes_of(type) == 1;
    if (!*scalar)
        translate_fail(t, "functions of vectors", "");
    return type_of(t, type);
}

static void library(translator *t, LLVMValueRef call, uint32_t vulkan, uint32_t opencl,
                    uint32_t count) {
    uint32_t words[5] = {t->functions, t->kernel ? opencl : vulkan};
    for (uint32_t i = 0; i < count; i++)
        words[2 + i] = argument(t, call, i);
    give(t, call, SpvOpExtInst, words, 2 + count);
    if (!t->kernel)
        spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpDecorate,
                 (uint32_t[]){value_of(t, call), SpvDecorationNoContraction}, 2);
}

/* Softens a call of f32 or f64; false: the translator does not. */
static bool soft(translator *t, LLVMValueRef call, vulkan_trait of_f32, vulkan_trait of_f64,
                 uint32_t count) {
    LLVMTypeRef type = LLVMTypeOf(call);
    uint32_t x[3] = {0};
    if (!t->softens)
        return false;
    if (lanes_of(type) > 1 || bits_of(type) < WORD_BITS)
        translate_fail(t, "functions of vectors or f16", "");
    for (uint32_t i = 0; i < count; i++)
        x[i] = arithmetic_operand(t, LLVMGetOperand(call, i));
    uint32_t result = soft_result(t, bits_of(type) == WORD_BITS ? of_f32 : of_f64, x);
    give(t, call, SpvOpCopyObject, &result, 1);
    return true;
}

static void fma_of(translator *t, LLVMValueRef call) {
    if (!soft(t, call, VULKAN_FMA_F32, VULKAN_FMA_F64, 3))
        library(t, call, GLSLstd450Fma, OPENCL_FMA, 3);
}

static void sqrt_of(translator *t, LLVMValueRef call) {
    if (!soft(t, call, VULKAN_ROOT_F32, VULKAN_ROOT_F64, 1))
        library(t, call, GLSLstd450Sqrt, OPENCL_SQRT, 1);
}

static void floor_of(translator *t, LLVMValueRef call) {
    library(t, call, GLSLstd450Floor, OPENCL_FLOOR, 1);
}

static void ceil_of(translator *t, LLVMValueRef call) {
    library(t, call, GLSLstd450Ceil, OPENCL_CEIL, 1);
}

static void trunc_of(translator *t, LLVMValueRef call) {
    library(t, call, GLSLstd450Trunc, OPENCL_TRUNC, 1);
}

static void roundeven_of(translator *t, LLVMValueRef call) {
    library(t, call, GLSLstd450RoundEven, OPENCL_RINT, 1);
}

/* It only keeps sums and products apart, which they are here. */
static void fence(translator *t, LLVMValueRef call) {
    uint32_t x = argument(t, call, 0);
    give(t, call, SpvOpCopyObject, &x, 1);
}

static void fabs_of(translator *t, LLVMValueRef call) {
    bool scalar;
    uint32_t bits = bits_of(LLVMTypeOf(call)), x = argument(t, call, 0);
    one_type(t, call, &scalar);
    const uint32_t sides[] = {made(t, SpvOpBitcast, type_int(t, bits), &x, 1),
                              constant_int(t, bits, ((uint64_t)1 << (bits - 1)) - 1)};
    uint32_t magnitude = made(t, SpvOpBitwiseAnd, type_int(t, bits), sides, 2);
    give(t, call, SpvOpBitcast, &magnitude, 1);
}

/* ---- extremes ---- */

/* IEEE 754's maximum and minimum: a NaN is a NaN, and of zeros the one whose sign it wants. Of
 * equal numbers the bits are the same but for that sign, so `and` and `or` choose it. */
static void extreme(translator *t, LLVMValueRef call, SpvOp first, SpvOp of_equal) {
    bool scalar;
    LLVMTypeRef type = LLVMTypeOf(call);
    uint32_t floats = one_type(t, call, &scalar), bits = bits_of(type), ints = type_int(t, bits);
    const uint32_t x[] = {argument(t, call, 0), argument(t, call, 1)};
    const uint32_t as_ints[] = {made(t, SpvOpBitcast, ints, &x[0], 1),
                                made(t, SpvOpBitcast, ints, &x[1], 1)};
    uint32_t same = made(t, (uint16_t)of_equal, ints, as_ints, 2);
    uint32_t equal = made(t, SpvOpFOrdEqual, type_bool(t), x, 2),
             wins = made(t, (uint16_t)first, type_bool(t), x, 2);
    uint32_t best = made(t, SpvOpSelect, floats, (uint32_t[]){wins, x[0], x[1]}, 3);
    best = made(t, SpvOpSelect, floats,
                (uint32_t[]){equal, made(t, SpvOpBitcast, floats, &same, 1), best}, 3);
    best = made(t, SpvOpSelect, floats, (uint32_t[]){is_nan(t, x[1], type), x[1], best}, 3);
    give(t, call, SpvOpSelect, (uint32_t[]){is_nan(t, x[0], type), x[0], best}, 3);
}

static void maximum_of(translator *t, LLVMValueRef call) {
    extreme(t, call, SpvOpFOrdGreaterThan, SpvOpBitwiseAnd);
}

static void minimum_of(translator *t, LLVMValueRef call) {
    extreme(t, call, SpvOpFOrdLessThan, SpvOpBitwiseOr);
}

static void of_ints(translator *t, LLVMValueRef call, SpvOp first) {
    bool scalar;
    one_type(t, call, &scalar);
    const uint32_t x[] = {argument(t, call, 0), argument(t, call, 1)};
    uint32_t wins = made(t, (uint16_t)first, type_bool(t), x, 2);
    give(t, call, SpvOpSelect, (uint32_t[]){wins, x[0], x[1]}, 3);
}

static void smin_of(translator *t, LLVMValueRef call) {
    of_ints(t, call, SpvOpSLessThan);
}

static void smax_of(translator *t, LLVMValueRef call) {
    of_ints(t, call, SpvOpSGreaterThan);
}

static void umin_of(translator *t, LLVMValueRef call) {
    of_ints(t, call, SpvOpULessThan);
}

static void umax_of(translator *t, LLVMValueRef call) {
    of_ints(t, call, SpvOpUGreaterThan);
}

/* ---- saturating conversions ---- */

/* The power of two 2^exponent. */
static uint32_t power(translator *t, LLVMTypeRef type, uint32_t exponent, bool minus) {
    bool wide = bits_of(type) == 64;
    uint64_t bits = wide ? (uint64_t)(1023 + exponent) << 52 : (uint64_t)(127 + exponent) << 23;
    bits |= minus ? (uint64_t)1 << (bits_of(type) - 1) : 0;
    const uint32_t words[] = {(uint32_t)bits, (uint32_t)(bits >> WORD_BITS)};
    return spirv_once(&t->m, SpvOpConstant, type_of(t, type), words, wide ? 2 : 1);
}

/* A NaN is 0; what is beyond the integers is the first or the last of them. */
static void to_whole(translator *t, LLVMValueRef call, bool has_sign) {
    bool scalar;
    LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(call, 0));
    uint32_t type = one_type(t, call, &scalar), bits = bits_of(LLVMTypeOf(call)),
             x = argument(t, call, 0);
    uint64_t least = has_sign ? (uint64_t)1 << (bits - 1) : 0;
    if (bits_of(from) < WORD_BITS)
        translate_fail(t, "conversions of f16 to integers", "");
    uint32_t above = made(t, SpvOpFOrdGreaterThanEqual, type_bool(t),
                          (uint32_t[]){x, power(t, from, bits - has_sign, false)}, 2),
             below = made(t, SpvOpFOrdLessThan, type_bool(t),
                          (uint32_t[]){x, has_sign ? power(t, from, bits - 1, true)
                                                   : value_of(t, LLVMConstReal(from, 0))},
                          2),
             plain = made(t, has_sign ? SpvOpConvertFToS : SpvOpConvertFToU, type, &x, 1);
    plain =
        made(t, SpvOpSelect, type, (uint32_t[]){above, constant_int(t, bits, least - 1), plain}, 3);
    plain = made(t, SpvOpSelect, type, (uint32_t[]){below, constant_int(t, bits, least), plain}, 3);
    give(t, call, SpvOpSelect, (uint32_t[]){is_nan(t, x, from), constant_int(t, bits, 0), plain},
         3);
}

static void to_int(translator *t, LLVMValueRef call) {
    to_whole(t, call, true);
}

static void to_natural(translator *t, LLVMValueRef call) {
    to_whole(t, call, false);
}

/* ---- the machine ---- */

/* Memory of both kinds is seen behind it by the whole workgroup. */
static void barrier(translator *t, LLVMValueRef call) {
    uint32_t semantics = SpvMemorySemanticsAcquireReleaseMask |
                         SpvMemorySemanticsWorkgroupMemoryMask |
                         (t->kernel ? SpvMemorySemanticsCrossWorkgroupMemoryMask
                                    : SpvMemorySemanticsUniformMemoryMask);
    uint32_t scope = constant_int(t, WORD_BITS, SpvScopeWorkgroup);
    (void)call;
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpControlBarrier,
             (uint32_t[]){scope, scope, constant_int(t, WORD_BITS, semantics)}, 3);
}

/* OpenCL has such numbers in 64 bits. */
static void number(translator *t, LLVMValueRef call, uint32_t variable) {
    uint32_t type = type_int(t, t->kernel ? ADDRESS_BITS : WORD_BITS);
    uint32_t all = made(t, SpvOpLoad, type_vector(t, type, 3), &variable, 1);
    const uint32_t first[] = {all, 0};
    uint32_t x = t->kernel ? made(t, SpvOpCompositeExtract, type, first, 2) : 0;
    if (t->kernel)
        give(t, call, SpvOpUConvert, &x, 1);
    else
        give(t, call, SpvOpCompositeExtract, first, 2);
}

static void thread_number(translator *t, LLVMValueRef call) {
    number(t, call, t->local_id);
}

/* A workgroup's number: Vulkan's begin with 0 in each part of a launched grid. */
static void group_number(translator *t, LLVMValueRef call) {
    if (t->kernel) {
        number(t, call, t->group_id);
        return;
    }
    uint32_t word = type_int(t, WORD_BITS), member = constant_int(t, WORD_BITS, PUSHED_BASE);
    uint32_t from = made(t, SpvOpAccessChain, type_pointer(t, SpvStorageClassPushConstant, word),
                         (uint32_t[]){t->pushed, member}, 2),
             base = made(t, SpvOpLoad, word, &from, 1),
             all = made(t, SpvOpLoad, type_vector(t, word, 3), &t->group_id, 1);
    uint32_t own = made(t, SpvOpCompositeExtract, word, (uint32_t[]){all, 0}, 2);
    give(t, call, SpvOpIAdd, (uint32_t[]){own, base}, 2);
}

/* ---- the table ---- */

void translate_call(translator *t, LLVMValueRef i) {
    static const struct {
        const char *name; /* up to where its types begin */
        void (*give)(translator *t, LLVMValueRef call);
    } rows[] = {
        {"llvm.fma.", fma_of},
        {"llvm.sqrt.", sqrt_of},
        {"llvm.fabs.", fabs_of},
        {"llvm.floor.", floor_of},
        {"llvm.ceil.", ceil_of},
        {"llvm.trunc.", trunc_of},
        {"llvm.roundeven.", roundeven_of},
        {"llvm.arithmetic.fence.", fence},
        {"llvm.fptosi.sat.", to_int},
        {"llvm.fptoui.sat.", to_natural},
        {"llvm.maximum.", maximum_of},
        {"llvm.minimum.", minimum_of},
        {"llvm.smin.", smin_of},
        {"llvm.smax.", smax_of},
        {"llvm.umin.", umin_of},
        {"llvm.umax.", umax_of},
        {"llvm.nvvm.barrier0", barrier},
        {"llvm.nvvm.read.ptx.sreg.tid.x", thread_number},
        {"llvm.nvvm.read.ptx.sreg.ctaid.x", group_number},
    };
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &length);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (strncmp(name, rows[r].name, strlen(rows[r].name)) == 0) {
            rows[r].give(t, i);
            return;
        }
    translate_fail(t, "calls of ", name);
}
