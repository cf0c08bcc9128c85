/* hsaco.c - see hsaco.h. Addresses are offsets in the file, so that nothing has to be counted
 * twice:
 *
 *   headers, constants, metadata, symbols, dynamic section     read only
 *   code, on pages of its own                                  executable
 *   symbols and names once more, section names                 not loaded
 *
 * Symbols stand there twice because loaders differ: some read .dynsym, ROCm's runtime .symtab.
 *
 * Format: LLVM's "User Guide for AMDGPU Backend", section ELF Code Object; System V gABI,
 * chapter 5. */
#include "target/llvm/hsaco.h"

#include <string.h>

#include "base/vec.h"

enum { OS_AMDGPU_HSA = 64, PAGE_BYTES = 4096, SEGMENTS = 6, NO_SECTION = 0 };

/* ---- the image ---- */
typedef struct section {
    const char *name;
    Elf64_Shdr header;
} section;

typedef struct linker {
    elf_object object;
    text *image;
    text names; /* of symbols */
    VEC(Elf64_Sym) symbols;
    VEC(section) sections;
    VEC(uint32_t) place_of; /* by section of the object: its number here, or NO_SECTION */
    uint64_t constants_end; /* of the first segment */
} linker;

static void pad_to(linker *l, uint64_t alignment) {
    while (alignment > 1 && l->image->length % alignment)
        text_append_char(l->image, '\0');
}

/* Appends a section at the image's end; returns its number. */
static uint32_t add_section(linker *l, const char *name, Elf64_Shdr header, const void *bytes,
                            size_t size_bytes) {
    pad_to(l, header.sh_addralign);
    header.sh_offset = l->image->length;
    header.sh_size = size_bytes;
    header.sh_addr = header.sh_flags & SHF_ALLOC ? header.sh_offset : 0;
    text_append_bytes(l->image, bytes, size_bytes);
    vec_push(&l->sections, ((section){name, header}));
    return (uint32_t)l->sections.count - 1;
}

static bool add_group(linker *l, elf_group group, status *st) {
    for (size_t i = 0; i < l->object.section_count; i++) {
        const elf_section *s = &l->object.sections[i];
        if (s->group != group || !s->header.sh_size)
            continue;
        if (s->header.sh_type == SHT_NOBITS)
            return status_set(st, STATUS_CORRUPT, "section %s is memory without contents", s->name);
        Elf64_Shdr header = {.sh_type = s->header.sh_type,
                             .sh_flags = s->header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR),
                             .sh_addralign = s->header.sh_addralign};
        l->place_of.items[i] = add_section(
            l, s->name, header, l->object.file.bytes + s->header.sh_offset, s->header.sh_size);
    }
    return true;
}

/* A kernel that keeps something between launches would give other bits the second time. */
static bool refuse_data(const linker *l, status *st) {
    for (size_t i = 0; i < l->object.section_count; i++) {
        const elf_section *s = &l->object.sections[i];
        if (s->group == GROUP_DATA && s->header.sh_size)
            return status_set(st, STATUS_CORRUPT,
                              "section %s is writable: a kernel has no data of "
                              "its own",
                              s->name);
    }
    return true;
}

/* The address of a symbol in the image. */
static bool address_of(const linker *l, const Elf64_Sym *symbol, const char *name, uint64_t *out,
                       status *st) {
    uint32_t place =
        symbol->st_shndx < SHN_LORESERVE ? l->place_of.items[symbol->st_shndx] : NO_SECTION;
    if (place == NO_SECTION)
        return status_set(st, STATUS_CORRUPT, "symbol '%s' is in no loaded section", name);
    *out = l->sections.items[place].header.sh_addr + symbol->st_value;
    return true;
}

