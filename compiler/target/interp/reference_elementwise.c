/* reference_elementwise.c - how errors of operands reach the result, operation by operation.
 *
 * Sums add them, products scale them, monotone functions are taken at both ends of the interval;
 * then the operation's own rounding comes on top. */
#include <math.h>
#include <string.h>

#include "target/interp/reference_enclosure.h"
#include "target/interp/reference_plain.h"

/* A specified function rounds to within 1 ULP, an approximate one to within 2: that is 4 roundoffs.
 * A chip's exponential is within 2 of the rounded result. */
static const double function_roundings = 4, exponential_roundings = 5;
/* Those of f64 are compared with libm's, which may be off by 2 ULP, and our logistic of them by 3.
 */
static const double wide_roundings = 8;

/* ---- arithmetic ---- */

static bounded multiply(bounded x, bounded y) {
    double bound = reference_product(fabs(x.value), y.bound) +
                   reference_product(fabs(y.value), x.bound) + reference_product(x.bound, y.bound);
    return (bounded){x.value * y.value, bound};
}

static bounded divide(bounded x, bounded y) {
    double q = x.value / y.value;
    bool sign_unknown = y.value == 0 && x.bound > 0 && fabs(x.value) <= x.bound;
    if (isinf(x.bound) || isinf(y.bound) || (y.bound > 0 && fabs(y.value) <= y.bound) ||
        sign_unknown)
        return (bounded){q, HUGE_VAL};
    if (isinf(q) && x.bound + y.bound > 0 && !isinf(x.value)) /* beyond f64, or nearly */
        return (bounded){q, HUGE_VAL};
    if (isinf(q) || isnan(q))
        return (bounded){q, 0};
    return (bounded){q,
                     (x.bound + reference_product(fabs(q), y.bound)) / (fabs(y.value) - y.bound)};
}

static bounded extreme(bounded x, bounded y, double sign) {
    double bound = fmax(x.bound, y.bound), a = sign * x.value, b = sign * y.value;
    if (isnan(a) || isnan(b))
        return (bounded){NAN, bound};
    return (bounded){sign * (a > b || (a == b && !signbit(a)) ? a : b), bound};
}

/* ---- functions ---- */

double reference_function(int opcode, double x) {
    switch (opcode) {
    case GRAPH_SQRT:
        return sqrt(x);
    case GRAPH_FLOOR:
        return floor(x);
    case GRAPH_CEIL:
        return ceil(x);
    case GRAPH_ROUND:
        return nearbyint(x);
    case GRAPH_TRUNC:
        return trunc(x);
    case GRAPH_EXP:
        return exp(x);
    case GRAPH_EXP2:
        return exp2(x);
    case GRAPH_EXPM1:
        return expm1(x);
    case GRAPH_LOG:
        return log(x);
    case GRAPH_LOG2:
        return log2(x);
    case GRAPH_LOG1P:
        return log1p(x);
    case GRAPH_TANH:
        return tanh(x);
    case GRAPH_ERF:
        return erf(x);
    case GRAPH_LOGISTIC:
        return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
    case GRAPH_RSQRT:
        return 1 / sqrt(x);
    case GRAPH_SIN:
        return sin(x);
    case GRAPH_COS:
        return cos(x);
    default:
        return NAN; /* roundings() has refused it */
    }
}

/* The product is rounded once, and log2 e to f32 is off by less than a quarter of a rounding. */
double reference_operand_error(int opcode, dtype type, double x) {
    return opcode == GRAPH_EXP && type != DTYPE_F64 && isfinite(x)
               ? 1.25 * reference_roundoff(DTYPE_F32) * fabs(x)
               : 0;
}

double reference_flushed_below(int opcode, dtype type) {
    return type != DTYPE_F64 && (opcode == GRAPH_EXP || opcode == GRAPH_EXP2) ? 0x1p-126 : 0;
}

static bounded flushed(int opcode, dtype type, bounded r) {
    double least = reference_flushed_below(opcode, type);
    return r.value - r.bound < least ? (bounded){r.value, r.bound + least} : r;
}

