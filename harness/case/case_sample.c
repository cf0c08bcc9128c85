/* case_sample.c - computes a case at drawn positions. */
#include "case/case_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "launch/launch.h"

enum {
    AXES_FOUND = 16,
    EXTENT_LEAST = 64,   /* below that, all positions are taken */
    ELEMENT_STEPS = 32,  /* an element of a primitive takes as long as so many products */
    SAVING = 4,          /* a part has at most this share of the steps */
    BOUNDS_ELSEWHERE = 4 /* so many times the greatest bound, where nothing was drawn */
};
static const uint64_t steps_least = UINT64_C(1) << 28; /* about half a second */

/* ---- the plan ---- */

static bool steps_of(compiler_instance *instance, uint64_t *steps) {
    uint64_t elements, products;
    status ignored = STATUS_INIT;
    bool ok = compiler_steps(instance, &elements, &products, &ignored);
    *steps = products + ELEMENT_STEPS * elements;
    return ok;
}

/* The longest first. */
static uint32_t longest(compiler_axis *axes, uint32_t count) {
    uint32_t taken = 0;
    for (; taken < count && taken < CASE_SAMPLE_AXES; taken++) {
        uint32_t best = taken;
        for (uint32_t i = taken + 1; i < count; i++)
            if (axes[i].extent > axes[best].extent)
                best = i;
        compiler_axis found = axes[best];
        axes[best] = axes[taken];
        axes[taken] = found;
        if (found.extent < EXTENT_LEAST)
            break;
    }
    return taken;
}

static bool plan(case_context *s) {
    case_sample *p = &s->sample;
    compiler_axis axes[AXES_FOUND];
    uint64_t whole, part;
    uint32_t count;
    status ignored = STATUS_INIT;
    if (s->kernel->interpreted || compiler_instance_is_contract(s->instance) ||
        !steps_of(s->instance, &whole) || whole < (s->sampled_from ? s->sampled_from : steps_least))
        return false;
    if (!compiler_axes(s->instance, axes, AXES_FOUND, &count, &ignored))
        return false;
    p->count = longest(axes, count);
    for (uint32_t i = 0; i < p->count; i++) {
        p->axes[i] = axes[i];
        p->positions[i] = (axes[i].extent + SAMPLE_STRIP - 1) / SAMPLE_STRIP;
    }
    p->part = compiler_part(s->instance, p->axes, p->positions, p->count, &ignored);
    return p->count && p->part && steps_of(p->part, &part) && part <= whole / SAVING;
}

bool case_sample_applies(case_context *s) {
    if (!s->sample.planned)
        s->sample.applies = plan(s);
    s->sample.planned = true;
    return s->sample.applies;
}

/* ---- positions, and the elements that have them ---- */

typedef struct draw {
    int64_t *at[CASE_SAMPLE_AXES]; /* owned; ascending */
    int64_t count[CASE_SAMPLE_AXES];
} draw;

static uint64_t entropy(void) {
    uint64_t fresh = 0;
    while (getrandom(&fresh, sizeof fresh, 0) != (ssize_t)sizeof fresh) {
    }
    return fresh;
}

static draw draw_positions(const case_sample *p) {
    draw d = {{NULL}, {0}};
    uint64_t random = entropy();
    for (uint32_t i = 0; i < p->count; i++) {
        d.count[i] = p->positions[i];
        d.at[i] = base_malloc(sizeof(int64_t) * (size_t)d.count[i]);
        for (int64_t k = 0; k < d.count[i]; k++) {
            int64_t first = k * SAMPLE_STRIP, left = p->axes[i].extent - first;
            uint64_t room = (uint64_t)(left < SAMPLE_STRIP ? left : SAMPLE_STRIP);
            d.at[i][k] = first + (int64_t)(splitmix64(&random) % room);
        }
    }
    return d;
}

static void draw_release(draw *d) {
    for (int i = 0; i < CASE_SAMPLE_AXES; i++)
        free(d->at[i]);
}

static const int *axes_of(const compiler_axis *a, bool output) {
    return output ? a->outputs : a->inputs;
}

/* The elements of a tensor of the case that make up the part's; owned. */
static int64_t *places_of(const case_sample *p, const draw *d, const tensor *whole, bool output,
                          uint32_t index, tensor *shape) {
    const int64_t *chosen[TENSOR_MAX_RANK] = {NULL};
    int64_t stride[TENSOR_MAX_RANK + 1] = {0}, at[TENSOR_MAX_RANK] = {0};
    *shape = *whole;
    shape->data = NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        int axis = axes_of(&p->axes[i], output)[index];
        if (axis >= 0) {
            chosen[axis] = d->at[i];
            shape->dims[axis] = d->count[i];
        }
    }
    int64_t step = 1, count = tensor_count(shape);
    for (int axis = whole->rank - 1; axis >= 0; axis--) {
        stride[axis] = step;
        step *= whole->dims[axis];
    }
    int64_t *places = base_malloc(sizeof *places * (size_t)(count + 1));
    for (int64_t k = 0; k < count; k++) {
        places[k] = 0;
        for (int axis = 0; axis < whole->rank; axis++)
            places[k] += stride[axis] * (chosen[axis] ? chosen[axis][at[axis]] : at[axis]);
        for (int axis = whole->rank - 1; axis >= 0 && ++at[axis] == shape->dims[axis]; axis--)
            at[axis] = 0;
    }
    return places;
}

