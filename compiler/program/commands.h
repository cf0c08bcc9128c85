/* commands.h - the draft of a program: what is done with which memory, in order.
 *
 * Memory is a list of slots: the kernel's inputs and outputs, constants, and slots of the arena,
 * each with the span of commands in which it is needed. A view is a part of a slot, which moves on
 * with the turns of the loops around it. */
#ifndef TESSERA_PROGRAM_COMMANDS_H
#define TESSERA_PROGRAM_COMMANDS_H

#include "base/vec.h"
#include "ir/ir.h"
#include "program.h"

enum { DRAFT_ALIGNMENT = 64 };

/* `first` of an output that no command uses. */
#define DRAFT_UNUSED INT64_MAX

typedef enum slot_space { SLOT_ARENA, SLOT_INPUT, SLOT_OUTPUT, SLOT_CONSTANT } slot_space;

typedef struct draft_slot {
    slot_space space;
    uint32_t index; /* of the input, output or constant */
    int64_t bytes;
    int64_t first, last; /* ticks of a clock that goes on with each command, in text order */
    int64_t offset;      /* in the arena, or in the output that lends it room */
} draft_slot;

typedef struct draft_view {
    int slot;
    int64_t offset;
    int64_t strides[PROGRAM_DEPTH_MAX]; /* of each loop around, the outermost first */
    int depth;                          /* strides that count */
} draft_view;

typedef enum command_kind {
    COMMAND_DISPATCH,
    COMMAND_COPY,
    COMMAND_FILL,
    COMMAND_TURN,
    COMMAND_EXCHANGE,
    COMMAND_WAIT,
    COMMAND_LOOP,
    COMMAND_WHILE,
    COMMAND_IF
} command_kind;

typedef struct draft_command draft_command;
typedef VEC(draft_command) command_list;

struct draft_command {
    command_kind kind;
    uint32_t kernel;        /* DISPATCH: its number */
    ir_op exchange;         /* EXCHANGE, WAIT: the operation, with the same views */
    VEC(draft_view) views;  /* operands; to and from; the condition */
    unsigned char byte;     /* FILL */
    int64_t bytes, count;   /* COPY, FILL, TURN; LOOP */
    int64_t end;            /* the clock behind it */
    command_list blocks[2]; /* body; condition and body; then and else */
};

/* The buffer of an input may be that of an output, too. */
typedef struct draft_donation {
    uint32_t input, output;
} draft_donation;

typedef struct draft_kernel {
    ir_op function; /* of the module */
    /* For each input: the output that is better made in its place, or -1. NULL: none is. It is a
     * wish, until whoever compiles the kernel leaves what is so. */
    int64_t *donated;
} draft_kernel;

typedef struct draft {
    VEC(draft_slot) slots;           /* the inputs come first, then the outputs */
    VEC(draft_kernel) kernels;       /* each once */
    VEC(struct ir_blob *) constants; /* of the module, each once */
    VEC(draft_donation) donations;
    command_list commands;
    bool fills;                        /* one of them does */
    bool in_place;                     /* a dispatch makes an output in its input's place */
    bool unoptimised;                  /* kernels are: their reshapes are copies */
    int64_t arena_bytes, needed_bytes; /* `needed`: the most that is alive there
                                        at once */
} draft;

/* Drafts an outlined module. Slots of the arena have no places yet. */
bool draft_build(const ir_module *m, bool unoptimised, draft *p, status *st);
void draft_release(draft *p);
/* Finds the donations and what kernels should make in place (donate.c). */
void draft_find_donations(const ir_module *m, draft *p);
/* Wishes that the kernel makes an output in the place of an input, unless it has a wish for one of
 * them yet. */
void draft_wish(draft_kernel *k, uint32_t inputs, uint32_t input, uint32_t output);
/* A tensor whose updates a dispatch makes, and that nothing reads afterwards, lies where they do
 * (in_place.c). Sequence: before donations are found. */
void draft_join_updated(const ir_module *m, draft *p);
/* Wishes the same for what loops carry, and when kernels are compiled leaves it in its place. */
void draft_find_carried(const ir_module *m, draft *p);
void draft_keep_carried(const ir_module *m, draft *p);
/* Makes the program right where donated inputs lie in their outputs: an output is written behind
 * the last read of its input, or in its place. */
void draft_donate(const ir_module *m, draft *p);
/* ... and then gives the slots of the arena their places, there or in an output that is not written
 * yet (memory.c). */
void draft_place(const ir_module *m, draft *p);

#endif
