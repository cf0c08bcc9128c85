/* copy.h - copies of operations, in their module or in one like it. */
#ifndef TESSERA_IR_COPY_H
#define TESSERA_IR_COPY_H

#include "ir/ir.h"

/* Builds the operation of `from`, the builder's module or one that ir_module_like made it of, anew,
 * with its regions. `copies`, by value: what stands for an operand, 0: the value itself; receives
 * what the copy makes. It has room for all values of what is copied. */
ir_op ir_copy_op(ir_builder *b, const ir_module *from, ir_op op, ir_value *copies);

/* The same attribute of any module. */
ir_attr ir_copy_attr(ir_module *m, const ir_module *from, ir_attr attr);

#endif
