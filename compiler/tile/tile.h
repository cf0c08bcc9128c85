/* tile.h - Tile IR: opcodes, short builders, and the passes down to it and on it. */
#ifndef TESSERA_TILE_TILE_H
#define TESSERA_TILE_TILE_H

#include "ir/ir.h"
#include "ir/opset.h"

typedef enum tile_opcode {
    TILE_BASE = IR_LEVEL_TILE * IR_LEVEL_STRIDE - 1,
#define T(ENUM, ...) TILE_##ENUM,
#include "tile/tile.def"
    TILE_END
} tile_opcode;

const op_table *tile_op_table(void);
bool tile_is_elementwise(int opcode);
/* Is the kernel for the profile whose bits the graph says? */
bool tile_is_strict(const ir_module *m);
/* Most functions of a kernel, and operands of one of them. */
enum { TILE_FUNCTIONS = 4096, TILE_FUNCTION_OPERANDS = 4 };
/* An operation by itself. */
bool tile_verify(const ir_module *m, ir_op op, status *st);
/* Every accumulation is one of the graph, in its order: the steps of the loops are looked at. */
bool tile_verify_orders(const ir_module *m, status *st);

/* Schedule IR to Tile IR: loops with static tiles, a version of the body for each remainder. NULL
 * on failure. */
ir_module *tile_from_schedule(const ir_module *schedule, status *st);
/* Single numbers that no turn of an innermost loop changes are computed before it. */
bool tile_hoist_numbers(ir_module *m, status *st);
/* Specified functions that would be much code are shared: vectors of `lanes` elements call them. */
bool tile_share_functions(ir_module *m, int lanes, status *st);
/* Phases that differ in the memory that they touch alone have the code of the first of them, which
 * gets so many addresses at most. */
enum { TILE_SHARED_MEMORY = 64 };
bool tile_share_phases(ir_module *m, status *st);
bool tile_verify_shared(const ir_module *m, status *st);
/* simt/join_launches.c: no phase of a launch writes what another of it touches. */
bool tile_verify_launches(const ir_module *m, status *st);
/* Memory of the kernel that the phase reads or writes, in the order in which its block names it
 * first; returns how many there are, or where they are more than `most` that and 1. */
uint32_t tile_phase_memory(const ir_module *m, ir_op phase, ir_value *out, uint32_t most);
/* Specified functions become their sequences (math/); outside of strict exp and exp2 become the
 * chip's own instruction, if it has one. */
bool tile_expand_math(ir_module *m, bool hardware_exp2, status *st);
/* One stochastic rounding as integer operations before `b->before`; its result. */
ir_value tile_expand_stochastic_round(ir_builder *b, ir_op op);
/* The same for random words. */
ir_value tile_expand_random_bits(ir_builder *b, ir_op op);
/* Every tile gets the layout rows<lanes>: each row is cut into vectors of `lanes` elements, the
 * last one shorter. */
bool tile_assign_layout(ir_module *m, int lanes, status *st);

/* Wrong code on purpose: "drop-last-k", "edge-off-by-one" or "wrong-rounding". False
 * (STATUS_UNAVAILABLE) where the kernel has no place for it. */
bool tile_knows_fault(const char *fault);
bool tile_inject_fault(ir_module *m, const char *fault, status *st);

/* ---- builders ---- */
ir_value tile_index(ir_builder *b, int64_t value);
/* Makes *index, if it is another one plus a number, that one; returns the number, else 0. */
int64_t tile_index_shift(const ir_builder *b, ir_value *index);
/* constant + sum of coefficients[i] * indices[i]; terms with coefficient 0 vanish. */
ir_value tile_affine(ir_builder *b, int64_t constant, const ir_value *indices,
                     const int64_t *coefficients, int n);
/* Is it a number? */
bool tile_constant_index(const ir_builder *b, ir_value x, int64_t *value);
ir_value tile_index_op(ir_builder *b, int opcode, ir_value x, ir_value y); /* min, max */
ir_value tile_index_plus(ir_builder *b, ir_value x, int64_t by);
ir_value tile_from_index(ir_builder *b, ir_value index);                   /* as one i32 */
ir_value tile_index_by(ir_builder *b, int opcode, ir_value x, int64_t by); /* div, rem */
ir_value tile_constant(ir_builder *b, dtype element, uint64_t bits);
/* Element-wise: the result's shape is that of the widest operand. `to`: element type for convert,
 * bitcast. */
