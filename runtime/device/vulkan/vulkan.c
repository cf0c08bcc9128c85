/* vulkan.c - see vulkan.h. */
#include "device/vulkan/vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"

enum { CACHE_MOST = 256 << 20 };

extern const device_driver vulkan_driver;

/* ---- what there is ---- */

static bool has_f64(const vulkan_adapter *a) {
    return a->features.core.features.shaderFloat64;
}

static uint64_t memory_bytes(const vulkan_adapter *a) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < a->memory.memoryHeapCount; i++)
        if ((a->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            a->memory.memoryHeaps[i].size > most)
            most = a->memory.memoryHeaps[i].size;
    return most;
}

/* Vulkan does not say how many compute units there are; 1 stands for it. */
static bool enumerate(uint32_t index, device_info *info_out) {
    const vulkan_adapter *a = vulkan_adapter_at(index);
    if (!a)
        return false;
    uint32_t kinds = vulkan_memory_kinds(a);
    double step = (double)a->properties.limits.timestampPeriod;
    *info_out = (device_info){
        .backend = "vulkan",
        .name = a->name,
        .isa = has_f64(a) ? "spirv-vulkan+f64" : "spirv-vulkan",
        .unavailable = *a->unavailable ? a->unavailable : NULL,
        .compute_units = 1,
        .units_unknown = true,
        .memory_bytes = memory_bytes(a),
        .memory_kinds = kinds,
        .mappable_kinds = kinds & (1u << DEVICE_MEMORY_HOST_VISIBLE | 1u << DEVICE_MEMORY_PINNED),
        .workgroup_memory_bytes = a->properties.limits.maxComputeSharedMemorySize,
        .timestamp_ns = step < 1 ? 1 : (uint64_t)step,
        .subgroup = a->limits11.subgroupSize,
        .workgroup_threads = a->properties.limits.maxComputeWorkGroupInvocations,
        .targets = {has_f64(a) ? VULKAN_TARGET_F64 : VULKAN_TARGET,
                    has_f64(a) ? VULKAN_TARGET : NULL}};
    return true;
}

/* ---- opening ---- */

/* Names a trait that the device lacks, of those that it or a kind of module needs. */
static const char *missing_for(const vulkan_device *v, trait_way way, bool of_f32) {
    static const struct {
        trait_way way;
        bool f32;
        const char *what;
    } rows[] = {
#define TRAIT(id, way_, what) [VULKAN_##id] = {TRAIT_##way_, VULKAN_##id < VULKAN_FMA_F64, what},
#include "device/vulkan_traits.def"
    };
    for (int i = 0; i < VULKAN_TRAIT_COUNT; i++)
        if (rows[i].way == way && !v->traits[i] && (!of_f32 || rows[i].f32))
            return rows[i].what;
    return NULL;
}

/* The images that it loads, by what it does right. */
static bool choose_targets(vulkan_device *v, status *st) {
    const char *lacks = missing_for(v, TRAIT_DEVICE, false),
               *soft = missing_for(v, TRAIT_SOFT, true);
    device_info *info = &v->gpu.soft.base.info;
    bool f64 = has_f64(v->adapter) && !missing_for(v, TRAIT_WIDE, false);
    uint32_t count = 0;
    memset(info->targets, 0, sizeof info->targets);
    if (f64)
        info->targets[count++] = VULKAN_TARGET_F64;
    if (!soft)
        info->targets[count++] = VULKAN_TARGET;
    if (!lacks && count)
        return true;
    return status_set(st, STATUS_UNAVAILABLE,
                      "device '%s' does not do %s as IEEE 754 says%s: strict results are not to be "
                      "had of it",
                      v->adapter->name, lacks ? lacks : soft,
                      lacks ? "" : ", and has no f64 to do it with");
}

static bool create_layout(vulkan_device *v, status *st) {
    enum { PUSHED_BYTES = 12 };
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSHED_BYTES};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
    VkResult result = v->f.CreatePipelineLayout(v->device, &info, NULL, &v->layout);
    return result == VK_SUCCESS || vulkan_failed(v, "vkCreatePipelineLayout", result, st);
}

static bool create_counter(vulkan_device *v, status *st) {
    const VkSemaphoreTypeCreateInfo counts = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                              .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &counts};
    VkResult result = v->f.CreateSemaphore(v->device, &info, NULL, &v->done);
    return result == VK_SUCCESS || vulkan_failed(v, "vkCreateSemaphore", result, st);
}

static void init_clock(vulkan_device *v) {
    const vulkan_adapter *a = v->adapter;
    const uint32_t bits = a->timestamp_bits;
    v->clock.tick_ns = (double)a->properties.limits.timestampPeriod;
    v->clock.mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    v->clock.read = a->tells_time ? vulkan_read_clock : NULL;
    gpu_clock_init(&v->clock);
}

/* Begins with the cache that another process left, if any; drivers take no cache of another's. */
static bool create_cache(vulkan_device *v, status *st) {
    const char *path = getenv(VULKAN_CACHE);
    char *left = NULL;
    size_t bytes = 0;
    if (path && *path && !file_read(path, CACHE_MOST, &left, &bytes, NULL))
        left = NULL;
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = left ? bytes : 0,
                                            .pInitialData = left};
    VkResult result = v->f.CreatePipelineCache(v->device, &info, NULL, &v->cache);
    free(left);
    return result == VK_SUCCESS || vulkan_failed(v, "vkCreatePipelineCache", result, st);
}

