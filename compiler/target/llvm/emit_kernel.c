/* emit_kernel.c - phases, loops, indices and memory: the frame of the generated code. */
#include <stdio.h>
#include <string.h>

#include "target/llvm/emit.h"
#include "tile/simt/index_range.h"

LLVMTypeRef code_element(const emitter *e, dtype element) {
    switch (element) {
    case DTYPE_F64:
        return e->f64;
    case DTYPE_F32:
    case DTYPE_TF32:
        return e->f32;
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_I16:
    case DTYPE_U16:
        return e->i16;
    case DTYPE_I64:
    case DTYPE_U64:
        return e->i64;
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E5M2:
    case DTYPE_I8:
    case DTYPE_I4:
    case DTYPE_U8:
        return e->i8;
    case DTYPE_BOOL:
        return e->i1;
    default:
        return e->i32;
    }
}

LLVMTypeRef code_vector(const emitter *e, dtype element, int width) {
    LLVMTypeRef type = code_element(e, element);
    return width == 1 ? type : LLVMVectorType(type, (unsigned)width);
}

int code_part_columns(const emitted *t, int part) {
    int64_t left = t->columns - (int64_t)part * t->width;
    return left < t->width ? (int)left : t->width;
}

int code_part_width(const emitted *t, int part) {
    int columns = code_part_columns(t, part), width = 1;
    while (width < columns && width < t->width)
        width *= 2;
    return width < columns ? columns : width;
}

emitted *code_new(emitter *e, ir_value v) {
    const ir_type_data *d = ir_type_of(e->m, v);
    emitted *t = &e->of[v];
    *t = (emitted){.rows = 1,
                   .columns = 1,
                   .parts = 1,
                   .width = 1,
                   .element = d->element,
                   .multiple = 1,
                   .divides = t->divides};
    if (d->kind == IR_TYPE_TILE && d->layout.row_threads) {
        simt_shape(t, d);
    } else if (d->kind == IR_TYPE_TILE) {
        t->rows = d->dims[0];
        t->columns = d->dims[1];
        t->width = d->layout.vector;
        t->parts = (int)((t->columns + t->width - 1) / t->width);
    }
    t->values = ARENA_NEW(&e->memory, LLVMValueRef, t->rows * t->parts);
    return t;
}

const emitted *code_get(const emitter *e, ir_value v) {
    return &e->of[v];
}

LLVMValueRef code_int(const emitter *e, LLVMTypeRef type, int64_t value) {
    (void)e;
    return LLVMConstInt(type, (unsigned long long)value, 1);
}

LLVMValueRef code_bits(const emitter *e, dtype element, uint64_t bits) {
    if (dtype_stored_as(element) == DTYPE_F32)
        return LLVMConstBitCast(LLVMConstInt(e->i32, bits, 0), e->f32);
    if (element == DTYPE_F64)
        return LLVMConstBitCast(LLVMConstInt(e->i64, bits, 0), e->f64);
    return LLVMConstInt(code_element(e, element), bits, 0);
}

LLVMValueRef code_splat_bits(const emitter *e, dtype element, uint64_t bits, int width) {
    LLVMValueRef lanes[64], one = code_bits(e, element, bits);
    for (int i = 0; i < width; i++)
        lanes[i] = one;
    return width == 1 ? one : LLVMConstVector(lanes, (unsigned)width);
}

LLVMValueRef code_shuffle(emitter *e, LLVMValueRef x, LLVMValueRef y, const int *mask, int count) {
    LLVMValueRef lanes[64];
    for (int i = 0; i < count; i++)
        lanes[i] = mask[i] < 0 ? LLVMGetUndef(e->i32) : LLVMConstInt(e->i32, (unsigned)mask[i], 0);
    return LLVMBuildShuffleVector(e->b, x, y, LLVMConstVector(lanes, (unsigned)count), "");
}

LLVMValueRef code_splat(emitter *e, LLVMValueRef scalar, int width) {
    LLVMValueRef lanes[64];
    if (width == 1)
        return scalar;
    for (int i = 0; i < width; i++)
        lanes[i] = scalar;
    if (LLVMIsConstant(scalar))
        return LLVMConstVector(lanes, (unsigned)width);
    LLVMValueRef undef = LLVMGetUndef(LLVMVectorType(LLVMTypeOf(scalar), (unsigned)width));
    LLVMValueRef one = LLVMBuildInsertElement(e->b, undef, scalar, LLVMConstInt(e->i32, 0, 0), "");
    return LLVMBuildShuffleVector(e->b, one, undef,
                                  LLVMConstNull(LLVMVectorType(e->i32, (unsigned)width)), "");
}

LLVMValueRef code_part(emitter *e, const emitted *t, int64_t row, int part, int width) {
    int64_t r = t->rows == 1 ? 0 : row;
    if (t->columns == 1)
        return code_splat(e, t->values[r], width);
    return t->values[r * t->parts + part];
}