static bool is_exported(const Elf64_Sym *s) {
    int visibility = ELF64_ST_VISIBILITY(s->st_other);
    return ELF64_ST_BIND(s->st_info) != STB_LOCAL && s->st_shndx != SHN_ABS &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

/* The symbols that others see; their sections and addresses are known only when all is laid out. */
static void collect_symbols(linker *l) {
    vec_push(&l->symbols, (Elf64_Sym){0});
    text_append_char(&l->names, '\0');
    for (size_t i = 1; i < l->object.symbol_count; i++) {
        Elf64_Sym s = elf_symbol(&l->object, i);
        if (!is_exported(&s))
            continue;
        const char *name = elf_symbol_name(&l->object, &s);
        s.st_name = (Elf64_Word)l->names.length;
        text_append_bytes(&l->names, name, strlen(name) + 1);
        vec_push(&l->symbols, s);
    }
}

static bool place_symbols(linker *l, status *st) {
    for (size_t i = 1; i < l->symbols.count; i++) {
        Elf64_Sym *s = &l->symbols.items[i];
        if (!address_of(l, s, l->names.data + s->st_name, &s->st_value, st))
            return false;
        s->st_shndx = (Elf64_Section)l->place_of.items[s->st_shndx];
    }
    return true;
}

/* gABI, chapter 5, Hash Table. */
static uint32_t hash_of(const char *name) {
    uint32_t h = 0;
    for (; *name; name++) {
        h = (h << 4) + (unsigned char)*name;
        uint32_t top = h & 0xf0000000;
        h = (h ^ (top >> 24)) & ~top;
    }
    return h;
}

static uint32_t add_hash(linker *l, uint32_t symbols) {
    uint32_t count = (uint32_t)l->symbols.count;
    VEC(uint32_t) table = {0};
    vec_push(&table, count);
    vec_push(&table, count);
    for (uint32_t i = 0; i < 2 * count; i++)
        vec_push(&table, 0);
    uint32_t *bucket = table.items + 2, *chain = bucket + count;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t b = hash_of(l->names.data + l->symbols.items[i].st_name) % count;
        chain[i] = bucket[b];
        bucket[b] = i;
    }
    Elf64_Shdr header = {.sh_type = SHT_HASH,
                         .sh_flags = SHF_ALLOC,
                         .sh_link = symbols,
                         .sh_addralign = 4,
                         .sh_entsize = 4};
    uint32_t number =
        add_section(l, ".hash", header, table.items, table.count * sizeof *table.items);
    vec_release(&table);
    return number;
}

/* Symbols and their names, as two sections; returns the first's number. */
static uint32_t add_symbols(linker *l, const char *name, uint32_t type, const char *names) {
    uint64_t flags = type == SHT_DYNSYM ? SHF_ALLOC : 0;
    Elf64_Shdr strings = {.sh_type = SHT_STRTAB, .sh_flags = flags, .sh_addralign = 1};
    Elf64_Shdr header = {.sh_type = type,
                         .sh_flags = flags,
                         .sh_link = add_section(l, names, strings, l->names.data, l->names.length),
                         .sh_info = 1, /* the first that is not local */
                         .sh_addralign = 8,
                         .sh_entsize = sizeof(Elf64_Sym)};
    return add_section(l, name, header, l->symbols.items,
                       l->symbols.count * sizeof *l->symbols.items);
}

static uint32_t add_dynamic(linker *l, uint32_t symbols, uint32_t hash) {
    const Elf64_Shdr *table = &l->sections.items[symbols].header;
    const Elf64_Shdr *names = &l->sections.items[table->sh_link].header;
    const Elf64_Dyn entries[] = {
        {DT_SYMTAB, {table->sh_addr}},
        {DT_SYMENT, {sizeof(Elf64_Sym)}},
        {DT_STRTAB, {names->sh_addr}},
        {DT_STRSZ, {names->sh_size}},
        {DT_HASH, {l->sections.items[hash].header.sh_addr}},
        {DT_NULL, {0}},
    };
    Elf64_Shdr header = {.sh_type = SHT_DYNAMIC,
                         .sh_flags = SHF_ALLOC,
                         .sh_link = table->sh_link,
                         .sh_addralign = 8,
                         .sh_entsize = sizeof entries[0]};
    return add_section(l, ".dynamic", header, entries, sizeof entries);
}

/* ---- relocations ---- */
static bool relocate_one(linker *l, size_t target, const Elf64_Rela *r, status *st) {
    const elf_section *of = &l->object.sections[target];
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    uint64_t symbol = 0;
    Elf64_Sym s;
    if (elf_amdgpu.written_bytes(type) == 0)
        return true;
    if (!elf_find_symbol(&l->object, of, r, &s, st) ||
        !address_of(l, &s, elf_symbol_name(&l->object, &s), &symbol, st))
        return false;
    uint64_t place = l->sections.items[l->place_of.items[target]].header.sh_addr + r->r_offset;
    elf_fixup fixup = {.type = type,
                       .bytes = (unsigned char *)l->image->data + place,
                       .place = place,
                       .symbol = symbol,
                       .addend = (uint64_t)r->r_addend};
    return elf_amdgpu.apply(&fixup, st);
}

static bool relocate(linker *l, status *st) {
    for (size_t i = 0; i < l->object.section_count; i++) {
        const elf_section *s = &l->object.sections[i];
        if (s->header.sh_type != SHT_RELA || l->place_of.items[s->header.sh_info] == NO_SECTION)
            continue;
        for (size_t k = 0; k < elf_relocation_count(s); k++) {
            Elf64_Rela r = elf_relocation(&l->object, s, k);
            if (!relocate_one(l, s->header.sh_info, &r, st))
                return false;
        }
    }
    return true;
}

/* ---- headers ---- */
static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t begin, uint64_t end,
                          uint64_t alignment) {
    return (Elf64_Phdr){.p_type = type,
                        .p_flags = flags,
                        .p_offset = begin,
                        .p_vaddr = begin,
                        .p_paddr = begin,
                        .p_filesz = end - begin,
                        .p_memsz = end - begin,
                        .p_align = alignment};
}

