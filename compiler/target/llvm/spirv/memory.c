/* memory.c - loads and stores.
 *
 * Global memory has physical addresses in both flavours. The workgroup's has none in Vulkan: it is
 * an array for each width of what is stored there, and an address is an offset into all of them.
 * What is stored with one width is never read with another. */
#include "target/llvm/spirv/translate.h"

enum { SPACE_SHARED = 3, BYTE_BITS = 8, WORD_BITS = 32, ADDRESS_BITS = 64 };

static uint32_t bytes_of(LLVMTypeRef type) {
    return bits_of(type) / BYTE_BITS * lanes_of(type);
}

/* base + index * size. */
void translate_address(translator *t, LLVMValueRef i) {
    LLVMValueRef base = LLVMGetOperand(i, 0), index = LLVMGetOperand(i, 1);
    uint32_t bytes = bytes_of(LLVMGetGEPSourceElementType(i)), type = type_int(t, ADDRESS_BITS);
    if (LLVMGetNumOperands(i) != 2 || bits_of(LLVMTypeOf(index)) != ADDRESS_BITS) {
        translate_fail(t, "such an address", "");
        return;
    }
    uint32_t offset = value_of(t, index);
    if (LLVMIsAConstantInt(index))
        offset = constant_int(t, ADDRESS_BITS, LLVMConstIntGetZExtValue(index) * bytes);
    else if (bytes > 1)
        offset =
            made(t, SpvOpIMul, type, (uint32_t[]){offset, constant_int(t, ADDRESS_BITS, bytes)}, 2);
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpIAdd,
             (uint32_t[]){type, value_of(t, i), value_of(t, base), offset}, 4);
}

/* ---- global memory ---- */

static uint32_t global_pointer(translator *t, uint32_t address, uint32_t type) {
    SpvStorageClass storage =
        t->kernel ? SpvStorageClassCrossWorkgroup : SpvStorageClassPhysicalStorageBuffer;
    return made(t, SpvOpConvertUToPtr, type_pointer(t, storage, type), &address, 1);
}

/* Vulkan wants to be told that narrow numbers are in buffers. */
static void note_width(translator *t, LLVMTypeRef type) {
    if (!t->kernel && bits_of(type) == 8)
        spirv_capability(&t->m, SpvCapabilityStorageBuffer8BitAccess);
    if (!t->kernel && bits_of(type) == 16)
        spirv_capability(&t->m, SpvCapabilityStorageBuffer16BitAccess);
}

static void load_global(translator *t, LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    uint32_t id = type_of(t, type);
    note_width(t, type);
    uint32_t from = global_pointer(t, value_of(t, LLVMGetOperand(i, 0)), id);
    spirv_op(
        &t->m, SPIRV_FUNCTIONS, SpvOpLoad,
        (uint32_t[]){id, value_of(t, i), from, SpvMemoryAccessAlignedMask, LLVMGetAlignment(i)}, 5);
}

static void store_global(translator *t, LLVMValueRef i) {
    LLVMValueRef x = LLVMGetOperand(i, 0);
    note_width(t, LLVMTypeOf(x));
    uint32_t to = global_pointer(t, value_of(t, LLVMGetOperand(i, 1)), type_of(t, LLVMTypeOf(x)));
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpStore,
             (uint32_t[]){to, value_of(t, x), SpvMemoryAccessAlignedMask, LLVMGetAlignment(i)}, 4);
}

/* ---- the workgroup's memory ---- */

static uint32_t width_number(uint32_t bits) {
    return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
}

static uint32_t shared_array(translator *t, uint32_t bits) {
    uint32_t number = width_number(bits), bytes = bits / BYTE_BITS;
    if (!t->shared[number]) {
        uint32_t count = (t->scratch_bytes + bytes - 1) / bytes;
        uint32_t type = type_pointer(t, SpvStorageClassWorkgroup,
                                     type_array(t, type_int(t, bits), count ? count : 1));
        uint32_t words[] = {type, spirv_id(&t->m), SpvStorageClassWorkgroup};
        spirv_op(&t->m, SPIRV_GLOBALS, SpvOpVariable, words, 3);
        if (!t->kernel)
            vec_push(&t->interface, words[1]);
        t->shared[number] = words[1];
    }
    return t->shared[number];
}