LLVMValueRef code_intrinsic(emitter *e, const char *name, LLVMTypeRef *types, unsigned type_count,
                            LLVMValueRef *args, unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, types, type_count);
    LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, types, type_count);
    return LLVMBuildCall2(e->b, type, f, args, count, "");
}

/* ---- indices ---- */

int64_t code_divisor(int64_t x, int64_t y) {
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    while (y != 0) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

static LLVMValueRef index_of(const emitter *e, ir_value v) {
    return e->of[v].values[0];
}

void code_set_index(emitter *e, ir_value v, LLVMValueRef value, int64_t multiple) {
    emitted *t = code_new(e, v);
    t->values[0] = value;
    t->multiple = multiple;
    t->parted = (index_parts){value, multiple, 0};
}

void code_affine(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int64_t factors[32];
    ir_op_ints(e->m, op, "coefficients", factors, 32);
    int64_t constant = ir_op_int(e->m, op, "constant", 0), multiple = 0;
    LLVMValueRef sum = NULL;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        LLVMValueRef x = index_of(e, d->operands[i]);
        multiple = code_divisor(multiple, factors[i] * code_get(e, d->operands[i])->multiple);
        if (factors[i] != 1)
            x = LLVMBuildNSWMul(e->b, x, code_int(e, e->i64, factors[i]), "");
        sum = sum ? LLVMBuildNSWAdd(e->b, sum, x, "") : x;
    }
    const index_parts parted = {sum, multiple, constant};
    if (constant)
        sum = LLVMBuildNSWAdd(e->b, sum, code_int(e, e->i64, constant), "");
    code_set_index(e, d->results[0], sum, code_divisor(constant, multiple));
    e->of[d->results[0]].parted = parted;
}

/* x / y. Most kernels have few workgroups, so that x is often the smaller one; asking takes less
 * time than dividing. */
static LLVMValueRef code_quotient(emitter *e, LLVMValueRef x, LLVMValueRef y) {
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), divide = code_block_new(e, "divide"),
                      divided = code_block_new(e, "divided");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, x, y, ""), divided, divide);
    LLVMPositionBuilderAtEnd(e->b, divide);
    LLVMValueRef values[] = {code_int(e, e->i64, 0), LLVMBuildUDiv(e->b, x, y, "")};
    LLVMBuildBr(e->b, divided);
    LLVMPositionBuilderAtEnd(e->b, divided);
    LLVMValueRef quotient = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(quotient, values, (LLVMBasicBlockRef[]){from, divide}, 2);
    return quotient;
}

/* A dimension that the launch gives. */
static LLVMValueRef code_dim(emitter *e, int64_t number) {
    if (simt_is(e))
        return simt_dim(e, (unsigned)number);
    LLVMValueRef offset = code_int(e, e->i64, 8 * number);
    LLVMValueRef at = LLVMBuildGEP2(e->b, e->i8, e->dims, &offset, 1, "");
    return LLVMBuildLoad2(e->b, e->i64, at, "");
}

/* An index by a number. Division in 64 bits is long on a chip, and most indices are short. */
static LLVMValueRef code_by_number(emitter *e, ir_op op, LLVMValueRef x, int64_t by) {
    const ir_op_data *d = ir_op_get(e->m, op);
    index_range r = index_range_of(e->m, d->operands[0]);
    bool is_short = simt_is(e) && (by & (by - 1)) && r.low >= 0 && r.high <= INT32_MAX;
    LLVMOpcode how = d->opcode == TILE_INDEX_DIV ? LLVMUDiv : LLVMURem;
    if (!is_short)
        return LLVMBuildBinOp(e->b, how, x, code_int(e, e->i64, by), "");
    x = LLVMBuildTrunc(e->b, x, e->i32, "");
    return LLVMBuildZExt(e->b, LLVMBuildBinOp(e->b, how, x, code_int(e, e->i32, by), ""), e->i64,
                         "");
}

