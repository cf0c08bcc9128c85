/* import_element.c - operations by element: arithmetic, comparisons, conversions. */
#include <math.h>
#include <string.h>

#include "import/stablehlo/import.h"

bool import_elementwise(importer *im, const shlo_op *op, int graph, ir_value *results) {
    ir_value x = import_takes(im, op, 1) ? import_operand(im, op, 0) : 0;
    return x && (results[0] = import_build(im, op, graph, &x, 1, NULL, 0));
}

/* Sums of bools are or, products and. */
static int of_bools(int graph) {
    switch (graph) {
    case GRAPH_ADD:
    case GRAPH_MAXIMUM:
        return GRAPH_OR;
    case GRAPH_MUL:
    case GRAPH_MINIMUM:
        return GRAPH_AND;
    default:
        return graph;
    }
}

bool import_arithmetic(importer *im, const shlo_op *op, int graph, ir_value *results) {
    if (!import_takes(im, op, 2))
        return false;
    ir_value both[] = {import_operand(im, op, 0), import_operand(im, op, 1)};
    if (import_type_of(im, both[0])->element == DTYPE_BOOL)
        graph = of_bools(graph);
    return (results[0] = import_build(im, op, graph, both, 2, NULL, 0));
}

bool import_shift(importer *im, const shlo_op *op, int graph, ir_value *results) {
    if (!import_takes(im, op, 2))
        return false;
    ir_value x = import_operand(im, op, 0), y = import_operand(im, op, 1);
    const dtype t = import_type_of(im, x)->element;
    if (!dtype_is_integer(t) || dtype_integer_bits(t) < 8)
        return import_refuse(im, op, "shifts integers of 8 bits or more, not %s", dtype_name(t));
    const dtype as = op->info->opcode == SHLO_OP_SHIFT_RIGHT_ARITHMETIC ? import_signed(t)
                     : op->info->opcode == SHLO_OP_SHIFT_RIGHT_LOGICAL  ? import_unsigned(t)
                                                                        : t;
    ir_value both[] = {import_bitcast(im, x, as), import_bitcast(im, y, as)};
    ir_value shifted = import_build(im, op, graph, both, 2, NULL, 0);
    if (shifted)
        results[0] = import_bitcast(im, shifted, t);
    return shifted != 0;
}

/* ---- comparisons ---- */

ir_value import_total_order(importer *im, ir_value x) {
    const dtype as = import_signed(import_type_of(im, x)->element);
    ir_value bits = import_bitcast(im, x, as);
    ir_value last = import_like(im, bits, 8.0 * (double)dtype_size(as) - 1);
    ir_value sign = import_binary(im, GRAPH_RIGHT_SHIFT, bits, last);
    const uint64_t magnitude = (UINT64_MAX >> (64 - 8 * dtype_size(as))) >> 1;
    ir_value mask = import_binary(im, GRAPH_AND, sign, import_bits_like(im, sign, magnitude));
    return import_binary(im, GRAPH_XOR, bits, mask);
}

bool import_compare(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 2))
        return false;
    ir_value x = import_operand(im, op, 0), y = import_operand(im, op, 1);
    const char *direction = shlo_op_string(op, "comparison_direction", "");
    const char *type = shlo_op_string(op, "compare_type", "NOTYPE");
    char predicate[3] = {0};
    if (strlen(direction) != 2)
        return import_refuse(im, op, "has no direction");
    for (int i = 0; i < 2; i++)
        predicate[i] = (char)(direction[i] | 0x20);
    const dtype t = import_type_of(im, x)->element;
    if (t == DTYPE_BOOL) {
        x = build_convert(&im->b, x, DTYPE_I32);
        y = build_convert(&im->b, y, DTYPE_I32);
    } else if (strcmp(type, "TOTALORDER") == 0 && dtype_is_float(t)) {
        x = import_total_order(im, x);
        y = import_total_order(im, y);
    }
    ir_named_attr attr = {"predicate", ir_attr_string(im->m, predicate)};
    return (results[0] = import_build(im, op, GRAPH_COMPARE, (ir_value[]){x, y}, 2, &attr, 1));
}

/* A scalar where the others are tensors. */
static ir_value spread_like(importer *im, ir_value x, ir_value like) {
    const ir_type_data t = *import_type_of(im, like);
    return import_type_of(im, x)->rank == 0 ? import_spread(im, x, t.rank, t.dims) : x;
}

bool import_select(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 3))
        return false;
    ir_value x = import_operand(im, op, 1);
    ir_value three[] = {spread_like(im, import_operand(im, op, 0), x), x,
                        import_operand(im, op, 2)};
    return (results[0] = import_build(im, op, GRAPH_SELECT, three, 3, NULL, 0));
}

