/* checks_sum.c - sums and products: are there cases that prove them? */
#include <math.h>
#include <string.h>

#include "chip/matrix_unit.h"
#include "lint/lint_kernel.h"

/* Inputs and limits of a case's accumulations. */
typedef struct sums {
    const lint_case *c;
    bool can_be_exact; /* whole numbers in the inputs make whole numbers of all that is computed */
    bool product;      /* some multiply two different inputs */
    int x, y;          /* those inputs */
    double worst, limit; /* greatest sum that can come of the inputs' ranges over 2^bits */
} sums;

/* Greatest magnitude of an input's elements where they are whole numbers; INFINITY elsewhere. */
static double magnitude(const lint_case *c, int input) {
    const compiler_input *in = &c->c->inputs[input];
    if (in->kind == INPUT_INTEGERS)
        return fmax(fabs(in->a), fabs(in->b - 1));
    if (in->kind == INPUT_CONSTANT && in->a == floor(in->a))
        return fabs(in->a);
    return INFINITY;
}

/* The product of the extents along the axes. */
static double extent(const ir_module *m, ir_value value, ir_op op, const char *axes) {
    int64_t list[IR_MAX_RANK];
    uint32_t count = ir_op_ints(m, op, axes, list, IR_MAX_RANK);
    double total = 1;
    for (uint32_t i = 0; i < count; i++)
        total *= (double)ir_type_of(m, value)->dims[list[i]];
    return total;
}

/* Whole numbers up to 2^bits are exact in the accumulator: of an order that is a matrix unit's, in
 * that one's. */
static double exact_limit(const ir_module *m, ir_op op, dtype type) {
    const matrix_unit *unit = matrix_unit_find(ir_op_string(m, op, "order", ""));
    if (unit)
        return ldexp(1, matrix_unit_whole_bits(unit));
    return type == DTYPE_F64 ? 0x1p53 : 0x1p24;
}

static void note(sums *s, double sum, double limit) {
    if (isfinite(sum) && sum / limit > s->worst / s->limit) {
        s->worst = sum;
        s->limit = limit;
    }
}

static bool is_product(const ir_module *m, ir_op op) {
    const char *name = lint_op_name(m, op);
    return strcmp(name, "dot") == 0 || strcmp(name, "convolve") == 0;
}

/* Products in one sum. */
static double steps_of(const ir_module *m, ir_op op) {
    const ir_op_data *o = ir_op_get(m, op);
    bool windows = strcmp(lint_op_name(m, op), "convolve") == 0;
    return windows ? (double)ir_type_of(m, o->operands[1])->dims[0]
                   : extent(m, o->operands[0], op, "x_contract");
}

static void look(const ir_module *m, ir_op op, sums *s) {
    const ir_op_data *o = ir_op_get(m, op);
    bool dot = is_product(m, op), runs = strcmp(lint_op_name(m, op), "cumsum") == 0,
         sum = strcmp(lint_op_name(m, op), "reduce") == 0 &&
               strcmp(ir_op_string(m, op, "kind", ""), "sum") == 0;
    if (!dot && !sum && !runs)
        return;
    dtype result = ir_type_of(m, o->results[0])->element;
    int x = lint_input_of(m, o->operands[0]), y = dot ? lint_input_of(m, o->operands[1]) : x;
    bool swaps = strcmp(lint_op_name(m, op), "dot") == 0;
    if (swaps && x >= 0 && y >= 0 && x != y) {
        s->product = true;
        s->x = x;
        s->y = y;
    }
    if (x < 0 || y < 0 || !lint_type_is_float(result))
        return;
    double limit = exact_limit(m, op, result);
    if (runs)
        note(s,
             (double)ir_type_of(m, o->operands[0])->dims[ir_op_int(m, op, "axis", 0)] *
                 magnitude(s->c, x),
             limit);
    else if (dot)
        note(s, steps_of(m, op) * magnitude(s->c, x) * magnitude(s->c, y), limit);
    else
        note(s, extent(m, o->operands[0], op, "axes") * magnitude(s->c, x), limit);
}

/* Operations that make whole numbers of whole numbers. */
static bool keeps_whole(const ir_module *m, ir_op op) {
    static const char *const names[] = {
        "add",       "sub",    "mul",     "fma",    "neg",    "abs",       "maximum",
        "minimum",   "select", "compare", "dot",    "reduce", "broadcast", "reshape",
        "transpose", "slice",  "window",  "concat", "gather", "iota",      "extent",
        "and",       "or",     "xor",     "not",    "cumsum", "argsort",   "convolve"};
    const char *name = lint_op_name(m, op);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    if (strcmp(name, "constant") == 0) {
        const ir_attr_data *value = ir_attr_get(m, ir_op_attr(m, op, "value"));
        double number = dtype_load(value->element, &value->bits, 0);
        return number == floor(number);
    }
    return strcmp(name, "convert") == 0;
}

