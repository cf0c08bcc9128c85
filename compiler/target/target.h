/* target.h - what the pipeline needs of a target: capability data, and Tile IR in, bytes out. */
#ifndef TESSERA_TARGET_TARGET_H
#define TESSERA_TARGET_TARGET_H

#include "ir/ir.h"
#include "ops/tiles.h"
#include "schedule/schedule.h"

/* A CPU instruction-set level: one line of targets.def. */
typedef struct cpu_isa {
    const char *name;     /* "x86-64-v4" */
    const char *cpu;      /* LLVM's -mcpu */
    const char *features; /* LLVM's -mattr */
    const char *triple;
    int lanes; /* f32 elements in a vector */
    int registers;
    bool has_f16c; /* hardware f16 conversions */
    int64_t l1_bytes, l2_bytes;
    int scalable_bits;    /* of a scalable vector, at least; 0: none */
    bool rounds_i64_once; /* from vectors of i64 to f32, as code generation does it */
    bool has_avx512;      /* F, BW, DQ, VL */
    bool has_dots;        /* of groups of 4 i8, exact, and of 2 bf16, which flush subnormals */
} cpu_isa;

/* NULL when the level is not known. */
const cpu_isa *cpu_isa_find(const char *name);
/* All levels, from the table; returns the count. */
uint32_t cpu_isa_list(const cpu_isa **list);

/* What a core has of a memory that tiles can be put into, and what that is. */
int64_t cpu_space_bytes(const cpu_isa *isa, memory_space space);
const char *cpu_space_what(memory_space space);

typedef enum cpu_output { CPU_OUTPUT_OBJECT, CPU_OUTPUT_ASSEMBLY, CPU_OUTPUT_LLVM } cpu_output;
typedef struct cpu_request {
    const cpu_isa *isa;
    bool unoptimised; /* the plainest code generation */
    cpu_output output;
} cpu_request;
/* Machine code for a laid-out Tile IR module: an ELF object whose functions are
 * "<kernel>_phase_<n>"; or text. */
bool cpu_emit(const ir_module *tile, const cpu_request *request, text *out, status *st);

const char *cpu_llvm_version(void);

#endif
