/* runtime.h - what stands behind the handles of tessera.h; for the runtime's own files and its
 * tests.
 *
 * A context is an opened device. It has one lock, which keeps its lists and what its streams
 * remember; it is never held while a command runs. */
#ifndef TESSERA_RUNTIME_RUNTIME_H
#define TESSERA_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/vec.h"
#include "device/device.h"
#include "error.h"
#include "metadata.h"
#include "profile.h"
#include "telemetry.h"
#include "tessera/tessera.h"

/* A handle in a list of its context: its struct's first member. */
typedef struct owned {
    struct owned *next;
} owned;

typedef struct allocation {
    uintptr_t address;
    device_memory *memory;
    bool mapped;
} allocation;

struct tsr_stream {
    owned link;
    tsr_context_t context;
    device_queue *queue;
    status failure;       /* kept for the next synchronisation; under the context's lock */
    tsr_graph_t captured; /* NULL: it is not capturing */
};

struct tsr_import {
    owned link;
    tsr_context_t context;
    device_memory *memory; /* NULL: it needs none */
};

/* A kernel with what was made once from inputs that stay (prepare.c). */
struct tsr_prepared {
    owned link;
    tsr_kernel_t kernel;
    const struct kernel_code *code;     /* that of the dimensions */
    bool *constant;                     /* of each input: it was given */
    void **buffers;                     /* ... where it lies; NULL: it was not */
    int64_t *dims, *sizes, *workgroups; /* of a launch: 0 for phases that have run */
    int64_t workspace_bytes, scratch_bytes;
    device_memory *memory; /* NULL: nothing was made */
    uint32_t phases;       /* that have run */
    size_t graphs;         /* that use it; under the context's lock */
    sha256 *contents;      /* of each input, under debug; else NULL */
};

struct tsr_context {
    device *device;
    bool debug;
    pthread_mutex_t mutex;
    VEC(allocation) memories; /* sorted by address */
    owned *modules, *streams, *events, *graphs, *prepared, *semaphores, *states, *imports;
    tsr_context_t first;    /* of several devices: the first member; else itself */
    tsr_context_t *members; /* of the first of several devices: all, itself included; else NULL */
    uint32_t member_count;
    struct tsr_stream default_stream; /* its queue is synchronous */
    _Atomic uint64_t watchdog_ns;     /* for commands to come; 0: no limit */
    pthread_mutex_t debugging;        /* under debug one launch at a time runs and is checked */
    tsr_context_t next_abandoned, next_owner;
    telemetry telemetry;
    tsr_comm_t ranks; /* that programs of several run on; NULL: none */
    profile *profile; /* NULL: the policy asks for none */
};

struct tsr_kernel {
    tsr_module_t module;
    const metadata *metadata;
};

/* One image of a module, loaded. */
typedef struct kernel_code {
    device_image *image;
    const metadata_image *description; /* borrowed from the metadata */
} kernel_code;

struct tsr_module {
    owned link;
    tsr_context_t context;
    metadata metadata;
    const char *isa;    /* of all codes */
    kernel_code *codes; /* the first is for any dimensions, where there is one */
    uint32_t code_count;
    struct tsr_kernel kernel;
    device_event *used;         /* recorded behind each launch that may go on after tsrLaunch */
    size_t graphs, prepared;    /* that use it; under the context's lock */
    struct launch_needs *needs; /* of every launch, or with dimensions of the last one */
    struct launch_room *room;   /* NULL: its launches have room on their stack */
    tsr_module_t *kernels;      /* of the program: modules that no list holds; NULL: it has none */
    struct program_state *program; /* NULL: the module is one kernel */
};

struct tsr_event {
    owned link;
    tsr_context_t context;
    device_event *event;
};

/* ---- contexts: context.c, members.c ---- */

/* A context on a device of any driver, listed or not. */
tsr_status_t context_create_on(const device_driver *driver, uint32_t index, uint32_t threads,
                               uint32_t flags, tsr_context_t *context);
