/* emit_mma.c - matrix units: fragments out of the workgroup's memory, products, and copies into
 * that memory which do not go through registers.
 *
 * Of a factor's fragment a thread holds runs, each one value: what the instruction takes as one
 * operand, or a part of one. Of sums it holds single elements, as of any tile. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "schedule/integers.h"
#include "target/llvm/emit.h"
#include "tile/mma.h"
#include "tile/simt/simt.h"

enum { SPACE_GLOBAL = 1, SPACE_SHARED = 3 };

static bool is_ptx(const emitter *e) {
    return e->target->family == FAMILY_PTX;
}

static LLVMValueRef number(emitter *e, int64_t value) {
    return code_int(e, e->i32, value);
}

static LLVMValueRef scaled(emitter *e, LLVMValueRef x, int64_t by) {
    return LLVMBuildNSWMul(e->b, x, code_int(e, e->i64, by), "");
}

static LLVMValueRef sum_of(emitter *e, LLVMValueRef x, LLVMValueRef y) {
    return x && y ? LLVMBuildNSWAdd(e->b, x, y, "") : x ? x : y;
}

/* ---- ldmatrix ---- */

enum { MATRIX = 8, MATRIX_BYTES = 16 }; /* rows of one of its matrices, and what each has */

/* The two axes of memory: that of the instruction's k and the other one. */
typedef struct fragment_axes {
    bool left;
    int64_t line_stride, step_stride;
    int64_t each;       /* elements of a matrix's row */
    LLVMValueRef group; /* of subgroups along the lines; NULL: 0 */
    int64_t span;       /* lines of a subgroup */
    int64_t swizzle;    /* pattern of memory's rows, or 0 */
} fragment_axes;

static fragment_axes axes_of(emitter *e, ir_op op, const emitted *t) {
    const thread_place p = simt_place(e, &t->layout);
    int64_t row = ir_op_int(e->m, op, "row_stride", 0),
            column = ir_op_int(e->m, op, "column_stride", 0);
    bool left = t->layout.fragment == IR_FRAGMENT_A;
    return (fragment_axes){.left = left,
                           .swizzle = ir_op_int(e->m, op, "swizzle", 0),
                           .line_stride = left ? row : column,
                           .step_stride = left ? column : row,
                           .each = MATRIX_BYTES / (int64_t)dtype_size(t->element),
                           .group = left ? p.row_group : p.column_group,
                           .span = left ? t->tile_rows / t->layout.row_groups
                                        : t->tile_columns / t->layout.column_groups};
}

bool simt_is_fragment(const emitted *t) {
    return t->layout.fragment == IR_FRAGMENT_A || t->layout.fragment == IR_FRAGMENT_B;
}

/* Rows of matrices are sixteen bytes of the workgroup's memory, and aligned. Those of single bytes
 * cannot be turned. */
static bool can_load_matrices(const emitter *e, ir_op op, const emitted *t,
                              const fragment_axes *a) {
    const ir_op_data *d = ir_op_get(e->m, op);
    LLVMTypeRef pointer = LLVMTypeOf(code_get(e, d->operands[0])->values[0]);
    int64_t other = a->line_stride == 1 ? a->step_stride : a->line_stride;
    size_t size = dtype_size(t->element);
    return is_ptx(e) && LLVMGetPointerAddressSpace(pointer) == SPACE_SHARED && size <= 2 &&
           ((a->line_stride == 1 && size == 2) || a->step_stride == 1) && other % a->each == 0 &&
           code_get(e, d->operands[1])->multiple % a->each == 0;
}

/* Row of its matrices that the lane names, as elements from the fragment's beginning, each of which
 * counts `unit`. Matrices of the left side: lines 0, lines 8, then the same of steps 8 (of single
 * bytes 16); of the right one: steps 0, steps 8, then the same of lines 8. Where lines lie side by
 * side, a row is one of steps.
 */
