/* vulkan_mark.c - marks: the number of a submission, which a semaphore counts to, and a timestamp
 * at its end, for which there is a submission of its own; of an untimed mark there is none.
 *
 * The queues of a device are one VkQueue, and each command ends in a barrier: what is submitted
 * later begins when what was submitted earlier has ended, whichever queue it is of. So a queue that
 * follows a mark has nothing to do, since what is before the mark was submitted with it. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/vulkan/vulkan_queue.h"

typedef struct vulkan_moment {
    vulkan_queue *queue;
    uint64_t number, given_ns;
    bool untimed;
    uint32_t bit; /* its number in vulkan_queue.marked */
} vulkan_moment;

static uint32_t query_of(uint32_t bit) {
    return VULKAN_STAMPS + bit;
}

bool vulkan_read_clock(gpu_device *g, uint64_t *ticks_out) {
    vulkan_device *v = (vulkan_device *)g;
    const VkCalibratedTimestampInfoEXT of_device = {
        .sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
        .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT};
    uint64_t deviation;
    return v->f.GetCalibratedTimestampsEXT(v->device, 1, &of_device, ticks_out, &deviation) ==
           VK_SUCCESS;
}

/* A failure of what it submits is told by vulkan_finish. */
static bool submit(vulkan_queue *q, vulkan_moment *m) {
    if (q->failure.code != STATUS_OK || !vulkan_begin(q, &q->failure))
        return false;
    q->device->f.CmdResetQueryPool(vulkan_commands(q), q->stamps, query_of(m->bit), 1);
    vulkan_stamp(q, query_of(m->bit));
    return vulkan_flush(q, &q->failure);
}

void *vulkan_mark(gpu_queue *queue) {
    vulkan_queue *q = queue->handle;
    gpu_clock *clock = &q->device->clock;
    if (!gpu_may_wait(&q->device->gpu, NULL) || q->marked == UINT64_MAX)
        return NULL;
    vulkan_moment *m = base_calloc(1, sizeof *m);
    m->queue = q;
    m->bit = (uint32_t)__builtin_ctzll(~q->marked);
    if (!gpu_clock_keep(clock, &q->device->gpu, &m->given_ns)) {
        free(m);
        return NULL;
    }
    q->marked |= UINT64_C(1) << m->bit;
    if (submit(q, m)) {
        m->number = q->last;
        return m;
    }
    vulkan_unmark(&q->device->gpu, m);
    return NULL;
}

void *vulkan_mark_untimed(gpu_queue *queue) {
    vulkan_queue *q = queue->handle;
    if (!gpu_may_wait(&q->device->gpu, NULL) || q->failure.code != STATUS_OK ||
        !vulkan_flush(q, &q->failure))
        return NULL;
    if (!q->last) /* nothing was submitted: what it was given are marks that it follows */
        return vulkan_mark(queue);
    vulkan_moment *m = base_calloc(1, sizeof *m);
    *m = (vulkan_moment){.queue = q, .number = q->last, .untimed = true};
    return m;
}

/* The caller has the queue's turn. */
void vulkan_unmark(gpu_device *g, void *mark) {
    vulkan_moment *m = mark;
    if (!m->untimed) {
        m->queue->marked &= ~(UINT64_C(1) << m->bit);
        gpu_clock_drop(&((vulkan_device *)g)->clock);
    }
    free(m);
}

static bool has_come(vulkan_device *v, const vulkan_moment *m, bool wait) {
    static const uint64_t limit_ns = 1000000; /* before the device's loss is looked at */
    VkResult result;
    while ((result = vulkan_wait(v, m->number, wait ? limit_ns : 0)) == VK_TIMEOUT)
        if (!wait || !gpu_may_wait(&v->gpu, NULL))
            return false;
    return result == VK_SUCCESS || vulkan_failed(v, "vkWaitSemaphores", result, NULL);
}

bool vulkan_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out) {
    vulkan_device *v = (vulkan_device *)g;
    const vulkan_moment *m = mark;
    uint64_t ticks = 0;
    if (!has_come(v, m, wait))
        return false;
    if (m->untimed) {
        *ns_out = clock_now_ns();
        return true;
    }
    VkResult result =
        v->f.GetQueryPoolResults(v->device, m->queue->stamps, query_of(m->bit), 1, sizeof ticks,
                                 &ticks, sizeof ticks, VK_QUERY_RESULT_64_BIT);
    if (result != VK_SUCCESS)
        return vulkan_failed(v, "vkGetQueryPoolResults", result, NULL);
    *ns_out = gpu_clock_tell(&v->clock, ticks, m->given_ns);
    return true;
}

bool vulkan_follow(gpu_queue *queue, void *mark, status *st) {
    (void)mark;
    return gpu_may_wait((gpu_device *)queue->base.device, st);
}
