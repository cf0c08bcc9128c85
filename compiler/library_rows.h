/* library_rows.h - kernels of rows as kernels of tiles: sums along the last axis, and element-wise
 * work on tensors that have rows in common. */
#ifndef TESSERA_COMPILER_LIBRARY_ROWS_H
#define TESSERA_COMPILER_LIBRARY_ROWS_H

#include "ir/ir.h"

/* Tells whether a graph, of any dimensions, is made of nothing else. */
bool library_rows_may(const ir_module *graph);

/* The kernel, of static dimensions, by program instances that have `rows` whole rows each, in
 * `warps` times 32 threads. Its tensors are matrices of all rows there, lines of an element for
 * each column, or columns of one for each row. Owned (ir_module_free); NULL: it has no such form.
 */
ir_module *library_rows(const ir_module *graph, int64_t rows, int64_t warps);

#endif
