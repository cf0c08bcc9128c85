/* linked.c - the table of target/llvm in a program that has it. tsr has open_llvm.c in its place.
 */
#include "target/llvm_entry.h"

extern const llvm_entry tessera_llvm;

const llvm_entry *llvm_entry_find(status *st) {
    (void)st;
    return &tessera_llvm;
}

const char *target_llvm_version(void) {
    return llvm_version();
}

void target_llvm_identity(text *out) {
    text_append(out, llvm_version());
}