static void save_cache(vulkan_device *v) {
    const char *path = getenv(VULKAN_CACHE);
    size_t bytes = 0;
    if (!path || !*path ||
        v->f.GetPipelineCacheData(v->device, v->cache, &bytes, NULL) != VK_SUCCESS || bytes == 0)
        return;
    void *data = base_malloc(bytes);
    if (v->f.GetPipelineCacheData(v->device, v->cache, &bytes, data) == VK_SUCCESS)
        (void)file_write_atomic(path, data, bytes, NULL); /* without it the next is slower */
    free(data);
}

static void close_device(vulkan_device *v) {
    if (v->gpu.has_own)
        gpu_device_release(&v->gpu);
    if (v->cache)
        save_cache(v);
    if (v->device) {
        v->f.DestroyPipelineCache(v->device, v->cache, NULL);
        v->f.DestroyPipelineLayout(v->device, v->layout, NULL);
        v->f.DestroySemaphore(v->device, v->done, NULL);
        v->f.DestroyDevice(v->device, NULL);
    }
    gpu_clock_release(&v->clock);
    pthread_mutex_destroy(&v->queue_mutex);
    free(v);
}

static bool open_vulkan(uint32_t index, const device_options *options, device **device_out,
                        status *st) {
    static const gpu_functions functions = {.alloc = vulkan_alloc,
                                            .free = vulkan_free,
                                            .queue_open = vulkan_queue_open,
                                            .queue_close = vulkan_queue_close,
                                            .copy = vulkan_copy,
                                            .fill = vulkan_fill,
                                            .launch = vulkan_launch,
                                            .finish = vulkan_finish,
                                            .settled = vulkan_settled,
                                            .mark = vulkan_mark,
                                            .mark_untimed = vulkan_mark_untimed,
                                            .reached = vulkan_reached,
                                            .follow = vulkan_follow,
                                            .unmark = vulkan_unmark,
                                            .record_begin = vulkan_record_begin,
                                            .record_end = vulkan_record_end,
                                            .replay = vulkan_replay,
                                            .forget = vulkan_forget};
    vulkan_device *v = base_calloc(1, sizeof *v);
    enumerate(index, &v->gpu.soft.base.info);
    v->adapter = vulkan_adapter_at(index);
    v->gpu.soft.base.own_addresses = /* its memory is the host's */
        v->adapter->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    pthread_mutex_init(&v->queue_mutex, NULL);
    init_clock(v);
    if (vulkan_open_device(v, st) && create_counter(v, st) && create_layout(v, st) &&
        create_cache(v, st) && gpu_device_init(&v->gpu, &vulkan_driver, &functions, options, st) &&
        vulkan_probe(v, st) && choose_targets(v, st)) {
        *device_out = &v->gpu.soft.base;
        return true;
    }
    close_device(v);
    return false;
}

static void close_vulkan(device *d) {
    close_device((vulkan_device *)d);
}

/* ---- what trying it tells ---- */

static device_way way_of(const vulkan_device *v, vulkan_trait trait, trait_way way) {
    bool wide = has_f64(v->adapter) && !missing_for(v, TRAIT_WIDE, false);
    return v->traits[trait]            ? DEVICE_WAY_NATIVE
           : way == TRAIT_SOFT && wide ? DEVICE_WAY_EMULATED
                                       : DEVICE_WAY_NONE;
}

static void note_arithmetic(const vulkan_device *v, device_info *info) {
    static const trait_way ways[] = {
#define TRAIT(id, way, what) [VULKAN_##id] = TRAIT_##way,
#include "device/vulkan_traits.def"
    };
#define WAY(id) way_of(v, VULKAN_##id, ways[VULKAN_##id])
    info->f32 = (device_arithmetic){WAY(FMA_F32), WAY(DIVIDE_F32), WAY(ROOT_F32)};
    if (has_f64(v->adapter) && !missing_for(v, TRAIT_WIDE, false))
        info->f64 = (device_arithmetic){WAY(FMA_F64), WAY(DIVIDE_F64), WAY(ROOT_F64)};
    else
        info->f64 = (device_arithmetic)DEVICE_ARITHMETIC_NONE;
#undef WAY
}

/* Once for each adapter: it takes a device of its own. */
static bool examine(uint32_t index, device_info *info, status *st) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const vulkan_adapter *adapter;
        device_arithmetic f32, f64;
    } known[VULKAN_DEVICES_MAX];
    const device_options options = {.threads = 1};
    device *d = NULL;
    bool ok = index < VULKAN_DEVICES_MAX;
    pthread_mutex_lock(&mutex);
    if (ok && known[index].adapter != vulkan_adapter_at(index)) {
        ok = open_vulkan(index, &options, &d, st);
        if (ok) {
            note_arithmetic((vulkan_device *)d, info);
            known[index].adapter = vulkan_adapter_at(index);
            known[index].f32 = info->f32, known[index].f64 = info->f64;
            close_vulkan(d);
        }
    }
    if (ok)
        info->f32 = known[index].f32, info->f64 = known[index].f64;
    pthread_mutex_unlock(&mutex);
    return ok;
}

const device_driver vulkan_driver = {.name = "vulkan",
                                     .listed = true,
                                     .enumerate = enumerate,
                                     .examine = examine,
                                     .absent = vulkan_absent,
                                     .open = open_vulkan,
                                     .close = close_vulkan,
                                     .load = vulkan_load,
                                     .unload = vulkan_unload,
                                     GPU_SEQUENCE_FUNCTIONS,
                                     GPU_DRIVER_FUNCTIONS};
