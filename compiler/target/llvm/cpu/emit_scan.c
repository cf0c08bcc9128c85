/* emit_scan.c - running sums along the rows of a tile.
 *
 * Rows are turned in registers, so that a vector has one element of each: then there is one
 * addition for each column, in every row at once. A row or two are added element by element. */
#include "target/llvm/emit.h"

enum { MOST_LANES = 64 };

/* A vector of `count` elements of a row of parts, from element `from` on; lanes behind it are
 * undefined. */
static LLVMValueRef lanes_of(emitter *e, const emitted *t, int64_t row, int64_t from, int count,
                             int to) {
    int part = (int)(from / t->width), mask[MOST_LANES];
    int first = (int)(from % t->width), width = code_part_width(t, part);
    LLVMValueRef x = t->values[row * t->parts + part];
    if (width == 1)
        return code_extend(e, x, t->element, 1, to);
    for (int i = 0; i < to; i++)
        mask[i] = i < count ? first + i : -1;
    return first == 0 && width == to ? x
                                     : code_shuffle(e, x, LLVMGetUndef(LLVMTypeOf(x)), mask, to);
}

/* Puts `count` lanes of x at element `at` of a row. Parameters: a place of a row, and a vector with
 * both its widths. */
static void set_lanes(emitter *e, emitted *t, int64_t row, int64_t at, int count, int lanes,
                      LLVMValueRef x) {
    int part = (int)(at / t->width), mask[MOST_LANES];
    int first = (int)(at % t->width), width = code_part_width(t, part);
    LLVMValueRef *to = &t->values[row * t->parts + part];
    if (first == 0) {
        *to = code_shrink(e, x, lanes, count);
        *to = count == width ? *to : code_extend(e, *to, t->element, count, width);
        return;
    }
    x = code_extend(e, code_shrink(e, x, lanes, count), t->element, count, width);
    for (int i = 0; i < width; i++)
        mask[i] = i < first ? i : i < first + count ? width + i - first : -1;
    *to = code_shuffle(e, *to, x, mask, width);
}

/* `count` columns from `at` on of up to `lanes` rows from `row` on; the sums before them and, then,
 * the last ones. */
typedef struct square {
    const emitted *x;
    emitted *sums;
    int64_t row, at;
    int rows, count, lanes;
    int opcode; /* combines two elements */
} square;

static LLVMValueRef scan_square(emitter *e, const square *s, LLVMValueRef before) {
    LLVMValueRef v[MOST_LANES];
    for (int r = 0; r < s->lanes; r++)
        v[r] = r < s->rows ? lanes_of(e, s->x, s->row + r, s->at, s->count, s->lanes)
                           : LLVMGetUndef(code_vector(e, s->x->element, s->lanes));
    code_transpose(e, s->x->element, v, s->lanes);
    for (int c = 0; c < s->count; c++)
        v[c] = before = code_binary_value(e, s->opcode, s->x->element, before, v[c]);
    code_transpose(e, s->x->element, v, s->lanes);
    for (int r = 0; r < s->rows; r++)
        set_lanes(e, s->sums, s->row + r, s->at, s->count, s->lanes, v[r]);
    return before;
}

static LLVMValueRef scan_singly(emitter *e, const square *s, LLVMValueRef before) {
    for (int r = 0; r < s->rows; r++) {
        LLVMValueRef lane = code_int(e, e->i32, r);
        LLVMValueRef sum = LLVMBuildExtractElement(e->b, before, lane, "");
        LLVMValueRef x = lanes_of(e, s->x, s->row + r, s->at, s->count, s->lanes);
        for (int c = 0; c < s->count; c++) {
            LLVMValueRef place = code_int(e, e->i32, c);
            LLVMValueRef element = LLVMBuildExtractElement(e->b, x, place, "");
            sum = code_binary_value(e, s->opcode, s->x->element, sum, element);
            x = LLVMBuildInsertElement(e->b, x, sum, place, "");
        }
        set_lanes(e, s->sums, s->row + r, s->at, s->count, s->lanes, x);
        before = LLVMBuildInsertElement(e->b, before, sum, lane, "");
    }
    return before;
}

/* Elements of a register, of a type as wide as its sums are. */
static int register_lanes(const emitter *e, dtype element, int width) {
    int size = (int)dtype_size(element), lanes = size > 4 ? e->target->lanes * 4 / size : width;
    return lanes > width ? width : lanes < 2 ? 2 : lanes;
}

void code_scan(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]), *before = code_get(e, d->operands[1]);
    emitted *sums = code_new(e, d->results[0]), *last = code_new(e, d->results[1]);
    int lanes = register_lanes(e, x->element, x->width);
    for (int64_t row = 0; row < x->rows; row += lanes) {
        int rows = (int)(x->rows - row < lanes ? x->rows - row : lanes);
        LLVMValueRef v = lanes_of(e, before, 0, row, rows, lanes);
        for (int64_t at = 0; at < x->columns; at += lanes) {
            int count = (int)(x->columns - at < lanes ? x->columns - at : lanes);
            square s = {x, sums, row, at, rows, count, lanes, code_combining(e, op)};
            v = (rows * 8 <= lanes || rows == 1 ? scan_singly : scan_square)(e, &s, v);
        }
        set_lanes(e, last, 0, row, rows, lanes, v);
    }
}
