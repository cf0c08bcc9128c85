/* functions.c - the functions of shared objects, Python files and modules, as the
 * files say it. */
#include <elf.h>
#include <string.h>

#include "implementation/parts.h"
#include "module.h"

/* ---- ELF ---- */

const void *implementation_file_part(const implementation_file *f, uint64_t offset,
                                     uint64_t size_bytes) {
    bool inside = offset <= f->size_bytes && size_bytes <= f->size_bytes - offset;
    return inside ? f->bytes + offset : NULL;
}

static const Elf64_Ehdr *header(const implementation_file *f) {
    const Elf64_Ehdr *h = implementation_file_part(f, 0, sizeof *h);
    bool is_elf = h && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
                  h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_type == ET_DYN;
    return is_elf ? h : NULL;
}

/* Programs that lie anywhere are ET_DYN, too: they ask for an interpreter. */
bool implementation_elf_is_shared(const implementation_file *f) {
    const Elf64_Ehdr *h = header(f);
    const Elf64_Phdr *p = h && h->e_phentsize == sizeof *p
                              ? implementation_file_part(f, h->e_phoff, h->e_phnum * sizeof *p)
                              : NULL;
    bool program = false;
    for (int i = 0; p && i < h->e_phnum; i++)
        program |= p[i].p_type == PT_INTERP;
    return p && !program;
}

const char *implementation_elf_string(const implementation_file *f, const Elf64_Shdr *strings,
                                      uint64_t offset) {
    const char *s = implementation_file_part(f, strings->sh_offset, strings->sh_size);
    bool ends = s && offset < strings->sh_size &&
                memchr(s + offset, '\0', strings->sh_size - offset) != NULL;
    return ends ? s + offset : NULL;
}

static void add(implementation *i, const char *name) {
    static const char prefix[] = "__tvm_ffi_";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    vec_push(&i->functions, arena_strndup(&i->memory, name, strlen(name)));
}

static bool add_symbols(implementation *i, const implementation_file *f, const Elf64_Shdr *table,
                        const Elf64_Shdr *strings) {
    const Elf64_Sym *symbols = implementation_file_part(f, table->sh_offset, table->sh_size);
    for (uint64_t k = 0; symbols && k < table->sh_size / sizeof *symbols; k++) {
        unsigned type = ELF64_ST_TYPE(symbols[k].st_info);
        const char *name =
            symbols[k].st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC)
                ? implementation_elf_string(f, strings, symbols[k].st_name)
                : NULL;
        if (name && *name)
            add(i, name);
    }
    return symbols != NULL;
}

bool implementation_elf_functions(implementation *i, const implementation_file *f, status *st) {
    const Elf64_Ehdr *h = header(f);
    const Elf64_Shdr *sections =
        h && h->e_shentsize == sizeof *sections
            ? implementation_file_part(f, h->e_shoff, h->e_shnum * sizeof *sections)
            : NULL;
    for (int k = 0; sections && k < h->e_shnum; k++)
        if (sections[k].sh_type == SHT_DYNSYM && sections[k].sh_link < h->e_shnum)
            return add_symbols(i, f, &sections[k], &sections[sections[k].sh_link]) ||
                   status_set(st, STATUS_CORRUPT, "--with %s: it is cut short", i->path);
    return status_set(st, STATUS_CORRUPT, "--with %s: a shared object without a table of symbols",
                      i->path);
}

/* ---- Python ---- */

static size_t name_length(const char *s) {
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* `def NAME` and `NAME =` at the beginning of a line. */
void implementation_python_functions(implementation *i, const implementation_file *f) {
    for (const char *line = f->bytes; line && *line;) {
        const char *name = strncmp(line, "def ", 4) == 0 ? line + 4 : line;
        size_t length = name_length(name), blanks = strspn(name + length, " ");
        bool assigned = name[length + blanks] == '=' && name[length + blanks + 1] != '=';
        if (length && (name != line || assigned))
            vec_push(&i->functions, arena_strndup(&i->memory, name, length));
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : NULL;
    }
}

/* ---- modules ---- */

bool implementation_module_functions(implementation *i, const implementation_file *f, status *st) {
    module_part metadata;
    json_error_t error;
    if (!module_check(f->bytes, f->size_bytes, st) ||
        !module_find(f->bytes, f->size_bytes, "metadata", &metadata))
        return status_set(st, STATUS_CORRUPT, "--with %s", i->path);
    json_t *root = json_loadb(metadata.data, metadata.size_bytes, 0, &error);
    const char *name = json_string_value(json_object_get(root, "name"));
    if (name)
        vec_push(&i->functions, arena_strndup(&i->memory, name, strlen(name)));
    json_decref(root);
    return name || status_set(st, STATUS_CORRUPT, "--with %s: its metadata has no name", i->path);
}
