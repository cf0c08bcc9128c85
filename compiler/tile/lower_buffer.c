/* lower_buffer.c - where a schedule's buffers lie: in the workspace, in prepared memory, or in the
 * scratch of a phase. */
#include <string.h>

#include "tile/lowering.h"

/* Rounded up to whole lines of the cache. */
static ir_dim lines_of(lowering *l, ir_dim count, dtype element) {
    ir_dim bytes = ir_dim_add_scaled(l->m, 63, count, (int64_t)dtype_size(element));
    if (ir_dim_is_static(bytes))
        return bytes / 64 * 64;
    return ir_dim_mul(l->m, ir_dim_floordiv(l->m, bytes, 64), 64);
}

static ir_value memory_at(lowering *l, ir_builder *b, const memory_place *place) {
    bool known = ir_dim_is_static(place->offset);
    ir_named_attr attr = {"offset", ir_attr_int(b->m, known ? place->offset : 0)};
    ir_value at = known ? 0 : lowering_dim(l, b, place->offset);
    if (place->piece) {
        ir_value own = tile_index_mul(b, lowering_dim(l, b, place->piece), l->workgroup);
        at = at ? tile_index_add(b, at, own) : own;
    }
    return ir_build1(b, place->opcode, &at, at != 0, ir_type_memory(b->m, place->element), &attr,
                     1);
}

/* Scratch of phases that run one after the other is the same bytes; formulas have no maximum. */
static bool phases_share_scratch(const lowering *l) {
    return !l->symbolic || l->shared_bytes;
}

static bool phases_share_pieces(const lowering *l) {
    return !l->symbolic;
}

/* In the workspace, for each workgroup of the phase; phases that run one after the other have the
 * same bytes there, too. */
static memory_place place_pieces(lowering *l, dtype element, ir_dim bytes) {
    workgroup_pieces *p = &l->pieces;
    ir_dim at = phases_share_pieces(l) ? p->end : l->workspace_bytes;
    p->end = ir_dim_add_scaled(l->m, at, l->workgroups, bytes);
    if (!phases_share_pieces(l) || p->end > l->workspace_bytes)
        l->workspace_bytes = p->end;
    p->phase_bytes += ir_dim_is_static(bytes) ? bytes : 0;
    p->moved_bytes = p->phase_bytes > p->moved_bytes ? p->phase_bytes : p->moved_bytes;
    return (memory_place){TILE_WORKSPACE, element, at, bytes};
}

static memory_place place_here(lowering *l, dtype element, ir_dim bytes) {
    memory_place place = {TILE_SCRATCH, element, l->phase_scratch_bytes, 0};
    l->phase_scratch_bytes = ir_dim_add_scaled(l->m, l->phase_scratch_bytes, bytes, 1);
    if (!phases_share_scratch(l) || l->phase_scratch_bytes > l->scratch_bytes)
        l->scratch_bytes = l->phase_scratch_bytes;
    return place;
}

static memory_place place_within(lowering *l, dtype element, ir_dim count, int64_t room) {
    ir_dim bytes = lines_of(l, count, element);
    bool fits = ir_dim_is_static(bytes) && l->phase_scratch_bytes + bytes <= room;
    return l->shared_bytes && !fits ? place_pieces(l, element, bytes)
                                    : place_here(l, element, bytes);
}

/* Leaves folds the memory by which they exchange lanes. */
static memory_place place_scratch(lowering *l, dtype element, ir_dim count) {
    return place_within(l, element, count, l->shared_bytes - TILE_FOLD_BYTES);
}

ir_value lowering_scratch(lowering *l, ir_builder *b, dtype element, ir_dim count) {
    memory_place place = place_scratch(l, element, count);
    return memory_at(l, b, &place);
}

/* Begins what lies in a phase's scratch at a multiple of so many bytes, where sizes are known. */
static void align_scratch(lowering *l, int64_t alignment) {
    if (alignment > 1 && phases_share_scratch(l))
        l->phase_scratch_bytes = (l->phase_scratch_bytes + alignment - 1) / alignment * alignment;
}

ir_value lowering_own(lowering *l, ir_builder *b, dtype element, int64_t count, int64_t alignment) {
    align_scratch(l, alignment);
    memory_place place = place_within(l, element, count, l->shared_bytes);
    return memory_at(l, b, &place);
}

ir_value lowering_staging(lowering *l, ir_builder *b, dtype element, int64_t count,
                          int64_t alignment) {
    int64_t bytes = count * (int64_t)dtype_size(element);
    if (l->staging_bytes < bytes || l->staging.offset % alignment != 0) {
        align_scratch(l, alignment);
        l->staging = place_within(l, element, count, l->shared_bytes);
        l->staging_bytes = bytes;
    }
    memory_place place = l->staging;
    place.element = element;
    return memory_at(l, b, &place);
}

ir_dim lowering_count(lowering *l, ir_value buffer) {
    const ir_type_data *t = ir_type_of(l->s, buffer);
    ir_dim count = 1;
    for (int i = 0; i < t->rank; i++)
        count = ir_dim_add_scaled(l->m, 0, count, t->dims[i]);
    return count;
}

/* Each phase has the address anew where the offset is an expression. */
void lowering_buffer(lowering *l, ir_builder *b, ir_op op) {
    ir_value v = ir_op_get(l->s, op)->results[0];
    dtype element = ir_type_of(l->s, v)->element;
    memory_place *place = &l->place_of[v];
    const char *space = ir_op_string(l->s, op, "space", "");
    if (strcmp(space, "workgroup") == 0) {
        *place = place_scratch(l, element, lowering_count(l, v));
    } else if (strcmp(space, "prepared") == 0) { /* of a size that is known */
        *place = (memory_place){TILE_PREPARED, element, l->prepared_bytes, 0};
        l->prepared_bytes += lines_of(l, lowering_count(l, v), element);
    } else if (l->symbolic) { /* else they have been planned */
        *place = (memory_place){TILE_WORKSPACE, element, l->workspace_bytes, 0};
        l->workspace_bytes = ir_dim_add_scaled(l->m, l->workspace_bytes,
                                               lines_of(l, lowering_count(l, v), element), 1);
    }
    if (ir_dim_is_static(place->offset))
        l->value_of[v] = memory_at(l, b, place);
}

ir_value lowering_memory(lowering *l, ir_value buffer) {
    if (!l->value_of[buffer])
        l->value_of[buffer] = memory_at(l, &l->dims.top, &l->place_of[buffer]);
    return l->value_of[buffer];
}

void lowering_begin_memory(lowering *l) {
    for (uint32_t v = 1; v <= ir_value_count(l->s) && l->symbolic; v++)
        if (l->place_of[v].opcode && !ir_dim_is_static(l->place_of[v].offset))
            l->value_of[v] = 0;
    if (phases_share_scratch(l))
        l->phase_scratch_bytes = l->staging_bytes = 0;
    l->pieces.end = l->pieces.begin;
    l->pieces.phase_bytes = 0;
}
