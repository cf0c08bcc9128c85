/* spirv_load.h - loading OpenCL's flavour of SPIR-V: what the drivers `opencl` and `level_zero` do
 * alike. The code is read and compared with the device's limits before the driver sees it; then the
 * driver makes a program of it, and a kernel of each phase. */
#ifndef TESSERA_RUNTIME_SPIRV_LOAD_H
#define TESSERA_RUNTIME_SPIRV_LOAD_H

#include "device/shared/gpu.h"

/* A phase. */
typedef struct spirv_kernel {
    void *handle; /* the driver's */
    uint32_t arguments;
    uint64_t threads; /* of a workgroup */
} spirv_kernel;

typedef struct spirv_loaded {
    device_image base;
    void *program;         /* the driver's; NULL without phases */
    pthread_mutex_t mutex; /* arguments are the kernel's until its launch is given to the driver */
    spirv_kernel kernels[];
} spirv_loaded;

/* The driver's part. */
typedef struct spirv_functions {
    bool (*make_program)(gpu_device *g, const device_source *source, void **program_out,
                         status *st);
    /* Fills `handle` and `arguments` of the kernel `symbol`, whose `threads` are known; a handle is
     * ended after a failure, too. */
    bool (*make_kernel)(gpu_device *g, void *program, const char *symbol, spirv_kernel *kernel,
                        status *st);
    void (*end_kernel)(void *handle);
    void (*end_program)(void *program);
} spirv_functions;

typedef enum spirv_probe_kind {
    SPIRV_PROBE_F32, /* no device is opened without it */
    SPIRV_PROBE_F64,
    SPIRV_PROBE_F16,
    SPIRV_PROBE_COUNT
} spirv_probe_kind;

/* Limits of a device, and what its probes found, once a process. */
typedef struct spirv_target {
    const spirv_functions *functions;
    const char *name;
    uint64_t workgroup_bytes, workgroup_threads;
    bool lacks_f64, lacks_f16;
    bool barriers_are_wrong; /* code with barriers is refused */
    pthread_mutex_t mutex;   /* of what follows */
    bool tried[SPIRV_PROBE_COUNT];
    status findings[SPIRV_PROBE_COUNT]; /* failures of those that are unsound */
} spirv_target;

void spirv_target_init(spirv_target *t, const spirv_functions *functions, const char *name);

bool spirv_load(spirv_target *t, gpu_device *g, const device_source *source,
                device_image **image_out, status *st);
/* Likewise, without asking for limits and probes: for the probes themselves. */
bool spirv_load_code(spirv_target *t, gpu_device *g, const device_source *source,
                     device_image **image_out, status *st);
void spirv_unload(const spirv_target *t, device_image *image);

/* STATUS_UNAVAILABLE where a workgroup of `symbol` has more than `most` threads, or needs more
 * memory than the device has. */
bool spirv_threads_fit(const spirv_target *t, const char *symbol, uint64_t threads, uint64_t most,
                       status *st);
bool spirv_memory_fits(const spirv_target *t, const char *symbol, uint64_t bytes, status *st);
/* STATUS_CORRUPT where the code takes another number of arguments than the launch has. */
bool spirv_arguments_fit(const spirv_kernel *kernel, const gpu_launch *l, status *st);
/* The first line of a driver's log that is not empty. */
void spirv_first_line(const char *log, char *out, size_t room);

#endif