static LLVMValueRef lane_offset(emitter *e, const fragment_axes *a, int64_t unit) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMPositionBuilderBefore(e->b, e->simt.last);
    LLVMValueRef lane = e->simt.index, eight = code_int(e, e->i64, MATRIX),
                 within = LLVMBuildAnd(e->b, lane, code_int(e, e->i64, MATRIX - 1), ""),
                 second = LLVMBuildAnd(e->b, lane, eight, ""),
                 third = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, lane, code_int(e, e->i64, 1), ""),
                                      eight, "");
    bool turned = a->line_stride == 1;
    LLVMValueRef line = a->left ? second : third, step = a->left ? third : second;
    LLVMValueRef *row = turned ? &step : &line;
    *row = LLVMBuildAdd(e->b, *row, within, "");
    if (a->group)
        line = LLVMBuildAdd(e->b, line, scaled(e, a->group, a->span), "");
    const int64_t steps = a->step_stride * (turned ? 1 : a->each / MATRIX);
    LLVMValueRef offset =
        sum_of(e, scaled(e, line, a->line_stride * unit), scaled(e, step, steps * unit));
    LLVMPositionBuilderAtEnd(e->b, here);
    return offset;
}

static LLVMValueRef load_matrices(emitter *e, LLVMValueRef at, int count, bool turned) {
    char name[80];
    LLVMTypeRef type = LLVMTypeOf(at);
    snprintf(name, sizeof name, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%d%s.b16", count,
             turned ? ".trans" : "");
    LLVMValueRef call = code_intrinsic(e, name, &type, 1, &at, 1);
    simt_note_site(e, call);
    return call;
}

/* The place of the lane's row of the first matrices: `at`, or if rows are swizzled so many bytes
 * from a tile's beginning on, in that memory. */
typedef struct matrix_rows {
    LLVMValueRef at, byte;
    ir_value offset;
    dtype element;
} matrix_rows;

static matrix_rows rows_of_matrices(emitter *e, ir_op op, const fragment_axes *a, dtype element) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const int64_t size = (int64_t)dtype_size(element);
    matrix_rows r = {.at = code_get(e, d->operands[0])->values[0],
                     .byte = lane_offset(e, a, a->swizzle ? size : 1),
                     .offset = d->operands[1],
                     .element = element};
    if (!a->swizzle) {
        LLVMValueRef first = sum_of(e, code_get(e, r.offset)->values[0], r.byte);
        r.at = LLVMBuildGEP2(e->b, code_memory_type(e, element), r.at, &first, 1, "");
    }
    return r;
}

/* ... of matrices so many elements on. */
static LLVMValueRef row_at(emitter *e, const fragment_axes *a, const matrix_rows *r, int64_t on) {
    const int64_t size = (int64_t)dtype_size(r->element);
    LLVMValueRef offset = a->swizzle
                              ? simt_byte_of(e, r->offset, r->byte, on * size, size, a->swizzle)
                              : code_int(e, e->i64, on);
    LLVMTypeRef type = a->swizzle ? e->i8 : code_memory_type(e, r->element);
    return LLVMBuildGEP2(e->b, type, r->at, &offset, 1, "");
}

/* The fragment from a line and a step on: four matrices, or two of the right side's. */
static void load_some_matrices(emitter *e, emitted *t, const fragment_axes *a,
                               const matrix_rows *from, int64_t line, int64_t step) {
    int64_t lines = (a->left ? t->rows : t->parts) * MATRIX;
    int count = a->left || line + MATRIX < lines ? 4 : 2;
    LLVMTypeRef type = code_memory_type(e, t->element);
    LLVMValueRef at = row_at(e, a, from, line * a->line_stride + step * a->step_stride);
    LLVMValueRef loaded = load_matrices(e, at, count, a->line_stride == 1);
    LLVMTypeRef run = LLVMVectorType(type, (unsigned)a->each / 4);
    for (int i = 0; i < count; i++) {
        int64_t l = line / MATRIX + (a->left ? i % 2 : i / 2),
                s = step / a->each + (a->left ? i / 2 : i % 2);
        LLVMValueRef word = LLVMBuildExtractValue(e->b, loaded, (unsigned)i, "");
        t->values[a->left ? l * t->parts + s : s * t->parts + l] =
            LLVMBuildBitCast(e->b, word, run, "");
    }
}

