/* translate.h - the rooms of the SPIR-V writer: LLVM IR of targets with threads, instruction by
 * instruction.
 *
 * The LLVM IR is that of PTX, which no LLVM pass has changed: so its branches and loops are
 * structured as they were made, and its vocabulary is small. An address is a 64-bit number; it
 * becomes a pointer where something is loaded or stored. */
#ifndef TESSERA_TARGET_LLVM_SPIRV_TRANSLATE_H
#define TESSERA_TARGET_LLVM_SPIRV_TRANSLATE_H

#include <llvm-c/Core.h>
#include <spirv/unified1/spirv.h>

#include "target/llvm/emit.h"
#include "target/spirv/spirv_module.h"

typedef struct translator {
    spirv_module m;
    const emitter *e;
    bool kernel;        /* OpenCL's flavour; else Vulkan's */
    uint32_t functions; /* OpExtInstImport: GLSL.std.450 or OpenCL.std */
    uint32_t local_id, group_id;
    uint32_t addresses; /* Vulkan: the push constant that says where the table of addresses is */
    uint32_t shared[4]; /* arrays of 1, 2, 4 and 8 bytes; 0: none */
    uint32_t scratch_bytes;
    spirv_words interface; /* of all entry points */
    LLVMValueRef function;
    status *st;
    bool failed;
} translator;

/* STATUS_UNAVAILABLE, once; returns 0. */
uint32_t translate_fail(translator *t, const char *what, const char *which);

/* ---- types.c ---- */
enum { NO_SIGN = 0 };
uint32_t type_void(translator *t);
uint32_t type_bool(translator *t);
uint32_t type_int(translator *t, uint32_t bits);
uint32_t type_float(translator *t, uint32_t bits);
uint32_t type_vector(translator *t, uint32_t element, uint32_t count);
uint32_t type_pointer(translator *t, SpvStorageClass storage, uint32_t to);
uint32_t type_array(translator *t, uint32_t element, uint32_t count);
uint32_t type_of(translator *t, LLVMTypeRef type);
uint32_t constant_int(translator *t, uint32_t bits, uint64_t value);
/* What a value is called; of what comes later, what it will be called. */
uint32_t value_of(translator *t, LLVMValueRef value);
/* Bits of a scalar, or of an element of a vector; elements. */
uint32_t bits_of(LLVMTypeRef type);
uint32_t lanes_of(LLVMTypeRef type);
LLVMTypeRef lane_of(LLVMTypeRef type);

/* ---- instructions.c ---- */
/* A new value in the function: its number. */
uint32_t made(translator *t, uint16_t opcode, uint32_t type, const uint32_t *operands,
              uint32_t count);
void translate_instruction(translator *t, LLVMValueRef i);
/* ---- memory.c ---- */
void translate_load(translator *t, LLVMValueRef i);
void translate_store(translator *t, LLVMValueRef i);
void translate_address(translator *t, LLVMValueRef i);
/* ---- flow.c ---- */
/* Of the function: its first block has begun, with what the entry point does before. */
uint32_t translate_first_label(translator *t);
void translate_blocks(translator *t);
/* ---- calls.c ---- */
void translate_call(translator *t, LLVMValueRef i);
uint32_t is_nan(translator *t, uint32_t x, LLVMTypeRef type);

#endif
