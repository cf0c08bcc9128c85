/* vulkan_queue.h - what the queue and its recordings know of each other. */
#ifndef TESSERA_RUNTIME_VULKAN_QUEUE_H
#define TESSERA_RUNTIME_VULKAN_QUEUE_H

#include "base/vec.h"
#include "device/vulkan/vulkan.h"

enum { VULKAN_TABLE_BYTES = 8192 };

/* A command buffer that is submitted as often as one likes, and the tables of its launches. */
typedef struct vulkan_recording {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VEC(gpu_piece) tables;
    size_t used_bytes; /* of the last table */
} vulkan_recording;

/* gpu_queue.handle. */
typedef struct vulkan_queue {
    vulkan_device *device;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkQueryPool stamps;
    gpu_block table;   /* of addresses */
    gpu_block staging; /* where what the host has passes through; made when it is needed */
    vulkan_recording *recording; /* into which commands go; NULL: they are run */
} vulkan_queue;

static inline VkCommandBuffer vulkan_commands(const vulkan_queue *q) {
    return q->recording ? q->recording->commands : q->commands;
}

VkResult vulkan_create_commands(vulkan_device *v, VkCommandPoolCreateFlags flags,
                                VkCommandPool *pool_out, VkCommandBuffer *commands_out);
/* Submits commands and waits for them. */
bool vulkan_run(vulkan_queue *q, VkCommandBuffer commands, status *st);
/* Puts a launch's addresses where its kernel reads them: where each recorded launch has a table of
 * its own. */
bool vulkan_place_table(vulkan_queue *q, const uint64_t *addresses, size_t count,
                        uint64_t *table_out, status *st);

#endif
