/* emit_loader.c - a thread that loads beside the workgroup's: boxes of tensors into slots of stages
 * (cp.async.bulk.tensor), and the barriers by which both sides wait for each other.
 *
 * A launch has a subgroup more than the workgroup's threads, or a group of four beside several such
 * groups; of its threads one loads and the others end at once. A slot has two barriers (mbarrier):
 * at the first its bytes arrive, at the second a thread of each subgroup that has done with it.
 * Barriers of the workgroup are those of a number of threads.
 *
 * LLVM has no intrinsics for all of it, so it is inline assembly. PTX ISA, "Parallel
 * Synchronization and Communication Instructions: mbarrier" and "Data Movement:
 * cp.async.bulk.tensor". */
#include <stdio.h>
#include <string.h>

#include "schedule/simt/simt.h"
#include "target/llvm/emit.h"
#include "tile/simt/simt.h"
#include "tile/swizzle.h"
#include "tile/tensor_map.h"

enum { BARRIER_BYTES = 8, SLOT_BYTES = 2 * BARRIER_BYTES, SUBGROUP = 32, OPERANDS_MOST = 7 };

/* Assembly that gives nothing back. */
static void assemble(emitter *e, const char *code, const char *constraints, LLVMValueRef *args,
                     unsigned count) {
    LLVMTypeRef types[OPERANDS_MOST];
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), types, count, 0);
    LLVMValueRef callee = LLVMGetInlineAsm(type, code, strlen(code), constraints,
                                           strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    simt_note_site(e, LLVMBuildCall2(e->b, type, callee, args, count, ""));
}

static LLVMValueRef bytes_from(emitter *e, LLVMValueRef at, LLVMValueRef offset) {
    return LLVMBuildGEP2(e->b, e->i8, at, &offset, 1, "");
}

/* ---- slots ---- */

/* The number of a stage, and so many more. */
static LLVMValueRef stage_of(emitter *e, ir_value number, int64_t more) {
    LLVMValueRef n = LLVMBuildTrunc(e->b, code_get(e, number)->values[0], e->i32, "");
    return more ? LLVMBuildAdd(e->b, n, code_int(e, e->i32, more), "") : n;
}

/* One of the two barriers of a stage's slot. */
static LLVMValueRef barrier_of(emitter *e, ir_op op, LLVMValueRef stage, bool given_back) {
    const ir_op_data *d = ir_op_get(e->m, op);
    ir_value slots = d->operands[d->opcode == TILE_FETCH ? 4 : 0];
    LLVMValueRef count = code_int(e, e->i32, ir_op_int(e->m, op, "count", 1)),
                 at = LLVMBuildURem(e->b, stage, count, "");
    at = LLVMBuildMul(e->b, at, code_int(e, e->i32, SLOT_BYTES), "");
    at = LLVMBuildAdd(e->b, at, code_int(e, e->i32, given_back ? BARRIER_BYTES : 0), "");
    return bytes_from(e, code_get(e, slots)->values[0], at);
}

/* Times that all slots were used before. */
static LLVMValueRef rounds_of(emitter *e, ir_op op, LLVMValueRef stage) {
    return LLVMBuildUDiv(e->b, stage, code_int(e, e->i32, ir_op_int(e->m, op, "count", 1)), "");
}

/* Waits until the barrier has been passed more often than `rounds` says; left out like a barrier of
 * the workgroup. Each time its parity changes. */
static void wait_at(emitter *e, LLVMValueRef barrier, LLVMValueRef rounds) {
    LLVMValueRef parity = LLVMBuildAnd(e->b, rounds, code_int(e, e->i32, 1), "");
    if (++e->simt.barriers != e->simt.drop_barrier)
        assemble(e,
                 "{.reg .pred came;\nagain_${:uid}:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 came, [$0], $1;\n"
                 "@!came bra again_${:uid};}",
                 "l,r,~{memory}", (LLVMValueRef[]){barrier, parity}, 2);
}

/* The first `count - behind` slots have never been used; each other one has been given back once
 * for each time that it was, and the last ones once more (simt_slot_free). */
void simt_slot_claim(emitter *e, ir_op op) {
    ir_value number = ir_op_get(e->m, op)->operands[1];
    LLVMValueRef stage = stage_of(e, number, 0), came = barrier_of(e, op, stage, false),
                 later = stage_of(e, number, ir_op_int(e->m, op, "behind", 0));
    char code[128];
    wait_at(e, barrier_of(e, op, stage, true),
            LLVMBuildSub(e->b, rounds_of(e, op, later), code_int(e, e->i32, 1), ""));
    snprintf(code, sizeof code, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], %d;",
             (int)ir_op_int(e->m, op, "bytes", 0));
    assemble(e, code, "l,~{memory}", &came, 1);
}

