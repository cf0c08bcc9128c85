/* build_id.c - finds the note among the program's headers. */
#include "common/build_id.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES_MAX = 64 };
static char id[2 * ID_BYTES_MAX + 1];

static uint32_t padded(uint32_t bytes) {
    return (bytes + 3u) & ~3u;
}

static void read_notes(const char *note, const char *end) {
    while (note + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) n;
        memcpy(&n, note, sizeof n);
        const char *name = note + sizeof n, *body = name + padded(n.n_namesz);
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
            for (uint32_t i = 0; i < n.n_descsz && i < ID_BYTES_MAX; i++)
                snprintf(id + (size_t)2 * i, 3, "%02x", (unsigned char)body[i]);
        note = body + padded(n.n_descsz);
    }
}

static int read_program(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + header->p_vaddr);
        if (header->p_type == PT_NOTE)
            read_notes(start, start + header->p_memsz);
    }
    return 1; /* the first object is the program itself */
}

static void find(void) {
    dl_iterate_phdr(read_program, NULL);
}

const char *build_id(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return id;
}
