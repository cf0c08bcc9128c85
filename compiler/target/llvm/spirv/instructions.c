/* instructions.c - arithmetic, comparisons and conversions. */
#include "target/llvm/spirv/translate.h"

/* Traits that a table gives an instruction. */
typedef enum trait {
    PLAIN,
    ROUNDS,  /* a float that must not be contracted with what it is added to */
    LOGICAL, /* of i1 there is another one */
} trait;

typedef struct row {
    LLVMOpcode from;
    SpvOp to;
    trait trait;
    SpvOp logical;
} row;

static const row rows[] = {
    {LLVMAdd, SpvOpIAdd, PLAIN, 0},
    {LLVMSub, SpvOpISub, PLAIN, 0},
    {LLVMMul, SpvOpIMul, PLAIN, 0},
    {LLVMUDiv, SpvOpUDiv, PLAIN, 0},
    {LLVMSDiv, SpvOpSDiv, PLAIN, 0},
    {LLVMURem, SpvOpUMod, PLAIN, 0},
    {LLVMSRem, SpvOpSRem, PLAIN, 0},
    {LLVMShl, SpvOpShiftLeftLogical, PLAIN, 0},
    {LLVMLShr, SpvOpShiftRightLogical, PLAIN, 0},
    {LLVMAShr, SpvOpShiftRightArithmetic, PLAIN, 0},
    {LLVMAnd, SpvOpBitwiseAnd, LOGICAL, SpvOpLogicalAnd},
    {LLVMOr, SpvOpBitwiseOr, LOGICAL, SpvOpLogicalOr},
    {LLVMXor, SpvOpBitwiseXor, LOGICAL, SpvOpLogicalNotEqual},
    {LLVMFAdd, SpvOpFAdd, ROUNDS, 0},
    {LLVMFSub, SpvOpFSub, ROUNDS, 0},
    {LLVMFMul, SpvOpFMul, ROUNDS, 0},
    {LLVMFDiv, SpvOpFDiv, ROUNDS, 0},
    {LLVMFPToSI, SpvOpConvertFToS, PLAIN, 0},
    {LLVMFPToUI, SpvOpConvertFToU, PLAIN, 0},
    {LLVMSIToFP, SpvOpConvertSToF, PLAIN, 0},
    {LLVMUIToFP, SpvOpConvertUToF, PLAIN, 0}, /* of i1: from_bool */
    {LLVMFPExt, SpvOpFConvert, PLAIN, 0},
    {LLVMFPTrunc, SpvOpFConvert, PLAIN, 0},
    {LLVMBitCast, SpvOpBitcast, PLAIN, 0},
    {LLVMSelect, SpvOpSelect, PLAIN, 0},
    {LLVMFreeze, SpvOpCopyObject, PLAIN, 0},
};

/* ---- how a value is written ---- */

static void give(translator *t, uint16_t opcode, LLVMValueRef i, const uint32_t *operands,
                 uint32_t count) {
    uint32_t words[8] = {type_of(t, LLVMTypeOf(i)), value_of(t, i)};
    for (uint32_t n = 0; n < count; n++)
        words[2 + n] = operands[n];
    spirv_op(&t->m, SPIRV_FUNCTIONS, opcode, words, 2 + count);
}

uint32_t made(translator *t, uint16_t opcode, uint32_t type, const uint32_t *operands,
              uint32_t count) {
    uint32_t words[8] = {type, spirv_id(&t->m)};
    for (uint32_t n = 0; n < count; n++)
        words[2 + n] = operands[n];
    spirv_op(&t->m, t->into, opcode, words, 2 + count);
    return words[1];
}

static uint32_t operand(translator *t, LLVMValueRef i, unsigned n) {
    return value_of(t, LLVMGetOperand(i, n));
}

static uint32_t repeated(translator *t, uint32_t constant, uint32_t type, uint32_t lanes) {
    const uint32_t parts[] = {constant, constant, constant, constant};
    return lanes == 1 ? constant : spirv_once(&t->m, SpvOpConstantComposite, type, parts, lanes);
}

/* The same number in all elements of an integer type with as many bits as `like`. */
static uint32_t number_like(translator *t, LLVMTypeRef like, uint64_t number) {
    uint32_t lanes = lanes_of(like), bits = bits_of(like), type = type_int(t, bits);
    if (lanes > 1)
        type = type_vector(t, type, lanes);
    return repeated(t, constant_int(t, bits, number), type, lanes);
}

