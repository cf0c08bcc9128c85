/* guest_pages.h - pages of a nameless file between two that nobody may touch, in the device's
 * process and in the guest's. */
#ifndef TESSERA_RUNTIME_GUEST_PAGES_H
#define TESSERA_RUNTIME_GUEST_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { GUEST_PAGE = 4096, GUEST_HUGE_PAGE = 2 << 20, GUEST_LARGE = 512 << 10 };

/* Bytes that `size_bytes` take: of large ones whole huge pages. */
static inline size_t guest_pages_bytes(size_t size_bytes) {
    size_t page = size_bytes >= GUEST_LARGE ? GUEST_HUGE_PAGE : GUEST_PAGE;
    return (size_bytes + !size_bytes + page - 1) / page * page;
}

/* `size_bytes` as guest_pages_bytes says. Large ones lie on huge pages, if the system has some. The
 * first to map a file says so; its pages are zero then. Children of the others do not inherit them.
 * NULL with errno. */
void *guest_pages_map(int descriptor, size_t size_bytes, bool first);
void guest_pages_unmap(void *pages, size_t size_bytes);

#endif
