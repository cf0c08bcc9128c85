/* vulkan_queue.h - what the queue and its recordings know of each other. */
#ifndef TESSERA_RUNTIME_VULKAN_QUEUE_H
#define TESSERA_RUNTIME_VULKAN_QUEUE_H

#include "base/vec.h"
#include "device/vulkan/vulkan.h"

enum { VULKAN_TABLE_BYTES = 8192, VULKAN_SLOTS = 4 };

/* A command buffer that is submitted as often as one likes, and the tables of its launches. */
typedef struct vulkan_recording {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VEC(gpu_piece) tables;
    size_t used_bytes; /* of the last table */
} vulkan_recording;

/* Commands that are submitted together, and room for the tables of their launches. */
typedef struct vulkan_slot {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    bool submitted; /* and not waited for */
    size_t used_bytes;
} vulkan_slot;

/* gpu_queue.handle. Commands go into the slot that is open until it is full; then it is submitted,
 * and the next one is opened. */
typedef struct vulkan_queue {
    vulkan_device *device;
    vulkan_slot slots[VULKAN_SLOTS];
    uint32_t next;  /* the slot that is open, or will be */
    bool open;      /* it has commands that were not submitted */
    status failure; /* of a submission, that was not told yet */
    VkFence fence;  /* of recordings */
    VkQueryPool stamps;
    gpu_block tables;  /* of addresses: VULKAN_TABLE_BYTES a slot */
    gpu_block staging; /* where what the host has passes through; made when it is needed */
    vulkan_recording *recording; /* into which commands go; NULL: they are run */
} vulkan_queue;

static inline VkCommandBuffer vulkan_commands(const vulkan_queue *q) {
    return q->recording ? q->recording->commands : q->slots[q->next].commands;
}

VkResult vulkan_create_commands(vulkan_device *v, VkCommandPoolCreateFlags flags,
                                VkCommandPool *pool_out, VkCommandBuffer *commands_out);
/* Submits commands with a fence of the queue. */
bool vulkan_submit(vulkan_queue *q, VkCommandBuffer commands, VkFence fence, status *st);
bool vulkan_await(vulkan_queue *q, VkFence fence, status *st);
/* Opens a slot, if none is open. */
bool vulkan_begin(vulkan_queue *q, status *st);
/* Submits the slot that is open. */
bool vulkan_flush(vulkan_queue *q, status *st);
/* Puts a launch's addresses where its kernel reads them, in a table of its own. The slot that is
 * open is another one where the one before was full. */
bool vulkan_place_table(vulkan_queue *q, const uint64_t *addresses, size_t count,
                        uint64_t *table_out, status *st);

#endif
