/* opinion_slope.c - a derivative is what differences of its function come to.
 *
 * Of a function F at x, and a small step e, F(x + e) - F(x - e) is twice the derivative along e,
 * but for what vanishes with the third power of e. Both sides are computed in f64
 * (compiler_reference), with steps that the inputs' own type holds exactly. A kink at x or near it
 * would show as a difference, too; it shows in F(x + e) - 2 F(x) + F(x - e), from which what a
 * curve does is taken off by a step half as long. So a derivative is wrong where it is off by more
 * than any kink, at steps of three lengths. Where a kink leaves it open, all inputs move together.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opinion/opinion.h"
#include "ops/transforms.h"

enum { LENGTHS = 3 };
static const double lengths[LENGTHS] = {0x1p-9, 0x1p-11, 0x1p-13};
static const double allowed = 1e-5; /* relative to all that is added up */

typedef struct slope {
    const opinion_case *c;
    transform_shape s;
    bool reverse;
    compiler_instance *function, *derivative;
    tensor *x;      /* the function's inputs, and the values that stay as they are at x */
    ir_value *held; /* those: what no derivative goes through */
    uint32_t held_count;
    tensor *operands; /* the derivative's: tangents or cotangents, then the same */
    double **weights; /* by number of `of`: what differences of that result are multiplied with */
    tensor *at_x;     /* the function's results there */
    tensor *pulled;   /* reverse: the derivative's results */
    uint64_t dice;
    double together; /* how far every input moves; 0: each as its direction and its size say */
} slope;

static opinion *of(const slope *s) {
    return s->c->o;
}

/* From -1 to 1, and not near 0. */
static double random_number(slope *s) {
    s->dice = s->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double size = 0.5 + (double)(s->dice >> 40) * 0x1p-25;
    return s->dice >> 63 ? -size : size;
}

/* ---- what has no derivative that differences show ---- */

static bool hides(const ir_module *m, ir_op op) {
    const ir_block own = ir_op_block(m, op, 0);
    bool found = false;
    for (ir_walk w = ir_walk_op(m, op); !found && ir_walk_next(&w);) {
        const int opcode = ir_op_get(m, w.op)->opcode;
        found = (opcode == GRAPH_STOP_GRADIENT && ir_op_get(m, w.op)->block != own) ||
                opcode == GRAPH_STOCHASTIC_ROUND || opcode == GRAPH_BITCAST ||
                ir_op_int(m, w.op, "differs", 0) != 0;
    }
    return found;
}

/* ---- steps ---- */

static void store(tensor *t, int64_t i, double value) {
    if (t->type == DTYPE_F64)
        ((double *)t->data)[i] = value;
    else
        ((float *)t->data)[i] = (float)value;
}

static double load(const tensor *t, int64_t i) {
    return t->type == DTYPE_F64 ? ((const double *)t->data)[i]
                                : (double)((const float *)t->data)[i];
}

typedef struct steps {
    tensor *forth, *back; /* inputs there */
    double **between; /* by number of `wrt`: of each element how far it is from back to forth, .. */
    double **uneven;  /* .. and how much farther forth than back, as its type has it */
} steps;

static double mean_size(const tensor *t) {
    double sum = 0;
    const int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        sum += isfinite(load(t, i)) ? fabs(load(t, i)) : 0;
    return sum > 0 ? sum / (double)count : 1;
}

static void steps_free(const slope *s, steps *t) {
    tensors_free(t->forth);
    tensors_free(t->back);
    for (uint32_t k = 0; k < s->s.wrt_count; k++) {
        free(t->between[k]);
        free(t->uneven[k]);
    }
    free(t->between);
    free(t->uneven);
}

