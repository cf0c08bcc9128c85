/* emit_stage.c - products of a matrix unit that reads the workgroup's memory by itself: wgmma. Its
 * left side may be in registers.
 *
 * LLVM has no intrinsics for it, so it is inline assembly, whose sums are outputs that are tied to
 * inputs. Until the wait nothing may touch them: the wait, too, is tied to them. Words and numbers
 * of descriptors: PTX ISA, "Asynchronous warpgroup-level matrix instructions". */
#include <stdio.h>
#include <string.h>

#include "target/llvm/emit.h"
#include "tile/mma.h"
#include "tile/simt/simt.h"
#include "tile/swizzle.h"

/* ---- assembly ---- */

/* Registers of the left side in an instruction. */
enum { MOST_SUMS = 128, LEFT_WORDS = 4, MOST_OPERANDS = MOST_SUMS + LEFT_WORDS + 1 };

static LLVMValueRef assemble(emitter *e, LLVMTypeRef result, const char *code,
                             const char *constraints, LLVMValueRef *args, unsigned count) {
    LLVMTypeRef types[MOST_OPERANDS];
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    LLVMValueRef callee = LLVMGetInlineAsm(type, code, strlen(code), constraints,
                                           strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(e->b, type, callee, args, count, "");
}

static LLVMValueRef plain(emitter *e, const char *code) {
    return assemble(e, LLVMVoidTypeInContext(e->context), code, "~{memory}", NULL, 0);
}

/* As many as are there of one type. */
static LLVMTypeRef sums_type(const emitter *e, LLVMValueRef sum, int count) {
    LLVMTypeRef types[MOST_SUMS];
    for (int i = 0; i < count; i++)
        types[i] = LLVMTypeOf(sum);
    return LLVMStructTypeInContext(e->context, types, (unsigned)count, 0);
}

/* "=f,=f,...", of integers "=r", what is between, and "0,1,...": each sum comes and goes in one
 * register. */
static void put_constraints(const emitter *e, text *out, LLVMValueRef sum, int count,
                            const char *between) {
    for (int i = 0; i < count; i++)
        text_printf(out, "%s=%s", i ? "," : "", LLVMTypeOf(sum) == e->f32 ? "f" : "r");
    text_append(out, between);
    for (int i = 0; i < count; i++)
        text_printf(out, ",%d", i);
    text_append(out, ",~{memory}");
}

/* ---- descriptors ---- */

enum {
    START_BITS = 18,
    START_SHIFT = 4,
    LEADING_AT = 16,
    STRIDE_AT = 32,
    MODE_AT = 62,
    WORD_BITS = 32
};

/* One side of a stage, in elements. */
typedef struct stage_operand {
    int64_t row, lines, steps; /* of a panel's row; of the side */
    int64_t size;              /* bytes of one */
    bool turned;
    LLVMValueRef low; /* word of the descriptor of its first line and step; the other is constant */
} stage_operand;

static uint64_t encoded(const stage_operand *s, int64_t elements) {
    return (uint64_t)(elements * s->size) >> START_SHIFT;
}

/* The bits but those of the place. From 8 rows to the next 8 it is their length; from a panel to
 * the next one, where an instruction has several, as many rows as there are steps. */
static uint64_t bits_of(const stage_operand *s) {
    const int64_t bytes = s->row * s->size;
    uint64_t mode = bytes == SWIZZLE_MOST       ? 1
                    : bytes == SWIZZLE_MOST / 2 ? 2
                                                : 3,
             leading = s->turned ? encoded(s, s->row * s->steps) : 1;
    return mode << MODE_AT | encoded(s, 8 * s->row) << STRIDE_AT | leading << LEADING_AT;
}

/* Distance of the instruction's first line and step from the side's beginning. */
static int64_t place_of(const stage_operand *s, int64_t line, int64_t step) {
    return s->turned ? line / s->row * s->row * s->steps + line % s->row + step * s->row
                     : step / s->row * s->row * s->lines + step % s->row + line * s->row;
}

/* Places are of so few bits that they do not carry into what is above them. */
static LLVMValueRef descriptor_at(emitter *e, const stage_operand *s, int64_t line, int64_t step) {
    LLVMValueRef place = code_int(e, e->i32, (int64_t)encoded(s, place_of(s, line, step))),
                 low = LLVMBuildZExt(e->b, LLVMBuildAdd(e->b, s->low, place, ""), e->i64, "");
    uint64_t high = bits_of(s) >> WORD_BITS << WORD_BITS;
    return LLVMBuildOr(e->b, low, code_int(e, e->i64, (int64_t)high), "");
}

/* A place in memory, as descriptors have it. */
static LLVMValueRef start_of(emitter *e, ir_value memory, ir_value place) {
    LLVMTypeRef type = code_memory_type(e, ir_type_of(e->m, memory)->element);
    LLVMValueRef offset = code_get(e, place)->values[0],
                 at = LLVMBuildGEP2(e->b, type, code_get(e, memory)->values[0], &offset, 1, "");
    LLVMValueRef byte = LLVMBuildPtrToInt(e->b, at, e->i32, "");
    byte = LLVMBuildAnd(e->b, byte, code_int(e, e->i32, (1 << START_BITS) - 1), "");
    return LLVMBuildLShr(e->b, byte, code_int(e, e->i32, START_SHIFT), "");
}

static bool place_side(emitter *e, stage_operand *s, ir_value memory, ir_value place) {
    if (!simt_is_at_pattern(e, place, s->size, SWIZZLE_ALIGNMENT))
        return false;
    LLVMValueRef bits = code_int(e, e->i32, (int64_t)(uint32_t)bits_of(s));
    s->low = LLVMBuildAdd(e->b, start_of(e, memory, place), bits, "");
    return true;
}

/* Several groups of subgroups have one instruction's lines of the left side each. */
static void place_group(emitter *e, stage_operand *s, const ir_layout *sums, const mma_unit *unit) {
    int64_t groups = sums->row_groups * sums->lanes / unit->lanes;
    if (groups <= 1)
        return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMPositionBuilderBefore(e->b, e->simt.last);
    LLVMValueRef group = LLVMBuildUDiv(e->b, e->simt.index, code_int(e, e->i64, unit->lanes), ""),
                 each = code_int(e, e->i64, (int64_t)encoded(s, place_of(s, unit->m, 0)));
    group = LLVMBuildTrunc(e->b, LLVMBuildNSWMul(e->b, group, each, ""), e->i32, "");
    LLVMPositionBuilderAtEnd(e->b, here);
    s->low = LLVMBuildAdd(e->b, s->low, group, "");
}

/* ---- products ---- */

typedef struct stage_product {
    const mma_unit *unit;
    stage_operand left, right;
    const emitted *registers; /* in place of the left side; NULL: it is in memory */
    emitted *d;
    int columns;    /* of an instruction */
    int64_t groups; /* of subgroups, with an instruction each at once */
} stage_product;

/* Sums of instruction (i, j): those of its threads' two rows, side by side in pairs. */
static LLVMValueRef *sum_at(const stage_product *p, int64_t i, int64_t j, int n) {
    int64_t column = j * p->columns / 4 + n / 4 * 2 + n % 2;
    return &p->d->values[(2 * i + n / 2 % 2) * p->d->parts + column];
}

static void put_code(text *out, const stage_product *p, int count) {
    const mma_unit *u = p->unit;
    text_printf(out, "wgmma.mma_async.sync.aligned.m%dn%dk%d.%s {", u->m, p->columns, u->k,
                u->intrinsic);
    for (int i = 0; i < count; i++)
        text_printf(out, "%s$%d", i ? ", " : "", i);
    if (p->registers)
        text_printf(out, "}, {$%d, $%d, $%d, $%d}, $%d, 1", count, count + 1, count + 2, count + 3,
                    count + LEFT_WORDS);
    else
        text_printf(out, "}, $%d, $%d, 1", count, count + 1);
    if (dtype_is_float(u->sum))
        text_append(out, ", 1, 1"); /* neither side is negated */
    if (mma_reads_lines(u) && !p->registers)
        text_printf(out, ", %d", p->left.turned);
    if (mma_reads_lines(u))
        text_printf(out, ", %d", p->right.turned);
    text_append(out, ";");
}

/* The left side of an instruction: its descriptor, or of a thread's two rows the runs of the first
 * half of its steps, then those of the second. Returns how many operands there are. */
static unsigned put_left(emitter *e, const stage_product *p, int64_t i, int64_t step,
                         LLVMValueRef *args) {
    const emitted *a = p->registers;
    if (!a) {
        args[0] = descriptor_at(e, &p->left, i * p->groups * p->unit->m, step);
        return 1;
    }
    for (int n = 0; n < LEFT_WORDS; n++) {
        int64_t row = 2 * i + n % 2, part = 2 * step / p->unit->k + n / 2;
        args[n] = LLVMBuildBitCast(e->b, a->values[row * a->parts + part], e->i32, "");
    }
    return LEFT_WORDS;
}

static void multiply(emitter *e, const stage_product *p, int64_t i, int64_t j, int64_t step) {
    int count = p->columns / 2;
    LLVMValueRef args[MOST_OPERANDS];
    unsigned factors = put_left(e, p, i, step, args);
    text code, constraints;
    args[factors++] = descriptor_at(e, &p->right, j * p->columns, step);
    text_init(&code);
    text_init(&constraints);
    put_code(&code, p, count);
    put_constraints(e, &constraints, *sum_at(p, i, j, 0), count,
                    p->registers ? ",r,r,r,r,l" : ",l,l");
    for (int n = 0; n < count; n++)
        args[factors + (unsigned)n] = *sum_at(p, i, j, n);
    LLVMValueRef done = assemble(e, sums_type(e, *sum_at(p, i, j, 0), count), code.data,
                                 constraints.data, args, (unsigned)count + factors);
    simt_note_site(e, done);
    for (int n = 0; n < count; n++)
        *sum_at(p, i, j, n) = LLVMBuildExtractValue(e->b, done, (unsigned)n, "");
    text_release(&code);
    text_release(&constraints);
}

static stage_operand operand_of(const emitter *e, ir_op op, bool left, int64_t lines) {
    const int64_t size = (int64_t)dtype_size(mma_unit_of(e->m, op)->factor);
    return (stage_operand){
        .row = ir_op_int(e->m, op, left ? "left" : "right", 0) / size,
        .size = size,
        .lines = lines,
        .steps =
            ir_op_int(e->m, op, left ? "steps" : "right_steps", ir_op_int(e->m, op, "steps", 0)),
        .turned = ir_op_attr(e->m, op, left ? "left_turned" : "right_turned") != 0};
}

/* Instructions of a group of subgroups, one below the other. */
static int64_t instructions_down(const stage_product *p, const emitted *c) {
    return c->tile_rows / (p->groups * p->unit->m);
}

void simt_mma_stage(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const emitted *c = code_get(e, d->operands[2]);
    const bool in_registers = ir_type_of(e->m, d->operands[3])->kind == IR_TYPE_TILE;
    stage_product p = {.unit = mma_unit_of(e->m, op),
                       .left = operand_of(e, op, true, c->tile_rows),
                       .right = operand_of(e, op, false, c->tile_columns),
                       .registers = in_registers ? code_get(e, d->operands[3]) : NULL,
                       .d = code_new(e, d->results[0])};
    p.groups = c->layout.row_groups * c->layout.lanes / p.unit->lanes;
    p.columns = mma_columns(c->tile_columns, p.right.turned ? p.right.row : p.unit->n);
    for (int64_t i = 0; i < c->rows * c->parts; i++)
        p.d->values[i] = c->values[i];
    if (!place_side(e, &p.right, d->operands[0], d->operands[1]) ||
        (!in_registers && !place_side(e, &p.left, d->operands[3], d->operands[4])))
        return;
    if (!in_registers)
        place_group(e, &p.left, &c->layout, p.unit);
    plain(e, "wgmma.fence.sync.aligned;");
    for (int64_t step = 0; step < p.left.steps; step += p.unit->k)
        for (int64_t i = 0; i < instructions_down(&p, c); i++)
            for (int64_t j = 0; j < c->tile_columns / p.columns; j++)
                multiply(e, &p, i, j, step);
    plain(e, "wgmma.commit_group.sync.aligned;");
}

/* ---- waits ---- */

/* As many registers as one instruction can name at once. */
static void wait_for(emitter *e, LLVMValueRef *sums, int count) {
    LLVMValueRef args[MOST_SUMS];
    text constraints;
    text_init(&constraints);
    put_constraints(e, &constraints, sums[0], count, "");
    memcpy(args, sums, sizeof *args * (size_t)count);
    LLVMValueRef done =
        assemble(e, sums_type(e, sums[0], count), "wgmma.wait_group.sync.aligned 0;",
                 constraints.data, args, (unsigned)count);
    simt_note_site(e, done);
    for (int i = 0; i < count; i++)
        sums[i] = LLVMBuildExtractValue(e->b, done, (unsigned)i, "");
    text_release(&constraints);
}

/* Left out like a barrier: of sums, that of all is one. */
void simt_mma_wait(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    bool dropped = ++e->simt.barriers == e->simt.drop_barrier;
    char code[64];
    snprintf(code, sizeof code, "wgmma.wait_group.sync.aligned %d;",
             (int)ir_op_int(e->m, op, "left", 0));
    if (d->operand_count == 0 && !dropped)
        plain(e, code);
    for (uint32_t k = 0; k < d->operand_count; k++) {
        const emitted *from = code_get(e, d->operands[k]);
        emitted *to = code_new(e, d->results[k]);
        int64_t count = from->rows * from->parts;
        memcpy(to->values, from->values, sizeof *to->values * (size_t)count);
        for (int64_t i = 0; i < count && !dropped; i += MOST_SUMS)
            wait_for(e, to->values + i, (int)(count - i < MOST_SUMS ? count - i : MOST_SUMS));
    }
}

/* ---- fences ---- */

bool simt_has_stages(const emitter *e, ir_op op) {
    bool found = false;
    for (ir_walk w = ir_walk_op(e->m, op); !found && ir_walk_next(&w);)
        found = ir_op_get(e->m, w.op)->opcode == TILE_MMA_STAGE;
    return found;
}

void simt_fence_stages(emitter *e) {
    plain(e, "fence.proxy.async.shared::cta;");
}

bool simt_is_at_pattern(emitter *e, ir_value offset, int64_t size, int64_t bytes) {
    if (code_get(e, offset)->multiple * size % bytes == 0)
        return true;
    e->failed = true;
    return status_set(e->st, STATUS_INTERNAL,
                      "what is swizzled does not begin at a multiple of %d bytes", (int)bytes);
}

LLVMValueRef simt_swizzled(emitter *e, LLVMValueRef byte, int64_t pattern) {
    LLVMValueRef above = LLVMBuildLShr(e->b, byte, code_int(e, e->i64, swizzle_shift(pattern)), "");
    above = LLVMBuildAnd(e->b, above, code_int(e, e->i64, swizzle_mask(pattern)), "");
    return LLVMBuildXor(e->b, byte, above, "");
}

/* Adds multiples of the pattern's rows behind it: it is the same for many places, and that of a
 * tile which begins with a pattern the same in all trips of a loop. */
LLVMValueRef simt_byte_of(emitter *e, ir_value offset, LLVMValueRef place, int64_t on, int64_t size,
                          int64_t pattern) {
    const index_parts *begin = &code_get(e, offset)->parted;
    const int64_t rows = SWIZZLE_ROWS * pattern, all = on + begin->constant * size,
                  within = (all % rows + rows) % rows;
    const bool aligned = begin->multiple * size % rows == 0;
    LLVMValueRef from = LLVMBuildNSWMul(e->b, begin->rest, code_int(e, e->i64, size), "");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    if (aligned)
        LLVMPositionBuilderBefore(e->b, e->simt.last);
    else
        place = LLVMBuildNSWAdd(e->b, from, place, "");
    LLVMValueRef byte = LLVMBuildNSWAdd(e->b, place, code_int(e, e->i64, within), "");
    byte = simt_swizzled(e, byte, pattern);
    LLVMPositionBuilderAtEnd(e->b, here);
    if (aligned)
        byte = LLVMBuildNSWAdd(e->b, from, byte, "");
    return LLVMBuildNSWAdd(e->b, byte, code_int(e, e->i64, all - within), "");
}