/* The reason why the context is lost, once it is; the first thing that every function of the ABI
 * asks. */
tsr_status_t context_ask(tsr_context_t context);
static inline tsr_status_t context_usable(tsr_context_t context) {
    return atomic_load_explicit(&context->device->attention, memory_order_acquire) == 0
               ? TSR_SUCCESS
               : context_ask(context);
}
/* Makes contexts of one device the members of one, which is the first; none has a semaphore. */
void context_join(const tsr_context_t *members, uint32_t count);
/* Closes a device with no handle left. */
void context_close(tsr_context_t context);
/* Adds a handle to a list of its context, or takes it out. */
void context_add(tsr_context_t context, owned **list, owned *handle);
void context_remove(tsr_context_t context, owned **list, owned *handle);

/* Frees what a handle holds, and the handle itself; it is in no list any more. */
void module_free(tsr_module_t module);
void stream_free(tsr_stream_t stream);
void event_free(tsr_event_t event);
void graph_free(tsr_graph_t graph);
void prepared_free(tsr_prepared_t prepared);
void semaphore_free(tsr_semaphore_t semaphore);
void import_free(tsr_import_t import);
void state_free(tsr_state_t state); /* without its memory, which is the context's */

/* ---- streams: stream.c ---- */

tsr_stream_t stream_or_default(tsr_context_t context, tsr_stream_t stream);
/* Else the status of a lost context, or TSR_EINVAL where the stream belongs to another one or is
 * capturing. */
tsr_status_t stream_usable(tsr_context_t context, tsr_stream_t stream);
/* Keeps a failure for the next synchronisation, where none is kept. */
void stream_fail(tsr_stream_t stream, const status *failure);
/* Submits to the stream's queue. */
tsr_status_t stream_submit(tsr_stream_t stream, const device_command *commands, size_t count);

/* ---- memory: memory.c ---- */

/* The allocation that holds the address, or NULL: it is no memory of the context. The context's
 * lock is held. */
const device_memory *memory_find(tsr_context_t context, const void *address);
/* ... among allocations alone; among imports (import.c). */
const device_memory *allocation_find(tsr_context_t context, const void *address);
const device_memory *import_find(tsr_context_t context, const void *address);
/* A range for a command. TSR_EINVAL where it runs past the end of its allocation, or is memory that
 * the device cannot reach, though it must be the device's. The context's lock is held. */
tsr_status_t memory_span(tsr_context_t context, void *address, size_t size_bytes, const char *what,
                         device_span *span_out);
/* Checks the bytes around all allocations; names the launch's parameter where some are broken. */
bool memory_check_all(tsr_context_t context, const metadata *m, void *const *buffers, status *st);
void memory_free_all(tsr_context_t context);

/* ---- other contexts' memory: owner.c ---- */

/* From its opening to its end. */
void owner_add(tsr_context_t context);
void owner_remove(tsr_context_t context);
/* TSR_EINVAL where the address is memory of another context that nobody but its device can touch;
 * of some devices that is not known. No context's lock is held. */
tsr_status_t owner_check(tsr_context_t context, const void *address);

/* ---- launches: launch.c, launch_needs.c ---- */

enum { LAUNCH_SMALL_BUFFERS = 64 };

/* Room for what of a launch is not fixed, of a kernel of more buffers: made when its module is
 * loaded, and used by one launch at a time. */
struct launch_room {
    pthread_mutex_t turn;
    void **buffers;
    const device_memory **memories;
    int64_t *sizes;
    uint32_t *by_address; /* room to sort buffers in */
};

/* One launch with its arguments checked. What is not fixed lies in `room`, or in `large`. */
typedef struct kernel_launch {
    tsr_kernel_t kernel;
    const kernel_code *code; /* that of its dimensions */
    void **buffers;
    const device_memory **memories;
    int64_t *dims;
    const int64_t *sizes;      /* bytes of each buffer */
    const int64_t *workgroups; /* of each phase */
    int64_t workspace_bytes, scratch_bytes;
    tsr_prepared_t prepared;   /* NULL: all phases run */
    struct launch_room *large; /* NULL: there are few buffers */
    struct {
        void *buffers[LAUNCH_SMALL_BUFFERS];
        const device_memory *memories[LAUNCH_SMALL_BUFFERS];
        int64_t dims[METADATA_DIMS_MAX], sizes[LAUNCH_SMALL_BUFFERS],
            workgroups[METADATA_PHASES_MAX];
    } room;
} kernel_launch;

