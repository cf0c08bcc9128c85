/* flow.c - blocks and branches, with the structure that SPIR-V wants to be told.
 *
 * The code has two forms, nested in each other: a branch around something, both of whose ways meet
 * at one of its two targets, and a loop that tests at its end, with a branch around it where it may
 * have no turn. A loop's first block is cut behind its phis, since it says where the loop ends and
 * may branch itself; its branch back gets two blocks of its own, one to go on and one to leave,
 * for what a block is the end of, it is the end of alone. */
#include <stdlib.h>

#include "target/llvm/spirv/translate.h"

typedef enum label { LABEL, BODY, AGAIN, LEFT } label;
enum { KEY_BLOCK = 0x30000 };

typedef struct flow {
    translator *t;
    LLVMBasicBlockRef *blocks; /* each behind those that all ways to it go through */
    uint32_t count;
    uint32_t *order;   /* of a block, by its label's number: 1 is the first; 0: not known yet */
    uint32_t *entries; /* of a block, by its order: branches that lead there from before */
    bool *heads;       /* a loop begins there */
} flow;

static uint32_t label_of(translator *t, LLVMBasicBlockRef block, label which) {
    uint64_t address = (uint64_t)(uintptr_t)block;
    const uint32_t key[] = {KEY_BLOCK + which, (uint32_t)address, (uint32_t)(address >> 32)};
    bool fresh;
    return spirv_of(&t->m, key, 3, &fresh);
}

static uint32_t order_of_block(const flow *f, LLVMBasicBlockRef block) {
    return f->order[label_of(f->t, block, LABEL)];
}

/* The loop that a block's branch goes back to, and what comes behind it; NULL: it goes on. */
static LLVMBasicBlockRef loop_of(const flow *f, LLVMBasicBlockRef block,
                                 LLVMBasicBlockRef *behind) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    uint32_t here = order_of_block(f, block);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
        if (order_of_block(f, to) > here)
            continue;
        *behind = LLVMGetNumSuccessors(end) == 2 ? LLVMGetSuccessor(end, 1 - i) : NULL;
        return to;
    }
    return NULL;
}

/* ---- what is known before ---- */

static void open_flow(flow *f) {
    LLVMValueRef function = f->t->function;
    uint32_t labels = 0;
    f->count = LLVMCountBasicBlocks(function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        uint32_t id = label_of(f->t, b, LABEL);
        labels = id > labels ? id : labels;
    }
    f->blocks = base_calloc(f->count, sizeof *f->blocks);
    f->order = base_calloc(labels + 1, sizeof *f->order);
    f->entries = base_calloc(f->count, sizeof *f->entries);
    f->heads = base_calloc(f->count, sizeof *f->heads);
}

/* Depth first; the order in which blocks are left, from the last to the first, has each behind
 * those that it is reached through. */
static void number_blocks(flow *f) {
    typedef struct visit {
        LLVMBasicBlockRef block;
        unsigned next;
    } visit;
    VEC(visit) open = {0};
    uint32_t left = f->count;
    vec_push(&open, ((visit){LLVMGetEntryBasicBlock(f->t->function), 0}));
    f->order[label_of(f->t, open.items[0].block, LABEL)] = 1;
    while (open.count) {
        visit *v = &open.items[open.count - 1];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(v->block);
        if (v->next == LLVMGetNumSuccessors(end)) {
            f->blocks[--left] = v->block;
            open.count--;
            continue;
        }
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, v->next++);
        uint32_t *seen = &f->order[label_of(f->t, to, LABEL)];
        if (!*seen)
            vec_push(&open, ((visit){to, 0}));
        *seen = 1;
    }
    vec_release(&open);
    if (left)
        translate_fail(f->t, "code that nothing leads to", "");
    for (uint32_t i = left; i < f->count; i++)
        f->order[label_of(f->t, f->blocks[i], LABEL)] = i + 1;
}

static void find_loops(flow *f) {
    LLVMBasicBlockRef behind, loop;
    for (uint32_t i = 0; i < f->count; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks[i]);
        loop = loop_of(f, f->blocks[i], &behind);
        if (loop)
            f->heads[order_of_block(f, loop) - 1] = true;
        for (unsigned n = 0; n < LLVMGetNumSuccessors(end); n++)
            if (LLVMGetSuccessor(end, n) != loop)
                f->entries[order_of_block(f, LLVMGetSuccessor(end, n)) - 1]++;
    }
}

static bool is_head(const flow *f, LLVMBasicBlockRef block) {
    return f->heads[order_of_block(f, block) - 1];
}

/* ---- phis ---- */

/* The block that a branch from `from` to `to` comes from in the end. */
static uint32_t origin(const flow *f, LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
    LLVMBasicBlockRef behind, loop = loop_of(f, from, &behind);
    if (loop)
        return label_of(f->t, loop, loop == to ? AGAIN : LEFT);
    return label_of(f->t, from, is_head(f, from) ? BODY : LABEL);
}

