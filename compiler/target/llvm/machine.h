/* machine.h - LLVM's target machines, which are kept: what one knows of its chip takes as long to
 * make as the code of a small kernel. */
#ifndef TESSERA_COMPILER_TARGET_LLVM_MACHINE_H
#define TESSERA_COMPILER_TARGET_LLVM_MACHINE_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#include "base/status.h"
#include "target/target.h"

/* One for the target, which is the caller's alone until machine_give. NULL with a status: this LLVM
 * has no such target. */
typedef struct codegen_machine codegen_machine;
codegen_machine *machine_take(const target_info *isa, bool unoptimised, status *st);
void machine_give(codegen_machine *machine);
LLVMTargetMachineRef machine_of(const codegen_machine *machine);

#endif
