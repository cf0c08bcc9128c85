/* level_zero_abi.h - the part of Level Zero's interface that is used, as its specification (core,
 * version 1) lays it out. Its own headers are not everywhere where this is built; where they are,
 * a test compares the two (test/mock_level_zero/abi.c). */
#ifndef TESSERA_RUNTIME_LEVEL_ZERO_ABI_H
#define TESSERA_RUNTIME_LEVEL_ZERO_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Results that the code itself knows; level_zero_results.def has what the others mean. */
enum { ZERO_OK = 0, ZERO_NOT_READY = 1, ZERO_UNINITIALIZED = 0x78000001 };

enum {
    ZERO_TYPE_DEVICE = 0x3,
    ZERO_TYPE_COMPUTE = 0x4,
    ZERO_TYPE_MODULE_SUPPORT = 0x5,
    ZERO_TYPE_QUEUE_GROUP = 0x6,
    ZERO_TYPE_MEMORY = 0x7,
    ZERO_TYPE_MEMORY_ACCESS = 0x8,
    ZERO_TYPE_CONTEXT = 0xd,
    ZERO_TYPE_QUEUE = 0xe,
    ZERO_TYPE_LIST = 0xf,
    ZERO_TYPE_EVENT_POOL = 0x10,
    ZERO_TYPE_EVENT = 0x11,
    ZERO_TYPE_FENCE = 0x12,
    ZERO_TYPE_DEVICE_MEMORY = 0x15,
    ZERO_TYPE_HOST_MEMORY = 0x16,
    ZERO_TYPE_MODULE = 0x1b,
    ZERO_TYPE_KERNEL = 0x1d,
    ZERO_TYPE_KERNEL_FACTS = 0x1e,
    ZERO_TYPE_DEVICE_1_2 = 0x00020006 /* its clock in cycles a second; before, in ns a cycle */
};

enum {
    ZERO_DEVICE_GPU = 1,
    ZERO_MODULE_F16 = 1,
    ZERO_MODULE_F64 = 2,
    ZERO_FLOAT_SUBNORMALS = 1,
    ZERO_FLOAT_TO_NEAREST = 4,
    ZERO_GROUP_COMPUTES = 1,
    ZERO_ACCESS_READ_WRITE = 1,
    ZERO_ACCESS_CONCURRENT = 4,
    ZERO_QUEUE_ASYNCHRONOUS = 2,
    ZERO_POOL_HOST_VISIBLE = 1,
    ZERO_POOL_TIMESTAMPS = 4,
    ZERO_SCOPE_HOST = 4,
    ZERO_FORMAT_SPIRV = 0
};

/* ---- what there is ---- */

typedef struct zero_device_facts {
    uint32_t type;
    void *next;
    uint32_t kind, vendor, device, flags, subdevice, clock;
    uint64_t allocation_bytes;
    uint32_t contexts, priorities, threads_of_unit, unit_width, units_of_subslice,
        subslices_of_slice, slices;
    uint64_t timer;
    uint32_t timestamp_bits, kernel_timestamp_bits;
    uint8_t uuid[16];
    char name[256];
} zero_device_facts;

typedef struct zero_compute_facts {
    uint32_t type;
    void *next;
    uint32_t threads, threads_x, threads_y, threads_z;
    uint32_t workgroups_x, workgroups_y, workgroups_z;
    uint32_t workgroup_bytes, subgroup_sizes, subgroups[8];
} zero_compute_facts;

typedef struct zero_module_facts {
    uint32_t type;
    void *next;
    uint32_t spirv_version, flags, f16, f32, f64, arguments_bytes, printf_bytes;
    uint8_t native[16];
} zero_module_facts;

typedef struct zero_queue_group {
    uint32_t type;
    void *next;
    uint32_t flags;
    size_t fill_bytes;
    uint32_t queues;
} zero_queue_group;

typedef struct zero_memory_facts {
    uint32_t type;
    void *next;
    uint32_t flags, clock, width;
    uint64_t bytes;
    char name[256];
} zero_memory_facts;

typedef struct zero_access_facts {
    uint32_t type;
    void *next;
    uint32_t host, device, shared, shared_across, system;
} zero_access_facts;

typedef struct zero_kernel_facts {
    uint32_t type;
    void *next;
    uint32_t arguments, threads_x, threads_y, threads_z, subgroups, subgroup_threads;
    uint32_t most_subgroup_threads, most_subgroups, workgroup_bytes, private_bytes, spilled_bytes;
    uint8_t uuid[32];
} zero_kernel_facts;

/* ---- what is made ---- */

/* Description of a context, a fence or memory of the host. */
typedef struct zero_wish {
    uint32_t type;
    const void *next;
    uint32_t flags;
} zero_wish;

typedef struct zero_queue_wish {
    uint32_t type;
    const void *next;
    uint32_t group, index, flags, mode, priority;
} zero_queue_wish;

typedef struct zero_list_wish {
    uint32_t type;
    const void *next;
    uint32_t group, flags;
} zero_list_wish;

typedef struct zero_pool_wish {
    uint32_t type;
    const void *next;
    uint32_t flags, count;
} zero_pool_wish;

typedef struct zero_event_wish {
    uint32_t type;
    const void *next;
    uint32_t index, signal_scope, wait_scope;
} zero_event_wish;

typedef struct zero_memory_wish {
    uint32_t type;
    const void *next;
    uint32_t flags, ordinal;
} zero_memory_wish;

typedef struct zero_module_wish {
    uint32_t type;
    const void *next;
    uint32_t format;
    size_t size_bytes;
    const uint8_t *bytes;
    const char *options;
    const void *constants;
} zero_module_wish;

typedef struct zero_kernel_wish {
    uint32_t type;
    const void *next;
    uint32_t flags;
    const char *name;
} zero_kernel_wish;

typedef struct zero_workgroups {
    uint32_t x, y, z;
} zero_workgroups;

/* In ticks of the device: by the wall's clock, and while the context was active. */
typedef struct zero_times {
    uint64_t start, end, active_start, active_end;
} zero_times;

#endif
