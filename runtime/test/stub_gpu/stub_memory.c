/* stub_memory.c - memory of the stub: addresses of the device are numbers that no host address is.
 */
#include "test/stub_gpu/stub.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

typedef struct allocation {
    struct allocation *next;
    uint64_t address;
    size_t bytes;
    unsigned char *host;
    stub_memory_kind kind;
} allocation;

static allocation *first;
static uint64_t next_address = UINT64_C(0x5000800000000010); /* no more than 16 is promised */

unsigned char *stub_resolve(uint64_t address, size_t bytes) {
    for (allocation *a = first; a; a = a->next)
        if (address >= a->address && address - a->address <= a->bytes &&
            bytes <= a->bytes - (address - a->address))
            return a->host + (address - a->address);
    return NULL;
}

static bool has_room(size_t bytes) {
    uint64_t most = (uint64_t)pretend_fault("memory", 1L << 30);
    return bytes <= most && stub_state.bytes <= most - bytes;
}

static int allocate(size_t bytes, stub_memory_kind kind, allocation **out) {
    int result = stub_ready();
    if (result != OK)
        return result;
    if (bytes == 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&stub_state.mutex);
    allocation *a = has_room(bytes) ? calloc(1, sizeof *a) : NULL;
    if (a && posix_memalign((void **)&a->host, ALIGNMENT, bytes) != 0)
        abort();
    if (a) {
        memset(a->host, 0xDD, bytes);
        a->bytes = bytes;
        a->kind = kind;
        a->address = kind == STUB_MANAGED ? (uint64_t)(uintptr_t)a->host : next_address;
        next_address += (bytes / ALIGNMENT + 64) * ALIGNMENT;
        a->next = first;
        first = a;
        stub_state.bytes += bytes;
        stub_state.counts.allocations++;
    }
    pthread_mutex_unlock(&stub_state.mutex);
    *out = a;
    return a ? OK : OUT_OF_MEMORY;
}

/* Frees by an address on the device, or on the host. */
static int release(uint64_t address, const void *host) {
    int result = stub_ready();
    if (result == INVALID_CONTEXT)
        return result;
    if (result == OK)
        stub_wait_for_all();
    pthread_mutex_lock(&stub_state.mutex);
    allocation **at = &first;
    while (*at && (host ? (*at)->host != host || (*at)->kind != STUB_PINNED
                        : (*at)->address != address || (*at)->kind == STUB_PINNED))
        at = &(*at)->next;
    allocation *a = *at;
    if (a) {
        *at = a->next;
        stub_state.bytes -= a->bytes;
        stub_state.counts.allocations--;
    }
    pthread_mutex_unlock(&stub_state.mutex);
    if (!a)
        return INVALID_VALUE;
    free(a->host);
    free(a);
    return result;
}

int CALL(cuMemAlloc_v2, hipMalloc)(uint64_t *address, size_t bytes) {
    allocation *a;
    int result = allocate(bytes, STUB_DEVICE, &a);
    if (result == OK)
        *address = a->address;
    return result;
}

int CALL(cuMemAllocManaged, hipMallocManaged)(uint64_t *address, size_t bytes, unsigned flags) {
    allocation *a;
    int result = flags == 1 ? allocate(bytes, STUB_MANAGED, &a) : INVALID_VALUE;
    if (result == OK)
        *address = a->address;
    return result;
}

int CALL(cuMemHostAlloc, hipHostMalloc)(void **host, size_t bytes, unsigned flags) {
    allocation *a;
    int result = flags == 3 ? allocate(bytes, STUB_PINNED, &a) : INVALID_VALUE;
    if (result == OK)
        *host = a->host;
    return result;
}

int CALL(cuMemHostGetDevicePointer_v2, hipHostGetDevicePointer)(uint64_t *address, void *host,
                                                                unsigned flags) {
    int result = stub_ready();
    if (flags || pretend_fault("refuse", 0) == 2)
        return INVALID_VALUE;
    pthread_mutex_lock(&stub_state.mutex);
    allocation *a = first;
    while (a && (a->host != host || a->kind != STUB_PINNED))
        a = a->next;
    if (a)
        *address = a->address;
    pthread_mutex_unlock(&stub_state.mutex);
    return result != OK ? result : a ? OK : INVALID_VALUE;
}

int CALL(cuMemFree_v2, hipFree)(uint64_t address) {
    return release(address, NULL);
}

int CALL(cuMemFreeHost, hipHostFree)(void *host) {
    return release(0, host);
}
