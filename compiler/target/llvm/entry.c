/* entry.c - the table of target/llvm, for whoever has it in the program, and for a library of its
 * own. */
#include "target/llvm_entry.h"

#include "base/arena.h"
#include "ir/opset.h"
#include "tile/tile.h"

/* A library has copies of what keeps these; in a program they are the same ones. */
static void begin(void (*end_process)(void)) {
    base_when_out_of_memory(end_process);
    opset_register(tile_op_table());
}

__attribute__((visibility("default"))) extern const llvm_entry tessera_llvm;
const llvm_entry tessera_llvm = {.begin = begin,
                                 .version = llvm_version,
                                 .emit = llvm_emit,
                                 .code_facts = llvm_code_facts,
                                 .code_text = llvm_code_text};