static uint32_t int_like(translator *t, LLVMTypeRef like) {
    uint32_t type = type_int(t, bits_of(like)), lanes = lanes_of(like);
    return lanes > 1 ? type_vector(t, type, lanes) : type;
}

static uint32_t bool_like(translator *t, LLVMTypeRef like) {
    uint32_t lanes = lanes_of(like);
    return lanes > 1 ? type_vector(t, type_bool(t), lanes) : type_bool(t);
}

/* ---- comparisons ---- */

/* Looks at the bits: a device may take it for granted that floats are numbers. */
uint32_t is_nan(translator *t, uint32_t x, LLVMTypeRef type) {
    static const struct {
        uint32_t bits;
        uint64_t magnitude, infinity;
    } formats[] = {{16, 0x7fff, 0x7c00},
                   {32, 0x7fffffff, 0x7f800000},
                   {64, 0x7fffffffffffffff, 0x7ff0000000000000}};
    size_t f = bits_of(type) == 16 ? 0 : bits_of(type) == 32 ? 1 : 2;
    uint32_t ints = int_like(t, type), bits = made(t, SpvOpBitcast, ints, &x, 1);
    const uint32_t masked[] = {bits, number_like(t, type, formats[f].magnitude)};
    const uint32_t above[] = {made(t, SpvOpBitwiseAnd, ints, masked, 2),
                              number_like(t, type, formats[f].infinity)};
    return made(t, SpvOpUGreaterThan, bool_like(t, type), above, 2);
}

static void compare_ints(translator *t, LLVMValueRef i) {
    static const SpvOp ops[] = {
        [LLVMIntEQ - LLVMIntEQ] = SpvOpIEqual,
        [LLVMIntNE - LLVMIntEQ] = SpvOpINotEqual,
        [LLVMIntUGT - LLVMIntEQ] = SpvOpUGreaterThan,
        [LLVMIntUGE - LLVMIntEQ] = SpvOpUGreaterThanEqual,
        [LLVMIntULT - LLVMIntEQ] = SpvOpULessThan,
        [LLVMIntULE - LLVMIntEQ] = SpvOpULessThanEqual,
        [LLVMIntSGT - LLVMIntEQ] = SpvOpSGreaterThan,
        [LLVMIntSGE - LLVMIntEQ] = SpvOpSGreaterThanEqual,
        [LLVMIntSLT - LLVMIntEQ] = SpvOpSLessThan,
        [LLVMIntSLE - LLVMIntEQ] = SpvOpSLessThanEqual,
    };
    const uint32_t x[] = {operand(t, i, 0), operand(t, i, 1)};
    if (bits_of(LLVMTypeOf(LLVMGetOperand(i, 0))) == 1)
        translate_fail(t, "comparisons of i1", "");
    give(t, (uint16_t)ops[LLVMGetICmpPredicate(i) - LLVMIntEQ], i, x, 2);
}

static void compare_floats(translator *t, LLVMValueRef i) {
    static const SpvOp ops[] = {
        [LLVMRealOEQ] = SpvOpFOrdEqual,
        [LLVMRealOGT] = SpvOpFOrdGreaterThan,
        [LLVMRealOGE] = SpvOpFOrdGreaterThanEqual,
        [LLVMRealOLT] = SpvOpFOrdLessThan,
        [LLVMRealOLE] = SpvOpFOrdLessThanEqual,
        [LLVMRealONE] = SpvOpFOrdNotEqual,
        [LLVMRealUEQ] = SpvOpFUnordEqual,
        [LLVMRealUGT] = SpvOpFUnordGreaterThan,
        [LLVMRealUGE] = SpvOpFUnordGreaterThanEqual,
        [LLVMRealULT] = SpvOpFUnordLessThan,
        [LLVMRealULE] = SpvOpFUnordLessThanEqual,
        [LLVMRealUNE] = SpvOpFUnordNotEqual,
    };
    LLVMRealPredicate predicate = LLVMGetFCmpPredicate(i);
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 0));
    uint32_t x[] = {operand(t, i, 0), operand(t, i, 1)};
    if (predicate != LLVMRealUNO && predicate != LLVMRealORD) {
        give(t, (uint16_t)ops[predicate], i, x, 2);
        return;
    }
    for (int n = 0; n < 2; n++)
        x[n] = is_nan(t, x[n], type);
    if (predicate == LLVMRealUNO) {
        give(t, SpvOpLogicalOr, i, x, 2);
        return;
    }
    uint32_t either = made(t, SpvOpLogicalOr, bool_like(t, type), x, 2);
    give(t, SpvOpLogicalNot, i, &either, 1);
}