/* Moving elements does not round; computing into a narrow float does. */
static bool rounds(const ir_module *m, ir_op op) {
    const ir_op_data *o = ir_op_get(m, op);
    if (o->result_count == 0)
        return false;
    dtype type = ir_type_of(m, o->results[0])->element;
    bool moves = o->operand_count && ir_type_of(m, o->operands[0])->element == type &&
                 lint_input_of(m, o->results[0]) >= 0;
    return lint_type_is_float(type) && dtype_size(type) < 4 && !moves;
}

static bool accumulates_floats(const ir_module *m, ir_op op) {
    const char *name = lint_op_name(m, op);
    bool adds =
        is_product(m, op) || strcmp(name, "cumsum") == 0 ||
        (strcmp(name, "reduce") == 0 && strcmp(ir_op_string(m, op, "kind", ""), "sum") == 0);
    return adds && lint_type_is_float(ir_type_of(m, ir_op_get(m, op)->results[0])->element);
}

/* As the checks do it: bits are compared where every float on the way is whole. */
static bool can_be_exact(const ir_module *m) {
    bool whole = true, adds = false;
    for (ir_op op = lint_first_op(m); op; op = ir_op_get(m, op)->next) {
        whole &=
            strcmp(lint_op_name(m, op), "return") == 0 || (keeps_whole(m, op) && !rounds(m, op));
        adds |= accumulates_floats(m, op);
    }
    return whole && adds;
}

/* Floats that are whole numbers, and not all constants. */
static bool is_of_integers(const lint_case *c) {
    bool varied = false;
    for (uint32_t i = 0; i < c->signature.input_count; i++) {
        if (!lint_type_is_float(c->signature.inputs[i].type))
            continue;
        if (!isfinite(magnitude(c, (int)i)))
            return false;
        varied |= c->c->inputs[i].kind == INPUT_INTEGERS;
    }
    return varied;
}

static bool have_one_shape(const lint_case *c, int x, int y) {
    const struct compiler_buffer *a = &c->signature.inputs[x], *b = &c->signature.inputs[y];
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

/* Two inputs of different ranks never have one shape, and no case could help. */
static bool could_have_one_shape(const lint_case *c, int x, int y) {
    return c->signature.inputs[x].rank == c->signature.inputs[y].rank &&
           c->signature.inputs[x].type == c->signature.inputs[y].type;
}

void lint_check_sums(const lint_kernel *k) {
    bool exact = false, adds = false, square = false, product = false;
    const char *x = "", *y = "";
    for (size_t i = 0; i < k->case_count; i++) {
        const lint_case *c = &k->cases[i];
        sums s = {.c = c, .limit = 1};
        for (ir_op op = lint_first_op(c->primitives); op; op = ir_op_get(c->primitives, op)->next)
            look(c->primitives, op, &s);
        s.can_be_exact = can_be_exact(c->primitives);
        adds |= s.can_be_exact;
        exact |= s.can_be_exact && is_of_integers(c);
        if (s.product && could_have_one_shape(c, s.x, s.y)) {
            product = true;
            square |= have_one_shape(c, s.x, s.y);
            x = k->kernel->parameter_names[s.x];
            y = k->kernel->parameter_names[s.y];
        }
        if (s.can_be_exact && is_of_integers(c) && s.worst > s.limit)
            lint_add(k, LINT_INEXACT_INTEGERS, lint_case_span(k, c->c), c->c,
                     "sums of case %s may reach %g; whole numbers are exact up to %g", c->c->name,
                     s.worst, s.limit);
    }
    if (k->report->given)
        return; /* what else there should be is said of the cases of the source */
    if (k->kernel->dim_count == 0)
        return; /* its shapes are numbers: there is no other case */
    if (adds && !exact)
        lint_add(k, LINT_NO_EXACT_CASE, lint_kernel_span(k), NULL,
                 "%s is exact for small integers, and no case has them for all floats",
                 k->kernel->name);
    if (product && !square)
        lint_add(k, LINT_NO_SQUARE_CASE, lint_kernel_span(k), NULL,
                 "'%s' and '%s', which %s multiplies, have one shape in no case", x, y,
                 k->kernel->name);
}
