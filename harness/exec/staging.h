/* staging.h - a folder into which a worker writes the members of a pack, one after the other.
 *
 * Each file is whole when its call returns, so a worker that dies leaves what it had: the IR before
 * the pass that brought it down. The parent makes the pack (pack_case.h) and removes the folder. */
#ifndef TESSERA_HARNESS_EXEC_STAGING_H
#define TESSERA_HARNESS_EXEC_STAGING_H

#include "exec/execute.h"

/* Inputs and outputs beyond this are left to the generator and to their digests. */
enum { STAGING_TENSOR_BYTES_MAX = 64 << 20 };
/* Inputs that nothing generates are always there. */
#define STAGING_RECORDED_BYTES_MAX ((uint64_t)512 << 20)

typedef struct staging {
    const job *job;
    case_context *context;
    execute_stage_fn stage;
    void *stage_context;
} staging;

/* source/NAME.tsr, of a case that may be none. */
bool staging_put_source(const staging *s, status *st);
/* source/NAME.tsr, launch.json and inputs/NAME.npy. */
bool staging_put_sources(const staging *s, status *st);
/* ir/00-graph.mlir, the IR after each pass, llvm.ll and asm.s. */
bool staging_put_levels(const staging *s, status *st);
/* module.tsrm, and its metadata as metadata.json. */
bool staging_put_module(const staging *s, const compiler_artifact *artifact, status *st);
/* FOLDER/NAME.npy for each output. */
bool staging_put_tensors(const staging *s, const char *folder, const tensor *outputs, status *st);

#endif
