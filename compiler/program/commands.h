/* commands.h - a program: what is done with which memory, in order.
 *
 * Memory is a list of slots: the kernel's inputs and outputs, and slots of the arena, each with the
 * span of commands in which it is needed. A view is a part of a slot, which moves on with the turns
 * of the loops around it. */
#ifndef TESSERA_PROGRAM_COMMANDS_H
#define TESSERA_PROGRAM_COMMANDS_H

#include "base/vec.h"
#include "ir/ir.h"

enum { PROGRAM_DEPTH_MAX = 16, PROGRAM_ALIGNMENT = 64 };

typedef enum slot_space { SLOT_ARENA, SLOT_INPUT, SLOT_OUTPUT } slot_space;

typedef struct program_slot {
    slot_space space;
    uint32_t index; /* of the input or output */
    int64_t bytes;
    int64_t first, last; /* commands, numbered in text order */
    int64_t offset;      /* in the arena */
} program_slot;

typedef struct program_view {
    int slot;
    int64_t offset;
    int64_t strides[PROGRAM_DEPTH_MAX]; /* of each loop around, the outermost first */
    int depth;                          /* strides that count */
} program_view;

typedef enum command_kind {
    COMMAND_DISPATCH,
    COMMAND_COPY,
    COMMAND_TURN,
    COMMAND_LOOP,
    COMMAND_WHILE,
    COMMAND_IF
} command_kind;

typedef struct program_command program_command;
typedef VEC(program_command) command_list;

struct program_command {
    command_kind kind;
    uint32_t kernel;         /* DISPATCH: its number */
    VEC(program_view) views; /* operands; to and from; the condition */
    int64_t bytes, count;    /* COPY, TURN; LOOP */
    command_list blocks[2];  /* body; condition and body; then and else */
};

typedef struct program {
    VEC(program_slot) slots;
    VEC(ir_op) kernels; /* functions of the module, each once */
    command_list commands;
    int64_t arena_bytes, needed_bytes; /* `needed`: the most that is alive at once */
} program;

/* Of an outlined module. */
bool program_build(const ir_module *m, program *p, status *st);
void program_release(program *p);
/* Gives the slots of the arena their places (memory.c). */
void program_place(program *p);

#endif
