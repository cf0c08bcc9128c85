/* guest_pages.c - see guest_pages.h. */
#include "device/foreign/guest_pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Since Linux 6.1, older headers lack it: gathers pages that are there into huge ones at once,
 * whatever /sys/kernel/mm/transparent_hugepage/shmem_enabled says, which forbids it mostly. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Room for the pages and one more at each end, the pages at a multiple of `alignment`. */
static char *reserve(size_t size_bytes, size_t alignment) {
    size_t room_bytes = size_bytes + 2 * (size_t)GUEST_PAGE + alignment;
    char *room =
        mmap(NULL, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    size_t past = ((uintptr_t)room + GUEST_PAGE) % alignment;
    char *at = room + GUEST_PAGE + (past ? alignment - past : 0);
    size_t before = (size_t)(at - GUEST_PAGE - room);
    size_t behind = room_bytes - before - size_bytes - 2 * (size_t)GUEST_PAGE;
    if (before)
        munmap(room, before);
    if (behind)
        munmap(at + size_bytes + GUEST_PAGE, behind);
    return at;
}

void *guest_pages_map(int descriptor, size_t size_bytes, bool first) {
    bool large = size_bytes >= GUEST_HUGE_PAGE;
    char *at = reserve(size_bytes, large ? GUEST_HUGE_PAGE : GUEST_PAGE);
    if (!at)
        return NULL;
    if (mmap(at, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) ==
        MAP_FAILED) {
        guest_pages_unmap(at, size_bytes);
        return NULL;
    }
    if (!first)
        (void)madvise(at, size_bytes, MADV_DONTFORK);
    if (large)
        (void)madvise(at, size_bytes, MADV_HUGEPAGE);
    if (large && first) {
        memset(at, 0, size_bytes);
        (void)madvise(at, size_bytes, MADV_COLLAPSE);
    }
    return at;
}

void guest_pages_unmap(void *pages, size_t size_bytes) {
    munmap((char *)pages - GUEST_PAGE, size_bytes + 2 * (size_t)GUEST_PAGE);
}
