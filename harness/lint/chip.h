/* chip.h - inside the lint: what the assembler of a chip says of the code of a case. */
#ifndef TESSERA_HARNESS_LINT_CHIP_H
#define TESSERA_HARNESS_LINT_CHIP_H

#include "base/vec.h"
#include "tessera/compiler.h"

typedef struct chip_registers {
    uint32_t phase;
    int64_t registers; /* of a thread */
    int64_t spills;
    const char *unit; /* of what is spilled: "bytes", "registers"; static */
} chip_registers;
typedef VEC(chip_registers) chip_registers_list;

/* Makes the code and asks: of an AMD chip LLVM, of NVIDIA's the program `ptxas` (NULL: nobody is
 * asked, and the list stays empty). Released by the caller, whatever is returned. */
bool chip_registers_of(compiler_instance *instance, const compiler_options *options,
                       const char *ptxas, chip_registers_list *out, status *st);
/* Registers of a phase; NULL: nothing is said. */
const chip_registers *chip_registers_at(const chip_registers_list *list, uint32_t phase);

/* Reads what ptxas -v and the metadata of AMD's assembly say, phase by phase. */
void chip_registers_read_ptxas(const char *words, chip_registers_list *out);
void chip_registers_read_rocm(const char *assembly, chip_registers_list *out);

#endif
