/* cuda.h - NVIDIA's GPUs through CUDA's driver, AMD's through HIP: one implementation over a table
 * of functions (cuda_functions.def), since HIP has the same ones under other names.
 *
 * The libraries are taken where they are (library.h) and opened when somebody asks for a device of
 * theirs: libcuda.so.1 or what TESSERA_CUDA_LIBRARY names, libamdhip64.so or what
 * TESSERA_HIP_LIBRARY names.
 *
 * An opened device is the process' primary context of a GPU, so that other libraries of the process
 * share its memory. Each function makes it the calling thread's and gives the thread back what it
 * had. */
#ifndef TESSERA_RUNTIME_CUDA_H
#define TESSERA_RUNTIME_CUDA_H

#include <stdatomic.h>

#include "device/shared/gpu.h"

#define CUDA_LIBRARY "TESSERA_CUDA_LIBRARY"
#define HIP_LIBRARY "TESSERA_HIP_LIBRARY"

typedef struct cuda_functions {
#define BOTH(name, cuda, hip, parameters) int(*name) parameters;
#define LATER(name, cuda, hip, parameters) int(*name) parameters;
#define CUDA(name, cuda, parameters) int(*name) parameters;
#define HIP(name, hip, parameters) int(*name) parameters;
#define CUDA_LATER(name, cuda, parameters) int(*name) parameters;
#include "device/cuda/cuda_functions.def"
} cuda_functions;

/* Results, attributes and flags that the code itself knows; of both. */
enum {
    CUDA_OK = 0,
    CUDA_NOT_READY = 600,
    CUDA_FUNCTION_THREADS = 0, /* most threads of a workgroup */
    CUDA_FUNCTION_DYNAMIC_SHARED = 8,
    CUDA_STREAM_NON_BLOCKING = 1, /* it does not wait for the process' default stream */
    CUDA_ATTACH_GLOBAL = 1,
    CUDA_PINNED_PORTABLE = 1,
    CUDA_PINNED_MAPPED = 2,
    CUDA_CAPTURE_RELAXED = 2, /* other threads may do what they like meanwhile */
    CUDA_JIT_ERROR_LOG = 5,
    CUDA_JIT_ERROR_LOG_BYTES = 6,
    CUDA_SHARED_BY_DEFAULT = 48 * 1024, /* more dynamic shared memory has to be asked for */
    CUDA_EXTENTS_MOST = 65535,          /* of a grid, in its second and third extent */
    CUDA_BLOCK_MOST = 1024,             /* of a block, in its first two; in its third 64 */
    CUDA_BLOCK_DEPTH_MOST = 64,
    CUDA_PARAMETERS_MOST = 4096, /* of a function, a byte each */
    CUDA_MAP_BYTES = 128,        /* of a CUtensorMap, and what it is aligned to */
    CUDA_MAP_ALIGNMENT = 64,
    CUDA_MAP_PROMOTION = 2 /* of what a copy fetches into the second-level cache: 128 bytes */
};

enum { CUDA_UNITS_MAX = 64, CUDA_NAME_BYTES = 256, CUDA_TARGET_BYTES = 32 };

/* A GPU, as its library describes it. */
typedef struct cuda_unit {
    device_info info;
    int ordinal, handle;
    int64_t threads_most;    /* of a workgroup */
    int64_t workgroups_most; /* of a launch */
    char name[CUDA_NAME_BYTES], why[CUDA_NAME_BYTES];
    char targets[DEVICE_TARGETS_MAX][CUDA_TARGET_BYTES];
} cuda_unit;

/* One of the two libraries. */
typedef struct cuda_library {
    const char *backend, *variable, *what;
    const char *const *names;
    bool is_hip;
    /* Known once it was opened: */
    pthread_mutex_t mutex;
    bool opened;
    status failure; /* why there is no device */
    cuda_functions call;
    uint32_t unit_count;
    cuda_unit units[CUDA_UNITS_MAX];
    atomic_int chains[CUDA_UNITS_MAX]; /* cuda_chain.c: of each, what it was seen to do */
} cuda_library;

extern cuda_library cuda_library_cuda, cuda_library_hip;

/* GPU `index` of a library, which is opened first; NULL past the last. */
const cuda_unit *cuda_unit_at(cuda_library *library, uint32_t index);
/* Says that a call failed; what it was to do is in words. Returns false. */
bool cuda_failed(const cuda_functions *call, int result, const char *doing, status *st);

/* A device that is open. */
typedef struct cuda_device {
    gpu_device gpu;
    const cuda_library *library;
    const cuda_functions *call;
    const cuda_unit *unit;
    void *context; /* HIP has none that a program sees */
    /* cuda_mark.c; under gpu.own_mutex, and the first two stay while there are marks: */
    void *base; /* an event that was given at base_ns by the host's clock; NULL: none was needed */
    uint64_t base_ns;
    uint32_t marks;
} cuda_device;

/* State of the calling thread before cuda_enter. */
typedef struct cuda_scope {
    int ordinal; /* that was HIP's */
} cuda_scope;

/* Makes calls until cuda_leave go to the device. */
bool cuda_enter(const cuda_device *c, cuda_scope *scope, status *st);
void cuda_leave(const cuda_device *c, const cuda_scope *scope);
/* Checks that a call for the device succeeded; it is lost with some failures. */
bool cuda_check(cuda_device *c, int result, const char *doing, status *st);

/* For device_driver: cuda_image.c. */
bool cuda_load(device *d, const device_source *source, device_image **image_out, status *st);
void cuda_unload(device *d, device_image *image);

typedef struct cuda_phase {
    void *function;
    unsigned threads;  /* of a workgroup */
    device_call *call; /* of code of others, owned; NULL: a row of workgroups, in our convention */
    device_maps *maps; /* owned; NULL: it takes none */
} cuda_phase;

typedef struct cuda_image {
    device_image base;
    void *module;
    cuda_phase phases[];
} cuda_image;

enum { CUDA_EVENTS = DEVICE_TIMED_PHASES + 1 };

/* gpu_queue.handle. */
typedef struct cuda_stream {
    void *stream;
    void *events[CUDA_EVENTS]; /* around the phases of what is timed; made when the first is */
    void **arguments; /* of code of others; made for the first, and `nothing` between launches */
} cuda_stream;

/* For gpu_functions: cuda_mark.c. */
void *cuda_mark(gpu_queue *q);
bool cuda_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out);
bool cuda_follow(gpu_queue *q, void *mark, status *st);
void cuda_unmark(gpu_device *g, void *mark);
/* Before the device is closed. */
void cuda_end_base(cuda_device *c);

/* For gpu_functions: cuda_queue.c. */
bool cuda_queue_open(gpu_device *g, gpu_queue *q, status *st);
void cuda_queue_close(gpu_device *g, gpu_queue *q);
bool cuda_queue_idle(gpu_queue *q);
/* Waits for all that the default stream was given, by whomever. */
bool cuda_await_default(cuda_device *c, status *st);
bool cuda_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st);
bool cuda_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st);
bool cuda_launch(gpu_queue *q, const gpu_launch *l, status *st);
bool cuda_finish(gpu_queue *q, status *st);
bool cuda_record_begin(gpu_queue *q, status *st);
bool cuda_record_end(gpu_queue *q, bool keep, void **recording_out, status *st);
bool cuda_replay(gpu_queue *q, void *recording, status *st);
void cuda_forget(gpu_device *g, void *recording);

#endif
