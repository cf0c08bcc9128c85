/* emit_memory.c - loads and stores of tiles whose elements are spread over threads.
 *
 * The address of a thread's element is that of its place in the tile; what is past the tile's edge,
 * or not valid, touches no memory: there is a branch around it. Elements of a run are one load or
 * store where they lie side by side and are aligned. What several threads hold, one of them stores.
 */
#include "target/llvm/emit.h"
#include "tile/swizzle.h"

/* The elements of a tile along one of its axes. */
typedef struct axis {
    LLVMValueRef place;   /* of the thread; NULL: 0 */
    LLVMValueRef group;   /* of its subgroup; NULL: 0 */
    int64_t threads, run; /* of the layout */
    int64_t span, groups; /* elements of a subgroup, where those cut the tile; how many do */
    int64_t extent;       /* of the tile */
    int64_t stride;
    LLVMValueRef strides; /* in place of that number; or NULL */
    LLVMValueRef valid;   /* elements that are there; NULL: all */
} axis;

typedef struct window {
    dtype element; /* in memory */
    LLVMTypeRef type;
    LLVMValueRef at; /* of the thread's first element */
    axis row, column;
    emitted *indices; /* of a gather */
    LLVMValueRef stride;
    int down, across; /* elements of one load or store; one of both is 1 */
    int64_t swizzle;  /* pattern of its rows; 0: they lie as they are */
    ir_value offset;  /* ... which `at` is without, and the byte of the thread's first element */
    LLVMValueRef byte;
} window;

static int64_t beginning(const axis *a, int64_t i) {
    return i / a->run * a->threads * a->run + i % a->run;
}

static LLVMValueRef more_of(const emitter *e, ir_op op, tile_more which) {
    ir_value v = tile_more_of(e->m, op, which);
    return v ? code_get(e, v)->values[0] : NULL;
}

static LLVMValueRef moved(emitter *e, LLVMTypeRef type, LLVMValueRef at, LLVMValueRef number,
                          LLVMValueRef stride) {
    LLVMValueRef offset = LLVMBuildNSWMul(e->b, number, stride, "");
    return LLVMBuildGEP2(e->b, type, at, &offset, 1, "");
}

static LLVMValueRef stride_of(emitter *e, const axis *a) {
    return a->strides ? a->strides : code_int(e, e->i64, a->stride);
}

static LLVMValueRef product_of(emitter *e, LLVMValueRef x, int64_t by) {
    return !x || by == 1 ? x : LLVMBuildNSWMul(e->b, x, code_int(e, e->i64, by), "");
}

/* The number of the thread's first element; NULL: 0. */
static LLVMValueRef first_of(emitter *e, const axis *a) {
    LLVMValueRef x = product_of(e, a->place, a->run), y = product_of(e, a->group, a->span);
    return x && y ? LLVMBuildNSWAdd(e->b, x, y, "") : x ? x : y;
}

/* The place of the thread's first element along the axis. */
static void go_to_place(emitter *e, window *w, const axis *a) {
    if (a->extent == 1 || (!a->strides && a->stride == 0))
        return;
    LLVMValueRef first = first_of(e, a);
    if (first)
        w->at = moved(e, w->type, w->at, first, stride_of(e, a));
}

static LLVMValueRef bytes_along(emitter *e, const window *w, const axis *a, LLVMValueRef sum) {
    LLVMValueRef first = a->extent == 1 || a->stride == 0 ? NULL : first_of(e, a);
    int64_t each = a->stride * (int64_t)dtype_size(w->element);
    return first ? LLVMBuildNSWAdd(e->b, sum, product_of(e, first, each), "") : sum;
}

static void go_to_first(emitter *e, window *w) {
    LLVMValueRef offset = code_get(e, w->offset)->values[0];
    if (w->swizzle) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
        LLVMPositionBuilderBefore(e->b, e->simt.last);
        w->byte = bytes_along(e, w, &w->row, code_int(e, e->i64, 0));
        w->byte = bytes_along(e, w, &w->column, w->byte);
        LLVMPositionBuilderAtEnd(e->b, here);
        return;
    }
    w->at = LLVMBuildGEP2(e->b, w->type, w->at, &offset, 1, "");
    go_to_place(e, w, &w->row);
    go_to_place(e, w, &w->column);
}