bool simt_load_matrices(emitter *e, ir_op op, emitted *t) {
    fragment_axes a = axes_of(e, op, t);
    if (!can_load_matrices(e, op, t, &a))
        return false;
    const matrix_rows from = rows_of_matrices(e, op, &a, t->element);
    int64_t lines = (a.left ? t->rows : t->parts) * MATRIX,
            steps = (a.left ? t->parts : t->rows) * a.each;
    for (int64_t step = 0; step < steps; step += 2 * a.each)
        for (int64_t line = 0; line < lines; line += 2 * MATRIX)
            load_some_matrices(e, t, &a, &from, line, step);
    return true;
}

/* ---- products ---- */

enum { MOST_OPERANDS = 16 };

typedef struct product {
    const mma_unit *unit;
    const emitted *a, *b;
    emitted *d;
    LLVMValueRef operands[MOST_OPERANDS];
    unsigned count;
} product;

/* As LLVM's intrinsic takes a run: of 16-bit floats, of one tf32, f32 or f64, of 4, 8 or 16 i8. */
static LLVMValueRef as_operand(emitter *e, const mma_unit *unit, LLVMValueRef run) {
    unsigned length = LLVMGetVectorSize(LLVMTypeOf(run));
    if (unit->factor == DTYPE_F16)
        return LLVMBuildBitCast(e->b, run, LLVMVectorType(e->f16, length), "");
    LLVMTypeRef word = unit->factor == DTYPE_F64                 ? e->f64
                       : unit->factor == DTYPE_F32               ? e->f32
                       : unit->factor == DTYPE_I8 && length == 8 ? e->i64
                       : unit->factor == DTYPE_I8 && length > 8 ? LLVMVectorType(e->i32, length / 4)
                                                                : e->i32;
    return unit->ptx || unit->factor == DTYPE_I8 || length == 1
               ? LLVMBuildBitCast(e->b, run, word, "")
               : run;
}

/* Runs of a fragment's block, from the first column of them to the last. Parameters: a rectangle of
 * the fragment, two numbers for each side. */
static void add_runs(emitter *e, product *p, const emitted *t, int64_t row, int64_t rows,
                     int64_t column, int64_t columns) {
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            p->operands[p->count++] =
                as_operand(e, p->unit, t->values[(row + r) * t->parts + column + c]);
}

/* AMD's of a wavefront of 32. */
static bool is_wave32(const mma_unit *u) {
    return !u->ptx && u->lanes == 32;
}

/* The sums of one instruction: as they are, or one vector. */
static void add_sums(emitter *e, product *p, LLVMValueRef *const *sums, int count) {
    const dtype sum = p->unit->sum;
    LLVMTypeRef word = sum == DTYPE_I32 ? e->i32 : sum == DTYPE_F64 ? e->f64 : e->f32;
    LLVMValueRef all = LLVMGetUndef(LLVMVectorType(word, (unsigned)count));
    for (int i = 0; i < count; i++)
        if (p->unit->ptx)
            p->operands[p->count++] = *sums[i];
        else
            all = LLVMBuildInsertElement(e->b, all, *sums[i], number(e, i), "");
    if (p->unit->ptx)
        return;
    p->operands[p->count++] = all;
    for (int i = 0; i < 3 && !is_wave32(p->unit); i++) /* no lanes are exchanged or negated */
        p->operands[p->count++] = number(e, 0);
}