/* The slopes of sine and cosine are at most 1, and their values at most 2 apart. */
static bounded wave(int opcode, bounded x) {
    double value = reference_function(opcode, x.value);
    if (x.bound == 0 || isnan(x.value) || isinf(x.bound))
        return (bounded){value, isinf(x.bound) ? HUGE_VAL : 0};
    return (bounded){value, fmin(x.bound, 2) + 0x1p-50 * fabs(value)};
}

double reference_begin(int opcode) {
    switch (opcode) {
    case GRAPH_SQRT:
    case GRAPH_LOG:
    case GRAPH_LOG2:
    case GRAPH_RSQRT:
        return 0;
    case GRAPH_LOG1P:
        return -1;
    default:
        return -HUGE_VAL;
    }
}

/* Monotone where it is defined: it is furthest away at one end. */
static bounded monotone(int opcode, dtype type, bounded x) {
    x.bound += reference_operand_error(opcode, type, x.value);
    double value = reference_function(opcode, x.value), low = x.value - x.bound,
           high = x.value + x.bound;
    double begin = reference_begin(opcode);
    if (x.bound == 0 || isnan(x.value))
        return (bounded){value, isinf(x.bound) ? HUGE_VAL : 0};
    if (high < begin)
        return (bounded){value, 0};
    if (low < begin) /* a number, an infinity or a NaN */
        return (bounded){value, HUGE_VAL};
    double bound = fmax(fabs(value - reference_function(opcode, low)),
                        fabs(value - reference_function(opcode, high)));
    bool known =
        !isnan(reference_function(opcode, low)) && !isnan(reference_function(opcode, high));
    return (bounded){value, known ? bound + 0x1p-50 * fabs(value) : HUGE_VAL};
}

/* Monotone in the base from 0 on, and in the exponent: furthest away at a corner. A base that may
 * be negative has powers by whole numbers alone, and those turn at 0. */
static bounded power(bounded x, bounded y) {
    double value = pow(x.value, y.value), bound = 0, low = x.value - x.bound;
    bool whole = y.bound == 0 && y.value == nearbyint(y.value);
    bool through_zero = low <= 0 && x.value + x.bound >= 0;
    if (isinf(x.bound) || isinf(y.bound))
        return (bounded){value, HUGE_VAL};
    if (x.bound == 0 && y.bound == 0)
        return (bounded){value, 0};
    if (isnan(value) || (low <= 0 && !whole) || (through_zero && y.value < 0))
        return (bounded){value, HUGE_VAL};
    for (int corner = 0; corner < 4; corner++) {
        double far = pow(x.value + (corner & 1 ? x.bound : -x.bound),
                         y.value + (corner & 2 ? y.bound : -y.bound));
        bound = fmax(bound, fabs(far - value));
        if (isnan(far) || isnan(far - value))
            return (bounded){value, HUGE_VAL};
    }
    if (through_zero)
        bound = fmax(bound, fabs(pow(0, y.value) - value));
    return (bounded){value, bound + 0x1p-50 * fabs(value)};
}

/* A point that is r away from the origin, and e from where it should be, is seen at most asin(e/r)
 * aside; behind the origin the angle jumps by a whole turn. */
static bounded direction(bounded y, bounded x) {
    const double turn = 0x1.921fb54442d19p2;
    double value = atan2(y.value, x.value), e = hypot(x.bound, y.bound);
    double r = hypot(x.value, y.value);
    if (isinf(x.bound) || isinf(y.bound))
        return (bounded){value, HUGE_VAL};
    if (e == 0 || isnan(value))
        return (bounded){value, 0};
    bool jumps = x.value - x.bound <= 0 && fabs(y.value) <= y.bound;
    if (jumps || !(e < r * (1 - 0x1p-40)))
        return (bounded){value, turn};
    return (bounded){value, asin(e / r) * (1 + 0x1p-20) + 0x1p-50 * fabs(value)};
}