bool import_clamp(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 3))
        return false;
    ir_value x = import_operand(im, op, 1);
    const bool truth = import_type_of(im, x)->element == DTYPE_BOOL;
    const int most = truth ? of_bools(GRAPH_MAXIMUM) : GRAPH_MAXIMUM,
              least = truth ? of_bools(GRAPH_MINIMUM) : GRAPH_MINIMUM;
    ir_value pair[] = {spread_like(im, import_operand(im, op, 0), x), x};
    pair[1] = import_build(im, op, most, pair, 2, NULL, 0);
    pair[0] = spread_like(im, import_operand(im, op, 2), x);
    return pair[1] && (results[0] = import_build(im, op, least, pair, 2, NULL, 0));
}

/* ---- types ---- */

bool import_convert(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const ir_type wanted = import_takes(im, op, 1) ? import_result_type(im, op, 0) : 0;
    if (!wanted)
        return false;
    ir_value x = import_operand(im, op, 0);
    const dtype to = ir_type_get(im->m, wanted)->element;
    /* Bits of a float are lost where it becomes a truth value: 0.5 is true. */
    if (to == DTYPE_BOOL)
        results[0] = import_is(im, "ne", x, import_like(im, x, 0));
    else
        results[0] = build_convert(&im->b, x, to);
    return true;
}

/* Bits of an element of the source, a truth value being one, and the type that holds it here. */
typedef struct bit_type {
    shlo_element element;
    dtype type;
    int bits;
} bit_type;

static bit_type bit_type_of(shlo_element e) {
    return (bit_type){e, import_element(e), shlo_element_get(e)->bits};
}

/* Those bits as an unsigned integer of whole bytes, and the other way round. */
static ir_value to_bits(importer *im, ir_value x, const bit_type *t) {
    if (t->type == DTYPE_BOOL)
        return build_convert(&im->b, x, DTYPE_U8);
    if (t->type == DTYPE_I4)
        x = build_convert(&im->b, x, DTYPE_I8);
    x = import_bitcast(im, x, import_unsigned(t->type));
    return t->bits < 8 ? import_binary(im, GRAPH_AND, x,
                                       import_bits_like(im, x, ((uint64_t)1 << t->bits) - 1))
                       : x;
}

static ir_value from_bits(importer *im, ir_value x, const bit_type *t) {
    if (t->type == DTYPE_BOOL) {
        x = import_binary(im, GRAPH_AND, x, import_bits_like(im, x, 1));
        return import_is(im, "ne", x, import_like(im, x, 0));
    }
    if (t->type == DTYPE_I4)
        return build_convert(&im->b, import_bitcast(im, x, DTYPE_I8), DTYPE_I4);
    return import_small_wrapped(im, import_bitcast(im, x, t->type), t->element);
}

/* Places of the parts of a number along an axis, in bits from the lowest on, as unsigned integers.
 */
static ir_value bit_places(importer *im, int rank, const ir_dim *dims, int axis, int bits,
                           dtype wide) {
    ir_value places = build_iota(&im->b, rank, dims, axis);
    places = import_mul(im, places, import_like(im, places, bits));
    return build_convert(&im->b, places, wide);
}

/* Between sizes the smaller type has one axis more, the last, from the lowest bits on. */
static ir_value split_bits(importer *im, ir_value x, const bit_type *from, const bit_type *to) {
    x = to_bits(im, x, from);
    const ir_type_data t = *import_type_of(im, x);
    const dtype narrow = to->bits < 8 ? DTYPE_U8 : import_unsigned(to->type);
    ir_dim dims[IR_MAX_RANK];
    int64_t axes[IR_MAX_RANK];
    memcpy(dims, t.dims, sizeof dims);
    dims[t.rank] = from->bits / to->bits;
    for (int i = 0; i < t.rank; i++)
        axes[i] = i;
    x = build_broadcast(&im->b, x, t.rank + 1, dims, axes);
    ir_value places = bit_places(im, t.rank + 1, dims, t.rank, to->bits, t.element);
    x = import_binary(im, GRAPH_RIGHT_SHIFT, x, places);
    return from_bits(im, build_convert(&im->b, x, narrow), to);
}

