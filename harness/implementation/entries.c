/* entries.c - reads PTX as text, cubins and HSACOs as ELF.
 *
 * PTX: NVIDIA's "Parallel Thread Execution ISA", 5.4 and 10.1 (.entry, .param). A cubin has a
 * section ".nv.info.NAME" for each function, of records with a format (4: sized, 3: a value), a
 * number (0x17: a parameter, 0x19: how long all are) and their bytes: of a parameter an index, an
 * ordinal, an offset, and 18 bits below its size. NVIDIA does not describe it; ci/gpu-tools'
 * assembler makes the files that the tests read. */
#include "implementation/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/elf.h"
#include "base/file.h"
#include "tessera/chip.h"

enum { MACHINE_CUDA = 190, MACHINE_AMDGPU = 224, STO_CUDA_ENTRY = 0x10 };

static implementation_entry *add(implementation_entries *out, const char *name, size_t length) {
    implementation_entry *e;
    for (size_t i = 0; i < out->items.count; i++)
        if (strlen(out->items.items[i].name) == length &&
            memcmp(out->items.items[i].name, name, length) == 0)
            return NULL; /* it was declared before */
    vec_push(&out->items, ((implementation_entry){0}));
    e = &out->items.items[out->items.count - 1];
    e->name = arena_strndup(&out->memory, name, length);
    return e;
}

static void add_parameter(implementation_entry *e, uint32_t size) {
    if (e && e->count < ENTRY_PARAMETERS_MAX)
        e->sizes[e->count] = size;
    if (e)
        e->count++;
}

/* ---- PTX ---- */

/* Comments become blanks. */
static void blank_comments(char *words) {
    for (char *p = words; (p = strchr(p, '/'));) {
        char *end = p[1] == '/' ? p + strcspn(p, "\n") : p[1] == '*' ? strstr(p + 2, "*/") : p;
        if (!end)
            end = p + strlen(p);
        else if (p[1] == '*')
            end += 2;
        end = end == p ? p + 1 : end;
        if (p[1] == '/' || p[1] == '*')
            memset(p, ' ', (size_t)(end - p));
        p = end;
    }
}

/* ".param .align 8 .b8 s[24]": the bits of its type, and how many elements there are. */
static uint32_t parameter_bytes(const char *words, const char *end) {
    uint32_t bytes = 0, count = 1;
    for (const char *p = words; p < end; p++) {
        bool typed =
            *p == '.' && p + 2 < end && strchr("usbf", p[1]) && strspn(p + 2, "0123456789") > 0;
        if (typed)
            bytes = (uint32_t)strtoul(p + 2, NULL, 10) / 8;
        if (*p == '[')
            count = (uint32_t)strtoul(p + 1, NULL, 10);
    }
    return bytes * count;
}

static void take_ptx_parameters(implementation_entry *e, const char *p) {
    const char *close = strchr(p, ')');
    if (e)
        e->known = close != NULL;
    while (close && p < close) {
        const char *comma = memchr(p, ',', (size_t)(close - p));
        const char *end = comma ? comma : close;
        if (memchr(p, '.', (size_t)(end - p)))
            add_parameter(e, parameter_bytes(p, end));
        p = end + 1;
    }
}

static void read_ptx(implementation_entries *out, const implementation_file *f) {
    static const char word[] = ".entry", blanks[] = " \t\r\n";
    char *words = arena_strndup(&out->memory, f->bytes, f->size_bytes);
    blank_comments(words);
    for (const char *p = words; (p = strstr(p, word));) {
        p += strlen(word);
        if (!strchr(blanks, *p))
            continue;
        p += strspn(p, blanks);
        size_t length = strcspn(p, " \t\r\n({;");
        const char *after = p + length + strspn(p + length, blanks);
        implementation_entry *e = length ? add(out, p, length) : NULL;
        if (*after == '(')
            take_ptx_parameters(e, after + 1);
        else if (e)
            e->known = true; /* it takes none */
        p = after;
    }
}

/* ---- cubin ---- */

/* One parameter; returns where it ends. */
static uint32_t read_parameter(implementation_entry *entry, const unsigned char *body) {
    enum { SIZE_SHIFT = 18 };
    uint16_t place[2]; /* the ordinal, the offset */
    uint32_t packed;
    memcpy(place, body + 4, sizeof place);
    memcpy(&packed, body + 8, sizeof packed);
    if (place[0] < ENTRY_PARAMETERS_MAX)
        entry->sizes[place[0]] = packed >> SIZE_SHIFT;
    entry->count = entry->count > place[0] ? entry->count : place[0] + 1u;
    return place[1] + (packed >> SIZE_SHIFT);
}

