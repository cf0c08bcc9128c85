/* emit_bounds.c - checks of accesses against the extent of their memory (tessera/kernel.h).
 *
 * The elements that a tile touches lie between its corners, so that one check of the least and of
 * the greatest is one of all; a gather looks at each of its own. What is outside is noted, unless
 * another access was before, and the phase ends. */
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "target/llvm/emit.h"
#include "tessera/kernel.h"

/* The memory of an access. */
typedef struct memory_of {
    int64_t number;       /* among the extents of tsr_kernel_bounds */
    int64_t offset_bytes; /* from its beginning to element 0 */
    LLVMValueRef at;      /* as many bytes more, or NULL */
    const char *name;
} memory_of;

/* The least and the greatest element that was asked for: i64. */
typedef struct range {
    LLVMValueRef low, high;
} range;

static LLVMValueRef i64_of(const emitter *e, int64_t value) {
    return code_int(e, e->i64, value);
}

static LLVMValueRef lesser(emitter *e, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, x, y, ""), x, y, "");
}

static LLVMValueRef greater(emitter *e, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, x, y, ""), x, y, "");
}

/* ---- memory ---- */

static const char *buffer_name(const emitter *e, uint32_t index) {
    const ir_op kernel = ir_module_kernel(e->m);
    const ir_attr_data *inputs = ir_attr_get(e->m, ir_op_attr(e->m, kernel, "inputs")),
                       *outputs = ir_attr_get(e->m, ir_op_attr(e->m, kernel, "outputs"));
    ir_attr name =
        index < inputs->count ? inputs->items[index] : outputs->items[index - inputs->count];
    return ir_attr_get(e->m, name)->string;
}

static memory_of memory_at(const emitter *e, ir_value v) {
    const ir_value_data *d = ir_value_get(e->m, v);
    const ir_block_data *kernel = ir_kernel_body(e->m);
    if (!d->op)
        return (memory_of){.number = d->index, .name = buffer_name(e, d->index)};
    const ir_op_data *op = ir_op_get(e->m, d->op);
    uint32_t kind = op->opcode == TILE_WORKSPACE ? 0 : op->opcode == TILE_SCRATCH ? 1 : 2;
    static const char *const names[] = {"the workspace", "the scratch", "prepared memory"};
    return (memory_of){.number = kernel->argument_count + kind,
                       .offset_bytes = ir_op_int(e->m, d->op, "offset", 0),
                       .at = op->operand_count ? code_get(e, op->operands[0])->values[0] : NULL,
                       .name = names[kind]};
}

static LLVMValueRef field_at(emitter *e, LLVMValueRef of, int64_t offset) {
    LLVMValueRef at = i64_of(e, offset);
    return LLVMBuildGEP2(e->b, e->i8, of, &at, 1, "");
}

/* Counts the elements of a type that the memory has from its element 0 on. */
static LLVMValueRef extent_of(emitter *e, const memory_of *m, int64_t size) {
    LLVMValueRef all = LLVMBuildLoad2(
        e->b, e->pointer, field_at(e, e->bounds.frame, offsetof(tsr_kernel_bounds, bytes)), "");
    LLVMValueRef bytes = LLVMBuildLoad2(e->b, e->i64, field_at(e, all, 8 * m->number), "");
    bytes = LLVMBuildSub(e->b, bytes, i64_of(e, m->offset_bytes), "");
    if (m->at)
        bytes = LLVMBuildSub(e->b, bytes, m->at, "");
    return LLVMBuildSDiv(e->b, bytes, i64_of(e, size), "");
}

/* ---- elements ---- */

/* Rows and columns of a tile that are there, and the strides between them. */
typedef struct corners {
    LLVMValueRef offset, rows, columns, row_stride, column_stride;
} corners;

static LLVMValueRef given(const emitter *e, ir_op op, tile_more which, int64_t otherwise) {
    ir_value v = tile_more_of(e->m, op, which);
    return v ? code_get(e, v)->values[0] : i64_of(e, otherwise);
}

