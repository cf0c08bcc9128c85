/* mma.h - the instructions of matrix units (mma.def), and how tiles are cut into them. */
#ifndef TESSERA_TILE_MMA_H
#define TESSERA_TILE_MMA_H

#include "ir/ir.h"

/* Distribution of an operand's elements over a subgroup's threads. */
typedef struct mma_holds {
    uint16_t row_threads, column_threads, turned, row_run, column_run;
} mma_holds;

typedef struct mma_unit {
    const char *name;  /* chip/matrix_units.def */
    const char *chips; /* words */
    dtype factor, sum;
    int m, n, k, lanes;
    bool ptx; /* cp.async and ldmatrix are there */
    mma_holds a, b, c;
    const char *intrinsic;
    uint32_t emulated; /* an emulated_mma_kind */
} mma_unit;

/* Is the right factor read from the workgroup's memory? The left one then is there, or in
 * registers. */
static inline bool mma_in_memory(const mma_unit *unit) {
    return unit->b.row_threads == 0;
}

/* NULL: there is none of that name and type of factors (DTYPE_NONE: of any) whose right factor is
 * there, or else in registers. */
const mma_unit *mma_unit_find(const char *name, bool in_memory, dtype factor);
/* That of a tile.mma or a tile.mma_stage; NULL: it is none, or there is no such unit. */
const mma_unit *mma_unit_of(const ir_module *m, ir_op op);
/* All of them; returns how many there are. */
uint32_t mma_units(const mma_unit **list);
bool mma_unit_is_of(const mma_unit *unit, const char *chip);
/* Has the chip an instruction of that name, with sums of floats? */
bool mma_sums_as(const char *name, const char *chip);
/* Its rule is that of threads: exactly, or by one fma after the other. */
bool mma_unit_is_chain(const mma_unit *unit);
/* ... and may in strict, too: hardware was seen to keep the rule, or the device that code is for
 * was
 * (`probed`: target_info.probed). */
bool mma_unit_is_equal(const mma_unit *unit, bool probed);
/* Its sums are those of any order. */
bool mma_unit_is_exact(const mma_unit *unit);
/* Beyond strict it may take the place of an order that adds in f32 or f64: its sums keep all bits
 * of those. */
bool mma_unit_stands_in(const mma_unit *unit);
/* May a factor's lines lie side by side in the workgroup's memory, in place of its steps? What
 * loads them from there turns 16 bits, or what registers load one by one. */
bool mma_reads_lines(const mma_unit *unit);
/* The type that numbers of a narrower one are exactly, for units that do not take that; else the
 * same.
 */
dtype mma_read_as(dtype factor);
/* Does it take subnormal factors for zero? */
bool mma_unit_flushes(const mma_unit *unit);

/* Into how many pieces the subgroups of a workgroup of `threads` cut a tile of rows x columns, each
 * a multiple of the instruction's: as square as can be. False: there are not pieces enough. */
typedef struct mma_grid {
    int rows, columns;
} mma_grid;
bool mma_grid_of(const mma_unit *unit, int64_t rows, int64_t columns, int threads, mma_grid *out);
/* The least tile that holds rows x columns and can be cut. */
void mma_round_up(const mma_unit *unit, int threads, int64_t *rows, int64_t *columns);
/* The layout of one of its operands that registers hold. */
ir_layout mma_layout(const mma_unit *unit, ir_fragment fragment, mma_grid grid);
/* Columns that an instruction with a factor in memory takes of a tile of so many: all, or the most
 * that divide it and are a multiple of `of`. */
int mma_columns(int64_t columns, int64_t of);

#endif
