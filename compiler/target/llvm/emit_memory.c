/* emit_memory.c - loads, stores and gathers of tiles.
 *
 * A tile whose columns are contiguous is loaded row by row in vectors. One whose rows are
 * contiguous is loaded column by column and transposed in registers. Anything else is loaded
 * element by element. */
#include <stdlib.h>

#include "target/llvm/emit.h"

static LLVMTypeRef memory_type(const emitter *e, dtype element) {
    return element == DTYPE_BOOL ? e->i8 : code_element(e, element);
}

static LLVMTypeRef memory_vector(const emitter *e, dtype element, int width) {
    LLVMTypeRef type = memory_type(e, element);
    return width == 1 ? type : LLVMVectorType(type, (unsigned)width);
}

/* base + offset + displacement elements. */
static LLVMValueRef address(emitter *e, dtype element, LLVMValueRef at, int64_t displacement) {
    LLVMValueRef d = code_int(e, e->i64, displacement);
    return displacement ? LLVMBuildGEP2(e->b, memory_type(e, element), at, &d, 1, "") : at;
}

static LLVMValueRef base_address(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    LLVMValueRef offset = code_get(e, d->operands[1])->values[0];
    dtype element = ir_type_get(e->m, ir_value_get(e->m, d->operands[0])->type)->element;
    return LLVMBuildGEP2(e->b, memory_type(e, element), code_get(e, d->operands[0])->values[0],
                         &offset, 1, "");
}

static LLVMValueRef load_raw(emitter *e, dtype element, LLVMValueRef at, int width) {
    LLVMValueRef x = LLVMBuildLoad2(e->b, memory_vector(e, element, width), at, "");
    LLVMSetAlignment(x, (unsigned)dtype_size(element));
    return x;
}

static LLVMValueRef load_vector(emitter *e, dtype element, LLVMValueRef at, int width) {
    LLVMValueRef x = load_raw(e, element, at, width);
    if (element == DTYPE_BOOL)
        x = LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    return element == DTYPE_I4 ? code_wrap_i4(e, x, width) : x;
}

/* ---- blocks whose rows are contiguous ---- */

LLVMValueRef code_extend(emitter *e, LLVMValueRef x, dtype element, int width, int to) {
    int mask[64];
    if (width == to)
        return x;
    if (width == 1) {
        LLVMValueRef undef = LLVMGetUndef(code_vector(e, element, to));
        return LLVMBuildInsertElement(e->b, undef, x, LLVMConstInt(e->i32, 0, 0), "");
    }
    for (int i = 0; i < to; i++)
        mask[i] = i < width ? i : -1;
    return code_shuffle(e, x, LLVMGetUndef(LLVMTypeOf(x)), mask, to);
}

LLVMValueRef code_shrink(emitter *e, LLVMValueRef x, int width, int to) {
    int mask[64];
    if (width == to)
        return x;
    if (to == 1)
        return LLVMBuildExtractElement(e->b, x, LLVMConstInt(e->i32, 0, 0), "");
    for (int i = 0; i < to; i++)
        mask[i] = i;
    return code_shuffle(e, x, LLVMGetUndef(LLVMTypeOf(x)), mask, to);
}

/* The block of rows r0... and the columns of part p. */
static void load_block(emitter *e, emitted *t, LLVMValueRef at, int64_t column_stride, int64_t r0,
                       int p) {
    LLVMValueRef v[64];
    int width = t->width, columns = code_part_width(t, p);
    int rows = t->rows - r0 < width ? (int)(t->rows - r0) : width;
    for (int c = 0; c < width; c++) {
        if (c >= columns) {
            v[c] = LLVMGetUndef(code_vector(e, t->element, width));
            continue;
        }
        int64_t column = (int64_t)p * width + c;
        LLVMValueRef from = address(e, t->element, at, column * column_stride + r0);
        v[c] = code_extend(e, load_vector(e, t->element, from, rows), t->element, rows, width);
    }
    code_transpose(e, t->element, v, width);
    for (int r = 0; r < rows; r++)
        t->values[(r0 + r) * t->parts + p] = code_shrink(e, v[r], width, columns);
}

/* ---- loads ---- */

