/* irdl.h - our operations as MLIR's IR Definition Language, so that a stock mlir-opt can verify our
 * IR.
 *
 * IRDL (as of MLIR 19) can say less than our tables, so a module is checked in a spelling made for
 * it, with the same operations and values:
 *   - attributes stand in a dictionary, not as properties: an operation defined by IRDL has none;
 *   - types and attributes of ours belong to a dialect `tsr` that nobody registers: a registered
 * one would have to define their syntax;
 *   - every block ends in "tsr.end": IRDL cannot declare an operation to be a terminator;
 *   - variadic operands and results are cut into runs of one type, their lengths given as segment
 * sizes: a constraint in IRDL binds all values of a segment to one type. What is verified: the
 * number of operands, results and regions, required attributes and their kinds, and that operations
 * of Graph IR work on tensors. Optional attributes are not declared: IRDL would require them. */
#ifndef TESSERA_IR_IRDL_H
#define TESSERA_IR_IRDL_H

#include "ir/ir.h"
#include "ir/opset.h"

enum {
    IRDL_RUNS = 72
}; /* segments of a variadic operand or result; a longer list is refused by mlir-opt */

/* The IRDL file of all registered tables. `tensors_only` says which operations take and give
 * tensors alone; NULL: none. */
void irdl_print(bool (*tensors_only)(int opcode), text *out);
/* A module in the spelling that the IRDL file describes. */
void irdl_print_module(const ir_module *m, text *out);

#endif
