/* runtime.h - what stands behind the handles of tessera.h; for the runtime's own files and its
 * tests.
 *
 * Lock order: a stream's run lock, then a context's lock; no lock is held while a kernel runs but
 * the run lock. */
#ifndef TESSERA_RUNTIME_RUNTIME_H
#define TESSERA_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "device/device.h"
#include "error.h"
#include "metadata.h"
#include "telemetry.h"
#include "tessera/tessera.h"

typedef struct stream_task stream_task;

struct tsr_stream {
    tsr_context_t context;
    pthread_mutex_t run_lock; /* one launch at a time; owns the workspace */
    device_memory workspace;  /* grown on demand */
    /* The rest is unused in a context's default stream, which has no thread. */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    stream_task *first, **last;
    bool busy, stopping;
    status failure; /* the first of its launches that failed; told by the next synchronisation */
};

struct tsr_context {
    device *device;
    bool debug;
    pthread_mutex_t mutex;
    pthread_cond_t idle;         /* signalled when a module's last launch ends */
    VEC(device_memory) memories; /* sorted by address */
    size_t modules, streams, events;
    struct tsr_stream default_stream;
    telemetry telemetry;
};

struct tsr_kernel {
    tsr_module_t module;
    const metadata *metadata;
};

struct tsr_module {
    tsr_context_t context;
    metadata metadata;
    device_image *image;
    struct tsr_kernel kernel;
    size_t launches; /* queued or running; under the context's mutex */
};

struct tsr_event {
    tsr_context_t context;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t recorded,
        newest; /* serials of the last recording asked for, and of the latest that happened */
    size_t pending;
    uint64_t time_ns;
};

/* A context on any driver, listed or not. */
tsr_status_t context_create_on(const device_driver *driver, uint32_t threads, uint32_t flags,
                               tsr_context_t *context);

/* One launch with its arguments checked and copied. */
typedef struct launch_request {
    tsr_kernel_t kernel;
    void **buffers;
    int64_t *dims;
} launch_request;

/* Runs a launch now, on the calling thread, with the stream's workspace. */
bool launch_run(tsr_stream_t stream, const launch_request *request, status *st);
void launch_finished(tsr_kernel_t kernel); /* the module may be unloaded again */

/* The default stream's and a created stream's resources. */
void stream_init(struct tsr_stream *stream, tsr_context_t context);
void stream_release(struct tsr_stream *stream);
/* Queues a launch; takes over the request's memory (`buffers`, one block with `dims` in it). */
void stream_push_launch(tsr_stream_t stream, const launch_request *request);

/* The allocation that holds `pointer`, copied out. */
bool memory_find(tsr_context_t context, const void *pointer, device_memory *memory_out);
/* Checks the canaries of all allocations; names the launch's parameter where one is broken. */
bool memory_check_all(tsr_context_t context, const launch_request *request, status *st);

#endif
