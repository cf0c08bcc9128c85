/* nonfinite.h - the first operation of a kernel that made a NaN or an infinity in the outputs of a
 * run, for those who have seen one there. */
#ifndef TESSERA_NONFINITE_H
#define TESSERA_NONFINITE_H

#include "tessera/compiler.h"

typedef enum compiler_nonfinite_origin {
    NONFINITE_NONE,      /* the outputs are finite, or nobody could tell */
    NONFINITE_OPERATION, /* of the kernel: what it read there is finite, or it made a NaN of
                            infinities that the source says */
    NONFINITE_INPUT,     /* it came in with an input */
    NONFINITE_CONSTANT,  /* it is a constant of the source */
    NONFINITE_CODE,      /* the interpreter is finite there: the code alone made it */
    NONFINITE_ORIGINS
} compiler_nonfinite_origin;
enum { COMPILER_NONFINITE_OPERANDS = 4, COMPILER_NONFINITE_TURNS = 8 };
/* The values of an operand that an element is made from: one, or a range; none of an empty sum. */
typedef struct compiler_nonfinite_operand {
    int64_t count;
    double low, high;
} compiler_nonfinite_operand;
typedef struct compiler_nonfinite_turn {
    uint32_t line; /* of the loop */
    int64_t turn;  /* from 0 */
} compiler_nonfinite_turn;
typedef struct compiler_nonfinite {
    compiler_nonfinite_origin origin;
    int64_t elements; /* of all outputs, that are not finite; of the first of them: */
    uint32_t output;
    int64_t element;
    double shown;
    uint32_t input;        /* INPUT: its number */
    const char *operation; /* OPERATION, CONSTANT: "tessera.div"; static */
    const char *derived;   /* it is part of the derivative of this one; NULL: of none; static */
    uint32_t line, column; /* of the source; 0: it has none */
    double value;          /* that was made or came in; CODE: what the interpreter has */
    int rank;              /* OPERATION, INPUT: of `index`, the element of its result or of the
                              input; 0 within a combiner, which takes element by element */
    int64_t index[TENSOR_MAX_RANK];
    uint32_t operand_count; /* OPERATION */
    compiler_nonfinite_operand operands[COMPILER_NONFINITE_OPERANDS];
    uint32_t copy, copies; /* such operations of that place in the source, as calls and loops over
                              numbers are written out; and which of them it is, from 0 */
    uint32_t turn_count;   /* loops around the operation, outer before inner */
    compiler_nonfinite_turn turns[COMPILER_NONFINITE_TURNS];
} compiler_nonfinite;
const char *compiler_nonfinite_name(compiler_nonfinite_origin origin); /* "operation" */
/* Looks at the outputs of a run on these inputs, and only where one is not finite at the operations
 * on its way: the first that made a value of the first such element so, in the order of the graph,
 * as the interpreter runs them one by one. A value that nothing of that element is made from is
 * passed over: the side that a select does not take. */
bool compiler_find_nonfinite(compiler_instance *instance, const tensor *inputs,
                             const tensor *outputs, compiler_nonfinite *out, status *st);
/* Appends it in words, without a line's end. */
bool compiler_nonfinite_text(compiler_instance *instance, const compiler_nonfinite *found,
                             text *out, status *st);

#endif
