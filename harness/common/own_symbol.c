/* own_symbol.c - see own_symbol.h. */
#include "common/own_symbol.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/elf.h"

struct own_symbols {
    void *file;
    elf_file elf;
    Elf64_Shdr table;
};

static bool find_table(own_symbols *s) {
    bool found = !elf_file_open(&s->elf, s->file, s->elf.size_bytes);
    for (uint32_t i = 0; found && i < s->elf.header.e_shnum; i++)
        if (elf_file_section(&s->elf, i, &s->table) && s->table.sh_type == SHT_SYMTAB)
            return true;
    return false;
}

own_symbols *own_symbols_open(void) {
    struct stat facts;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    own_symbols *s = base_calloc(1, sizeof *s);
    const size_t size = fstat(fd, &facts) == 0 ? (size_t)facts.st_size : 0;
    s->file = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    s->elf.size_bytes = size;
    close(fd);
    if (s->file != MAP_FAILED && find_table(s))
        return s;
    if (s->file != MAP_FAILED)
        munmap(s->file, size);
    free(s);
    return NULL;
}

const char *own_symbol_at(const own_symbols *s, uint64_t offset, uint64_t *within) {
    Elf64_Sym one;
    for (uint64_t i = 0; elf_file_symbol(&s->elf, &s->table, i, &one); i++) {
        if (ELF64_ST_TYPE(one.st_info) != STT_FUNC || offset < one.st_value ||
            offset - one.st_value >= one.st_size)
            continue;
        *within = offset - one.st_value;
        return elf_file_string(&s->elf, s->table.sh_link, one.st_name);
    }
    return NULL;
}

void own_symbols_close(own_symbols *s) {
    if (s)
        munmap(s->file, s->elf.size_bytes);
    free(s);
}
