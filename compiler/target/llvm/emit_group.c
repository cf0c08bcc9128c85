/* emit_group.c - groups of narrow elements in 32 bits, and their dot products (AVX512-VNNI,
 * AVX512-BF16). */
#include "target/llvm/emit.h"

void code_group(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]);
    emitted *t = code_new(e, d->results[0]);
    int bits = 32 / (int)x->rows;
    for (int p = 0; p < t->parts; p++) {
        int width = code_part_width(t, p);
        LLVMTypeRef type = code_vector(e, DTYPE_I32, width);
        LLVMValueRef sum = NULL;
        for (int64_t r = 0; r < x->rows; r++) {
            LLVMValueRef part = LLVMBuildZExt(e->b, code_part(e, x, r, p, width), type, "");
            LLVMValueRef by = code_splat(e, code_int(e, e->i32, r * bits), width);
            part = r ? LLVMBuildShl(e->b, part, by, "") : part;
            sum = sum ? LLVMBuildOr(e->b, sum, part, "") : part;
        }
        t->values[p] = sum;
    }
}

void code_group_dot(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]), *y = code_get(e, d->operands[1]),
                  *sum = code_get(e, d->operands[2]);
    bool exact = sum->element == DTYPE_I32;
    const char *name = exact ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512bf16.dpbf16ps.512";
    emitted *t = code_new(e, d->results[0]);
    int lanes = t->width;
    LLVMTypeRef pairs = LLVMVectorType(LLVMBFloatTypeInContext(e->context), 2 * (unsigned)lanes);
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p);
            LLVMValueRef args[] = {
                code_extend(e, code_part(e, sum, r, p, width), sum->element, width, lanes),
                code_splat(e, code_part(e, x, r, p, 1), lanes),
                code_extend(e, code_part(e, y, r, p, width), DTYPE_I32, width, lanes)};
            for (int i = 1; i < 3 && !exact; i++)
                args[i] = LLVMBuildBitCast(e->b, args[i], pairs, "");
            LLVMValueRef next = code_intrinsic(e, name, NULL, 0, args, 3);
            t->values[r * t->parts + p] = code_shrink(e, next, lanes, width);
        }
}
