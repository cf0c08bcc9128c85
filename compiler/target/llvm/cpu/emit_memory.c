/* emit_memory.c - loads, stores and gathers of tiles.
 *
 * A tile whose columns are contiguous is loaded row by row in vectors. One whose rows are
 * contiguous is loaded column by column and transposed in registers. Anything else is loaded
 * element by element. */
#include <stdlib.h>

#include "target/llvm/emit.h"

LLVMTypeRef code_memory_type(const emitter *e, dtype element) {
    return element == DTYPE_BOOL ? e->i8 : code_element(e, element);
}

static LLVMTypeRef memory_vector(const emitter *e, dtype element, int width) {
    LLVMTypeRef type = code_memory_type(e, element);
    return width == 1 ? type : LLVMVectorType(type, (unsigned)width);
}

/* base + offset + displacement elements. */
static LLVMValueRef address(emitter *e, dtype element, LLVMValueRef at, int64_t displacement) {
    LLVMValueRef d = code_int(e, e->i64, displacement);
    return displacement ? LLVMBuildGEP2(e->b, code_memory_type(e, element), at, &d, 1, "") : at;
}

static LLVMValueRef base_address(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    LLVMValueRef offset = code_get(e, d->operands[1])->values[0];
    dtype element = ir_type_of(e->m, d->operands[0])->element;
    return LLVMBuildGEP2(e->b, code_memory_type(e, element), code_get(e, d->operands[0])->values[0],
                         &offset, 1, "");
}

/* ---- where elements are, and whether they are there ---- */

typedef struct placement {
    dtype element;
    LLVMValueRef at;                           /* of row 0, column 0 */
    int64_t row, column;                       /* strides, */
    const emitted *row_stride, *column_stride; /* or where they are no numbers */
    LLVMValueRef valid_rows, valid_columns;    /* NULL: all */
    int64_t ahead; /* elements further on, which are fetched with each column; 0: none are */
} placement;

static const emitted *stride_of(const emitter *e, ir_op op, tile_more which) {
    ir_value v = tile_more_of(e->m, op, which);
    return v ? code_get(e, v) : NULL;
}

static LLVMValueRef more_of(const emitter *e, ir_op op, tile_more which) {
    const emitted *v = stride_of(e, op, which);
    return v ? v->values[0] : NULL;
}

static placement place_of(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    return (placement){.element = ir_type_of(e->m, d->operands[0])->element,
                       .at = base_address(e, op),
                       .row = ir_op_int(e->m, op, "row_stride", 0),
                       .column = ir_op_int(e->m, op, "column_stride", 0),
                       .row_stride = stride_of(e, op, TILE_MORE_ROW_STRIDE),
                       .column_stride = stride_of(e, op, TILE_MORE_COLUMN_STRIDE),
                       .valid_rows = more_of(e, op, TILE_MORE_VALID_ROWS),
                       .valid_columns = more_of(e, op, TILE_MORE_VALID_COLUMNS),
                       .ahead = ir_op_int(e->m, op, "ahead", 0)};
}

static LLVMValueRef moved(emitter *e, dtype element, LLVMValueRef at, LLVMValueRef number,
                          LLVMValueRef stride) {
    LLVMValueRef offset = LLVMBuildNSWMul(e->b, number, stride, "");
    return LLVMBuildGEP2(e->b, code_memory_type(e, element), at, &offset, 1, "");
}

/* `number`, or the last one that is valid. */
static LLVMValueRef clamped(emitter *e, int64_t number, LLVMValueRef valid) {
    LLVMValueRef n = code_int(e, e->i64, number);
    if (!valid)
        return n;
    LLVMValueRef last = LLVMBuildNSWSub(e->b, valid, code_int(e, e->i64, 1), "");
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, n, last, ""), n, last, "");
}

/* Puts what follows where a value is made, once for all loops inside, as no pass moves it there.
 * False: the place is not known. */
static bool go_behind(emitter *e, LLVMValueRef value) {
    LLVMValueRef next = LLVMIsAInstruction(value) ? LLVMGetNextInstruction(value) : NULL;
    while (next && LLVMIsAPHINode(next))
        next = LLVMGetNextInstruction(next);
    if (next)
        LLVMPositionBuilderBefore(e->b, next);
    return next != NULL;
}

