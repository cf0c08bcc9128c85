/* emit_transpose.c - a square of vectors, transposed in registers.
 *
 * Inside runs of 128 bits by interleaving, one instruction a vector and step on every x86 level;
 * then whole runs change places. */
#include <string.h>

#include <llvm-c/Target.h>

#include "target/llvm/emit.h"

/* The same value, which code generation does not look through: its search for better shuffles takes
 * time that grows with the power of their depth, and finds nothing here. */
LLVMValueRef code_fence(emitter *e, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(e->module), type);
    if (bits < 128 || LLVMIsConstant(x) || LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
        LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMPointerTypeKind)
        return x;
    LLVMTypeRef floats = LLVMVectorType(e->f32, bits / 32);
    x = LLVMBuildBitCast(e->b, x, floats, "");
    x = code_intrinsic(e, "llvm.arithmetic.fence", &floats, 1, &x, 1);
    return LLVMBuildBitCast(e->b, x, type, "");
}

/* v[0 .. rows): every run of `rows` lanes is a row of a square block, transposed in log2 rows steps
 * that interleave v[i] with v[i + rows / 2]; each is one instruction where a run fills 128 bits. */
static void transpose_runs(emitter *e, LLVMValueRef *v, int rows, int width) {
    LLVMValueRef next[64];
    int low[64], high[64], half = rows / 2;
    for (int l = 0; l < width; l++) {
        int run = l / rows * rows, from = run + l % rows / 2 + (l & 1 ? width : 0);
        low[l] = from;
        high[l] = from + half;
    }
    for (int step = 1; step < rows; step *= 2) {
        for (int i = 0; i < half; i++) {
            next[2 * i] = code_fence(e, code_shuffle(e, v[i], v[i + half], low, width));
            next[2 * i + 1] = code_fence(e, code_shuffle(e, v[i], v[i + half], high, width));
        }
        memcpy(v, next, sizeof *v * (size_t)rows);
    }
}

void code_transpose(emitter *e, dtype element, LLVMValueRef *v, int width) {
    int lanes = 16 / (int)dtype_size(element), block = lanes < width ? lanes : width;
    for (int i = 0; i < width; i += block)
        transpose_runs(e, v + i, block, width);
    for (int s = block; s < width; s *= 2)
        for (int i = 0; i < width; i++) {
            int low[64], high[64];
            if (i & s)
                continue;
            for (int l = 0; l < width; l++) {
                low[l] = l & s ? width + l - s : l;
                high[l] = l & s ? width + l : l + s;
            }
            LLVMValueRef a = v[i], b = v[i + s];
            v[i] = code_fence(e, code_shuffle(e, a, b, low, width));
            v[i + s] = code_fence(e, code_shuffle(e, a, b, high, width));
        }
}