static void phi(const flow *f, LLVMValueRef i, LLVMBasicBlockRef block) {
    enum { MOST = 8 };
    translator *t = f->t;
    uint32_t words[2 + 2 * MOST] = {type_of(t, LLVMTypeOf(i)), value_of(t, i)};
    unsigned count = LLVMCountIncoming(i);
    if (count > MOST) {
        translate_fail(t, "a place where more than eight branches meet", "");
        return;
    }
    for (unsigned n = 0; n < count; n++) {
        words[2 + 2 * n] = value_of(t, LLVMGetIncomingValue(i, n));
        words[3 + 2 * n] = origin(f, LLVMGetIncomingBlock(i, n), block);
    }
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpPhi, words, 2 + 2 * count);
}

/* ---- branches ---- */

static void put_label(translator *t, uint32_t id) {
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpLabel, &id, 1);
}

static void go(translator *t, uint32_t to) {
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpBranch, &to, 1);
}

static void go_if(translator *t, uint32_t condition, uint32_t yes, uint32_t no) {
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpBranchConditional, (uint32_t[]){condition, yes, no}, 3);
}

static void begin_loop(translator *t, LLVMBasicBlockRef block) {
    uint32_t body = label_of(t, block, BODY);
    const uint32_t words[] = {label_of(t, block, LEFT), label_of(t, block, AGAIN),
                              SpvLoopControlMaskNone};
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpLoopMerge, words, 3);
    go(t, body);
    put_label(t, body);
}

static void end_loop(translator *t, LLVMValueRef branch, LLVMBasicBlockRef loop,
                     LLVMBasicBlockRef behind) {
    if (!behind) {
        translate_fail(t, "a loop without an end", "");
        return;
    }
    uint32_t again = label_of(t, loop, AGAIN), left = label_of(t, loop, LEFT),
             first = label_of(t, loop, LABEL), condition = value_of(t, LLVMGetCondition(branch));
    bool goes_back = LLVMGetSuccessor(branch, 0) == loop;
    go(t, again);
    put_label(t, again);
    go_if(t, condition, goes_back ? first : left, goes_back ? left : first);
    put_label(t, left);
    go(t, label_of(t, behind, LABEL));
}

/* Other branches lead to where both ways meet, too; to the way around, none. */
static void branch_around(const flow *f, LLVMValueRef branch) {
    translator *t = f->t;
    LLVMBasicBlockRef to[] = {LLVMGetSuccessor(branch, 0), LLVMGetSuccessor(branch, 1)};
    bool meets[2];
    for (int i = 0; i < 2; i++)
        meets[i] = f->entries[order_of_block(f, to[i]) - 1] > 1;
    if (meets[0] == meets[1]) {
        translate_fail(t, "branches that meet elsewhere", "");
        return;
    }
    const uint32_t words[] = {label_of(t, to[meets[1]], LABEL), SpvSelectionControlMaskNone};
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpSelectionMerge, words, 2);
    go_if(t, value_of(t, LLVMGetCondition(branch)), label_of(t, to[0], LABEL),
          label_of(t, to[1], LABEL));
}

static void end_block(const flow *f, LLVMBasicBlockRef block) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMBasicBlockRef behind, loop = loop_of(f, block, &behind);
    if (LLVMGetInstructionOpcode(end) == LLVMRet)
        spirv_op(&f->t->m, SPIRV_FUNCTIONS, SpvOpReturn, NULL, 0);
    else if (loop)
        end_loop(f->t, end, loop, behind);
    else if (LLVMGetNumSuccessors(end) == 1)
        go(f->t, label_of(f->t, LLVMGetSuccessor(end, 0), LABEL));
    else
        branch_around(f, end);
}

static void translate_block(const flow *f, LLVMBasicBlockRef block) {
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    if (order_of_block(f, block) > 1)
        put_label(f->t, label_of(f->t, block, LABEL));
    for (; LLVMGetInstructionOpcode(i) == LLVMPHI; i = LLVMGetNextInstruction(i))
        phi(f, i, block);
    if (is_head(f, block))
        begin_loop(f->t, block);
    for (; !LLVMIsATerminatorInst(i) && !f->t->failed; i = LLVMGetNextInstruction(i))
        translate_instruction(f->t, i);
    end_block(f, block);
}

void translate_blocks(translator *t) {
    flow f = {.t = t};
    open_flow(&f);
    number_blocks(&f);
    if (!t->failed)
        find_loops(&f);
    for (uint32_t i = 0; i < f.count && !t->failed; i++)
        translate_block(&f, f.blocks[i]);
    free(f.blocks);
    free(f.order);
    free(f.entries);
    free(f.heads);
}

uint32_t translate_first_label(translator *t) {
    return label_of(t, LLVMGetEntryBasicBlock(t->function), LABEL);
}
