/* chip.h - what a chip makes of a kernel: told from its laid-out Tile IR by enumerating threads,
 * without generating code or running anything (docs/gpu-code.md).
 *
 * A chip is a target whose workgroups are threads: "sm_80", "gfx942", or their emulated forms. */
#ifndef TESSERA_CHIP_H
#define TESSERA_CHIP_H

#include "base/vec.h"
#include "tessera/compiler.h"

/* One load or store of Tile IR whose place is known as far as it must be: how its threads meet in
 * memory. Windows and gathers, whose places are known only when they run, are left out. */
typedef struct compiler_chip_access {
    ir_location at; /* line 0: none is known */
    uint32_t phase;
    bool writes;
    bool shared; /* of the workgroup's memory; else far memory */
    dtype element;
    int64_t rows, columns; /* of the tile */
    int width_bytes;       /* of one load or store of a thread */
    int degree; /* shared: how many words one bank gives, one after the other; 1: no conflict */
    int64_t sectors, sectors_needed; /* far: of 32 bytes, over all loads or stores */
    int64_t lanes, lanes_idle;       /* places of threads in them, and those past the tile's edge */
} compiler_chip_access;

typedef struct compiler_chip_phase {
    uint32_t number;
    ir_location at;    /* where most registers are held */
    int64_t grid;      /* workgroups */
    int64_t registers; /* that the parts of tiles take in a thread there, without addresses */
} compiler_chip_phase;

typedef struct compiler_chip_facts {
    VEC(compiler_chip_access) accesses;
    VEC(compiler_chip_phase) phases;
    int threads, subgroup;    /* of a workgroup; that run in step */
    int64_t thread_registers; /* that a thread can have */
    int64_t shared_bytes;     /* of a workgroup's memory */
    int64_t shared_most;      /* ... at most */
    int64_t moved_bytes;      /* ... that are in the workspace, for want of room */
} compiler_chip_facts;

/* options.isa names the chip; STATUS_INVALID where it is a CPU's level. *out is released by the
 * caller, whatever is returned. */
bool compiler_chip_facts_of(compiler_instance *instance, const compiler_options *options,
                            compiler_chip_facts *out, status *st);
void compiler_chip_facts_release(compiler_chip_facts *facts);

/* Workgroups that a compute unit holds at once. */
typedef struct compiler_chip_occupancy {
    int64_t workgroups; /* 0: not even one fits */
    double share;       /* of the threads that a unit holds at most */
    const char *by;     /* what there is no more of: "registers", "threads", ... ; static */
} compiler_chip_occupancy;
/* False: there is no such chip. */
bool compiler_chip_occupancy_of(const char *isa, int64_t threads, int64_t registers,
                                int64_t shared_bytes, compiler_chip_occupancy *out);
/* The entry points of a HSACO, whoever made it, with the sizes in bytes of what a caller gives to
 * each, in order. Strings and sizes are borrowed for the call. STATUS_CORRUPT where it has no notes
 * that can be read. */
typedef void compiler_entry_fn(void *context, const char *symbol, const uint32_t *sizes,
                               uint32_t count);
bool compiler_hsaco_entries(const void *hsaco, size_t size_bytes, compiler_entry_fn *tell_entry,
                            void *context, status *st);

/* "ptx" or "rocm"; NULL: it is no chip. */
const char *compiler_chip_family(const char *isa);

#endif
