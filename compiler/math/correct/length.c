/* length.c - how long the sequences of the specified functions are: built by an emitter that
 * counts. */
#include "math/correct/build.h"
#include "math/double/build.h"

typedef struct counter {
    int operations;
    ir_value next;
} counter;

static ir_value count_op(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    counter *n = context;
    (void)op, (void)a, (void)b, (void)c;
    n->operations++;
    return n->next++;
}

static ir_value count_scale(void *context, ir_value x, ir_value t) {
    return count_op(context, MATH_OP_COUNT, x, t, 0);
}

/* Constants stand in the instructions that use them. */
static ir_value constant(counter *n) {
    return n->next++;
}

static ir_value count_f32(void *context, float value) {
    (void)value;
    return constant(context);
}

static ir_value count_i32(void *context, int32_t value) {
    (void)value;
    return constant(context);
}

static ir_value count_f64(void *context, double value) {
    (void)value;
    return constant(context);
}

static ir_value count_i64(void *context, uint64_t value) {
    (void)value;
    return constant(context);
}

static math_emit counting(counter *n) {
    return (math_emit){n, count_op, count_f32, count_i32, count_f64, count_i64, count_scale};
}

int math_length(math_set set, dtype element, math_function function) {
    counter n = {.next = 2};
    math_emit emit = counting(&n);
    if (element == DTYPE_F64)
        double_build(&emit, function, 1);
    else
        (set == MATH_CORRECT ? correct_build : math_build)(&emit, function, 1);
    return n.operations * (element == DTYPE_F64 || set == MATH_CORRECT ? 2 : 1);
}

int math_pair_length(dtype element, math_pair pair) {
    counter n = {.next = 3};
    math_emit emit = counting(&n);
    (element == DTYPE_F64 ? double_build_pair : math_build_pair)(&emit, pair, 1, 2);
    return n.operations * (element == DTYPE_F64 ? 2 : 1);
}
