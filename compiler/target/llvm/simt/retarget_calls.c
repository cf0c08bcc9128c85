/* retarget_calls.c - what threads do together, and copies that are under way, become calls of the
 * emulator's hooks (device/emulate/emulated_code.h).
 *
 * In the text that is retargeted their intrinsics got names of no intrinsics (retarget.c). Operands
 * and results of a matrix instruction go through the thread's stack, as words. */
#include <stdlib.h>
#include <string.h>

#include "device/emulate/emulated_code.h"
#include "target/llvm/emit.h"
#include "target/llvm/simt/retarget.h"
#include "tile/mma.h"

static LLVMValueRef hook_at(emitter *e, LLVMValueRef thread, size_t offset) {
    LLVMValueRef at = code_int(e, e->i64, (int64_t)offset),
                 hooks = LLVMBuildLoad2(e->b, e->pointer, thread, "");
    return LLVMBuildLoad2(e->b, e->pointer, LLVMBuildGEP2(e->b, e->i8, hooks, &at, 1, ""), "");
}

static LLVMValueRef call_for(emitter *e, LLVMTypeRef result, size_t offset, LLVMValueRef *args,
                             unsigned count) {
    LLVMTypeRef types[8];
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    return LLVMBuildCall2(e->b, type, hook_at(e, args[0], offset), args, count, "");
}

static void call_hook(emitter *e, size_t offset, LLVMValueRef *args, unsigned count) {
    call_for(e, LLVMVoidTypeInContext(e->context), offset, args, count);
}