static ir_value join_bits(importer *im, ir_value x, const bit_type *from, const bit_type *to) {
    const dtype wide = to->bits < 8 ? DTYPE_U8 : import_unsigned(to->type);
    x = build_convert(&im->b, to_bits(im, x, from), wide);
    const ir_type_data t = *import_type_of(im, x);
    const int axis = t.rank - 1;
    x = import_binary(im, GRAPH_LEFT_SHIFT, x,
                      bit_places(im, t.rank, t.dims, axis, from->bits, wide));
    ir_value whole = 0;
    for (int64_t i = 0; i < t.dims[axis]; i++) {
        ir_value part = build_slice_axis(&im->b, x, axis, i, i + 1);
        part = build_reshape(&im->b, part, axis, t.dims);
        whole = whole ? import_binary(im, GRAPH_OR, whole, part) : part;
    }
    return from_bits(im, whole, to);
}

static ir_value same_bits(importer *im, ir_value x, const bit_type *from, const bit_type *to) {
    const dtype whole = to->bits < 8 ? DTYPE_U8 : import_unsigned(to->type);
    return from_bits(im, import_bitcast(im, to_bits(im, x, from), whole), to);
}

ir_value import_bits_as(importer *im, ir_value x, shlo_element from, shlo_element to) {
    const bit_type own = bit_type_of(from), wanted = bit_type_of(to);
    const ir_dim count = import_type_of(im, x)->dims[0], parts = wanted.bits / own.bits;
    if (own.bits == wanted.bits)
        return from == to ? x : same_bits(im, x, &own, &wanted);
    if (own.bits > wanted.bits)
        return import_flat(im, split_bits(im, x, &own, &wanted));
    return join_bits(im, import_shaped(im, x, 2, (ir_dim[]){count / parts, parts}), &own, &wanted);
}

bool import_bitcast_convert(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const ir_type wanted = import_takes(im, op, 1) ? import_result_type(im, op, 0) : 0;
    if (!wanted)
        return false;
    ir_value x = import_operand(im, op, 0);
    const bit_type from = bit_type_of(op->operands[0]->type->element),
                   to = bit_type_of(op->results[0].type->element);
    const ir_type_data own = *import_type_of(im, x), *type = ir_type_get(im->m, wanted);
    if (from.element == to.element && own.rank == type->rank)
        results[0] = x;
    else if (from.bits > to.bits && type->rank == own.rank + 1 && type->rank <= IR_MAX_RANK)
        results[0] = split_bits(im, x, &from, &to);
    else if (from.bits < to.bits && own.rank > 0 && own.dims[own.rank - 1] == to.bits / from.bits)
        results[0] = join_bits(im, x, &from, &to);
    else if (from.bits == to.bits) /* by way of integers where both are floats */
        results[0] = same_bits(im, x, &from, &to);
    else
        return import_refuse(im, op, "the last axis does not fit the sizes of the elements");
    return true;
}

/* ---- signs and roundings ---- */

bool import_sign(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    ir_value x = import_takes(im, op, 1) ? import_operand(im, op, 0) : 0;
    if (!x)
        return false;
    ir_value zero = import_like(im, x, 0), one = import_like(im, x, 1);
    ir_value up = build_select(&im->b, import_is(im, "gt", x, zero), one, x);
    const dtype t = import_type_of(im, x)->element;
    if (!dtype_is_unsigned(t))
        up = build_select(&im->b, import_is(im, "lt", x, zero), import_like(im, x, -1), up);
    results[0] = up; /* 0, -0 and NaN stay what they are */
    return true;
}

bool import_is_finite(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    ir_value x = import_takes(im, op, 1) ? import_operand(im, op, 0) : 0;
    if (!x)
        return false;
    const dtype_format *f = dtype_format_of(import_type_of(im, x)->element);
    if (!f)
        return import_refuse(im, op, "needs floats");
    ir_value greatest = import_bits_like(im, x, f->greatest);
    results[0] = import_is(im, "le", build_unary(&im->b, GRAPH_ABS, x), greatest);
    return true;
}

/* To the nearest integer, from the middle away from zero. */
bool import_round_afz(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    ir_value x = import_takes(im, op, 1) ? import_operand(im, op, 0) : 0;
    ir_value whole = x ? import_build(im, op, GRAPH_TRUNC, &x, 1, NULL, 0) : 0;
    if (!whole)
        return false;
    ir_value zero = import_like(im, x, 0);
    ir_value step = build_select(&im->b, import_is(im, "lt", x, zero), import_like(im, x, -1),
                                 import_like(im, x, 1));
    ir_value rest = build_unary(&im->b, GRAPH_ABS, import_sub(im, x, whole));
    ir_value far = import_is(im, "ge", rest, import_like(im, x, 0.5));
    results[0] = build_select(&im->b, far, import_add(im, whole, step), whole);
    return true;
}
