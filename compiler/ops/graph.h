/* graph.h - Graph IR: opcodes and what an operation means, from graph.def. */
#ifndef TESSERA_OPS_GRAPH_H
#define TESSERA_OPS_GRAPH_H

#include "ir/dim.h"
#include "ir/ir.h"
#include "ir/opset.h"

typedef enum graph_opcode {
#define G(ENUM, ...) GRAPH_##ENUM,
#include "ops/graph.def"
    GRAPH_OP_COUNT
} graph_opcode;

typedef enum graph_class {
    GRAPH_CLASS_KERNEL,
    GRAPH_CLASS_RETURN,
    GRAPH_CLASS_GENERATOR,
    GRAPH_CLASS_STORED,
    GRAPH_CLASS_ELEMENTWISE,
    GRAPH_CLASS_MOVE,
    GRAPH_CLASS_REDUCE,
    GRAPH_CLASS_DOT,
    GRAPH_CLASS_SCAN,
    GRAPH_CLASS_CONTRACT,
    GRAPH_CLASS_FOLD,
    GRAPH_CLASS_TILES,
    GRAPH_CLASS_TILE,
    GRAPH_CLASS_COMPOSITE,
    GRAPH_CLASS_FUNCTION,
    GRAPH_CLASS_CALL,
    GRAPH_CLASS_BRANCH,
    GRAPH_CLASS_LOOP,
    GRAPH_CLASS_COMBINE,
    GRAPH_CLASS_TRANSFORM,
    GRAPH_CLASS_RULED,
    GRAPH_CLASS_COLLECTIVE
} graph_class;

typedef enum graph_effects {
    GRAPH_EFFECTS_PURE,
    GRAPH_EFFECTS_ENDS,
    GRAPH_EFFECTS_HOLDS,
    GRAPH_EFFECTS_SENDS
} graph_effects;

graph_class graph_op_class(int opcode);
/* Equal ones are one, and one that nobody uses is none. */
bool graph_op_is_pure(int opcode);
int graph_op_flops(int opcode);         /* a result element, ELEMENTWISE only */
bool graph_op_is_specified(int opcode); /* exp, tanh, ...: one sequence for every backend */
/* Type that a sum or dot was told to accumulate in; DTYPE_NONE: what its type does by itself. */
dtype graph_accumulate_type(const ir_module *m, ir_op op);
/* False for attributes that the compiler sets and no call in the language takes: an accumulator is
 * a policy of the operands' types, and an id is given by a pass. */
bool graph_attr_is_argument(const char *name);
const op_table *graph_op_table(void);

/* Faults that a rule finds. */
typedef enum graph_misfit {
    MISFIT_ARGUMENT,    /* the value of an attribute */
    MISFIT_AXIS,        /* an axis that an operand does not have */
    MISFIT_ELEMENT,     /* the element type of an operand */
    MISFIT_TYPES,       /* element types of operands that differ */
    MISFIT_ACCUMULATOR, /* the type in which a sum is taken */
    MISFIT_ORDER,       /* an order that is not defined for these operands */
    MISFIT_UNIT,        /* a matrix unit that does not multiply them */
    MISFIT_SHAPE,       /* shapes of operands */
    MISFIT_RANK,        /* too many axes of the result */
    MISFIT_DIMENSION,   /* a dimension of the result, negative or too large */
    MISFIT_SIZE,        /* too many elements of the result */
    MISFIT_COUNT
} graph_misfit;

/* Shape and type inference: operands and attributes in, result types or a message out. Used by the
 * checker, the builders and the verifier, so a shape rule exists once. */
typedef struct graph_infer_query {
    ir_module *m;
    int opcode;
    const ir_type *operands;
    uint32_t operand_count;
    const ir_named_attr *attrs;
    uint32_t attr_count;
    /* out */
    ir_type results[4];
    uint32_t result_count;
    char error[512]; /* what does not fit, with the shapes in it */
    graph_misfit misfit;
    int blamed[2]; /* operands that disagree, -1 = none */
} graph_infer_query;
bool graph_infer(graph_infer_query *q);
/* Elements of a shape of numbers, INT64_MAX where they are more than that; -1: it has symbols. */
int64_t graph_elements(int rank, const ir_dim *dims);

/* Can sums of elements of this type be accumulated in that one? Never in one of lower precision. */
bool graph_accumulates(dtype element, dtype accumulator);
/* In words, for messages: "f32 and f64". */
const char *graph_accumulators(dtype element);
/* Could a conversion overflow, so that saturating changes it? Else *why. */
bool graph_can_saturate(dtype from, dtype to, const char **why);

/* Builds one op with inferred result types. Where the rules refuse it (dimensions that are too
 * large only here, formulas of them that are too long) the module has failed (ir_failure). */
ir_op graph_build(ir_builder *b, int opcode, const ir_value *operands, uint32_t operand_count,
                  const ir_named_attr *attrs, uint32_t attr_count);

/* For each value: where nothing that is made of it can see its elements at or past a count of their
 * row (along the last axis), the i32 counts; 0: all can be seen. The caller frees it. */
ir_value *graph_hidden_counts(const ir_module *m);

/* Work of a static graph of primitives: floating-point operations (masked work left out) and bytes
 * that must move (inputs read once, outputs written once). */
typedef struct graph_cost {
    uint64_t flops, bytes;
} graph_cost;
graph_cost graph_primitives_cost(ir_module *m);

#endif