/* A word before each factor says that it has a sign; the last one that sums wrap. */
static void add_signs(emitter *e, product *p) {
    LLVMValueRef a = p->operands[0], b = p->operands[1], sums = p->operands[2],
                 sign = LLVMConstInt(LLVMInt1TypeInContext(e->context), 1, 0);
    const LLVMValueRef all[] = {sign, a, sign, b, sums, LLVMConstNull(LLVMTypeOf(sign))};
    p->count = sizeof all / sizeof *all;
    memcpy(p->operands, all, sizeof all);
}

/* One instruction: number i down, k along the steps, j across. */
static void multiply(emitter *e, product *p, int64_t i, int64_t k, int64_t j) {
    const mma_unit *u = p->unit;
    const mma_holds *a = &u->a, *b = &u->b, *c = &u->c;
    int64_t rows_a = u->m / (a->row_threads * a->row_run),
            runs_a = u->k / (a->column_threads * a->column_run),
            runs_b = u->k / (b->row_threads * b->row_run),
            columns_b = u->n / (b->column_threads * b->column_run), rows_c = u->m / c->row_threads,
            columns_c = u->n / c->column_threads;
    LLVMValueRef *sums[MOST_OPERANDS];
    int count = 0;
    p->count = 0;
    add_runs(e, p, p->a, i * rows_a, rows_a, k * runs_a, runs_a);
    add_runs(e, p, p->b, k * runs_b, runs_b, j * columns_b, columns_b);
    for (int64_t r = 0; r < rows_c; r++)
        for (int64_t column = 0; column < columns_c; column++)
            sums[count++] = &p->d->values[(i * rows_c + r) * p->d->parts + j * columns_c + column];
    add_sums(e, p, sums, count);
    LLVMTypeRef types[] = {LLVMTypeOf(p->operands[2]), LLVMTypeOf(p->operands[0])};
    if (is_wave32(u) && !dtype_is_float(u->sum))
        add_signs(e, p);
    LLVMValueRef done =
        code_intrinsic(e, u->intrinsic, types, is_wave32(u) ? 2 : 0, p->operands, p->count);
    simt_note_site(e, done);
    for (int n = 0; n < count; n++)
        *sums[n] = u->ptx ? LLVMBuildExtractValue(e->b, done, (unsigned)n, "")
                          : LLVMBuildExtractElement(e->b, done, number(e, n), "");
}

void simt_mma(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const mma_unit *u = mma_unit_of(e->m, op);
    const emitted *c = code_get(e, d->operands[2]);
    product p = {.unit = u,
                 .a = code_get(e, d->operands[0]),
                 .b = code_get(e, d->operands[1]),
                 .d = code_new(e, d->results[0])};
    for (int64_t i = 0; i < c->rows * c->parts; i++)
        p.d->values[i] = c->values[i];
    int64_t down = c->tile_rows / c->layout.row_groups / u->m,
            across = c->tile_columns / c->layout.column_groups / u->n,
            steps = p.a->tile_columns / u->k;
    for (int64_t k = 0; k < steps; k++)
        for (int64_t i = 0; i < down; i++)
            for (int64_t j = 0; j < across; j++)
                multiply(e, &p, i, k, j);
}

/* A loop of products is as long as it should be: ptxas would unroll it, up to all of its trips, and
 * run out of registers. */
void simt_note_loop(emitter *e, ir_op loop, LLVMValueRef branch) {
    static const char words[] = "llvm.loop.unroll.disable";
    ir_block block = ir_op_block(e->m, loop, 0);
    ir_op op = ir_block_get(e->m, block)->first;
    while (op && !mma_unit_of(e->m, op))
        op = ir_op_get(e->m, op)->next;
    if (!op)
        return;
    LLVMMetadataRef word = LLVMMDStringInContext2(e->context, words, sizeof words - 1),
                    self = LLVMTemporaryMDNode(e->context, NULL, 0),
                    parts[] = {self, LLVMMDNodeInContext2(e->context, &word, 1)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, node); /* its first part is the loop's name: itself */
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, "llvm.loop", 9),
                    LLVMMetadataAsValue(e->context, node));
}

