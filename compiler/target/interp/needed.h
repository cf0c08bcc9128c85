/* needed.h - the walk of compiler_needed, for the files that walk blocks: a mark for each element
 * of a value that something is made from. */
#ifndef TESSERA_TARGET_INTERP_NEEDED_H
#define TESSERA_TARGET_INTERP_NEEDED_H

#include "target/interp/interp.h"

typedef struct need_table {
    const ir_module *m;
    const tensor *values;   /* by value */
    unsigned char **needed; /* by value; a byte for each element */
    status *st;
} need_table;

/* Marks the elements of an operation's operands that the marked ones of its results are made from.
 */
bool needed_by(const need_table *n, ir_op op);
/* The same from the end of a block to its beginning. */
bool needed_walk(const need_table *n, const ir_block_data *block);

#endif
