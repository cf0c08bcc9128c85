/* library.h - kernels that chips have a kernel of tiles for: those of rows, and composites of
 * library/. */
#ifndef TESSERA_COMPILER_LIBRARY_H
#define TESSERA_COMPILER_LIBRARY_H

#include "ops/settings.h"
#include "target/target.h"
#include "tessera/compiler.h"

/* Tells whether the kernel of a graph is one composite, or of rows, and the library may have tiles
 * for it: on this target, with these options; `all` (may be NULL) are those of its operations. */
bool library_may(const ir_module *graph, const settings *all, const compiler_options *options,
                 const target_info *target);

/* Tells whether a target and options have such kernels at all. */
bool library_asked(const compiler_options *options, const target_info *target);
/* Tells whether an operation is a composite that the library has tiles for, there. */
bool library_keeps(const ir_module *m, ir_op op, const compiler_options *options,
                   const target_info *target);
/* Tells whether those tiles better take in an operation that operand i is made of, or, for as many
 * as there are operands, one that is made of the result. What is computed of keys and values would
 * be computed for each block of queries, so they are taken in as they lie. */
bool library_takes_in(const ir_module *m, ir_op composite, uint32_t i, ir_op op);

/* A kernel of the library that stands for another one. */
typedef struct library_kernel {
    const char *name;
    ir_module *graph, *tile; /* owned by the caller: Graph IR, made of tiles, and Tile IR */
    double cycles;           /* of a launch (simt_tiles_cost) */
    int64_t registers;       /* of a thread, estimated */
} library_kernel;

/* Lowers such a kernel, of static dimensions, with those tiles of the library's space that cost
 * least. False, with nothing given: none of them fits its sizes or the chip. */
bool library_lower(const ir_module *graph, const settings *all, const compiler_options *options,
                   const target_info *target, library_kernel *out);

/* Does the first of two kernels cost less by more than no model can tell? */
bool library_costs_less(double cycles, double others);

#endif