static LLVMValueRef find_made(const emitter *e, LLVMValueRef of, int64_t number,
                              LLVMValueRef valid) {
    for (size_t i = 0; i < e->made.count; i++) {
        const made_early *m = &e->made.items[i];
        if (m->of == of && m->number == number && m->valid == valid)
            return m->value;
    }
    return NULL;
}

/* number * stride, the number not past the last of `valid` (NULL: any). A stride is made before
 * what is valid. */
static LLVMValueRef multiple_of(emitter *e, LLVMValueRef stride, int64_t number,
                                LLVMValueRef valid) {
    LLVMValueRef product = find_made(e, stride, number, valid);
    if (product)
        return product;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    bool early = go_behind(e, valid ? valid : stride);
    product = LLVMBuildNSWMul(e->b, stride, clamped(e, number, valid), "");
    LLVMPositionBuilderAtEnd(e->b, here);
    made_early made = {stride, number, valid, product};
    if (early)
        vec_push(&e->made, made);
    return product;
}

/* `number` steps on, or where only some are there as many of those. Parameters: an address and what
 * it moves by: as numbers, or as values where they are not known. */
static LLVMValueRef along(emitter *e, const placement *p, LLVMValueRef at, int64_t number,
                          int64_t step, const emitted *stride, LLVMValueRef valid) {
    if (number == 0)
        return at;
    if (!valid && !stride)
        return address(e, p->element, at, number * step);
    LLVMValueRef s = stride ? stride->values[0] : code_int(e, e->i64, step);
    LLVMValueRef offset = multiple_of(e, s, number, valid);
    return LLVMBuildGEP2(e->b, code_memory_type(e, p->element), at, &offset, 1, "");
}

/* Axes of a place that are kept at the last that is there. */
enum { KEEP_NONE = 0, KEEP_ROWS = 1, KEEP_COLUMNS = 2, KEEP_ALL = 3 };

/* The address of an element. */
static LLVMValueRef address_of(emitter *e, const placement *p, int64_t r, int64_t c, int keep) {
    LLVMValueRef at = p->at;
    at = along(e, p, at, r, p->row, p->row_stride, keep & KEEP_ROWS ? p->valid_rows : NULL);
    return along(e, p, at, c, p->column, p->column_stride,
                 keep & KEEP_COLUMNS ? p->valid_columns : NULL);
}

/* Mask of a vector's lanes, be it of one, that are there: first + i < valid, in each lane i. NULL:
 * all. */
static LLVMValueRef mask_of(emitter *e, int64_t first, int width, LLVMValueRef valid) {
    LLVMValueRef lanes[64], mask = valid ? find_made(e, NULL, first * 64 + width - 1, valid) : NULL;
    if (!valid || mask)
        return mask;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    bool early = go_behind(e, valid);
    LLVMValueRef limit = LLVMBuildTrunc(e->b, valid, e->i32, "");
    for (int i = 0; i < width; i++)
        lanes[i] = code_int(e, e->i32, first + i);
    LLVMValueRef none = LLVMGetUndef(LLVMVectorType(e->i32, 1));
    LLVMValueRef limits =
        width > 1 ? code_splat(e, limit, width)
                  : LLVMBuildInsertElement(e->b, none, limit, code_int(e, e->i32, 0), "");
    mask = LLVMBuildICmp(e->b, LLVMIntSLT, LLVMConstVector(lanes, (unsigned)width), limits, "");
    LLVMPositionBuilderAtEnd(e->b, here);
    made_early made = {NULL, first * 64 + width - 1, valid, mask};
    if (early)
        vec_push(&e->made, made);
    return mask;
}

/* ... of a vector that is stored along columns from `c`: none where the row is not there. */
static LLVMValueRef mask_of_store(emitter *e, const placement *p, int64_t r, int64_t c, int width) {
    LLVMTypeRef type = LLVMVectorType(e->i1, (unsigned)width);
    LLVMValueRef mask = mask_of(e, c, width, p->valid_columns);
    if (!p->valid_rows || r == 0)
        return mask;
    LLVMValueRef there = LLVMBuildICmp(e->b, LLVMIntSLT, code_int(e, e->i64, r), p->valid_rows, "");
    LLVMValueRef all =
        LLVMBuildSelect(e->b, there, LLVMConstAllOnes(type), LLVMConstNull(type), "");
    return mask ? LLVMBuildAnd(e->b, mask, all, "") : all;
}