/* Rows, or columns, of the tile; without their strides. */
static axis axis_of(const emitted *t, const thread_place *p, bool row) {
    const ir_layout *l = &t->layout;
    int64_t extent = row ? t->tile_rows : t->tile_columns,
            groups = row ? l->row_groups : l->column_groups;
    axis a = {.place = row ? p->row : p->column,
              .group = row ? p->row_group : p->column_group,
              .threads = row ? l->row_threads : l->column_threads,
              .run = row ? l->row_run : l->column_run,
              .extent = extent};
    a.groups = a.group ? groups : 1;
    a.span = extent / a.groups;
    if (extent == 1)
        a.place = a.group = NULL;
    return a;
}

/* Elements along the axis that are one load: a run of the layout, or a part of it, where each of
 * them is aligned. */
static int run_of(const axis *a, const axis *other, int64_t multiple, const window *w) {
    enum { WIDEST = 16 };
    int64_t run = a->run, size = (int64_t)dtype_size(w->element);
    if (a->stride != 1 || a->strides || a->valid || other->strides || w->indices || a->extent == 1)
        return 1;
    while (run > 1 && (a->extent % run != 0 || multiple % run != 0 || run * size > WIDEST ||
                       (other->extent > 1 && other->stride % run != 0)))
        run /= 2;
    return (int)run;
}

static window window_of(emitter *e, ir_op op, const emitted *t) {
    const ir_op_data *d = ir_op_get(e->m, op);
    dtype element = ir_type_of(e->m, d->operands[0])->element;
    thread_place p = simt_place(e, &t->layout);
    window w = {.element = element,
                .type = code_memory_type(e, element),
                .at = code_get(e, d->operands[0])->values[0],
                .swizzle = ir_op_int(e->m, op, "swizzle", 0),
                .offset = d->operands[1],
                .row = axis_of(t, &p, true),
                .column = axis_of(t, &p, false)};
    w.row.stride = ir_op_int(e->m, op, "row_stride", 0);
    w.column.stride = ir_op_int(e->m, op, "column_stride", 0);
    w.row.strides = more_of(e, op, TILE_MORE_ROW_STRIDE);
    w.column.strides = more_of(e, op, TILE_MORE_COLUMN_STRIDE);
    w.row.valid = more_of(e, op, TILE_MORE_VALID_ROWS);
    w.column.valid = more_of(e, op, TILE_MORE_VALID_COLUMNS);
    go_to_first(e, &w);
    if (d->opcode == TILE_GATHER || d->opcode == TILE_SCATTER) {
        w.indices = &e->of[d->operands[d->opcode == TILE_GATHER ? 2 : 3]];
        w.stride = more_of(e, op, TILE_MORE_STRIDE);
        if (!w.stride)
            w.stride = code_int(e, e->i64, ir_op_int(e->m, op, "stride", 1));
    }
    w.across = run_of(&w.column, &w.row, code_get(e, d->operands[1])->multiple, &w);
    w.down =
        w.across > 1 ? 1 : run_of(&w.row, &w.column, code_get(e, d->operands[1])->multiple, &w);
    return w;
}

/* ---- which elements are there ---- */

static LLVMValueRef both(emitter *e, LLVMValueRef x, LLVMValueRef y) {
    return x && y ? LLVMBuildAnd(e->b, x, y, "") : x ? x : y;
}

/* Tells that the thread's element number `i` is there; NULL: certainly. */
static LLVMValueRef is_there(emitter *e, const axis *a, int64_t i) {
    int64_t first = beginning(a, i), last = first + (a->place ? (a->threads - 1) * a->run : 0) +
                                            (a->group ? (a->groups - 1) * a->span : 0);
    LLVMValueRef there = NULL, at = code_int(e, e->i64, first);
    if (a->extent == 1 && !a->valid)
        return NULL;
    LLVMValueRef from = first_of(e, a);
    if (from)
        at = LLVMBuildNSWAdd(e->b, from, at, "");
    if (last >= a->extent)
        there = LLVMBuildICmp(e->b, LLVMIntSLT, at, code_int(e, e->i64, a->extent), "");
    return a->valid ? both(e, there, LLVMBuildICmp(e->b, LLVMIntSLT, at, a->valid, "")) : there;
}

