/* depth.h - how far an expression reaches back.
 *
 * A value that is computed where it is used becomes a part of every expression that uses it. Those
 * are built by functions that call themselves, and by a code generator that does: both need a bound
 * that does not grow with the source. */
#ifndef TESSERA_OPS_DEPTH_H
#define TESSERA_OPS_DEPTH_H

#include "ir/ir.h"

/* Operations from a value back to memory, at most. */
enum { GRAPH_DEPTH_MAX = 192 };

/* Marks values of a kernel or function, by their id, that must have memory so that no expression is
 * deeper: in `stored`, and in `deep` (may be NULL) these alone. What has memory for another reason
 * may still be computed together with what reads it; what reads a deep value must read its memory.
 */
void graph_store_deep(const ir_module *m, ir_op kernel, bool *stored, bool *deep);

#endif
