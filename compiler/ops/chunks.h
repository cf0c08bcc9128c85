/* chunks.h - a product whose batches are the chunks of another one (`chunks` of tessera.dot): their
 * results are added from the first to the last, which is the order of the other. */
#ifndef TESSERA_OPS_CHUNKS_H
#define TESSERA_OPS_CHUNKS_H

#include "ir/ir.h"

/* Number of chunks; 0: the operation has none. */
int64_t chunks_of(const ir_module *m, ir_op dot);
/* Checks that nothing is done with the chunks' results, [chunks, rows, columns], but to take each
 * by itself and to add these from the first to the last; or that they are what the kernel or
 * function returns, and others add them. */
bool chunks_are_added(const ir_module *m, ir_op dot);

#endif
