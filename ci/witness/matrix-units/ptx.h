/* ptx.h - the PTX text of a kernel that runs one matrix instruction on many tiles. */
#ifndef MATRIX_UNITS_PTX_H
#define MATRIX_UNITS_PTX_H

#include "instruction.h"

enum { PTX_BYTES = 1 << 17, PTX_BLOCK_THREADS = 128 };

/* Entry "tiles"(a, b, c, d): addresses of registers' contents, all of one thread together, thread
 * after thread; or of images of shared memory, one a block. Blocks of PTX_BLOCK_THREADS threads. */
void ptx_of_instruction(const instruction *i, char text[PTX_BYTES]);

#endif
