/* emit_fold.c - the lanes of a row become one: what the threads of a workgroup hand each other.
 *
 * One row is in as many threads as it has lanes, of several subgroups: it goes through the
 * workgroup's memory. Of several rows each is in a few neighbouring threads of one subgroup, which
 * exchange values themselves. Either way lane l gets what is half of the lanes away, then a
 * quarter, and so on; which of the two is on the left cannot be seen. */
#include <string.h>

#include "target/llvm/emit.h"
#include "tile/simt/simt.h"

/* ---- one row ---- */

/* Halves `count` values, which are a power of two, until one is left. */
static LLVMValueRef halved(emitter *e, int opcode, dtype element, LLVMValueRef *v, int count) {
    for (; count > 1; count /= 2)
        for (int i = 0; i < count / 2; i++)
            v[i] = code_binary_value(e, opcode, element, v[i], v[i + count / 2]);
    return v[0];
}

static LLVMValueRef element_address(emitter *e, dtype element, int64_t offset, LLVMValueRef place,
                                    int64_t number) {
    LLVMValueRef at = code_int(e, e->i64, offset);
    at = LLVMBuildGEP2(e->b, e->i8, e->simt.shared, &at, 1, "");
    LLVMValueRef index = code_int(e, e->i64, number);
    index = place ? LLVMBuildAdd(e->b, place, index, "") : index;
    return LLVMBuildGEP2(e->b, code_memory_type(e, element), at, &index, 1, "");
}

/* One row whose columns are in as many threads: the first threads add what is `few` apart, and all
 * threads what these have found. Between two folds there is always a barrier after the last look at
 * either part of the memory. */
static LLVMValueRef across_threads(emitter *e, ir_op op, const emitted *x, LLVMValueRef mine) {
    enum { MOST = TILE_FOLD_LANES };
    int opcode = code_combining(e, op), columns = (int)x->tile_columns,
        few = columns > TILE_FOLD_PARTS ? TILE_FOLD_PARTS : columns / 2;
    int64_t at = ir_op_int(e->m, op, "exchange", 0),
            found = at + TILE_FOLD_LANES * (int64_t)sizeof(int64_t);
    LLVMValueRef place = simt_place(e, &x->layout).column, v[MOST];
    LLVMValueRef holds = LLVMBuildICmp(e->b, LLVMIntSLT, place, code_int(e, e->i64, columns), "");
    LLVMValueRef adds = LLVMBuildICmp(e->b, LLVMIntSLT, place, code_int(e, e->i64, few), "");
    simt_put(e, x->element, element_address(e, x->element, at, place, 0), mine,
             columns < x->layout.column_threads ? holds : NULL);
    simt_barrier(e);
    for (int i = 0; i < columns / few; i++)
        v[i] = simt_get(e, x->element, element_address(e, x->element, at, place, i * few), adds);
    LLVMValueRef sum = halved(e, opcode, x->element, v, columns / few);
    simt_put(e, x->element, element_address(e, x->element, found, place, 0), sum, adds);
    simt_barrier(e);
    for (int i = 0; i < few; i++)
        v[i] = simt_get(e, x->element, element_address(e, x->element, found, NULL, i), NULL);
    return halved(e, opcode, x->element, v, few);
}

/* ---- several rows ---- */

typedef struct row_fold {
    emitter *e;
    int opcode;
    dtype element;
    LLVMValueRef place; /* of the thread in its row */
} row_fold;

static LLVMValueRef joined(const row_fold *f, LLVMValueRef x, LLVMValueRef y) {
    return code_binary_value(f->e, f->opcode, f->element, x, y);
}

/* The value of the thread whose number differs in this bit. */
static LLVMValueRef value_across(const row_fold *f, LLVMValueRef x, int bit) {
    emitter *e = f->e;
    LLVMTypeRef type = LLVMTypeOf(x), word = e->i32;
    if (dtype_size(f->element) < 4)
        return LLVMBuildTrunc(e->b, simt_across(e, LLVMBuildZExt(e->b, x, word, ""), bit), type,
                              "");
    if (dtype_size(f->element) == 4)
        return LLVMBuildBitCast(e->b, simt_across(e, LLVMBuildBitCast(e->b, x, word, ""), bit),
                                type, "");
    LLVMTypeRef pair = LLVMVectorType(word, 2);
    LLVMValueRef words = LLVMBuildBitCast(e->b, x, pair, ""), moved = LLVMGetUndef(pair);
    for (int i = 0; i < 2; i++) {
        LLVMValueRef at = code_int(e, word, i), one = LLVMBuildExtractElement(e->b, words, at, "");
        moved = LLVMBuildInsertElement(e->b, moved, simt_across(e, one, bit), at, "");
    }
    return LLVMBuildBitCast(e->b, moved, type, "");
}

