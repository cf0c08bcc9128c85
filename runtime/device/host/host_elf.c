/* host_elf.c - lays a parsed object out in one mapping, relocates it and sets the protections. */
#include "device/host/host_elf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "device/host/host.h"
#include "device/host/host_elf_parts.h"

typedef struct exported_object {
    const unsigned char *address;
    size_t size_bytes;
} exported_object;

struct host_elf {
    unsigned char *base;
    size_t mapped_bytes;
    map symbols; /* global functions: name -> address */
    map objects; /* global data: name -> index */
    VEC(exported_object) exported;
    elf_debug_entry *debug;
};

/* The work of one load. Offsets count from elf->base; a group's pages are [start, end). */
typedef struct loader {
    elf_object object;
    host_elf *elf;
    uint64_t start[GROUP_COUNT], end[GROUP_COUNT];
    uint64_t got, got_used, got_end; /* slots of 8 bytes at the end of the constants */
} loader;

static size_t code_offset;

void host_set_code_offset(size_t bytes) {
    code_offset = bytes % (size_t)sysconf(_SC_PAGESIZE) / 64 * 64;
}

static uint64_t align_up(uint64_t offset, uint64_t alignment) {
    return alignment > 1 ? (offset + alignment - 1) / alignment * alignment : offset;
}

static uint64_t add_got_slot(loader *l, uint64_t symbol) {
    unsigned char *slot = l->elf->base + l->got + l->got_used;
    memcpy(slot, &symbol, sizeof symbol);
    l->got_used += sizeof symbol;
    return (uint64_t)(uintptr_t)slot;
}

static bool is_applied(const loader *l, const elf_section *s) {
    return s->header.sh_type == SHT_RELA &&
           l->object.sections[s->header.sh_info].group != GROUP_NONE;
}

static uint64_t got_bytes(const loader *l) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < l->object.section_count; i++) {
        const elf_section *s = &l->object.sections[i];
        if (!is_applied(l, s))
            continue;
        for (size_t r = 0; r < elf_relocation_count(s); r++)
            if (l->object.machine->needs_got(
                    (uint32_t)ELF64_R_TYPE(elf_relocation(&l->object, s, r).r_info)))
                bytes += 8;
    }
    return bytes;
}

/* Gives every loaded section its place: code, then constants and the GOT, then data, each on pages
 * of its own. */
static bool lay_out(loader *l, status *st) {
    uint64_t at = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (int group = GROUP_CODE; group < GROUP_COUNT; group++) {
        l->start[group] = at = align_up(at, page);
        at += group == GROUP_CODE ? code_offset : 0;
        for (size_t i = 0; i < l->object.section_count; i++) {
            elf_section *s = &l->object.sections[i];
            if ((int)s->group != group)
                continue;
            s->load_offset = align_up(at, s->header.sh_addralign);
            at = s->load_offset + s->header.sh_size;
        }
        if (group == GROUP_CONST) {
            l->got = align_up(at, 16);
            at = l->got_end = l->got + got_bytes(l);
        }
        l->end[group] = at = align_up(at, page);
        if (at > INT32_MAX)
            return status_set(st, STATUS_CORRUPT, "the object needs more than 2 GiB when loaded");
    }
    l->elf->mapped_bytes = at > 0 ? at : page; /* a kernel without phases has no code */
    return true;
}

static bool map_and_copy(loader *l, status *st) {
    void *base = mmap(NULL, l->elf->mapped_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of code",
                          l->elf->mapped_bytes);
    l->elf->base = base;
    for (size_t i = 0; i < l->object.section_count; i++) {
        const elf_section *s = &l->object.sections[i];
        if (s->group != GROUP_NONE && s->header.sh_type != SHT_NOBITS && s->header.sh_size)
            memcpy(l->elf->base + s->load_offset, l->object.file.bytes + s->header.sh_offset,
                   s->header.sh_size);
    }
    return true;
}

/* Address of a symbol in the mapping; refuses those in sections that were not loaded. */
static bool address_of(const loader *l, const Elf64_Sym *symbol, uint64_t *out, status *st) {
    if (symbol->st_shndx == SHN_ABS) {
        *out = symbol->st_value;
        return true;
    }
    const elf_section *s =
        symbol->st_shndx < SHN_LORESERVE ? &l->object.sections[symbol->st_shndx] : NULL;
    if (!s || s->group == GROUP_NONE)
        return status_set(st, STATUS_CORRUPT, "symbol '%s' is in no loaded section",
                          elf_symbol_name(&l->object, symbol));
    *out = (uint64_t)(uintptr_t)(l->elf->base + s->load_offset) + symbol->st_value;
    return true;
}

static bool relocate_one(loader *l, const elf_section *target, const Elf64_Rela *r, status *st) {
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    const elf_machine *machine = l->object.machine;
    uint64_t symbol = 0;
    Elf64_Sym s;
    if (machine->written_bytes(type) == 0)
        return true;
    if (!elf_find_symbol(&l->object, target, r, &s, st) || !address_of(l, &s, &symbol, st))
        return false;
    unsigned char *place = l->elf->base + target->load_offset + r->r_offset;
    elf_fixup fixup = {.type = type,
                       .bytes = place,
                       .place = (uint64_t)(uintptr_t)place,
                       .symbol = symbol,
                       .addend = (uint64_t)r->r_addend,
                       .slot = machine->needs_got(type) ? add_got_slot(l, symbol) : 0};
    return machine->apply(&fixup, st);
}