static corners corners_of(emitter *e, ir_op op, const ir_type_data *tile) {
    corners c = {
        .offset = code_get(e, ir_op_get(e->m, op)->operands[1])->values[0],
        .row_stride = given(e, op, TILE_MORE_ROW_STRIDE, ir_op_int(e->m, op, "row_stride", 0)),
        .column_stride =
            given(e, op, TILE_MORE_COLUMN_STRIDE, ir_op_int(e->m, op, "column_stride", 0))};
    c.rows = lesser(e, given(e, op, TILE_MORE_VALID_ROWS, tile->dims[0]), i64_of(e, tile->dims[0]));
    c.columns =
        lesser(e, given(e, op, TILE_MORE_VALID_COLUMNS, tile->dims[1]), i64_of(e, tile->dims[1]));
    return c;
}

/* The way to the last of `count`. */
static LLVMValueRef way(emitter *e, LLVMValueRef count, LLVMValueRef stride) {
    return LLVMBuildMul(e->b, LLVMBuildSub(e->b, count, i64_of(e, 1), ""), stride, "");
}

static range range_of_tile(emitter *e, const corners *c, int64_t more) {
    LLVMValueRef zero = i64_of(e, 0), down = way(e, c->rows, c->row_stride),
                 across = way(e, c->columns, c->column_stride);
    LLVMValueRef none =
        LLVMBuildICmp(e->b, LLVMIntSLT, lesser(e, c->rows, c->columns), i64_of(e, 1), "");
    LLVMValueRef low = LLVMBuildAdd(e->b, lesser(e, down, zero), lesser(e, across, zero), ""),
                 high = LLVMBuildAdd(e->b, greater(e, down, zero), greater(e, across, zero), "");
    low = LLVMBuildAdd(e->b, c->offset, low, "");
    high = LLVMBuildAdd(e->b, LLVMBuildAdd(e->b, c->offset, high, ""), i64_of(e, more), "");
    return (range){LLVMBuildSelect(e->b, none, zero, low, ""),
                   LLVMBuildSelect(e->b, none, i64_of(e, -1), high, "")};
}

static LLVMValueRef index_at(emitter *e, const emitted *t, int64_t r, int64_t c) {
    int p = (int)(c / t->width), lane = (int)(c % t->width), width = code_part_width(t, p);
    LLVMValueRef x = code_part(e, t, r, p, width);
    if (width > 1)
        x = LLVMBuildExtractElement(e->b, x, code_int(e, e->i32, lane), "");
    return LLVMBuildSExt(e->b, x, e->i64, "");
}

/* Each element of a gather has a place of its own. */
static range range_of_gather(emitter *e, ir_op op, const corners *c, const ir_type_data *tile) {
    const emitted *indices = code_get(e, ir_op_get(e->m, op)->operands[2]);
    LLVMValueRef stride = given(e, op, TILE_MORE_STRIDE, ir_op_int(e->m, op, "stride", 1));
    range all = {i64_of(e, INT64_MAX), i64_of(e, INT64_MIN)};
    for (int64_t row = 0; row < tile->dims[0]; row++)
        for (int64_t column = 0; column < tile->dims[1]; column++) {
            LLVMValueRef there = LLVMBuildAnd(
                e->b, LLVMBuildICmp(e->b, LLVMIntSLT, i64_of(e, row), c->rows, ""),
                LLVMBuildICmp(e->b, LLVMIntSLT, i64_of(e, column), c->columns, ""), "");
            LLVMValueRef place = LLVMBuildMul(e->b, index_at(e, indices, row, column), stride, "");
            place = LLVMBuildAdd(e->b, place, c->offset, "");
            place = LLVMBuildAdd(e->b, place, LLVMBuildMul(e->b, i64_of(e, row), c->row_stride, ""),
                                 "");
            place = LLVMBuildAdd(e->b, place,
                                 LLVMBuildMul(e->b, i64_of(e, column), c->column_stride, ""), "");
            all.low = LLVMBuildSelect(e->b, there, lesser(e, all.low, place), all.low, "");
            all.high = LLVMBuildSelect(e->b, there, greater(e, all.high, place), all.high, "");
        }
    return all;
}

/* ---- the check ---- */