void simt_slot_wait(emitter *e, ir_op op) {
    LLVMValueRef stage = stage_of(e, ir_op_get(e->m, op)->operands[1], 0);
    wait_at(e, barrier_of(e, op, stage, false), rounds_of(e, op, stage));
}

/* The slot that is `behind` this one, around all of them. */
void simt_slot_free(emitter *e, ir_op op) {
    int64_t back = ir_op_int(e->m, op, "count", 1) - ir_op_int(e->m, op, "behind", 0);
    LLVMValueRef stage = stage_of(e, ir_op_get(e->m, op)->operands[1], back),
                 args[] = {barrier_of(e, op, stage, true), e->simt.lane};
    assemble(e,
             "{.reg .pred first;\nsetp.eq.u32 first, $1, 0;\n"
             "@first mbarrier.arrive.shared::cta.b64 _, [$0];}",
             "l,r,~{memory}", args, 2);
}

/* ---- fetches ---- */

/* Coordinates of an element of an argument in its map, innermost first. */
static void put_coordinates(emitter *e, const tensor_map *map, LLVMValueRef offset,
                            LLVMValueRef *out) {
    LLVMValueRef left = offset;
    for (uint32_t i = 0; i < map->rank; i++) {
        LLVMValueRef extent = code_int(e, e->i64, map->dims[i]);
        LLVMValueRef at = i + 1 < map->rank ? LLVMBuildURem(e->b, left, extent, "") : left;
        left = LLVMBuildUDiv(e->b, left, extent, "");
        out[i] = LLVMBuildTrunc(e->b, at, e->i32, "");
    }
}

/* The last parameters are maps. */
static LLVMValueRef map_of(const emitter *e, ir_op fetch) {
    tensor_map maps[TENSOR_MAPS_MOST];
    unsigned count = tensor_map_list(e->m, e->simt.phase, maps),
             first = LLVMCountParams(e->function) - count;
    return LLVMGetParam(e->function, first + tensor_map_number(e->m, e->simt.phase, fetch));
}

void simt_fetch(emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    static const char *const boxes[] = {
        "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];",
        "4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3, $4, $5}], "
        "[$6];"};
    char code[160];
    tensor_map map;
    tensor_map_of(e->m, op, &map);
    const bool blocks = map.rank > 2;
    LLVMValueRef offset = code_get(e, d->operands[1])->values[0], args[OPERANDS_MOST];
    LLVMTypeRef type = code_memory_type(e, map.element);
    const int64_t size = (int64_t)dtype_size(map.element);
    if (!simt_is_at_pattern(e, d->operands[1], size, SWIZZLE_ROWS * map.box[0] * size))
        return;
    args[0] = LLVMBuildGEP2(e->b, type, code_get(e, d->operands[0])->values[0], &offset, 1, "");
    args[1] = map_of(e, op);
    put_coordinates(e, &map, code_get(e, d->operands[3])->values[0], args + 2);
    args[2 + map.rank] = barrier_of(e, op, stage_of(e, d->operands[5], 0), false);
    snprintf(code, sizeof code, "cp.async.bulk.tensor.%s", boxes[blocks]);
    assemble(e, code, blocks ? "l,l,r,r,r,r,l,~{memory}" : "l,l,r,r,l,~{memory}", args,
             3 + map.rank);
}

/* ---- the loader ---- */

static bool holds_loader(const emitter *e, ir_op op) {
    for (ir_walk w = ir_walk_op(e->m, op); ir_walk_next(&w);)
        if (ir_op_get(e->m, w.op)->opcode == TILE_LOADER)
            return true;
    return false;
}

bool simt_skips(const emitter *e, ir_op op) {
    if (e->simt.loading != SIMT_TO_LOADER)
        return false;
    switch (ir_op_get(e->m, op)->opcode) {
    case TILE_INDEX:
    case TILE_AFFINE:
    case TILE_INDEX_MIN:
    case TILE_INDEX_MAX:
    case TILE_INDEX_DIV:
    case TILE_INDEX_REM:
    case TILE_SCRATCH:
        return false;
    default:
        return !holds_loader(e, op);
    }
}

