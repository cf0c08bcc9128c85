/* target.h - what the pipeline needs of a target: capability data, and Tile IR in, bytes out. */
#ifndef TESSERA_TARGET_TARGET_H
#define TESSERA_TARGET_TARGET_H

#include "chip/unit.h"
#include "ir/ir.h"
#include "ops/tiles.h"
#include "schedule/schedule.h"

/* The two classes of targets. A CPU's workgroup is one thread with vectors; a SIMT target's is many
 * threads that share memory and meet at barriers. */
typedef enum target_class { TARGET_CPU, TARGET_SIMT } target_class;
typedef enum target_family { FAMILY_ELF, FAMILY_PTX, FAMILY_ROCM, FAMILY_SPIRV } target_family;
typedef enum spirv_flavour { SPIRV_VULKAN, SPIRV_VULKAN_F64, SPIRV_OPENCL } spirv_flavour;

/* Data of a target: one line of targets.def. */
typedef struct target_info {
    const char *name; /* "x86-64-v4", "sm_80" */
    target_class class;
    target_family family; /* of its images */
    spirv_flavour flavour;
    bool emulated;        /* its threads are this machine's */
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
    /* SIMT */
    int64_t shared_bytes; /* of a workgroup, at most */
    int subgroup;         /* threads that run in step: no code relies on it */
    int thread_registers; /* of 32 bits, at most */
    int compute_units;    /* of a usual product */
    bool copies;          /* into a workgroup's memory, without registers */
    bool rounds_bf16;     /* from f32, two in an instruction; any NaN becomes one of its own */
    bool probed;          /* its matrix unit was seen to add by its rule (chip/matrix_units.def) */
} target_info;

/* NULL when the level is not known. */
const target_info *target_find(const char *name);
/* Unit of a chip, or of its emulated form; NULL: it is a CPU's level. */
const chip_unit *target_unit_of(const target_info *target);
/* All targets: levels of CPUs, then chips, then emulated ones. Returns the count; *levels: how many
 * of them are levels, *chips: levels and chips. Either may be NULL. */
uint32_t target_list(const target_info **list, uint32_t *levels, uint32_t *chips);

/* The level of this machine that emulated threads are made for; NULL: it has none. */
const target_info *target_of_emulation(void);
/* The name of a target's images in a module: what a device says that it loads. */
enum { TARGET_KIND_BYTES = 32 };
void target_image_kind(const char *name, char kind_out[TARGET_KIND_BYTES]);

/* Size that a core, or a workgroup of a chip, has of a memory that tiles can be put into, and what
 * that is. */
int64_t target_space_bytes(const target_info *target, memory_space space);
const char *target_space_what(const target_info *target, memory_space space);

/* Buffers that one launch of a target's code takes: what its driver takes of parameters, but for
 * the workspace and what was prepared; 0: any number. */
uint32_t target_buffers(const target_info *t);

/* Format of a target's images: "elf", "ptx", "hsaco" or "spirv". */
const char *target_format(const target_info *t);

typedef enum emit_output { EMIT_OBJECT, EMIT_ASSEMBLY, EMIT_LLVM } emit_output;
typedef struct emit_request {
    const target_info *target;
    bool unoptimised;  /* the plainest code generation */
    bool check_bounds; /* accesses are checked: of CPUs (tessera/kernel.h), of emulated chips by
                          their emulator, which is told whose memory each may reach */
    emit_output output;
    uint32_t drop_barrier; /* wrong on purpose: this one is left out; 0: none is */
    uint32_t *barriers;    /* so many stand in code before this; its own are added. NULL: none do */
} emit_request;
/* Code for a laid-out Tile IR module, whose functions are "<kernel>_phase_<n>": an ELF object, of
 * PTX its text, of AMD's chips a HSACO, of SPIR-V its words; or assembly, or LLVM IR. It is
 * appended to `out`. */
bool target_emit(const ir_module *tile, const emit_request *request, text *out, status *st);

/* Reader of what each entry point of an image needs, by the names of resources.def. Strings are the
 * caller's for the call. */
typedef struct resource_reader {
    void (*tell)(void *context, const char *symbol, const char *name, int64_t value);
    /* The sizes in bytes of what the caller has to give, in order; NULL: nobody wants to know. */
    void (*tell_parameters)(void *context, const char *symbol, const uint32_t *sizes,
                            uint32_t count);
    void *context;
} resource_reader;
/* Reads the notes of a HSACO. STATUS_CORRUPT where it has none that can be read. */
bool hsaco_resources(const void *hsaco, size_t size_bytes, const resource_reader *reader,
                     status *st);
/* Reads what `ptxas -v` said. */
void ptxas_resources(const char *messages, const resource_reader *reader);

/* Version of the LLVM that is loaded, else of that which the program was built with. */
const char *target_llvm_version(void);
/* Appends words on which code depends beside the program: LLVM's version, and which file it is
 * where that may change under the program. Loads nothing. */
void target_llvm_identity(text *out);

#endif
