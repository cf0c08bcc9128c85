/* elf.h - reads ELF64 files of the byte order that all our machines have.
 *
 * The bytes may be damaged: each part is copied out, and is refused where it lies outside of the
 * file.
 *
 * Format: System V Application Binary Interface, chapters 4 and 5. */
#ifndef TESSERA_BASE_ELF_H
#define TESSERA_BASE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrows the bytes. */
typedef struct elf_file {
    const unsigned char *bytes;
    size_t size_bytes;
    Elf64_Ehdr header;
} elf_file;

/* Returns NULL, or the reason why the bytes are no such file. Versions are not looked at: cubins
 * have one of their own. */
const char *elf_file_open(elf_file *e, const void *bytes, size_t size_bytes);
/* Bytes of the file; NULL where they are not inside of it. */
const void *elf_file_part(const elf_file *e, uint64_t offset, uint64_t size_bytes);
/* The header of a section whose contents, if it has any, lie in the file. */
bool elf_file_section(const elf_file *e, uint32_t index, Elf64_Shdr *out);
/* The header of a segment whose contents lie in the file. */
bool elf_file_segment(const elf_file *e, uint32_t index, Elf64_Phdr *out);
/* Symbol `index` of a table that elf_file_section gave; false past its end. */
bool elf_file_symbol(const elf_file *e, const Elf64_Shdr *table, uint64_t index, Elf64_Sym *out);
/* A string of the section `strings`; NULL where it does not end there. */
const char *elf_file_string(const elf_file *e, uint32_t strings, uint64_t offset);

#endif
