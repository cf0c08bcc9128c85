/* vulkan_queue.c - what a queue has for itself, and its commands: recorded, submitted together, and
 * waited for when somebody wants to know. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/vulkan/vulkan_queue.h"

enum { STAGING_BYTES = 4 << 20 };

/* ---- making one ---- */

VkResult vulkan_create_commands(vulkan_device *v, VkCommandPoolCreateFlags flags,
                                VkCommandPool *pool_out, VkCommandBuffer *commands_out) {
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = flags,
                                          .queueFamilyIndex = v->adapter->family};
    VkResult result = v->f.CreateCommandPool(v->device, &pool, NULL, pool_out);
    if (result != VK_SUCCESS)
        return result;
    const VkCommandBufferAllocateInfo buffer = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = *pool_out,
                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                .commandBufferCount = 1};
    result = v->f.AllocateCommandBuffers(v->device, &buffer, commands_out);
    if (result == VK_SUCCESS)
        return result;
    v->f.DestroyCommandPool(v->device, *pool_out, NULL);
    *pool_out = VK_NULL_HANDLE;
    return result;
}

static VkResult create_stamps(vulkan_queue *q) {
    vulkan_device *v = q->device;
    const VkQueryPoolCreateInfo stamps = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                          .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                          .queryCount = VULKAN_STAMPS + VULKAN_MARKS};
    return v->adapter->timestamp_bits ? v->f.CreateQueryPool(v->device, &stamps, NULL, &q->stamps)
                                      : VK_SUCCESS;
}

bool vulkan_queue_open(gpu_device *g, gpu_queue *queue, status *st) {
    enum { TABLES_BYTES = VULKAN_SLOTS * VULKAN_TABLE_BYTES };
    vulkan_queue *q = base_calloc(1, sizeof *q);
    q->device = (vulkan_device *)g;
    queue->handle = q;
    VkResult result = create_stamps(q);
    bool ok = result == VK_SUCCESS || vulkan_failed(q->device, "making a queue", result, st);
    if (ok && vulkan_alloc(g, TABLES_BYTES, DEVICE_MEMORY_PINNED, &q->tables, st))
        return true;
    vulkan_queue_close(g, queue);
    return false;
}

void vulkan_queue_close(gpu_device *g, gpu_queue *queue) {
    vulkan_queue *q = queue->handle;
    vulkan_device *v = q->device;
    if (q->tables.size_bytes)
        vulkan_free(g, &q->tables);
    if (q->staging.size_bytes)
        vulkan_free(g, &q->staging);
    v->f.DestroyQueryPool(v->device, q->stamps, NULL);
    for (int i = 0; i < VULKAN_SLOTS; i++)
        v->f.DestroyCommandPool(v->device, q->slots[i].pool, NULL);
    free(q);
    queue->handle = NULL;
}

/* ---- submissions ---- */

bool vulkan_submit(vulkan_queue *q, VkCommandBuffer commands, uint64_t *number_out, status *st) {
    vulkan_device *v = q->device;
    pthread_mutex_lock(&v->queue_mutex);
    const uint64_t number = v->submitted + 1;
    const VkTimelineSemaphoreSubmitInfo counts = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &number};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &counts,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &v->done};
    VkResult result = v->f.QueueSubmit(v->queue, 1, &info, VK_NULL_HANDLE);
    v->submitted += result == VK_SUCCESS;
    pthread_mutex_unlock(&v->queue_mutex);
    if (result != VK_SUCCESS)
        return vulkan_failed(v, "vkQueueSubmit", result, st);
    *number_out = q->last = number;
    return true;
}

VkResult vulkan_wait(vulkan_device *v, uint64_t number, uint64_t limit_ns) {
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &v->done,
                                      .pValues = &number};
    return v->f.WaitSemaphores(v->device, &info, limit_ns);
}

bool vulkan_await(vulkan_queue *q, uint64_t number, status *st) {
    VkResult result = vulkan_wait(q->device, number, UINT64_MAX);
    return result == VK_SUCCESS ? vulkan_valid(st)
                                : vulkan_failed(q->device, "vkWaitSemaphores", result, st);
}

static VkResult reset(vulkan_device *v, vulkan_slot *s) {
    return s->pool ? v->f.ResetCommandPool(v->device, s->pool, 0)
                   : vulkan_create_commands(v, VK_COMMAND_POOL_CREATE_TRANSIENT_BIT, &s->pool,
                                            &s->commands);
}

bool vulkan_begin(vulkan_queue *q, status *st) {
    vulkan_device *v = q->device;
    vulkan_slot *s = &q->slots[q->next];
    if (q->recording || q->open)
        return true;
    if (s->number && !vulkan_await(q, s->number, st))
        return false;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = reset(v, s);
    if (result == VK_SUCCESS)
        result = v->f.BeginCommandBuffer(s->commands, &info);
    q->open = result == VK_SUCCESS;
    s->used_bytes = 0;
    s->number = 0;
    return q->open || vulkan_failed(v, "vkBeginCommandBuffer", result, st);
}

