/* dot_operands.c - which operands of a contraction are copied, and whether elements are multiplied
 * in groups. */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/cpu/cpu.h"

bool cpu_is_one_block(const contraction *c) {
    const int64_t bytes =
        c->shape.rows * c->shape.steps * (int64_t)dtype_size(contraction_element(c, c->lhs.buffer));
    return c->shape.rows <= ONE_BLOCK_ROWS ||
           (c->group && contraction_has_known_size(c) && bytes <= c->s->target->l2_bytes / 2);
}

/* Narrow elements are cheaper to convert where they are used, again for each few rows, than to be
 * written out wide and read again.
 * Panels that one block of rows uses need not go through memory. */
static int64_t rhs_packing(const contraction *c) {
    bool strided = contraction_along(c, &c->rhs.access, AXIS_N) != 1 && c->shape.columns > 1;
    dtype element = contraction_element(c, c->rhs.buffer);
    bool narrow = !contraction_same_storage(c, c->rhs.buffer);
    int64_t few = element == DTYPE_BF16 || element == DTYPE_I8
                      ? NARROW_PACKED_ROWS
                      : WIDE_PACKED_ROWS; /* a shift, or more */
    if (contraction_is_prepared(c))
        return PACK_PHASE;
    if (c->turnable)
        return PACK_NOT;
    bool packs = strided || c->group || (narrow && c->shape.rows > few) ||
                 (!narrow && c->shape.rows > WIDE_PACKED_ROWS && !contraction_near(c));
    if (!contraction_has_known_size(
            c)) { /* nor how often an element is converted: only what is dear is copied */
        bool dear = dtype_is_float(element) && dtype_size(element) == 1;
        return (strided || dear || c->group) && contraction_can_pack_blocks(c) ? PACK_BLOCK
                                                                               : PACK_NOT;
    }
    return !packs                                                  ? PACK_NOT
           : cpu_is_one_block(c) && contraction_can_pack_blocks(c) ? PACK_BLOCK
                                                                   : PACK_PHASE;
}

static int64_t lhs_packing(const contraction *c) {
    bool strided = contraction_along(c, &c->lhs.access, AXIS_K) != 1 && c->shape.steps > 1;
    bool large = c->shape.rows * c->shape.steps > LEFT_PACKED_ELEMENTS &&
                 c->shape.columns >= LEFT_PACKED_COLUMNS;
    bool wide = c->group || contraction_same_storage(c, c->lhs.buffer);
    return (strided && large) || !wide ? PACK_PHASE : PACK_NOT;
}

/* Number of products added at once: where the order says so, and where the target can, exactly or
 * where the profile lets it. */
static int64_t best_group(const contraction *c) {
    dtype x = contraction_element(c, c->lhs.buffer), y = contraction_element(c, c->rhs.buffer);
    bool bytes = y == DTYPE_I8 && (x == DTYPE_I8 || x == DTYPE_U8);
    bool exact = bytes && c->element == DTYPE_I32, pairs = c->order == ORDER_PAIRS512,
         near = x == DTYPE_BF16 && c->element == DTYPE_F32 &&
                (pairs || strcmp(c->s->request->profile, "strict") != 0);
    int64_t group = exact ? 4 : near ? 2 : 0;
    bool whole = ir_dim_is_static(c->shape.k) ? c->shape.k > 0 && group && c->shape.k % group == 0
                                              : contraction_can_pack_blocks(c);
    bool fits = (c->s->target->dots || pairs) && (x == y || bytes) && group && whole &&
                (c->shape.rows >= 4 || c->turnable) && c->counts.of != COUNTS_STEPS &&
                contraction_along(c, &c->lhs.access, AXIS_K) == 1;
    return fits ? group : 0;
}

static void choose_group(contraction *c) {
    scheduler *s = c->s;
    int64_t best = best_group(c);
    if (best == 0)
        return;
    c->group = scheduler_parameter(s, IN_DOT, GROUP, best, NULL);
    if (c->group != 0 && c->group != best)
        contraction_refuse(c, "GROUP=%d cannot be here: 0 or %d", (int)c->group, (int)best);
}

static void choose_packing(contraction *c) {
    scheduler *s = c->s;
    c->lhs.packing = scheduler_parameter(s, IN_DOT, PACK_A, lhs_packing(c), NULL);
    contraction_ask_copy(c, rhs_packing(c));
    bool lies = c->rhs.packing == PACK_NOT && !c->turnable;
    if (c->group && (c->lhs.packing != PACK_NOT || lies))
        contraction_refuse(c, "groups of elements need PACK_A=0 and PACK_B=1 or 2; or GROUP=0");
}

void cpu_dot_operands(contraction *c) {
    choose_group(c);
    choose_packing(c);
}
