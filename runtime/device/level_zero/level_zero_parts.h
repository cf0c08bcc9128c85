/* level_zero_parts.h - the rooms of the driver `level_zero`: its functions, what is known of a
 * device, an open one, its queues, images. */
#ifndef TESSERA_RUNTIME_LEVEL_ZERO_PARTS_H
#define TESSERA_RUNTIME_LEVEL_ZERO_PARTS_H

#include <stdatomic.h>

#include "device/level_zero/level_zero.h"
#include "device/level_zero/level_zero_abi.h"
#include "device/shared/gpu.h"
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
    uint64_t tick_mask; /* the bits of a time that count */
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
} level_zero_device;

/* Whether a call for the device succeeded; it is lost with some failures. */
bool level_zero_check(level_zero_device *d, uint32_t result, const char *doing, status *st);
/* Nothing may be allocated that is larger than the device gives at once. */
bool level_zero_alloc(gpu_device *g, size_t size_bytes, device_memory_kind kind,
                      gpu_block *block_out, status *st);
void level_zero_free(gpu_device *g, gpu_block *block);

/* ---- level_zero_queue.c ---- */

typedef struct level_zero_queue {
    void *queue, *fence;
    void *list;    /* that what runs is appended to */
    bool appended; /* it is not empty */
    void *resting; /* while it records: the queue's own list; else NULL */
    void *pool, *events[DEVICE_TIMED_PHASES]; /* of phases that are timed; made when one is */
    gpu_block stage; /* of the host, between memory of the program and the device's; likewise */
    atomic_bool runs;
} level_zero_queue;

static inline level_zero_device *level_zero_device_of(const gpu_queue *q) {
    return (level_zero_device *)q->base.device;
}

bool level_zero_queue_open(gpu_device *g, gpu_queue *q, status *st);
void level_zero_queue_close(gpu_device *g, gpu_queue *q);
bool level_zero_idle(gpu_queue *q);
bool level_zero_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st);
bool level_zero_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st);
/* A command was appended to the list (appended: all of it): what follows waits for it. Where not
 * all could be, the list is emptied. */
bool level_zero_given(gpu_queue *q, bool appended, status *st);
/* Runs the list, waits for its end and empties it. */
bool level_zero_finish(gpu_queue *q, status *st);
bool level_zero_make_list(level_zero_device *d, void **list_out, status *st);
/* Runs a closed list and waits for its end. */
bool level_zero_execute(gpu_queue *q, void *list, const char *doing, status *st);
/* Keeps what is appended next apart from what was appended. */
bool level_zero_barrier(gpu_queue *q, status *st);
/* Of this queue, ready for a phase. */
bool level_zero_event(gpu_queue *q, uint32_t phase, void **event_out, status *st);

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