bool vulkan_flush(vulkan_queue *q, status *st) {
    vulkan_slot *s = &q->slots[q->next];
    if (!q->open)
        return true;
    q->open = false;
    VkResult result = q->device->f.EndCommandBuffer(s->commands);
    if (result != VK_SUCCESS)
        return vulkan_failed(q->device, "vkEndCommandBuffer", result, st);
    q->next = (q->next + 1) % VULKAN_SLOTS;
    return vulkan_submit(q, s->commands, &s->number, st);
}

/* A failure is told by vulkan_finish, which does not wait then. */
bool vulkan_settled(gpu_queue *queue) {
    vulkan_queue *q = queue->handle;
    if (q->open && !vulkan_flush(q, &q->failure))
        return true;
    return !q->last || vulkan_wait(q->device, q->last, 0) != VK_TIMEOUT;
}

bool vulkan_finish(gpu_queue *queue, status *st) {
    vulkan_queue *q = queue->handle;
    bool ok = q->failure.code == STATUS_OK
                  ? vulkan_flush(q, st)
                  : status_set(st, q->failure.code, "%s", q->failure.message);
    q->failure = (status)STATUS_INIT;
    const uint64_t last = q->last;
    q->last = 0;
    q->next = 0; /* the slots are free, from the first one */
    return (!last || vulkan_await(q, last, ok ? st : NULL)) && ok;
}

/* All that was written is seen by all that follows, the host included. */
static void barrier(vulkan_queue *q) {
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                 .dstAccessMask =
                                     VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    const VkPipelineStageFlags work =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    q->device->f.CmdPipelineBarrier(vulkan_commands(q), work, work | VK_PIPELINE_STAGE_HOST_BIT, 0,
                                    1, &all, 0, NULL, 0, NULL);
}

/* ---- copies and fills ---- */

/* Parameters: two places, each a block and an offset. */
static bool copy_blocks(vulkan_queue *q, const gpu_block *to, size_t to_offset,
                        const gpu_block *from, size_t from_offset, size_t size_bytes, status *st) {
    const VkBufferCopy range = {from_offset, to_offset, size_bytes};
    if (!vulkan_begin(q, st))
        return false;
    q->device->f.CmdCopyBuffer(vulkan_commands(q), from->handle, to->handle, 1, &range);
    barrier(q);
    return true;
}

static bool stage(vulkan_queue *q, status *st) {
    return q->staging.size_bytes ||
           vulkan_alloc(&q->device->gpu, STAGING_BYTES, DEVICE_MEMORY_PINNED, &q->staging, st);
}

static bool send(gpu_queue *queue, gpu_place to, const unsigned char *from, size_t size_bytes,
                 status *st) {
    vulkan_queue *q = queue->handle;
    bool ok = stage(q, st);
    for (size_t done = 0; done < size_bytes && ok;) {
        size_t part = size_bytes - done < STAGING_BYTES ? size_bytes - done : STAGING_BYTES;
        memcpy(q->staging.host, from + done, part);
        ok = copy_blocks(q, to.block, to.offset + done, &q->staging, 0, part, st) &&
             vulkan_finish(queue, st);
        done += part;
    }
    return ok;
}

static bool fetch(gpu_queue *queue, unsigned char *to, gpu_place from, size_t size_bytes,
                  status *st) {
    vulkan_queue *q = queue->handle;
    bool ok = stage(q, st);
    for (size_t done = 0; done < size_bytes && ok;) {
        size_t part = size_bytes - done < STAGING_BYTES ? size_bytes - done : STAGING_BYTES;
        ok = copy_blocks(q, &q->staging, 0, from.block, from.offset + done, part, st) &&
             vulkan_finish(queue, st);
        if (ok)
            memcpy(to + done, q->staging.host, part);
        done += part;
    }
    return ok;
}

bool vulkan_copy(gpu_queue *queue, gpu_place to, gpu_place from, size_t size_bytes, status *st) {
    if (!to.block)
        return fetch(queue, to.host, from, size_bytes, st);
    if (!from.block)
        return send(queue, to, from.host, size_bytes, st);
    return copy_blocks(queue->handle, to.block, to.offset, from.block, from.offset, size_bytes, st);
}

static bool send_bytes(gpu_queue *queue, gpu_place to, unsigned char byte, size_t size_bytes,
                       status *st) {
    vulkan_queue *q = queue->handle;
    unsigned char bytes[4];
    gpu_place from;
    memset(bytes, byte, sizeof bytes);
    if (size_bytes == 0)
        return true;
    if (!q->recording)
        return send(queue, to, bytes, size_bytes, st);
    return vulkan_place_bytes(q, bytes, size_bytes, &from, st) &&
           copy_blocks(q, to.block, to.offset, from.block, from.offset, size_bytes, st);
}

