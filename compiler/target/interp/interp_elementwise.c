/* interp_elementwise.c - one operation on every element: in f32 for f32, f16 and bf16, rounded once
 * to the type; in f64; or in 64-bit integers that wrap to the type. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "math/double/evaluate.h"
#include "ops/predicates.h"
#include "target/interp/functions.h"
#include "target/interp/interp.h"

enum { CHUNK = 2048, OPERANDS = 3 };

/* ---- floats ---- */

#define EACH(expression)                                                                           \
    for (int64_t i = 0; i < n; i++)                                                                \
        out[i] = (expression);                                                                     \
    return true

/* `f` ends the names of the C library: they are exact or round once, nearbyint to even at ties.
 * maximum and minimum are IEEE 754-2019: a NaN wins, and -0 < +0. */
#define FLOAT_OPERATIONS(T, suffix, f)                                                             \
    static T maximum_##suffix(T a, T b) {                                                          \
        if (isnan(a) || isnan(b))                                                                  \
            return (T)NAN;                                                                         \
        return a > b || (a == b && !signbit(a)) ? a : b;                                           \
    }                                                                                              \
                                                                                                   \
    static bool float_##suffix(int opcode, T *out, const T *x, const T *y, const T *z,             \
                               int64_t n) {                                                        \
        switch (opcode) {                                                                          \
        case GRAPH_NEG:                                                                            \
            EACH(-x[i]);                                                                           \
        case GRAPH_ABS:                                                                            \
            EACH(fabs##f(x[i]));                                                                   \
        case GRAPH_SQRT:                                                                           \
            EACH(sqrt##f(x[i]));                                                                   \
        case GRAPH_FLOOR:                                                                          \
            EACH(floor##f(x[i]));                                                                  \
        case GRAPH_CEIL:                                                                           \
            EACH(ceil##f(x[i]));                                                                   \
        case GRAPH_ROUND:                                                                          \
            EACH(nearbyint##f(x[i]));                                                              \
        case GRAPH_TRUNC:                                                                          \
            EACH(trunc##f(x[i]));                                                                  \
        case GRAPH_ADD:                                                                            \
            EACH(x[i] + y[i]);                                                                     \
        case GRAPH_SUB:                                                                            \
            EACH(x[i] - y[i]);                                                                     \
        case GRAPH_MUL:                                                                            \
            EACH(x[i] * y[i]);                                                                     \
        case GRAPH_DIV:                                                                            \
            EACH(x[i] / y[i]);                                                                     \
        case GRAPH_MAXIMUM:                                                                        \
            EACH(maximum_##suffix(x[i], y[i]));                                                    \
        case GRAPH_MINIMUM:                                                                        \
            EACH(-maximum_##suffix(-x[i], -y[i]));                                                 \
        case GRAPH_FMA:                                                                            \
            EACH(fma##f(x[i], y[i], z[i]));                                                        \
        default:                                                                                   \
            return false;                                                                          \
        }                                                                                          \
    }
FLOAT_OPERATIONS(float, f32, f)
FLOAT_OPERATIONS(double, f64, )

/* The set of functions that the kernel asks for. */
static math_set set_of(const interp_step *s) {
    math_set set;
    math_set_named(interp_kernel_text(s, "math"), &set);
    return set;
}

static bool apply_f32(int opcode, float *out, const float *const *in, int64_t n, math_set set) {
    math_function function = math_function_of(opcode);
    math_pair pair = math_pair_of(opcode);
    if (pair != MATH_PAIR_COUNT) {
        function_apply_pair(pair, out, in[0], in[1], (size_t)n);
        return set == MATH_SPECIFIED;
    }
    if (function == MATH_FUNCTION_COUNT)
        return float_f32(opcode, out, in[0], in[1], in[2], n);
    function_apply(set, function, out, in[0], (size_t)n);
    return true;
}

/* No function of f64 is correctly rounded. */
static bool apply_f64(int opcode, double *out, const double *const *in, int64_t n, math_set set) {
    math_function function = math_function_of(opcode);
    math_pair pair = math_pair_of(opcode);
    if (pair != MATH_PAIR_COUNT)
        double_apply_pair(pair, out, in[0], in[1], (size_t)n);
    else if (function != MATH_FUNCTION_COUNT)
        double_apply(function, out, in[0], (size_t)n);
    if (pair != MATH_PAIR_COUNT || function != MATH_FUNCTION_COUNT)
        return set == MATH_SPECIFIED;
    return float_f64(opcode, out, in[0], in[1], in[2], n);
}

/* ---- integers ---- */

static int64_t quotient(dtype type, int64_t x, int64_t y) {
    if (y == 0)
        return 0;
    if (dtype_is_unsigned(type))
        return (int64_t)((uint64_t)x / (uint64_t)y);
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t negated(int64_t x) {
    return (int64_t)(0 - (uint64_t)x);
}

/* Counts are numbers of a bit; any other moves all bits out. */
static int64_t shifted(int opcode, dtype type, int64_t x, int64_t count) {
    const int bits = dtype_integer_bits(type);
    bool within = count >= 0 && count < bits;
    if (opcode == GRAPH_RIGHT_SHIFT && !dtype_is_unsigned(type))
        return x >> (within ? count : bits - 1);
    return !within                       ? 0
           : opcode == GRAPH_RIGHT_SHIFT ? (int64_t)((uint64_t)x >> count)
                                         : (int64_t)((uint64_t)x << count);
}

static bool apply_i64(int opcode, int64_t *out, const int64_t *const *in, int64_t n, dtype type) {
    const int64_t *x = in[0], *y = in[1];
    const bool logical = type == DTYPE_BOOL;
    switch (opcode) {
    case GRAPH_NEG:
        EACH(negated(x[i]));
    case GRAPH_ABS:
        EACH(dtype_integer_less(type, x[i], 0) ? negated(x[i]) : x[i]);
    case GRAPH_NOT:
        EACH(logical ? !x[i] : ~x[i]);
    case GRAPH_ADD:
        EACH((int64_t)((uint64_t)x[i] + (uint64_t)y[i]));
    case GRAPH_SUB:
        EACH((int64_t)((uint64_t)x[i] - (uint64_t)y[i]));
    case GRAPH_MUL:
        EACH((int64_t)((uint64_t)x[i] * (uint64_t)y[i]));
    case GRAPH_DIV:
        EACH(quotient(type, x[i], y[i]));
    case GRAPH_MAXIMUM:
        EACH(dtype_integer_less(type, y[i], x[i]) ? x[i] : y[i]);
    case GRAPH_MINIMUM:
        EACH(dtype_integer_less(type, x[i], y[i]) ? x[i] : y[i]);
    case GRAPH_AND:
        EACH(x[i] & y[i]);
    case GRAPH_OR:
        EACH(x[i] | y[i]);
    case GRAPH_XOR:
        EACH(x[i] ^ y[i]);
    case GRAPH_LEFT_SHIFT:
    case GRAPH_RIGHT_SHIFT:
        EACH(shifted(opcode, type, x[i], y[i]));
    default:
        return false;
    }
}

/* ---- comparison and selection ---- */

/* f64 holds every float exactly, so its comparison is theirs. */
static void compare(const interp_step *s) {
    const tensor *x = s->in[0], *y = s->in[1];
    predicate p = predicate_of(interp_text(s, "predicate"));
    bool floats = dtype_is_float(x->type);
    unsigned char *out = s->out->data;
    int64_t n = tensor_count(x);
    for (int64_t i = 0; i < n; i++) {
        int64_t a, b;
        if (floats) {
            out[i] = predicate_holds_f64(p, dtype_load(x->type, x->data, (size_t)i),
                                         dtype_load(y->type, y->data, (size_t)i));
            continue;
        }
        interp_load_i64(x, i, 1, &a);
        interp_load_i64(y, i, 1, &b);
        out[i] = predicate_holds_integer(p, x->type, a, b);
    }
}

static void select_elements(const interp_step *s) {
    size_t size = dtype_size(s->out->type);
    const unsigned char *condition = s->in[0]->data;
    const char *x = s->in[1]->data, *y = s->in[2]->data;
    char *out = s->out->data;
    int64_t n = tensor_count(s->out);
    for (int64_t i = 0; i < n; i++)
        memcpy(out + (size_t)i * size, (condition[i] ? x : y) + (size_t)i * size, size);
}

/* ---- chunks of working arrays ---- */

#define BY_CHUNKS(T, suffix, ...)                                                                  \
    static bool chunks_##suffix(const interp_step *s, void *work) {                                \
        int64_t count = tensor_count(s->out);                                                      \
        T *out = work, *in[OPERANDS] = {out + CHUNK, out + 2 * CHUNK, out + 3 * CHUNK};            \
        const T *const operands[OPERANDS] = {in[0], in[1], in[2]};                                 \
        for (int64_t first = 0; first < count; first += CHUNK) {                                   \
            int64_t n = count - first < CHUNK ? count - first : CHUNK;                             \
            for (uint32_t k = 0; k < s->in_count; k++)                                             \
                interp_load_##suffix(s->in[k], first, n, in[k]);                                   \
            if (!apply_##suffix(s->opcode, out, operands, n __VA_ARGS__))                          \
                return false;                                                                      \
            interp_store_##suffix(s->out, first, n, out);                                          \
        }                                                                                          \
        return true;                                                                               \
    }
BY_CHUNKS(float, f32, , set_of(s))
BY_CHUNKS(double, f64, , set_of(s))
BY_CHUNKS(int64_t, i64, , s->out->type)

static bool chunks(const interp_step *s, status *st) {
    void *work = base_malloc(sizeof(double) * CHUNK * (OPERANDS + 1));
    bool ok = s->in_count <= OPERANDS;
    if (ok && !dtype_is_float(s->out->type))
        ok = chunks_i64(s, work);
    else if (ok)
        ok = s->out->type == DTYPE_F64 ? chunks_f64(s, work) : chunks_f32(s, work);
    free(work);
    return ok || status_set(st, STATUS_INTERNAL, "the interpreter has no '%s' on %s",
                            op_info_get(s->opcode)->name, dtype_name(s->out->type));
}

/* A NaN has the bits of the canonical one. */
static void take_bits(const interp_step *s) {
    const tensor *x = s->in[0];
    size_t size = dtype_size(x->type);
    const dtype_format *format = dtype_format_of(x->type);
    int64_t n = tensor_count(x);
    memcpy(s->out->data, x->data, (size_t)n * size);
    for (int64_t i = 0; format && i < n; i++)
        if (isnan(dtype_load(x->type, x->data, (size_t)i)))
            memcpy((char *)s->out->data + (size_t)i * size, &format->nan, size);
}

/* docs/numerics.md, "Stochastic rounding". */
static void round_stochastic(const interp_step *s) {
    uint64_t seed = (uint64_t)ir_op_int(s->m, s->op, "seed", 0);
    uint32_t stream = (uint32_t)ir_op_int(s->m, s->op, "stream", 0);
    bool saturate = ir_op_int(s->m, s->op, "saturate", 0) != 0;
    const float *x = s->in[0]->data;
    const uint32_t *index = s->in[1]->data;
    int64_t n = tensor_count(s->out);
    for (int64_t i = 0; i < n; i++) {
        philox_words w = philox_element(seed, index[i], stream, PHILOX_DOMAIN_ROUNDING);
        uint64_t bits = f32_to_narrow_stochastic(s->out->type, x[i], w.w[0], saturate);
        size_t size = dtype_size(s->out->type);
        memcpy((unsigned char *)s->out->data + (size_t)i * size, &bits, size);
    }
}

/* docs/numerics.md, "Dropout". */
static void draw_bits(const interp_step *s) {
    uint64_t seed = (uint64_t)ir_op_int(s->m, s->op, "seed", 0);
    uint32_t site = (uint32_t)ir_op_int(s->m, s->op, "site", 0);
    const uint32_t *index = s->in[0]->data, *step = s->in[1]->data;
    uint32_t *out = s->out->data;
    int64_t n = tensor_count(s->out);
    for (int64_t i = 0; i < n; i++) {
        uint64_t counter = (uint64_t)step[i] << 32 | index[i];
        out[i] = philox_element(seed, counter, site, PHILOX_DOMAIN_RANDOM_BITS).w[0];
    }
}

bool interp_elementwise(const interp_step *s, status *st) {
    switch (s->opcode) {
    case GRAPH_RANDOM_BITS:
        draw_bits(s);
        return true;
    case GRAPH_STOCHASTIC_ROUND:
        round_stochastic(s);
        return true;
    case GRAPH_BITCAST:
        take_bits(s);
        return true;
    case GRAPH_CONVERT:
        interp_convert(s->in[0], s->out, ir_op_int(s->m, s->op, "saturate", 0) != 0);
        return true;
    case GRAPH_COMPARE:
        compare(s);
        return true;
    case GRAPH_SELECT:
        select_elements(s);
        return true;
    default:
        return chunks(s, st);
    }
}
