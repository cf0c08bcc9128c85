/* program.h - what a module does that launches several kernels: commands over the buffers of a
 * launch and an arena, in structs. docs/modules.md has the format; metadata_parse reads it, and
 * program_check holds it to its rules. */
#ifndef TESSERA_RUNTIME_PROGRAM_H
#define TESSERA_RUNTIME_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/status.h"

struct json_t;
struct metadata;

enum {
    PROGRAM_COMMANDS_MAX = 1000000,
    PROGRAM_KERNELS_MAX = 4095, /* beside "metadata", what a module has room for */
    PROGRAM_CONSTANTS_MAX = 4095,
    PROGRAM_DEPTH_MAX = 16,
    PROGRAM_RANKS_MAX = 4096
};
/* The most turns of nested loops, multiplied. */
#define PROGRAM_TURNS_MAX (INT64_C(1) << 40)

/* Bytes of a buffer: at `offset`, and for each turn of the loops around it so much further. */
typedef struct program_place {
    uint32_t buffer; /* inputs, then outputs, then the arena, then constants */
    uint32_t stride_count;
    int64_t offset;
    const int64_t *strides; /* of the counted loops around it, outermost first; no more are 0 */
} program_place;

typedef enum program_kind {
    PROGRAM_DISPATCH, /* places: of the kernel's inputs, then of its outputs */
    PROGRAM_COPY,     /* places: to, from */
    PROGRAM_FILL,     /* places: where to write `byte` */
    PROGRAM_TURN,     /* places: where to write */
    PROGRAM_EXCHANGE, /* begins one; places: to, from */
    PROGRAM_WAIT,     /* until it is through: the exchange's places */
    PROGRAM_LOOP,     /* blocks: the body */
    PROGRAM_WHILE,    /* places: the byte; blocks: the condition, the body */
    PROGRAM_IF        /* places: the byte; blocks: what runs where it is not 0, and where it is */
} program_kind;

/* Bytes that one rank sends each other of a group, and receives, one behind the other. */
typedef struct program_exchange {
    uint64_t number; /* from 1 on */
    uint32_t count;
    const uint32_t *ranks;
    const int64_t *first, *sent, *received; /* by rank of the group, in bytes */
    int64_t from_bytes, to_bytes;
} program_exchange;

typedef struct program_command program_command;
typedef struct program_block {
    program_command *commands;
    uint32_t count;
} program_block;

struct program_command {
    program_kind kind;
    uint32_t number; /* in reading order, from 0 */
    uint32_t kernel; /* PROGRAM_DISPATCH */
    uint32_t place_count;
    unsigned char byte;               /* PROGRAM_FILL */
    int64_t bytes;                    /* PROGRAM_COPY, PROGRAM_FILL, PROGRAM_TURN */
    int64_t count;                    /* PROGRAM_LOOP: its turns */
    int64_t steps;                    /* as the program's, of it and its blocks */
    const program_exchange *exchange; /* PROGRAM_EXCHANGE, PROGRAM_WAIT */
    program_place *places;
    program_block blocks[2];
};

/* Bytes that the module has with it, and that nobody writes. */
typedef struct program_constant {
    const char *section;
    int64_t bytes;
} program_constant;

typedef struct program {
    int64_t arena_bytes;
    program_constant *constants;
    uint32_t constant_count;
    const char **kernels; /* sections */
    uint32_t kernel_count;
    uint32_t command_count;
    program_block body;
    bool conditional;     /* what it runs depends on what it makes */
    sha256 meeting;       /* the same on all ranks, and no other program's */
    uint32_t rank, ranks; /* the one that it is for, of so many; 0 of 1: it exchanges nothing */
    int64_t steps;        /* what a run of it gives to a device: so many commands at most, where
                             METADATA_LIMIT stands for more, and a while counts as one turn */
} program;

/* Reads the document's "program" into m->program. */
bool program_read(struct metadata *m, const struct json_t *document, status *st);

/* Checks that the program keeps the rules, with these as the metadata of its kernels. */
bool program_check(const struct metadata *m, const struct metadata *const *kernels, status *st);
/* The part of it for donated inputs; commands have as many operands as their kernels. */
bool program_check_donations(const struct metadata *m, const struct metadata *const *kernels,
                             status *st);

static inline uint32_t program_block_count(const program_command *c) {
    return c->kind < PROGRAM_LOOP ? 0 : c->kind == PROGRAM_LOOP ? 1 : 2;
}

#endif