/* Notes the access unless another one was before, and ends the phase. */
static void note_outside(emitter *e, LLVMValueRef element) {
    LLVMBasicBlockRef first = code_block_new(e, "first_outside");
    LLVMValueRef f = e->bounds.frame,
                 site = code_int(e, e->i32, (int64_t)e->bounds.sites.count - 1),
                 found = field_at(e, f, offsetof(tsr_kernel_bounds, found));
    LLVMValueRef swapped = LLVMBuildAtomicCmpXchg(
        e->b, found, code_int(e, e->i32, 0), code_int(e, e->i32, 1),
        LLVMAtomicOrderingSequentiallyConsistent, LLVMAtomicOrderingSequentiallyConsistent, 0);
    LLVMBuildCondBr(e->b, LLVMBuildExtractValue(e->b, swapped, 1, ""), first, e->bounds.done);
    LLVMPositionBuilderAtEnd(e->b, first);
    LLVMBuildStore(e->b, site, field_at(e, f, offsetof(tsr_kernel_bounds, site)));
    LLVMBuildStore(e->b, element, field_at(e, f, offsetof(tsr_kernel_bounds, element)));
    LLVMBuildBr(e->b, e->bounds.done);
}

static void check(emitter *e, range r, LLVMValueRef extent) {
    LLVMBasicBlockRef outside = code_block_new(e, "outside"), within = code_block_new(e, "within");
    LLVMValueRef before = LLVMBuildICmp(e->b, LLVMIntSLT, r.low, i64_of(e, 0), ""),
                 behind = LLVMBuildICmp(e->b, LLVMIntSGE, r.high, extent, "");
    LLVMBuildCondBr(e->b, LLVMBuildOr(e->b, before, behind, ""), outside, within);
    LLVMPositionBuilderAtEnd(e->b, outside);
    note_outside(e, LLVMBuildSelect(e->b, before, r.low, r.high, ""));
    LLVMPositionBuilderAtEnd(e->b, within);
}

void code_check_bounds(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const bool stores = d->opcode == TILE_STORE;
    if (!stores && d->opcode != TILE_LOAD && d->opcode != TILE_GATHER &&
        d->opcode != TILE_LOAD_GROUP)
        return;
    const ir_type_data *tile = ir_type_of(e->m, stores ? d->operands[2] : d->results[0]);
    const int64_t size = (int64_t)dtype_size(ir_type_of(e->m, d->operands[0])->element);
    const memory_of memory = memory_at(e, d->operands[0]);
    vec_push(&e->bounds.sites, op);
    const corners c = corners_of(e, op, tile);
    const int64_t more = d->opcode == TILE_LOAD_GROUP ? 4 / size - 1 : 0;
    check(e,
          d->opcode == TILE_GATHER ? range_of_gather(e, op, &c, tile) : range_of_tile(e, &c, more),
          extent_of(e, &memory, size));
}

/* ---- sites ---- */

static LLVMValueRef site_of(emitter *e, ir_op op, text *names) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const memory_of memory = memory_at(e, d->operands[0]);
    const int64_t numbers[] = {
        d->location.line,        d->location.column,
        memory.number,           (int64_t)dtype_size(ir_type_of(e->m, d->operands[0])->element),
        d->opcode == TILE_STORE, (int64_t)names->length};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    LLVMValueRef fields[1 + NUMBERS] = {i64_of(e, memory.offset_bytes)};
    for (int i = 0; i < NUMBERS; i++)
        fields[1 + i] = code_int(e, e->i32, numbers[i]);
    text_append_bytes(names, memory.name, strlen(memory.name) + 1);
    return LLVMConstStructInContext(e->context, fields, 1 + NUMBERS, 0);
}

static void add_data(emitter *e, const char *name, LLVMValueRef value) {
    LLVMValueRef data = LLVMAddGlobal(e->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(data, value);
    LLVMSetGlobalConstant(data, 1);
}

_Static_assert(sizeof(tsr_bounds_site) == 32, "images hold arrays of it");

void code_bounds_data(emitter *e) {
    const size_t count = e->bounds.sites.count;
    LLVMValueRef *sites = ARENA_NEW(&e->memory, LLVMValueRef, count + 1);
    text names;
    if (!count)
        return;
    text_init(&names);
    for (size_t i = 0; i < count; i++)
        sites[i] = site_of(e, e->bounds.sites.items[i], &names);
    add_data(e, "tsr_bounds_sites", LLVMConstArray2(LLVMTypeOf(sites[0]), sites, count));
    add_data(e, "tsr_bounds_names",
             LLVMConstStringInContext2(e->context, names.data, names.length, true));
    text_release(&names);
}
