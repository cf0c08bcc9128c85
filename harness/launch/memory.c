/* memory.c - allocates, maps, or keeps a copy. */
#include "launch/memory.h"

#include <stdlib.h>

#include "common/abi_status.h"

bool launch_memory_open(launch_memory *m, tsr_context_t context, size_t size_bytes, status *st) {
    void *view;
    *m = (launch_memory){.context = context, .size_bytes = size_bytes};
    if (!abi_ok(tsrAlloc(context, size_bytes, TSR_ALLOC_DEFAULT, &m->device), "allocating a buffer",
                st))
        return false;
    m->copied = tsrMap(context, m->device, &view) != TSR_SUCCESS;
    m->view = m->copied ? malloc(size_bytes) : view;
    return m->view || status_set(st, STATUS_OUT_OF_MEMORY, "no memory for the copy of a buffer");
}

void launch_memory_close(launch_memory *m) {
    if (m->device)
        (void)tsrFree(m->context, m->device);
    if (m->copied)
        free(m->view);
    *m = (launch_memory){0};
}

static unsigned char *at_device(const launch_memory *m, size_t offset) {
    return (unsigned char *)m->device + offset;
}

bool launch_memory_send(const launch_memory *m, size_t offset, size_t bytes, status *st) {
    return !m->copied || !bytes ||
           abi_ok(tsrCopy(m->context, at_device(m, offset), m->view + offset, bytes),
                  "copying to the device", st);
}

bool launch_memory_fetch(const launch_memory *m, size_t offset, size_t bytes, status *st) {
    return !m->copied || !bytes ||
           abi_ok(tsrCopy(m->context, m->view + offset, at_device(m, offset), bytes),
                  "copying from the device", st);
}