/* ---- conversions ---- */

/* Not SConvert: Mesa (22.3.6) takes a constant for smaller than any i64 that it knows to be a wider
   i32. (x ^ s) - s extends the sign bit s. */
static void extend_sign(translator *t, LLVMValueRef i, uint32_t x, LLVMTypeRef from) {
    LLVMTypeRef to = LLVMTypeOf(i);
    uint32_t type = type_of(t, to), sign = number_like(t, to, (uint64_t)1 << (bits_of(from) - 1)),
             wide = made(t, SpvOpUConvert, type, &x, 1);
    const uint32_t flipped = made(t, SpvOpBitwiseXor, type, (uint32_t[]){wide, sign}, 2);
    give(t, SpvOpISub, i, (uint32_t[]){flipped, sign}, 2);
}

static void resize(translator *t, LLVMValueRef i) {
    LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0)), to = LLVMTypeOf(i);
    bool is_signed = LLVMGetInstructionOpcode(i) == LLVMSExt;
    uint32_t x = operand(t, i, 0);
    if (bits_of(from) == 1) {
        const uint32_t sides[] = {x, number_like(t, to, is_signed ? UINT64_MAX : 1),
                                  number_like(t, to, 0)};
        give(t, SpvOpSelect, i, sides, 3);
    } else if (bits_of(to) == 1) {
        const uint32_t masked[] = {x, number_like(t, from, 1)};
        const uint32_t sides[] = {made(t, SpvOpBitwiseAnd, type_of(t, from), masked, 2),
                                  number_like(t, from, 0)};
        give(t, SpvOpINotEqual, i, sides, 2);
    } else if (is_signed && bits_of(to) == 64) {
        extend_sign(t, i, x, from);
    } else {
        give(t, is_signed ? SpvOpSConvert : SpvOpUConvert, i, &x, 1);
    }
}

/* 1 or 0. */
static void from_bool(translator *t, LLVMValueRef i) {
    LLVMTypeRef to = LLVMTypeOf(i);
    const uint32_t sides[] = {operand(t, i, 0), value_of(t, LLVMConstReal(to, 1)),
                              value_of(t, LLVMConstReal(to, 0))};
    give(t, SpvOpSelect, i, sides, 3);
}

/* A sign is a bit: arithmetic might lose a subnormal. */
static void negate(translator *t, LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    uint32_t x = operand(t, i, 0), ints = int_like(t, type);
    const uint32_t sides[] = {made(t, SpvOpBitcast, ints, &x, 1),
                              number_like(t, type, (uint64_t)1 << (bits_of(type) - 1))};
    uint32_t turned = made(t, SpvOpBitwiseXor, ints, sides, 2);
    give(t, SpvOpBitcast, i, &turned, 1);
}

/* ---- elements of vectors ---- */

static void element(translator *t, LLVMValueRef i) {
    bool inserts = LLVMGetInstructionOpcode(i) == LLVMInsertElement;
    LLVMValueRef at = LLVMGetOperand(i, inserts ? 2 : 1);
    if (!LLVMIsAConstantInt(at)) {
        translate_fail(t, "elements that are found when it runs", "");
        return;
    }
    uint32_t index = (uint32_t)LLVMConstIntGetZExtValue(at);
    if (inserts)
        give(t, SpvOpCompositeInsert, i, (uint32_t[]){operand(t, i, 1), operand(t, i, 0), index},
             3);
    else
        give(t, SpvOpCompositeExtract, i, (uint32_t[]){operand(t, i, 0), index}, 2);
}

static void shuffle(translator *t, LLVMValueRef i) {
    enum { MOST = 4 };
    uint32_t words[2 + MOST] = {operand(t, i, 0), operand(t, i, 1)};
    unsigned count = LLVMGetNumMaskElements(i);
    bool vectors = lanes_of(LLVMTypeOf(LLVMGetOperand(i, 0))) > 1;
    if (count > MOST || count < 2 || !vectors) {
        translate_fail(t, "such a shuffle", "");
        return;
    }
    for (unsigned n = 0; n < count; n++)
        words[2 + n] = (uint32_t)LLVMGetMaskValue(i, n); /* -1: any, here as there */
    give(t, SpvOpVectorShuffle, i, words, 2 + count);
}