static LLVMValueRef load_raw(emitter *e, dtype element, LLVMValueRef at, int width) {
    LLVMValueRef x = LLVMBuildLoad2(e->b, memory_vector(e, element, width), at, "");
    LLVMSetAlignment(x, (unsigned)dtype_size(element));
    return x;
}

static LLVMValueRef load_masked(emitter *e, dtype element, LLVMValueRef at, int width,
                                LLVMValueRef mask) {
    LLVMTypeRef type = memory_vector(e, element, width), types[] = {type, e->pointer};
    LLVMValueRef args[] = {at, code_int(e, e->i32, (int64_t)dtype_size(element)), mask,
                           LLVMConstNull(type)};
    return code_intrinsic(e, "llvm.masked.load", types, 2, args, 4);
}

/* A vector, of which lanes outside of the mask (NULL: none) are zero. */
static LLVMValueRef load_vector(emitter *e, dtype element, LLVMValueRef at, int width,
                                LLVMValueRef mask) {
    LLVMValueRef x =
        mask ? load_masked(e, element, at, width, mask) : load_raw(e, element, at, width);
    if (element == DTYPE_BOOL)
        x = LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    return element == DTYPE_I4 ? code_wrap_i4(e, x, width) : x;
}

/* Mask of the first `count` of `to` lanes. */
static LLVMValueRef first_lanes(const emitter *e, int count, int to) {
    LLVMValueRef lanes[64];
    for (int i = 0; i < to; i++)
        lanes[i] = LLVMConstInt(e->i1, i < count, 0);
    return LLVMConstVector(lanes, (unsigned)to);
}

/* Has the processor loads and stores of some lanes, at no cost and of any type? */
static bool has_masks(const emitter *e) {
    return e->target->has_avx512 && !e->plain;
}

