/* evaluate.c - an emitter that keeps a sequence, which then is computed for some elements at a time
 * in plain C, one rounding an operation. */
#include "math/double/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "math/double/build.h"

enum { AT_ONCE = 64 };

/* Those of base/dtype.h are calls, which no loop here may have. */
static inline double float_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A constant, or an operation on values before it; those of a sequence count from 1. Masks are 0 or
 * 1. */
typedef struct step {
    bool constant;
    math_op op;
    uint64_t bits;
    ir_value operands[3];
} step;

typedef struct program {
    VEC(step) steps; /* the arguments come first */
} program;

static ir_value add_step(program *p, step one) {
    vec_push(&p->steps, one);
    return (ir_value)p->steps.count;
}

static ir_value keep_op(void *context, math_op op, ir_value a, ir_value b, ir_value c) {
    return add_step(context, (step){.op = op, .operands = {a, b, c}});
}

static ir_value keep_f64(void *context, double value) {
    return add_step(context, (step){.constant = true, .bits = bits_of(value)});
}

static ir_value keep_i64(void *context, uint64_t value) {
    return add_step(context, (step){.constant = true, .bits = value});
}

#define EACH(expression)                                                                           \
    for (int i = 0; i < AT_ONCE; i++)                                                              \
        out[i] = (expression);                                                                     \
    return
#define FLOAT(values) float_of(values[i])

/* f32 and i32 stand in no sequence of f64. */
static inline __attribute__((always_inline)) void
compute(math_op op, uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *c) {
    switch (op) {
    case MATH_OP_DADD:
        EACH(bits_of(FLOAT(a) + FLOAT(b)));
    case MATH_OP_DSUB:
        EACH(bits_of(FLOAT(a) - FLOAT(b)));
    case MATH_OP_DMUL:
        EACH(bits_of(FLOAT(a) * FLOAT(b)));
    case MATH_OP_DDIV:
        EACH(bits_of(FLOAT(a) / FLOAT(b)));
    case MATH_OP_DSQRT:
        EACH(bits_of(sqrt(FLOAT(a))));
    case MATH_OP_DFMA:
        EACH(bits_of(fma(FLOAT(a), FLOAT(b), FLOAT(c))));
    case MATH_OP_DLT:
        EACH(FLOAT(a) < FLOAT(b));
    case MATH_OP_DEQ:
        EACH(FLOAT(a) == FLOAT(b));
    case MATH_OP_DUNORDERED:
        EACH(isnan(FLOAT(a)) || isnan(FLOAT(b)));
    case MATH_OP_SELECT:
        EACH(a[i] ? b[i] : c[i]);
    case MATH_OP_LADD:
        EACH(a[i] + b[i]);
    case MATH_OP_LSUB:
        EACH(a[i] - b[i]);
    case MATH_OP_LMUL:
        EACH(a[i] * b[i]);
    case MATH_OP_LOGIC_AND:
    case MATH_OP_LAND:
        EACH(a[i] & b[i]);
    case MATH_OP_LOGIC_OR:
    case MATH_OP_LOR:
        EACH(a[i] | b[i]);
    case MATH_OP_LXOR:
        EACH(a[i] ^ b[i]);
    case MATH_OP_LSHL:
        EACH(a[i] << b[i]);
    case MATH_OP_LSHR:
        EACH((uint64_t)((int64_t)a[i] >> b[i]));
    case MATH_OP_LUSHR:
        EACH(a[i] >> b[i]);
    case MATH_OP_LEQ:
        EACH(a[i] == b[i]);
    default: /* DTO_BITS, DFROM_BITS */
        memcpy(out, a, AT_ONCE * sizeof *out);
    }
}

typedef void (*compute_fn)(math_op op, uint64_t *out, const uint64_t *a, const uint64_t *b,
                           const uint64_t *c);

static void compute_plain(math_op op, uint64_t *out, const uint64_t *a, const uint64_t *b,
                          const uint64_t *c) {
    compute(op, out, a, b, c);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void
compute_fma(math_op op, uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *c) {
    compute(op, out, a, b, c);
}

static compute_fn best_compute(void) {
    bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return fast ? compute_fma : compute_plain;
}
#else
static compute_fn best_compute(void) {
    return compute_plain;
}
#endif

typedef uint64_t row[AT_ONCE];

static void run(const program *p, row *values, size_t arguments) {
    compute_fn best = best_compute();
    for (size_t k = arguments; k < p->steps.count; k++) {
        const step *one = &p->steps.items[k];
        const ir_value *from = one->operands;
        if (!one->constant)
            best(one->op, values[k + 1], values[from[0]], values[from[1]], values[from[2]]);
    }
}

static void fill_constants(const program *p, row *values) {
    for (size_t k = 0; k < p->steps.count; k++)
        for (int i = 0; i < AT_ONCE; i++)
            values[k + 1][i] = p->steps.items[k].bits;
}

static void apply(const program *p, ir_value result, double *out, const double *const *in,
                  size_t arguments, size_t count) {
    row *values = base_calloc(p->steps.count + 1, sizeof *values);
    fill_constants(p, values);
    for (size_t first = 0; first < count; first += AT_ONCE) {
        size_t n = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (size_t k = 0; k < arguments; k++)
            memcpy(values[k + 1], in[k] + first, n * sizeof(double));
        run(p, values, arguments);
        memcpy(out + first, values[result], n * sizeof(double));
    }
    free(values);
}

static math_emit keeping(program *p) {
    return (math_emit){.context = p, .op = keep_op, .f64 = keep_f64, .i64 = keep_i64};
}

void double_apply(math_function function, double *out, const double *in, size_t count) {
    program p = {0};
    math_emit emit = keeping(&p);
    ir_value x = add_step(&p, (step){.constant = true});
    apply(&p, double_build(&emit, function, x), out, &in, 1, count);
    vec_release(&p.steps);
}

void double_apply_pair(math_pair pair, double *out, const double *first, const double *second,
                       size_t count) {
    program p = {0};
    math_emit emit = keeping(&p);
    ir_value a = add_step(&p, (step){.constant = true}), b = add_step(&p, (step){.constant = true});
    apply(&p, double_build_pair(&emit, pair, a, b), out, (const double *const[]){first, second}, 2,
          count);
    vec_release(&p.steps);
}
