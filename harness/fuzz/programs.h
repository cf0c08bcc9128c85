/* programs.h - a random program while its text is written: its values, its functions, its types. */
#ifndef TESSERA_HARNESS_FUZZ_PROGRAMS_H
#define TESSERA_HARNESS_FUZZ_PROGRAMS_H

#include "fuzz/choices.h"

/* The kinds of values, each of one shape. Conditions are read where they are made alone. */
typedef enum kind { MATRIX, ROW, NUMBER, PLACES, COUNT, KINDS, CONDITION = KINDS } kind;

enum {
    VALUES_MAX = 60,
    NAME = 24,
    STATEMENTS_MAX = 6,
    FUNCTIONS_MAX = 3,
    CARRIED_MAX = 4,
    DEPTH_MAX = 3,
    OPERATIONS_MAX = 120
};

typedef struct value {
    char name[NAME];
    kind kind;
} value;

/* The values that a block sees. */
typedef struct scope {
    value values[VALUES_MAX];
    uint32_t count;
} scope;

typedef struct function {
    kind inputs[CARRIED_MAX], outputs[CARRIED_MAX];
    uint32_t input_count, output_count;
} function;

typedef struct program {
    choices *c;
    text out; /* the kernel's block or a function's */
    char types[KINDS + 1][48];
    int64_t rows, columns;
    function functions[FUNCTIONS_MAX];
    uint32_t function_count; /* that may be called */
    uint32_t names, operations;
    int depth;
    bool has_dense[KINDS]; /* a constant tensor of this kind was used */
} program;

extern const char *const program_inputs[KINDS]; /* names of the kernel's, by kind */

/* Appends the source of the kernel in `p` and of its functions, which returns `count` outputs. */
void program_put_module(const program *p, const text *functions, const kind *outputs,
                        uint32_t count, text *out);

#endif
