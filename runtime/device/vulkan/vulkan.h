/* vulkan.h - GPUs through Vulkan 1.2: the rooms of the driver.
 *
 * The loader (libvulkan.so.1, or what TESSERA_VULKAN_LIBRARY names) is opened when devices are
 * listed. Kernels get addresses, so a device needs bufferDeviceAddress and 64-bit integers, and its
 * queues a timeline semaphore; what a module needs more (its capabilities) is looked up when it is
 * loaded, and so are the limits, since not every driver checks them.
 *
 * Vulkan promises little of arithmetic. What strict numerics need is tried when a device is opened
 * (vulkan_probe.c, vulkan_traits.def): modules have code of their own for what is not right, chosen
 * by specialization constants.
 *
 * TESSERA_VULKAN_VALIDATION=1 turns Khronos' validation layer on; what it calls an error makes the
 * command, or the call, in which it is seen STATUS_INTERNAL. TESSERA_VULKAN_CACHE=FILE keeps
 * compiled pipelines from one process to the next. */
#ifndef TESSERA_RUNTIME_VULKAN_H
#define TESSERA_RUNTIME_VULKAN_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "device/shared/gpu_clock.h"
#include "device/vulkan_traits.h"

#define VULKAN_LIBRARY "TESSERA_VULKAN_LIBRARY"
#define VULKAN_VALIDATION "TESSERA_VULKAN_VALIDATION"
#define VULKAN_CACHE "TESSERA_VULKAN_CACHE"
#define VULKAN_TARGET "spirv/spirv-vulkan"
#define VULKAN_TARGET_F64 "spirv/spirv-vulkan+f64"

enum { VULKAN_DEVICES_MAX = 16, VULKAN_REASON_BYTES = 256 };

/* The functions of one device, or of the instance. */
typedef struct vulkan_functions {
#define INSTANCE(name) PFN_vk##name name;
#define DEVICE(name) PFN_vk##name name;
#include "device/vulkan/vulkan_functions.def"
} vulkan_functions;

/* Features that modules may declare, and a device may have. */
typedef struct vulkan_features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
} vulkan_features;

/* A device of the instance; lives as long as the process. */
typedef struct vulkan_adapter {
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkPhysicalDeviceVulkan11Properties limits11;
    vulkan_features features;
    uint32_t family; /* of queues that compute */
    uint32_t timestamp_bits;
    bool tells_time; /* the host can read the clock of its timestamps */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE + 64], unavailable[VULKAN_REASON_BYTES];
} vulkan_adapter;

typedef struct vulkan_device {
    gpu_device gpu;
    const vulkan_adapter *adapter;
    vulkan_functions f;
    VkDevice device;
    VkQueue queue;
    pthread_mutex_t queue_mutex; /* a VkQueue is used by one thread at a time */
    VkSemaphore done;            /* counts submissions that have ended, */
    uint64_t submitted;          /* ... so many were made; under queue_mutex */
    gpu_clock clock;             /* tells timestamps */
    VkPipelineLayout layout;
    VkPipelineCache cache;
    atomic_uint allocations;
    bool judged; /* `traits` say what it does right */
    VkBool32 traits[VULKAN_TRAIT_COUNT];
} vulkan_device;

/* ---- vulkan_instance.c ---- */
/* One of the adapters of this machine; NULL past the last. */
const vulkan_adapter *vulkan_adapter_at(uint32_t index);
void vulkan_absent(status *why); /* why there are none */
/* Opens a device of it, with every feature that modules may want and it has. */
bool vulkan_open_device(vulkan_device *v, status *st);
/* STATUS_INTERNAL where the validation layer has found an error that was not told yet. */
bool vulkan_valid(status *st);
/* The failure of a call; a lost device is noted. Returns false. */
bool vulkan_failed(vulkan_device *v, const char *call, VkResult result, status *st);

/* ---- vulkan_memory.c ---- */
bool vulkan_alloc(gpu_device *g, size_t size_bytes, device_memory_kind kind, gpu_block *block_out,
                  status *st);
void vulkan_free(gpu_device *g, gpu_block *block);
/* Kinds that the adapter's memory has; those that are mapped are HOST_VISIBLE and PINNED. */
uint32_t vulkan_memory_kinds(const vulkan_adapter *a);

/* ---- vulkan_queue.c ---- */
bool vulkan_queue_open(gpu_device *g, gpu_queue *q, status *st);
void vulkan_queue_close(gpu_device *g, gpu_queue *q);
bool vulkan_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st);
bool vulkan_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st);
bool vulkan_launch(gpu_queue *q, const gpu_launch *l, status *st);
bool vulkan_finish(gpu_queue *q, status *st);
bool vulkan_settled(gpu_queue *q);

/* ---- vulkan_mark.c ---- */
bool vulkan_read_clock(gpu_device *g, uint64_t *ticks_out);
void *vulkan_mark(gpu_queue *q);
void *vulkan_mark_untimed(gpu_queue *q);
bool vulkan_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out);
bool vulkan_follow(gpu_queue *q, void *mark, status *st);
void vulkan_unmark(gpu_device *g, void *mark);

/* ---- vulkan_record.c ---- */
bool vulkan_record_begin(gpu_queue *q, status *st);
bool vulkan_record_end(gpu_queue *q, bool keep, void **recording_out, status *st);
bool vulkan_replay(gpu_queue *q, void *recording, status *st);
void vulkan_forget(gpu_device *g, void *recording);

/* ---- vulkan_image.c ---- */
typedef struct vulkan_image {
    device_image base;
    vulkan_device *device;
    VkPipeline pipelines[]; /* of each phase */
} vulkan_image;
bool vulkan_load(device *d, const device_source *source, device_image **image_out, status *st);
void vulkan_unload(device *d, device_image *image);

/* ---- vulkan_probe.c ---- */
/* Tries the device's arithmetic and fills `traits`. STATUS_UNAVAILABLE where it cannot be used. */
bool vulkan_probe(vulkan_device *v, status *st);

#endif
