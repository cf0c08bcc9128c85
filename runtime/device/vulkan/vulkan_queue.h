/* vulkan_queue.h - what the queue and its recordings know of each other. */
#ifndef TESSERA_RUNTIME_VULKAN_QUEUE_H
#define TESSERA_RUNTIME_VULKAN_QUEUE_H

#include "base/vec.h"
#include "device/vulkan/vulkan.h"

enum {
    VULKAN_TABLE_BYTES = 8192,
    VULKAN_SLOTS = 32,
    VULKAN_STAMPS = 2 * DEVICE_TIMED_PHASES,
    VULKAN_MARKS = 64 /* alive at once: their stamps are behind those of phases */
};

/* A command buffer that is submitted as often as one likes, and the tables of its launches. */
typedef struct vulkan_recording {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VEC(gpu_piece) tables;
    size_t used_bytes; /* of the last table */
    uint64_t number;   /* of its last submission; 0: there was none */
} vulkan_recording;

/* Commands that are submitted together, and room for the tables of their launches. */
typedef struct vulkan_slot {
    VkCommandPool pool; /* made when the slot is first opened */
    VkCommandBuffer commands;
    uint64_t number; /* its submission's; 0: there was none */
    size_t used_bytes;
} vulkan_slot;

/* gpu_queue.handle. Commands go into the slot that is open until it is full; then it is submitted,
 * and the next one is opened. So many can be under way before the host waits for the first. */
typedef struct vulkan_queue {
    vulkan_device *device;
    vulkan_slot slots[VULKAN_SLOTS];
    uint32_t next;  /* the slot that is open, or will be */
    bool open;      /* it has commands that were not submitted */
    status failure; /* of a submission, that was not told yet */
    uint64_t last;  /* submission, if it was not waited for; else 0 */
    VkQueryPool stamps;
    uint64_t marked;   /* a bit for each stamp of a mark that is alive */
    gpu_block tables;  /* of addresses: VULKAN_TABLE_BYTES a slot */
    gpu_block staging; /* where what the host has passes through; made when it is needed */
    vulkan_recording *recording; /* into which commands go; NULL: they are run */
} vulkan_queue;

static inline VkCommandBuffer vulkan_commands(const vulkan_queue *q) {
    return q->recording ? q->recording->commands : q->slots[q->next].commands;
}

VkResult vulkan_create_commands(vulkan_device *v, VkCommandPoolCreateFlags flags,
                                VkCommandPool *pool_out, VkCommandBuffer *commands_out);
/* Submits commands; vulkan_device.done counts to the number of the submission when they, and all
 * that was submitted to the device before, have ended. */
bool vulkan_submit(vulkan_queue *q, VkCommandBuffer commands, uint64_t *number_out, status *st);
bool vulkan_await(vulkan_queue *q, uint64_t number, status *st);
/* VK_TIMEOUT where the submission has not ended after so long. */
VkResult vulkan_wait(vulkan_device *v, uint64_t number, uint64_t limit_ns);
void vulkan_stamp(vulkan_queue *q, uint32_t number);
/* Opens a slot, if none is open. */
bool vulkan_begin(vulkan_queue *q, status *st);
/* Submits the slot that is open. */
bool vulkan_flush(vulkan_queue *q, status *st);
/* Puts bytes where the commands that are recorded can copy them from. */
bool vulkan_place_bytes(vulkan_queue *q, const void *bytes, size_t count, gpu_place *place_out,
                        status *st);
/* Puts a launch's addresses where its kernel reads them, in a table of its own. The slot that is
 * open is another one where the one before was full. */
bool vulkan_place_table(vulkan_queue *q, const uint64_t *addresses, size_t count,
                        uint64_t *table_out, status *st);

#endif
