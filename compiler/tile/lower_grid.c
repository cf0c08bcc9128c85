/* lower_grid.c - the grid of a phase: how many workgroups there are, and where each begins. */
#include "tile/lowering.h"

/* Counts the workgroups along each axis of a grid; returns how many in all. */
ir_dim lowering_grid(lowering *l, ir_op parallel, ir_dim *counts) {
    const ir_attr_data *steps = ir_attr_get(l->s, ir_op_attr(l->s, parallel, "steps"));
    ir_dim extents[LOWERING_AXES], workgroups = 1;
    uint32_t n = ir_op_ints(l->s, parallel, "extents", extents, LOWERING_AXES);
    for (uint32_t i = 0; i < n; i++) {
        int64_t step = schedule_step_value(l->s, steps->items[i]);
        ir_dim last = ir_dim_add_scaled(l->m, extents[i], step - 1, 1);
        counts[i] = ir_dim_is_static(last) ? last / step : ir_dim_floordiv(l->m, last, step);
        workgroups = ir_dim_add_scaled(l->m, 0, workgroups, counts[i]);
    }
    if (workgroups == IR_DIM_INVALID)
        lowering_fail(l, "a formula of the dimensions is too long");
    return workgroups;
}

/* The quotient of a workgroup's number; returns the remainder. */
static ir_value divide_workgroup(lowering *l, ir_builder *in, ir_value *workgroup, ir_dim by) {
    ir_value whole = *workgroup;
    if (ir_dim_is_static(by)) {
        ir_value rest = tile_index_by(in, TILE_INDEX_REM, whole, by);
        *workgroup = tile_index_by(in, TILE_INDEX_DIV, whole, by);
        return rest;
    }
    ir_value count = lowering_dim(l, in, by);
    *workgroup = tile_index_quotient(in, whole, count);
    return tile_index_sub(in, whole, tile_index_mul(in, *workgroup, count));
}

/* The first index of each axis, from the number of the workgroup. */
void lowering_workgroup(lowering *l, ir_builder *in, ir_op parallel, const ir_dim *counts,
                        ir_value workgroup) {
    const ir_block_data *block = ir_block_get(l->s, ir_op_block(l->s, parallel, 0));
    const ir_attr_data *steps = ir_attr_get(l->s, ir_op_attr(l->s, parallel, "steps"));
    for (uint32_t i = steps->count; i-- > 0;) {
        int64_t step = schedule_step_value(l->s, steps->items[i]);
        ir_value at = counts[i] == 1 ? tile_index(in, 0)
                      : i == 0       ? workgroup
                                     : divide_workgroup(l, in, &workgroup, counts[i]);
        if (i < block->argument_count) {
            l->value_of[block->arguments[i]] = tile_affine(in, 0, &at, &step, 1);
            l->size_of[block->arguments[i]] = 1;
        }
    }
}
