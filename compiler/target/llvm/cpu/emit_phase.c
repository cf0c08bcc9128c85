/* emit_phase.c - the phases of a CPU's kernel: functions that run a range of workgroups. */
#include <stdio.h>

#include "target/llvm/emit.h"

static LLVMValueRef load_field(emitter *e, LLVMValueRef frame, int field) {
    LLVMValueRef offset = code_int(e, e->i64, field * 8);
    return LLVMBuildLoad2(e->b, e->pointer, LLVMBuildGEP2(e->b, e->i8, frame, &offset, 1, ""), "");
}

/* 0: toward zero; 1: to nearest, ties to even. */
static void set_rounding(emitter *e, int mode) {
    LLVMValueRef argument = code_int(e, e->i32, mode);
    if (e->toward_zero)
        code_intrinsic(e, "llvm.set.rounding", NULL, 0, &argument, 1);
}

/* Opens void name(frame, begin, end), which takes the addresses of memory too where it is the code
 * of several phases. Gives the frame's buffers. */
static LLVMValueRef open_phase(emitter *e, const char *name, uint32_t memory) {
    LLVMTypeRef parameters[3 + TILE_SHARED_MEMORY] = {e->pointer, e->i64, e->i64};
    for (uint32_t i = 0; i < memory; i++)
        parameters[3 + i] = e->pointer;
    code_open_function(
        e, name, LLVMFunctionType(LLVMVoidTypeInContext(e->context), parameters, 3 + memory, 0));
    LLVMValueRef frame = LLVMGetParam(e->function, 0), buffers = load_field(e, frame, 0);
    e->dims = load_field(e, frame, 1);
    e->workspace = load_field(e, frame, 2);
    e->scratch = load_field(e, frame, 3);
    if (ir_op_attr(e->m, ir_module_kernel(e->m), "prepared_bytes"))
        e->prepared = load_field(e, frame, 4); /* which older runtimes do not have */
    return buffers;
}

static bool is_placed(const emitter *e, ir_op op) {
    const int opcode = op ? ir_op_get(e->m, op)->opcode : TILE_PHASE;
    return opcode == TILE_WORKSPACE || opcode == TILE_PREPARED;
}

static void take_memory(emitter *e, const ir_block_data *kernel, LLVMValueRef buffers) {
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        code_set_index(e, kernel->arguments[i], load_field(e, buffers, (int)i), 1);
    for (ir_op other = kernel->first; other; other = ir_op_get(e->m, other)->next)
        if (is_placed(e, other))
            code_memory(e, other);
}

/* The address of one of these. */
static LLVMValueRef address_of(emitter *e, const ir_block_data *kernel, LLVMValueRef buffers,
                               ir_value v) {
    const ir_op op = ir_value_get(e->m, v)->op;
    uint32_t number = 0;
    if (is_placed(e, op)) {
        code_memory(e, op);
        return code_get(e, v)->values[0];
    }
    while (kernel->arguments[number] != v)
        number++;
    return load_field(e, buffers, (int)number);
}

/* for (workgroup = begin; workgroup < end; workgroup++) body */
static void code_workgroups(emitter *e, ir_op op) {
    const ir_block_data *block = ir_block_get(e->m, ir_op_block(e->m, op, 0));
    LLVMValueRef begin = LLVMGetParam(e->function, 1), end = LLVMGetParam(e->function, 2);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), workgroup = code_block_new(e, "workgroup"),
                      done = code_block_new(e, "done");
    if (e->bounds.wanted)
        e->bounds.frame = load_field(e, LLVMGetParam(e->function, 0), 5);
    e->bounds.done = done;
    set_rounding(e, 0);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, begin, end, ""), workgroup, done);
    LLVMPositionBuilderAtEnd(e->b, workgroup);
    LLVMValueRef index = LLVMBuildPhi(e->b, e->i64, "workgroup");
    LLVMAddIncoming(index, &begin, &before, 1);
    code_set_index(e, block->arguments[0], index, 1);
    e->streams = false;
    code_block(e, ir_op_block(e->m, op, 0));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef next = LLVMBuildNSWAdd(e->b, index, code_int(e, e->i64, 1), "");
    LLVMAddIncoming(index, &next, &latch, 1);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, next, end, ""), workgroup, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    if (e->streams) /* such stores may overtake what tells other threads that the workgroups are
                       done */
        LLVMBuildFence(e->b, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
    set_rounding(e, 1);
    LLVMBuildRetVoid(e->b);
}

static void phase_name(const emitter *e, ir_op op, const char *suffix, char out[512]) {
    snprintf(out, 512, "%s_phase_%lld%s", e->kernel, (long long)ir_op_int(e->m, op, "index", 0),
             suffix);
}

/* The code of phases that differ in their memory, of which this is the first. */
static LLVMValueRef code_shared(emitter *e, ir_op op) {
    char name[512];
    ir_value memory[TILE_SHARED_MEMORY];
    const uint32_t count = tile_phase_memory(e->m, op, memory, TILE_SHARED_MEMORY);
    phase_name(e, op, "_code", name);
    open_phase(e, name, count);
    LLVMSetLinkage(e->function, LLVMInternalLinkage);
    for (uint32_t i = 0; i < count; i++)
        code_set_index(e, memory[i], LLVMGetParam(e->function, 3 + i), 1);
    code_workgroups(e, op);
    return e->function;
}

/* One of these phases: it hands on where its memory is. */
static void code_handing_on(emitter *e, ir_op op, const ir_block_data *kernel, LLVMValueRef buffers,
                            LLVMValueRef code) {
    ir_value memory[TILE_SHARED_MEMORY];
    const uint32_t count = tile_phase_memory(e->m, op, memory, TILE_SHARED_MEMORY);
    LLVMValueRef arguments[3 + TILE_SHARED_MEMORY];
    for (uint32_t i = 0; i < 3; i++)
        arguments[i] = LLVMGetParam(e->function, i);
    for (uint32_t i = 0; i < count; i++)
        arguments[3 + i] = address_of(e, kernel, buffers, memory[i]);
    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(code), code, arguments, 3 + count, "");
    LLVMBuildRetVoid(e->b);
}

/* Is there a phase that has its code? */
static bool is_shared(const emitter *e, ir_op op, const ir_block_data *kernel) {
    const int64_t index = ir_op_int(e->m, op, "index", 0);
    bool shared = false;
    for (ir_op other = kernel->first; other && !shared; other = ir_op_get(e->m, other)->next)
        shared = ir_op_int(e->m, other, "code_of", -1) == index;
    return shared;
}

static void set_code(emitter *e, int64_t index, LLVMValueRef code) {
    while (e->phases.count <= (size_t)index)
        vec_push(&e->phases, NULL);
    e->phases.items[index] = code;
}

void code_phase(emitter *e, ir_op op, const ir_block_data *kernel) {
    char name[512];
    const int64_t index = ir_op_int(e->m, op, "index", 0),
                  of = ir_op_int(e->m, op, "code_of", index);
    if (of == index)
        set_code(e, index, is_shared(e, op, kernel) ? code_shared(e, op) : NULL);
    phase_name(e, op, "", name);
    const LLVMValueRef buffers = open_phase(e, name, 0);
    if (e->phases.items[of]) {
        code_handing_on(e, op, kernel, buffers, e->phases.items[of]);
        return;
    }
    take_memory(e, kernel, buffers);
    code_workgroups(e, op);
}
