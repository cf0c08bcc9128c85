/* vulkan_record.c - launches that are recorded once and submitted as often as one likes. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/vulkan/vulkan_queue.h"

enum { TABLES_BYTES = 4 * VULKAN_TABLE_BYTES };

/* ---- tables ---- */

static bool add_tables(vulkan_queue *q, vulkan_recording *r, status *st) {
    gpu_piece tables;
    if (!gpu_pool_take(&q->device->gpu.pool, TABLES_BYTES, DEVICE_MEMORY_PINNED, &tables, st))
        return false;
    vec_push(&r->tables, tables);
    r->used_bytes = 0;
    return true;
}

bool vulkan_place_bytes(vulkan_queue *q, const void *bytes, size_t count, gpu_place *place_out,
                        status *st) {
    vulkan_recording *r = q->recording;
    if ((r->tables.count == 0 || count > TABLES_BYTES - r->used_bytes) && !add_tables(q, r, st))
        return false;
    const gpu_piece *tables = &r->tables.items[r->tables.count - 1];
    *place_out = (gpu_place){.block = tables->block, .offset = tables->offset + r->used_bytes};
    memcpy(tables->block->host + place_out->offset, bytes, count);
    r->used_bytes += gpu_round_up(count);
    return true;
}

static bool place_recorded(vulkan_queue *q, const uint64_t *addresses, size_t count,
                           uint64_t *table_out, status *st) {
    gpu_place place;
    if (!vulkan_place_bytes(q, addresses, count * sizeof *addresses, &place, st))
        return false;
    *table_out = place.block->address + place.offset;
    return true;
}

bool vulkan_place_table(vulkan_queue *q, const uint64_t *addresses, size_t count,
                        uint64_t *table_out, status *st) {
    if (q->recording)
        return place_recorded(q, addresses, count, table_out, st);
    size_t bytes = count * sizeof *addresses;
    bool is_full = bytes > VULKAN_TABLE_BYTES - q->slots[q->next].used_bytes;
    if (is_full && (!vulkan_flush(q, st) || !vulkan_begin(q, st)))
        return false;
    vulkan_slot *slot = &q->slots[q->next];
    size_t at = q->next * (size_t)VULKAN_TABLE_BYTES + slot->used_bytes;
    memcpy(q->tables.host + at, addresses, bytes);
    *table_out = q->tables.address + at;
    slot->used_bytes += gpu_round_up(bytes);
    return true;
}

/* ---- recordings ---- */

void vulkan_forget(gpu_device *g, void *recording) {
    vulkan_device *v = (vulkan_device *)g;
    vulkan_recording *r = recording;
    if (r->number) /* a queue that follows another one's mark does not wait for it when it ends */
        (void)vulkan_wait(v, r->number, UINT64_MAX);
    v->f.DestroyCommandPool(v->device, r->pool, NULL);
    for (size_t i = 0; i < r->tables.count; i++)
        gpu_pool_give(&g->pool, &r->tables.items[i]);
    vec_release(&r->tables);
    free(r);
}

bool vulkan_record_begin(gpu_queue *queue, status *st) {
    vulkan_queue *q = queue->handle;
    vulkan_device *v = q->device;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    vulkan_recording *r = base_calloc(1, sizeof *r);
    VkResult result = vulkan_create_commands(v, 0, &r->pool, &r->commands);
    if (result == VK_SUCCESS)
        result = v->f.BeginCommandBuffer(r->commands, &info);
    if (result != VK_SUCCESS) {
        vulkan_forget(&v->gpu, r);
        return vulkan_failed(v, "vkBeginCommandBuffer", result, st);
    }
    q->recording = r;
    return true;
}

bool vulkan_record_end(gpu_queue *queue, bool keep, void **recording_out, status *st) {
    vulkan_queue *q = queue->handle;
    vulkan_device *v = q->device;
    vulkan_recording *r = q->recording;
    q->recording = NULL;
    VkResult result = v->f.EndCommandBuffer(r->commands);
    bool ok = result == VK_SUCCESS ? vulkan_valid(st)
                                   : vulkan_failed(v, "vkEndCommandBuffer", result, st);
    *recording_out = ok && keep ? r : NULL;
    if (!*recording_out)
        vulkan_forget(&v->gpu, r);
    return ok;
}

bool vulkan_replay(gpu_queue *queue, void *recording, status *st) {
    vulkan_queue *q = queue->handle;
    vulkan_recording *r = recording;
    return vulkan_flush(q, st) && vulkan_submit(q, r->commands, &r->number, st);
}