static bool take(const tensor *from, const int64_t *places, const tensor *shape, tensor *out,
                 status *st) {
    size_t size = dtype_size(from->type);
    if (!tensor_init(out, from->type, shape->rank, shape->dims, st))
        return false;
    for (int64_t k = 0; k < tensor_count(out); k++)
        memcpy((char *)out->data + (size_t)k * size,
               (const char *)from->data + (size_t)places[k] * size, size);
    return true;
}

static bool take_inputs(const case_context *s, const draw *d, tensor *out, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < s->signature.input_count && ok; i++) {
        tensor shape;
        int64_t *places = places_of(&s->sample, d, &s->inputs[i], false, i, &shape);
        ok = take(&s->inputs[i], places, &shape, &out[i], st);
        free(places);
    }
    return ok;
}

/* ---- strict bits ---- */

static uint32_t threads_here(void) {
    enum { MOST = 8 };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MOST ? MOST : (uint32_t)cores;
}

static bool launch_ours(case_context *s, const compiler_artifact *artifact, status *st) {
    launch l;
    launch_request request = {.threads = threads_here(),
                              .kernel = s->kernel->name,
                              .dims = s->c->dims,
                              .dim_count = s->c->dim_count};
    launch_request_artifact(&request, artifact);
    launch_request_buffers(&request, &s->signature);
    bool ok = launch_open(&l, &request, st) && launch_write_inputs(&l, s->inputs, st) &&
              launch_poison_outputs(&l, st) && launch_run(&l, st) &&
              launch_read_outputs(&l, &s->signature, s->oracle, st);
    launch_close(&l);
    return ok;
}

static bool compute_ours(case_context *s, status *st) {
    compiler_options options = {
        .profile = PROFILE_STRICT, .threads = threads_here(), .unoptimised = true};
    compiler_artifact artifact = {0};
    bool ok = compiler_build(s->instance, &options, &artifact, st) && launch_ours(s, &artifact, st);
    compiler_artifact_release(&artifact);
    return ok;
}

/* Bit for bit the interpreter's, at the drawn positions. */
static bool holds_at(case_context *s, const draw *d, const tensor *expected) {
    bool same = true;
    s->held = 0;
    for (uint32_t i = 0; i < s->signature.output_count && same; i++) {
        tensor shape;
        int64_t *places = places_of(&s->sample, d, &s->oracle[i], true, i, &shape);
        size_t size = dtype_size(s->oracle[i].type);
        for (int64_t k = 0; k < tensor_count(&expected[i]) && same; k++)
            same = memcmp((const char *)s->oracle[i].data + (size_t)places[k] * size,
                          (const char *)expected[i].data + (size_t)k * size, size) == 0;
        free(places);
        s->held += tensor_count(&expected[i]);
    }
    return same;
}

bool case_sample_oracle(case_context *s) {
    tensor *inputs = tensors_new(s->signature.input_count),
           *expected = tensors_new(s->signature.output_count);
    status ignored = STATUS_INIT;
    draw d = {{NULL}, {0}};
    bool ok = compute_ours(s, &ignored);
    if (ok) {
        d = draw_positions(&s->sample);
        ok = take_inputs(s, &d, inputs, &ignored) &&
             compiler_interpret(s->sample.part, inputs, expected, &ignored) &&
             holds_at(s, &d, expected);
    }
    draw_release(&d);
    tensors_free(inputs);
    tensors_free(expected);
    if (!ok)
        tensors_clear(s->oracle);
    return ok;
}

/* ---- the reference ---- */

typedef struct part_reference {
    tensor *inputs, *values, *bounds, *limits; /* a list each, of tensors_new */
    bool whole;
} part_reference;

static bool refer(const case_context *s, compiler_instance *part, const draw *d,
                  part_reference *out, status *st) {
    uint32_t count = s->signature.output_count;
    *out = (part_reference){.inputs = tensors_new(s->signature.input_count),
                            .values = tensors_new(count),
                            .bounds = tensors_new(count),
                            .limits = tensors_new(count)};
    const compiler_references to = {
        .values = out->values, .bounds = out->bounds, .limits = out->limits, .whole = &out->whole};
    return take_inputs(s, d, out->inputs, st) && compiler_reference(part, out->inputs, &to, st);
}

static void part_reference_release(part_reference *r) {
    tensors_free(r->inputs);
    tensors_free(r->values);
    tensors_free(r->bounds);
    tensors_free(r->limits);
}

static const double anything[COMPILER_LIMITS] = {-HUGE_VAL, HUGE_VAL, 1};