/* Vulkan fills whole words; the bytes before and after them are copied. */
bool vulkan_fill(gpu_queue *queue, gpu_place to, unsigned char byte, size_t size_bytes,
                 status *st) {
    enum { WORD = 4 };
    vulkan_queue *q = queue->handle;
    size_t head = (WORD - to.offset % WORD) % WORD;
    head = head < size_bytes ? head : size_bytes;
    size_t words = (size_bytes - head) / WORD * WORD, tail = size_bytes - head - words;
    gpu_place middle = {to.block, to.offset + head, NULL},
              end = {to.block, to.offset + head + words, NULL};
    if (!send_bytes(queue, to, byte, head, st) || !send_bytes(queue, end, byte, tail, st))
        return false;
    if (words == 0)
        return true;
    if (!vulkan_begin(q, st))
        return false;
    q->device->f.CmdFillBuffer(vulkan_commands(q), middle.block->handle, middle.offset, words,
                               UINT32_C(0x01010101) * byte);
    barrier(q);
    return true;
}

/* ---- launches ---- */

typedef struct pushed {
    uint64_t table;
    uint32_t base;
} pushed;

static void dispatch(vulkan_queue *q, VkPipeline pipeline, uint64_t table, int64_t workgroups) {
    enum { PUSHED_BYTES = 12 };
    vulkan_device *v = q->device;
    VkCommandBuffer commands = vulkan_commands(q);
    int64_t most = v->adapter->properties.limits.maxComputeWorkGroupCount[0];
    v->f.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    for (int64_t begins = 0; begins < workgroups; begins += most) {
        const pushed p = {table, (uint32_t)begins};
        int64_t part = workgroups - begins < most ? workgroups - begins : most;
        v->f.CmdPushConstants(commands, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSHED_BYTES,
                              &p);
        v->f.CmdDispatch(commands, (uint32_t)part, 1, 1);
    }
}

void vulkan_stamp(vulkan_queue *q, uint32_t number) {
    q->device->f.CmdWriteTimestamp(vulkan_commands(q), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                   q->stamps, number);
}

static bool read_stamps(vulkan_queue *q, const gpu_launch *l, status *st) {
    uint64_t stamps[VULKAN_STAMPS];
    vulkan_device *v = q->device;
    uint32_t count = 2 * l->image->phase_count, bits = v->adapter->timestamp_bits;
    double step = (double)v->adapter->properties.limits.timestampPeriod;
    VkResult result =
        v->f.GetQueryPoolResults(v->device, q->stamps, 0, count, sizeof stamps, stamps,
                                 sizeof *stamps, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS)
        return vulkan_failed(v, "vkGetQueryPoolResults", result, st);
    for (uint32_t i = 0; i < l->image->phase_count; i++) {
        uint64_t steps = stamps[2 * i + 1] - stamps[2 * i];
        if (bits < 64)
            steps &= ((uint64_t)1 << bits) - 1;
        l->phase_ns[i] = (uint64_t)((double)steps * step);
    }
    return true;
}

static bool check(const vulkan_queue *q, const gpu_launch *l, status *st) {
    for (uint32_t i = 0; i < l->image->phase_count; i++)
        if (l->workgroups[i] > UINT32_MAX)
            return status_set(st, STATUS_INVALID,
                              "phase %u has %lld workgroups; device '%s' numbers at most 2^32", i,
                              (long long)l->workgroups[i], q->device->adapter->name);
    return l->address_count * sizeof *l->addresses <= VULKAN_TABLE_BYTES ||
           status_set(st, STATUS_INVALID, "%u buffers are too many for device '%s'",
                      l->address_count, q->device->adapter->name);
}

bool vulkan_launch(gpu_queue *queue, const gpu_launch *l, status *st) {
    vulkan_queue *q = queue->handle;
    const vulkan_image *image = (const vulkan_image *)l->image;
    bool timed = l->phase_ns && q->stamps && l->image->phase_count;
    uint64_t table;
    if (!check(q, l, st) || !vulkan_begin(q, st) ||
        !vulkan_place_table(q, l->addresses, l->address_count, &table, st))
        return false;
    if (timed)
        q->device->f.CmdResetQueryPool(vulkan_commands(q), q->stamps, 0, 2 * l->image->phase_count);
    for (uint32_t i = 0; i < l->image->phase_count; i++) {
        if (timed)
            vulkan_stamp(q, 2 * i);
        if (l->workgroups[i] > 0)
            dispatch(q, image->pipelines[i], table, l->workgroups[i]);
        barrier(q);
        if (timed)
            vulkan_stamp(q, 2 * i + 1);
    }
    return !timed || (vulkan_finish(queue, st) && read_stamps(q, l, st));
}