/* ---- the table ---- */

static bool is_zero(LLVMValueRef x) {
    LLVMBool loses;
    return LLVMIsAConstantFP(x) && LLVMConstRealGetDouble(x, &loses) == 0;
}

/* Mesa's lavapipe takes x + 0.0 for x, 0.0 * x and 0.0 / x for 0.0, and x / 0.0 for nothing at all
 * (22.3, gallivm's lp_build_add, lp_build_mul, lp_build_div). So a zero is made of what only a
 * launch knows: the workgroup's number in y. */
uint32_t arithmetic_operand(translator *t, LLVMValueRef x) {
    uint32_t bits = bits_of(LLVMTypeOf(x)), word = type_int(t, 32);
    if (t->kernel || !is_zero(x))
        return value_of(t, x);
    uint32_t all = made(t, SpvOpLoad, type_vector(t, word, 3), &t->group_id, 1);
    uint32_t zero = made(t, SpvOpCompositeExtract, word, (uint32_t[]){all, 1}, 2),
             ints = type_int(t, bits);
    if (bits != 32)
        zero = made(t, SpvOpUConvert, ints, &zero, 1);
    uint64_t sign =
        LLVMConstIntGetZExtValue(LLVMConstBitCast(x, LLVMIntTypeInContext(t->e->context, bits)));
    if (sign)
        zero = made(t, SpvOpBitwiseOr, ints, (uint32_t[]){zero, constant_int(t, bits, sign)}, 2);
    return made(t, SpvOpBitcast, type_of(t, LLVMTypeOf(x)), &zero, 1);
}

static bool softens_division(translator *t, LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    if (LLVMGetInstructionOpcode(i) != LLVMFDiv || !t->softens)
        return false;
    if (lanes_of(type) > 1 || bits_of(type) < 32)
        translate_fail(t, "divisions of vectors or f16", "");
    const uint32_t x[] = {arithmetic_operand(t, LLVMGetOperand(i, 0)),
                          arithmetic_operand(t, LLVMGetOperand(i, 1)), 0};
    uint32_t quotient =
        soft_result(t, bits_of(type) == 32 ? VULKAN_DIVIDE_F32 : VULKAN_DIVIDE_F64, x);
    give(t, SpvOpCopyObject, i, &quotient, 1);
    return true;
}

static void by_table(translator *t, LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    uint32_t operands[3], count = (uint32_t)LLVMGetNumOperands(i);
    if (softens_division(t, i))
        return;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (rows[r].from != opcode)
            continue;
        bool logical = rows[r].trait == LOGICAL && bits_of(LLVMTypeOf(i)) == 1;
        for (uint32_t n = 0; n < count; n++)
            operands[n] = rows[r].trait == ROUNDS ? arithmetic_operand(t, LLVMGetOperand(i, n))
                                                  : operand(t, i, n);
        give(t, (uint16_t)(logical ? rows[r].logical : rows[r].to), i, operands, count);
        if (rows[r].trait == ROUNDS && !t->kernel)
            spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpDecorate,
                     (uint32_t[]){value_of(t, i), SpvDecorationNoContraction}, 2);
        return;
    }
    char *shown = LLVMPrintValueToString(i);
    translate_fail(t, "", shown);
    LLVMDisposeMessage(shown);
}

void translate_instruction(translator *t, LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMICmp:
        compare_ints(t, i);
        break;
    case LLVMFCmp:
        compare_floats(t, i);
        break;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
        resize(t, i);
        break;
    case LLVMUIToFP:
        if (bits_of(LLVMTypeOf(LLVMGetOperand(i, 0))) == 1)
            from_bool(t, i);
        else
            by_table(t, i);
        break;
    case LLVMFNeg:
        negate(t, i);
        break;
    case LLVMExtractElement:
    case LLVMInsertElement:
        element(t, i);
        break;
    case LLVMShuffleVector:
        shuffle(t, i);
        break;
    case LLVMLoad:
        translate_load(t, i);
        break;
    case LLVMStore:
        translate_store(t, i);
        break;
    case LLVMGetElementPtr:
        translate_address(t, i);
        break;
    case LLVMCall:
        translate_call(t, i);
        break;
    default:
        by_table(t, i);
    }
}