/* Bounds elsewhere: a number, or a share of the value, as the drawn ones have them. */
typedef struct spread {
    double most, share;
} spread;

static spread spread_of(const tensor *values, const tensor *bounds) {
    const double *value = values->data, *bound = bounds->data;
    int64_t count = tensor_count(values), finite = 0;
    double sum = 0;
    spread found = {0, 0};
    for (int64_t k = 0; k < count; k++)
        if (isfinite(value[k]) && isfinite(bound[k])) {
            sum += fabs(value[k]);
            finite++;
            found.most = fmax(found.most, bound[k]);
        }
    for (int64_t k = 0; k < count; k++)
        if (isfinite(value[k]) && isfinite(bound[k]) && value[k] != 0 &&
            fabs(value[k]) * (double)finite >= sum)
            found.share = fmax(found.share, bound[k] / fabs(value[k]));
    return found;
}

/* Everywhere the strict value and a generous bound; where that is no number, none. */
static bool fill_elsewhere(case_context *s, uint32_t output, const part_reference *r, status *st) {
    const tensor *strict = &s->oracle[output];
    tensor *value = &s->references[output], *bound = &s->bounds[output];
    const spread around = spread_of(&r->values[output], &r->bounds[output]);
    int64_t count = tensor_count(strict);
    if (!tensor_init(value, DTYPE_F64, strict->rank, strict->dims, st) ||
        !tensor_init(bound, DTYPE_F64, strict->rank, strict->dims, st))
        return false;
    for (int64_t k = 0; k < count; k++) {
        double x = dtype_load(strict->type, strict->data, (size_t)k);
        ((double *)value->data)[k] = x;
        ((double *)bound->data)[k] =
            isfinite(x) ? BOUNDS_ELSEWHERE * fmax(around.most, around.share * fabs(x)) : 0;
    }
    return true;
}

/* Gives limits to all elements once a drawn one has some; elsewhere they allow anything. */
static bool widen_limits(tensor *limits, int64_t count, status *st) {
    if (limits->data)
        return true;
    if (!tensor_init(limits, DTYPE_F64, 2, (int64_t[]){count, COMPILER_LIMITS}, st))
        return false;
    for (int64_t k = 0; k < count; k++)
        memcpy((double *)limits->data + k * COMPILER_LIMITS, anything, sizeof anything);
    return true;
}

static bool put_drawn(case_context *s, uint32_t output, const draw *d, const part_reference *r,
                      status *st) {
    tensor shape;
    const tensor *limits = &r->limits[output];
    if (limits->data && !widen_limits(&s->limits[output], tensor_count(&s->oracle[output]), st))
        return false;
    int64_t *places = places_of(&s->sample, d, &s->oracle[output], true, output, &shape);
    for (int64_t k = 0; k < tensor_count(&r->values[output]); k++) {
        ((double *)s->references[output].data)[places[k]] =
            ((const double *)r->values[output].data)[k];
        ((double *)s->bounds[output].data)[places[k]] = ((const double *)r->bounds[output].data)[k];
        if (limits->data)
            memcpy((double *)s->limits[output].data + places[k] * COMPILER_LIMITS,
                   (const double *)limits->data + k * COMPILER_LIMITS,
                   sizeof(double) * COMPILER_LIMITS);
    }
    free(places);
    return true;
}

bool case_sample_reference(case_context *s, status *st) {
    part_reference r;
    draw d = draw_positions(&s->sample);
    bool ok = refer(s, s->sample.part, &d, &r, st);
    s->sampled = 0;
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++) {
        ok = fill_elsewhere(s, i, &r, st) && put_drawn(s, i, &d, &r, st);
        s->sampled += tensor_count(&r.values[i]);
    }
    s->whole = ok && r.whole;
    part_reference_release(&r);
    draw_release(&d);
    return ok;
}

/* The positions of one element. */
static draw draw_of(const case_context *s, uint32_t output, int64_t element) {
    const tensor *t = &s->oracle[output];
    draw d = {{NULL}, {0}};
    for (uint32_t i = 0; i < s->sample.count; i++) {
        int64_t inner = 1;
        int lane = s->sample.axes[i].outputs[output];
        for (int axis = lane + 1; axis < t->rank; axis++)
            inner *= t->dims[axis];
        d.count[i] = 1;
        d.at[i] = base_malloc(sizeof(int64_t));
        d.at[i][0] = element / inner % t->dims[lane];
    }
    return d;
}

bool case_sample_exact(case_context *s, uint32_t output, int64_t element, status *st) {
    static const int64_t one[CASE_SAMPLE_AXES] = {1, 1};
    part_reference r = {.whole = false};
    draw d = draw_of(s, output, element);
    compiler_instance *part = compiler_part(s->instance, s->sample.axes, one, s->sample.count, st);
    bool ok = part && refer(s, part, &d, &r, st);
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++)
        ok = put_drawn(s, i, &d, &r, st);
    part_reference_release(&r);
    draw_release(&d);
    compiler_instance_free(part);
    return ok;
}