/* Two threads that hold `count` lanes each join them pair by pair, each thread one half of them. */
static void share_pairs(const row_fold *f, LLVMValueRef *v, int count, int bit) {
    emitter *e = f->e;
    LLVMValueRef own = LLVMBuildAnd(e->b, f->place, code_int(e, e->i64, bit), ""),
                 upper = LLVMBuildICmp(e->b, LLVMIntNE, own, code_int(e, e->i64, 0), "");
    for (int i = 0; i < count / 2; i++) {
        LLVMValueRef low = v[i], high = v[i + count / 2],
                     keeps = LLVMBuildSelect(e->b, upper, high, low, ""),
                     gives = LLVMBuildSelect(e->b, upper, low, high, "");
        v[i] = joined(f, keeps, value_across(f, gives, bit));
    }
}

/* A row's lanes: of v[...], `run` are neighbours, then those of the next thread come. A thread that
 * has several neighbours shares them with others, for which the bits of its number stand in their
 * place. Every thread of the row gets the result. */
static LLVMValueRef across_row(const row_fold *f, LLVMValueRef *v, int count, int run,
                               int threads) {
    int shared[8], shares = 0;
    for (; count > run; count /= 2)
        for (int i = 0; i < count / 2; i++)
            v[i] = joined(f, v[i], v[i + count / 2]);
    for (int bit = threads / 2; bit > 0; bit /= 2) {
        if (count == 1) {
            v[0] = joined(f, v[0], value_across(f, v[0], bit));
            continue;
        }
        share_pairs(f, v, count, bit);
        shared[shares++] = bit;
        count /= 2;
    }
    for (int i = 0; i < shares; i++)
        for (int k = 0; k < count; k++)
            v[k] = joined(f, v[k], value_across(f, v[k], shared[i]));
    return halved(f->e, f->opcode, f->element, v, count);
}

static void fold_rows(emitter *e, ir_op op, const emitted *x, emitted *t) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const ir_layout *l = &x->layout;
    row_fold f = {e, code_combining(e, op), t->element, simt_place(e, l).column};
    LLVMValueRef v[TILE_FOLD_LANES];
    for (int64_t r = 0; r < t->rows; r++) {
        int count = 0;
        for (uint32_t i = 0; i < d->operand_count; i++) {
            const emitted *part = code_get(e, d->operands[i]);
            for (int c = 0; c < part->parts; c++)
                v[count++] = part->values[r * part->parts + c];
        }
        t->values[r] = across_row(&f, v, count, l->column_run, l->column_threads);
    }
}

/* ---- either ---- */

/* Each thread of a row has as many lanes as the others, and they can hand each other values: they
 * are neighbours in one subgroup. */
static bool is_even(const emitter *e, const emitted *x) {
    const ir_layout *l = &x->layout;
    int64_t round = (int64_t)l->column_threads * l->column_run;
    return x->tile_columns % round == 0 && l->column_threads <= e->target->subgroup && !l->turned &&
           ir_layout_column_groups(l) == 1 && !simt_is_fragment(x);
}

void simt_fold(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *x = code_get(e, d->operands[0]);
    emitted *t = code_new(e, d->results[0]);
    LLVMValueRef v[TILE_FOLD_LANES];
    bool one = x->tile_rows == 1;
    bool fits = x->tile_columns * d->operand_count <= TILE_FOLD_LANES &&
                (one ? x->columns == 1 : is_even(e, x));
    if (!fits) {
        e->failed = true;
        status_set(e->st, STATUS_INTERNAL, "a fold of this shape has no code for threads");
        return;
    }
    if (!one) {
        fold_rows(e, op, x, t);
        return;
    }
    for (uint32_t i = 0; i < d->operand_count; i++)
        v[i] = code_get(e, d->operands[i])->values[0];
    LLVMValueRef mine = halved(e, code_combining(e, op), t->element, v, (int)d->operand_count);
    t->values[0] = x->tile_columns == 1 ? mine : across_threads(e, op, x, mine);
}