static LLVMValueRef load_elements(emitter *e, const emitted *t, LLVMValueRef at, int64_t row_stride,
                                  int64_t column_stride, int64_t r, int p) {
    int width = code_part_width(t, p);
    LLVMValueRef x = LLVMGetUndef(code_vector(e, t->element, width));
    for (int c = 0; c < width; c++) {
        int64_t column = (int64_t)p * t->width + c;
        LLVMValueRef from = address(e, t->element, at, r * row_stride + column * column_stride);
        LLVMValueRef one = load_vector(e, t->element, from, 1);
        x = width == 1
                ? one
                : LLVMBuildInsertElement(e->b, x, one, LLVMConstInt(e->i32, (unsigned)c, 0), "");
    }
    return x;
}

void code_load(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int64_t row = ir_op_int(e->m, op, "row_stride", 0),
            column = ir_op_int(e->m, op, "column_stride", 0);
    emitted *t = code_new(e, d->results[0]);
    LLVMValueRef at = base_address(e, op);
    bool transposed = column != 1 && row == 1 && t->rows > 1 && t->columns > 1 && t->width > 1;
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p);
            LLVMValueRef *value = &t->values[r * t->parts + p];
            if (transposed) {
                if (r % t->width == 0)
                    load_block(e, t, at, column, r, p);
            } else if (column == 1 || width == 1) {
                int64_t where = r * row + (int64_t)p * t->width * column;
                *value = load_vector(e, t->element, address(e, t->element, at, where), width);
            } else {
                *value = load_elements(e, t, at, row, column, r, p);
            }
        }
}

static LLVMValueRef lane(emitter *e, LLVMValueRef x, int width, int i) {
    return width == 1 ? x
                      : LLVMBuildExtractElement(e->b, x, LLVMConstInt(e->i32, (unsigned)i, 0), "");
}

typedef struct gathering {
    dtype element;
    LLVMValueRef at, indices;
    int width;              /* lanes */
    int64_t stride, column; /* elements for each step of the index, and of the lane */
} gathering;

/* One by one. */
static LLVMValueRef gather_elements(emitter *e, const gathering *g) {
    LLVMValueRef x = LLVMGetUndef(code_vector(e, g->element, g->width));
    for (int c = 0; c < g->width; c++) {
        LLVMValueRef index = LLVMBuildSExt(e->b, lane(e, g->indices, g->width, c), e->i64, "");
        LLVMValueRef offset = LLVMBuildNSWMul(e->b, index, code_int(e, e->i64, g->stride), "");
        LLVMValueRef from = LLVMBuildGEP2(e->b, memory_type(e, g->element), g->at, &offset, 1, "");
        LLVMValueRef one =
            load_vector(e, g->element, address(e, g->element, from, c * g->column), 1);
        if (g->width == 1)
            return one;
        x = LLVMBuildInsertElement(e->b, x, one, LLVMConstInt(e->i32, (unsigned)c, 0), "");
    }
    return x;
}

/* The same by the processor's own instruction. */
static LLVMValueRef gather_vector(emitter *e, const gathering *g) {
    unsigned width = (unsigned)g->width;
    LLVMValueRef lanes[64], all[64];
    for (int c = 0; c < g->width; c++) {
        lanes[c] = code_int(e, e->i64, c * g->column);
        all[c] = LLVMConstInt(e->i1, 1, 0);
    }
    LLVMValueRef stride = code_splat(e, code_int(e, e->i64, g->stride), g->width);
    LLVMValueRef offsets = LLVMBuildSExt(e->b, g->indices, LLVMVectorType(e->i64, width), "");
    offsets = LLVMBuildNSWMul(e->b, offsets, stride, "");
    offsets = LLVMBuildNSWAdd(e->b, offsets, LLVMConstVector(lanes, width), "");
    LLVMTypeRef type = code_vector(e, g->element, g->width);
    LLVMValueRef from = LLVMBuildGEP2(e->b, memory_type(e, g->element), g->at, &offsets, 1, "");
    LLVMTypeRef types[] = {type, LLVMTypeOf(from)};
    LLVMValueRef args[] = {from, LLVMConstInt(e->i32, dtype_size(g->element), 0),
                           LLVMConstVector(all, width), LLVMGetUndef(type)};
    return code_intrinsic(e, "llvm.masked.gather", types, 2, args, 4);
}

void code_gather(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int64_t row = ir_op_int(e->m, op, "row_stride", 0);
    emitted *t = code_new(e, d->results[0]);
    LLVMValueRef base = base_address(e, op);
    gathering g = {.element = t->element,
                   .stride = ir_op_int(e->m, op, "stride", 1),
                   .column = ir_op_int(e->m, op, "column_stride", 0)};
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            g.width = code_part_width(t, p);
            g.indices = code_part(e, code_get(e, d->operands[2]), r, p, g.width);
            g.at = address(e, t->element, base, r * row + (int64_t)p * t->width * g.column);
            bool whole = dtype_size(t->element) == 4 && g.width == t->width && g.width >= 8;
            t->values[r * t->parts + p] = (whole ? gather_vector : gather_elements)(e, &g);
        }
}

