/* kernel.h - what a compiled host kernel sees: the contract between generated code and the runtime.
 *
 * A kernel is a list of phases; each phase is a one-dimensional grid of workgroups that may run in
 * any order and on any thread; all workgroups of a phase end before the next phase begins. The
 * image exports one function per phase, named in the metadata. A call runs the workgroups [begin,
 * end). It must not depend on how the grid was cut.
 *
 * The caller guarantees: the floating-point environment is the default one (round to nearest, no
 * flush to zero, all exceptions masked); inputs are aligned to their elements, other buffers to 64
 * bytes; `workspace` holds metadata.workspace_bytes, is shared by all threads and keeps its
 * contents between phases of one launch; `prepared` holds metadata.prepared_bytes, written by the
 * phases that are marked with a constant, in this launch or once before; `scratch` holds
 * metadata.scratch_bytes, is private to the calling thread and holds nothing on entry. */
#ifndef TESSERA_KERNEL_H
#define TESSERA_KERNEL_H

#include <stdint.h>

/* Memory that code reaches which checks its accesses, and the first of them that is outside: it is
 * not made, and its call ends. */
typedef struct tsr_kernel_bounds {
    const int64_t *bytes; /* of each buffer, then of the workspace, scratch and prepared memory */
    uint32_t found;       /* 0; becomes 1, atomically, for the first access that is outside */
    uint32_t site;        /* ... its number in tsr_bounds_sites, */
    int64_t element;      /* and the element of its memory that it asked for */
} tsr_kernel_bounds;

/* An access of such code. The image has an array of them, tsr_bounds_sites, and the names of memory
 * in tsr_bounds_names, NUL-terminated. */
typedef struct tsr_bounds_site {
    int64_t offset_bytes;  /* from the beginning of its memory to element 0 */
    uint32_t line, column; /* of the source; 0: nowhere */
    uint32_t memory;       /* number in `bytes` */
    uint32_t element_bytes;
    uint32_t writes; /* 0: it reads */
    uint32_t name_offset;
} tsr_bounds_site;

typedef struct tsr_kernel_frame {
    void *const *buffers; /* inputs, then outputs */
    const int64_t *dims;  /* dimension arguments; NULL in specialised kernels */
    unsigned char *workspace;
    unsigned char *scratch;
    unsigned char *prepared;   /* since ABI 2.1 */
    tsr_kernel_bounds *bounds; /* since ABI 2.6; NULL where the code checks nothing */
} tsr_kernel_frame;

typedef void (*tsr_phase_fn)(const tsr_kernel_frame *frame, int64_t begin, int64_t end);

#endif
