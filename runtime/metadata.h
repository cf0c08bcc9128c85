/* metadata.h - a module's metadata document (JSON, schema tsr.module/1), checked and in structs. */
#ifndef TESSERA_RUNTIME_METADATA_H
#define TESSERA_RUNTIME_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/tensor.h"

typedef struct metadata_parameter {
    const char *name;
    dtype type;
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK]; /* -1: known only at launch */
    size_t size_bytes;             /* 0 where a dimension is -1 */
} metadata_parameter;

typedef struct metadata_phase {
    const char *what;
    int64_t cells;
} metadata_phase;

/* One way to run the kernel: the code of one part of the module, and what a launch of it needs. */
typedef struct metadata_image {
    const char *isa;     /* NULL: what follows holds for each "elf:" part of the module */
    const char *section; /* the part's kind, "elf:..."; NULL with `isa` */
    uint32_t phase_count;
    metadata_phase *phases;
    const char **symbols; /* one per phase */
    uint64_t workspace_bytes, scratch_bytes;
} metadata_image;

typedef struct metadata {
    arena memory; /* everything below lives here */
    const char *json;
    const char *name;
    uint32_t inputs, outputs, dims;
    metadata_parameter *parameters; /* inputs, then outputs */
    uint32_t image_count;           /* at least 1 */
    metadata_image *images;
} metadata;

/* On failure `m` needs no release. */
bool metadata_parse(metadata *m, const char *json, size_t size_bytes, status *st);
void metadata_release(metadata *m);

#endif
