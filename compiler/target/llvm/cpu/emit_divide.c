/* emit_divide.c - many elements divided by one: correctly rounded without a division each.
 *
 * With h = RN(1/y) and l = RN(RN(1 - y h) h), so that h + l is 1/y to twice the precision:
 *   q = fma(x, h, RN(x l)) is one of the two floats around x/y,
 *   r = fma(-y, q, x) is exact, and fma(r, h, q) is x/y rounded to nearest
 * (P. Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, 1990,
 * theorem 3), as long as nothing over- or underflows. So the way is for |y| and all |x| of a tile
 * in [2^-60, 2^60]; a tile with any other x, such as a zero, an infinity or a NaN, is divided by
 * the instruction. */
#include "target/llvm/emit.h"

enum { LOWEST = (127 - 60) << 23, RANGE = 120 << 23, MAGNITUDE = 0x7fffffff };

bool code_divides_by(const emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    if (d->opcode != TILE_DIV || e->plain)
        return false;
    const ir_type_data *x = ir_type_of(e->m, d->operands[0]);
    const ir_type_data *y = ir_type_of(e->m, d->operands[1]);
    return x->element == DTYPE_F32 && y->dims[0] == 1 && y->dims[1] == 1 &&
           x->dims[0] * x->dims[1] >= 2 * (int64_t)x->layout.vector && x->layout.vector > 0 &&
           x->dims[1] % x->layout.vector == 0;
}

static LLVMValueRef fma3(emitter *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef args[] = {a, b, c};
    return code_intrinsic(e, "llvm.fma", &type, 1, args, 3);
}

/* Distance of the magnitude's bits from the lowest that will do; as an unsigned number, too far for
 * all others. */
static LLVMValueRef distance(emitter *e, LLVMValueRef x, int width) {
    LLVMTypeRef bits = width == 1 ? e->i32 : LLVMVectorType(e->i32, (unsigned)width);
    LLVMValueRef i = LLVMBuildBitCast(e->b, x, bits, "");
    i = LLVMBuildAnd(e->b, i, code_splat(e, code_int(e, e->i32, MAGNITUDE), width), "");
    return LLVMBuildSub(e->b, i, code_splat(e, code_int(e, e->i32, LOWEST), width), "");
}

void code_reciprocal(emitter *e, ir_value divisor) {
    reciprocal *r = ARENA_NEW(&e->memory, reciprocal, 1);
    LLVMValueRef y = code_get(e, divisor)->values[0], one = LLVMConstReal(e->f32, 1.0);
    LLVMValueRef minus = LLVMBuildFNeg(e->b, y, ""), high = LLVMBuildFDiv(e->b, one, y, "");
    LLVMValueRef low = LLVMBuildFMul(e->b, fma3(e, minus, high, one), high, "");
    int width = e->target->lanes;
    *r = (reciprocal){.high = code_splat(e, high, width),
                      .low = code_splat(e, low, width),
                      .minus = code_splat(e, minus, width),
                      .suits = LLVMBuildICmp(e->b, LLVMIntULE, distance(e, y, 1),
                                             code_int(e, e->i32, RANGE), "")};
    e->of[divisor].reciprocal = r;
}

/* Tells that some lane of some part is out of range. */
static LLVMValueRef any_odd(emitter *e, const emitted *x, const reciprocal *r) {
    LLVMValueRef most = NULL;
    int width = x->width;
    LLVMTypeRef type = LLVMVectorType(e->i32, (unsigned)width);
    for (int64_t i = 0; i < x->rows * x->parts; i++) {
        LLVMValueRef pair[] = {most, distance(e, x->values[i], width)};
        most = most ? code_intrinsic(e, "llvm.umax", &type, 1, pair, 2) : pair[1];
    }
    LLVMValueRef odd =
        LLVMBuildICmp(e->b, LLVMIntUGT, most, code_splat(e, code_int(e, e->i32, RANGE), width), "");
    LLVMTypeRef mask = LLVMIntTypeInContext(e->context, (unsigned)width);
    odd = LLVMBuildBitCast(e->b, odd, mask, "");
    odd = LLVMBuildICmp(e->b, LLVMIntNE, odd, LLVMConstInt(mask, 0, 0), "");
    return LLVMBuildOr(e->b, odd, LLVMBuildNot(e->b, r->suits, ""), "");
}

static LLVMValueRef quotient(emitter *e, LLVMValueRef x, const reciprocal *r) {
    LLVMValueRef q = fma3(e, x, r->high, LLVMBuildFMul(e->b, x, r->low, ""));
    return fma3(e, fma3(e, r->minus, q, x), r->high, q);
}

void code_divide_by(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    emitted *t = code_new(e, d->results[0]);
    const emitted *x = code_get(e, d->operands[0]), *y = code_get(e, d->operands[1]);
    bool here = !y->reciprocal; /* of a number that a loop carries: known in this block alone */
    if (here)
        code_reciprocal(e, d->operands[1]);
    const reciprocal *r = y->reciprocal;
    if (here)
        e->of[d->operands[1]].reciprocal = NULL;
    LLVMBasicBlockRef by_product = code_block_new(e, "product"),
                      by_division = code_block_new(e, "division"),
                      after = code_block_new(e, "quotient");
    LLVMValueRef divisor = code_splat(e, y->values[0], t->width);
    int64_t n = t->rows * t->parts;
    LLVMBuildCondBr(e->b, any_odd(e, x, r), by_division, by_product);
    LLVMValueRef *parts = ARENA_NEW(&e->memory, LLVMValueRef, 2 * n);
    LLVMPositionBuilderAtEnd(e->b, by_product);
    for (int64_t i = 0; i < n; i++)
        parts[i] = quotient(e, x->values[i], r);
    LLVMBuildBr(e->b, after);
    LLVMPositionBuilderAtEnd(e->b, by_division);
    for (int64_t i = 0; i < n; i++)
        parts[n + i] = LLVMBuildFDiv(e->b, x->values[i], divisor, "");
    LLVMBuildBr(e->b, after);
    LLVMPositionBuilderAtEnd(e->b, after);
    for (int64_t i = 0; i < n; i++) {
        t->values[i] = LLVMBuildPhi(e->b, LLVMTypeOf(parts[i]), "");
        LLVMAddIncoming(t->values[i], &parts[i], &by_product, 1);
        LLVMAddIncoming(t->values[i], &parts[n + i], &by_division, 1);
    }
}
