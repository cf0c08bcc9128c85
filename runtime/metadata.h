/* metadata.h - a module's metadata document (JSON, schema tsr.module/2), checked and in structs. */
#ifndef TESSERA_RUNTIME_METADATA_H
#define TESSERA_RUNTIME_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/tensor.h"
#include "device/device_call.h"
#include "program.h"

typedef struct metadata_parameter {
    const char *name;
    dtype type;
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK];         /* -1: known only at launch */
    const char *formulas[TENSOR_MAX_RANK]; /* of the dimensions that a launch gives; else NULL */
    size_t size_bytes;                     /* 0 where a dimension is -1 */
    const char *effect;                    /* of an output that is no result; else NULL */
} metadata_parameter;

/* A number, or where there is a formula the value that a launch's dimensions give it. */
typedef struct metadata_need {
    const char *formula;
    int64_t value;
} metadata_need;

typedef struct metadata_phase {
    const char *what;
    metadata_need workgroups;
    int constant; /* the input that alone decides what it makes; -1: none does */
    int copies;   /* the donated input that it copies to its output; -1: it does other things */
} metadata_phase;

typedef struct metadata_constraint {
    const char *formula; /* at least 0 */
    const char *what;    /* in words */
} metadata_constraint;

/* The parts of a tsr_launch_t, in its order: the grid, the block, shared memory. */
enum { METADATA_LAUNCH_COUNT = 7 };

/* One way to run the kernel: the code of one part of the module, and what a launch of it needs. */
typedef struct metadata_image {
    const char *isa;     /* NULL: what follows holds for each image of the module */
    const char *section; /* the part's kind: its target, with a number where that is not the first
                            part for it; NULL with `isa` */
    uint32_t phase_count;
    metadata_phase *phases;
    bool copies;               /* some phase does */
    const char **symbols;      /* one per phase */
    bool *concurrent;          /* of each phase: it may run while the one before does */
    const device_call **calls; /* one per phase, of code of others; NULL: our convention */
    const device_maps **maps;  /* one per phase, NULL: it takes none; NULL: no phase does */
    metadata_need workspace_bytes, scratch_bytes;
    size_t prepared_bytes;                       /* that the phases with a constant write */
    metadata_need launch[METADATA_LAUNCH_COUNT]; /* as a caller may state it */
    const int64_t *when; /* the dimensions that it is for, by number; NULL: any */
} metadata_image;

typedef struct metadata {
    arena memory; /* everything below lives here */
    const char *json;
    const char *name;
    uint32_t inputs, outputs, dims;
    const char **dim_names; /* in the order in which a launch gives them */
    uint32_t constraint_count;
    metadata_constraint *constraints;
    metadata_parameter *parameters; /* inputs, then outputs */
    bool *constant;                 /* of each input: it was compiled to be prepared */
    const uint32_t *donated;        /* by input: the output whose buffer it may be, or
                                       METADATA_NOT_DONATED; NULL: none is */
    uint32_t image_count;           /* at least 1 */
    metadata_image *images;         /* of a program one without code */
    struct program *program;        /* NULL: the module is one kernel, with code of its own */
} metadata;

/* On failure `m` needs no release. */
bool metadata_parse(metadata *m, const char *json, size_t size_bytes, status *st);
void metadata_release(metadata *m);

/* The largest number of workgroups, and of bytes of a buffer, a workspace or a thread's scratch. */
#define METADATA_LIMIT (INT64_C(1) << 46)
#define METADATA_NOT_DONATED UINT32_MAX
/* Limits of a document. */
enum {
    METADATA_PARAMETERS_MAX = 4096, /* inputs, and as many outputs */
    METADATA_PHASES_MAX = 256,
    METADATA_DIMS_MAX = 64,
    METADATA_IMAGES_MAX = 128,
    METADATA_CONSTRAINTS_MAX = 1024
};

#endif
