/* import_complex.c - complex numbers: two values, of the real and of the imaginary parts.
 *
 * What moves elements, or adds them, is done to each part by itself. Products are written down
 * without contraction, ac - bd and ad + bc; functions are import_complex_functions.c's. */
#include <string.h>

#include "import/stablehlo/import_complex.h"

complex_value complex_operand(const importer *im, const shlo_op *op, uint32_t i) {
    const uint32_t number = op->operands[i]->number;
    return (complex_value){im->made[number], im->imaginary[number]};
}

bool import_moves(shlo_opcode opcode) {
    static const shlo_opcode list[] = {SHLO_OP_BROADCAST,     SHLO_OP_BROADCAST_IN_DIM,
                                       SHLO_OP_CONSTANT,      SHLO_OP_CONCATENATE,
                                       SHLO_OP_GATHER,        SHLO_OP_DYNAMIC_BROADCAST_IN_DIM,
                                       SHLO_OP_DYNAMIC_SLICE, SHLO_OP_DYNAMIC_UPDATE_SLICE,
                                       SHLO_OP_PAD,           SHLO_OP_OPTIMIZATION_BARRIER,
                                       SHLO_OP_RESHAPE,       SHLO_OP_REVERSE,
                                       SHLO_OP_SELECT,        SHLO_OP_SLICE,
                                       SHLO_OP_TRANSPOSE};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == opcode)
            return true;
    return false;
}

/* Collectives that move values, and sums of them. */
static bool is_collective(const shlo_op *op) {
    const char *kind;
    switch (op->info->opcode) {
    case SHLO_OP_ALL_GATHER:
    case SHLO_OP_ALL_TO_ALL:
    case SHLO_OP_COLLECTIVE_BROADCAST:
    case SHLO_OP_COLLECTIVE_PERMUTE:
        return true;
    case SHLO_OP_ALL_REDUCE:
    case SHLO_OP_COLLECTIVE_REDUCE:
    case SHLO_OP_REDUCE_SCATTER:
        kind = import_kind_of(op->regions[0]);
        return kind && strcmp(kind, "sum") == 0;
    default:
        return false;
    }
}

/* Operations that do to each part what they do to a number. */
static bool is_by_part(shlo_opcode opcode) {
    return import_moves(opcode) || opcode == SHLO_OP_ADD || opcode == SHLO_OP_NEGATE ||
           opcode == SHLO_OP_SUBTRACT || opcode == SHLO_OP_CUSTOM_CALL;
}

bool import_in_rows(shlo_opcode opcode) {
    return opcode == SHLO_OP_CALL || opcode == SHLO_OP_COMPOSITE || opcode == SHLO_OP_CASE ||
           opcode == SHLO_OP_IF || opcode == SHLO_OP_WHILE || opcode == SHLO_OP_TUPLE ||
           opcode == SHLO_OP_REDUCE || opcode == SHLO_OP_REDUCE_WINDOW ||
           opcode == SHLO_OP_SCATTER || opcode == SHLO_OP_SORT;
}

static bool by_part(importer *im, const shlo_op *op, ir_value *results) {
    for (int part = 0; part < 2; part++) {
        im->part = part;
        if (!import_handled(im, op, results + part * (int)op->result_count))
            return false;
    }
    im->part = 0;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!import_is_complex(&op->results[i]))
            results[op->result_count + i] = 0;
    return true;
}

/* Equal in both parts; and the order by the real one, then by the other. */
static ir_value compared(importer *im, const char *predicate, complex_value x, complex_value y) {
    ir_value re = import_is(im, "eq", x.re, y.re), both = import_is(im, "eq", x.im, y.im);
    if (strcmp(predicate, "eq") == 0 || strcmp(predicate, "ne") == 0) {
        ir_value same = import_binary(im, GRAPH_AND, re, both);
        return *predicate == 'e' ? same : build_unary(&im->b, GRAPH_NOT, same);
    }
    const char strict[] = {predicate[0], 't', 0};
    return build_select(&im->b, re, import_is(im, predicate, x.im, y.im),
                        import_is(im, strict, x.re, y.re));
}

static bool compare(importer *im, const shlo_op *op, ir_value *results) {
    const char *direction = shlo_op_string(op, "comparison_direction", "");
    char predicate[3] = {0};
    for (int i = 0; i < 2 && direction[i]; i++)
        predicate[i] = (char)(direction[i] | 0x20);
    results[0] = compared(im, predicate, complex_operand(im, op, 0), complex_operand(im, op, 1));
    return true;
}

static complex_value extreme(importer *im, const char *predicate, complex_value x,
                             complex_value y) {
    ir_value first = compared(im, predicate, x, y);
    return (complex_value){build_select(&im->b, first, x.re, y.re),
                           build_select(&im->b, first, x.im, y.im)};
}

