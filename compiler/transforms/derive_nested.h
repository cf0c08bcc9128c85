/* derive_nested.h - loops and branches that are built with the derivative of a block in theirs, as
 * derive_loop.c and derive_branch.c do. */
#ifndef TESSERA_TRANSFORMS_DERIVE_NESTED_H
#define TESSERA_TRANSFORMS_DERIVE_NESTED_H

#include "ops/control.h"
#include "transforms/engine.h"

typedef VEC(ir_value) derive_values;
typedef VEC(int64_t) derive_numbers;
typedef VEC(ir_type) derive_types;

void derive_push(derive_values *out, const ir_value *values, uint32_t count);
void derive_end_block(ir_builder *b, const derive_values *next);
void derive_copy_region(ir_module *m, ir_block from, ir_block to);

/* The transform of a block: what stands before the values, the values, those of them that the
 * derivative is taken by, and all floats among the block's results. */
typedef struct nested {
    int opcode;
    ir_op of;
    uint32_t region;
    derive_values before, values;
    derive_numbers wrt, floats;
    uint32_t result_count;
} nested;

void nested_begin(nested *n, const ir_module *m, int opcode, ir_op of, uint32_t region);
/* Builds it, to be expanded with the operation in whose block it stands; adds its results. */
void nested_build(ir_builder *b, const nested *n, derive_values *out);
void nested_end(nested *n);

/* An operation with empty blocks. */
typedef struct building {
    ir_builder *b;
    derive_values operands;
    derive_types results;
    ir_named_attr attrs[3];
    uint32_t attr_count;
} building;

static inline void building_takes(building *g, ir_value v) {
    vec_push(&g->operands, v);
}
static inline void building_makes(building *g, ir_type type) {
    vec_push(&g->results, type);
}
void building_set_loop(building *g, size_t carried, size_t sliced, ir_dim count);
ir_op building_end(building *g, int opcode);
void building_release(building *g);

ir_value derive_argument(ir_module *m, ir_op op, uint32_t region, ir_type type);
static inline ir_type derive_type(const ir_module *m, ir_value v) {
    return ir_value_get(m, v)->type;
}

#endif