/* Tells the first of several threads that hold the same. */
static LLVMValueRef is_first(emitter *e, LLVMValueRef place, LLVMValueRef group, int64_t extent) {
    LLVMValueRef zero = code_int(e, e->i64, 0);
    if (extent != 1)
        return NULL;
    return both(e, place ? LLVMBuildICmp(e->b, LLVMIntEQ, place, zero, "") : NULL,
                group ? LLVMBuildICmp(e->b, LLVMIntEQ, group, zero, "") : NULL);
}

/* ---- single elements ---- */

static LLVMValueRef along(emitter *e, const window *w, LLVMValueRef at, const axis *a, int64_t i) {
    int64_t number = beginning(a, i);
    if (number == 0)
        return at;
    if (a->strides)
        return moved(e, w->type, at, code_int(e, e->i64, number), a->strides);
    LLVMValueRef offset = code_int(e, e->i64, number * a->stride);
    return a->stride ? LLVMBuildGEP2(e->b, w->type, at, &offset, 1, "") : at;
}

static LLVMValueRef swizzled_address(emitter *e, const window *w, int64_t r, int64_t c) {
    int64_t size = (int64_t)dtype_size(w->element),
            on =
                beginning(&w->row, r) * w->row.stride + beginning(&w->column, c) * w->column.stride;
    LLVMValueRef byte = simt_byte_of(e, w->offset, w->byte, on * size, size, w->swizzle);
    return LLVMBuildGEP2(e->b, e->i8, w->at, &byte, 1, "");
}

static LLVMValueRef address_of(emitter *e, const window *w, int64_t r, int64_t c) {
    if (w->swizzle)
        return swizzled_address(e, w, r, c);
    LLVMValueRef at = along(e, w, along(e, w, w->at, &w->row, r), &w->column, c);
    if (!w->indices)
        return at;
    LLVMValueRef index = code_part(e, w->indices, r, (int)c, 1);
    return moved(e, w->type, at, LLVMBuildSExt(e->b, index, e->i64, ""), w->stride);
}

/* `count` elements that lie side by side: one value, or a vector. */
static LLVMTypeRef several(LLVMTypeRef type, int count) {
    return count == 1 ? type : LLVMVectorType(type, (unsigned)count);
}

static LLVMValueRef load_some(emitter *e, LLVMTypeRef type, dtype element, LLVMValueRef at,
                              int count) {
    LLVMValueRef x = LLVMBuildLoad2(e->b, several(type, count), at, "");
    LLVMSetAlignment(x, (unsigned)dtype_size(element) * (unsigned)count);
    simt_note_site(e, x);
    return x;
}

static void store_some(emitter *e, dtype element, LLVMValueRef at, LLVMValueRef x, int count) {
    LLVMValueRef s = LLVMBuildStore(e->b, x, at);
    LLVMSetAlignment(s, (unsigned)dtype_size(element) * (unsigned)count);
    simt_note_site(e, s);
}

/* The block that is run where the condition holds; what comes behind it is where it ends. */
typedef struct branch {
    LLVMBasicBlockRef from, inside, after;
} branch;

static branch open_branch(emitter *e, LLVMValueRef when) {
    branch b = {LLVMGetInsertBlock(e->b), NULL, NULL};
    if (!when)
        return b;
    b.inside = code_block_new(e, "there");
    b.after = code_block_new(e, "behind");
    LLVMBuildCondBr(e->b, when, b.inside, b.after);
    LLVMPositionBuilderAtEnd(e->b, b.inside);
    return b;
}

static void close_branch(emitter *e, branch *b) {
    if (!b->after)
        return;
    b->inside = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, b->after);
    LLVMPositionBuilderAtEnd(e->b, b->after);
}

