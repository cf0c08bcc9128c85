/* gpu.h - what the drivers of hardware share: pools of memory, bounds that can be checked,
 * workspaces, and whole kernels as launches of their phases.
 *
 * A driver's device starts with a gpu_device, and its functions are those of gpu_functions: the
 * least that another library has to be asked for. Copies, fills and launches are given to the
 * device one behind the other and end in that order; `finish` waits for them (gpu_queue.c says
 * when). Queues, events and limits are soft.h's, one thread a queue that is not synchronous. The
 * functions of one queue are called by one thread at a time; those of several queues and of memory
 * by several.
 *
 * What a driver can record and do again (gpu_functions.replay) is kept in sequences:
 * gpu_sequence.c.
 *
 * Addresses are numbers of the device. Only the driver knows what they mean.
 *
 * Processors that pretend to be a GPU (lavapipe, PoCL) are devices where TESSERA_SOFTWARE_DEVICES=1
 * is in the environment: who takes every device that there is does not want them. */
#ifndef TESSERA_RUNTIME_GPU_H
#define TESSERA_RUNTIME_GPU_H

#include "device/shared/gpu_pool.h"
#include "device/shared/soft.h"

#define SOFTWARE_DEVICES "TESSERA_SOFTWARE_DEVICES"
bool gpu_software_wanted(void);

enum { GPU_POISON = 0xCB }; /* under debug, what nothing was written to is full of */

/* A place in a block, or in memory of the program where that is NULL. */
typedef struct gpu_place {
    const gpu_block *block;
    size_t offset;
    unsigned char *host;
} gpu_place;

/* The phases of one kernel, one after the other. */
typedef struct gpu_launch {
    const device_image *image;
    const uint64_t *addresses; /* arguments: the buffers, the workspace, what is prepared ... */
    uint32_t address_count, dim_count; /* ... and of all of them, dimensions at the end */
    const int64_t *workgroups;         /* of each phase; 0: it is left out */
    size_t workgroup_bytes;
    uint64_t *phase_ns; /* what each took, by the device's clock, in an array of the image's
                           phases; NULL: nobody wants to know */
} gpu_launch;

typedef struct gpu_device gpu_device;

/* The functions of a queue are called by one thread at a time. */
typedef struct gpu_queue {
    device_queue base;
    pthread_mutex_t turn;                /* several threads may submit to a synchronous queue */
    gpu_piece workspace;                 /* grown on demand */
    const gpu_piece *recorded_workspace; /* while it records: the sequence's; else NULL */
    uint32_t under_way;                  /* times it was given something and not waited for */
    uint64_t commands;                   /* that it was given then */
    const char *label;                   /* of the last kernel among them; NULL: they have none */
    struct gpu_moment *moments, **last;  /* recordings that were noted behind them; in order */
    void *handle;                        /* the driver's */
} gpu_queue;

typedef struct gpu_functions {
    bool (*alloc)(gpu_device *g, size_t size_bytes, device_memory_kind kind, gpu_block *block_out,
                  status *st);
    void (*free)(gpu_device *g, gpu_block *block);
    /* Makes and ends what `handle` of a queue is. */
    bool (*queue_open)(gpu_device *g, gpu_queue *q, status *st);
    void (*queue_close)(gpu_device *g, gpu_queue *q);
    /* A copy, a fill or a launch begins when all that the queue was given before has ended, and
     * need not have ended when the function returns: `finish` tells. Both places may lie in the
     * same block, apart from each other. Where one is memory of the program, or a launch is timed,
     * nothing else is under way; the device may be used while it copies. Sizes are not 0. Where a
     * function fails, a part of what it was to give may run before `finish` returns. */
    bool (*copy)(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st);
    bool (*fill)(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st);
    bool (*launch)(gpu_queue *q, const gpu_launch *l, status *st);
    /* Waits until all that was given has ended; its first failure. */
    bool (*finish)(gpu_queue *q, status *st);
    /* Has all ended that was given? Submits the rest of it first. NULL: nobody can tell
     * but by `finish`. */
    bool (*settled)(gpu_queue *q);
    /* The device's own events. NULL: it has none, and a queue is finished where one would be. */
    /* Makes a mark behind all that the queue was given; NULL where that fails. */
    void *(*mark)(gpu_queue *q);
    /* Makes one with less work, of which nobody asks when it was. NULL: `mark` is as good. */
    void *(*mark_untimed)(gpu_queue *q);
    /* Has the mark been reached, and when (clock_now_ns)? `wait`: waits until it is. */
    bool (*reached)(gpu_device *g, void *mark, bool wait, uint64_t *ns_out);
    /* Makes the queue begin what it is given from now on after a mark of another one. */
    bool (*follow)(gpu_queue *q, void *mark, status *st);
    void (*unmark)(gpu_device *g, void *mark);
    /* Tells that the device is gone; NULL: nothing tells but a failure (gpu_lose). */
    bool (*gone)(gpu_device *g, status *why);
    /* Tells that nothing given to a lost device's queue runs any more. NULL: nothing does where no
     * thread waits for it. */
    bool (*idle)(gpu_queue *q);
    /* From record_begin to record_end copies, fills and launches of the queue, whose memory is the
     * device's own, are noted instead of done, whatever is under way. record_end gives what they
     * made, or where `keep` is false nothing. replay gives it to the device like a launch, as often
     * as one likes: it may be under way in the same queue; in another one it was before a mark that
     * this one follows. forget: it is under way nowhere, or in queues that one followed which has
     * nothing under way. NULL: launches are not recorded. What fails here is done one by one. */
    bool (*record_begin)(gpu_queue *q, status *st);
    bool (*record_end)(gpu_queue *q, bool keep, void **recording_out, status *st);
    bool (*replay)(gpu_queue *q, void *recording, status *st);
    void (*forget)(gpu_device *g, void *recording);
} gpu_functions;