/* ---- copies ---- */

typedef struct copy_plan {
    LLVMValueRef to, from;  /* of the thread's first piece */
    LLVMValueRef row, unit; /* of the thread among those of a turn */
    int64_t rows, units, piece, bytes, to_stride, to_step, from_stride;
    int64_t threads_down, threads_across;
    int64_t swizzle;     /* pattern of its rows; 0: they lie as they are */
    LLVMValueRef within; /* where that begins: the thread's first byte, as it would be without */
    bool asynchronous;
} copy_plan;

/* Parameters: the two sides of a copy differ in all of them; `c` has what they share. */
static LLVMValueRef thread_pointer(emitter *e, const copy_plan *c, LLVMTypeRef type,
                                   const ir_op_data *d, int operand, int64_t stride, int64_t step) {
    LLVMValueRef offset =
        sum_of(e, code_get(e, d->operands[operand + 1])->values[0],
               sum_of(e, scaled(e, c->row, stride), scaled(e, c->unit, c->piece * step)));
    return LLVMBuildGEP2(e->b, type, code_get(e, d->operands[operand])->values[0], &offset, 1, "");
}

/* Rows begin where the pattern does, so that it is of the thread's place alone; that is made once.
 */
static void swizzle_place(emitter *e, copy_plan *c, ir_op op, int64_t size) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMPositionBuilderBefore(e->b, e->simt.last);
    LLVMValueRef across = code_int(e, e->i64, c->threads_across),
                 row = LLVMBuildUDiv(e->b, e->simt.index, across, ""),
                 unit = LLVMBuildURem(e->b, e->simt.index, across, ""),
                 at = code_int(e, e->i64, ir_op_int(e->m, op, "at", 0) * size);
    LLVMValueRef place = sum_of(e, scaled(e, row, c->to_stride * size), scaled(e, unit, c->bytes));
    c->within = sum_of(e, place, at);
    if (c->threads_down % MATRIX == 0)
        c->within = simt_swizzled(e, c->within, c->swizzle);
    LLVMPositionBuilderAtEnd(e->b, here);
}

/* From the thread's first piece, as it would be without a pattern, so many rows and pieces on. */
static LLVMValueRef copy_target(emitter *e, const copy_plan *c, int64_t row, int64_t unit,
                                int64_t size) {
    LLVMValueRef to =
        code_int(e, e->i64, (row * c->to_stride + unit * c->piece * c->to_step) * size);
    if (!c->swizzle)
        return to;
    bool again = c->threads_down % MATRIX != 0;
    to = LLVMBuildNSWAdd(e->b, c->within, to, "");
    return again ? simt_swizzled(e, to, c->swizzle) : to;
}

/* Threads beside each other copy a sector of each row that comes to stand upright: then what they
 * write falls on different banks. */
