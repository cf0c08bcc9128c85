/* vulkan_instance.c - the loader, the instance, and the adapters of this machine. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/shared/library.h"
#include "device/vulkan/vulkan.h"

#define LAYER "VK_LAYER_KHRONOS_validation"

static struct {
    pthread_once_t once;
    VkInstance instance;
    PFN_vkGetInstanceProcAddr get;
    vulkan_functions f; /* of instances */
    bool validates;
    uint32_t count;
    vulkan_adapter adapters[VULKAN_DEVICES_MAX];
    status absent;         /* why there are none */
    pthread_mutex_t mutex; /* of what follows */
    char complaint[512];   /* of the validation layer: the first one that was not told yet */
} vulkan = {.once = PTHREAD_ONCE_INIT, .absent = STATUS_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- validation ---- */

static VKAPI_ATTR VkBool32 VKAPI_CALL note(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                           VkDebugUtilsMessageTypeFlagsEXT kind,
                                           const VkDebugUtilsMessengerCallbackDataEXT *data,
                                           void *context) {
    (void)severity, (void)kind, (void)context;
    pthread_mutex_lock(&vulkan.mutex);
    if (!*vulkan.complaint)
        snprintf(vulkan.complaint, sizeof vulkan.complaint, "%s", data->pMessage);
    pthread_mutex_unlock(&vulkan.mutex);
    return VK_FALSE;
}

bool vulkan_valid(status *st) {
    if (!vulkan.validates)
        return true;
    pthread_mutex_lock(&vulkan.mutex);
    bool sound = !*vulkan.complaint ||
                 status_set(st, STATUS_INTERNAL, "Vulkan's validation: %s", vulkan.complaint);
    *vulkan.complaint = '\0';
    pthread_mutex_unlock(&vulkan.mutex);
    return sound;
}

static const VkDebugUtilsMessengerCreateInfoEXT messenger = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                   VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
    .pfnUserCallback = note};

static bool wanted(const char *variable) {
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") != 0;
}

/* ---- the instance ---- */

static void *look_up(VkInstance instance, const char *name) {
    PFN_vkVoidFunction found = vulkan.get(instance, name);
    void *address;
    memcpy(&address, &found, sizeof address); /* ISO C knows no such cast */
    return address;
}

static bool create_instance(PFN_vkCreateInstance create) {
    static const char *const layers[] = {LAYER}, *const extensions[] = {"VK_EXT_debug_utils"};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pEngineName = "Tessera",
                                           .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    vulkan.validates = wanted(VULKAN_VALIDATION);
    if (vulkan.validates) {
        info.enabledLayerCount = info.enabledExtensionCount = 1;
        info.ppEnabledLayerNames = layers;
        info.ppEnabledExtensionNames = extensions;
        info.pNext = &messenger;
    }
    VkResult result = create(&info, NULL, &vulkan.instance);
    if (result == VK_ERROR_LAYER_NOT_PRESENT)
        return status_set(&vulkan.absent, STATUS_UNAVAILABLE,
                          "the validation layer that " VULKAN_VALIDATION
                          " asks for is not installed (Debian: vulkan-validationlayers)");
    return result == VK_SUCCESS ||
           status_set(&vulkan.absent, STATUS_UNAVAILABLE,
                      "the Vulkan loader makes no instance: error %d", result);
}

static void find_functions(void) {
    VkDebugUtilsMessengerEXT made;
#define INSTANCE(name) *(void **)(void *)&vulkan.f.name = look_up(vulkan.instance, "vk" #name);
#include "device/vulkan/vulkan_functions.def"
    if (vulkan.validates && vulkan.f.CreateDebugUtilsMessengerEXT)
        (void)vulkan.f.CreateDebugUtilsMessengerEXT(vulkan.instance, &messenger, NULL, &made);
}

/* ---- adapters ---- */

static void find_queue(vulkan_adapter *a) {
    enum { FAMILIES_MOST = 16 };
    VkQueueFamilyProperties families[FAMILIES_MOST];
    uint32_t count = FAMILIES_MOST;
    vulkan.f.GetPhysicalDeviceQueueFamilyProperties(a->physical, &count, families);
    a->family = UINT32_MAX;
    for (uint32_t i = 0; i < count && a->family == UINT32_MAX; i++)
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            a->family = i;
            a->timestamp_bits = families[i].timestampValidBits;
        }
}

#define CALIBRATED "VK_EXT_calibrated_timestamps"