struct gpu_device {
    soft_device soft;
    const gpu_functions *functions;
    pthread_mutex_t own_mutex; /* of the queue for what no queue was given for */
    gpu_queue own;
    bool has_own;
    gpu_pool pool;
    atomic_uint_fast64_t recordings, replays; /* that were made; done */
};

/* After the driver has filled soft.base.info; opens the device's own queue. */
bool gpu_device_init(gpu_device *g, const device_driver *driver, const gpu_functions *functions,
                     const device_options *options, status *st);
void gpu_device_release(gpu_device *g); /* its queues are destroyed */
/* The device was lost (a driver said so): what waits ends, with this reason. Returns false. */
bool gpu_lose(gpu_device *g, const char *why, status *st);
/* Tells that a wait may go on: false once the device is lost, so that a thread that polls can end.
 */
static inline bool gpu_may_wait(gpu_device *g, status *st) {
    return soft_usable(&g->soft.base, st);
}
/* Sleeps as long as soft_pause_ns says. */
void gpu_pause_after(uint64_t passed_ns);
/* To whole lines, as workspaces and what is prepared behind them begin. */
static inline size_t gpu_round_up(size_t bytes) {
    enum { LINE = 64 };
    return (bytes + LINE - 1) / LINE * LINE;
}

/* ---- gpu_queue.c; by who has the queue's turn ---- */

/* Gives the device one copy, fill or dispatch. */
bool gpu_run(gpu_queue *q, const device_command *c, status *st);
/* Gives it what was recorded of so many commands; the label is the last kernel's. */
bool gpu_give_recording(gpu_queue *q, void *recording, const char *label, size_t count, status *st);
bool gpu_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st);
bool gpu_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st);
/* Waits for all that the queue was given. */
bool gpu_finish(gpu_queue *q, status *st);
const soft_functions *gpu_soft_functions(const gpu_functions *functions);
void gpu_queue_close(gpu_device *g, gpu_queue *q);
/* Is the span in memory of the device alone? */
bool gpu_is_own(device_span span);

/* Returns the place of a command's address. */
gpu_place gpu_place_of(device_span span);
/* For soft_functions. */
bool gpu_replay(device_queue *queue, const device_command *command, status *st);

/* For device_driver; the rest of it is soft.h's. */
bool gpu_cancel(device *d);
bool gpu_alloc(device *d, size_t size_bytes, device_memory_kind kind, device_memory **memory_out,
               status *st);
void gpu_free(device *d, device_memory *memory);
/* Memory that the driver did not give: `number` of its block is DEVICE_MEMORY_DEVICE. */
device_memory *gpu_adopt(gpu_device *g, void *address, size_t size_bytes);
bool gpu_intact(device *d, const device_memory *memory, status *st);
bool gpu_map(device *d, device_memory *memory, void **host_out, status *st);
void gpu_unmap(device *d, device_memory *memory);
bool gpu_queue_create(device *d, bool synchronous, device_queue **queue_out, status *st);
void gpu_queue_destroy(device *d, device_queue *queue);
device_sequence *gpu_sequence_create(device *d);
void gpu_sequence_destroy(device *d, device_sequence *sequence);
void gpu_count(device *d, device_counts *out);

/* The functions of device_driver that all of these drivers have in common. */
#define GPU_DRIVER_FUNCTIONS                                                                       \
    .usable = soft_usable, .lose = soft_declare_lost, .cancel = gpu_cancel, .alloc = gpu_alloc,    \
    .free = gpu_free, .intact = gpu_intact, .map = gpu_map, .unmap = gpu_unmap,                    \
    .event_create = soft_event_create, .event_destroy = soft_event_destroy,                        \
    .event_query = soft_event_query, .queue_create = gpu_queue_create,                             \
    .queue_destroy = gpu_queue_destroy, .submit = soft_submit, .await = soft_await,                \
    .count = gpu_count

/* ... and of those that record. */
#define GPU_SEQUENCE_FUNCTIONS                                                                     \
    .sequence_create = gpu_sequence_create, .sequence_destroy = gpu_sequence_destroy

#endif
