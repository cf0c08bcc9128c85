/* lower_exact.h - a sum in the order exact, on its way to Tile IR. */
#ifndef TESSERA_TILE_LOWER_EXACT_H
#define TESSERA_TILE_LOWER_EXACT_H

#include "tile/lowering.h"

/* Bits of f64: -0, infinity, and 2^-64. */
#define EXACT_MINUS (UINT64_C(1) << 63)
#define EXACT_INFINITY (UINT64_C(0x7ff) << 52)
#define EXACT_LITTLE (UINT64_C(959) << 52)

/* Words are a multiple of so many: of a row, whose words are side by side; of columns. */
enum { EXACT_ROW_WORDS = 8, EXACT_COLUMN_WORDS = 5 };

typedef struct exact {
    frame f;             /* the reduced index is its last; of columns they are the one before */
    bool odd;            /* the result is rounded to odd: of f64 */
    bool columns;        /* results side by side: a step is a row */
    dtype element, bits; /* of an element: f32 or f64, and a number of its size */
    uint64_t minus;      /* -0 of it */
    int sums;            /* f64 that an element is */
    int least, digits;   /* of the words */
    int64_t width;       /* results side by side: 1, or as many as there are columns */
    int64_t sub, parts;  /* elements side by side in a sub-tile, and sub-tiles of a step */
    ir_value memory;     /* the words: [word][result] */
    ir_value flags;      /* of columns: an i32 for each */
} exact;

/* The number of words. */
static inline int64_t exact_words(const exact *x) {
    const int64_t of = x->columns ? EXACT_COLUMN_WORDS : EXACT_ROW_WORDS;
    return (x->digits + of - 1) / of * of;
}

/* lower_exact_words.c. All words become 0. */
void exact_clear_words(const exact *x, ir_builder *b);
/* Adds finite numbers, one for each result, that are multiples of 2^least. */
void exact_add_digits(const exact *x, ir_builder *b, ir_value v);
/* The sum of two f64, which is that rounded to nearest, rounded to odd. */
ir_value exact_to_odd(ir_builder *b, ir_value sum, const ir_value terms[2]);
/* The results; `plain` is what lower_exact.c says. The words are no more what they were. */
ir_value exact_round_words(const exact *x, ir_builder *b, ir_value plain);

#endif