/* Around everything that is done with a request, which is not filled with zeros first: it has room
 * for many phases. */
static inline void launch_begin(kernel_launch *request, tsr_kernel_t kernel,
                                tsr_prepared_t prepared) {
    request->kernel = kernel;
    request->prepared = prepared;
    request->large = kernel->module->room;
    if (request->large)
        pthread_mutex_lock(&request->large->turn);
}
static inline void launch_end(const kernel_launch *request) {
    if (request->large)
        pthread_mutex_unlock(&request->large->turn);
}

/* Copies a caller's arguments for the request's kernel. `given` (NULL: all) says which inputs there
 * are; other buffers are NULL then. TSR_EINVAL where they are not those that the kernel takes. */
tsr_status_t launch_gather(kernel_launch *request, void **args, size_t nargs, const bool *given);
/* Chooses the code for the request's dimensions and finds what it needs. TSR_EINVAL where the
 * dimensions are not what the kernel asks for. */
tsr_status_t launch_find_needs(kernel_launch *request);
/* When a module is loaded: makes the room that its launches share, and finds what they need where
 * the kernel's dimensions are fixed. */
tsr_status_t launch_fix_needs(tsr_module_t module);
void launch_forget_needs(tsr_module_t module);
/* A launch spec as the metadata has it and one as a caller has it are the same. */
tsr_status_t launch_check_spec(const kernel_launch *request, const tsr_launch_t *launch);
/* Does a donated input lie where its output does? */
bool launch_is_in_place(const metadata *m, void *const *buffers, uint32_t input);
/* Checks a buffer of the request, and finds its memory; the context's lock is held. */
tsr_status_t launch_check_buffer(const kernel_launch *request, uint32_t index);
/* The command for a checked request, from which it borrows. */
device_command launch_command(const kernel_launch *request, tsr_context_t context);
/* Under debug: runs a dispatch to its end, and looks at what lies around all memory. */
bool launch_watched(tsr_stream_t stream, const device_command *command, const metadata *m,
                    status *st);
/* The same; on a created stream a failure waits for the next synchronisation, as others do. */
tsr_status_t launch_debugged(tsr_stream_t stream, const device_command *command, const metadata *m);

/* ---- programs: program_run.c ---- */

/* Makes what a module keeps to launch its program, beside its kernels, which are there;
 * `constants`: the bytes of each, which are copied to the device. */
bool program_open(tsr_module_t module, const void *const *constants, status *st);
void program_close(tsr_module_t module);
/* A launch with its arguments checked. */
tsr_status_t program_launch(const kernel_launch *request, tsr_stream_t stream);

/* ---- prepared inputs: prepare.c ---- */

/* The arguments of a launch are those that were prepared; finds what it needs. */
tsr_status_t prepared_find_needs(kernel_launch *request);
/* Under debug: the inputs hold what they held, and nobody wrote around what was made of them. */
tsr_status_t prepared_check_contents(tsr_prepared_t prepared);

/* ---- graphs: graph.c ---- */

/* Keep what was checked in the graph that the stream captures. */
void graph_add_launch(tsr_graph_t graph, const kernel_launch *request);
/* `m` is the metadata of the kernel, in the module or within it. */
void graph_add_dispatch(tsr_graph_t graph, const device_command *command, tsr_module_t module,
                        const metadata *m, tsr_prepared_t prepared);
void graph_add_range(tsr_graph_t graph, const device_command *command);
/* Gives it memory that lives as long as the graph. */
void graph_add_memory(tsr_graph_t graph, device_memory *memory);

#endif