/* `direction`, by number of `wrt`, that long. */
static bool steps_make(const slope *s, double *const *direction, double length, steps *out) {
    const uint32_t count = s->s.value_count + s->held_count;
    *out = (steps){tensors_new(count), tensors_new(count),
                   base_calloc((size_t)s->s.wrt_count + 1, sizeof(double *)),
                   base_calloc((size_t)s->s.wrt_count + 1, sizeof(double *))};
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = tensor_copy(&s->x[i], &out->forth[i], of(s)->st) &&
             tensor_copy(&s->x[i], &out->back[i], of(s)->st);
    for (uint32_t k = 0; k < s->s.wrt_count && ok; k++) {
        const uint32_t input = (uint32_t)s->s.wrt[k];
        const tensor *x = &s->x[input];
        const double mean = mean_size(x);
        out->between[k] = base_calloc((size_t)tensor_count(x) + 1, sizeof(double));
        out->uneven[k] = base_calloc((size_t)tensor_count(x) + 1, sizeof(double));
        for (int64_t i = 0; i < tensor_count(x); i++) {
            const double own = load(x, i),
                         by = length * (s->together > 0 ? s->together
                                                        : direction[k][i] * (fabs(own) + mean));
            store(&out->forth[input], i, own + by);
            store(&out->back[input], i, own - by);
            const double forth = load(&out->forth[input], i), back = load(&out->back[input], i);
            out->between[k][i] = forth - back;
            out->uneven[k][i] = (forth - own) - (own - back);
        }
    }
    return ok;
}

/* ---- sums ---- */

typedef struct sums {
    double found, expected; /* what the derivative says, and what the differences are */
    double bend;            /* of the second difference */
    double all;             /* of the magnitudes of everything that is added */
    double noise; /* of results that stay as they are: differences of theirs are rounding */
} sums;

static void add_differences(const slope *s, const tensor *forth, const tensor *back, sums *out) {
    for (uint32_t j = 0; j < s->s.of_count; j++) {
        const int64_t result = s->s.of[j];
        for (int64_t i = 0; i < tensor_count(&forth[result]); i++) {
            const double w = s->weights[j][i], a = load(&forth[result], i),
                         z = load(&back[result], i), middle = load(&s->at_x[result], i);
            if (w == 0)
                continue;
            out->expected += w * (a - z);
            out->bend += w * ((a - middle) - (middle - z));
            out->all += fabs(w * (a - z));
            out->noise += 64 * DBL_EPSILON * fabs(w * middle);
        }
    }
}

/* Gives what a reverse derivative says of a step: the cotangents that it gives, times that. */
static double pulled_along(const slope *s, double *const *step, double *all) {
    double sum = 0;
    for (uint32_t k = 0; k < s->s.wrt_count; k++) {
        const tensor *g = &s->pulled[s->s.result_count + k];
        for (int64_t i = 0; i < tensor_count(g); i++)
            if (step[k][i] != 0) {
                sum += load(g, i) * step[k][i];
                *all += fabs(load(g, i) * step[k][i]);
            }
    }
    return sum;
}

/* ... a forward derivative: the tangents that it gives for the step. */
static bool pushed_along(const slope *s, double *const *step, double *sum, double *all) {
    tensor *made = tensors_new(opinion_results(s->derivative));
    *sum = 0;
    for (uint32_t k = 0; k < s->s.wrt_count; k++)
        for (int64_t i = 0; i < tensor_count(&s->operands[k]); i++)
            store(&s->operands[k], i, step[k][i]);
    const bool ok = opinion_reference(of(s), s->derivative, s->operands, made);
    for (uint32_t j = 0; j < s->s.of_count && ok; j++) {
        const tensor *tangent = &made[s->s.result_count + j];
        for (int64_t i = 0; i < tensor_count(tangent); i++) {
            *sum += s->weights[j][i] * load(tangent, i);
            *all += fabs(s->weights[j][i] * load(tangent, i));
        }
    }
    tensors_free(made);
    return ok;
}

static bool along(const slope *s, double *const *step, double *sum, double *all) {
    if (!s->reverse)
        return pushed_along(s, step, sum, all);
    *sum = pulled_along(s, step, all);
    return true;
}

static bool measure(const slope *s, double *const *direction, double length, sums *out) {
    steps t;
    tensor *forth = tensors_new(s->s.result_count), *back = tensors_new(s->s.result_count);
    double uneven = 0, ignored = 0;
    *out = (sums){0};
    bool ok = steps_make(s, direction, length, &t) &&
              opinion_reference(of(s), s->function, t.forth, forth) &&
              opinion_reference(of(s), s->function, t.back, back);
    if (ok)
        add_differences(s, forth, back, out);
    ok = ok && along(s, t.between, &out->found, &out->all) && along(s, t.uneven, &uneven, &ignored);
    out->bend -= uneven;
    tensors_free(forth);
    tensors_free(back);
    steps_free(s, &t);
    return ok;
}

