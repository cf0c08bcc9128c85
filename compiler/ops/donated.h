/* donated.h - donated inputs: memory that a kernel may give to an output.
 *
 * The attribute `donated` of a kernel has an integer for each input: the number of the output that
 * may be the same buffer in a launch, or -1; kernels of every level have it. The bits of the
 * outputs do not depend on it. */
#ifndef TESSERA_OPS_DONATED_H
#define TESSERA_OPS_DONATED_H

#include "ir/ir.h"

/* The output that may lie where the input does; -1: none. */
int64_t donated_output(const ir_module *m, ir_op kernel, uint32_t input);
/* Number of inputs, where the kernel has the attribute; else 0. */
uint32_t donated_inputs(const ir_module *m, ir_op kernel);
/* Some input is donated. */
bool donated_any(const ir_module *m, ir_op kernel);
/* An input and its output are of one type, and an output has one input at most. */
bool donated_verify(const ir_module *m, ir_op kernel, status *st);

#endif