/* ---- hints ---- */

/* One prefetch for each line of 64 bytes. */
void code_prefetch(emitter *e, ir_op op) {
    dtype element =
        ir_type_get(e->m, ir_value_get(e->m, ir_op_get(e->m, op)->operands[0])->type)->element;
    int64_t columns = ir_op_int(e->m, op, "columns", 1), line = 64 / (int64_t)dtype_size(element);
    bool near = ir_op_int(e->m, op, "near", 0) != 0;
    LLVMValueRef at = base_address(e, op);
    for (int64_t c = 0; c < columns; c += line) {
        LLVMValueRef args[] = {address(e, element, at, c), code_int(e, e->i32, 0),
                               code_int(e, e->i32, near ? 3 : 2), code_int(e, e->i32, 1)};
        code_intrinsic(e, "llvm.prefetch", &e->pointer, 1, args, 4);
    }
}

/* ---- stores ---- */

/* Every NaN becomes the canonical one of its type. */
static LLVMValueRef canonical(emitter *e, dtype element, LLVMValueRef x, int width) {
    const dtype_format *f = dtype_format_of(element);
    LLVMValueRef nan;
    if (dtype_size(element) >= 4) {
        nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
    } else {
        uint64_t sign = UINT64_C(1) << (8 * dtype_size(element) - 1);
        LLVMValueRef magnitude =
            LLVMBuildAnd(e->b, x, code_splat_bits(e, element, sign - 1, width), "");
        LLVMValueRef last =
            code_splat_bits(e, element, f->infinity ? f->infinity : f->greatest, width);
        nan = LLVMBuildICmp(e->b, LLVMIntUGT, magnitude, last, "");
    }
    return LLVMBuildSelect(e->b, nan, code_splat_bits(e, element, f->nan, width), x, "");
}

static LLVMValueRef store_vector(emitter *e, dtype element, LLVMValueRef x, LLVMValueRef at) {
    LLVMValueRef s = LLVMBuildStore(e->b, x, at);
    LLVMSetAlignment(s, (unsigned)dtype_size(element));
    return s;
}

/* Memory starts at multiples of 64 bytes: the runtime's promise for buffers, and the layout of the
 * workspace. So the offset decides whether a vector is aligned. */
static void stream(emitter *e, LLVMValueRef store, int64_t multiple_bytes, int64_t vector_bytes) {
    if (vector_bytes < 16 || vector_bytes > 64 || multiple_bytes % vector_bytes != 0)
        return;
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(e->i32, 1, 0));
    unsigned kind = LLVMGetMDKindIDInContext(e->context, "nontemporal", 11);
    LLVMSetMetadata(store, kind,
                    LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &one, 1)));
    LLVMSetAlignment(store, (unsigned)vector_bytes);
    e->streams = true;
}

void code_store(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int64_t row = ir_op_int(e->m, op, "row_stride", 0),
            column = ir_op_int(e->m, op, "column_stride", 0);
    const emitted *t = code_get(e, d->operands[2]);
    bool clean = ir_op_int(e->m, op, "canonical", 0) != 0,
         streams = ir_op_int(e->m, op, "stream", 0) != 0;
    int64_t offset = code_get(e, d->operands[1])->multiple, size = (int64_t)dtype_size(t->element);
    LLVMValueRef at = base_address(e, op);
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p);
            LLVMValueRef x = t->values[r * t->parts + p];
            if (clean)
                x = canonical(e, t->element, x, width);
            if (t->element == DTYPE_BOOL)
                x = LLVMBuildZExt(e->b, x, memory_vector(e, DTYPE_BOOL, width), "");
            int64_t where = r * row + (int64_t)p * t->width * column;
            if (column == 1 || width == 1) {
                LLVMValueRef s = store_vector(e, t->element, x, address(e, t->element, at, where));
                if (streams && width == t->width)
                    stream(e, s, code_divisor(offset, where) * size, width * size);
                continue;
            }
            for (int c = 0; c < width; c++)
                store_vector(e, t->element, lane(e, x, width, c),
                             address(e, t->element, at, where + c * column));
        }
}
