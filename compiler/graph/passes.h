/* passes.h - the passes of Graph IR, in the order in which the pipeline runs them.
 *
 * Each changes the module in place and returns false with a status on failure. All are about
 * meaning only: none that runs under strict changes a bit. */
#ifndef TESSERA_GRAPH_PASSES_H
#define TESSERA_GRAPH_PASSES_H

#include "ir/dim.h"
#include "ir/ir.h"

/* The operations of functions stand in the place of calls, and functions are gone. */
bool graph_inline(ir_module *m, status *st);
/* Every dimension becomes a number; slices are checked against the shapes that result. */
bool graph_specialize(ir_module *m, ir_bindings dims, status *st);
/* Operations on whole tensors stand in the place of kernels of tiles that are called: their
 * instances joined, or written out one by one. */
bool graph_called_tiles(ir_module *m, status *st);
/* A kernel of tiles becomes one of whole tensors, where its program instances do the same to the
 * tiles of a grid; else it stays as it is. */
void graph_join_tiles(ir_module *m);
/* A kernel of tiles is written out, program instance by program instance: with it every value is a
 * tensor. Other kernels stay as they are. */
bool graph_expand_tiles(ir_module *m, status *st);
/* Composites become their primitives; all, or but for some (ops/build.h). */
bool graph_decompose_all(ir_module *m, status *st);
struct graph_kept;
bool graph_decompose_but(ir_module *m, const struct graph_kept *kept, status *st);
/* Combiners (ops/combine.h) become loops over whole tensors: of dimensions that are numbers. */
bool graph_expand_combiners(ir_module *m, status *st);
/* Element-wise operations, reductions and dots on f16 and bf16 become f32 operations between
 * conversions. */
bool graph_widen(ir_module *m, status *st);
/* Reductions and dots get exactly one reduced or contracted axis. */
bool graph_normalize(ir_module *m, status *st);
/* One row for each of many heads by a factor that few of them have, repeated for the others,
 * becomes many rows for each of the few. */
bool graph_share_factors(ir_module *m, status *st);
/* The workers of a target, to tell which products are too little for them. */
typedef struct chunk_split {
    int64_t workers; /* threads of a CPU, or units of a chip */
    int64_t columns; /* of a workgroup of a chip; 0: a CPU */
} chunk_split;

/* Products whose chunks are better computed at once become a product for each chunk, and additions
 * of these in order: of few rows where threads of a CPU would read short runs of memory, and of
 * fewer workgroups than half of a chip's units. Likewise long sums of fewer rows than workers. */
bool graph_split_chunks(ir_module *m, const chunk_split *split, status *st);
/* Reshapes of what a reduction takes go to what that is computed of, and sums and transpositions of
 * concatenations to the pieces. */
bool graph_sink_moves(ir_module *m, status *st);
/* Equal operations are computed once, results that nobody uses not at all, and trivial data
 * movement vanishes. */
bool graph_simplify(ir_module *m, status *st);
/* A text that operations with one result share where they compute the same of the same operands;
 * `same`: by value what stands for an operand, NULL: itself. The ids of two equal sums differ; the
 * text has none. */
void graph_op_key(const ir_module *m, ir_op op, const ir_value *same, text *key);
/* A loop of derivatives that goes back over the turns of another computes none of their values
 * again that are more than arithmetic: the loop before it keeps them. */
bool graph_keep_turns(ir_module *m, status *st);

/* Large values between products, such as the probabilities of attention's backward, are made of
 * some rows at a time, in loops. Are there such, in a graph of numbers? */
bool graph_stream_rows(ir_module *m, status *st);
bool graph_has_streams(const ir_module *m);

/* Products that are only added to something become fma: other bits, for profiles that allow it. */
bool graph_contract(ir_module *m, status *st);
/* The number that a value repeats, if that is known and a power of two; 0: it is none. */
ir_value graph_power_of_two(const ir_module *m, ir_value v);
/* The same of a kernel of tiles that stays one. */
void graph_contract_tiles(ir_module *m, ir_op tiles);
/* Composites inside of an operation become their primitives, but for those with that opcode. */
void graph_decompose_within(ir_module *m, ir_op around, int kept);

/* False where the kernel has no formula, so that none of this can be asked of it. */
bool graph_require_formula(const ir_module *m, status *st);
/* The same, and whether code can be made of it: not of an order that is written out as a tree. */
bool graph_require_code(const ir_module *m, bool (*adds_as)(const void *target, const char *order),
                        const void *target, status *st);

/* The kernel can be one kernel of a target: it has no branches and loops. */
bool graph_require_kernel(const ir_module *m, status *st);

/* Wrong on purpose: one operation gets its operands the wrong way round. False (STATUS_UNAVAILABLE)
 * where the kernel has no such operation. */
bool graph_swap_operands(ir_module *m, status *st);

#endif
