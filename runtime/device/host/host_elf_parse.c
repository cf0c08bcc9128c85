/* host_elf_parse.c - reads an ELF relocatable object and refuses whatever the loader could not
 * honour. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/host/host_elf_parts.h"

const elf_machine *elf_host_machine(void) {
#if defined(__x86_64__)
    return &elf_x86_64;
#elif defined(__aarch64__)
    return &elf_aarch64;
#else
    return NULL;
#endif
}

enum { SECTION_LIMIT = 4096, ALIGNMENT_LIMIT = 4096, UNWIND_SECTION = 0x70000001 };
static const uint64_t size_limit = (uint64_t)1
                                   << 30; /* of one section: keeps every sum far from overflow */

static bool corrupt(status *st, const char *what) {
    return status_set(st, STATUS_CORRUPT, "damaged ELF object: %s", what);
}

static bool check_header(const elf_object *o, status *st) {
    const Elf64_Ehdr *h = &o->file.header;
    if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
        return corrupt(st, "not ELF of version 1");
    if (!o->machine || h->e_machine != o->machine->number)
        return status_set(st, STATUS_UNAVAILABLE,
                          "the object is for ELF machine %u; wanted is one for %s", h->e_machine,
                          o->machine ? o->machine->name : "a machine without a loader");
    if (h->e_type != ET_REL)
        return corrupt(st, "not a relocatable object (ET_REL)");
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 || h->e_shnum > SECTION_LIMIT)
        return corrupt(st, "no section table, or one of another format");
    return true;
}

static bool classify(elf_section *s, status *st) {
    const Elf64_Shdr *h = &s->header;
    if (!(h->sh_flags & SHF_ALLOC))
        return true;
    if (h->sh_type != SHT_PROGBITS && h->sh_type != SHT_NOBITS && h->sh_type != SHT_NOTE &&
        h->sh_type != UNWIND_SECTION)
        return status_set(st, STATUS_CORRUPT, "section %s has type %u, which is not loaded",
                          s->name, h->sh_type);
    if (h->sh_flags & SHF_TLS)
        return status_set(st, STATUS_CORRUPT, "section %s is thread-local, which is not supported",
                          s->name);
    bool writes = h->sh_flags & SHF_WRITE, runs = h->sh_flags & SHF_EXECINSTR;
    if (writes && runs)
        return status_set(st, STATUS_CORRUPT, "section %s is both writable and executable",
                          s->name);
    if (h->sh_addralign > ALIGNMENT_LIMIT || (h->sh_addralign & (h->sh_addralign - 1)))
        return status_set(st, STATUS_CORRUPT, "section %s asks for the alignment %llu", s->name,
                          (unsigned long long)h->sh_addralign);
    s->group = runs ? GROUP_CODE : writes ? GROUP_DATA : GROUP_CONST;
    return true;
}

static bool read_sections(elf_object *o, status *st) {
    o->section_count = o->file.header.e_shnum;
    o->sections = base_calloc(o->section_count, sizeof *o->sections);
    for (size_t i = 0; i < o->section_count; i++) {
        elf_section *s = &o->sections[i];
        if (!elf_file_section(&o->file, (uint32_t)i, &s->header))
            return corrupt(st, "a section lies outside the object (truncated?)");
        if (s->header.sh_size > size_limit)
            return corrupt(st, "a section is larger than 1 GiB");
        s->name = elf_file_string(&o->file, o->file.header.e_shstrndx, s->header.sh_name);
        if (!s->name)
            return corrupt(st, "a section name is out of range");
        if (!classify(s, st))
            return false;
    }
    return true;
}

Elf64_Sym elf_symbol(const elf_object *o, size_t index) {
    Elf64_Sym symbol = {0};
    elf_file_symbol(&o->file, &o->sections[o->symbol_section].header, index, &symbol);
    return symbol;
}

const char *elf_symbol_name(const elf_object *o, const Elf64_Sym *symbol) {
    return elf_file_string(&o->file, o->sections[o->symbol_section].header.sh_link,
                           symbol->st_name);
}