static bounded operate(int opcode, dtype type, const bounded *x) {
    switch (opcode) {
    case GRAPH_NEG:
        return (bounded){-x[0].value, x[0].bound};
    case GRAPH_ABS:
        return (bounded){fabs(x[0].value), x[0].bound};
    case GRAPH_ADD:
        return (bounded){x[0].value + x[1].value, x[0].bound + x[1].bound};
    case GRAPH_SUB:
        return (bounded){x[0].value - x[1].value, x[0].bound + x[1].bound};
    case GRAPH_MUL:
        return multiply(x[0], x[1]);
    case GRAPH_DIV:
        return divide(x[0], x[1]);
    case GRAPH_MAXIMUM:
        return extreme(x[0], x[1], 1);
    case GRAPH_MINIMUM:
        return extreme(x[0], x[1], -1);
    case GRAPH_SIN:
    case GRAPH_COS:
        return wave(opcode, x[0]);
    case GRAPH_POW:
        return power(x[0], x[1]);
    case GRAPH_ATAN2:
        return direction(x[0], x[1]);
    default:
        return monotone(opcode, type, x[0]);
    }
}

/* Is it beyond the type, or could a rounding bring it there? */
static bool may_overflow(bounded x, dtype type) {
    double reach = fabs(x.value) + x.bound;
    double limit = dtype_format_of(type)->largest;
    return !(reach + reference_roundoff(type) * reach <= limit);
}

/* The product may be rounded too, to the type in which is computed. Then it may overflow where the
 * sum does not: only where the sum does so with the product's sign both ways are one. */
static bounded fused(const bounded *x, dtype type) {
    dtype wide = type == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    bounded product = reference_settled(multiply(x[0], x[1]));
    bool finite = !isinf(x[0].value) && !isinf(x[1].value) && !isnan(product.value);
    bool over = finite && may_overflow(product, wide);
    if (finite && !over)
        product = reference_rounded(product, wide, 1);
    bounded sum = {product.value + x[2].value, product.bound + x[2].bound};
    bool alike = !isnan(sum.value) && !isinf(sum.value) && sum.value * product.value > 0 &&
                 fabs(sum.value) - sum.bound > dtype_format_of(wide)->largest * (1 + 0x1p-20);
    return over && !alike ? (bounded){sum.value, HUGE_VAL} : sum;
}

/* -1: not an operation on floats that is known here. */
static double roundings(int opcode, dtype type) {
    if (graph_op_is_specified(opcode) && type == DTYPE_F64)
        return wide_roundings;
    if (opcode == GRAPH_EXP || opcode == GRAPH_EXP2)
        return exponential_roundings;
    if (graph_op_is_specified(opcode))
        return function_roundings;
    switch (opcode) {
    case GRAPH_NEG:
    case GRAPH_ABS:
    case GRAPH_MAXIMUM:
    case GRAPH_MINIMUM:
    case GRAPH_FLOOR:
    case GRAPH_CEIL:
    case GRAPH_ROUND:
    case GRAPH_TRUNC:
        return 0;
    case GRAPH_SQRT:
    case GRAPH_ADD:
    case GRAPH_SUB:
    case GRAPH_MUL:
    case GRAPH_DIV:
    case GRAPH_FMA:
        return 1;
    default:
        return -1;
    }
}

static double *numbers(const tensor *t) {
    return t->data;
}

static bounded element(const reference_value *v, int64_t i) {
    return (bounded){numbers(&v->value)[i], numbers(&v->bound)[i]};
}

static void put(reference_value *v, int64_t i, bounded x) {
    numbers(&v->value)[i] = x.value;
    numbers(&v->bound)[i] = x.bound;
}

/* 1^NaN and NaN^0 are 1: what stands beside the NaN decides, where that is known. */
static bounded power_of_nan(bounded x, bounded y) {
    bounded number = isnan(x.value) ? y : x;
    return (bounded){pow(x.value, y.value), number.bound > 0 ? HUGE_VAL : 0};
}

/* Settles operands that may be anything: anything may come of them; only a NaN stays one. */
static bool settle(const bounded *x, uint32_t count, bounded *out) {
    bool unknown = false;
    for (uint32_t k = 0; k < count; k++) {
        if (reference_is_nan(x[k])) {
            *out = (bounded){NAN, 0};
            return true;
        }
        unknown |= isinf(x[k].bound);
    }
    if (unknown)
        out->bound = HUGE_VAL;
    return unknown;
}

