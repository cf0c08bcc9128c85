/* matrix_unit_rules.h - the families of rules, each in a file of its own. A function takes products
 * first ... last - 1 of a and b and c as a code, and returns the accumulator's code. */
#ifndef TESSERA_CHIP_MATRIX_UNIT_RULES_H
#define TESSERA_CHIP_MATRIX_UNIT_RULES_H

#include "chip/matrix_unit.h"

typedef struct matrix_terms {
    const matrix_unit *unit;
    const matrix_factors *a, *b;
    size_t first, last;
} matrix_terms;

/* matrix_unit_aligned.c: one step of NVIDIA's, one of CDNA3's. */
uint64_t matrix_step_aligned(const matrix_terms *t, uint64_t c);
uint64_t matrix_step_down(const matrix_terms *t, uint64_t c);

/* matrix_unit_chain.c: one instruction. */
uint64_t matrix_fma(const matrix_terms *t, uint64_t c);
uint64_t matrix_fma_then_c(const matrix_terms *t, uint64_t c);
uint64_t matrix_fma_pairs(const matrix_terms *t, uint64_t c);
uint64_t matrix_tree(const matrix_terms *t, uint64_t c);
uint64_t matrix_odd_first(const matrix_terms *t, uint64_t c);
uint64_t matrix_lanes(const matrix_terms *t, uint64_t c);
uint64_t matrix_round_to_odd(const matrix_terms *t, uint64_t c);
uint64_t matrix_fused_pair(const matrix_terms *t, uint64_t c);

#endif
