/* emit_tile.c - tiles that the threads of a workgroup share: what each thread holds, and the
 * operations whose elements know their place in the tile.
 *
 * A thread holds scalars: those of its rows, each with those of its columns. All else, element by
 * element, is a CPU's code for vectors of one element. */
#include <string.h>

#include "target/llvm/emit.h"
#include "tile/simt/simt.h"

bool simt_is(const emitter *e) {
    return e->target->class == TARGET_SIMT;
}

/* ---- places ---- */

static int64_t held(int64_t extent, int64_t groups, int64_t threads, int64_t run) {
    int64_t round = threads * run, span = extent / groups;
    return extent == 1 ? 1 : (span + round - 1) / round * run;
}

void simt_shape(emitted *t, const ir_type_data *d) {
    const ir_layout *l = &d->layout;
    t->layout = *l;
    t->tile_rows = d->dims[0];
    t->tile_columns = d->dims[1];
    t->rows = held(t->tile_rows, ir_layout_row_groups(l), l->row_threads, l->row_run);
    t->columns =
        held(t->tile_columns, ir_layout_column_groups(l), l->column_threads, l->column_run);
    if (simt_is_fragment(t)) { /* a run is one value */
        t->rows /= l->row_run;
        t->columns /= l->column_run;
    }
    t->width = 1;
    t->parts = (int)t->columns;
}

/* A part of its number, made at the beginning of the function. */
static LLVMValueRef part_of_index(emitter *e, int threads, int divisor) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMValueRef x = e->simt.index;
    if (threads == 1)
        return NULL;
    LLVMPositionBuilderBefore(e->b, e->simt.last);
    if (divisor > 1)
        x = LLVMBuildLShr(e->b, x, code_int(e, e->i64, __builtin_ctz((unsigned)divisor)), "");
    if (threads * divisor < e->simt.threads)
        x = LLVMBuildAnd(e->b, x, code_int(e, e->i64, threads - 1), "");
    LLVMPositionBuilderAtEnd(e->b, here);
    return x;
}

thread_place simt_place(emitter *e, const ir_layout *layout) {
    const ir_layout *l = layout;
    for (size_t i = 0; i < e->simt.places.count; i++)
        if (memcmp(&e->simt.places.items[i].layout, l, sizeof *l) == 0)
            return e->simt.places.items[i];
    thread_place p = {.layout = *l,
                      .row = part_of_index(e, l->row_threads, l->turned ? 1 : l->column_threads),
                      .column =
                          part_of_index(e, l->column_threads, l->turned ? l->row_threads : 1)};
    p.row_group = part_of_index(e, ir_layout_row_groups(l), l->lanes * l->column_groups);
    p.column_group = part_of_index(e, ir_layout_column_groups(l), l->lanes);
    vec_push(&e->simt.places, p);
    return p;
}

/* ---- index tiles and padding ---- */

/* Beginning of the thread's element number `i`: what comes onto its place times the run. */
static int64_t beginning(int64_t i, int64_t threads, int64_t run) {
    return i / run * threads * run + i % run;
}

/* step * the place of the thread's elements, in i32; NULL: 0. */
static LLVMValueRef steps_of(emitter *e, LLVMValueRef place, int64_t run, int64_t extent,
                             int64_t step) {
    if (!place || extent == 1 || step == 0)
        return NULL;
    LLVMValueRef x = LLVMBuildTrunc(e->b, place, e->i32, "");
    return LLVMBuildMul(e->b, x, code_int(e, e->i32, (int32_t)(run * step)), "");
}

static void code_iota(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int64_t row = ir_op_int(e->m, op, "row_step", 0),
            column = ir_op_int(e->m, op, "column_step", 0);
    emitted *t = code_new(e, d->results[0]);
    const ir_layout *l = &t->layout;
    thread_place p = simt_place(e, l);
    LLVMValueRef base = LLVMBuildTrunc(e->b, code_get(e, d->operands[0])->values[0], e->i32, "");
    LLVMValueRef down = steps_of(e, p.row, l->row_run, t->tile_rows, row),
                 across = steps_of(e, p.column, l->column_run, t->tile_columns, column);
    LLVMValueRef parts[] = {
        down, across,
        steps_of(e, p.row_group, t->tile_rows / ir_layout_row_groups(l), t->tile_rows, row),
        steps_of(e, p.column_group, t->tile_columns / ir_layout_column_groups(l), t->tile_columns,
                 column)};
    for (int i = 0; i < 4; i++)
        base = parts[i] ? LLVMBuildAdd(e->b, base, parts[i], "") : base;
    for (int64_t r = 0; r < t->rows; r++)
        for (int c = 0; c < t->parts; c++) {
            int64_t at = beginning(r, l->row_threads, l->row_run) * row +
                         beginning(c, l->column_threads, l->column_run) * column;
            t->values[r * t->parts + c] =
                LLVMBuildAdd(e->b, base, code_int(e, e->i32, (int32_t)at), "");
        }
}

