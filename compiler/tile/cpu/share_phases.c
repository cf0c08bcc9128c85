/* share_phases.c - the pass that has equal phases compiled once: those of equal blocks of a model
 * differ in nothing but the memory that they touch. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "tile/tile.h"

typedef struct phase_list {
    VEC(ir_op) phases;
    VEC(ir_block) blocks;
    sha256 *identities;
} phase_list;

static void list_phases(const ir_module *m, phase_list *out) {
    const ir_block kernel = ir_op_block(m, ir_module_kernel(m), 0);
    for (ir_op op = ir_block_get(m, kernel)->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == TILE_PHASE) {
            vec_push(&out->phases, op);
            vec_push(&out->blocks, ir_op_block(m, op, 0));
        }
    const uint32_t count = (uint32_t)out->phases.count;
    out->identities = base_calloc((size_t)count + 1, sizeof *out->identities);
    /* The number of a sum in the graph makes no code. */
    ir_block_identities(m, out->blocks.items, count, "reduction", out->identities);
}

static void release(phase_list *l) {
    vec_release(&l->phases);
    vec_release(&l->blocks);
    free(l->identities);
}

uint32_t tile_phase_memory(const ir_module *m, ir_op phase, ir_value *out, uint32_t most) {
    const ir_block kernel = ir_op_get(m, phase)->block;
    uint32_t count = 0;
    for (ir_walk w = ir_walk_op(m, phase); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            const ir_value_data *v = ir_value_get(m, d->operands[i]);
            uint32_t known = 0;
            if ((v->op ? ir_op_get(m, v->op)->block : v->block) != kernel)
                continue;
            while (known < count && out[known] != d->operands[i])
                known++;
            if (known == count && count == most)
                return most + 1;
            out[known] = d->operands[i];
            count += known == count;
        }
    }
    return count;
}

static bool has_few_addresses(const ir_module *m, ir_op phase) {
    ir_value memory[TILE_SHARED_MEMORY];
    return tile_phase_memory(m, phase, memory, TILE_SHARED_MEMORY) <= TILE_SHARED_MEMORY;
}

static size_t first_equal(const phase_list *l, size_t i) {
    size_t first = 0;
    while (memcmp(&l->identities[first], &l->identities[i], sizeof *l->identities) != 0)
        first++;
    return first;
}

bool tile_share_phases(ir_module *m, status *st) {
    phase_list l = {.identities = NULL};
    (void)st;
    list_phases(m, &l);
    for (size_t i = 0; i < l.phases.count; i++) {
        const size_t first = first_equal(&l, i);
        ir_op_remove_attr(m, l.phases.items[i], "code_of");
        if (first < i && has_few_addresses(m, l.phases.items[i]))
            ir_op_set_attr(m, l.phases.items[i], "code_of",
                           ir_attr_int(m, ir_op_int(m, l.phases.items[first], "index", 0)));
    }
    release(&l);
    return true;
}

bool tile_verify_shared(const ir_module *m, status *st) {
    phase_list l = {.identities = NULL};
    bool good = true;
    list_phases(m, &l);
    for (size_t i = 0; i < l.phases.count && good; i++) {
        const ir_op phase = l.phases.items[i], first = l.phases.items[first_equal(&l, i)];
        good = !ir_op_attr(m, phase, "code_of") ||
               (first != phase &&
                ir_op_int(m, phase, "code_of", -1) == ir_op_int(m, first, "index", 0));
    }
    release(&l);
    return good || ir_broken(st, "a phase has the code of the first one that is equal to it");
}
