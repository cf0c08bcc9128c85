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

#include "device/vulkan_traits.h"
#include "target/llvm/emit.h"
#include "target/spirv/spirv_module.h"

/* A device's driver gives them with each launch: where the table of addresses is, in 64 bits, and
 * the number of the launch's first workgroup, in 32. */
enum pushed_member { PUSHED_TABLE, PUSHED_BASE };

typedef struct translator {
    spirv_module m;
    const emitter *e;
    bool kernel;        /* OpenCL's flavour; else Vulkan's */
    uint32_t functions; /* OpExtInstImport: GLSL.std.450 or OpenCL.std */
    uint32_t local_id, group_id;
    uint32_t pushed;    /* Vulkan: the push constants, in the order of `pushed_member` */
    uint32_t shared[4]; /* arrays of 1, 2, 4 and 8 bytes; 0: none */
    uint32_t scratch_bytes;
    bool softens; /* it has code of its own for what a device does not do right */
    uint32_t traits[VULKAN_TRAIT_COUNT]; /* constants that say so; 0: not asked for */
    uint32_t softs[VULKAN_TRAIT_COUNT];  /* functions for it; likewise */
    spirv_section into;                  /* where instructions go */
    spirv_words interface;               /* of all entry points */
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
/* Id of a value; of what comes later, the one that it will have. */
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
/* Operand that is added, multiplied or divided. */
uint32_t arithmetic_operand(translator *t, LLVMValueRef x);
/* ---- memory.c ---- */
void translate_load(translator *t, LLVMValueRef i);
void translate_store(translator *t, LLVMValueRef i);
void translate_address(translator *t, LLVMValueRef i);
/* ---- flow.c ---- */
/* Label of the function: its first block has begun, with what the entry point does before. */
uint32_t translate_first_label(translator *t);
void translate_blocks(translator *t);
/* ---- calls.c ---- */
void translate_call(translator *t, LLVMValueRef i);
uint32_t is_nan(translator *t, uint32_t x, LLVMTypeRef type);
/* ---- soft.c ---- */
/* Result of what a trait is about, of scalars: by the device where it does it right, else by the
 * module's own code. Only where the translator softens. */
uint32_t soft_result(translator *t, vulkan_trait trait, const uint32_t *x);
/* The constant that says that the device does it right. */
uint32_t trait_constant(translator *t, vulkan_trait trait);

#endif
