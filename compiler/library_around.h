/* library_around.h - a composite's kernel of tiles with the element-wise work around it: what its
 * operands are made of is computed where tiles of them are loaded, and what becomes of its result
 * where that is given. */
#ifndef TESSERA_COMPILER_LIBRARY_AROUND_H
#define TESSERA_COMPILER_LIBRARY_AROUND_H

#include "ir/ir.h"

/* The value of which another is no more than a form: with other axes, or its narrow floats as f32.
 */
ir_value library_origin(const ir_module *graph, ir_value v);

/* The kernel of a graph of primitives and one composite, of static dimensions. `tiles` has a kernel
 * of tiles for the composite alone: arguments for its operands, in their order, and one result,
 * each [all leading axes, rows, columns] with instances along the first one; or with several
 * leading axes of its result, and operands that are the graph's arguments, which it loads as it
 * says. Owned (ir_module_free); NULL: the graph has more in it than is of such tiles. */
ir_module *library_around(const ir_module *graph, ir_op composite, const ir_module *tiles);

#endif
