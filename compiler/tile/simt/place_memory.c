/* place_memory.c - the memory that the threads of a workgroup share: that of the kernel, and behind
 * it the place where folds exchange lanes. */
#include "tile/simt/simt.h"

enum { LINE = 64 };

bool simt_place_memory(ir_module *m, int64_t shared_bytes, status *st) {
    ir_op kernel = ir_module_kernel(m);
    int64_t end = (ir_op_int(m, kernel, "scratch_bytes", 0) + LINE - 1) / LINE * LINE;
    bool folds = false, stages = false;
    for (ir_walk w = ir_walk_op(m, kernel); ir_walk_next(&w);) {
        int opcode = ir_op_get(m, w.op)->opcode;
        folds |= opcode == TILE_FOLD && simt_fold_waits(m, w.op);
        stages |= opcode == TILE_MMA_STAGE;
        if (opcode == TILE_FOLD)
            ir_op_set_attr(m, w.op, "exchange", ir_attr_int(m, end));
    }
    int64_t needed = end + (folds ? TILE_FOLD_BYTES : 0);
    ir_op_set_attr(m, kernel, "scratch_bytes", ir_attr_int(m, needed));
    return needed <= shared_bytes ||
           status_set(st, STATUS_UNAVAILABLE,
                      "%s need %lld bytes of a workgroup's memory, which has %lld: choose %s",
                      stages ? "the stages of a matrix unit" : "the tiles of a workgroup",
                      (long long)needed, (long long)shared_bytes,
                      stages ? "a smaller STAGE or DEPTH" : "smaller ones");
}
