/* guest_pages.h - pages of a nameless file between two that nobody may touch, in the device's
 * process and in the guest's. */
#ifndef TESSERA_RUNTIME_GUEST_PAGES_H
#define TESSERA_RUNTIME_GUEST_PAGES_H

#include <stddef.h>

enum { GUEST_PAGE = 4096 };

/* `size_bytes` is a multiple of a page. Large ones lie on 2 MiB and ask for huge pages, which
 * shared memory gets where /sys/kernel/mm/transparent_hugepage/shmem_enabled allows it. NULL with
 * errno. */
void *guest_pages_map(int descriptor, size_t size_bytes);
void guest_pages_unmap(void *pages, size_t size_bytes);

#endif
