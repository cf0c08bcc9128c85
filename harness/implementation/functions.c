/* functions.c - the functions of shared objects, Python files and modules, as the
 * files say it. */
#include <string.h>

#include "base/elf.h"
#include "implementation/parts.h"
#include "module.h"

/* ---- ELF ---- */

/* Programs that lie anywhere are ET_DYN, too: they ask for an interpreter. */
bool implementation_elf_is_shared(const implementation_file *f) {
    elf_file e;
    Elf64_Phdr p;
    if (elf_file_open(&e, f->bytes, f->size_bytes) || e.header.e_type != ET_DYN)
        return false;
    bool program = false;
    for (uint32_t i = 0; elf_file_segment(&e, i, &p); i++)
        program |= p.p_type == PT_INTERP;
    return !program;
}

static void add(implementation *i, const char *name) {
    static const char prefix[] = "__tvm_ffi_";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    vec_push(&i->functions, arena_strndup(&i->memory, name, strlen(name)));
}

static void add_symbols(implementation *i, const elf_file *e, const Elf64_Shdr *table) {
    Elf64_Sym s;
    for (uint64_t k = 0; elf_file_symbol(e, table, k, &s); k++) {
        unsigned type = ELF64_ST_TYPE(s.st_info);
        const char *name = s.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC)
                               ? elf_file_string(e, table->sh_link, s.st_name)
                               : NULL;
        if (name && *name)
            add(i, name);
    }
}

bool implementation_elf_functions(implementation *i, const implementation_file *f, status *st) {
    elf_file e;
    Elf64_Shdr section;
    uint32_t count = elf_file_open(&e, f->bytes, f->size_bytes) ? 0 : e.header.e_shnum;
    for (uint32_t k = 0; k < count; k++) {
        if (!elf_file_section(&e, k, &section))
            return status_set(st, STATUS_CORRUPT, "--with %s: it is cut short", i->path);
        if (section.sh_type == SHT_DYNSYM) {
            add_symbols(i, &e, &section);
            return true;
        }
    }
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