static bool relocate(loader *l, status *st) {
    for (size_t i = 0; i < l->object.section_count; i++) {
        const elf_section *s = &l->object.sections[i];
        if (!is_applied(l, s))
            continue;
        const elf_section *target = &l->object.sections[s->header.sh_info];
        for (size_t k = 0; k < elf_relocation_count(s); k++) {
            Elf64_Rela r = elf_relocation(&l->object, s, k);
            if (!relocate_one(l, target, &r, st))
                return false;
        }
    }
    return true;
}

static bool protect(loader *l, status *st) {
    static const int protections[GROUP_COUNT] = {[GROUP_CODE] = PROT_READ | PROT_EXEC,
                                                 [GROUP_CONST] = PROT_READ,
                                                 [GROUP_DATA] = PROT_READ | PROT_WRITE};
    for (int group = GROUP_CODE; group < GROUP_COUNT; group++) {
        size_t bytes = l->end[group] - l->start[group];
        char *start = (char *)l->elf->base + l->start[group];
        if (group ==
            GROUP_CODE) /* nothing on x86; elsewhere instructions have a cache of their own */
            __builtin___clear_cache(start, start + bytes);
        if (bytes && mprotect(l->elf->base + l->start[group], bytes, protections[group]) != 0)
            return status_set(st, STATUS_UNAVAILABLE,
                              "the operating system refuses executable memory (mprotect)");
    }
    return true;
}

static bool is_callable(const Elf64_Sym *s, elf_group group) {
    int type = ELF64_ST_TYPE(s->st_info);
    return group == GROUP_CODE && (type == STT_FUNC || type == STT_NOTYPE);
}

static bool export_one(host_elf *elf, const Elf64_Sym *s, const char *name, elf_group group,
                       unsigned char *address, status *st) {
    bool callable = is_callable(s, group);
    if (callable)
        elf_perf_map_add(address, s->st_size, name);
    if (ELF64_ST_BIND(s->st_info) == STB_LOCAL)
        return true;
    if (map_get(&elf->symbols, name, NULL) || map_get(&elf->objects, name, NULL))
        return status_set(st, STATUS_CORRUPT, "two global symbols called '%s'", name);
    if (callable) {
        map_put(&elf->symbols, name, (intptr_t)address);
    } else {
        const exported_object object = {address, s->st_size};
        map_put(&elf->objects, name, (intptr_t)elf->exported.count);
        vec_push(&elf->exported, object);
    }
    return true;
}

/* Exports what callers may look up: global, defined, functions in code and objects elsewhere. */
static bool export_symbols(loader *l, status *st) {
    for (size_t i = 1; i < l->object.symbol_count; i++) {
        Elf64_Sym s = elf_symbol(&l->object, i);
        const char *name = elf_symbol_name(&l->object, &s);
        if (s.st_shndx >= SHN_LORESERVE || !name[0])
            continue;
        const elf_section *section = &l->object.sections[s.st_shndx];
        bool data = section->group != GROUP_NONE && section->group != GROUP_CODE &&
                    ELF64_ST_TYPE(s.st_info) == STT_OBJECT;
        unsigned char *address = l->elf->base + section->load_offset + s.st_value;
        if ((data || is_callable(&s, section->group)) &&
            !export_one(l->elf, &s, name, section->group, address, st))
            return false;
    }
    return true;
}

/* gdb takes a relocatable object whose section headers say where the sections lie. */
static void register_debug(loader *l) {
    const elf_file *file = &l->object.file;
    unsigned char *copy = base_malloc(file->size_bytes);
    memcpy(copy, file->bytes, file->size_bytes);
    for (size_t i = 0; i < l->object.section_count; i++) {
        elf_section *s = &l->object.sections[i];
        if (s->group == GROUP_NONE)
            continue;
        s->header.sh_addr = (uint64_t)(uintptr_t)(l->elf->base + s->load_offset);
        memcpy(copy + file->header.e_shoff + i * sizeof s->header, &s->header, sizeof s->header);
    }
    l->elf->debug = elf_debug_register(copy, file->size_bytes);
}

host_elf *host_elf_load(const void *object, size_t size_bytes, status *st) {
    loader l = {0};
    if (!elf_parse(&l.object, elf_host_machine(), object, size_bytes, st))
        return NULL;
    l.elf = base_calloc(1, sizeof *l.elf);
    map_init(&l.elf->symbols);
    map_init(&l.elf->objects);
    bool ok = lay_out(&l, st) && map_and_copy(&l, st) && relocate(&l, st) && protect(&l, st) &&
              export_symbols(&l, st);
    if (ok) {
        register_debug(&l);
    } else {
        host_elf_free(l.elf);
        l.elf = NULL;
    }
    elf_release(&l.object);
    return l.elf;
}

void host_elf_free(host_elf *elf) {
    if (!elf)
        return;
    elf_debug_unregister(elf->debug);
    if (elf->base)
        munmap(elf->base, elf->mapped_bytes);
    map_release(&elf->symbols);
    map_release(&elf->objects);
    vec_release(&elf->exported);
    free(elf);
}

void *host_elf_symbol(const host_elf *elf, const char *name) {
    intptr_t address = 0;
    map_get(&elf->symbols, name, &address);
    return (void *)address;
}

const void *host_elf_object(const host_elf *elf, const char *name, size_t *size_bytes_out) {
    intptr_t index = 0;
    if (!map_get(&elf->objects, name, &index))
        return NULL;
    *size_bytes_out = elf->exported.items[index].size_bytes;
    return elf->exported.items[index].address;
}