/* `count` elements, of which the mask (NULL: all) holds, as the first of `to` lanes. */
static LLVMValueRef load_part(emitter *e, dtype element, LLVMValueRef at, int count, int to,
                              LLVMValueRef mask) {
    if (count < to && !mask && count > 1 && has_masks(e))
        return load_vector(e, element, at, to, first_lanes(e, count, to));
    return code_extend(e, load_vector(e, element, at, count, mask), element, count, to);
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

/* Likewise groups, which have the alignment of their elements; all of them are there. */
static LLVMValueRef load_groups(emitter *e, dtype element, LLVMValueRef at, int count, int to) {
    bool masked = count < to && count > 1 && has_masks(e);
    LLVMValueRef x;
    if (masked) {
        LLVMTypeRef type = LLVMVectorType(e->i32, (unsigned)to), types[] = {type, e->pointer};
        LLVMValueRef args[] = {at, code_int(e, e->i32, (int64_t)dtype_size(element)),
                               first_lanes(e, count, to), LLVMConstNull(type)};
        return code_intrinsic(e, "llvm.masked.load", types, 2, args, 4);
    }
    x = LLVMBuildLoad2(e->b, code_vector(e, DTYPE_I32, count), at, "");
    LLVMSetAlignment(x, (unsigned)dtype_size(element));
    return code_extend(e, x, DTYPE_I32, count, to);
}

/* LLVM's locality. */
typedef enum fetch_level { FETCH_SECOND = 2, FETCH_FIRST = 3 } fetch_level;

static void fetch(emitter *e, LLVMValueRef at, fetch_level level) {
    LLVMValueRef args[] = {at, code_int(e, e->i32, 0), code_int(e, e->i32, level),
                           code_int(e, e->i32, 1)};
    code_intrinsic(e, "llvm.prefetch", &e->pointer, 1, args, 4);
}

/* The block of rows r0... and the columns of part p. What is fetched ahead for a column stands
 * behind its load: fetched before or behind all loads it takes longer on Zen 5. */
static void load_block(emitter *e, emitted *t, const placement *at, int64_t r0, int p) {
    LLVMValueRef v[64];
    int width = t->width, columns = code_part_columns(t, p);
    int rows = t->rows - r0 < width ? (int)(t->rows - r0) : width;
    for (int c = 0; c < width; c++) {
        if (c >= columns) {
            v[c] = LLVMGetUndef(code_vector(e, t->element, width));
            continue;
        }
        int64_t column = (int64_t)p * width + c;
        LLVMValueRef mask = rows > 1 ? mask_of(e, r0, rows, at->valid_rows) : NULL;
        LLVMValueRef from = address_of(e, at, r0, column, rows > 1 ? KEEP_COLUMNS : KEEP_ALL);
        v[c] = t->element == at->element ? load_part(e, t->element, from, rows, width, mask)
                                         : load_groups(e, at->element, from, rows, width);
        if (at->ahead)
            fetch(e, address(e, at->element, from, at->ahead), FETCH_SECOND);
    }
    code_transpose(e, t->element, v, width);
    for (int r = 0; r < rows; r++)
        t->values[(r0 + r) * t->parts + p] = code_shrink(e, v[r], width, code_part_width(t, p));
}

/* ---- loads ---- */

static LLVMValueRef load_elements(emitter *e, const emitted *t, const placement *at, int64_t r,
                                  int p) {
    int width = code_part_width(t, p);
    LLVMValueRef x = LLVMGetUndef(code_vector(e, t->element, width));
    for (int c = 0; c < code_part_columns(t, p); c++) {
        LLVMValueRef from = address_of(e, at, r, (int64_t)p * t->width + c, KEEP_ALL);
        LLVMValueRef one = load_vector(e, t->element, from, 1, NULL);
        x = width == 1
                ? one
                : LLVMBuildInsertElement(e->b, x, one, LLVMConstInt(e->i32, (unsigned)c, 0), "");
    }
    return x;
}

enum { SHORT_STRIDE = 4 };

/* Every stride-th element of what is contiguous: whole vectors, of which the last one ends at the
 * last element that is wanted, and from two of them at a time the lanes that are. */
static LLVMValueRef load_strided(emitter *e, const emitted *t, const placement *at, int64_t r,
                                 int64_t c, int width) {
    const int64_t stride = at->column, last = (width - 1) * stride;
    LLVMValueRef from = address_of(e, at, r, c, KEEP_ROWS), x = NULL;
    for (int64_t i = 0; i < stride; i++) {
        const int64_t begin = i + 1 < stride ? i * width : last + 1 - width;
        LLVMValueRef part =
            load_vector(e, t->element, address(e, t->element, from, begin), width, NULL);
        int mask[64];
        for (int lane = 0; lane < width; lane++) {
            const int64_t place = lane * stride - begin;
            mask[lane] = place >= 0 && place < width ? (int)(x ? width + place : place) : lane;
        }
        x = x ? code_shuffle(e, x, part, mask, width)
              : code_shuffle(e, part, LLVMGetUndef(LLVMTypeOf(part)), mask, width);
    }
    return x;
}

static bool is_strided(const placement *at, int width, int columns) {
    return at->column > 1 && at->column <= SHORT_STRIDE && !at->column_stride && columns == width &&
           !at->valid_columns && width > 1;
}

void code_load(emitter *e, ir_op op) {
    emitted *t = code_new(e, ir_op_get(e->m, op)->results[0]);
    placement at = place_of(e, op);
    bool apart = at.column != 1 || at.column_stride;
    bool transposed =
        apart && at.row == 1 && !at.row_stride && t->rows > 1 && t->columns > 1 && t->width > 1;
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p), columns = code_part_columns(t, p);
            int64_t c = (int64_t)p * t->width;
            LLVMValueRef *value = &t->values[r * t->parts + p];
            if (transposed) {
                if (r % t->width == 0)
                    load_block(e, t, &at, r, p);
            } else if (!apart && width > 1) {
                LLVMValueRef mask = mask_of(e, c, columns, at.valid_columns);
                LLVMValueRef from = address_of(e, &at, r, c, KEEP_ROWS);
                *value = load_part(e, t->element, from, columns, width, mask);
            } else if (is_strided(&at, width, columns)) {
                *value = load_strided(e, t, &at, r, c, width);
            } else {
                *value = load_elements(e, t, &at, r, p);
            }
        }
}

static LLVMValueRef load_group(emitter *e, const placement *at, int64_t r, int64_t c) {
    LLVMValueRef x = LLVMBuildLoad2(e->b, e->i32, address_of(e, at, r, c, KEEP_ALL), "");
    LLVMSetAlignment(x, (unsigned)dtype_size(at->element));
    return x;
}

/* A single group of a row is broadcast where it is used. Groups one behind the other in every
 * column are turned over like elements. */
