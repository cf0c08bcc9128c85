/* mock.c - the driver, its devices and contexts, and the tables that the loader asks for: see
 * mock.h. */
#include "test/mock_level_zero/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

mock mock_state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

ze_result_t mock_result(const char *fault) {
    pthread_mutex_lock(&mock_state.mutex);
    ze_result_t result =
        mock_state.process == (int)getpid() ? mock_state.lost : ZE_RESULT_ERROR_UNINITIALIZED;
    pthread_mutex_unlock(&mock_state.mutex);
    return result != ZE_RESULT_SUCCESS ? result : (ze_result_t)pretend_fault(fault, 0);
}

ze_result_t mock_count(uint64_t *what, int by) {
    pthread_mutex_lock(&mock_state.mutex);
    *what += (uint64_t)by;
    pthread_mutex_unlock(&mock_state.mutex);
    return ZE_RESULT_SUCCESS;
}

void mock_level_zero_counts(mock_counts *out) {
    pthread_mutex_lock(&mock_state.mutex);
    *out = mock_state.counts;
    pthread_mutex_unlock(&mock_state.mutex);
}

void mock_level_zero_end(void) {
    pthread_mutex_lock(&mock_state.mutex);
    mock_state.ended = true;
    pthread_mutex_unlock(&mock_state.mutex);
}

/* ---- the driver ---- */

enum { DEVICES_MOST = 4 };
static char the_driver;
static char the_devices[DEVICES_MOST];

static ze_result_t init(ze_init_flags_t flags) {
    (void)flags;
    pthread_mutex_lock(&mock_state.mutex);
    if (!mock_state.process)
        mock_state.process = (int)getpid();
    pthread_mutex_unlock(&mock_state.mutex);
    return mock_result("init");
}

/* As all functions do that list something: asked with 0, how many; else the first of them. */
static bool is_asked_for_count(uint32_t *count, uint32_t there) {
    bool asked = *count == 0;
    if (asked || *count > there)
        *count = there;
    return asked;
}

static ze_result_t get_drivers(uint32_t *count, ze_driver_handle_t *out) {
    if (!is_asked_for_count(count, 1))
        out[0] = (ze_driver_handle_t)(void *)&the_driver;
    return mock_result("drivers");
}

static ze_result_t get_version(ze_driver_handle_t driver, ze_api_version_t *out) {
    (void)driver;
    *out = (ze_api_version_t)pretend_fault("version", ZE_API_VERSION_1_4);
    return mock_result("");
}

/* Loaders with several drivers want it. */
static ze_result_t get_driver_properties(ze_driver_handle_t driver, ze_driver_properties_t *out) {
    (void)driver;
    out->driverVersion = 1;
    return mock_result("");
}

static ze_result_t get_extensions(ze_driver_handle_t driver, uint32_t *count,
                                  ze_driver_extension_properties_t *out) {
    (void)driver, (void)out;
    *count = 0;
    return mock_result("");
}

static ze_result_t get_devices(ze_driver_handle_t driver, uint32_t *count,
                               ze_device_handle_t *out) {
    (void)driver;
    if (!is_asked_for_count(count, (uint32_t)pretend_fault("devices", 1)))
        for (uint32_t i = 0; i < *count; i++)
            out[i] = (ze_device_handle_t)(void *)&the_devices[i];
    return mock_result("");
}

/* ---- what a device says of itself ---- */