static bool has_extension(const vulkan_adapter *a, const char *name) {
    uint32_t count = 0;
    bool has = false;
    if (vulkan.f.EnumerateDeviceExtensionProperties(a->physical, NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *all = base_calloc(count + 1, sizeof *all);
    VkResult result = vulkan.f.EnumerateDeviceExtensionProperties(a->physical, NULL, &count, all);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
        has |= strcmp(all[i].extensionName, name) == 0;
    free(all);
    return has;
}

/* Tells whether the host can read the clock of timestamps. */
static bool tells_time(const vulkan_adapter *a) {
    enum { DOMAINS_MOST = 16 };
    VkTimeDomainEXT domains[DOMAINS_MOST];
    uint32_t count = DOMAINS_MOST;
    bool tells = false;
    if (!a->timestamp_bits || !vulkan.f.GetPhysicalDeviceCalibrateableTimeDomainsEXT ||
        !has_extension(a, CALIBRATED) ||
        vulkan.f.GetPhysicalDeviceCalibrateableTimeDomainsEXT(a->physical, &count, domains) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        tells |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
    return tells;
}

/* Names what a module or a queue needs and the adapter lacks. */
static void find_missing(vulkan_adapter *a) {
    const char *missing = a->properties.apiVersion < VK_API_VERSION_1_2 ? "Vulkan 1.2"
                          : a->family == UINT32_MAX                     ? "a queue that computes"
                          : !a->features.v12.bufferDeviceAddress ? "the feature bufferDeviceAddress"
                          : !a->features.core.features.shaderInt64 ? "the feature shaderInt64"
                          : !a->features.v12.timelineSemaphore     ? "the feature timelineSemaphore"
                          : !vulkan_memory_kinds(a) ? "memory that is coherent with the host's"
                                                    : NULL;
    if (missing)
        snprintf(a->unavailable, sizeof a->unavailable, "it does not have %s", missing);
}

static void describe(vulkan_adapter *a, VkPhysicalDevice physical) {
    *a = (vulkan_adapter){.physical = physical};
    vulkan.f.GetPhysicalDeviceProperties(physical, &a->properties);
    vulkan.f.GetPhysicalDeviceMemoryProperties(physical, &a->memory);
    find_queue(a);
    a->limits11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    a->features.v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    a->features.v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    a->features.v11.pNext = &a->features.v12;
    a->features.core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    a->features.core.pNext = &a->features.v11;
    if (a->properties.apiVersion >= VK_API_VERSION_1_2) {
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &a->limits11};
        vulkan.f.GetPhysicalDeviceFeatures2(physical, &a->features.core);
        vulkan.f.GetPhysicalDeviceProperties2(physical, &properties);
    }
    a->tells_time = tells_time(a);
    memcpy(a->name, a->properties.deviceName, sizeof a->properties.deviceName);
    find_missing(a);
}

static void find_adapters(void) {
    VkPhysicalDevice found[VULKAN_DEVICES_MAX];
    uint32_t count = VULKAN_DEVICES_MAX;
    VkResult result = vulkan.f.EnumeratePhysicalDevices(vulkan.instance, &count, found);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        count = 0;
    for (uint32_t i = 0; i < count; i++)
        describe(&vulkan.adapters[i], found[i]);
    vulkan.count = count;
}

static void start(void) {
    static const char *const names[] = {"libvulkan.so.1", NULL};
    void *library;
    const library_symbol symbols[] = {
        {"vkGetInstanceProcAddr", (void **)(void *)&vulkan.get, false}};
    if (!library_open(VULKAN_LIBRARY, names, "the Vulkan loader (Debian: libvulkan1)", symbols, 1,
                      &library, &vulkan.absent))
        return;
    PFN_vkCreateInstance create;
    *(void **)(void *)&create = look_up(NULL, "vkCreateInstance");
    if (!create || !create_instance(create))
        return;
    find_functions();
    find_adapters();
}

/* Processors are counted where they are wanted, which may change: tests of this process say so. */
static bool is_listed(const vulkan_adapter *a) {
    return a->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU || gpu_software_wanted();
}

const vulkan_adapter *vulkan_adapter_at(uint32_t index) {
    pthread_once(&vulkan.once, start);
    for (uint32_t i = 0; i < vulkan.count; i++)
        if (is_listed(&vulkan.adapters[i]) && index-- == 0)
            return &vulkan.adapters[i];
    return NULL;
}

void vulkan_absent(status *why) {
    pthread_once(&vulkan.once, start);
    if (vulkan.absent.code != STATUS_OK)
        *why = vulkan.absent;
    else
        status_set(why, STATUS_UNAVAILABLE,
                   "no Vulkan device is here; a GPU's comes with its driver (Debian: "
                   "mesa-vulkan-drivers)");
}

/* ---- devices ---- */

/* Every feature that the adapter has and a module may need, and that of queues. */
static void choose_features(const vulkan_adapter *a, vulkan_features *out) {
    *out = (vulkan_features){0};
    out->core.sType = a->features.core.sType;
    out->v11.sType = a->features.v11.sType;
    out->v12.sType = a->features.v12.sType;
    out->core.pNext = &out->v11;
    out->v11.pNext = &out->v12;
    out->v12.timelineSemaphore = VK_TRUE;
#define CAPABILITY(name, part, feature) out->part.feature = a->features.part.feature;
#include "device/vulkan/vulkan_capabilities.def"
}

static void find_device_functions(vulkan_device *v) {
    v->f = vulkan.f;
#define DEVICE(name)                                                                               \
    {                                                                                              \
        PFN_vkVoidFunction found = vulkan.f.GetDeviceProcAddr(v->device, "vk" #name);              \
        memcpy(&v->f.name, &found, sizeof found);                                                  \
    }
#include "device/vulkan/vulkan_functions.def"
}

bool vulkan_open_device(vulkan_device *v, status *st) {
    static const char *const extensions[] = {CALIBRATED};
    const float priority = 1;
    vulkan_features features;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = v->adapter->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features.core,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = v->adapter->tells_time,
                                     .ppEnabledExtensionNames = extensions};
    choose_features(v->adapter, &features);
    VkResult result = vulkan.f.CreateDevice(v->adapter->physical, &info, NULL, &v->device);
    if (result != VK_SUCCESS)
        return status_set(st, STATUS_UNAVAILABLE,
                          "device '%s' cannot be opened: vkCreateDevice: %d", v->adapter->name,
                          result);
    find_device_functions(v);
    v->f.GetDeviceQueue(v->device, v->adapter->family, 0, &v->queue);
    return vulkan_valid(st);
}

bool vulkan_failed(vulkan_device *v, const char *call, VkResult result, status *st) {
    if (result == VK_ERROR_DEVICE_LOST)
        return gpu_lose(&v->gpu, call, st);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
        return status_set(st, STATUS_OUT_OF_MEMORY, "%s: no memory on device '%s'", call,
                          v->adapter->name);
    return status_set(st, STATUS_INTERNAL, "%s on device '%s': error %d", call, v->adapter->name,
                      result);
}
