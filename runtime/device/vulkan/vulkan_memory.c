/* vulkan_memory.c - memory of a device: one buffer for each allocation, with an address. */
#include "device/vulkan/vulkan.h"

enum { NONE = -1 };

/* Flags that a kind must have, and the one that is better. */
static const struct {
    VkMemoryPropertyFlags needs, likes;
} kinds[DEVICE_MEMORY_KIND_COUNT] = {
    [DEVICE_MEMORY_DEVICE] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
    [DEVICE_MEMORY_HOST_VISIBLE] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
    [DEVICE_MEMORY_PINNED] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                  VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                              VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
};

static int type_for(const vulkan_adapter *a, device_memory_kind kind, uint32_t allowed) {
    int found = NONE;
    for (uint32_t i = 0; i < a->memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = a->memory.memoryTypes[i].propertyFlags;
        bool fits = (allowed >> i & 1) && (flags & kinds[kind].needs) == kinds[kind].needs;
        if (fits && (flags & kinds[kind].likes) == kinds[kind].likes)
            return (int)i;
        if (fits && found == NONE)
            found = (int)i;
    }
    return found;
}

uint32_t vulkan_memory_kinds(const vulkan_adapter *a) {
    uint32_t found = 0;
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++)
        if (type_for(a, (device_memory_kind)kind, UINT32_MAX) != NONE)
            found |= 1u << kind;
    return found & 1u << DEVICE_MEMORY_PINNED ? found : 0;
}

static bool has_room(vulkan_device *v, size_t size_bytes, status *st) {
    const VkPhysicalDeviceLimits *limits = &v->adapter->properties.limits;
    if (size_bytes > v->adapter->limits11.maxMemoryAllocationSize)
        return status_set(st, STATUS_OUT_OF_MEMORY,
                          "%zu bytes are more than one allocation of device '%s' can have: %llu",
                          size_bytes, v->adapter->name,
                          (unsigned long long)v->adapter->limits11.maxMemoryAllocationSize);
    if (atomic_load(&v->allocations) >= limits->maxMemoryAllocationCount)
        return status_set(st, STATUS_OUT_OF_MEMORY, "device '%s' has no more than %u allocations",
                          v->adapter->name, limits->maxMemoryAllocationCount);
    return true;
}

static bool create_buffer(vulkan_device *v, size_t size_bytes, VkBuffer *buffer_out, status *st) {
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size_bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    VkResult result = v->f.CreateBuffer(v->device, &info, NULL, buffer_out);
    return result == VK_SUCCESS || vulkan_failed(v, "vkCreateBuffer", result, st);
}

static bool take_memory(vulkan_device *v, VkBuffer buffer, device_memory_kind kind,
                        VkDeviceMemory *memory_out, VkMemoryPropertyFlags *flags_out, status *st) {
    VkMemoryRequirements needs;
    v->f.GetBufferMemoryRequirements(v->device, buffer, &needs);
    int type = type_for(v->adapter, kind, needs.memoryTypeBits);
    if (type == NONE)
        return status_set(st, STATUS_OUT_OF_MEMORY, "device '%s' has no memory of this kind",
                          v->adapter->name);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = (uint32_t)type};
    VkResult result = v->f.AllocateMemory(v->device, &info, NULL, memory_out);
    if (result != VK_SUCCESS)
        return vulkan_failed(v, "vkAllocateMemory", result, st);
    atomic_fetch_add(&v->allocations, 1);
    *flags_out = v->adapter->memory.memoryTypes[type].propertyFlags;
    result = v->f.BindBufferMemory(v->device, buffer, *memory_out, 0);
    return result == VK_SUCCESS || vulkan_failed(v, "vkBindBufferMemory", result, st);
}

static void release(vulkan_device *v, VkBuffer buffer, VkDeviceMemory memory) {
    v->f.DestroyBuffer(v->device, buffer, NULL);
    if (memory)
        atomic_fetch_sub(&v->allocations, 1);
    v->f.FreeMemory(v->device, memory, NULL); /* unmaps it, too */
}

/* Memory that the host can read and write as fast as its own is mapped, whatever its kind: copies
 * need no detour then. */
static bool map(vulkan_device *v, VkDeviceMemory memory, device_memory_kind kind,
                VkMemoryPropertyFlags flags, void **host_out, status *st) {
    const VkMemoryPropertyFlags fast = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                       VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    *host_out = NULL;
    if (kind == DEVICE_MEMORY_DEVICE && (flags & fast) != fast)
        return true;
    VkResult result = v->f.MapMemory(v->device, memory, 0, VK_WHOLE_SIZE, 0, host_out);
    return result == VK_SUCCESS || vulkan_failed(v, "vkMapMemory", result, st);
}

bool vulkan_alloc(gpu_device *g, size_t size_bytes, device_memory_kind kind, gpu_block *block_out,
                  status *st) {
    vulkan_device *v = (vulkan_device *)g;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkMemoryPropertyFlags flags = 0;
    void *host;
    if (!has_room(v, size_bytes, st) || !create_buffer(v, size_bytes, &buffer, st))
        return false;
    if (!take_memory(v, buffer, kind, &memory, &flags, st) ||
        !map(v, memory, kind, flags, &host, st) || !vulkan_valid(st)) {
        release(v, buffer, memory);
        return false;
    }
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                            .buffer = buffer};
    *block_out = (gpu_block){.address = v->f.GetBufferDeviceAddress(v->device, &info),
                             .host = host,
                             .size_bytes = size_bytes,
                             .handle = buffer,
                             .number = (uint64_t)(uintptr_t)memory};
    return true;
}

void vulkan_free(gpu_device *g, gpu_block *block) {
    release((vulkan_device *)g, block->handle, (VkDeviceMemory)(uintptr_t)block->number);
    *block = (gpu_block){0};
}