static ze_result_t says(bool is_asked_rightly) {
    return is_asked_rightly ? mock_result("") : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/* The clock: cycles a second, or of old nanoseconds a cycle. */
static ze_result_t get_properties(ze_device_handle_t device, ze_device_properties_t *out) {
    const bool in_cycles = out->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    out->type = (ze_device_type_t)pretend_fault("kind", ZE_DEVICE_TYPE_GPU);
    out->maxMemAllocSize = (uint64_t)pretend_fault("largest", 1L << 30);
    out->numSlices = (uint32_t)pretend_fault("units", 2);
    out->numSubslicesPerSlice = 4;
    out->timerResolution =
        (uint64_t)pretend_fault("timer", in_cycles ? 1000000000 / MOCK_TICK_NS : MOCK_TICK_NS);
    out->timestampValidBits = out->kernelTimestampValidBits = MOCK_CLOCK_BITS;
    snprintf(out->name, sizeof out->name, "mock %d", (int)((char *)device - the_devices));
    return says(in_cycles || out->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
}

static ze_result_t get_compute(ze_device_handle_t device, ze_device_compute_properties_t *out) {
    (void)device;
    out->maxTotalGroupSize = (uint32_t)pretend_fault("threads", 1024);
    out->maxGroupSizeX = (uint32_t)pretend_fault("threads", 1024);
    out->maxGroupCountX = (uint32_t)pretend_fault("grid", UINT32_MAX);
    out->maxSharedLocalMemory = (uint32_t)pretend_fault("shared", 65536);
    return says(out->stype == ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
}

static ze_result_t get_module(ze_device_handle_t device, ze_device_module_properties_t *out) {
    const ze_device_fp_flags_t all = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                     ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;
    (void)device;
    out->spirvVersionSupported = (uint32_t)pretend_fault("spirv", ZE_MAKE_VERSION(1, 2));
    out->flags =
        (uint32_t)pretend_fault("modules", ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64);
    out->fp32flags = (uint32_t)pretend_fault("f32", all);
    out->maxArgumentsSize = (uint32_t)pretend_fault("arguments", 1024);
    return says(out->stype == ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
}

/* One that copies, one that computes. */
static ze_result_t get_groups(ze_device_handle_t device, uint32_t *count,
                              ze_command_queue_group_properties_t *out) {
    bool ok = true;
    (void)device;
    if (is_asked_for_count(count, (uint32_t)pretend_fault("groups", 2)))
        return says(true);
    for (uint32_t i = 0; i < *count; i++) {
        ok &= out[i].stype == ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
        out[i].flags = i == 0 ? ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY
                              : ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
        out[i].numQueues = 1;
    }
    return says(ok);
}

static ze_result_t get_memory(ze_device_handle_t device, uint32_t *count,
                              ze_device_memory_properties_t *out) {
    (void)device;
    if (is_asked_for_count(count, 1))
        return says(true);
    out->totalSize = UINT64_C(4) << 30;
    return says(out->stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
}

static ze_result_t get_access(ze_device_handle_t device,
                              ze_device_memory_access_properties_t *out) {
    const ze_memory_access_cap_flags_t all = (ze_memory_access_cap_flags_t)pretend_fault(
        "access", ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT);
    (void)device;
    out->hostAllocCapabilities = out->deviceAllocCapabilities =
        out->sharedSingleDeviceAllocCapabilities = all;
    return says(out->stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
}

static ze_result_t get_clocks(ze_device_handle_t device, uint64_t *host, uint64_t *ticks) {
    (void)device;
    *ticks = mock_ticks();
    *host = *ticks * MOCK_TICK_NS;
    return mock_result("clocks");
}

/* ---- contexts ---- */

static ze_result_t create_context(ze_driver_handle_t driver, const ze_context_desc_t *desc,
                                  ze_context_handle_t *out) {
    ze_result_t result = mock_result("context");
    if ((void *)driver != &the_driver || desc->stype != ZE_STRUCTURE_TYPE_CONTEXT_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out = (ze_context_handle_t)calloc(1, 1);
    return mock_count(&mock_state.counts.contexts, 1);
}

static ze_result_t destroy_context(ze_context_handle_t context) {
    free(context);
    return mock_count(&mock_state.counts.contexts, -1);
}

/* ---- tables ---- */

static const ze_global_dditable_t global_table = {.pfnInit = init};
static const ze_driver_dditable_t driver_table = {.pfnGet = get_drivers,
                                                  .pfnGetApiVersion = get_version,
                                                  .pfnGetProperties = get_driver_properties,
                                                  .pfnGetExtensionProperties = get_extensions};
static const ze_device_dditable_t device_table = {.pfnGet = get_devices,
                                                  .pfnGetProperties = get_properties,
                                                  .pfnGetComputeProperties = get_compute,
                                                  .pfnGetModuleProperties = get_module,
                                                  .pfnGetCommandQueueGroupProperties = get_groups,
                                                  .pfnGetMemoryProperties = get_memory,
                                                  .pfnGetMemoryAccessProperties = get_access,
                                                  .pfnGetGlobalTimestamps = get_clocks};
static const ze_context_dditable_t context_table = {.pfnCreate = create_context,
                                                    .pfnDestroy = destroy_context};

#define TABLE(function, type, table)                                                               \
    MOCK_PUBLIC ze_result_t function(ze_api_version_t version, type *out) {                        \
        (void)version;                                                                             \
        *out = table;                                                                              \
        return (ze_result_t)pretend_fault("tables", ZE_RESULT_SUCCESS);                            \
    }
TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t, global_table)
TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t, driver_table)
TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t, device_table)
TABLE(zeGetContextProcAddrTable, ze_context_dditable_t, context_table)
TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t, mock_mem_table)
TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t, mock_queue_table)
TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t, mock_list_table)
TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t, mock_fence_table)
TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t, mock_pool_table)
TABLE(zeGetEventProcAddrTable, ze_event_dditable_t, mock_event_table)
TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t, mock_module_table)
TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t, mock_log_table)
TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t, mock_kernel_table)
