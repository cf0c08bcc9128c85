/* tile.h - operands of one matrix instruction, random or made for a purpose, each a function of
 * (instruction, index). */
#ifndef MATRIX_UNITS_TILE_H
#define MATRIX_UNITS_TILE_H

#include "instruction.h"

typedef struct tile {
    const char *recipe;
    uint64_t a[TILE_MAX_M][MATRIX_UNIT_MAX_K]; /* rows of A */
    uint64_t b[TILE_MAX_N][MATRIX_UNIT_MAX_K]; /* columns of B */
    uint64_t c[TILE_MAX_M][TILE_MAX_N];
} tile;

typedef struct random_bits {
    uint64_t state;
} random_bits;
uint64_t random_next(random_bits *r);

enum { TILE_RECIPES = 22 };
/* A float of any kind, one after a recipe chosen by `choice`. */
uint64_t random_number(random_bits *r, const binary_format *format, unsigned choice);

/* k of all instructions of the chain. */
int tile_k(const instruction *i);
void tile_fill(tile *t, const instruction *i, uint64_t index);

#endif