static copy_plan copying_of(emitter *e, ir_op op) {
    const int64_t sector = 32;
    const ir_op_data *d = ir_op_get(e->m, op);
    dtype element = ir_type_of(e->m, d->operands[0])->element;
    LLVMTypeRef type = code_memory_type(e, element);
    copy_plan c = {.rows = ir_op_int(e->m, op, "rows", 0),
                   .piece = ir_op_int(e->m, op, "piece", 1),
                   .to_stride = ir_op_int(e->m, op, "to_stride", 0),
                   .to_step = ir_op_int(e->m, op, "to_step", 1),
                   .from_stride = ir_op_int(e->m, op, "from_stride", 0),
                   .swizzle = ir_op_int(e->m, op, "swizzle", 0)};
    c.units = ir_op_int(e->m, op, "columns", 0) / c.piece;
    c.bytes = c.piece * (int64_t)dtype_size(element);
    c.threads_across = power_at_least(c.units, c.to_step == 1 ? e->simt.threads : sector / c.bytes);
    c.threads_down = e->simt.threads / c.threads_across;
    LLVMValueRef across = code_int(e, e->i64, c.threads_across);
    c.row = LLVMBuildUDiv(e->b, e->simt.index, across, "");
    c.unit = LLVMBuildURem(e->b, e->simt.index, across, "");
    if (c.swizzle) {
        LLVMValueRef offset = code_get(e, d->operands[1])->values[0];
        int64_t size = (int64_t)dtype_size(element);
        simt_is_at_pattern(e, d->operands[1], size, MATRIX * c.swizzle);
        swizzle_place(e, &c, op, size);
        c.to = LLVMBuildGEP2(e->b, type, code_get(e, d->operands[0])->values[0], &offset, 1, "");
    } else {
        c.to = thread_pointer(e, &c, type, d, 0, c.to_stride, c.to_step);
    }
    c.from = thread_pointer(e, &c, type, d, 2, c.from_stride, 1);
    c.asynchronous = e->target->copies &&
                     LLVMGetPointerAddressSpace(LLVMTypeOf(c.to)) == SPACE_SHARED &&
                     LLVMGetPointerAddressSpace(LLVMTypeOf(c.from)) == SPACE_GLOBAL;
    return c;
}

static void copy_piece(emitter *e, const copy_plan *c, LLVMValueRef to, LLVMValueRef from) {
    char name[64];
    if (!c->asynchronous) {
        simt_copy_now(e, to, from, (int)c->bytes);
        return;
    }
    snprintf(name, sizeof name, "llvm.nvvm.cp.async.%s.shared.global.%d",
             c->bytes == 16 ? "cg" : "ca", (int)c->bytes);
    LLVMValueRef args[] = {to, from};
    simt_note_site(e, code_intrinsic(e, name, NULL, 0, args, 2));
}

static LLVMValueRef below(emitter *e, LLVMValueRef x, int64_t threads, int64_t from, int64_t end) {
    return from + threads <= end
               ? NULL
               : LLVMBuildICmp(e->b, LLVMIntSLT, x, code_int(e, e->i64, end - from), "");
}

void simt_copy(emitter *e, ir_op op) {
    copy_plan c = copying_of(e, op);
    int64_t size = c.bytes / c.piece;
    for (int64_t row = 0; row < c.rows; row += c.threads_down)
        for (int64_t unit = 0; unit < c.units; unit += c.threads_across) {
            LLVMValueRef in_rows = below(e, c.row, c.threads_down, row, c.rows),
                         in_units = below(e, c.unit, c.threads_across, unit, c.units);
            LLVMValueRef there = in_rows && in_units ? LLVMBuildAnd(e->b, in_rows, in_units, "")
                                 : in_rows           ? in_rows
                                                     : in_units;
            LLVMValueRef to = copy_target(e, &c, row, unit, size),
                         from = code_int(e, e->i64, (row * c.from_stride + unit * c.piece) * size);
            LLVMBasicBlockRef after = there ? simt_when(e, there) : NULL;
            copy_piece(e, &c, LLVMBuildGEP2(e->b, e->i8, c.to, &to, 1, ""),
                       LLVMBuildGEP2(e->b, e->i8, c.from, &from, 1, ""));
            if (after) {
                LLVMBuildBr(e->b, after);
                LLVMPositionBuilderAtEnd(e->b, after);
            }
        }
}

void simt_copy_commit(emitter *e, ir_op op) {
    (void)op;
    if (e->target->copies)
        code_intrinsic(e, "llvm.nvvm.cp.async.commit.group", NULL, 0, NULL, 0);
}

/* Left out like a barrier: what follows may find the memory as it was. */
void simt_copy_wait(emitter *e, ir_op op) {
    LLVMValueRef left = number(e, ir_op_int(e->m, op, "left", 0));
    if (e->target->copies && ++e->simt.barriers != e->simt.drop_barrier)
        code_intrinsic(e, "llvm.nvvm.cp.async.wait.group", NULL, 0, &left, 1);
}