/* Is this a product that a sum takes in? Contracted, it does not overflow by itself. */
static bool feeds_sum(const reference_step *s) {
    const ir_op_data *d = ir_op_get(s->m, s->op);
    if (s->opcode != GRAPH_MUL || (s->type != DTYPE_F32 && s->type != DTYPE_F64))
        return false;
    for (ir_op op = d->next; op; op = ir_op_get(s->m, op)->next) {
        const ir_op_data *user = ir_op_get(s->m, op);
        bool sums = user->opcode == GRAPH_ADD || user->opcode == GRAPH_SUB;
        for (uint32_t i = 0; sums && i < user->operand_count; i++)
            if (user->operands[i] == d->results[0])
                return true;
    }
    return false;
}

static bounded one(const reference_step *s, const bounded *x, double own, bool contracted) {
    if (s->opcode == GRAPH_POW && (reference_is_nan(x[0]) || reference_is_nan(x[1])))
        return power_of_nan(x[0], x[1]);
    bounded r = s->opcode == GRAPH_FMA ? fused(x, s->type) : operate(s->opcode, s->type, x);
    if (settle(x, s->in_count, &r))
        return r;
    bool finite = !isinf(x[0].value) && !isinf(x[1].value) && !isnan(r.value);
    if (contracted && finite && may_overflow(r, s->type))
        return (bounded){r.value, HUGE_VAL};
    r = reference_settled(r);
    return own > 0 ? flushed(s->opcode, s->type, reference_rounded(r, s->type, own)) : r;
}

/* ---- what the bound does not say ---- */

static bool is_square(const reference_step *s) {
    const ir_value *operands = ir_op_get(s->m, s->op)->operands;
    return s->opcode == GRAPH_MUL && operands[0] == operands[1];
}

/* May the result have less signs than its bound around the reference has? */
static bool has_sign(const reference_step *s) {
    switch (s->opcode) {
    case GRAPH_MUL:
        return is_square(s);
    case GRAPH_ABS:
    case GRAPH_EXP:
    case GRAPH_EXP2:
    case GRAPH_LOGISTIC:
    case GRAPH_POW:
    case GRAPH_MAXIMUM:
    case GRAPH_MINIMUM:
        return true;
    default:
        return false;
    }
}

static bool any_kept(const reference_step *s, int64_t i) {
    bool kept = false;
    for (uint32_t k = 0; k < s->in_count; k++)
        kept |= enclosure_kept(s->in[k], i);
    return kept;
}

static bool are_bounded(const reference_step *s, const bounded *x) {
    bool finite = true;
    for (uint32_t k = 0; k < s->in_count; k++)
        finite &= !isinf(x[k].bound);
    return finite;
}

static void put_enclosed(const reference_step *s, int64_t i, const bounded *x, bounded r,
                         double own) {
    enclosure in[3], e;
    for (uint32_t k = 0; k < s->in_count; k++)
        in[k] = enclosure_at(s->in[k], i);
    e = enclosure_operate(s->opcode, in, is_square(s), s->type);
    if (own > 0)
        e = enclosure_rounded(e, s->type, own, false);
    enclosure_put(s->out, i, r, e, are_bounded(s, x));
}

typedef struct float_job {
    const reference_step *s;
    double own; /* roundings */
    bool contracted, sign, enclosed;
} float_job;

static void float_at(const float_job *j, int64_t i) {
    const reference_step *s = j->s;
    bounded x[3] = {{0, 0}};
    for (uint32_t k = 0; k < s->in_count; k++)
        x[k] = element(s->in[k], i);
    bounded r = one(s, x, j->own, j->contracted);
    bool unclear = isinf(r.bound) || (j->sign && r.bound > 0 && fabs(r.value) <= r.bound);
    if (j->enclosed && (unclear || any_kept(s, i)))
        put_enclosed(s, i, x, r, j->own);
    else
        put(s->out, i, r);
}