void code_index_op(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    LLVMValueRef x = d->operand_count ? index_of(e, d->operands[0]) : NULL, result = NULL;
    int64_t by = ir_op_int(e->m, op, "by", 1), multiple = 1;
    switch (d->opcode) {
    case TILE_INDEX:
        multiple = ir_op_int(e->m, op, "value", 0);
        result = code_int(e, e->i64, multiple);
        break;
    case TILE_INDEX_MIN:
    case TILE_INDEX_MAX: {
        LLVMValueRef y = index_of(e, d->operands[1]);
        multiple = code_divisor(code_get(e, d->operands[0])->multiple,
                                code_get(e, d->operands[1])->multiple);
        LLVMIntPredicate less = d->opcode == TILE_INDEX_MIN ? LLVMIntSLT : LLVMIntSGT;
        result = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, less, x, y, ""), x, y, "");
        break;
    }
    case TILE_INDEX_DIV:
    case TILE_INDEX_REM:
        result = code_by_number(e, op, x, by);
        break;
    case TILE_DIM:
        result = code_dim(e, ir_op_int(e->m, op, "number", 0));
        break;
    case TILE_INDEX_MUL:
        result = LLVMBuildNSWMul(e->b, x, index_of(e, d->operands[1]), "");
        break;
    case TILE_INDEX_QUOTIENT:
        result = code_quotient(e, x, index_of(e, d->operands[1]));
        break;
    case TILE_TO_INDEX:
        result = LLVMBuildSExt(e->b, x, e->i64, "");
        break;
    default:
        result = LLVMBuildTrunc(e->b, x, e->i32, "");
        break;
    }
    code_set_index(e, d->results[0], result, multiple);
}

/* ---- loops ---- */

LLVMBasicBlockRef code_block_new(emitter *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

/* Is it certain that the loop runs at least once? */
static bool certainly_runs(LLVMValueRef low, LLVMValueRef high) {
    return LLVMIsAConstantInt(low) && LLVMIsAConstantInt(high) &&
           LLVMConstIntGetSExtValue(low) < LLVMConstIntGetSExtValue(high);
}

/* A phi for each part of the carried values. */
static void carry_phis(emitter *e, ir_value target, const emitted *from, LLVMBasicBlockRef block) {
    emitted *t = code_new(e, target);
    for (int64_t i = 0; i < t->rows * t->parts; i++) {
        t->values[i] = LLVMBuildPhi(e->b, LLVMTypeOf(from->values[i]), "");
        LLVMAddIncoming(t->values[i], (LLVMValueRef *)&from->values[i], &block, 1);
    }
}

static void add_incoming(const emitted *t, const emitted *from, LLVMBasicBlockRef block) {
    for (int64_t i = 0; i < t->rows * t->parts; i++)
        LLVMAddIncoming(t->values[i], (LLVMValueRef *)&from->values[i], &block, 1);
}

/* Rotated: a guard unless the first trip is certain, then body, increment, test. */
void code_for(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const ir_block_data *block = ir_block_get(e->m, ir_op_block(e->m, op, 0));
    LLVMValueRef low = index_of(e, d->operands[0]), high = index_of(e, d->operands[1]);
    int64_t by = ir_op_int(e->m, op, "step", 1);
    LLVMValueRef step = code_int(e, e->i64, by);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), body = code_block_new(e, "body"),
                      after = code_block_new(e, "after");
    bool guarded = !certainly_runs(low, high);
    if (guarded)
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, low, high, ""), body, after);
    else
        LLVMBuildBr(e->b, body);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef index = LLVMBuildPhi(e->b, e->i64, "i");
    LLVMAddIncoming(index, &low, &before, 1);
    code_set_index(e, block->arguments[0], index,
                   code_divisor(code_get(e, d->operands[0])->multiple, by));
    for (uint32_t i = 0; i < d->result_count; i++)
        carry_phis(e, block->arguments[1 + i], code_get(e, d->operands[2 + i]), before);
    code_block(e, ir_op_block(e->m, op, 0));
    const ir_op_data *end = ir_op_get(e->m, block->last);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef next = LLVMBuildNSWAdd(e->b, index, step, "");
    LLVMAddIncoming(index, &next, &latch, 1);
    for (uint32_t i = 0; i < d->result_count; i++)
        add_incoming(code_get(e, block->arguments[1 + i]), code_get(e, end->operands[i]), latch);
    LLVMValueRef again = LLVMBuildICmp(e->b, LLVMIntSLT, next, high, "");
    LLVMValueRef branch = LLVMBuildCondBr(e->b, again, body, after);
    if (simt_is(e))
        simt_note_loop(e, op, branch);
    LLVMPositionBuilderAtEnd(e->b, after);
    for (uint32_t i = 0; i < d->result_count; i++) {
        carry_phis(e, d->results[i], code_get(e, end->operands[i]), latch);
        if (guarded)
            add_incoming(code_get(e, d->results[i]), code_get(e, d->operands[2 + i]), before);
    }
}

/* ---- memory ---- */

void code_memory(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    LLVMValueRef base = d->opcode == TILE_WORKSPACE  ? e->workspace
                        : d->opcode == TILE_PREPARED ? e->prepared
                                                     : e->scratch;
    LLVMValueRef offset = code_int(e, e->i64, ir_op_int(e->m, op, "offset", 0));
    if (d->operand_count)
        offset = LLVMBuildNSWAdd(e->b, index_of(e, d->operands[0]), offset, "");
    code_set_index(e, d->results[0], LLVMBuildGEP2(e->b, e->i8, base, &offset, 1, ""), 1);
}

