/* function.h - a new function made of operations of a block, and the call in their place. */
#ifndef TESSERA_PROGRAM_FUNCTION_H
#define TESSERA_PROGRAM_FUNCTION_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/ir.h"

typedef VEC(ir_value) value_list;
typedef VEC(ir_op) op_list;

/* The functions of a module that were made so far, and room to make one in: nothing is allocated or
 * cleared for the whole module each time. */
typedef struct functions {
    ir_module *m;
    map by_identity; /* the function, by its hash as text */
    int count;
    bool *member, *input; /* by operation, by value; false between two functions */
    ir_value *copies;     /* by value; 0 between two functions */
    size_t operations, values;
} functions;

/* One function in the making: the operations that compute `results`, back to values for which
 * `is_input` says so, and to arguments of the block. */
typedef struct function_request {
    ir_block block;
    value_list results;
    bool (*is_input)(ir_value v, void *context);
    void *context;
    const ir_value *now; /* by value: what stands for it in the block; 0: itself */
    bool in_order;       /* operations stay in the block's order: they are cut into groups yet */
} function_request;

void functions_init(functions *f, ir_module *m);
void functions_release(functions *f);
/* Builds the call before `b->before`. Equal functions are one. */
ir_op functions_call(functions *f, const function_request *r, ir_builder *b);
/* The call of a function that returns its input; its result. */
ir_value functions_call_identity(functions *f, ir_value v, ir_builder *b);

#endif
