/* overlap.h - what a program computes while its exchanges are under way. */
#ifndef TESSERA_PROGRAM_OVERLAP_H
#define TESSERA_PROGRAM_OVERLAP_H

#include "ir/ir.h"

/* Takes an outlined module. Blocks with exchanges hold the calls of dispatches alone, each exchange
 * as early as what it sends is there, and those that read what comes behind others that need not
 * wait. Exchanges keep their order, which is that of all ranks. No other block changes. */
void program_overlap(ir_module *m);

#endif
