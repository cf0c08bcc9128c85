/* unit.h - instructions of this processor that add products, each beside its model in
 * chip/matrix_units.def. */
#ifndef TESSERA_WITNESS_CPU_UNITS_UNIT_H
#define TESSERA_WITNESS_CPU_UNITS_UNIT_H

#include <stdbool.h>

#include "chip/matrix_unit.h"

enum { BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 64 };

/* Codes: rows of A, columns of B, accumulators before and after. */
typedef struct block {
    uint64_t a[BLOCK_M][BLOCK_K], b[BLOCK_N][BLOCK_K], c[BLOCK_M][BLOCK_N], d[BLOCK_M][BLOCK_N];
} block;

typedef struct cpu_unit {
    const char *instruction, *model;
    const binary_format *a, *b;
    int k; /* products of a block: one instruction, or several after each other */
    /* NULL: it is there. Else why it is not. */
    const char *(*missing)(void);
    /* d = c + a * b by the instruction. */
    void (*run)(block *x);
} cpu_unit;

/* Those of the architecture that this was compiled for. */
extern const cpu_unit cpu_units[];
extern const int cpu_unit_count;

#endif