/* A value of the branch, behind it; 0 where it was not taken. */
static LLVMValueRef out_of_branch(emitter *e, branch *b, LLVMValueRef x) {
    if (!b->after)
        return x;
    LLVMValueRef values[] = {x, LLVMConstNull(LLVMTypeOf(x))},
                 phi = LLVMBuildPhi(e->b, LLVMTypeOf(x), "");
    LLVMAddIncoming(phi, values, (LLVMBasicBlockRef[]){b->inside, b->from}, 2);
    return phi;
}

LLVMValueRef simt_get(emitter *e, dtype element, LLVMValueRef at, LLVMValueRef when) {
    branch b = open_branch(e, when);
    LLVMValueRef x = load_some(e, code_memory_type(e, element), element, at, 1);
    close_branch(e, &b);
    return out_of_branch(e, &b, x);
}

void simt_put(emitter *e, dtype element, LLVMValueRef at, LLVMValueRef x, LLVMValueRef when) {
    branch b = open_branch(e, when);
    store_some(e, element, at, x, 1);
    close_branch(e, &b);
}

LLVMBasicBlockRef simt_when(emitter *e, LLVMValueRef condition) {
    return open_branch(e, condition).after;
}

void simt_copy_now(emitter *e, LLVMValueRef to, LLVMValueRef from, int bytes) {
    int words = bytes / 4;
    LLVMValueRef x = load_some(e, e->i32, DTYPE_I32, from, words);
    store_some(e, DTYPE_I32, to, x, words);
}

/* ---- tiles ---- */

/* Turns what is in memory into what is computed with. */
static LLVMValueRef opened(emitter *e, dtype element, LLVMValueRef x) {
    if (element == DTYPE_BOOL)
        return LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    return element == DTYPE_I4 ? code_wrap_i4(e, x, 1) : x;
}

static LLVMValueRef number(emitter *e, int i) {
    return code_int(e, e->i32, i);
}

/* The elements from (r, c) on that are one load. */
static void load_at(emitter *e, emitted *t, const window *w, LLVMTypeRef type, int64_t r, int c) {
    int count = w->down * w->across;
    branch b = open_branch(e, both(e, is_there(e, &w->row, r), is_there(e, &w->column, c)));
    LLVMValueRef x = load_some(e, type, w->element, address_of(e, w, r, c), count);
    close_branch(e, &b);
    x = out_of_branch(e, &b, x);
    for (int i = 0; i < count; i++) {
        LLVMValueRef one = count == 1 ? x : LLVMBuildExtractElement(e->b, x, number(e, i), "");
        LLVMValueRef *to =
            &t->values[(r + (w->down > 1 ? i : 0)) * t->parts + (c + (w->across > 1 ? i : 0))];
        *to = type == w->type ? opened(e, t->element, one) : one;
    }
}

/* A fragment's run as one vector, from as many loads as its elements need. */
static LLVMValueRef load_run(emitter *e, const window *w, int64_t r, int64_t c) {
    int64_t run = w->row.run * w->column.run; /* one of both is 1 */
    int count = w->down * w->across;
    LLVMValueRef x = LLVMGetUndef(LLVMVectorType(w->type, (unsigned)run));
    for (int64_t i = 0; i < run; i += count) {
        int64_t down = w->row.run > 1 ? i : 0, across = w->row.run > 1 ? 0 : i;
        LLVMValueRef at = address_of(e, w, r * w->row.run + down, c * w->column.run + across),
                     part = load_some(e, w->type, w->element, at, count);
        if (count == run)
            return part;
        for (int k = 0; k < count; k++) {
            LLVMValueRef one =
                count == 1 ? part : LLVMBuildExtractElement(e->b, part, number(e, k), "");
            x = LLVMBuildInsertElement(e->b, x, one, number(e, (int)i + k), "");
        }
    }
    return x;
}

static void load_fragment(emitter *e, ir_op op, emitted *t) {
    if (simt_load_matrices(e, op, t))
        return;
    window w = window_of(e, op, t);
    for (int64_t r = 0; r < t->rows; r++)
        for (int c = 0; c < t->parts; c++)
            t->values[r * t->parts + c] = load_run(e, &w, r, c);
}

