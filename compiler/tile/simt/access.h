/* access.h - what an operation of Tile IR touches in memory, and whether two of them can meet there
 * in different threads. */
#ifndef TESSERA_TILE_SIMT_ACCESS_H
#define TESSERA_TILE_SIMT_ACCESS_H

#include "tile/tile.h"

enum { ACCESS_TERMS = 24 };

/* constant + the sum of coefficient * index; indices are what no affine operation makes. */
typedef struct linear {
    int64_t constant;
    int count; /* -1: more terms than there is room for */
    ir_value index[ACCESS_TERMS];
    int64_t coefficient[ACCESS_TERMS];
} linear;

typedef struct access {
    ir_op op;
    bool writes;
    int opcode;     /* of the memory: TILE_SCRATCH, TILE_WORKSPACE, TILE_PREPARED; 0: an argument */
    int64_t memory; /* its offset, or the argument's value */
    dtype element;  /* in it: offsets and strides count them */
    linear offset;  /* in elements */
    bool known;     /* the strides are numbers */
    int64_t row_stride, column_stride;
    int64_t rows, columns;
    ir_layout layout;
    ir_op earlier; /* it happened in an earlier trip of this loop; 0: in this one */
} access;

/* False: the operation touches no memory of elements. Of a stage of a matrix unit it is the right
 * side. */
bool access_of(const ir_module *m, ir_op op, access *out);
/* The left side of such a stage. False: it is none, or that side is in registers. */
bool access_of_left(const ir_module *m, ir_op op, access *out);
/* A number that divides its offset, whatever the indices are. */
int64_t access_divisor(const ir_module *m, const access *a);
/* Tells that, of rows of so many elements, `length` elements from an index on certainly are in one.
 */
bool access_stays_in_rows(const ir_module *m, ir_value index, int64_t row, int64_t length);
/* The same memory, as far as it has a name. */
bool access_same_memory(const access *a, const access *b);
/* Tells that a thread may touch a byte in `now` that another one has touched in `before`, and one
 * of them writes. */
bool access_conflicts(const ir_module *m, const access *before, const access *now);
/* Tells that x is certainly not further than that above y. */
bool access_is_within(const ir_module *m, ir_value x, ir_value y, int64_t distance);
/* Has a loop one trip, or none? */
bool access_runs_once(const ir_module *m, ir_op loop);
/* Tells that x is always as far above y; *distance: how far. */
bool access_distance(const ir_module *m, ir_value x, ir_value y, int64_t *distance);

#endif
