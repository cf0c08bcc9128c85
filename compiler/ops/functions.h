/* functions.h - functions beside a kernel, and calls of them: which function a call means, and what
 * makes a call right. */
#ifndef TESSERA_OPS_FUNCTIONS_H
#define TESSERA_OPS_FUNCTIONS_H

#include "ir/ir.h"

/* The function of a name; 0: there is none. */
ir_op function_named(const ir_module *m, const char *name);
/* The function exists, and takes and gives what the call does: the same types, symbols included. */
bool functions_verify_call(const ir_module *m, ir_op call, status *st);
/* Names are unique, and no function calls itself, straight or through others. */
bool functions_verify(const ir_module *m, status *st);

/* Tensors that a function or kernel takes and gives. */
uint32_t functions_buffers(const ir_module *m, ir_op function);

#endif