/* Parameters may come in any order: their ordinals have it. Together they are as long as another
 * record says; where they are not, there are some that we cannot read. */
static void read_info(implementation_entry *entry, const unsigned char *p, uint64_t size) {
    enum { SIZED = 4, VALUE = 3, PARAMETER = 0x17, ALL = 0x19, PARAMETER_BYTES = 12 };
    uint32_t all = 0, end = 0;
    uint64_t at = 0;
    while (size - at >= 4) {
        uint16_t value;
        memcpy(&value, p + at + 2, sizeof value);
        uint64_t length = p[at] == SIZED ? value : 0;
        if (length > size - at - 4)
            return;
        if (p[at] == VALUE && p[at + 1] == ALL)
            all = value;
        if (p[at] == SIZED && p[at + 1] == PARAMETER && length >= PARAMETER_BYTES) {
            uint32_t here = read_parameter(entry, p + at + 4);
            end = here > end ? here : end;
        }
        at += 4 + length;
    }
    entry->known = at == size && all == end;
}

static void find_info(const elf_file *e, implementation_entry *entry) {
    static const char prefix[] = ".nv.info.";
    Elf64_Shdr s;
    for (uint32_t i = 0; elf_file_section(e, i, &s); i++) {
        const char *name = elf_file_string(e, e->header.e_shstrndx, s.sh_name);
        const unsigned char *bytes = name && strncmp(name, prefix, strlen(prefix)) == 0 &&
                                             strcmp(name + strlen(prefix), entry->name) == 0
                                         ? elf_file_part(e, s.sh_offset, s.sh_size)
                                         : NULL;
        if (bytes)
            read_info(entry, bytes, s.sh_size);
    }
}

static void read_symbols(const elf_file *e, const Elf64_Shdr *table, implementation_entries *out) {
    Elf64_Sym s;
    for (uint64_t i = 0; elf_file_symbol(e, table, i, &s); i++) {
        const char *name = ELF64_ST_TYPE(s.st_info) == STT_FUNC && (s.st_other & STO_CUDA_ENTRY)
                               ? elf_file_string(e, table->sh_link, s.st_name)
                               : NULL;
        implementation_entry *entry = name ? add(out, name, strlen(name)) : NULL;
        if (entry)
            find_info(e, entry);
    }
}

static void read_cubin(implementation_entries *out, const implementation_file *f) {
    elf_file e;
    Elf64_Shdr s;
    if (elf_file_open(&e, f->bytes, f->size_bytes))
        return;
    for (uint32_t i = 0; elf_file_section(&e, i, &s); i++)
        if (s.sh_type == SHT_SYMTAB)
            read_symbols(&e, &s, out);
}

/* ---- HSACO ---- */

static void take_hsaco(void *context, const char *symbol, const uint32_t *sizes, uint32_t count) {
    implementation_entry *e = add(context, symbol, strlen(symbol));
    for (uint32_t i = 0; i < count; i++)
        add_parameter(e, sizes[i]);
    if (e)
        e->known = true;
}

/* ---- all of them ---- */

implementation_kind implementation_machine_code_kind(const implementation_file *f) {
    elf_file e;
    unsigned machine = elf_file_open(&e, f->bytes, f->size_bytes) ? 0 : e.header.e_machine;
    return machine == MACHINE_CUDA     ? IMPLEMENTATION_CUBIN
           : machine == MACHINE_AMDGPU ? IMPLEMENTATION_HSACO
                                       : IMPLEMENTATION_KIND_COUNT;
}

bool implementation_entries_read(implementation_entries *out, implementation_kind kind,
                                 const implementation_file *f, status *st) {
    *out = (implementation_entries){0};
    arena_init(&out->memory);
    bool ok = true;
    if (kind == IMPLEMENTATION_PTX)
        read_ptx(out, f);
    else if (kind == IMPLEMENTATION_CUBIN)
        read_cubin(out, f);
    else
        ok = compiler_hsaco_entries(f->bytes, f->size_bytes, take_hsaco, out, st);
    return ok && (out->items.count > 0 ||
                  status_set(st, STATUS_CORRUPT, "it has no entry point that can be read"));
}

void implementation_entries_release(implementation_entries *entries) {
    vec_release(&entries->items);
    arena_release(&entries->memory);
}

const implementation_entry *implementation_entry_find(const implementation_entries *entries,
                                                      const char *name) {
    for (size_t i = 0; i < entries->items.count; i++)
        if (strcmp(entries->items.items[i].name, name) == 0)
            return &entries->items.items[i];
    return NULL;
}