ir_value tile_op(ir_builder *b, int opcode, const ir_value *operands, uint32_t n, dtype to);
ir_value tile_binary(ir_builder *b, int opcode, ir_value x, ir_value y);
ir_value tile_select(ir_builder *b, ir_value condition, ir_value x, ir_value y);
/* The operation of Graph IR on tiles; `to` as above. A bitcast of a NaN gives the canonical bits.
 */
ir_value tile_of_graph(ir_builder *b, int opcode, const ir_value *operands, uint32_t n, dtype to);
ir_value tile_compare(ir_builder *b, const char *predicate, ir_value x, ir_value y);
/* base, base + 1, ... as i32: one below the other, or side by side. */
ir_value tile_iota(ir_builder *b, ir_value base, bool down, int64_t count);
ir_value tile_load(ir_builder *b, ir_value memory, ir_value offset, int64_t rows, int64_t columns,
                   int64_t row_stride, int64_t column_stride);
/* Layout of a tile in memory, where that is more than numbers: tile.def, `more`. */
typedef enum tile_more {
    TILE_MORE_ROW_STRIDE,
    TILE_MORE_COLUMN_STRIDE,
    TILE_MORE_STRIDE,
    TILE_MORE_VALID_ROWS,
    TILE_MORE_VALID_COLUMNS,
    TILE_MORE_COUNT
} tile_more;
typedef struct tile_window {
    int64_t rows, columns, row_stride, column_stride, stride;
    ir_value more[TILE_MORE_COUNT]; /* indices; 0: the number holds, or all of it is valid */
} tile_window;
ir_value tile_load_window(ir_builder *b, ir_value memory, ir_value offset, const tile_window *w);
ir_value tile_gather_window(ir_builder *b, ir_value memory, ir_value offset, ir_value indices,
                            const tile_window *w);
ir_op tile_scatter_window(ir_builder *b, ir_value memory, ir_value offset, ir_value x,
                          ir_value indices, const tile_window *w);
ir_op tile_store_window(ir_builder *b, ir_value memory, ir_value offset, ir_value x,
                        const tile_window *w, bool canonical);
/* The index that an operation has for it; 0: none. */
ir_value tile_more_of(const ir_module *m, ir_op op, tile_more which);
/* Each index has a name of its own. */
bool tile_more_fits(const ir_module *m, ir_op op);
/* Rx1 of i32: groups of adjacent narrow elements. */
ir_value tile_load_group(ir_builder *b, ir_value memory, ir_value offset, const tile_window *w);
/* 1xC of i32 from a tile of narrow elements whose columns are 32 bits high. */
ir_value tile_group(ir_builder *b, ir_value x);
ir_value tile_group_dot(ir_builder *b, ir_value x, ir_value y, ir_value sum, dtype of,
                        bool is_unsigned);
/* A hint: elements that will be read soon. */
ir_op tile_prefetch(ir_builder *b, ir_value memory, ir_value offset, int64_t columns);
ir_op tile_store(ir_builder *b, ir_value memory, ir_value offset, ir_value x, int64_t row_stride,
                 int64_t column_stride, bool canonical);
/* Is it a swizzled store of a tile with more columns than a row has, in panels one behind the
 * other? */
bool tile_is_in_panels(const ir_module *m, ir_op op);
/* Row `number` of x. */
ir_value tile_row(ir_builder *b, ir_value x, int64_t number);
/* So many columns of x, from `first` on. */
ir_value tile_columns(ir_builder *b, ir_value x, int64_t first, int64_t columns);
ir_value tile_broadcast(ir_builder *b, ir_value x, int64_t rows, int64_t columns);
/* A loop; returns the builder inside; *index and carried arguments (block arguments 1...) are its
 * block's. */
ir_builder tile_for(ir_builder *b, ir_value low, ir_value high, int64_t step,
                    const ir_value *carried, uint32_t n, ir_op *loop, ir_value *index);
void tile_yield(ir_builder *inside, const ir_value *values, uint32_t n);
const ir_type_data *tile_type(const ir_builder *b, ir_value x);

/* A fold of one row goes through the workgroup's memory: 64 elements, then 8, of up to 8 bytes
 * each.
 */
enum { TILE_FOLD_LANES = 64, TILE_FOLD_PARTS = 8 };
enum { TILE_FOLD_BYTES = (TILE_FOLD_LANES + TILE_FOLD_PARTS) * 8 };

/* simt/access.c: a number that divides an index, whatever the indices of loops are; 0: it is 0. */
int64_t access_index_divisor(const ir_module *m, ir_value index);

#endif
