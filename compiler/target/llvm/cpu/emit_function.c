/* emit_function.c - functions of whole vectors that the phases of a kernel call.
 *
 * They are internal to the object, and lie in the section of their callers: a call needs no
 * relocation. */
#include <stdio.h>

#include "target/llvm/emit.h"

static LLVMTypeRef vector_of(const emitter *e, ir_value v) {
    const ir_type_data *d = ir_type_of(e->m, v);
    return code_vector(e, d->element, (int)d->dims[1]);
}

static void set_function(emitter *e, int64_t number) {
    while (e->functions.count <= (size_t)number)
        vec_push(&e->functions, NULL);
    e->functions.items[number] = e->function;
}

void code_function(emitter *e, ir_op op) {
    const ir_block_data *block = ir_block_get(e->m, ir_op_block(e->m, op, 0));
    ir_value result = ir_op_get(e->m, block->last)->operands[0];
    int64_t number = ir_op_int(e->m, op, "number", 0);
    LLVMTypeRef parameters[TILE_FUNCTION_OPERANDS];
    char name[512];
    for (uint32_t i = 0; i < block->argument_count; i++)
        parameters[i] = vector_of(e, block->arguments[i]);
    snprintf(name, sizeof name, "%s_function_%lld_%s", e->kernel, (long long)number,
             ir_op_string(e->m, op, "of", ""));
    code_open_function(
        e, name, LLVMFunctionType(vector_of(e, result), parameters, block->argument_count, 0));
    LLVMSetLinkage(e->function, LLVMInternalLinkage);
    set_function(e, number);
    for (uint32_t i = 0; i < block->argument_count; i++)
        code_new(e, block->arguments[i])->values[0] = LLVMGetParam(e->function, i);
    code_block(e, ir_op_block(e->m, op, 0));
    LLVMBuildRet(e->b, code_get(e, result)->values[0]);
}

/* A shorter part is a vector of which the last lanes are any value. */
void code_call(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    emitted *t = code_new(e, d->results[0]);
    LLVMValueRef function = e->functions.items[ir_op_int(e->m, op, "function", 0)],
                 x[TILE_FUNCTION_OPERANDS];
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p);
            for (uint32_t i = 0; i < d->operand_count; i++) {
                const emitted *from = code_get(e, d->operands[i]);
                x[i] =
                    code_extend(e, code_part(e, from, r, p, width), from->element, width, t->width);
            }
            LLVMValueRef y = LLVMBuildCall2(e->b, LLVMGlobalGetValueType(function), function, x,
                                            d->operand_count, "");
            t->values[r * t->parts + p] = code_shrink(e, y, t->width, width);
        }
}