/* An end of a range, which may be one number for all. */
static complex_value end_like(importer *im, const shlo_op *op, uint32_t i, complex_value like) {
    const complex_value end = complex_operand(im, op, i);
    const ir_type_data t = *import_type_of(im, like.re);
    return (complex_value){import_spread(im, end.re, t.rank, t.dims),
                           import_spread(im, end.im, t.rank, t.dims)};
}

static complex_value clamped(importer *im, const shlo_op *op) {
    const complex_value x = complex_operand(im, op, 1);
    return extreme(im, "le", extreme(im, "ge", x, end_like(im, op, 0, x)), end_like(im, op, 2, x));
}

/* Sums of the products of parts, each in its own order; a number that is not complex has one part.
 */
static bool contraction(importer *im, const shlo_op *op, ir_value *results) {
    const complex_value x = complex_operand(im, op, 0), y = complex_operand(im, op, 1);
    const ir_value left[] = {x.re, x.im}, right[] = {y.re, y.im};
    ir_value (*of)(importer * im, const shlo_op *op, ir_value x, ir_value y) =
        op->info->opcode == SHLO_OP_CONVOLUTION ? import_convolution_of : import_dot_of;
    ir_value products[2][2] = {{0}};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            if (left[a] && right[b] && !(products[a][b] = of(im, op, left[a], right[b])))
                return false;
    results[0] = products[1][1] ? import_sub(im, products[0][0], products[1][1]) : products[0][0];
    results[1] = !products[1][0]   ? products[0][1]
                 : !products[0][1] ? products[1][0]
                                   : import_add(im, products[0][1], products[1][0]);
    return true;
}

static bool convert(importer *im, const shlo_op *op, ir_value *results) {
    complex_value x = complex_operand(im, op, 0);
    const dtype to = import_element(op->results[0].type->element);
    const bool from_complex = import_is_complex(op->operands[0]);
    if (to == DTYPE_NONE || !import_result_type(im, op, 0))
        return import_refuse(im, op, "its result is not supported");
    ir_value zero = import_like(im, x.re, 0);
    if (to == DTYPE_BOOL) {
        results[0] = import_is(im, "ne", x.re, zero); /* as any other type, of the real part */
        return true;
    }
    results[0] = build_convert(&im->b, x.re, to);
    if (import_is_complex(&op->results[0]))
        results[1] = build_convert(&im->b, from_complex ? x.im : zero, to);
    return true;
}

static bool two(ir_value *results, complex_value x) {
    results[0] = x.re;
    results[1] = x.im;
    return true;
}

static bool function(importer *im, const shlo_op *op, ir_value *results) {
    complex_value y;
    if (!complex_function(im, op->info->opcode, complex_operand(im, op, 0), &y))
        return import_refuse(im, op, "of complex numbers is not supported");
    return two(results, y);
}

/* The parts of numbers that are not complex: themselves, and 0. */
bool import_parts(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 1))
        return false;
    ir_value x = import_operand(im, op, 0);
    results[0] = op->info->opcode == SHLO_OP_IMAG ? import_like(im, x, 0) : x;
    return true;
}

/* ---- bits ---- */

/* The type with smaller elements has one axis more, the last; else the shapes are the same. */
static bool bits_fit(const shlo_type *x, const shlo_type *y) {
    const int more = shlo_element_get(x->element)->bits, less = shlo_element_get(y->element)->bits;
    if (more < less)
        return bits_fit(y, x);
    bool good = y->rank == x->rank + (more > less) && x->rank < IR_MAX_RANK &&
                y->rank < IR_MAX_RANK && (more == less || y->dims[x->rank] == more / less);
    for (uint32_t i = 0; i < x->rank && good; i++)
        good = x->dims[i] == y->dims[i];
    return good;
}

static shlo_element part_of(shlo_element e) {
    return e == SHLO_C64 ? SHLO_F32 : e == SHLO_C128 ? SHLO_F64 : e;
}

/* A complex number is its two parts as they lie in memory, the real one first. */
static bool bitcast(importer *im, const shlo_op *op, ir_value *results) {
    const shlo_type *from = op->operands[0]->type, *to = op->results[0].type;
    const complex_value x = complex_operand(im, op, 0);
    const ir_type wanted = import_result_type(im, op, 0);
    if (shlo_type_equal(from, to))
        return two(results, x);
    if (!wanted || !bits_fit(from, to))
        return import_refuse(im, op, "the last axis does not fit the sizes of the elements");
    ir_value flat = import_flat(im, x.im ? import_pair(im, x.re, x.im) : x.re);
    flat = import_bits_as(im, flat, part_of(from->element), part_of(to->element));
    ir_type_data t = *ir_type_get(im->m, wanted);
    t.dims[t.rank] = 2;
    if (!import_is_complex(&op->results[0]))
        results[0] = import_shaped(im, flat, t.rank, t.dims);
    else
        import_unpair(im, import_shaped(im, flat, t.rank + 1, t.dims), &results[0], &results[1]);
    return true;
}

