/* code.c - machine code, made and read by LLVM, wherever that is. */
#include "target/llvm_entry.h"

bool target_emit(const ir_module *tile, const emit_request *request, text *out, status *st) {
    const llvm_entry *llvm = llvm_entry_find(st);
    return llvm && llvm->emit(tile, request, out, st);
}

bool compiler_code_facts_of(const void *image, size_t size_bytes, compiler_code_facts *out,
                            status *st) {
    const llvm_entry *llvm = llvm_entry_find(st);
    return llvm && llvm->code_facts(image, size_bytes, out, st);
}

bool compiler_code_text(const char *kind, const void *code, size_t size_bytes, text *out,
                        status *st) {
    const llvm_entry *llvm = llvm_entry_find(st);
    return llvm && llvm->code_text(kind, code, size_bytes, out, st);
}

bool compiler_open_llvm(status *st) {
    return llvm_entry_find(st) != NULL;
}
