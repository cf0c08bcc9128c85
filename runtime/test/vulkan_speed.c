/* vulkan_speed.c - what launches and a copy cost through the driver for Vulkan, beside the same by
 * Vulkan's own calls: medians of pairs, taken in turn in one process. No test, since a test asserts
 * no time.
 *
 * Launches of ours check, record, submit and wait, each by itself; a replay compares what it is
 * asked for with what was recorded, submits and waits. The raw ones are a command buffer that was
 * recorded once: submitted and waited for. A copy of the raw API is what a program does with memory
 * that is mapped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "device/vulkan/vulkan.h"

enum { LAUNCHES_MOST = 16, ROUNDS = 2001, COPY_ROUNDS = 21, COPY_BYTES = 64 << 20, BYTES = 64 };

typedef struct raw {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    PFN_vkWaitForFences wait; /* the driver has no fences */
    PFN_vkResetFences reset;
} raw;

static void fail(const char *what, const status *st) {
    fprintf(stderr, "%s: %s\n", what, st ? st->message : "failed");
    exit(1);
}

static void make_fence(vulkan_device *v, raw *r) {
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    PFN_vkCreateFence create =
        (PFN_vkCreateFence)v->f.GetDeviceProcAddr(v->device, "vkCreateFence");
    r->wait = (PFN_vkWaitForFences)v->f.GetDeviceProcAddr(v->device, "vkWaitForFences");
    r->reset = (PFN_vkResetFences)v->f.GetDeviceProcAddr(v->device, "vkResetFences");
    create(v->device, &fence, NULL, &r->fence);
}

static void record(vulkan_device *v, const vulkan_image *image, const gpu_block *table,
                   int launches, raw *r) {
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = v->adapter->family};
    v->f.CreateCommandPool(v->device, &pool, NULL, &r->pool);
    make_fence(v, r);
    const VkCommandBufferAllocateInfo buffer = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = r->pool,
                                                .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkMemoryBarrier written = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask =
                                         VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    const struct {
        uint64_t table;
        uint32_t base;
    } pushed = {table->address, 0};
    v->f.AllocateCommandBuffers(v->device, &buffer, &r->commands);
    v->f.BeginCommandBuffer(r->commands, &begin);
    v->f.CmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, image->pipelines[0]);
    v->f.CmdPushConstants(r->commands, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, &pushed);
    for (int i = 0; i < launches; i++) {
        if (i > 0)
            v->f.CmdPipelineBarrier(r->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &written, 0, NULL,
                                    0, NULL);
        v->f.CmdDispatch(r->commands, 1, 1, 1);
    }
    v->f.EndCommandBuffer(r->commands);
}

static void run_raw(vulkan_device *v, const raw *r) {
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &r->commands};
    v->f.QueueSubmit(v->queue, 1, &info, r->fence);
    r->wait(v->device, 1, &r->fence, VK_TRUE, UINT64_MAX);
    r->reset(v->device, 1, &r->fence);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

static device_image *load(device *d) {
    static const char *const symbols[] = {"phase_add_prepared"};
    status st = STATUS_INIT;
    char *bytes;
    size_t size;
    device_image *image;
    if (!file_read(KERNELS, 1 << 20, &bytes, &size, &st))
        fail(KERNELS, &st);
    const device_source source = {bytes, size, d->info.targets[0], "speed", symbols, 1, 1, NULL,
                                  NULL,  NULL};
    if (!d->driver->load(d, &source, &image, &st))
        fail("loading", &st);
    free(bytes);
    return image;
}

/* `ours` are commands that end on return; taken in turn with a raw submission. */
static void compare(vulkan_device *v, device_queue *queue, const char *what,
                    const device_command *ours, size_t count, const raw *r) {
    static double mine[ROUNDS], theirs[ROUNDS], ratios[ROUNDS];
    status st = STATUS_INIT;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t t0 = clock_now_ns();
        if (!v->gpu.soft.base.driver->submit(queue, ours, count, &st))
            fail(what, &st);
        uint64_t t1 = clock_now_ns();
        run_raw(v, r);
        uint64_t t2 = clock_now_ns();
        mine[i] = (double)(t1 - t0);
        theirs[i] = (double)(t2 - t1);
        ratios[i] = mine[i] / theirs[i];
    }
    printf("%s: ours %.2f us, raw %.2f us, ratio %.3f\n", what, median(mine, ROUNDS) / 1e3,
           median(theirs, ROUNDS) / 1e3, median(ratios, ROUNDS));
}