/* Pointer to the element `lane` behind an address. */
static uint32_t shared_pointer(translator *t, uint32_t address, uint32_t bits, uint32_t lane) {
    uint32_t word = type_int(t, WORD_BITS), array = shared_array(t, bits),
             at = made(t, SpvOpUConvert, word, &address, 1), shift = width_number(bits);
    if (shift)
        at = made(t, SpvOpShiftRightLogical, word,
                  (uint32_t[]){at, constant_int(t, WORD_BITS, shift)}, 2);
    if (lane)
        at = made(t, SpvOpIAdd, word, (uint32_t[]){at, constant_int(t, WORD_BITS, lane)}, 2);
    return made(t, SpvOpAccessChain, type_pointer(t, SpvStorageClassWorkgroup, type_int(t, bits)),
                (uint32_t[]){array, at}, 2);
}

/* Element by element into a vector: Khronos' translator to LLVM constructs vectors of constants
 * alone. */
static void load_shared(translator *t, LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i), lane = lane_of(type);
    uint32_t lanes = lanes_of(type), bits = bits_of(type), whole = type_of(t, type),
             address = value_of(t, LLVMGetOperand(i, 0)), ints = type_int(t, bits), element = 0,
             vector = spirv_once(&t->m, SpvOpConstantNull, whole, NULL, 0);
    bool is_int = LLVMGetTypeKind(lane) == LLVMIntegerTypeKind;
    for (uint32_t n = 0; n < lanes; n++) {
        bool last = n + 1 == lanes;
        uint32_t from = shared_pointer(t, address, bits, n);
        element = made(t, SpvOpLoad, ints, &from, 1);
        if (!is_int && lanes > 1)
            element = made(t, SpvOpBitcast, type_of(t, lane), &element, 1);
        if (lanes > 1 && !last)
            vector = made(t, SpvOpCompositeInsert, whole, (uint32_t[]){element, vector, n}, 3);
    }
    if (lanes > 1)
        spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpCompositeInsert,
                 (uint32_t[]){whole, value_of(t, i), element, vector, lanes - 1}, 5);
    else
        spirv_op(&t->m, SPIRV_FUNCTIONS, is_int ? SpvOpCopyObject : SpvOpBitcast,
                 (uint32_t[]){whole, value_of(t, i), element}, 3);
}

static void store_shared(translator *t, LLVMValueRef i) {
    LLVMValueRef value = LLVMGetOperand(i, 0);
    LLVMTypeRef type = LLVMTypeOf(value);
    uint32_t x = value_of(t, value), address = value_of(t, LLVMGetOperand(i, 1)),
             lanes = lanes_of(type), bits = bits_of(type);
    bool is_int = LLVMGetTypeKind(lane_of(type)) == LLVMIntegerTypeKind;
    for (uint32_t n = 0; n < lanes; n++) {
        uint32_t one = x;
        if (lanes > 1)
            one = made(t, SpvOpCompositeExtract, type_of(t, lane_of(type)), (uint32_t[]){x, n}, 2);
        if (!is_int)
            one = made(t, SpvOpBitcast, type_int(t, bits), &one, 1);
        spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpStore,
                 (uint32_t[]){shared_pointer(t, address, bits, n), one}, 2);
    }
}

static bool is_shared(LLVMValueRef address) {
    return LLVMGetPointerAddressSpace(LLVMTypeOf(address)) == SPACE_SHARED;
}

void translate_load(translator *t, LLVMValueRef i) {
    (is_shared(LLVMGetOperand(i, 0)) ? load_shared : load_global)(t, i);
}

void translate_store(translator *t, LLVMValueRef i) {
    (is_shared(LLVMGetOperand(i, 1)) ? store_shared : store_global)(t, i);
}
