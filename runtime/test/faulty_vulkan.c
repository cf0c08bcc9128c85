/* faulty_vulkan.c - a Vulkan loader whose devices fail on demand: it hands everything on to the
 * real one, but what test_vulkan.c wants to see fail. FAULTY_VULKAN=FAULT=NUMBER,... in the
 * environment, read at each call:
 *
 * lost=N         the Nth submission of the process, and all later ones, find the device lost
 * memory=N       memory of more than N bytes is not to be had
 * narrow=1       devices say that they have no f64
 * addressless=1  ... no addresses of buffers
 * clockless=1    ... no clock that the host can read
 * threads=N      ... that workgroups have N threads at most
 *
 * faulty_vulkan_alive() counts what was made and not destroyed, faulty_vulkan_dispatches() what was
 * recorded, faulty_vulkan_submissions() what was submitted. After faulty_vulkan_hold() the next
 * submission does not begin before faulty_vulkan_end(). */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

#define EXPORT __attribute__((visibility("default")))

static PFN_vkGetInstanceProcAddr real_instance;
static PFN_vkGetDeviceProcAddr real_device;
static PFN_vkGetPhysicalDeviceFeatures2 real_features;
static PFN_vkGetPhysicalDeviceProperties real_properties;
static PFN_vkQueueSubmit real_submit;
static PFN_vkAllocateMemory real_allocate;
static PFN_vkFreeMemory real_free;
static PFN_vkCreateBuffer real_create;
static PFN_vkDestroyBuffer real_destroy;
static PFN_vkCmdDispatch real_dispatch;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;
static PFN_vkDestroyDevice real_destroy_device;
static atomic_int alive, submissions, dispatches;
static atomic_bool holds;
static VkDevice held;      /* the device that was asked last for its functions */
static VkSemaphore holder; /* the held submission waits for it */

static unsigned long fault(const char *name) {
    const char *all = getenv("FAULTY_VULKAN"), *found = all ? strstr(all, name) : NULL;
    return found ? strtoul(found + strlen(name) + 1, NULL, 10) : 0;
}

EXPORT int faulty_vulkan_alive(void);
EXPORT PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name);

int faulty_vulkan_alive(void) {
    return atomic_load(&alive);
}

EXPORT int faulty_vulkan_dispatches(void);
int faulty_vulkan_dispatches(void) {
    return atomic_load(&dispatches);
}

EXPORT int faulty_vulkan_submissions(void);
int faulty_vulkan_submissions(void) {
    return atomic_load(&submissions);
}

/* ---- what is held ---- */

EXPORT void faulty_vulkan_hold(void);
void faulty_vulkan_hold(void) {
    atomic_store(&holds, true);
}

static PFN_vkVoidFunction of_held(const char *name) {
    return real_device(held, name);
}

EXPORT void faulty_vulkan_end(void);
void faulty_vulkan_end(void) {
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = holder, .value = 1};
    ((PFN_vkSignalSemaphore)of_held("vkSignalSemaphore"))(held, &signal);
}

static void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks *how) {
    if (holder)
        ((PFN_vkDestroySemaphore)of_held("vkDestroySemaphore"))(held, holder, NULL);
    holder = VK_NULL_HANDLE;
    real_destroy_device(device, how);
}

static VkResult submit_held(VkQueue queue, const VkSubmitInfo *info) {
    static const uint64_t one = 1;
    const VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo wanted = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                          .pNext = &kind};
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo counts = *(const VkTimelineSemaphoreSubmitInfo *)info->pNext;
    VkSubmitInfo waiting = *info;
    ((PFN_vkCreateSemaphore)of_held("vkCreateSemaphore"))(held, &wanted, NULL, &holder);
    counts.waitSemaphoreValueCount = waiting.waitSemaphoreCount = 1;
    counts.pWaitSemaphoreValues = &one;
    waiting.pNext = &counts;
    waiting.pWaitSemaphores = &holder;
    waiting.pWaitDstStageMask = &all;
    return real_submit(queue, 1, &waiting, VK_NULL_HANDLE);
}

static void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    atomic_fetch_add(&dispatches, 1);
    real_dispatch(commands, x, y, z);
}

