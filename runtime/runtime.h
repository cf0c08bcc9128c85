/* runtime.h - what stands behind the handles of tessera.h; for the runtime's own files and its
 * tests.
 *
 * A context has one lock, which keeps all that changes in it, its streams, events and modules; it
 * is never held while a kernel runs. Launches of a context take turns on its device: see turn_take.
 */
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

/* Under its context's lock, but for the workspace. */
struct tsr_stream {
    tsr_context_t context;
    device_memory workspace; /* grown on demand; belongs to the launch that has the turn */
    pthread_cond_t work;     /* wakes the stream's thread: a task, or stopping */
    pthread_t thread;
    bool has_thread; /* a default stream gets one with its first watchdog */
    stream_task *first, **last;
    bool busy, stopping;
    status failure; /* the first of its launches that failed; told by the next synchronisation */
};

struct tsr_context {
    device *device;
    bool debug;
    pthread_mutex_t mutex;
    pthread_cond_t changed;      /* a turn, a task or the watchdog; measured on CLOCK_MONOTONIC */
    VEC(device_memory) memories; /* sorted by address */
    size_t modules, streams, events;
    struct tsr_stream default_stream;
    const char *running;  /* the kernel that has the turn, or NULL */
    uint64_t deadline_ns; /* when it must have ended; 0: never */
    uint64_t limit_ns;    /* what the deadline was made from */
    uint64_t watchdog_ns; /* for launches to come; 0: no limit */
    status lost;          /* once it holds a failure, it never changes again */
    tsr_context_t next_abandoned;
    telemetry telemetry;
};

struct tsr_kernel {
    tsr_module_t module;
    const metadata *metadata;
};

struct tsr_module {
    tsr_context_t context;
    metadata metadata;
    device_code *codes; /* of one level; the first is for any dimensions, where there is one */
    uint32_t code_count;
    struct tsr_kernel kernel;
    size_t launches; /* queued or running; under the context's mutex */
};

struct tsr_event {
    tsr_context_t context;
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
    const device_code *code; /* that of its dimensions */
    int64_t *cells;          /* of each phase */
    int64_t workspace_bytes, scratch_bytes;
} launch_request;

/* Chooses the code for the request's dimensions and finds what it needs, and the bytes of each
 * buffer. TSR_EINVAL where the dimensions are not what the kernel asks for. launch_needs.c */
tsr_status_t launch_find_needs(launch_request *request, int64_t *sizes);

/* Runs a launch now, on the calling thread, with the stream's workspace, when its turn comes. The
 * watchdog holds for it where it is `watched`. */
bool launch_run(tsr_stream_t stream, const launch_request *request, bool watched, status *st);
void launch_finished(tsr_kernel_t kernel); /* the module may be unloaded again */

/* The default stream's and a created stream's resources. Releasing ends the stream's thread. */
void stream_init(struct tsr_stream *stream, tsr_context_t context);
void stream_release(struct tsr_stream *stream);
/* Gives the stream its thread, if it has none yet. The context's lock is held. */
bool stream_start(tsr_stream_t stream);
/* Queues a launch; takes over the request's memory (`buffers`, one block with all of its arrays).
 */
void stream_push_launch(tsr_stream_t stream, const launch_request *request);
/* The same, and waits for its end. */
bool stream_push_and_wait(tsr_stream_t stream, const launch_request *request, status *st);

/* TSR_ETIMEOUT, with the reason, once the watchdog has fired; the first thing that every function
 * of the ABI asks. */
tsr_status_t context_usable(tsr_context_t context);
/* The same where the context's lock is held. */
bool context_is_lost(tsr_context_t context);
/* Waits for `changed`, with the lock held; false once the context is lost. Conditions are to be
 * looked at again. */
bool context_wait(tsr_context_t context);
/* Keeps a destroyed context that a lost kernel may still use. */
void context_abandon(tsr_context_t context);
/* Launches of one context run one at a time. Taking fails where the context is lost, giving where
 * it was lost meanwhile. */
bool turn_take(tsr_context_t context, const char *kernel, bool watched, status *st);
bool turn_give(tsr_context_t context, status *st);

/* The allocation that holds `pointer`, copied out. */
bool memory_find(tsr_context_t context, const void *pointer, device_memory *memory_out);
/* Checks the canaries of all allocations; names the launch's parameter where one is broken. */
bool memory_check_all(tsr_context_t context, const launch_request *request, status *st);

#endif
