/* join_launches.c - the pass that runs element-wise phases, of which none writes what another
 * touches, by one launch: its workgroups are theirs, one phase's behind the other's.
 *
 * An optimiser's steps are one phase a parameter; a launch of each would cost more than most of
 * them. The phases stay as they are: `launch` names the first one of theirs, and code generation
 * makes one kernel of all (target/llvm/simt/emit_launch.c). */
#include <stdlib.h>
#include <string.h>

#include "tile/simt/access.h"
#include "tile/simt/simt.h"

enum { MOST_WORKGROUPS = INT32_MAX };

/* No loop carries a value on, and no thread waits for another: registers of many such phases are
 * those of one, and each workgroup has the same memory. */
static bool is_elementwise(const ir_module *m, ir_op phase) {
    bool is = !ir_op_attr(m, phase, "workgroups") &&
              !ir_op_attr(m, ir_module_kernel(m), "moved_bytes"); /* phases share that memory */
    for (ir_walk w = ir_walk_op(m, phase); is && ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        is = d->opcode != TILE_BARRIER && d->opcode != TILE_SCRATCH && d->opcode != TILE_COPY &&
             d->opcode != TILE_FOLD && (d->opcode != TILE_FOR || d->result_count == 0);
    }
    return is;
}

static ir_op next_phase(const ir_module *m, ir_op op) {
    while (op && ir_op_get(m, op)->opcode != TILE_PHASE)
        op = ir_op_get(m, op)->next;
    return op;
}

static ir_op first_phase(const ir_module *m) {
    return next_phase(m, ir_kernel_body(m)->first);
}

bool simt_join_launches(ir_module *m, status *st) {
    ir_op first = 0; /* of a launch that phases may join which are concurrent with the one before */
    int64_t workgroups = 0;
    (void)st;
    for (ir_op op = first_phase(m); op; op = next_phase(m, ir_op_get(m, op)->next)) {
        const int64_t grid = ir_op_int(m, op, "grid", 0);
        first = ir_op_attr(m, op, "concurrent") ? first : 0;
        ir_op_remove_attr(m, op, "launch");
        if (!is_elementwise(m, op))
            continue;
        const bool joins = first && grid <= MOST_WORKGROUPS - workgroups;
        if (joins)
            ir_op_set_attr(m, op, "launch", ir_attr_int(m, ir_op_int(m, first, "index", 0)));
        else
            first = op;
        workgroups = joins ? workgroups + grid : grid;
    }
    return true;
}

/* Marks memory of the kernel that the phase writes; or finds whether it touches some that is
 * marked. */
static bool walk_memory(const ir_module *m, ir_op phase, bool *written, bool marks) {
    bool touches = false;
    for (ir_walk w = ir_walk_op(m, phase); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        access a;
        if (!access_of(m, w.op, &a))
            continue;
        touches |= written[d->operands[0]];
        written[d->operands[0]] |= marks && a.writes;
    }
    return touches;
}

/* Each phase against all of its launch: what it writes none before touches, and none behind. */
static bool is_independent(const ir_module *m, const ir_op *phases, uint32_t count) {
    if (count < 2)
        return true;
    const size_t bytes = ((size_t)ir_value_count(m) + 1) * sizeof(bool);
    bool *written = base_malloc(bytes), good = true;
    for (int backwards = 0; backwards < 2; backwards++) {
        memset(written, 0, bytes);
        for (uint32_t i = 0; i < count; i++) {
            const ir_op phase = phases[backwards ? count - 1 - i : i];
            good &= !walk_memory(m, phase, written, false);
            walk_memory(m, phase, written, true);
        }
    }
    free(written);
    return good;
}

bool tile_verify_launches(const ir_module *m, status *st) {
    ir_op phases[LIMIT_PHASES];
    uint32_t joined = 0, found = 0;
    bool good = true;
    for (ir_op op = first_phase(m); op && good; op = next_phase(m, ir_op_get(m, op)->next)) {
        const uint32_t count =
            ir_op_attr(m, op, "launch") ? 0 : simt_launch(m, op, phases, LIMIT_PHASES);
        joined += count == 0;
        found += count ? count - 1 : 0;
        good = is_independent(m, phases, count);
    }
    return (good && joined == found) ||
           ir_broken(st, "a phase is of a launch that it cannot run with");
}

uint32_t simt_launch(const ir_module *m, ir_op phase, ir_op *out, uint32_t most) {
    const int64_t index = ir_op_int(m, phase, "index", 0);
    uint32_t count = 1;
    out[0] = phase;
    for (ir_op op = next_phase(m, ir_op_get(m, phase)->next);
         op && count < most && ir_op_attr(m, op, "concurrent");
         op = next_phase(m, ir_op_get(m, op)->next))
        if (ir_op_int(m, op, "launch", -1) == index)
            out[count++] = op;
    return count;
}

int64_t simt_launch_grid(const ir_module *m, ir_op phase) {
    ir_op phases[LIMIT_PHASES];
    const uint32_t count = simt_launch(m, phase, phases, LIMIT_PHASES);
    int64_t grid = 0;
    for (uint32_t i = 0; i < count; i++)
        grid += ir_op_int(m, phases[i], "grid", 0);
    return grid;
}