static opinion_verdict judge_length(slope *s, double *const *direction, double length) {
    sums whole, half;
    if (!measure(s, direction, length, &whole) || !measure(s, direction, length / 2, &half) ||
        !isfinite(whole.all + half.all + whole.bend + half.bend))
        return OPINION_NONE;
    const double off = fabs(half.expected - half.found),
                 kink = fabs(2 * half.bend - whole.bend / 2);
    if (off <= allowed * half.all + half.noise)
        return OPINION_RIGHT;
    if (off <= 2 * kink + 10 * (allowed * half.all + half.noise) ||
        fabs(whole.expected - whole.found) < 1.5 * off)
        return OPINION_NONE;
    snprintf(of(s)->out->why, sizeof of(s)->out->why,
             "along a direction it is %.6g, and differences come to %.6g", half.found / length,
             half.expected / length);
    return OPINION_WRONG;
}

/* Wrong at steps of all lengths, or right at one. */
static opinion_verdict judge_lengths(slope *s, double *const *direction) {
    opinion_verdict v = OPINION_NONE;
    int wrong = 0;
    for (int n = 0; n < LENGTHS && v != OPINION_RIGHT; n++) {
        for (uint32_t k = 0; k < s->s.wrt_count; k++)
            for (int64_t i = 0; i < tensor_count(&s->x[s->s.wrt[k]]); i++)
                direction[k][i] = random_number(s);
        v = judge_length(s, direction, lengths[n]);
        wrong += v == OPINION_WRONG;
    }
    return v == OPINION_RIGHT ? v : wrong == LENGTHS ? OPINION_WRONG : OPINION_NONE;
}

/* Equal elements that are the greatest are a kink, but not where they stay equal: where all inputs
 * move together. That is one direction alone, in which more than one derivative is right. */
static opinion_verdict judge_together(slope *s, double *const *direction) {
    double sum = 0;
    for (uint32_t k = 0; k < s->s.wrt_count; k++)
        sum += mean_size(&s->x[s->s.wrt[k]]);
    s->together = s->s.wrt_count ? sum / s->s.wrt_count : 0;
    const opinion_verdict v = s->together > 0 ? judge_lengths(s, direction) : OPINION_NONE;
    s->together = 0;
    return v == OPINION_WRONG ? v : OPINION_NONE;
}

static opinion_verdict judge(slope *s) {
    double **direction = base_calloc((size_t)s->s.wrt_count + 1, sizeof *direction);
    for (uint32_t k = 0; k < s->s.wrt_count; k++)
        direction[k] = base_calloc((size_t)tensor_count(&s->x[s->s.wrt[k]]) + 1, sizeof(double));
    opinion_verdict v = judge_lengths(s, direction);
    if (v == OPINION_NONE)
        v = judge_together(s, direction);
    for (uint32_t k = 0; k < s->s.wrt_count; k++)
        free(direction[k]);
    free(direction);
    return v;
}

/* ---- all ---- */

/* f32 in the place of narrow floats. */
static bool widened(const tensor *from, tensor *to, status *st) {
    if (!dtype_is_float(from->type) || from->type == DTYPE_F64)
        return tensor_copy(from, to, st);
    if (!tensor_init(to, DTYPE_F32, from->rank, from->dims, st))
        return false;
    for (int64_t i = 0; i < tensor_count(from); i++)
        ((float *)to->data)[i] = (float)dtype_load(from->type, from->data, (size_t)i);
    return true;
}

/* Cotangents that are there, or numbers of our own, of either sign. */
static void put_weights(slope *s) {
    s->weights = base_calloc((size_t)s->s.of_count + 1, sizeof *s->weights);
    for (uint32_t j = 0; j < s->s.of_count; j++) {
        const int64_t count = tensor_count(&s->c->results[s->s.of[j]]);
        if (s->reverse)
            s->weights[j] = opinion_numbers(&s->operands[j]);
        else
            s->weights[j] = base_calloc((size_t)count + 1, sizeof(double));
        for (int64_t i = 0; i < count && !s->reverse; i++)
            s->weights[j][i] = random_number(s);
    }
}