static bool check_symbol(const elf_object *o, const Elf64_Sym *s, status *st) {
    const char *name = elf_symbol_name(o, s);
    if (!name)
        return corrupt(st, "a symbol name is out of range");
    if (s->st_shndx == SHN_UNDEF)
        return status_set(st, STATUS_CORRUPT,
                          "undefined symbol '%s': an image must need nothing from outside", name);
    if (s->st_shndx == SHN_COMMON || s->st_shndx == SHN_XINDEX)
        return status_set(st, STATUS_CORRUPT,
                          "symbol '%s' is a common or extended one; not supported", name);
    int type = ELF64_ST_TYPE(s->st_info);
    if (type == STT_TLS || type == STT_GNU_IFUNC)
        return status_set(st, STATUS_CORRUPT,
                          "symbol '%s' is thread-local or indirect; not supported", name);
    if (s->st_shndx >= SHN_LORESERVE)
        return true;
    if (s->st_shndx >= o->section_count)
        return corrupt(st, "a symbol's section is out of range");
    uint64_t limit = o->sections[s->st_shndx].header.sh_size;
    if (s->st_value > limit || s->st_size > limit - s->st_value)
        return status_set(st, STATUS_CORRUPT, "symbol '%s' lies outside its section", name);
    return true;
}

static bool read_symbols(elf_object *o, status *st) {
    for (size_t i = 1; i < o->section_count; i++) {
        if (o->sections[i].header.sh_type != SHT_SYMTAB)
            continue;
        if (o->symbol_section)
            return corrupt(st, "two symbol tables");
        o->symbol_section = i;
    }
    if (!o->symbol_section)
        return corrupt(st, "no symbol table");
    const Elf64_Shdr *h = &o->sections[o->symbol_section].header;
    if (h->sh_entsize != sizeof(Elf64_Sym) || h->sh_size % sizeof(Elf64_Sym) != 0)
        return corrupt(st, "the symbol table is of another format");
    o->symbol_count = h->sh_size / sizeof(Elf64_Sym);
    for (size_t i = 1; i < o->symbol_count; i++) { /* entry 0 is the null symbol */
        Elf64_Sym symbol = elf_symbol(o, i);
        if (!check_symbol(o, &symbol, st))
            return false;
    }
    return true;
}

size_t elf_relocation_count(const elf_section *section) {
    return section->header.sh_size / sizeof(Elf64_Rela);
}

Elf64_Rela elf_relocation(const elf_object *o, const elf_section *section, size_t index) {
    Elf64_Rela r;
    memcpy(&r, o->file.bytes + section->header.sh_offset + index * sizeof r, sizeof r);
    return r;
}

static bool check_relocations(const elf_object *o, status *st) {
    for (size_t i = 0; i < o->section_count; i++) {
        const Elf64_Shdr *h = &o->sections[i].header;
        if (h->sh_type != SHT_RELA && h->sh_type != SHT_REL)
            continue;
        if (h->sh_info >= o->section_count)
            return corrupt(st, "relocations for a section that does not exist");
        if (o->sections[h->sh_info].group == GROUP_NONE)
            continue;
        if (h->sh_type == SHT_REL)
            return corrupt(st, "relocations without addends (SHT_REL)");
        if (h->sh_entsize != sizeof(Elf64_Rela) || h->sh_size % sizeof(Elf64_Rela) != 0 ||
            h->sh_link != o->symbol_section)
            return corrupt(st, "a relocation table is of another format");
    }
    return true;
}

bool elf_find_symbol(const elf_object *o, const elf_section *target, const Elf64_Rela *r,
                     Elf64_Sym *symbol, status *st) {
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    size_t index = ELF64_R_SYM(r->r_info);
    int written = o->machine->written_bytes(type);
    uint64_t size = target->header.sh_size;
    if (written < 0)
        return status_set(st, STATUS_CORRUPT, "relocation %s (%u) in %s is not supported",
                          o->machine->relocation_name(type), type, target->name);
    if (target->header.sh_type == SHT_NOBITS || r->r_offset > size ||
        size - r->r_offset < (uint64_t)written)
        return status_set(st, STATUS_CORRUPT, "a relocation lies outside %s", target->name);
    if (index == 0 || index >= o->symbol_count)
        return status_set(st, STATUS_CORRUPT, "a relocation in %s names no symbol", target->name);
    *symbol = elf_symbol(o, index);
    return true;
}

bool elf_parse(elf_object *o, const elf_machine *machine, const void *bytes, size_t size_bytes,
               status *st) {
    *o = (elf_object){.machine = machine};
    const char *reason = elf_file_open(&o->file, bytes, size_bytes);
    if (reason)
        return corrupt(st, reason);
    if (check_header(o, st) && read_sections(o, st) && read_symbols(o, st) &&
        check_relocations(o, st))
        return true;
    elf_release(o);
    return false;
}

void elf_release(elf_object *o) {
    free(o->sections);
    o->sections = NULL;
}