static bool floats(const reference_step *s, status *st) {
    int64_t count = tensor_count(&s->out->value);
    double own = roundings(s->opcode, s->type);
    const float_job job = {s, own, feeds_sum(s), has_sign(s), !reference_is_unlimited()};
    *s->whole &= s->opcode != GRAPH_EXP2; /* no chip promises its powers */
    if (own < 0)
        return status_set(st, STATUS_INTERNAL, "the reference has no '%s'",
                          op_info_get(s->opcode)->name);
    for (int64_t i = 0; i < count;) {
        int64_t end = count - i < REFERENCE_PLAIN ? count : i + REFERENCE_PLAIN;
        if (end - i == REFERENCE_PLAIN && reference_plain(s, own, i))
            i = end;
        for (; i < end; i++)
            float_at(&job, i);
    }
    return true;
}

/* ---- comparison, selection, conversion ---- */

static bool are_apart(enclosure x, enclosure y) {
    return !x.nan && !y.nan && (x.high < y.low || x.low > y.high);
}

/* A comparison of numbers nearer than their bounds may go either way. */
static bool compare(const reference_step *s, status *st) {
    if (!dtype_is_float(s->in_type))
        return reference_exact(s, interp_elementwise, st);
    int64_t count = tensor_count(&s->out->value);
    for (int64_t i = 0; i < count; i++) {
        bounded x = element(s->in[0], i), y = element(s->in[1], i);
        double reach = x.bound + y.bound;
        bool either = reach > 0 && !(fabs(x.value - y.value) > reach);
        if (any_kept(s, i))
            either = !are_apart(enclosure_at(s->in[0], i), enclosure_at(s->in[1], i));
        numbers(&s->out->bound)[i] = either ? 1 : 0;
    }
    return reference_run(s, interp_elementwise, st);
}

/* The bound of a choice that may fall on `other` too. */
static double either_bound(bounded chosen, bounded other) {
    if (chosen.value == other.value)
        return fmax(chosen.bound, other.bound);
    double apart = fabs(chosen.value - other.value);
    return isnan(apart) ? HUGE_VAL : fmax(chosen.bound, apart + other.bound);
}

static void select_floats(const reference_step *s, const unsigned char *condition) {
    int64_t count = tensor_count(&s->out->value);
    for (int64_t i = 0; i < count; i++) {
        const reference_value *taken = s->in[condition[i] ? 1 : 2],
                              *left = s->in[condition[i] ? 2 : 1];
        bounded chosen = element(taken, i), other = element(left, i);
        bool either = numbers(&s->in[0]->bound)[i] != 0;
        bool finite = !isinf(chosen.bound) && (!either || !isinf(other.bound));
        if (either)
            chosen.bound = either_bound(chosen, other);
        bool kept = enclosure_kept(taken, i) || (either && enclosure_kept(left, i));
        if (!reference_is_unlimited() && (kept || (either && isinf(chosen.bound))))
            enclosure_put(s->out, i, chosen,
                          either ? enclosure_hull(enclosure_at(taken, i), enclosure_at(left, i))
                                 : enclosure_at(taken, i),
                          finite);
        else
            put(s->out, i, chosen);
    }
}

static bool choose(const reference_step *s, status *st) {
    if (!dtype_is_float(s->type))
        return reference_exact(s, interp_elementwise, st);
    select_floats(s, s->in[0]->value.data);
    return true;
}

static double converted(double value, dtype to) {
    uint64_t room = 0;
    dtype_store(to, &room, 0, value);
    return dtype_load(to, &room, 0);
}

/* Element i, from a float, by `roundings` to the result's type. */
static void put_rounded(const reference_step *s, int64_t i, double roundings) {
    bool saturate = ir_op_int(s->m, s->op, "saturate", 0) != 0;
    bounded x = element(s->in[0], i), r = x;
    if (roundings > 0)
        r = saturate ? reference_saturated(x, s->type, roundings)
                     : reference_rounded(x, s->type, roundings);
    bool enclosed = !reference_is_unlimited() && (isinf(r.bound) || enclosure_kept(s->in[0], i));
    if (!enclosed) {
        put(s->out, i, r);
        return;
    }
    enclosure e = enclosure_at(s->in[0], i);
    if (roundings > 0)
        e = enclosure_rounded(e, s->type, roundings, saturate);
    enclosure_put(s->out, i, r, e, !isinf(x.bound));
}

