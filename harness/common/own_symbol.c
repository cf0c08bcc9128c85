/* own_symbol.c - see own_symbol.h. The file is this program's own, so its headers are believed. */
#include "common/own_symbol.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

struct own_symbols {
    const char *file;
    size_t size;
    const ElfW(Sym) * symbols;
    size_t count;
    const char *names;
};

static bool find_table(own_symbols *s) {
    const ElfW(Ehdr) *head = (const void *)s->file;
    const ElfW(Shdr) *sections = (const void *)(s->file + head->e_shoff);
    for (unsigned i = 0; head->e_shoff && i < head->e_shnum && !s->symbols; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        s->symbols = (const void *)(s->file + sections[i].sh_offset);
        s->count = sections[i].sh_size / sizeof *s->symbols;
        s->names = s->file + sections[sections[i].sh_link].sh_offset;
    }
    return s->symbols != NULL;
}

own_symbols *own_symbols_open(void) {
    struct stat facts;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    own_symbols *s = base_calloc(1, sizeof *s);
    s->size = fstat(fd, &facts) == 0 ? (size_t)facts.st_size : 0;
    void *file = s->size ? mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    s->file = file;
    if (file != MAP_FAILED && find_table(s))
        return s;
    if (file != MAP_FAILED)
        munmap(file, s->size);
    free(s);
    return NULL;
}

const char *own_symbol_at(const own_symbols *s, uint64_t offset, uint64_t *within) {
    for (size_t i = 0; i < s->count; i++) {
        const ElfW(Sym) *one = &s->symbols[i];
        if (ELF64_ST_TYPE(one->st_info) != STT_FUNC || offset < one->st_value ||
            offset - one->st_value >= one->st_size)
            continue;
        *within = offset - one->st_value;
        return s->names + one->st_name;
    }
    return NULL;
}

void own_symbols_close(own_symbols *s) {
    if (s)
        munmap((void *)(uintptr_t)s->file, s->size);
    free(s);
}
