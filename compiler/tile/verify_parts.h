/* verify_parts.h - what verify.c hands on: operations with a file of their own. */
#ifndef TESSERA_TILE_VERIFY_PARTS_H
#define TESSERA_TILE_VERIFY_PARTS_H

#include "tile/tile.h"

/* verify_mma.c */
bool verify_mma(const ir_module *m, ir_op op, status *st);
bool verify_mma_stage(const ir_module *m, ir_op op, status *st);
bool verify_mma_wait(const ir_module *m, ir_op op, status *st);
bool verify_copy(const ir_module *m, ir_op op, status *st);
bool verify_copy_wait(const ir_module *m, ir_op op, status *st);
/* verify_slots.c */
bool verify_slots(const ir_module *m, ir_op op, status *st);

#endif
