/* build_id.c - finds the note among the program's headers. */
#include "common/build_id.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES_MAX = (BUILD_ID_BYTES - 1) / 2 };
static char id[BUILD_ID_BYTES];

static uint32_t padded(uint32_t bytes) {
    return (bytes + 3u) & ~3u;
}

static void read_notes(const char *note, const char *end, char out[BUILD_ID_BYTES]) {
    while (note + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) n;
        memcpy(&n, note, sizeof n);
        const char *name = note + sizeof n, *body = name + padded(n.n_namesz);
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
            for (uint32_t i = 0; i < n.n_descsz && i < ID_BYTES_MAX; i++)
                snprintf(out + (size_t)2 * i, 3, "%02x", (unsigned char)body[i]);
        note = body + padded(n.n_descsz);
    }
}

void build_id_of(const struct dl_phdr_info *info, char out[BUILD_ID_BYTES]) {
    out[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + header->p_vaddr);
        if (header->p_type == PT_NOTE)
            read_notes(start, start + header->p_memsz, out);
    }
}

static int read_program(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    build_id_of(info, id);
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