void simt_load(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    emitted *t = code_new(e, d->results[0]);
    if (simt_is_fragment(t)) {
        load_fragment(e, op, t);
        return;
    }
    window w = window_of(e, op, t);
    bool groups = d->opcode == TILE_LOAD_GROUP;
    if (groups)
        w.down = w.across = 1;
    for (int64_t r = 0; r < t->rows; r += w.down)
        for (int c = 0; c < t->parts; c += w.across)
            load_at(e, t, &w, groups ? e->i32 : w.type, r, c);
}

static LLVMValueRef closed(emitter *e, dtype element, LLVMValueRef x, bool clean) {
    if (clean)
        x = code_canonical(e, element, x, 1);
    return element == DTYPE_BOOL ? LLVMBuildZExt(e->b, x, e->i8, "") : x;
}

/* The elements from (r, c) on that are one store. */
static LLVMValueRef gathered(emitter *e, const emitted *t, const window *w, int64_t r, int c,
                             bool clean) {
    int count = w->down * w->across;
    LLVMValueRef x = LLVMGetUndef(several(w->type, count));
    for (int i = 0; i < count; i++) {
        LLVMValueRef one =
            t->values[(r + (w->down > 1 ? i : 0)) * t->parts + (c + (w->across > 1 ? i : 0))];
        one = closed(e, t->element, one, clean);
        x = count == 1 ? one : LLVMBuildInsertElement(e->b, x, one, number(e, i), "");
    }
    return x;
}

static LLVMValueRef number_of(emitter *e, const axis *a, int64_t i) {
    LLVMValueRef first = first_of(e, a), more = code_int(e, e->i64, beginning(a, i));
    return first ? LLVMBuildNSWAdd(e->b, first, more, "") : more;
}

/* ... in panels, one behind the other. */
static LLVMValueRef panel_address(emitter *e, const window *w, int64_t r, int64_t c) {
    int64_t bytes = w->swizzle, size = (int64_t)dtype_size(w->element);
    LLVMValueRef offset = code_get(e, w->offset)->values[0],
                 at = LLVMBuildGEP2(e->b, w->type, w->at, &offset, 1, ""),
                 column = number_of(e, &w->column, c), row = number_of(e, &w->row, r),
                 columns = code_int(e, e->i64, bytes / size);
    LLVMValueRef panel =
                     product_of(e, LLVMBuildUDiv(e->b, column, columns, ""), w->row.extent * bytes),
                 within = product_of(e, LLVMBuildURem(e->b, column, columns, ""), size);
    within = LLVMBuildNSWAdd(e->b, product_of(e, row, bytes), within, "");
    LLVMValueRef place = simt_swizzled(e, LLVMBuildNSWAdd(e->b, panel, within, ""), bytes);
    return LLVMBuildGEP2(e->b, e->i8, at, &place, 1, "");
}

void simt_store(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const bool panels = tile_is_in_panels(e->m, op);
    const emitted *t = code_get(e, d->operands[2]);
    bool clean = ir_op_int(e->m, op, "canonical", 0) != 0;
    thread_place p = simt_place(e, &t->layout);
    window w = window_of(e, op, t);
    if (panels && !simt_is_at_pattern(e, d->operands[1], (int64_t)dtype_size(w.element),
                                      SWIZZLE_ROWS * w.swizzle))
        return;
    LLVMValueRef first = both(e, is_first(e, p.row, p.row_group, t->tile_rows),
                              is_first(e, p.column, p.column_group, t->tile_columns));
    for (int64_t r = 0; r < t->rows; r += w.down)
        for (int c = 0; c < t->parts; c += w.across) {
            LLVMValueRef when = both(e, is_there(e, &w.row, r), is_there(e, &w.column, c));
            branch b = open_branch(e, both(e, first, when));
            LLVMValueRef at = panels ? panel_address(e, &w, r, c) : address_of(e, &w, r, c);
            store_some(e, w.element, at, gathered(e, t, &w, r, c, clean), w.down * w.across);
            close_branch(e, &b);
        }
}
