/* place_memory.c - memory of a workgroup: shared where it fits, else a piece of the workspace.
 *
 * A CPU's scratch is private to its thread; here it is the workgroup's. What is too large for the
 * chip goes to the workspace, which is slower and gives the same bits: each workgroup has a piece
 * there, one behind the other. */
#include "tile/simt/simt.h"

enum { LINE = 64 };

typedef struct memory_needs {
    ir_module *m;
    int64_t scratch, workspace; /* bytes of each, as lowered */
    int64_t most;               /* workgroups of the largest grid */
    bool folds, moves, stages;  /* stages: a matrix unit reads it by itself */
    int64_t exchange;           /* where folds exchange lanes */
    ir_op phase;
} memory_needs;

static void note(const ir_module *m, ir_op op, memory_needs *p) {
    int opcode = ir_op_get(m, op)->opcode;
    p->folds |= opcode == TILE_FOLD && simt_fold_waits(m, op);
    p->stages |= opcode == TILE_MMA_STAGE;
    if (opcode == TILE_PHASE) {
        int64_t grid = ir_op_int(m, op, "grid", 0);
        p->most = grid > p->most ? grid : p->most;
    }
}

/* The workgroup's piece of the workspace, in place of its scratch. */
static void move_to_workspace(memory_needs *p, ir_op op) {
    ir_module *m = p->m;
    ir_value number = ir_block_get(m, ir_op_block(m, p->phase, 0))->arguments[0];
    ir_builder b = {m, ir_op_get(m, op)->block, op, ir_op_get(m, op)->location};
    ir_value at = tile_affine(&b, 0, &number, &p->scratch, 1);
    int64_t offset = p->workspace + ir_op_int(m, op, "offset", 0);
    ir_named_attr attr = {"offset", ir_attr_int(m, offset)};
    ir_value old = ir_op_result(m, op, 0);
    ir_value moved = ir_build1(&b, TILE_WORKSPACE, &at, 1, ir_value_get(m, old)->type, &attr, 1);
    ir_replace_uses(m, old, moved);
}

static void place(memory_needs *p) {
    ir_module *m = p->m;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);) {
        int opcode = ir_op_get(m, w.op)->opcode;
        if (opcode == TILE_PHASE)
            p->phase = w.op;
        else if (opcode == TILE_FOLD)
            ir_op_set_attr(m, w.op, "exchange", ir_attr_int(m, p->exchange));
        else if (opcode == TILE_SCRATCH && p->moves) {
            move_to_workspace(p, w.op);
            ir_op_erase(m, w.op);
        }
    }
}

bool simt_place_memory(ir_module *m, int64_t shared_bytes, status *st) {
    ir_op kernel = ir_module_kernel(m);
    memory_needs p = {.m = m,
                      .scratch = ir_op_int(m, kernel, "scratch_bytes", 0),
                      .workspace = ir_op_int(m, kernel, "workspace_bytes", 0)};
    for (ir_walk w = ir_walk_op(m, kernel); ir_walk_next(&w);)
        note(m, w.op, &p);
    p.scratch = (p.scratch + LINE - 1) / LINE * LINE;
    int64_t needed = p.scratch + (p.folds ? SIMT_FOLD_BYTES : 0);
    p.moves = needed > shared_bytes;
    if (p.moves && p.stages)
        return status_set(st, STATUS_UNAVAILABLE,
                          "the stages of a matrix unit need %lld bytes of a workgroup's memory, "
                          "which has %lld: choose a smaller STAGE or DEPTH",
                          (long long)needed, (long long)shared_bytes);
    if (p.moves && ir_op_attr(m, kernel, "dims"))
        return status_set(st, STATUS_UNAVAILABLE,
                          "code for any dimensions needs %lld bytes of a workgroup's memory, which "
                          "has %lld: compile for the dimensions of a case, or choose smaller tiles",
                          (long long)needed, (long long)shared_bytes);
    p.exchange = p.moves ? 0 : p.scratch;
    p.workspace = (p.workspace + LINE - 1) / LINE * LINE;
    place(&p);
    int64_t shared = p.moves ? needed - p.scratch : needed,
            workspace = p.workspace + (p.moves ? p.scratch * p.most : 0);
    ir_op_set_attr(m, kernel, "scratch_bytes", ir_attr_int(m, shared));
    ir_op_set_attr(m, kernel, "workspace_bytes", ir_attr_int(m, workspace));
    if (p.moves)
        ir_op_set_attr(m, kernel, "moved_bytes", ir_attr_int(m, p.scratch));
    return true;
}
