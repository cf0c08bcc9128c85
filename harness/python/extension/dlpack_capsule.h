/* dlpack_capsule.h - what a capsule of __dlpack__ holds, as the DLPack specification lays it out
 * (dmlc.github.io/dlpack): older headers lack the second generation. */
#ifndef TESSERA_PYTHON_DLPACK_CAPSULE_H
#define TESSERA_PYTHON_DLPACK_CAPSULE_H

#include "base/dlpack_device.h"
#include "tessera/implementation.h"

#define DLPACK_OLD "dltensor"
#define DLPACK_VERSIONED "dltensor_versioned"
enum { DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2 };

typedef struct dlpack_managed {
    DLTensor tensor;
    void *manager_ctx;
    void (*deleter)(struct dlpack_managed *self);
} dlpack_managed;

typedef struct dlpack_versioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct dlpack_versioned *self);
    uint64_t flags;
    DLTensor tensor;
} dlpack_versioned;

#endif
