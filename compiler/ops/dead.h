/* dead.h - operations of a block whose results nobody reads, and that have no effects. */
#ifndef TESSERA_OPS_DEAD_H
#define TESSERA_OPS_DEAD_H

#include "ir/ir.h"

/* Takes them out, with those that only they read. */
void graph_remove_dead(ir_module *m, ir_block block);

#endif
