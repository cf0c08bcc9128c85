/* abi.c - device/level_zero/level_zero_abi.h beside the headers of Level Zero: the same sizes,
 * places and numbers, or this does not compile. */
#include "device/level_zero/level_zero_abi.h"

#include <level_zero/ze_api.h>

#define SAME(ours, theirs)                                                                         \
    _Static_assert((uint64_t)(ours) == (uint64_t)(theirs), #ours " is not " #theirs)
#define SIZE(ours, theirs) SAME(sizeof(ours), sizeof(theirs))
#define PLACE(ours, field, theirs, their_field)                                                    \
    SAME(offsetof(ours, field), offsetof(theirs, their_field))

SAME(ZERO_OK, ZE_RESULT_SUCCESS);
SAME(ZERO_NOT_READY, ZE_RESULT_NOT_READY);
SAME(ZERO_UNINITIALIZED, ZE_RESULT_ERROR_UNINITIALIZED);
#define RESULT(number, name, code, advice) SAME(number, ZE_RESULT_ERROR_##name);
#include "device/level_zero/level_zero_results.def"
#undef RESULT

SAME(ZERO_TYPE_DEVICE, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
SAME(ZERO_TYPE_COMPUTE, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
SAME(ZERO_TYPE_MODULE_SUPPORT, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
SAME(ZERO_TYPE_QUEUE_GROUP, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES);
SAME(ZERO_TYPE_MEMORY, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
SAME(ZERO_TYPE_MEMORY_ACCESS, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
SAME(ZERO_TYPE_CONTEXT, ZE_STRUCTURE_TYPE_CONTEXT_DESC);
SAME(ZERO_TYPE_QUEUE, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
SAME(ZERO_TYPE_LIST, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
SAME(ZERO_TYPE_EVENT_POOL, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
SAME(ZERO_TYPE_EVENT, ZE_STRUCTURE_TYPE_EVENT_DESC);
SAME(ZERO_TYPE_FENCE, ZE_STRUCTURE_TYPE_FENCE_DESC);
SAME(ZERO_TYPE_DEVICE_MEMORY, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
SAME(ZERO_TYPE_HOST_MEMORY, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
SAME(ZERO_TYPE_MODULE, ZE_STRUCTURE_TYPE_MODULE_DESC);
SAME(ZERO_TYPE_KERNEL, ZE_STRUCTURE_TYPE_KERNEL_DESC);
SAME(ZERO_TYPE_KERNEL_FACTS, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
SAME(ZERO_TYPE_DEVICE_1_2, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);

SAME(ZERO_DEVICE_GPU, ZE_DEVICE_TYPE_GPU);
SAME(ZERO_MODULE_F16, ZE_DEVICE_MODULE_FLAG_FP16);
SAME(ZERO_MODULE_F64, ZE_DEVICE_MODULE_FLAG_FP64);
SAME(ZERO_FLOAT_SUBNORMALS, ZE_DEVICE_FP_FLAG_DENORM);
SAME(ZERO_FLOAT_TO_NEAREST, ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST);
SAME(ZERO_GROUP_COMPUTES, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
SAME(ZERO_ACCESS_READ_WRITE, ZE_MEMORY_ACCESS_CAP_FLAG_RW);
SAME(ZERO_ACCESS_CONCURRENT, ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT);
SAME(ZERO_QUEUE_ASYNCHRONOUS, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
SAME(ZERO_POOL_HOST_VISIBLE, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
SAME(ZERO_POOL_TIMESTAMPS, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
SAME(ZERO_SCOPE_HOST, ZE_EVENT_SCOPE_FLAG_HOST);
SAME(ZERO_FORMAT_SPIRV, ZE_MODULE_FORMAT_IL_SPIRV);

SIZE(zero_device_facts, ze_device_properties_t);
PLACE(zero_device_facts, kind, ze_device_properties_t, type);
PLACE(zero_device_facts, allocation_bytes, ze_device_properties_t, maxMemAllocSize);
PLACE(zero_device_facts, subslices_of_slice, ze_device_properties_t, numSubslicesPerSlice);
PLACE(zero_device_facts, slices, ze_device_properties_t, numSlices);
PLACE(zero_device_facts, timer, ze_device_properties_t, timerResolution);
PLACE(zero_device_facts, kernel_timestamp_bits, ze_device_properties_t, kernelTimestampValidBits);
PLACE(zero_device_facts, name, ze_device_properties_t, name);
SIZE(zero_compute_facts, ze_device_compute_properties_t);
PLACE(zero_compute_facts, threads, ze_device_compute_properties_t, maxTotalGroupSize);
PLACE(zero_compute_facts, threads_x, ze_device_compute_properties_t, maxGroupSizeX);
PLACE(zero_compute_facts, workgroups_x, ze_device_compute_properties_t, maxGroupCountX);
PLACE(zero_compute_facts, workgroup_bytes, ze_device_compute_properties_t, maxSharedLocalMemory);
SIZE(zero_module_facts, ze_device_module_properties_t);
PLACE(zero_module_facts, spirv_version, ze_device_module_properties_t, spirvVersionSupported);
PLACE(zero_module_facts, flags, ze_device_module_properties_t, flags);
PLACE(zero_module_facts, f32, ze_device_module_properties_t, fp32flags);
PLACE(zero_module_facts, arguments_bytes, ze_device_module_properties_t, maxArgumentsSize);
SIZE(zero_queue_group, ze_command_queue_group_properties_t);
PLACE(zero_queue_group, flags, ze_command_queue_group_properties_t, flags);
PLACE(zero_queue_group, queues, ze_command_queue_group_properties_t, numQueues);
SIZE(zero_memory_facts, ze_device_memory_properties_t);
PLACE(zero_memory_facts, bytes, ze_device_memory_properties_t, totalSize);
SIZE(zero_access_facts, ze_device_memory_access_properties_t);
PLACE(zero_access_facts, host, ze_device_memory_access_properties_t, hostAllocCapabilities);
PLACE(zero_access_facts, shared, ze_device_memory_access_properties_t,
      sharedSingleDeviceAllocCapabilities);
SIZE(zero_kernel_facts, ze_kernel_properties_t);
PLACE(zero_kernel_facts, arguments, ze_kernel_properties_t, numKernelArgs);
PLACE(zero_kernel_facts, threads_x, ze_kernel_properties_t, requiredGroupSizeX);
PLACE(zero_kernel_facts, workgroup_bytes, ze_kernel_properties_t, localMemSize);

SIZE(zero_wish, ze_context_desc_t);
SIZE(zero_wish, ze_fence_desc_t);
SIZE(zero_wish, ze_host_mem_alloc_desc_t);
SIZE(zero_queue_wish, ze_command_queue_desc_t);
PLACE(zero_queue_wish, group, ze_command_queue_desc_t, ordinal);
PLACE(zero_queue_wish, mode, ze_command_queue_desc_t, mode);
SIZE(zero_list_wish, ze_command_list_desc_t);
PLACE(zero_list_wish, group, ze_command_list_desc_t, commandQueueGroupOrdinal);
SIZE(zero_pool_wish, ze_event_pool_desc_t);
PLACE(zero_pool_wish, count, ze_event_pool_desc_t, count);
SIZE(zero_event_wish, ze_event_desc_t);
PLACE(zero_event_wish, signal_scope, ze_event_desc_t, signal);
SIZE(zero_memory_wish, ze_device_mem_alloc_desc_t);
SIZE(zero_module_wish, ze_module_desc_t);
PLACE(zero_module_wish, bytes, ze_module_desc_t, pInputModule);
PLACE(zero_module_wish, options, ze_module_desc_t, pBuildFlags);
SIZE(zero_kernel_wish, ze_kernel_desc_t);
PLACE(zero_kernel_wish, name, ze_kernel_desc_t, pKernelName);
SIZE(zero_workgroups, ze_group_count_t);
SIZE(zero_times, ze_kernel_timestamp_result_t);
PLACE(zero_times, end, ze_kernel_timestamp_result_t, global.kernelEnd);
