/* touches.h - what each thread touches with each load and store that an operation of laid-out Tile
 * IR becomes, as code generation makes them (target/llvm/simt/emit_memory.c): by offsets from the
 * tile's first element, whose own place is known as far as what divides it. */
#ifndef TESSERA_TILE_SIMT_TOUCHES_H
#define TESSERA_TILE_SIMT_TOUCHES_H

#include "tile/simt/access.h"

/* In place of an offset: past the tile's edge, or the matter of another thread. */
#define TOUCH_EDGE INT64_MIN
#define TOUCH_OTHER (INT64_MIN + 1)

typedef struct touches {
    access a;
    int threads;         /* of the workgroup */
    int element_bytes;   /* in memory */
    int width_bytes;     /* of one load or store of a thread */
    int down, across;    /* elements of it: a part of a column, or of a row */
    int64_t rows, parts; /* elements that a thread has a place for */
    int64_t swizzle;     /* pattern of its rows in memory, or 0 */
    int64_t divisor;     /* a number of bytes that divides the place of the tile; 0: it is 0 */
    bool shared;         /* it is memory of the workgroup */
} touches;

/* Elements along an axis of a tile that each thread has a place for. */
int64_t touches_places(int64_t extent, int64_t threads, int64_t run);
/* False: it touches no memory, or where is not known before it runs. */
bool touches_of(const ir_module *m, ir_op op, touches *out);
/* Number of its loads or stores. */
int64_t touches_count(const touches *t);
/* Bytes that the threads [first, first + count) touch with number i of them: from the tile's first
 * element, TOUCH_EDGE or TOUCH_OTHER. */
void touches_at(const touches *t, int64_t i, int first, int count, int64_t *offsets);

#endif
