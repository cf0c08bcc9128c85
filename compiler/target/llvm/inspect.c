/* inspect.c - what a module's machine code is made of, read back from its bytes by a disassembler:
 * as counts, and as text. Whoever made the bytes is not trusted. */
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/elf.h"
#include "module.h"
#include "target/llvm_entry.h"

enum { LINE_BYTES = 256 };

static void initialize(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
}

/* Level of "FORMAT/LEVEL" or "FORMAT/LEVEL:N". Threads that are emulated are code of the level that
 * they run on, "elf/ptx-emulated+LEVEL". */
static const target_info *level_of(const char *kind) {
    char name[32];
    const char *level = strchr(kind, '/') + 1, *emulated = strstr(level, "emulated+");
    if (emulated)
        level = strchr(emulated, '+') + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(level, ":"), level);
    return target_find(name);
}

/* Reader of code line by line. `label`: a function begins; may be NULL. */
typedef struct line_reader {
    void (*label)(void *context, const char *name);
    void (*instruction)(void *context, const char *line);
    void *context;
} line_reader;

/* ---- ELF objects ---- */

typedef struct object {
    elf_file file;
    Elf64_Shdr symbols; /* sh_size 0: there are none */
} object;

static bool cut_short(status *st) {
    return status_set(st, STATUS_CORRUPT, "an image of the module is cut short");
}

static bool object_open(object *o, const void *bytes, size_t size, status *st) {
    Elf64_Shdr section;
    *o = (object){0};
    if (elf_file_open(&o->file, bytes, size))
        return status_set(st, STATUS_CORRUPT, "an image of the module is no ELF object");
    for (uint32_t i = 0; i < o->file.header.e_shnum; i++) {
        if (!elf_file_section(&o->file, i, &section))
            return cut_short(st);
        if (section.sh_type == SHT_SYMTAB && !o->symbols.sh_size)
            o->symbols = section;
    }
    return true;
}

/* The name of the function that begins there, NULL: none does. An object's addresses are those in
 * the section, of what is linked they are its own. */
static const char *function_at(const object *o, uint32_t section, uint64_t address) {
    Elf64_Sym s;
    for (uint64_t i = 0; elf_file_symbol(&o->file, &o->symbols, i, &s); i++)
        if (s.st_shndx == section && s.st_value == address && ELF64_ST_TYPE(s.st_info) == STT_FUNC)
            return elf_file_string(&o->file, o->symbols.sh_link, s.st_name);
    return NULL;
}

/* The next executable section, from *index on, which is moved behind it. */
static bool next_code(const object *o, uint32_t *index, Elf64_Shdr *out) {
    while (elf_file_section(&o->file, (*index)++, out))
        if (out->sh_type == SHT_PROGBITS && (out->sh_flags & SHF_EXECINSTR))
            return true;
    return false;
}

static void read_section(LLVMDisasmContextRef d, const object *o, uint32_t index,
                         const Elf64_Shdr *section, const line_reader *reader) {
    const unsigned char *code = o->file.bytes + section->sh_offset;
    char line[LINE_BYTES];
    for (uint64_t at = 0; at < section->sh_size;) {
        uint64_t address = section->sh_addr + at;
        const char *name = reader->label ? function_at(o, index, address) : NULL;
        if (name)
            reader->label(reader->context, name);
        size_t used = LLVMDisasmInstruction(d, (uint8_t *)(uintptr_t)(code + at),
                                            section->sh_size - at, address, line, sizeof line);
        if (used)
            reader->instruction(reader->context, line);
        at += used ? used : 1; /* data among code */
    }
}

/* The executable sections. */
static bool read_object(LLVMDisasmContextRef d, const module_part *part, const line_reader *reader,
                        status *st) {
    object o;
    if (!object_open(&o, part->data, part->size_bytes, st))
        return false;
    Elf64_Shdr section;
    for (uint32_t i = 0; next_code(&o, &i, &section);)
        read_section(d, &o, i - 1, &section, reader);
    return true;
}

/* ---- PTX ---- */

/* It is text already: an instruction a line, within the braces of a function. Directives begin with
 * a point, labels with a dollar. */