static Elf64_Phdr segment_of(const linker *l, uint32_t type, uint32_t number) {
    const Elf64_Shdr *h = &l->sections.items[number].header;
    return segment(type, PF_R, h->sh_offset, h->sh_offset + h->sh_size, h->sh_addralign);
}

static void write_segments(linker *l, uint64_t code, uint64_t code_end, uint32_t note,
                           uint32_t dynamic) {
    const uint64_t first = sizeof(Elf64_Ehdr);
    const Elf64_Phdr segments[SEGMENTS] = {
        segment(PT_PHDR, PF_R, first, first + sizeof segments, 8),
        segment(PT_LOAD, PF_R, 0, l->constants_end, PAGE_BYTES),
        segment(PT_LOAD, PF_R | PF_X, code, code_end, PAGE_BYTES),
        segment_of(l, PT_DYNAMIC, dynamic),
        segment_of(l, PT_NOTE, note),
        segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0),
    };
    memcpy(l->image->data + first, segments, sizeof segments);
}

/* The section table, and the header that finds it. */
static void write_header(linker *l) {
    Elf64_Ehdr header = l->object.file.header;
    text names;
    text_init(&names);
    Elf64_Shdr strings = {.sh_type = SHT_STRTAB, .sh_addralign = 1};
    uint32_t number = add_section(l, ".shstrtab", strings, NULL, 0);
    for (size_t i = 0; i < l->sections.count; i++) {
        section *s = &l->sections.items[i];
        s->header.sh_name = (Elf64_Word)names.length;
        text_append_bytes(&names, s->name, strlen(s->name) + 1);
    }
    l->sections.items[number].header.sh_size = names.length;
    text_append_bytes(l->image, names.data, names.length);
    text_release(&names);
    pad_to(l, 8);
    header.e_type = ET_DYN;
    header.e_entry = 0;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = SEGMENTS;
    header.e_shoff = l->image->length;
    header.e_shnum = (Elf64_Half)l->sections.count;
    header.e_shstrndx = (Elf64_Half)number;
    for (size_t i = 0; i < l->sections.count; i++)
        text_append_bytes(l->image, &l->sections.items[i].header, sizeof(Elf64_Shdr));
    memcpy(l->image->data, &header, sizeof header);
}

/* ---- all of it ---- */
static bool find_note(const linker *l, uint32_t *out, status *st) {
    unsigned char system = l->object.file.header.e_ident[EI_OSABI];
    if (system != OS_AMDGPU_HSA)
        return status_set(st, STATUS_CORRUPT,
                          "the object is for the operating system %u, not for amdhsa", system);
    for (uint32_t i = 1; i < l->sections.count; i++) {
        *out = i;
        if (l->sections.items[i].header.sh_type == SHT_NOTE)
            return true;
    }
    return status_set(st, STATUS_CORRUPT, "the object has no note with metadata of its kernels");
}

static bool link_parsed(linker *l, status *st) {
    uint32_t note = NO_SECTION;
    static const char headers[sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr)];
    for (size_t i = 0; i < l->object.section_count; i++)
        vec_push(&l->place_of, NO_SECTION);
    vec_push(&l->sections, ((section){"", {0}}));
    text_append_bytes(l->image, headers, sizeof headers);
    collect_symbols(l);
    if (!refuse_data(l, st) || !add_group(l, GROUP_CONST, st) || !find_note(l, &note, st))
        return false;
    uint32_t symbols = add_symbols(l, ".dynsym", SHT_DYNSYM, ".dynstr");
    uint32_t dynamic = add_dynamic(l, symbols, add_hash(l, symbols));
    l->constants_end = l->image->length;
    pad_to(l, PAGE_BYTES);
    uint64_t code = l->image->length;
    if (!add_group(l, GROUP_CODE, st))
        return false;
    uint64_t code_end = l->image->length;
    if (!place_symbols(l, st) || !relocate(l, st))
        return false;
    memcpy(l->image->data + l->sections.items[symbols].header.sh_offset, l->symbols.items,
           l->symbols.count * sizeof *l->symbols.items);
    add_symbols(l, ".symtab", SHT_SYMTAB, ".strtab");
    write_segments(l, code, code_end, note, dynamic);
    write_header(l);
    return true;
}

bool hsaco_link(const void *object, size_t size_bytes, text *out, status *st) {
    linker l = {.image = out};
    if (!elf_parse(&l.object, &elf_amdgpu, object, size_bytes, st))
        return false;
    text_init(&l.names);
    bool ok = link_parsed(&l, st);
    if (!ok)
        text_clear(out);
    text_release(&l.names);
    vec_release(&l.symbols);
    vec_release(&l.sections);
    vec_release(&l.place_of);
    elf_release(&l.object);
    return ok;
}