void code_load_group(emitter *e, ir_op op) {
    emitted *t = code_new(e, ir_op_get(e->m, op)->results[0]);
    placement at = place_of(e, op);
    bool behind = at.row * (int64_t)dtype_size(at.element) == 4 && !at.row_stride && t->rows > 1;
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p);
            LLVMValueRef *value = &t->values[r * t->parts + p];
            if (width > 1 && behind && !at.valid_rows) {
                if (r % t->width == 0)
                    load_block(e, t, &at, r, p);
                continue;
            }
            *value = width == 1 ? load_group(e, &at, r, (int64_t)p * t->width)
                                : LLVMGetUndef(code_vector(e, DTYPE_I32, width));
            for (int c = 0; c < code_part_columns(t, p) && width > 1; c++) {
                LLVMValueRef one = load_group(e, &at, r, (int64_t)p * t->width + c);
                *value = LLVMBuildInsertElement(e->b, *value, one, code_int(e, e->i32, c), "");
            }
        }
}

static LLVMValueRef lane(emitter *e, LLVMValueRef x, int width, int i) {
    return width == 1 ? x
                      : LLVMBuildExtractElement(e->b, x, LLVMConstInt(e->i32, (unsigned)i, 0), "");
}

typedef struct gather_state {
    placement at;
    LLVMValueRef indices;
    int width, columns;  /* lanes, and how many of them there are */
    int64_t r, c;        /* of the first lane */
    LLVMValueRef stride; /* elements for each step of the index */
} gather_state;

/* One by one. */
static LLVMValueRef gather_elements(emitter *e, const gather_state *g) {
    dtype element = g->at.element;
    LLVMValueRef x = LLVMGetUndef(code_vector(e, element, g->width));
    for (int c = 0; c < g->columns; c++) {
        LLVMValueRef index = LLVMBuildSExt(e->b, lane(e, g->indices, g->width, c), e->i64, "");
        LLVMValueRef from =
            moved(e, element, address_of(e, &g->at, g->r, g->c + c, KEEP_ALL), index, g->stride);
        LLVMValueRef one = load_vector(e, element, from, 1, NULL);
        if (g->width == 1)
            return one;
        x = LLVMBuildInsertElement(e->b, x, one, LLVMConstInt(e->i32, (unsigned)c, 0), "");
    }
    return x;
}

/* The same by the processor's own instruction. */
static LLVMValueRef gather_vector(emitter *e, const gather_state *g) {
    unsigned width = (unsigned)g->width;
    dtype element = g->at.element;
    LLVMValueRef lanes[64], mask = mask_of(e, g->c, g->width, g->at.valid_columns);
    for (int c = 0; c < g->width; c++)
        lanes[c] = code_int(e, e->i64, c * g->at.column);
    LLVMValueRef stride = code_splat(e, g->stride, g->width);
    LLVMValueRef offsets = LLVMBuildSExt(e->b, g->indices, LLVMVectorType(e->i64, width), "");
    offsets = LLVMBuildNSWMul(e->b, offsets, stride, "");
    offsets = LLVMBuildNSWAdd(e->b, offsets, LLVMConstVector(lanes, width), "");
    LLVMTypeRef type = code_vector(e, element, g->width);
    LLVMValueRef first = address_of(e, &g->at, g->r, g->c, KEEP_ROWS);
    LLVMValueRef from = LLVMBuildGEP2(e->b, code_memory_type(e, element), first, &offsets, 1, "");
    LLVMTypeRef types[] = {type, LLVMTypeOf(from)};
    LLVMValueRef args[] = {from, LLVMConstInt(e->i32, dtype_size(element), 0),
                           mask ? mask : LLVMConstAllOnes(LLVMVectorType(e->i1, width)),
                           LLVMGetUndef(type)};
    return code_intrinsic(e, "llvm.masked.gather", types, 2, args, 4);
}

void code_gather(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    emitted *t = code_new(e, d->results[0]);
    gather_state g = {.at = place_of(e, op), .stride = more_of(e, op, TILE_MORE_STRIDE)};
    if (!g.stride)
        g.stride = code_int(e, e->i64, ir_op_int(e->m, op, "stride", 1));
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            g.width = code_part_width(t, p);
            g.columns = code_part_columns(t, p);
            g.indices = code_part(e, code_get(e, d->operands[2]), r, p, g.width);
            g.r = r;
            g.c = (int64_t)p * t->width;
            bool whole = dtype_size(t->element) == 4 && g.columns == t->width && g.width >= 8 &&
                         !g.at.column_stride;
            t->values[r * t->parts + p] = (whole ? gather_vector : gather_elements)(e, &g);
        }
}

/* ---- hints ---- */