/* Rows are in all threads of a column, or padded rows are each in its threads: columns decide. */
static void code_pad(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]);
    const ir_attr_data *bits = ir_attr_get(e->m, ir_op_attr(e->m, op, "value"));
    emitted *t = code_new(e, d->results[0]);
    const ir_layout *l = &t->layout;
    thread_place p = simt_place(e, l);
    LLVMValueRef fill = code_bits(e, bits->element, bits->bits);
    int64_t end = x->tile_columns;
    for (int64_t r = 0; r < t->rows; r++)
        for (int c = 0; c < t->parts; c++) {
            int64_t first = beginning(c, l->column_threads, l->column_run),
                    last = first + (l->column_threads - 1) * l->column_run;
            LLVMValueRef *to = &t->values[r * t->parts + c];
            LLVMValueRef from = c < x->parts ? x->values[r * x->parts + c] : fill;
            *to = first >= end ? fill : from;
            if (first >= end || last < end)
                continue;
            LLVMValueRef place =
                LLVMBuildMul(e->b, p.column, code_int(e, e->i64, l->column_run), "");
            LLVMValueRef there =
                LLVMBuildICmp(e->b, LLVMIntSLT, place, code_int(e, e->i64, end - first), "");
            *to = LLVMBuildSelect(e->b, there, from, fill, "");
        }
}

/* All rows are in this thread. */
static void code_row(emitter *e, ir_op op) {
    const emitted *x = code_get(e, ir_op_get(e->m, op)->operands[0]);
    emitted *t = code_new(e, ir_op_get(e->m, op)->results[0]);
    int64_t number = ir_op_int(e->m, op, "number", 0);
    memcpy(t->values, &x->values[number * x->parts], sizeof *t->values * (size_t)t->parts);
}

/* Joins so many neighbours into one value. */
static LLVMValueRef as_run(emitter *e, LLVMValueRef const *x, int64_t count) {
    LLVMValueRef run = LLVMGetUndef(LLVMVectorType(LLVMTypeOf(x[0]), (unsigned)count));
    for (int64_t i = 0; i < count; i++)
        run = LLVMBuildInsertElement(e->b, run, x[i], code_int(e, e->i32, i), "");
    return run;
}

static bool same_threads(const ir_layout *x, const ir_layout *y) {
    return x->row_threads == y->row_threads && x->column_threads == y->column_threads &&
           x->row_run == y->row_run && x->column_run == y->column_run && x->turned == y->turned &&
           ir_layout_row_groups(x) == ir_layout_row_groups(y) &&
           ir_layout_column_groups(x) == ir_layout_column_groups(y);
}

/* A round of threads holds columns side by side, and both tiles are whole rounds of them. */
static void code_columns(emitter *e, ir_op op) {
    const emitted *x = code_get(e, ir_op_get(e->m, op)->operands[0]);
    emitted *t = code_new(e, ir_op_get(e->m, op)->results[0]);
    const ir_layout *l = &x->layout;
    int64_t first = ir_op_int(e->m, op, "first", 0), run = simt_is_fragment(t) ? l->column_run : 1,
            round = (int64_t)l->column_threads * l->column_run;
    if (!same_threads(l, &t->layout) || simt_is_fragment(x) || first % round != 0 ||
        t->tile_columns % round != 0) {
        e->failed = true;
        status_set(e->st, STATUS_INTERNAL, "columns of this layout are in other threads");
        return;
    }
    first = first / round * l->column_run;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->parts; c++) {
            LLVMValueRef const *from = &x->values[r * x->parts + first + c * run];
            t->values[r * t->parts + c] = run > 1 ? as_run(e, from, run) : *from;
        }
}

