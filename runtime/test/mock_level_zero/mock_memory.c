/* mock_memory.c - memory of the mock: that of the device alone has addresses which no memory of the
 * host has. */
#include "test/mock_level_zero/mock.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, ROOM = 4096, FRESH = 0xDD };

typedef struct allocation {
    struct allocation *next;
    uint64_t address;
    size_t bytes;
    unsigned char *host;
    bool is_host;
} allocation;

static allocation *first;
static uint64_t next_address = UINT64_C(0xff00800000000000);

unsigned char *mock_resolve(uint64_t address, size_t bytes) {
    for (allocation *a = first; a; a = a->next)
        if (address >= a->address && address - a->address <= a->bytes &&
            bytes <= a->bytes - (address - a->address))
            return a->host + (address - a->address);
    return NULL;
}

static bool has_room(bool is_host, size_t bytes) {
    uint64_t most = (uint64_t)pretend_fault(is_host ? "host_memory" : "memory", 1L << 30);
    return bytes <= most && mock_state.bytes[is_host] <= most - bytes;
}

static void add(allocation *a, bool is_reached, size_t bytes) {
    if (posix_memalign((void **)&a->host, ALIGNMENT, bytes) != 0)
        abort();
    memset(a->host, FRESH, bytes);
    a->bytes = bytes;
    a->address = is_reached ? (uint64_t)(uintptr_t)a->host : next_address;
    next_address += (bytes / ROOM + 2) * ROOM;
    a->next = first;
    first = a;
    mock_state.bytes[a->is_host] += bytes;
    mock_state.counts.memory++;
}

static ze_result_t allocate(size_t bytes, size_t alignment, bool is_host, bool is_reached,
                            void **out) {
    ze_result_t result = mock_result("");
    if (bytes == 0 || bytes > (uint64_t)pretend_fault("largest", 1L << 30))
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if (alignment > ALIGNMENT)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pthread_mutex_lock(&mock_state.mutex);
    allocation *a = has_room(is_host, bytes) ? calloc(1, sizeof *a) : NULL;
    if (a) {
        a->is_host = is_host;
        add(a, is_reached, bytes);
        *out = (void *)(uintptr_t)a->address;
    }
    pthread_mutex_unlock(&mock_state.mutex);
    return a         ? ZE_RESULT_SUCCESS
           : is_host ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                     : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

static ze_result_t alloc_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                                const ze_host_mem_alloc_desc_t *host_desc, size_t bytes,
                                size_t alignment, ze_device_handle_t device, void **out) {
    (void)context, (void)device;
    if (desc->stype != ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC ||
        host_desc->stype != ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return allocate(bytes, alignment, false, true, out);
}

static ze_result_t alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                                size_t bytes, size_t alignment, ze_device_handle_t device,
                                void **out) {
    (void)context, (void)device;
    if (desc->stype != ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return allocate(bytes, alignment, false, false, out);
}

static ze_result_t alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
                              size_t bytes, size_t alignment, void **out) {
    (void)context;
    if (desc->stype != ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return allocate(bytes, alignment, true, true, out);
}

static ze_result_t release(ze_context_handle_t context, void *memory) {
    allocation **at = &first;
    (void)context;
    pthread_mutex_lock(&mock_state.mutex);
    while (*at && (*at)->address != (uint64_t)(uintptr_t)memory)
        at = &(*at)->next;
    allocation *a = *at;
    if (a) {
        *at = a->next;
        mock_state.bytes[a->is_host] -= a->bytes;
        mock_state.counts.memory--;
    }
    pthread_mutex_unlock(&mock_state.mutex);
    if (!a)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    free(a->host);
    free(a);
    return ZE_RESULT_SUCCESS;
}

const ze_mem_dditable_t mock_mem_table = {.pfnAllocShared = alloc_shared,
                                          .pfnAllocDevice = alloc_device,
                                          .pfnAllocHost = alloc_host,
                                          .pfnFree = release};
