/* chunks.h - sums that were one. A product whose batches are the chunks of another one (`chunks` of
 * tessera.dot): their results are added from the first to the last. Sums of blocks of one sum
 * (`chunks` of tessera.reduce): their results, and behind them that of a last, shorter block
 * (`rest` names their id), are summed again, by the one that names their id (`joins`). Both are the
 * orders that the one had. */
#ifndef TESSERA_OPS_CHUNKS_H
#define TESSERA_OPS_CHUNKS_H

#include "ir/ir.h"

/* Number of chunks; 0: the operation has none. */
int64_t chunks_of(const ir_module *m, ir_op op);
/* Checks that nothing is done with the chunks' results, [chunks, rows, columns], but to take each
 * by itself and to add these from the first to the last; or that they are what the kernel or
 * function returns, and others add them. */
bool chunks_are_added(const ir_module *m, ir_op dot);
/* Checks that nothing is done with the results of blocks, or of the rest, but to sum them again. */
bool chunks_are_summed(const ir_module *m, ir_op reduce);
/* Is it a sum of the rest? */
bool chunks_is_rest(const ir_module *m, ir_op reduce);
/* Elements of the rest that is summed with these blocks; 0: there is none. */
int64_t chunks_rest(const ir_module *m, ir_op blocks);
/* Does the sum do that with the results of blocks? */
bool chunks_joins(const ir_module *m, ir_op reduce);

#endif