void code_op(emitter *e, ir_op op) {
    int opcode = ir_op_get(e->m, op)->opcode;
    if (simt_is(e) && simt_code(e, op))
        return;
    if (e->bounds.wanted && !simt_is(e))
        code_check_bounds(e, op);
    if (tile_is_elementwise(opcode)) {
        (code_divides_by(e, op) ? code_divide_by : code_elementwise)(e, op);
        return;
    }
    switch (opcode) {
    case TILE_FOR:
        code_for(e, op);
        break;
    case TILE_YIELD:
        break;
    case TILE_AFFINE:
        code_affine(e, op);
        break;
    case TILE_WORKSPACE:
    case TILE_PREPARED:
    case TILE_SCRATCH:
        code_memory(e, op);
        break;
    case TILE_LOAD:
        code_load(e, op);
        break;
    case TILE_GATHER:
        code_gather(e, op);
        break;
    case TILE_LOAD_GROUP:
        code_load_group(e, op);
        break;
    case TILE_GROUP:
        code_group(e, op);
        break;
    case TILE_GROUP_DOT:
        code_group_dot(e, op);
        break;
    case TILE_CALL:
        code_call(e, op);
        break;
    case TILE_SCAN:
        code_scan(e, op);
        break;
    case TILE_PREFETCH:
        code_prefetch(e, op);
        break;
    case TILE_STORE:
        code_store(e, op);
        break;
    case TILE_CONSTANT:
    case TILE_BROADCAST:
    case TILE_IOTA:
    case TILE_PAD:
    case TILE_ROW:
    case TILE_FOLD:
        code_shape_op(e, op);
        break;
    default:
        code_index_op(e, op);
    }
}

void code_block(emitter *e, ir_block block) {
    for (ir_op op = ir_block_get(e->m, block)->first; op && !e->failed;
         op = ir_op_get(e->m, op)->next) {
        if (simt_is(e) && simt_skips(e, op))
            continue;
        while (op && simt_is(e) && simt_run(e, &op))
            continue;
        if (!op)
            return;
        code_op(e, op);
        const ir_op_data *d = ir_op_get(e->m, op);
        for (uint32_t i = 0; i < d->result_count; i++)
            if (e->of[d->results[i]].divides)
                code_reciprocal(e, d->results[i]);
    }
}

/* ---- phases ---- */

void code_attribute(emitter *e, const char *name, const char *value) {
    LLVMAttributeRef attr = LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name),
                                                      value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(e->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attr);
}

/* Scalable vectors are used as ones of a fixed length, and as long as the hardware's at most. */
static void set_scalable_bits(emitter *e, int bits) {
    enum { UNIT_BITS = 128, UNITS_MAX = 16 };
    unsigned kind = LLVMGetEnumAttributeKindForName("vscale_range", 12);
    uint64_t range = (uint64_t)(bits / UNIT_BITS) << 32 | UNITS_MAX;
    LLVMAddAttributeAtIndex(e->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(e->context, kind, range));
}

void code_open_function(emitter *e, const char *name, LLVMTypeRef type) {
    char width[16];
    snprintf(width, sizeof width, "%d", 32 * e->target->lanes);
    e->function = LLVMAddFunction(e->module, name, type);
    e->made.count = 0;
    code_attribute(e, "prefer-vector-width", width);
    code_attribute(e, "no-builtins", "");
    if (e->target->scalable_bits)
        set_scalable_bits(e, e->target->scalable_bits);
    LLVMPositionBuilderAtEnd(e->b, code_block_new(e, "entry"));
}

/* Notes what many elements are divided by. */
static void find_divisors(emitter *e) {
    for (ir_op op = 1; op <= ir_op_count(e->m); op++)
        if (ir_op_get(e->m, op)->opcode == TILE_DIV && code_divides_by(e, op))
            e->of[ir_op_get(e->m, op)->operands[1]].divides = true;
}

void code_kernel(emitter *e) {
    ir_op kernel = ir_module_kernel(e->m);
    const ir_block_data *body = ir_block_get(e->m, ir_op_block(e->m, kernel, 0));
    e->kernel = ir_op_string(e->m, kernel, "name", "kernel");
    e->toward_zero = ir_op_attr(e->m, kernel, "rounding") != 0;
    find_divisors(e);
    for (ir_op op = body->first; op; op = ir_op_get(e->m, op)->next)
        if (ir_op_get(e->m, op)->opcode == TILE_FUNCTION)
            code_function(e, op);
        else if (ir_op_get(e->m, op)->opcode == TILE_PHASE)
            (simt_is(e) ? simt_phase : code_phase)(e, op, body);
    if (e->bounds.wanted && !simt_is(e))
        code_bounds_data(e);
}
