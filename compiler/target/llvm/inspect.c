/* inspect.c - what a module's machine code is made of, read back from its bytes by a disassembler.
 */
#include <elf.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "module.h"
#include "target/target.h"
#include "tessera/compiler.h"

enum { LINE_BYTES = 256 };

static void initialize(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
}

/* Of "FORMAT/LEVEL" or "FORMAT/LEVEL:N". */
static const cpu_isa *level_of(const char *kind) {
    char name[32];
    const char *level = strchr(kind, '/') + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(level, ":"), level);
    return cpu_isa_find(name);
}

/* The memory operand of an instruction that works on the stack, in either assembler's notation. */
static bool touches_stack(const char *line) {
    return strstr(line, "(%rsp") || strstr(line, "(%rbp") || strstr(line, "[sp");
}

static void count_code(LLVMDisasmContextRef d, const unsigned char *code, uint64_t size,
                       compiler_code_facts *out) {
    char line[LINE_BYTES];
    for (uint64_t at = 0; at < size;) {
        size_t used = LLVMDisasmInstruction(d, (uint8_t *)(uintptr_t)(code + at), size - at, at,
                                            line, sizeof line);
        if (used == 0) { /* data among code */
            at++;
            continue;
        }
        at += used;
        out->instructions++;
        out->stack_accesses += touches_stack(line);
    }
    out->code_bytes += size;
}

/* The executable sections of an ELF object. */
static bool count_object(LLVMDisasmContextRef d, const unsigned char *object, size_t size,
                         compiler_code_facts *out, status *st) {
    Elf64_Ehdr header;
    if (size < sizeof header)
        return status_set(st, STATUS_CORRUPT, "an image of the module is no ELF object");
    memcpy(&header, object, sizeof header);
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        uint64_t at = header.e_shoff + (uint64_t)i * sizeof section;
        if (at > size || size - at < sizeof section)
            return status_set(st, STATUS_CORRUPT, "an image of the module is cut short");
        memcpy(&section, object + at, sizeof section);
        if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR))
            continue;
        if (section.sh_offset > size || size - section.sh_offset < section.sh_size)
            return status_set(st, STATUS_CORRUPT, "an image of the module is cut short");
        count_code(d, object + section.sh_offset, section.sh_size, out);
    }
    return true;
}

static bool count_part(const module_part *part, compiler_code_facts *out, status *st) {
    const cpu_isa *isa = level_of(part->kind);
    if (!isa)
        return status_set(st, STATUS_UNAVAILABLE, "code for %s cannot be read", part->kind);
    LLVMDisasmContextRef d =
        LLVMCreateDisasmCPUFeatures(isa->triple, isa->cpu, isa->features, NULL, 0, NULL, NULL);
    if (!d)
        return status_set(st, STATUS_UNAVAILABLE, "this LLVM has no disassembler for %s",
                          isa->name);
    bool ok = count_object(d, part->data, part->size_bytes, out, st);
    LLVMDisasmDispose(d);
    return ok;
}

bool compiler_code_facts_of(const void *image, size_t size_bytes, compiler_code_facts *out,
                            status *st) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    module_part part;
    pthread_once(&once, initialize);
    *out = (compiler_code_facts){0};
    if (!module_check(image, size_bytes, st))
        return false;
    for (size_t i = 0; module_part_at(image, size_bytes, i, &part); i++)
        if (module_is_image(part.kind) && !count_part(&part, out, st))
            return false;
    return true;
}