static void time_launches(device *d, device_queue *queue, int launches) {
    vulkan_device *v = (vulkan_device *)d;
    device_image *image = load(d);
    device_memory *out, *prepared;
    gpu_block table;
    raw r;
    char what[64];
    status st = STATUS_INIT;
    if (!d->driver->alloc(d, BYTES, DEVICE_MEMORY_DEVICE, &out, &st) ||
        !d->driver->alloc(d, BYTES, DEVICE_MEMORY_DEVICE, &prepared, &st) ||
        !vulkan_alloc(&v->gpu, 4096, DEVICE_MEMORY_PINNED, &table, &st))
        fail("memory", &st);
    void *buffers[] = {out->address, out->address};
    const device_memory *memories[] = {out, out};
    const int64_t one = 1, bytes[] = {BYTES, BYTES};
    const uint64_t addresses[] = {(uint64_t)(uintptr_t)out->address,
                                  (uint64_t)(uintptr_t)out->address, 0,
                                  (uint64_t)(uintptr_t)prepared->address};
    device_command c[1 + LAUNCHES_MOST] = {
        {.kind = DEVICE_REPLAY, .replay = {d->driver->sequence_create(d), (size_t)launches}}};
    memcpy(table.host, addresses, sizeof addresses);
    record(v, (const vulkan_image *)image, &table, launches, &r);
    for (int i = 1; i <= launches; i++) {
        c[i].kind = DEVICE_DISPATCH;
        c[i].dispatch = (device_dispatch){.image = image,
                                          .label = "speed",
                                          .buffers = buffers,
                                          .memories = memories,
                                          .buffer_bytes = bytes,
                                          .workgroups = &one,
                                          .buffer_count = 2,
                                          .prepared_bytes = BYTES,
                                          .prepared = {prepared->address, prepared}};
    }
    snprintf(what, sizeof what, "%d launches, one by one", launches);
    compare(v, queue, what, c + 1, (size_t)launches, &r);
    snprintf(what, sizeof what, "%d launches, replayed", launches);
    compare(v, queue, what, c, 1 + (size_t)launches, &r);
}

static void time_copies(device *d, device_queue *queue, bool to_device) {
    double ours[COPY_ROUNDS], ratios[COPY_ROUNDS];
    status st = STATUS_INIT;
    device_memory *m, *pinned;
    void *mapped, *host = malloc(COPY_BYTES);
    if (!host || !d->driver->alloc(d, COPY_BYTES, DEVICE_MEMORY_DEVICE, &m, &st) ||
        !d->driver->alloc(d, COPY_BYTES, DEVICE_MEMORY_PINNED, &pinned, &st) ||
        !d->driver->map(d, pinned, &mapped, &st))
        fail("memory", &st);
    memset(host, 1, COPY_BYTES);
    memset(mapped, 1, COPY_BYTES);
    device_span device_side = {m->address, m}, host_side = {host, NULL};
    device_command c = {.kind = DEVICE_COPY,
                        .range = {to_device ? device_side : host_side,
                                  to_device ? host_side : device_side, COPY_BYTES}};
    for (int i = -2; i < COPY_ROUNDS; i++) {
        uint64_t t0 = clock_now_ns();
        if (!d->driver->submit(queue, &c, 1, &st))
            fail("copy", &st);
        uint64_t t1 = clock_now_ns();
        memcpy(to_device ? mapped : host, to_device ? host : mapped, COPY_BYTES);
        uint64_t t2 = clock_now_ns();
        if (i < 0)
            continue;
        ours[i] = (double)(t1 - t0);
        ratios[i] = (double)(t2 - t1) / ours[i];
    }
    printf("copy %s: %.1f GB/s, %.3f of a program's own into mapped memory\n",
           to_device ? "to the device" : "from the device", COPY_BYTES / median(ours, COPY_ROUNDS),
           median(ratios, COPY_ROUNDS));
    d->driver->free(d, m);
    d->driver->free(d, pinned);
    free(host);
}

int main(void) {
    const device_options options = {.threads = 1};
    const device_driver *driver = device_driver_find("vulkan");
    status st = STATUS_INIT;
    device *d;
    device_queue *queue;
    setenv(SOFTWARE_DEVICES, "1", 1);
    if (!device_open(driver, 0, &options, &d, &st) || !driver->queue_create(d, true, &queue, &st))
        fail("vulkan", &st);
    printf("%s\n", d->info.name);
    time_launches(d, queue, 1);
    time_launches(d, queue, LAUNCHES_MOST);
    time_copies(d, queue, true);
    time_copies(d, queue, false);
    return 0;
}