static void read_ptx(const module_part *part, const line_reader *reader) {
    char line[LINE_BYTES];
    int depth = 0;
    const char *at = part->data, *end = at + part->size_bytes;
    for (; at < end; at++) {
        while (at < end && (*at == '\t' || *at == ' '))
            at++;
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        snprintf(line, sizeof line, "%.*s", (int)(stop - at), at);
        depth += (*line == '{') - (*line == '}');
        if (depth > 0 && !strchr("{}.$/", *line) && strchr(line, ';'))
            reader->instruction(reader->context, line);
        at = stop;
    }
}

static bool is_ptx(const char *kind) {
    return strncmp(kind, "ptx/", 4) == 0;
}

static bool is_spirv(const char *kind) {
    return strncmp(kind, "spirv/", 6) == 0;
}

/* An instruction's first word has how many words it is in its upper half. No names: spirv-dis has
 * them. */
static void read_spirv(const module_part *part, const line_reader *reader) {
    enum { HEAD_WORDS = 5, SHIFT = 16, OPCODE = 0xffff, LINE = 64 };
    uint32_t word;
    char line[LINE];
    for (size_t at = HEAD_WORDS * sizeof word; at + sizeof word <= part->size_bytes;) {
        memcpy(&word, (const char *)part->data + at, sizeof word);
        uint32_t words = word >> SHIFT ? word >> SHIFT : 1;
        snprintf(line, sizeof line, "\topcode %u, %u words", word & OPCODE, words);
        reader->instruction(reader->context, line);
        at += words * sizeof word;
    }
}

static bool read_part(const module_part *part, const line_reader *reader, status *st) {
    const target_info *isa = level_of(part->kind);
    if (!isa)
        return status_set(st, STATUS_UNAVAILABLE, "code for %s cannot be read", part->kind);
    if (is_spirv(part->kind)) {
        read_spirv(part, reader);
        return true;
    }
    if (is_ptx(part->kind)) {
        read_ptx(part, reader);
        return true;
    }
    LLVMDisasmContextRef d =
        LLVMCreateDisasmCPUFeatures(isa->triple, isa->cpu, isa->features, NULL, 0, NULL, NULL);
    if (!d)
        return status_set(st, STATUS_UNAVAILABLE, "this LLVM has no disassembler for %s",
                          isa->name);
    bool ok = read_object(d, part, reader, st);
    LLVMDisasmDispose(d);
    return ok;
}

static void start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
}

/* ---- counts ---- */

/* The memory operand of an instruction that works on the stack, in any of the assemblers'
 * notations; what a thread of a GPU has is reached by instructions of its own. */
static bool touches_stack(const char *line) {
    static const char *const words[] = {"(%rsp",   "(%rbp",    "[sp",     "scratch_",
                                        "buffer_", "ld.local", "st.local"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(line, words[i]))
            return true;
    return false;
}

static void count_instruction(void *context, const char *line) {
    compiler_code_facts *facts = context;
    facts->instructions++;
    facts->stack_accesses += touches_stack(line);
}

static bool executable_bytes(const module_part *part, uint64_t *bytes, status *st) {
    object o;
    if (is_ptx(part->kind) || is_spirv(part->kind)) {
        *bytes += part->size_bytes;
        return true;
    }
    if (!object_open(&o, part->data, part->size_bytes, st))
        return false;
    Elf64_Shdr section;
    for (uint32_t i = 0; next_code(&o, &i, &section);)
        *bytes += section.sh_size;
    return true;
}

bool llvm_code_facts(const void *image, size_t size_bytes, compiler_code_facts *out, status *st) {
    module_part part;
    const line_reader reader = {NULL, count_instruction, out};
    start();
    *out = (compiler_code_facts){0};
    if (!module_check(image, size_bytes, st))
        return false;
    for (size_t i = 0; module_part_at(image, size_bytes, i, &part); i++)
        if (module_is_image(part.kind) &&
            (!read_part(&part, &reader, st) || !executable_bytes(&part, &out->code_bytes, st)))
            return false;
    return true;
}

/* ---- text ---- */

static void put_label(void *context, const char *name) {
    text_printf(context, "%s:\n", name);
}

static void put_instruction(void *context, const char *line) {
    text_printf(context, "%s\n", line);
}

bool llvm_code_text(const char *kind, const void *code, size_t size_bytes, text *out, status *st) {
    const module_part part = {kind, code, size_bytes};
    const line_reader reader = {put_label, put_instruction, out};
    start();
    if (!is_ptx(kind))
        return read_part(&part, &reader, st);
    text_append_bytes(out, code, size_bytes);
    return true;
}
