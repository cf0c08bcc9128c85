/* safetensors.h - tensors of a .safetensors file: u64 length of the header (little endian), the
 * header (JSON: {name: {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {...}}),
 * then the elements, dense and row-major.
 *
 * Opening checks all of the header before any element is read: every tensor's bytes are those of
 * its shape, inside of the file, and no two share a byte. */
#ifndef TESSERA_HARNESS_STATE_SAFETENSORS_H
#define TESSERA_HARNESS_STATE_SAFETENSORS_H

#include <stdio.h>

#include <jansson.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/vec.h"

typedef struct safetensors_entry {
    const char *name; /* of the header */
    const char *word; /* of its type: "BF16" */
    dtype type;       /* DTYPE_NONE: no kernel takes it */
    int rank;         /* above TENSOR_MAX_RANK: no kernel takes it */
    int64_t dims[TENSOR_MAX_RANK];
    uint64_t begin, end; /* bytes, from data_offset */
} safetensors_entry;

typedef struct safetensors {
    char *path;
    FILE *file;
    json_t *header;
    uint64_t data_offset;
    VEC(safetensors_entry) entries; /* as they lie in the file */
} safetensors;

/* Messages name the file, and the tensor. safetensors_close in any case. */
bool safetensors_open(safetensors *s, const char *path, status *st);
void safetensors_close(safetensors *s);
/* NULL: there is none of that name. */
const safetensors_entry *safetensors_find(const safetensors *s, const char *name);
/* Initialises `out`. `want` is the type that is meant where the file lacks it: tf32 lies there as
 * F32, and i4 as I8; else the file's own. */
bool safetensors_read(const safetensors *s, const safetensors_entry *e, dtype want, tensor *out,
                      status *st);

/* Writes such a file, all or nothing: tensors in the order in which they are given, and strings in
 * "__metadata__". tf32 is written as F32, and i4 as I8. */
typedef struct safetensors_named {
    const char *name;
    const tensor *value;
} safetensors_named;
bool safetensors_write(const char *path, const safetensors_named *tensors, size_t count,
                       json_t *metadata, status *st);
/* A string of "__metadata__"; NULL: there is none. */
const char *safetensors_metadata(const safetensors *s, const char *key);

#endif
