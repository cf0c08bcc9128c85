/* host_elf.h - loads an ELF relocatable object (as LLVM emits it) into executable memory.
 *
 * Accepted: little-endian ELF64 for this machine, of type ET_REL, without undefined symbols,
 * thread-local data, constructors or sections that are both writable and executable; relocations
 * R_X86_64_64, PC32, PC64, PLT32 and the GOTPCREL family; on AArch64 those of host_elf_aarch64.c.
 * Everything else is refused by name. The
 * object is hostile until proven otherwise: every offset, size and index is checked before use.
 * After loading, code is read-execute, constants are read-only. */
#ifndef TESSERA_RUNTIME_HOST_ELF_H
#define TESSERA_RUNTIME_HOST_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct host_elf host_elf;

/* `object` is read during the call. NULL on failure. Thread-safe. */
host_elf *host_elf_load(const void *object, size_t size_bytes, status *st);
void host_elf_free(host_elf *elf);
/* Address of a global function, or NULL. Valid until host_elf_free. */
void *host_elf_symbol(const host_elf *elf, const char *name);
/* Address and size of a global object in constants or data; NULL where there is none. Valid
 * likewise. */
const void *host_elf_object(const host_elf *elf, const char *name, size_t *size_bytes_out);

#endif
