/* opinion.h - inside of a second opinion (tessera/opinion.h): the walk over a kernel's operations,
 * and what each kind of them is held to. */
#ifndef TESSERA_OPINION_OPINION_H
#define TESSERA_OPINION_OPINION_H

#include "ops/graph.h"
#include "tessera/opinion.h"

typedef enum opinion_verdict { OPINION_NONE, OPINION_RIGHT, OPINION_WRONG } opinion_verdict;

typedef struct opinion {
    compiler_opinion *out;
    int64_t work;                           /* elements that may still be computed */
    bool had[COMPILER_OPINION_PASSES];      /* by opinion_pass: it had operations, .. */
    bool unjudged[COMPILER_OPINION_PASSES]; /* .. some of which were not judged */
    bool open;                              /* something could not be evaluated at all */
    status *st;                             /* of what is at hand; nobody else's */
} opinion;

/* An operation with the values that it takes and makes. */
typedef struct opinion_case {
    opinion *o;
    const ir_module *m;
    ir_op op;
    const tensor *operands, *results;
} opinion_case;

opinion_verdict opinion_of_derivative(const opinion_case *c);
opinion_verdict opinion_of_batch(const opinion_case *c);
opinion_verdict opinion_of_shard(const opinion_case *c);
opinion_verdict opinion_of_composite(const opinion_case *c);
/* As opinion_of_derivative, of kernels that are the function and its derivative: they take and make
 * what the operation does, or all of it that several shards have. */
opinion_verdict opinion_of_slope(const opinion_case *c, compiler_instance *function,
                                 compiler_instance *derivative);
/* The operations below a derivative, each by itself. False: *wrong is. */
bool opinion_pieces(opinion *o, const ir_module *m, ir_op derivative, ir_op *wrong);

/* The operations of a block, and an operation alone, as kernels. `widen`: inputs of narrow floats
 * come as f32. Owned (compiler_instance_free). */
typedef struct opinion_view {
    bool widen;
    const ir_value *held; /* of the operations' results: they come in behind the arguments */
    uint32_t held_count;
    const ir_value *outputs; /* NULL: those of the block */
    uint32_t output_count;
} opinion_view;
compiler_instance *opinion_function(const ir_module *m, ir_block block, const opinion_view *view);
compiler_instance *opinion_operation(const ir_module *m, ir_op op, bool widen);

/* Fills in what a block of the operation takes in its first turn, or for the first part, of its
 * operands, and which block that is; false: none runs. */
bool opinion_first_turn(const ir_module *m, ir_op op, const tensor *operands, ir_block *block,
                        tensor *out, status *st);

/* A kernel with so many inputs and outputs, empty: its inputs are the arguments of the builder's
 * block; and what it becomes. Owned (compiler_instance_free). */
ir_builder opinion_begin(const ir_module *m, uint32_t inputs, uint32_t outputs);
compiler_instance *opinion_end(ir_builder *b, const ir_value *results, uint32_t count);

/* Counts the results that such a kernel has. */
uint32_t opinion_results(const compiler_instance *instance);
/* Its outputs, which the call initialises: as the interpreter has them; or in f64, as if only that
 * overflowed. False: they cannot be had, or there is no time. */
bool opinion_interpret(opinion *o, compiler_instance *instance, const tensor *inputs, tensor *out);
bool opinion_reference(opinion *o, compiler_instance *instance, const tensor *inputs, tensor *out);

/* Part number `at` along axis 0. */
bool opinion_part(const tensor *from, int64_t at, tensor *to, status *st);
/* Its values as f64, owned by the caller (free). */
double *opinion_numbers(const tensor *t);

#endif