void simt_loader(emitter *e, ir_op op) {
    if (e->simt.loading != SIMT_TO_LOADER)
        return;
    e->simt.loading = SIMT_IN_LOADER;
    code_block(e, ir_op_block(e->m, op, 0));
    e->simt.loading = SIMT_TO_LOADER;
}

/* Makes, by the first thread, a barrier of the loader's bytes, and one of all subgroups, for each
 * slot. */
static void open_slots(emitter *e, ir_op loader) {
    ir_op memory = ir_value_get(e->m, ir_op_get(e->m, loader)->operands[0])->op;
    int64_t offset = ir_op_int(e->m, memory, "offset", 0),
            count = ir_op_int(e->m, loader, "count", 0);
    e->simt.op = loader;
    for (int64_t i = 0; i < 2 * count; i++) {
        char code[64];
        LLVMValueRef at =
            bytes_from(e, e->simt.shared, code_int(e, e->i64, offset + i * BARRIER_BYTES));
        snprintf(code, sizeof code, "mbarrier.init.shared::cta.b64 [$0], %d;",
                 i % 2 ? e->simt.threads / SUBGROUP : 1);
        assemble(e, code, "l,~{memory}", &at, 1);
    }
}

static void open_all_slots(emitter *e, ir_op phase) {
    LLVMValueRef zero = code_int(e, e->i64, 0);
    LLVMBasicBlockRef after = simt_when(e, LLVMBuildICmp(e->b, LLVMIntEQ, e->simt.index, zero, ""));
    for (ir_walk w = ir_walk_op(e->m, phase); ir_walk_next(&w);)
        if (ir_op_get(e->m, w.op)->opcode == TILE_LOADER)
            open_slots(e, w.op);
    simt_fence_stages(e);
    LLVMBuildBr(e->b, after);
    LLVMPositionBuilderAtEnd(e->b, after);
    simt_barrier_of_all(e);
}

/* The subgroup's number, from its first thread: so that the driver's compiler knows it to be the
 * same in all of them, and with it what they compute with indices. */
static LLVMValueRef subgroup_of(emitter *e) {
    LLVMValueRef number = LLVMBuildUDiv(e->b, e->simt.index, code_int(e, e->i64, SUBGROUP), "");
    LLVMValueRef args[] = {code_int(e, e->i32, -1), LLVMBuildTrunc(e->b, number, e->i32, ""),
                           code_int(e, e->i32, 0), code_int(e, e->i32, SUBGROUP - 1)};
    LLVMValueRef same = code_intrinsic(e, "llvm.nvvm.shfl.sync.idx.i32", NULL, 0, args, 4);
    simt_note_site(e, same);
    return same;
}

/* A whole group hands registers over, by all of its threads, which is nothing to barriers. */
static void set_registers(emitter *e, const char *direction, int count) {
    char code[64];
    if (e->simt.loaders < SIMT_GROUP)
        return;
    snprintf(code, sizeof code, "setmaxnreg.%s.sync.aligned.u32 %d;", direction, count);
    assemble(e, code, "~{memory}", NULL, 0);
}

void simt_begin_loaders(emitter *e, ir_op phase) {
    const bool loads = holds_loader(e, phase);
    LLVMBasicBlockRef computes = code_block_new(e, "computes"),
                      others = code_block_new(e, "others"), ends = code_block_new(e, "ends");
    LLVMValueRef threads = code_int(e, e->i64, e->simt.threads);
    if (loads)
        open_all_slots(e, phase);
    LLVMValueRef subgroups = code_int(e, e->i32, e->simt.threads / SUBGROUP);
    e->simt.op = phase;
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, subgroup_of(e), subgroups, ""), computes,
                    others);
    LLVMPositionBuilderAtEnd(e->b, others);
    if (loads) {
        LLVMBasicBlockRef load = code_block_new(e, "load");
        set_registers(e, "dec", SIMT_LOADER_REGISTERS);
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, e->simt.index, threads, ""), load,
                        ends);
        LLVMPositionBuilderAtEnd(e->b, load);
        e->simt.loading = SIMT_TO_LOADER;
        code_block(e, ir_op_block(e->m, phase, 0));
        e->simt.loading = SIMT_COMPUTES;
    }
    LLVMBuildBr(e->b, ends);
    LLVMPositionBuilderAtEnd(e->b, ends);
    LLVMBuildRetVoid(e->b);
    LLVMPositionBuilderAtEnd(e->b, computes);
    if (loads)
        set_registers(e, "inc", simt_registers_handed_over(e->simt.threads));
}