/* ---- running sums: a thread has whole rows, and the sum before each ---- */

static void code_running(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]), *before = code_get(e, d->operands[1]);
    emitted *sums = code_new(e, d->results[0]), *last = code_new(e, d->results[1]);
    const int opcode = code_combining(e, op);
    for (int64_t r = 0; r < x->rows; r++) {
        LLVMValueRef sum = before->values[r];
        for (int c = 0; c < x->parts; c++) {
            sum = code_binary_value(e, opcode, x->element, sum, x->values[r * x->parts + c]);
            sums->values[r * x->parts + c] = sum;
        }
        last->values[r] = sum;
    }
}

/* ---- pairs ---- */

/* AMD's larger chips do two in one instruction, and see them only where they are a vector of two.
 */
bool simt_pairs(const emitter *e, ir_op fma) {
    const ir_type_data *d = ir_type_of(e->m, ir_op_get(e->m, fma)->results[0]);
    emitted t = {.parts = 1};
    simt_shape(&t, d);
    return e->target->family == FAMILY_ROCM && e->target->subgroup == 64 &&
           d->element == DTYPE_F32 && t.parts % 2 == 0;
}

static LLVMValueRef two(emitter *e, const emitted *x, int64_t r, int c) {
    LLVMValueRef pair = LLVMGetUndef(LLVMVectorType(e->f32, 2));
    for (int i = 0; i < 2; i++)
        pair = LLVMBuildInsertElement(e->b, pair, code_part(e, x, r, c + i, 1),
                                      code_int(e, e->i32, i), "");
    return pair;
}

static void code_fma(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    LLVMTypeRef type = LLVMVectorType(e->f32, 2);
    if (!simt_pairs(e, op)) {
        code_elementwise(e, op);
        return;
    }
    emitted *t = code_new(e, d->results[0]);
    for (int64_t r = 0; r < t->rows; r++)
        for (int c = 0; c < t->parts; c += 2) {
            LLVMValueRef x[3];
            for (int i = 0; i < 3; i++)
                x[i] = two(e, code_get(e, d->operands[i]), r, c);
            LLVMValueRef sums = code_intrinsic(e, "llvm.fma", &type, 1, x, 3);
            for (int i = 0; i < 2; i++)
                t->values[r * t->parts + c + i] =
                    LLVMBuildExtractElement(e->b, sums, code_int(e, e->i32, i), "");
        }
}

/* ---- the table ---- */

static void code_nothing(emitter *e, ir_op op) {
    (void)e;
    (void)op;
}

static void code_barrier(emitter *e, ir_op op) {
    (void)op;
    simt_barrier(e);
}

bool simt_code(emitter *e, ir_op op) {
    static const struct {
        int opcode;
        void (*code)(emitter *e, ir_op op);
    } table[] = {
        {TILE_LOAD, simt_load},
        {TILE_GATHER, simt_load},
        {TILE_LOAD_GROUP, simt_load},
        {TILE_STORE, simt_store},
        {TILE_SCATTER, simt_store},
        {TILE_IOTA, code_iota},
        {TILE_PAD, code_pad},
        {TILE_ROW, code_row},
        {TILE_COLUMNS, code_columns},
        {TILE_SCAN, code_running},
        {TILE_FOLD, simt_fold},
        {TILE_FMA, code_fma},
        {TILE_BARRIER, code_barrier},
        {TILE_PREFETCH, code_nothing},
        {TILE_MMA, simt_mma},
        {TILE_MMA_STAGE, simt_mma_stage},
        {TILE_MMA_WAIT, simt_mma_wait},
        {TILE_LOADER, simt_loader},
        {TILE_SLOT_CLAIM, simt_slot_claim},
        {TILE_FETCH, simt_fetch},
        {TILE_SLOT_WAIT, simt_slot_wait},
        {TILE_SLOT_FREE, simt_slot_free},
        {TILE_COPY, simt_copy},
        {TILE_COPY_COMMIT, simt_copy_commit},
        {TILE_COPY_WAIT, simt_copy_wait},
    };
    e->simt.op = op;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].opcode == ir_op_get(e->m, op)->opcode) {
            table[i].code(e, op);
            return true;
        }
    return false;
}
