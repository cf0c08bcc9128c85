/* instruction.h - the instructions of matrix units that sm_90 has for floats, and which thread
 * holds which element. */
#ifndef MATRIX_UNITS_INSTRUCTION_H
#define MATRIX_UNITS_INSTRUCTION_H

#include "chip/matrix_unit.h"

typedef enum {
    UNIT_MMA,   /* mma.sync: one tile a warp */
    UNIT_QUAD,  /* mma.sync.m8n8k4 of f16: four tiles a warp */
    UNIT_WGMMA, /* wgmma.mma_async: one tile in four warps, B in shared memory */
} unit_kind;

typedef struct instruction {
    char name[64];
    unit_kind unit;
    int m, n, k; /* k of one instruction */
    int chain;   /* instructions that follow each other on one accumulator */
    bool a_shared, without_c;
    const binary_format *a, *b, *c;
    const matrix_unit *model;
} instruction;

enum { INSTRUCTION_MAX = 160, TILE_MAX_M = 64, TILE_MAX_N = 256 };

/* Fills in all of them and returns how many. */
size_t instruction_list(instruction list[INSTRUCTION_MAX]);

/* Threads that work on one instruction together, and the tiles in them. */
int instruction_threads(const instruction *i);
int instruction_tiles(const instruction *i);
/* Bytes of an operand in registers of one thread: 0 for what comes from shared memory. */
int instruction_a_bytes(const instruction *i);
int instruction_b_bytes(const instruction *i);
int instruction_c_bytes(const instruction *i);
/* Bytes of shared memory of one instruction's A and B. */
int instruction_a_shared_bytes(const instruction *i);
int instruction_b_shared_bytes(const instruction *i);

/* Place of an element of a thread's registers. For A, column is k; for B, row is k. */
typedef struct place {
    int tile, row, column;
} place;
place instruction_a_place(const instruction *i, int thread, int element);
place instruction_b_place(const instruction *i, int thread, int element);
place instruction_c_place(const instruction *i, int thread, int element);

/* The byte in shared memory where an element of A (line = row) or B (line = column) begins: 8 lines
 * of 16 bytes are together, without a swizzle; the two halves of k follow each other, then the next
 * 8 lines. */
int instruction_shared_byte(const binary_format *format, int line, int k);

#endif
