/* host_elf_parts.h - an ELF relocatable object, read by host_elf_parse.c (is it sound?) for those
 * who relocate it: host_elf.c, which maps it, and the compiler, where it links code for a device.
 */
#ifndef TESSERA_RUNTIME_HOST_ELF_PARTS_H
#define TESSERA_RUNTIME_HOST_ELF_PARTS_H

#include "base/elf.h"
#include "device/host/host_elf.h"
#include "device/host/host_elf_machine.h"

/* Protection that a section is loaded under. */
typedef enum elf_group { GROUP_NONE, GROUP_CODE, GROUP_CONST, GROUP_DATA, GROUP_COUNT } elf_group;

typedef struct elf_section {
    Elf64_Shdr header;
    const char *name;
    elf_group group;
    uint64_t load_offset; /* from the start of the mapping */
} elf_section;

/* A parsed object: all bounds hold. Borrows from the bytes it was parsed from. */
typedef struct elf_object {
    elf_file file;
    const elf_machine *machine; /* that it is for */
    elf_section *sections;      /* owned */
    size_t section_count;
    size_t symbol_section; /* 0: none */
    size_t symbol_count;
} elf_object;

/* Parses an object; STATUS_UNAVAILABLE: it is for another machine than `machine`. */
bool elf_parse(elf_object *o, const elf_machine *machine, const void *bytes, size_t size_bytes,
               status *st);
void elf_release(elf_object *o);
/* `index` < symbol_count. */
Elf64_Sym elf_symbol(const elf_object *o, size_t index);
/* The name of a symbol; checked by elf_parse. */
const char *elf_symbol_name(const elf_object *o, const Elf64_Sym *symbol);
/* Relocation `index` of a SHT_RELA section. */
Elf64_Rela elf_relocation(const elf_object *o, const elf_section *section, size_t index);
size_t elf_relocation_count(const elf_section *section);
/* The symbol of a relocation of `target`, of a type that the machine has and writes. Refuses what
 * lies outside of `target`. */
bool elf_find_symbol(const elf_object *o, const elf_section *target, const Elf64_Rela *r,
                     Elf64_Sym *symbol, status *st);

/* Debuggers and profilers: host_elf_debug.c. `image` is a copy of the object whose section headers
 * hold load addresses; it is taken over and freed by elf_debug_unregister. */
typedef struct elf_debug_entry elf_debug_entry;
elf_debug_entry *elf_debug_register(unsigned char *image, size_t size_bytes);
void elf_debug_unregister(elf_debug_entry *entry);
/* Adds a function to /tmp/perf-<pid>.map, when TSR_PERF_MAP=1. */
void elf_perf_map_add(const void *code, size_t size_bytes, const char *name);

#endif
