/* types.c - types, constants, and what values are called. */
#include "target/llvm/spirv/translate.h"

enum { KEY_VALUE = 0x20000, WORD_BITS = 32 };

uint32_t translate_fail(translator *t, const char *what, const char *which) {
    if (!t->failed)
        status_set(t->st, STATUS_UNAVAILABLE, "SPIR-V is not written for %s%s", what, which);
    t->failed = true;
    return 0;
}

/* ---- types ---- */

uint32_t type_void(translator *t) {
    return spirv_once(&t->m, SpvOpTypeVoid, 0, NULL, 0);
}

uint32_t type_bool(translator *t) {
    return spirv_once(&t->m, SpvOpTypeBool, 0, NULL, 0);
}

uint32_t type_int(translator *t, uint32_t bits) {
    static const struct {
        uint32_t bits;
        SpvCapability needs;
    } rows[] = {{8, SpvCapabilityInt8}, {16, SpvCapabilityInt16}, {64, SpvCapabilityInt64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].bits == bits)
            spirv_capability(&t->m, rows[i].needs);
    return spirv_once(&t->m, SpvOpTypeInt, 0, (uint32_t[]){bits, NO_SIGN}, 2);
}

uint32_t type_float(translator *t, uint32_t bits) {
    if (bits != WORD_BITS)
        spirv_capability(&t->m, bits == 16 ? SpvCapabilityFloat16 : SpvCapabilityFloat64);
    return spirv_once(&t->m, SpvOpTypeFloat, 0, &bits, 1);
}

uint32_t type_vector(translator *t, uint32_t element, uint32_t count) {
    return spirv_once(&t->m, SpvOpTypeVector, 0, (uint32_t[]){element, count}, 2);
}

uint32_t type_pointer(translator *t, SpvStorageClass storage, uint32_t to) {
    return spirv_once(&t->m, SpvOpTypePointer, 0, (uint32_t[]){storage, to}, 2);
}

uint32_t type_array(translator *t, uint32_t element, uint32_t count) {
    uint32_t length = constant_int(t, WORD_BITS, count);
    return spirv_once(&t->m, SpvOpTypeArray, 0, (uint32_t[]){element, length}, 2);
}

uint32_t lanes_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

LLVMTypeRef lane_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

uint32_t bits_of(LLVMTypeRef type) {
    LLVMTypeRef lane = lane_of(type);
    switch (LLVMGetTypeKind(lane)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(lane);
    case LLVMHalfTypeKind:
        return 16;
    case LLVMFloatTypeKind:
        return 32;
    default:
        return 64; /* f64, and addresses */
    }
}

static uint32_t type_of_lane(translator *t, LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool is_int = kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind;
    bool known = is_int || kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind ||
                 kind == LLVMDoubleTypeKind;
    uint32_t bits = bits_of(type);
    if (!known || (is_int && bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64)) {
        char *name = LLVMPrintTypeToString(type);
        translate_fail(t, "the type ", name);
        LLVMDisposeMessage(name);
        return type_int(t, WORD_BITS);
    }
    if (bits == 1)
        return type_bool(t);
    return is_int ? type_int(t, bits) : type_float(t, bits);
}

uint32_t type_of(translator *t, LLVMTypeRef type) {
    enum { MOST_LANES = 4 };
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        return type_void(t);
    uint32_t lanes = lanes_of(type), lane = type_of_lane(t, lane_of(type));
    if (lanes > MOST_LANES)
        translate_fail(t, "vectors of more than four elements", "");
    return lanes == 1 ? lane : type_vector(t, lane, lanes);
}

/* ---- constants ---- */

static uint32_t constant_of_type(translator *t, uint32_t type, uint32_t bits, uint64_t value) {
    uint64_t kept = bits < 64 ? value & (((uint64_t)1 << bits) - 1) : value;
    uint32_t words[] = {(uint32_t)kept, (uint32_t)(kept >> WORD_BITS)};
    if (bits == 1)
        return spirv_once(&t->m, kept ? SpvOpConstantTrue : SpvOpConstantFalse, type, NULL, 0);
    return spirv_once(&t->m, SpvOpConstant, type, words, bits == 64 ? 2 : 1);
}

uint32_t constant_int(translator *t, uint32_t bits, uint64_t value) {
    return constant_of_type(t, bits == 1 ? type_bool(t) : type_int(t, bits), bits, value);
}

static uint32_t constant_scalar(translator *t, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef number = value;
    if (LLVMIsAConstantFP(value))
        number = LLVMConstBitCast(value, LLVMIntTypeInContext(t->e->context, bits_of(type)));
    if (!LLVMIsAConstantInt(number)) {
        char *shown = LLVMPrintValueToString(value);
        translate_fail(t, "the constant ", shown);
        LLVMDisposeMessage(shown);
        return 0;
    }
    return constant_of_type(t, type_of(t, type), bits_of(type), LLVMConstIntGetZExtValue(number));
}

static uint32_t constant_value(translator *t, LLVMValueRef value) {
    enum { MOST_LANES = 4 };
    LLVMTypeRef type = LLVMTypeOf(value);
    uint32_t lanes[MOST_LANES], count = lanes_of(type);
    if (LLVMIsUndef(value) || LLVMIsPoison(value) || LLVMIsAConstantAggregateZero(value))
        return spirv_once(&t->m, SpvOpConstantNull, type_of(t, type), NULL, 0);
    if (count == 1)
        return constant_scalar(t, value);
    uint32_t id = type_of(t, type);
    for (uint32_t i = 0; i < count && !t->failed; i++)
        lanes[i] = constant_value(t, LLVMGetAggregateElement(value, i));
    return t->failed ? 0 : spirv_once(&t->m, SpvOpConstantComposite, id, lanes, count);
}

/* ---- values ---- */

uint32_t value_of(translator *t, LLVMValueRef value) {
    uint64_t address = (uint64_t)(uintptr_t)value;
    const uint32_t key[] = {KEY_VALUE, (uint32_t)address, (uint32_t)(address >> WORD_BITS)};
    bool fresh;
    if (LLVMIsAGlobalVariable(value)) /* the workgroup's memory: addresses there begin with 0 */
        return constant_int(t, 64, 0);
    if (LLVMIsConstant(value))
        return constant_value(t, value);
    return spirv_of(&t->m, key, 3, &fresh);
}
