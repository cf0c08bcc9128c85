/* device.h - what a driver is: one const struct of functions. devices.def lists the drivers.
 *
 * A driver opens a device, loads the part of a module that fits it, keeps memory and runs phases. A
 * device is used by several threads at once, so every function but open and close is thread-safe.
 * Failures fill the status. */
#ifndef TESSERA_RUNTIME_DEVICE_H
#define TESSERA_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "metadata.h"
#include "tessera/kernel.h"
#include "tessera/tessera.h"

typedef struct device_driver device_driver;

/* Drivers extend both structs; theirs start with these. */
typedef struct device {
    const device_driver *driver;
} device;
typedef struct device_image device_image; /* loaded code: its phases' entry points */

/* One allocation. `base` and `mapped_bytes` belong to the driver; `guarded` ones have canaries and
 * guard pages. */
typedef struct device_memory {
    unsigned char *data;
    size_t size_bytes;
    void *base;
    size_t mapped_bytes;
    bool guarded;
} device_memory;

typedef struct device_load {
    const void *module; /* a checked module image, valid during the call */
    size_t module_bytes;
    const metadata *metadata;    /* its images are parts of the module */
    const metadata_image *image; /* this one; NULL: the best that runs here, for any dimensions if
                                    there is such */
} device_load;

/* What was loaded of it. */
typedef struct device_code {
    device_image *image;
    const metadata_image *description; /* borrowed from the metadata */
    const char *isa;                   /* static storage */
} device_code;

typedef struct device_phase {
    const device_image *image;
    size_t phase; /* of the image that was loaded */
    int64_t cells;
    size_t scratch_bytes;
    bool guarded;                  /* scratch is poisoned, with canaries and guard pages */
    const tsr_kernel_frame *frame; /* the driver supplies `scratch` */
} device_phase;

struct device_driver {
    const char *name;
    bool listed; /* counts in tsrGetDeviceCount */
    /* Fills the info without opening; strings are static. */
    void (*probe)(tsr_device_info_t *info);
    bool (*open)(uint32_t threads, device **device_out, status *st);
    void (*close)(device *d);
    bool (*load)(device *d, const device_load *load, device_code *code_out, status *st);
    void (*unload)(device *d, device_image *image);
    bool (*alloc)(device *d, size_t size_bytes, bool guarded, device_memory *memory_out,
                  status *st);
    void (*release)(device *d, device_memory *memory);
    /* False where the canaries of guarded memory are broken; says on which side and mends them. */
    bool (*intact)(device *d, const device_memory *memory, status *st);
    bool (*copy)(device *d, void *to, const void *from, size_t size_bytes, status *st);
    /* Runs all cells of one phase; returns when they are done. */
    bool (*run)(device *d, const device_phase *phase, status *st);
    /* Nobody wants the results any more: run, now and ever after, is to return false as soon as it
     * can. Does not wait. */
    void (*cancel)(device *d);
};

/* Driver `index` of devices.def, listed ones first; NULL past the end. */
const device_driver *device_driver_at(size_t index);
size_t device_listed_count(void);

#endif