static bool convert_from_float(const reference_step *s) {
    int64_t count = tensor_count(&s->out->value);
    bool whole = !dtype_is_float(s->type), widens = dtype_holds(s->type, s->in_type);
    for (int64_t i = 0; i < count; i++) {
        bounded x = element(s->in[0], i);
        if (!whole) {
            put_rounded(s, i, widens ? 0 : 1);
            continue;
        }
        if (enclosure_at(s->in[0], i).nan && !reference_is_nan(x))
            x.bound = HUGE_VAL;
        dtype_store(s->type, s->out->value.data, (size_t)i, x.value);
        double reach =
            converted(x.value + x.bound, s->type) - converted(x.value - x.bound, s->type);
        bool flips = x.bound > 0 && !(fabs(x.value) > x.bound) && !reference_is_nan(x);
        numbers(&s->out->bound)[i] = s->type == DTYPE_BOOL ? flips
                                     : isinf(x.bound)      ? HUGE_VAL
                                                           : reach;
    }
    return true;
}

static bool convert(const reference_step *s, status *st) {
    if (dtype_is_float(s->in_type))
        return convert_from_float(s);
    if (!dtype_is_float(s->type))
        return reference_exact(s, interp_elementwise, st);
    int64_t count = tensor_count(&s->out->value);
    bool saturate = ir_op_int(s->m, s->op, "saturate", 0) != 0;
    interp_load_f64(&s->in[0]->value, 0, count, numbers(&s->out->value));
    for (int64_t i = 0; i < count; i++) {
        bounded x = {numbers(&s->out->value)[i], numbers(&s->in[0]->bound)[i]};
        bool exact = dtype_holds(s->type, s->in_type) ||
                     (x.value == (double)(float)x.value && s->type == DTYPE_F32);
        put(s->out, i,
            exact      ? x
            : saturate ? reference_saturated(x, s->type, 1)
                       : reference_rounded(x, s->type, 1));
    }
    return true;
}

/* No bit is known of a number that is not known to its last bit. */
static bool take_bits(const reference_step *s) {
    int64_t count = tensor_count(&s->out->value);
    const bool from_float = dtype_is_float(s->in_type);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        bounded x = {0, numbers(&s->in[0]->bound)[i]};
        size_t size = dtype_size(s->in_type);
        if (!from_float) {
            memcpy(&bits, (const char *)s->in[0]->value.data + (size_t)i * size, size);
            put(s->out, i, (bounded){dtype_load(s->type, &bits, 0), x.bound > 0 ? HUGE_VAL : 0});
            continue;
        }
        x = element(s->in[0], i);
        dtype_store(s->in_type, &bits, 0, x.value);
        bool known = x.bound == 0 && !enclosure_kept(s->in[0], i);
        if (reference_is_nan(x))
            bits = dtype_format_of(s->in_type)->nan;
        memcpy((char *)s->out->value.data + (size_t)i * size, &bits, size);
        numbers(&s->out->bound)[i] = known ? 0 : HUGE_VAL;
    }
    return true;
}

/* Either neighbour: within two of the half steps that a rounding is counted as. */
static bool round_stochastic(const reference_step *s) {
    int64_t count = tensor_count(&s->out->value);
    for (int64_t i = 0; i < count; i++)
        put_rounded(s, i, 2);
    return true;
}

bool reference_elementwise(const reference_step *s, status *st) {
    switch (s->opcode) {
    case GRAPH_STOCHASTIC_ROUND:
        return round_stochastic(s);
    case GRAPH_CONVERT:
        return convert(s, st);
    case GRAPH_BITCAST:
        return dtype_is_float(s->in_type) || dtype_is_float(s->type)
                   ? take_bits(s)
                   : reference_exact(s, interp_elementwise, st);
    case GRAPH_COMPARE:
        return compare(s, st);
    case GRAPH_SELECT:
        return choose(s, st);
    default:
        return dtype_is_float(s->type) ? floats(s, st) : reference_exact(s, interp_elementwise, st);
    }
}