/* One prefetch for each line of 64 bytes. */
void code_prefetch(emitter *e, ir_op op) {
    dtype element = ir_type_of(e->m, ir_op_get(e->m, op)->operands[0])->element;
    int64_t columns = ir_op_int(e->m, op, "columns", 1), line = 64 / (int64_t)dtype_size(element);
    bool near = ir_op_int(e->m, op, "near", 0) != 0;
    LLVMValueRef at = base_address(e, op);
    for (int64_t c = 0; c < columns; c += line)
        fetch(e, address(e, element, at, c), near ? FETCH_FIRST : FETCH_SECOND);
}

/* ---- stores ---- */

/* Every NaN becomes the canonical one of its type. */
LLVMValueRef code_canonical(emitter *e, dtype element, LLVMValueRef x, int width) {
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

/* Lanes of the mask only. A scalar is the first of two lanes: not every code generator takes one.
 */
static void store_masked(emitter *e, dtype element, LLVMValueRef x, LLVMValueRef at, int width,
                         LLVMValueRef mask) {
    LLVMTypeRef type =
                    LLVMVectorType(code_memory_type(e, element), width > 1 ? (unsigned)width : 2),
                types[] = {type, e->pointer};
    if (width == 1) {
        LLVMValueRef first = code_int(e, e->i32, 0), none = LLVMConstNull(LLVMVectorType(e->i1, 2));
        x = LLVMBuildInsertElement(e->b, LLVMGetUndef(type), x, first, "");
        mask = LLVMBuildInsertElement(e->b, none, LLVMBuildExtractElement(e->b, mask, first, ""),
                                      first, "");
    }
    LLVMValueRef args[] = {x, at, code_int(e, e->i32, (int64_t)dtype_size(element)), mask};
    code_intrinsic(e, "llvm.masked.store", types, 2, args, 4);
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

/* Value that goes to memory of part p of row r. */
static LLVMValueRef stored_part(emitter *e, const emitted *t, int64_t r, int p, bool clean) {
    int width = code_part_width(t, p);
    LLVMValueRef x = t->values[r * t->parts + p];
    if (clean)
        x = code_canonical(e, t->element, x, width);
    if (t->element == DTYPE_BOOL)
        x = LLVMBuildZExt(e->b, x, memory_vector(e, DTYPE_BOOL, width), "");
    return x;
}

/* Element by element, of `width` lanes the first `columns`. Parameters: a place of a window, row
 * and column, and a vector with its width. */
static void store_elements(emitter *e, const placement *at, int64_t r, int64_t c, LLVMValueRef x,
                           int width, int columns) {
    for (int i = 0; i < columns; i++) {
        LLVMValueRef one = lane(e, x, width, i), to = address_of(e, at, r, c + i, KEEP_ALL);
        LLVMValueRef mask = mask_of_store(e, at, r, c + i, 1);
        if (mask)
            store_masked(e, at->element, one, to, 1, mask);
        else
            store_vector(e, at->element, one, to);
    }
}

void code_store(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *t = code_get(e, d->operands[2]);
    bool clean = ir_op_int(e->m, op, "canonical", 0) != 0,
         streams = ir_op_int(e->m, op, "stream", 0) != 0;
    int64_t offset = code_get(e, d->operands[1])->multiple, size = (int64_t)dtype_size(t->element);
    placement at = place_of(e, op);
    bool apart = at.column != 1 || at.column_stride;
    for (int64_t r = 0; r < t->rows; r++)
        for (int p = 0; p < t->parts; p++) {
            int width = code_part_width(t, p), columns = code_part_columns(t, p);
            int64_t c = (int64_t)p * t->width, where = r * at.row + c * at.column;
            LLVMValueRef x = stored_part(e, t, r, p, clean);
            if (apart || width == 1) {
                store_elements(e, &at, r, c, x, width, columns);
                continue;
            }
            LLVMValueRef to = address_of(e, &at, r, c, KEEP_ROWS);
            LLVMValueRef mask = mask_of_store(e, &at, r, c, columns);
            if (!mask && columns < width && has_masks(e)) {
                mask = first_lanes(e, columns, width);
                columns = width;
            }
            x = code_shrink(e, x, width, columns);
            if (mask) {
                store_masked(e, t->element, x, to, columns, mask);
                continue;
            }
            LLVMValueRef s = store_vector(e, t->element, x, to);
            if (streams && columns == t->width && !at.row_stride)
                stream(e, s, code_divisor(offset, where) * size, width * size);
        }
}
