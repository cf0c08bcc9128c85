/* level_zero_parts.h - the rooms of the driver `level_zero`: its functions, what is known of a
 * device, an open one, its queues, images. */
#ifndef TESSERA_RUNTIME_LEVEL_ZERO_PARTS_H
#define TESSERA_RUNTIME_LEVEL_ZERO_PARTS_H

#include <stdatomic.h>

#include "base/vec.h"
#include "device/level_zero/level_zero.h"
#include "device/level_zero/level_zero_abi.h"
#include "device/shared/gpu_clock.h"
#include "device/shared/spirv_load.h"

/* ---- level_zero_library.c ---- */

typedef struct level_zero_functions {
#define FUNCTION(name, symbol, parameters) uint32_t(*name) parameters;
#include "device/level_zero/level_zero_functions.def"
#undef FUNCTION
} level_zero_functions;

extern level_zero_functions level_zero; /* after level_zero_unit_at gave a device */

enum { LEVEL_ZERO_REASON_BYTES = 400 };

/* A GPU of the loader: found once, kept as long as the process. */
typedef struct level_zero_unit {
    void *driver, *handle;
    device_info info;
    char name[256], reason[LEVEL_ZERO_REASON_BYTES];
    uint64_t allocation_bytes; /* the most at once */
    uint32_t workgroups_most;  /* of a launch in one dimension */
    uint32_t arguments_bytes;  /* of a kernel */
    uint32_t queue_group;
    double tick_ns;
    uint64_t tick_mask;  /* the bits that count of a phase's time, */
    uint64_t clock_mask; /* and of any other */
    spirv_target spirv;
} level_zero_unit;

/* GPU `index`; NULL past the last. */
level_zero_unit *level_zero_unit_at(uint32_t index);
/* Why there is none. */
void level_zero_absent(status *why);
/* "doing: ZE_RESULT_ERROR_... (0x...)" into a status of the code that it stands for; false. */
bool level_zero_failed(uint32_t result, const char *doing, status *st);

/* ---- level_zero.c ---- */

typedef struct level_zero_device {
    gpu_device gpu;
    level_zero_unit *unit;
    void *context;
    gpu_clock clock; /* tells marks */
    pthread_mutex_t marks_mutex;
    VEC(struct level_zero_pool *) pools;
    struct level_zero_moment *free; /* the first one that no mark is */
} level_zero_device;

/* Checks that a call for the device succeeded; it is lost with some failures. */
bool level_zero_check(level_zero_device *d, uint32_t result, const char *doing, status *st);
/* Nothing may be allocated that is larger than the device gives at once. */
bool level_zero_alloc(gpu_device *g, size_t size_bytes, device_memory_kind kind,
                      gpu_block *block_out, status *st);
void level_zero_free(gpu_device *g, gpu_block *block);

/* ---- level_zero_queue.c ---- */

enum { LEVEL_ZERO_SLOTS = 32 };

/* Commands that are given to the queue together. */
typedef struct level_zero_slot {
    void *list, *fence; /* made when the slot is first opened */
    atomic_bool runs;   /* it was given, or a graph with its fence, and its end was not seen */
    VEC(struct level_zero_moment *) followed; /* the list waits for them */
} level_zero_slot;

/* Commands are appended to the slot that is open; so many can be under way before the host waits
 * for the first. */
typedef struct level_zero_queue {
    void *queue;
    level_zero_slot slots[LEVEL_ZERO_SLOTS];
    uint32_t next;  /* the slot that is open, or will be */
    bool open;      /* its list takes commands */
    bool appended;  /* ... and is not empty */
    void *recorded; /* a list that takes them instead, while it records; else NULL */
    status failure; /* the first, of giving a list to the queue, if it was not told yet */
    void *pool, *events[DEVICE_TIMED_PHASES]; /* of phases that are timed; made when one is */
    gpu_block stage; /* of the host, between memory of the program and the device's; likewise */
} level_zero_queue;

static inline void *level_zero_list(const gpu_queue *q) {
    const level_zero_queue *z = (const level_zero_queue *)q->handle;
    return z->recorded ? z->recorded : z->slots[z->next].list;
}

static inline level_zero_device *level_zero_device_of(const gpu_queue *q) {
    return (level_zero_device *)q->base.device;
}

bool level_zero_queue_open(gpu_device *g, gpu_queue *q, status *st);
void level_zero_queue_close(gpu_device *g, gpu_queue *q);
bool level_zero_idle(gpu_queue *q);
bool level_zero_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st);
bool level_zero_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st);
/* Opens a slot, if none is open: comes before what is appended. */
bool level_zero_begin(gpu_queue *q, status *st);
/* A command was appended to the list (appended: all of it): what follows waits for it. Where not
 * all could be, the list is emptied. */
bool level_zero_given(gpu_queue *q, bool appended, status *st);
/* Gives the slot that is open to the queue. */
bool level_zero_flush(gpu_queue *q, status *st);
bool level_zero_settled(gpu_queue *q);
/* Waits for the end of all that was given, and of what is open. */
bool level_zero_finish(gpu_queue *q, status *st);
bool level_zero_make_list(level_zero_device *d, void **list_out, status *st);
/* Runs a closed list behind all that the queue was given, and waits for its end: before that it
 * must not be given again. */
bool level_zero_execute(gpu_queue *q, void *list, const char *doing, status *st);
/* Keeps what is appended next apart from what was appended. */
bool level_zero_barrier(gpu_queue *q, status *st);
/* Gives an event of this queue, ready for a phase. */
bool level_zero_event(gpu_queue *q, uint32_t phase, void **event_out, status *st);

/* ---- level_zero_mark.c ---- */

void level_zero_marks_init(level_zero_device *d);
void level_zero_marks_release(level_zero_device *d);
void *level_zero_mark(gpu_queue *q);
bool level_zero_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out);
bool level_zero_follow(gpu_queue *q, void *mark, status *st);
void level_zero_unmark(gpu_device *g, void *mark);
/* The slot's list waits for no mark any more. */
void level_zero_drop_followed(level_zero_device *d, level_zero_slot *slot);

/* ---- level_zero_record.c ---- */

bool level_zero_record_begin(gpu_queue *q, status *st);
bool level_zero_record_end(gpu_queue *q, bool keep, void **recording_out, status *st);
bool level_zero_replay(gpu_queue *q, void *recording, status *st);
void level_zero_forget(gpu_device *g, void *recording);

/* ---- level_zero_image.c ---- */

bool level_zero_load(device *d, const device_source *source, device_image **image_out, status *st);
void level_zero_unload(device *d, device_image *image);
bool level_zero_launch(gpu_queue *q, const gpu_launch *l, status *st);
extern const spirv_functions level_zero_spirv;

#endif