/* Gradients are stopped at these, which do not move with the inputs. */
static void find_held(slope *s) {
    const ir_module *m = s->c->m;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, s->c->op, 0));
    for (ir_op op = block->first; op; op = ir_op_get(m, op)->next)
        s->held_count += ir_op_get(m, op)->opcode == GRAPH_STOP_GRADIENT;
    s->held = base_calloc((size_t)s->held_count + 1, sizeof *s->held);
    s->held_count = 0;
    for (ir_op op = block->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == GRAPH_STOP_GRADIENT)
            s->held[s->held_count++] = ir_op_get(m, op)->results[0];
}

/* Their values at x. */
static bool hold(slope *s) {
    const ir_block block = ir_op_block(s->c->m, s->c->op, 0);
    const opinion_view view = {.widen = true, .outputs = s->held, .output_count = s->held_count};
    compiler_instance *before = s->held_count ? opinion_function(s->c->m, block, &view) : NULL;
    tensor *values = tensors_new(s->held_count);
    bool ok = !before || opinion_interpret(of(s), before, s->x, values);
    for (uint32_t i = 0; i < s->held_count && ok; i++)
        ok = widened(&values[i], &s->x[s->s.value_count + i], of(s)->st);
    tensors_free(values);
    compiler_instance_free(before);
    return ok;
}

static bool slope_open(slope *s) {
    const ir_op_data *d = ir_op_get(s->c->m, s->c->op);
    const uint32_t first = d->operand_count - s->s.value_count;
    bool ok = true;
    for (uint32_t i = 0; i < d->operand_count && ok; i++)
        ok = widened(&s->c->operands[i], &s->operands[i], of(s)->st);
    for (uint32_t i = first; i < d->operand_count && ok; i++)
        ok = tensor_copy(&s->operands[i], &s->x[i - first], of(s)->st);
    if (!ok)
        return false;
    put_weights(s);
    return hold(s) && opinion_reference(of(s), s->function, s->x, s->at_x) &&
           (!s->reverse || opinion_reference(of(s), s->derivative, s->operands, s->pulled));
}

static void slope_close(slope *s) {
    for (uint32_t j = 0; s->weights && j < s->s.of_count; j++)
        free(s->weights[j]);
    free(s->weights);
    tensors_free(s->x);
    tensors_free(s->operands);
    tensors_free(s->at_x);
    tensors_free(s->pulled);
}

static opinion_verdict judge_slope(const opinion_case *c, slope *s) {
    const ir_op_data *d = ir_op_get(c->m, c->op);
    s->c = c;
    s->s = transform_shape_of(c->m, c->op);
    s->reverse = d->opcode == GRAPH_VJP;
    s->operands = tensors_new(d->operand_count);
    s->at_x = tensors_new(d->result_count);
    s->pulled = tensors_new(d->result_count);
    s->x = tensors_new(s->s.value_count + s->held_count);
    const opinion_verdict v = slope_open(s) ? judge(s) : OPINION_NONE;
    slope_close(s);
    return v;
}

opinion_verdict opinion_of_slope(const opinion_case *c, compiler_instance *function,
                                 compiler_instance *derivative) {
    slope s = {.function = function, .derivative = derivative};
    return judge_slope(c, &s);
}

opinion_verdict opinion_of_derivative(const opinion_case *c) {
    slope s = {.c = c};
    if (hides(c->m, c->op))
        return OPINION_NONE;
    find_held(&s);
    const opinion_view view = {.widen = true, .held = s.held, .held_count = s.held_count};
    s.function = opinion_function(c->m, ir_op_block(c->m, c->op, 0), &view);
    s.derivative = opinion_operation(c->m, c->op, true);
    const opinion_verdict v = judge_slope(c, &s);
    compiler_instance_free(s.function);
    compiler_instance_free(s.derivative);
    free(s.held);
    return v;
}