/* Words of the thread's stack, for all of its calls. */
static LLVMValueRef words(emitter *e, LLVMValueRef function, const char *name, unsigned count) {
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    for (LLVMValueRef i = first; i; i = LLVMGetNextInstruction(i)) {
        size_t length;
        if (strcmp(LLVMGetValueName2(i, &length), name) == 0)
            return i;
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMPositionBuilderBefore(e->b, first);
    LLVMValueRef room = LLVMBuildAlloca(e->b, LLVMArrayType2(e->i32, count), name);
    LLVMSetAlignment(room, 16);
    LLVMPositionBuilderAtEnd(e->b, here);
    return room;
}

static LLVMValueRef site_with(emitter *e, const retargeted_call *c, uint32_t how) {
    uint64_t site = c->site ? LLVMConstIntGetZExtValue(c->site) : 0;
    return LLVMConstInt(e->i32, how | site, 0);
}

static void replace_by_words(emitter *e, const retargeted_call *c, LLVMValueRef room) {
    LLVMPositionBuilderBefore(e->b, c->call);
    LLVMValueRef loaded = LLVMBuildLoad2(e->b, LLVMTypeOf(c->call), room, "");
    LLVMSetAlignment(loaded, 4);
    LLVMReplaceAllUsesWith(c->call, loaded);
}

/* ---- shuffles ---- */

static bool shuffle_from(emitter *e, const retargeted_call *c, LLVMValueRef value,
                         LLVMValueRef lane) {
    LLVMValueRef args[] = {c->thread, value, lane, site_with(e, c, EMULATED_WIDTH(0))};
    LLVMReplaceAllUsesWith(c->call,
                           call_for(e, e->i32, offsetof(emulated_hooks, shuffle), args, 4));
    return true;
}

/* The lane whose number differs in these bits, of the thread's subgroup. */
static bool shuffle(emitter *e, const retargeted_call *c, LLVMValueRef value, uint64_t bits) {
    LLVMPositionBuilderBefore(e->b, c->call);
    LLVMValueRef at = code_int(e, e->i64, offsetof(emulated_thread, thread)),
                 number = LLVMBuildLoad2(e->b, e->i32,
                                         LLVMBuildGEP2(e->b, e->i8, c->thread, &at, 1, ""), "");
    return shuffle_from(e, c, value, LLVMBuildXor(e->b, number, LLVMConstInt(e->i32, bits, 0), ""));
}

/* shfl.sync.idx: the threads that take part, the value, the lane, the lanes. */
static bool retarget_shuffle_from(emitter *e, const retargeted_call *c) {
    LLVMPositionBuilderBefore(e->b, c->call);
    return shuffle_from(e, c, LLVMGetOperand(c->call, 1), LLVMGetOperand(c->call, 2));
}

/* shfl.sync.bfly: the threads that take part, the value, the bits, the lanes. */
static bool retarget_shuffle(emitter *e, const retargeted_call *c) {
    return shuffle(e, c, LLVMGetOperand(c->call, 1),
                   LLVMConstIntGetZExtValue(LLVMGetOperand(c->call, 2)));
}

/* ds_swizzle in its mode of bits: those of 5 that stay, those that are set, those that change. */
static bool retarget_swizzle(emitter *e, const retargeted_call *c) {
    enum { BITS = 31, SET = 5, CHANGE = 10 };
    uint64_t how = LLVMConstIntGetZExtValue(LLVMGetOperand(c->call, 1));
    return (how & BITS) == BITS && !(how >> SET & BITS) && how >> CHANGE <= BITS &&
           shuffle(e, c, LLVMGetOperand(c->call, 0), how >> CHANGE);
}

/* ds_bpermute: the lane's first byte, the value. */
static bool retarget_permute(emitter *e, const retargeted_call *c) {
    LLVMPositionBuilderBefore(e->b, c->call);
    LLVMValueRef word = code_int(e, e->i32, 2),
                 lane = LLVMBuildLShr(e->b, LLVMGetOperand(c->call, 0), word, "");
    return shuffle_from(e, c, LLVMGetOperand(c->call, 1), lane);
}

/* ---- functions ---- */

static bool retarget_exp2(emitter *e, const retargeted_call *c) {
    LLVMValueRef args[] = {c->thread, LLVMGetOperand(c->call, 0)};
    LLVMPositionBuilderBefore(e->b, c->call);
    LLVMReplaceAllUsesWith(c->call, call_for(e, e->f32, offsetof(emulated_hooks, exp2), args, 2));
    return true;
}

/* Any NaN becomes 0x7fff (PTX ISA, "cvt"), which is not the canonical one. */
static bool retarget_bf16(emitter *e, const retargeted_call *c) {
    enum { NAN_OF_PTX = 0x7fff };
    LLVMPositionBuilderBefore(e->b, c->call);
    LLVMValueRef x = LLVMGetOperand(c->call, 0), rounded = code_round_bf16(e, x, 1),
                 nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
    rounded = LLVMBuildSelect(e->b, nan, code_int(e, e->i16, NAN_OF_PTX), rounded, "");
    LLVMReplaceAllUsesWith(c->call, LLVMBuildBitCast(e->b, rounded, LLVMTypeOf(c->call), ""));
    return true;
}

/* ---- matrix instructions ---- */

/* "emulated.mma.m16n8k16..." of "llvm.nvvm.mma.m16n8k16...": what stands behind the first words. */
static const char *behind(const char *name, int words) {
    for (; words > 0; words--)
        name += strcspn(name, ".") + 1;
    return name;
}

static const mma_unit *unit_of(const emitter *e, const char *name) {
    const mma_unit *list;
    uint32_t count = mma_units(&list);
    for (uint32_t i = 0; i < count; i++)
        if (mma_unit_is_of(&list[i], e->target->cpu) &&
            strcmp(behind(list[i].intrinsic, 2), behind(name, 1)) == 0)
            return &list[i];
    return NULL;
}

/* The next `bytes` of its operands into words. */
static unsigned store_operands(emitter *e, LLVMValueRef call, unsigned next, LLVMValueRef room,
                               int64_t bytes, LLVMTargetDataRef layout) {
    for (int64_t at = 0; at < bytes; next++) {
        LLVMValueRef x = LLVMGetOperand(call, next), offset = code_int(e, e->i64, at);
        LLVMValueRef store =
            LLVMBuildStore(e->b, x, LLVMBuildGEP2(e->b, e->i8, room, &offset, 1, ""));
        LLVMSetAlignment(store, 4);
        at += (int64_t)LLVMABISizeOfType(layout, LLVMTypeOf(x));
    }
    return next;
}

enum { MOST_WORDS = 8 };

static bool retarget_mma(emitter *e, const retargeted_call *c) {
    const mma_unit *u = unit_of(e, c->name);
    if (!u)
        return false;
    int64_t factor = (int64_t)dtype_size(u->factor);
    LLVMValueRef args[] = {c->thread,
                           site_with(e, c, EMULATED_MMA(u->emulated)),
                           words(e, c->function, "emulated.a", MOST_WORDS),
                           words(e, c->function, "emulated.b", MOST_WORDS),
                           words(e, c->function, "emulated.c", MOST_WORDS),
                           words(e, c->function, "emulated.d", MOST_WORDS)};
    LLVMPositionBuilderBefore(e->b, c->call);
    const unsigned signs = strstr(c->name, ".iu8.") != NULL; /* one before each factor */
    unsigned next =
        store_operands(e, c->call, signs, args[2], u->m * u->k / u->lanes * factor, c->layout);
    next = store_operands(e, c->call, next + signs, args[3], u->k * u->n / u->lanes * factor,
                          c->layout);
    store_operands(e, c->call, next, args[4], u->m * u->n / u->lanes * (int64_t)dtype_size(u->sum),
                   c->layout);
    call_hook(e, offsetof(emulated_hooks, mma), args, 6);
    replace_by_words(e, c, args[5]);
    return true;
}

/* ".x4.trans": how many matrices. */
static bool retarget_load_matrix(emitter *e, const retargeted_call *c) {
    const char *at = strstr(c->name, ".x");
    uint32_t how = EMULATED_MATRICES(at ? at[2] - '0' : 0);
    how |= strstr(c->name, ".trans") ? EMULATED_TRANSPOSED : 0;
    LLVMValueRef args[] = {c->thread, LLVMGetOperand(c->call, 0), site_with(e, c, how),
                           words(e, c->function, "emulated.d", 8)};
    LLVMPositionBuilderBefore(e->b, c->call);
    call_hook(e, offsetof(emulated_hooks, load_matrix), args, 4);
    replace_by_words(e, c, args[3]);
    return true;
}

/* ---- copies ---- */

static bool retarget_plain(emitter *e, const retargeted_call *c, size_t hook) {
    LLVMValueRef args[] = {c->thread};
    LLVMPositionBuilderBefore(e->b, c->call);
    call_hook(e, hook, args, 1);
    return true;
}

static bool retarget_commit(emitter *e, const retargeted_call *c) {
    return retarget_plain(e, c, offsetof(emulated_hooks, copy_commit));
}

static bool retarget_wait(emitter *e, const retargeted_call *c) {
    LLVMValueRef args[] = {c->thread, LLVMGetOperand(c->call, 0)};
    LLVMPositionBuilderBefore(e->b, c->call);
    call_hook(e, offsetof(emulated_hooks, copy_wait), args, 2);
    return true;
}

/* ".global.16": so many bytes. */
static bool retarget_copy(emitter *e, const retargeted_call *c) {
    const char *last = strrchr(c->name, '.');
    int64_t bytes = 0;
    while (*++last)
        bytes = bytes * 10 + (*last - '0');
    LLVMValueRef args[] = {c->thread, LLVMGetOperand(c->call, 0), LLVMGetOperand(c->call, 1),
                           code_int(e, e->i32, bytes), site_with(e, c, 0)};
    LLVMPositionBuilderBefore(e->b, c->call);
    call_hook(e, offsetof(emulated_hooks, copy_async), args, 5);
    return true;
}

/* ---- wgmma, which is assembly ---- */

/* The number behind the first `what`. */
static int64_t number_behind(const char *code, const char *what) {
    const char *at = strstr(code, what);
    return at ? strtoll(at + strlen(what), NULL, 10) : 0;
}

static const mma_unit *stage_unit_of(const emitter *e, const char *code) {
    const mma_unit *list;
    uint32_t count = mma_units(&list);
    for (uint32_t i = 0; i < count; i++)
        if (mma_in_memory(&list[i]) && mma_unit_is_of(&list[i], e->target->cpu) &&
            strstr(code, list[i].intrinsic))
            return &list[i];
    return NULL;
}

enum { SUM_WORDS = 128, LEFT_WORDS = 4 };

/* "m64n128k16... {...}, a, b, 1, 1, 1, 0, 1;": its last numbers are which sides are turned, where
 * the unit turns any; the left one is not where it is in registers, "{...}, {...}, b, 1, 1, 1, 1;".
 */
static uint32_t turned_sides(const mma_unit *u, const char *code, bool in_registers) {
    const size_t length = strlen(code);
    if (!mma_reads_lines(u))
        return 0;
    return (code[length - 2] == '1' ? EMULATED_B_TURNED : 0) |
           (!in_registers && code[length - 5] == '1' ? EMULATED_A_TURNED : 0);
}

static bool retarget_wgmma(emitter *e, const retargeted_call *c) {
    const mma_unit *u = stage_unit_of(e, c->name);
    if (!u)
        return false;
    uint32_t n = (uint32_t)number_behind(c->name, ".m64n"), shape = EMULATED_COLUMNS(n);
    const bool in_registers = strstr(c->name, "}, {");
    shape |= (in_registers ? EMULATED_A_REGISTERS : 0) | turned_sides(u, c->name, in_registers);
    LLVMValueRef args[] = {c->thread,
                           site_with(e, c, EMULATED_MMA(u->emulated)),
                           LLVMConstInt(e->i32, shape, 0),
                           NULL,
                           NULL,
                           words(e, c->function, "emulated.sums", SUM_WORDS)};
    unsigned next = 1;
    LLVMPositionBuilderBefore(e->b, c->call);
    if (in_registers) {
        LLVMValueRef room = words(e, c->function, "emulated.a", MOST_WORDS);
        LLVMPositionBuilderBefore(e->b, c->call);
        next = store_operands(e, c->call, 0, room, LEFT_WORDS * 4, c->layout);
        args[3] = LLVMBuildPtrToInt(e->b, room, e->i64, "");
    } else {
        args[3] = LLVMGetOperand(c->call, 0);
    }
    args[4] = LLVMGetOperand(c->call, next);
    store_operands(e, c->call, next + 1, args[5], n / 2 * 4, c->layout);
    call_hook(e, offsetof(emulated_hooks, wgmma), args, 6);
    replace_by_words(e, c, args[5]);
    return true;
}

static bool retarget_wgmma_wait(emitter *e, const retargeted_call *c) {
    int64_t count = (int64_t)LLVMGetNumArgOperands(c->call);
    LLVMValueRef args[] = {c->thread, code_int(e, e->i32, number_behind(c->name, ".aligned ")),
                           words(e, c->function, "emulated.sums", SUM_WORDS),
                           code_int(e, e->i32, count)};
    LLVMPositionBuilderBefore(e->b, c->call);
    store_operands(e, c->call, 0, args[2], count * 4, c->layout);
    call_hook(e, offsetof(emulated_hooks, wgmma_wait), args, 4);
    if (count)
        replace_by_words(e, c, args[2]);
    return true;
}

static bool retarget_wgmma_fence(emitter *e, const retargeted_call *c) {
    return retarget_plain(e, c, offsetof(emulated_hooks, wgmma_fence));
}

static bool retarget_wgmma_commit(emitter *e, const retargeted_call *c) {
    return retarget_plain(e, c, offsetof(emulated_hooks, wgmma_commit));
}

static bool retarget_fence_async(emitter *e, const retargeted_call *c) {
    return retarget_plain(e, c, offsetof(emulated_hooks, fence_async));
}

/* ---- loaders, which are assembly ---- */

/* Registers handed over: a thread of the emulator has all that it needs. */
static bool retarget_nothing(emitter *e, const retargeted_call *c) {
    (void)e, (void)c;
    return true;
}

/* A hook that takes the assembly's operands, a number of its text where there is one, and the site.
 */
static bool retarget_slot(emitter *e, const retargeted_call *c, size_t hook, const char *before) {
    const unsigned count = LLVMGetNumArgOperands(c->call);
    LLVMValueRef args[5] = {c->thread};
    unsigned n = 1;
    for (unsigned i = 0; i < count; i++)
        args[n++] = LLVMGetOperand(c->call, i);
    if (before)
        args[n++] = code_int(e, e->i32, number_behind(c->name, before));
    args[n++] = site_with(e, c, 0);
    LLVMPositionBuilderBefore(e->b, c->call);
    call_hook(e, hook, args, n);
    return true;
}

static bool retarget_slot_open(emitter *e, const retargeted_call *c) {
    return retarget_slot(e, c, offsetof(emulated_hooks, slot_open), "], ");
}

static bool retarget_slot_expect(emitter *e, const retargeted_call *c) {
    return retarget_slot(e, c, offsetof(emulated_hooks, slot_expect), "], ");
}

static bool retarget_slot_wait(emitter *e, const retargeted_call *c) {
    return retarget_slot(e, c, offsetof(emulated_hooks, slot_wait), NULL);
}

static bool retarget_slot_free(emitter *e, const retargeted_call *c) {
    return retarget_slot(e, c, offsetof(emulated_hooks, slot_free), NULL);
}

static bool retarget_barrier_of(emitter *e, const retargeted_call *c) {
    return retarget_slot(e, c, offsetof(emulated_hooks, barrier_of), ", ");
}

/* To, the map, the coordinates, the barrier. */
static bool retarget_fetch(emitter *e, const retargeted_call *c) {
    const unsigned last = LLVMGetNumArgOperands(c->call) - 1;
    LLVMValueRef room = words(e, c->function, "emulated.a", MOST_WORDS);
    LLVMPositionBuilderBefore(e->b, c->call);
    store_operands(e, c->call, 2, room, ((int64_t)last - 2) * 4, c->layout);
    LLVMValueRef args[] = {c->thread, LLVMGetOperand(c->call, 0),    LLVMGetOperand(c->call, 1),
                           room,      LLVMGetOperand(c->call, last), site_with(e, c, 0)};
    call_hook(e, offsetof(emulated_hooks, fetch), args, 6);
    return true;
}

/* ---- the table ---- */

bool retarget_call(emitter *e, const retargeted_call *c) {
    static const struct {
        const char *begins;
        bool (*retarget)(emitter *e, const retargeted_call *c);
    } table[] = {
        {RETARGETED "mma.", retarget_mma},
        {RETARGETED "mfma.", retarget_mma},
        {RETARGETED "wmma.", retarget_mma},
        {RETARGETED "shfl.bfly.i32", retarget_shuffle},
        {RETARGETED "shfl.idx.i32", retarget_shuffle_from},
        {RETARGETED "swizzle", retarget_swizzle},
        {RETARGETED "bpermute", retarget_permute},
        {RETARGETED "exp2.", retarget_exp2},
        {RETARGETED "bf16", retarget_bf16},
        {RETARGETED "ldmatrix.", retarget_load_matrix},
        {RETARGETED "cp.async.commit.group", retarget_commit},
        {RETARGETED "cp.async.wait.group", retarget_wait},
        {RETARGETED "cp.async.", retarget_copy},
        {"wgmma.fence.", retarget_wgmma_fence},
        {"wgmma.mma_async.", retarget_wgmma},
        {"wgmma.commit_group.", retarget_wgmma_commit},
        {"wgmma.wait_group.", retarget_wgmma_wait},
        {"fence.proxy.async.", retarget_fence_async},
        {"bar.sync 1,", retarget_barrier_of},
        {"mbarrier.init.", retarget_slot_open},
        {"mbarrier.arrive.expect_tx.", retarget_slot_expect},
        {"{.reg .pred came;", retarget_slot_wait},
        {"{.reg .pred first;", retarget_slot_free},
        {"cp.async.bulk.tensor.", retarget_fetch},
        {"setmaxnreg.", retarget_nothing},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(c->name, table[i].begins, strlen(table[i].begins)) == 0)
            return table[i].retarget(e, c);
    return false;
}