/* ---- what fails ---- */

static VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *info,
                                  VkFence fence) {
    unsigned long lost = fault("lost");
    int number = atomic_fetch_add(&submissions, 1) + 1;
    if (lost && (unsigned long)number >= lost)
        return VK_ERROR_DEVICE_LOST;
    return atomic_exchange(&holds, false) ? submit_held(queue, info)
                                          : real_submit(queue, count, info, fence);
}

static VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                    const VkAllocationCallbacks *how, VkDeviceMemory *out) {
    unsigned long most = fault("memory");
    VkResult result = most && info->allocationSize > most ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                                          : real_allocate(device, info, how, out);
    atomic_fetch_add(&alive, result == VK_SUCCESS);
    return result;
}

static void VKAPI_CALL release(VkDevice device, VkDeviceMemory memory,
                               const VkAllocationCallbacks *how) {
    atomic_fetch_sub(&alive, memory != VK_NULL_HANDLE);
    real_free(device, memory, how);
}

static VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                         const VkAllocationCallbacks *how, VkBuffer *out) {
    VkResult result = real_create(device, info, how, out);
    atomic_fetch_add(&alive, result == VK_SUCCESS);
    return result;
}

static void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                      const VkAllocationCallbacks *how) {
    atomic_fetch_sub(&alive, buffer != VK_NULL_HANDLE);
    real_destroy(device, buffer, how);
}

static void VKAPI_CALL features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *out) {
    real_features(physical, out);
    if (fault("narrow"))
        out->features.shaderFloat64 = VK_FALSE;
    for (VkBaseOutStructure *next = out->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES &&
            fault("addressless"))
            ((VkPhysicalDeviceVulkan12Features *)(void *)next)->bufferDeviceAddress = VK_FALSE;
}

static void VKAPI_CALL properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties *out) {
    real_properties(physical, out);
    if (fault("threads"))
        out->limits.maxComputeWorkGroupInvocations = (uint32_t)fault("threads");
}

static void VKAPI_CALL families(VkPhysicalDevice physical, uint32_t *count,
                                VkQueueFamilyProperties *out) {
    real_families(physical, count, out);
    for (uint32_t i = 0; out && i < *count && fault("clockless"); i++)
        out[i].timestampValidBits = 0;
}

/* ---- who is asked for ---- */

static PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name) {
#define WRAPPED(function, real, wrapper)                                                           \
    if (strcmp(name, function) == 0) {                                                             \
        PFN_vkVoidFunction found = real_device(device, name);                                      \
        memcpy(&real, &found, sizeof found);                                                       \
        return (PFN_vkVoidFunction)wrapper;                                                        \
    }
    held = device;
    WRAPPED("vkQueueSubmit", real_submit, submit)
    WRAPPED("vkCmdDispatch", real_dispatch, dispatch)
    WRAPPED("vkDestroyDevice", real_destroy_device, destroy_device)
    WRAPPED("vkAllocateMemory", real_allocate, allocate)
    WRAPPED("vkFreeMemory", real_free, release)
    WRAPPED("vkCreateBuffer", real_create, create_buffer)
    WRAPPED("vkDestroyBuffer", real_destroy, destroy_buffer)
    return real_device(device, name);
}

PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name) {
    if (!real_instance) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL),
             *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
        memcpy(&real_instance, &symbol, sizeof symbol); /* ISO C knows no such cast */
    }
    PFN_vkVoidFunction found = real_instance ? real_instance(instance, name) : NULL;
#define REPLACED(function, real, wrapper)                                                          \
    if (found && strcmp(name, function) == 0) {                                                    \
        memcpy(&real, &found, sizeof found);                                                       \
        return (PFN_vkVoidFunction)wrapper;                                                        \
    }
    REPLACED("vkGetDeviceProcAddr", real_device, of_device)
    REPLACED("vkGetPhysicalDeviceFeatures2", real_features, features)
    REPLACED("vkGetPhysicalDeviceProperties", real_properties, properties)
    REPLACED("vkGetPhysicalDeviceQueueFamilyProperties", real_families, families)
    return found;
}
