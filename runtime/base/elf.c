/* elf.c - see elf.h. */
#include "base/elf.h"

#include <string.h>

const char *elf_file_open(elf_file *e, const void *bytes, size_t size_bytes) {
    *e = (elf_file){.bytes = bytes, .size_bytes = size_bytes};
    if (size_bytes < sizeof e->header)
        return "shorter than its header";
    memcpy(&e->header, bytes, sizeof e->header);
    const unsigned char *ident = e->header.e_ident;
    if (memcmp(ident, ELFMAG, SELFMAG) != 0)
        return "no ELF magic";
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
        return "not a little-endian ELF64";
    return NULL;
}

const void *elf_file_part(const elf_file *e, uint64_t offset, uint64_t size_bytes) {
    bool inside = offset <= e->size_bytes && size_bytes <= e->size_bytes - offset;
    return inside ? e->bytes + offset : NULL;
}

/* Copies entry `index` of a table. */
static bool take(const elf_file *e, uint64_t table, uint64_t index, void *out, size_t size_bytes) {
    const void *start = elf_file_part(e, table, 0);
    const void *at = start && index <= e->size_bytes / size_bytes
                         ? elf_file_part(e, table + index * size_bytes, size_bytes)
                         : NULL;
    if (at)
        memcpy(out, at, size_bytes);
    return at != NULL;
}

bool elf_file_section(const elf_file *e, uint32_t index, Elf64_Shdr *out) {
    return index < e->header.e_shnum && e->header.e_shentsize == sizeof *out &&
           take(e, e->header.e_shoff, index, out, sizeof *out) &&
           (out->sh_type == SHT_NOBITS || out->sh_type == SHT_NULL ||
            elf_file_part(e, out->sh_offset, out->sh_size));
}

bool elf_file_segment(const elf_file *e, uint32_t index, Elf64_Phdr *out) {
    return index < e->header.e_phnum && e->header.e_phentsize == sizeof *out &&
           take(e, e->header.e_phoff, index, out, sizeof *out) &&
           elf_file_part(e, out->p_offset, out->p_filesz);
}

bool elf_file_symbol(const elf_file *e, const Elf64_Shdr *table, uint64_t index, Elf64_Sym *out) {
    return index < table->sh_size / sizeof *out &&
           take(e, table->sh_offset, index, out, sizeof *out);
}

const char *elf_file_string(const elf_file *e, uint32_t strings, uint64_t offset) {
    Elf64_Shdr s;
    if (!elf_file_section(e, strings, &s) || s.sh_type != SHT_STRTAB || offset >= s.sh_size)
        return NULL;
    const char *at = (const char *)e->bytes + s.sh_offset + offset;
    return memchr(at, '\0', s.sh_size - offset) ? at : NULL;
}