/* Operations of two numbers take two complex ones. */
static bool fits(const shlo_op *op) {
    switch (op->info->opcode) {
    case SHLO_OP_CLAMP:
        return op->operand_count == 3 && import_is_complex(op->operands[0]) &&
               import_is_complex(op->operands[1]) && import_is_complex(op->operands[2]);
    case SHLO_OP_ADD:
    case SHLO_OP_SUBTRACT:
    case SHLO_OP_MULTIPLY:
    case SHLO_OP_DIVIDE:
    case SHLO_OP_MAXIMUM:
    case SHLO_OP_MINIMUM:
    case SHLO_OP_COMPARE:
    case SHLO_OP_COMPLEX:
    case SHLO_OP_POWER:
    case SHLO_OP_ATAN2:
        return op->operand_count == 2 &&
               shlo_type_equal(op->operands[0]->type, op->operands[1]->type);
    default:
        return true;
    }
}

bool import_complex_op(importer *im, const shlo_op *op, ir_value *results) {
    const shlo_opcode opcode = op->info->opcode;
    if (!fits(op))
        return import_refuse(im, op,
                             opcode == SHLO_OP_CLAMP ? "takes three complex values"
                                                     : "takes two values of one type");
    if (import_in_rows(opcode) || import_is_factor(op))
        return import_handled(im, op, results);
    if (is_by_part(opcode) || is_collective(op))
        return by_part(im, op, results);
    const bool binary = opcode == SHLO_OP_MULTIPLY || opcode == SHLO_OP_DIVIDE ||
                        opcode == SHLO_OP_MAXIMUM || opcode == SHLO_OP_MINIMUM ||
                        opcode == SHLO_OP_COMPARE || opcode == SHLO_OP_DOT_GENERAL ||
                        opcode == SHLO_OP_CONVOLUTION || opcode == SHLO_OP_COMPLEX ||
                        opcode == SHLO_OP_POWER || opcode == SHLO_OP_ATAN2;
    const uint32_t takes = opcode == SHLO_OP_CLAMP ? 3 : binary ? 2 : 1;
    if (opcode != SHLO_OP_IOTA && !import_takes(im, op, takes))
        return false;
    switch (opcode) {
    case SHLO_OP_COMPLEX:
        return two(results, (complex_value){import_operand(im, op, 0), import_operand(im, op, 1)});
    case SHLO_OP_REAL:
    case SHLO_OP_IMAG:
        results[0] =
            opcode == SHLO_OP_REAL ? complex_operand(im, op, 0).re : complex_operand(im, op, 0).im;
        return true;
    case SHLO_OP_ABS:
        results[0] = complex_magnitude(im, complex_operand(im, op, 0));
        return true;
    case SHLO_OP_IOTA:
        if (!import_iota(im, op, 0, results))
            return false;
        results[1] = import_like(im, results[0], 0);
        return true;
    case SHLO_OP_MULTIPLY:
        return two(results,
                   complex_product(im, complex_operand(im, op, 0), complex_operand(im, op, 1)));
    case SHLO_OP_DIVIDE:
        return two(results,
                   complex_quotient(im, complex_operand(im, op, 0), complex_operand(im, op, 1)));
    case SHLO_OP_MAXIMUM:
        return two(results,
                   extreme(im, "ge", complex_operand(im, op, 0), complex_operand(im, op, 1)));
    case SHLO_OP_MINIMUM:
        return two(results,
                   extreme(im, "le", complex_operand(im, op, 0), complex_operand(im, op, 1)));
    case SHLO_OP_CLAMP:
        return two(results, clamped(im, op));
    case SHLO_OP_COMPARE:
        return compare(im, op, results);
    case SHLO_OP_CONVERT:
        return convert(im, op, results);
    case SHLO_OP_DOT_GENERAL:
    case SHLO_OP_CONVOLUTION:
        return contraction(im, op, results);
    case SHLO_OP_POWER:
        return two(results,
                   complex_power(im, complex_operand(im, op, 0), complex_operand(im, op, 1)));
    case SHLO_OP_ATAN2:
        return two(results,
                   complex_atan2(im, complex_operand(im, op, 0), complex_operand(im, op, 1)));
    case SHLO_OP_FFT:
        return import_fft(im, op, 0, results);
    case SHLO_OP_BITCAST_CONVERT:
        return bitcast(im, op, results);
    default:
        return function(im, op, results);
    }
}
