/* emit_launch.c - the phases of one launch (tile/simt/join_launches.c) as one kernel: a workgroup
 * finds its phase by halving, each half a branch around the other, and runs that one's code with
 * its number within it. */
#include "target/llvm/emit.h"
#include "tile/simt/simt.h"

typedef struct launch {
    ir_op phases[LIMIT_PHASES];
    int64_t first[LIMIT_PHASES + 1]; /* workgroups */
    LLVMValueRef workgroup;
} launch;

static void code_phase_of(emitter *e, const launch *l, uint32_t number) {
    const ir_block block = ir_op_block(e->m, l->phases[number], 0);
    const LLVMValueRef first = code_int(e, e->i64, l->first[number]);
    const LLVMValueRef workgroup =
        number ? LLVMBuildNSWSub(e->b, l->workgroup, first, "") : l->workgroup;
    e->made.count = 0; /* nothing of another part has been run */
    code_set_index(e, ir_block_get(e->m, block)->arguments[0], workgroup, 1);
    code_block(e, block);
}

/* if (workgroup < middle) lower half; if (workgroup >= middle) upper half. Halves are halved as
 * often as LIMIT_PHASES can be. */
static void code_phases(emitter *e, const launch *l, uint32_t low, uint32_t high) {
    const uint32_t middle = low + (high - low) / 2;
    if (high - low == 1) {
        code_phase_of(e, l, low);
        return;
    }
    const LLVMValueRef first = code_int(e, e->i64, l->first[middle]);
    for (int upper = 0; upper < 2; upper++) {
        LLVMBasicBlockRef half = code_block_new(e, "half"), behind = code_block_new(e, "behind");
        LLVMValueRef is =
            LLVMBuildICmp(e->b, upper ? LLVMIntSGE : LLVMIntSLT, l->workgroup, first, "");
        LLVMBuildCondBr(e->b, is, half, behind);
        LLVMPositionBuilderAtEnd(e->b, half);
        code_phases(e, l, upper ? middle : low, upper ? high : middle);
        LLVMBuildBr(e->b, behind);
        LLVMMoveBasicBlockAfter(behind, LLVMGetInsertBlock(e->b));
        LLVMPositionBuilderAtEnd(e->b, behind);
    }
}

void simt_code_launch(emitter *e, ir_op phase, LLVMValueRef workgroup) {
    launch l = {.workgroup = workgroup};
    const uint32_t count = simt_launch(e->m, phase, l.phases, LIMIT_PHASES);
    for (uint32_t i = 0; i < count; i++)
        l.first[i + 1] = l.first[i] + ir_op_int(e->m, l.phases[i], "grid", 0);
    code_phases(e, &l, 0, count);
}
