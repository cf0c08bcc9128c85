/* describe.h - what a module's metadata says of an image for readers beside what a launch of it
 * needs: layouts, epilogues, registers (docs/modules.md). All of it is owned by the caller. */
#ifndef TESSERA_COMPILER_DESCRIBE_H
#define TESSERA_COMPILER_DESCRIBE_H

#include <jansson.h>

#include "target/target.h"
#include "tessera/compiler.h"

/* The name of a phase's code. */
void describe_symbol(const ir_module *m, ir_op phase, text *out);

/* Under the symbol of each phase with a contraction, the names of the element-wise operations
 * behind it, in order. */
json_t *describe_epilogues(ir_module *schedule);

/* Under the symbol of each phase that has an epilogue: the layout, shape and type of the largest
 * tile that products are added in. Empty where tiles are not spread over threads. */
json_t *describe_fragments(ir_module *laid_out, const json_t *epilogues);

/* The matrix units that multiply, as orders, each once. Empty: none does. */
json_t *describe_units(ir_module *laid_out);

/* Resources of a workgroup on the chip, and by symbol the registers of its threads, as far as they
 * are known. NULL: for a CPU, or (with a status) the assembler failed or the code is damaged. */
json_t *describe_resources(const ir_module *laid_out, const target_info *target, const text *code,
                           const compiler_assembler *assembler, status *st);

/* The maps of tensors that a phase takes, as "maps" of it, if it takes any. */
void describe_maps(const ir_module *m, ir_op phase, json_t *out);

#endif
