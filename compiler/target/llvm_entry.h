/* llvm_entry.h - what the rest of the compiler asks of LLVM, as a table. Programs that have
 * target/llvm in them take it from there; tsr opens a library with it when it first needs code,
 * since LLVM takes 15 ms to load (target/open_llvm.c). */
#ifndef TESSERA_TARGET_LLVM_ENTRY_H
#define TESSERA_TARGET_LLVM_ENTRY_H

#include "ir/ir.h"
#include "target/target.h"
#include "tessera/compiler.h"

#define LLVM_ENTRY_SYMBOL "tessera_llvm"
#define LLVM_BUILD_SYMBOL "tessera_llvm_build"

typedef struct llvm_entry {
    /* Before the others, once: what ends the process when there is no memory, or NULL. */
    void (*begin)(void (*end_process)(void));
    const char *(*version)(void);
    bool (*emit)(const ir_module *tile, const emit_request *request, text *out, status *st);
    bool (*code_facts)(const void *image, size_t size_bytes, compiler_code_facts *out, status *st);
    bool (*code_text)(const char *kind, const void *code, size_t size_bytes, text *out, status *st);
} llvm_entry;

/* The same text in a library and in the programs of its build (build.cmake). */
extern const char tessera_llvm_build[];

/* NULL with STATUS_UNAVAILABLE: the library is not there, or of another build. */
const llvm_entry *llvm_entry_find(status *st);

bool llvm_emit(const ir_module *tile, const emit_request *request, text *out, status *st);
const char *llvm_version(void);
bool llvm_code_facts(const void *image, size_t size_bytes, compiler_code_facts *out, status *st);
bool llvm_code_text(const char *kind, const void *code, size_t size_bytes, text *out, status *st);

#endif
