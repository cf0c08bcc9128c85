/* case_sample.c - computes a case at drawn positions. */
#include "case/case_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "case/drawn.h"
#include "launch/launch.h"

enum {
    AXES_FOUND = 16,
    EXTENT_LEAST = 64,   /* below that, all positions are taken */
    SAVING = 4,          /* a part has at most this share of the steps */
    BOUNDS_ELSEWHERE = 4 /* so many times the greatest bound, where nothing was drawn */
};
static const uint64_t steps_least = UINT64_C(1) << 28; /* about half a second */

/* ---- the plan ---- */

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
    int64_t positions[CASE_SAMPLE_AXES];
    uint64_t whole, part;
    uint32_t count;
    status ignored = STATUS_INIT;
    if (s->kernel->interpreted || compiler_instance_is_contract(s->instance) ||
        !drawn_steps(s->instance, &whole, &ignored) ||
        whole < (s->sampled_from ? s->sampled_from : steps_least))
        return false;
    if (!compiler_axes(s->instance, axes, AXES_FOUND, &count, &ignored))
        return false;
    p->count = longest(axes, count);
    for (uint32_t i = 0; i < p->count; i++) {
        p->axes[i] = axes[i];
        positions[i] = (axes[i].extent + SAMPLE_STRIP - 1) / SAMPLE_STRIP;
    }
    compiler_instance *drawn = compiler_part(s->instance, p->axes, positions, p->count, &ignored);
    bool saves = p->count && drawn && drawn_steps(drawn, &part, &ignored) && part <= whole / SAVING;
    compiler_instance_free(drawn);
    return saves;
}

bool case_sample_applies(case_context *s) {
    if (!s->sample.planned)
        s->sample.applies = plan(s);
    s->sample.planned = true;
    return s->sample.applies;
}

/* ---- strict bits ---- */

static bool launch_ours(case_context *s, const compiler_artifact *artifact, status *st) {
    launch l;
    launch_request request = {.threads = drawn_threads(),
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
        .profile = PROFILE_STRICT, .threads = drawn_threads(), .unoptimised = true};
    compiler_artifact artifact = {0};
    bool ok = compiler_build(s->instance, &options, &artifact, st) && launch_ours(s, &artifact, st);
    compiler_artifact_release(&artifact);
    return ok;
}

/* Bit for bit the interpreter's, at the positions of a group. */
static bool holds_at(case_context *s, const drawn_group *g) {
    bool same = true;
    for (uint32_t i = 0; i < s->signature.output_count && same; i++) {
        tensor shape;
        int64_t *places = draw_places(&s->sample, &g->at, &s->oracle[i], i, &shape);
        size_t size = dtype_size(s->oracle[i].type);
        for (int64_t k = 0; k < tensor_count(&g->values[i]) && same; k++)
            same = memcmp((const char *)s->oracle[i].data + (size_t)places[k] * size,
                          (const char *)g->values[i].data + (size_t)k * size, size) == 0;
        free(places);
        s->held += tensor_count(&g->values[i]);
    }
    return same;
}

static bool interpret(drawn_group *g, const tensor *inputs, status *st) {
    return compiler_interpret(g->part, inputs, g->values, st);
}

bool case_sample_oracle(case_context *s) {
    drawn_groups groups = {NULL};
    status ignored = STATUS_INIT;
    s->held = 0;
    bool ok = compute_ours(s, &ignored) &&
              drawn_groups_compute(s, draw_positions(&s->sample, SAMPLE_STRIP), interpret, &groups,
                                   &ignored);
    for (uint32_t i = 0; i < groups.count && ok; i++)
        ok = holds_at(s, &groups.items[i]);
    drawn_groups_release(&groups);
    if (!ok)
        tensors_clear(s->oracle);
    return ok;
}

/* ---- the reference ---- */

static bool refer(drawn_group *g, const tensor *inputs, status *st) {
    const compiler_references to = {
        .values = g->values, .bounds = g->bounds, .limits = g->limits, .whole = &g->whole};
    return compiler_reference(g->part, inputs, &to, st);
}

/* Bounds elsewhere: a number, or a share of the value, as the drawn ones have them. */
typedef struct spread {
    double most, share;
} spread;

static bool is_known(double value, double bound) {
    return isfinite(value) && isfinite(bound);
}

/* The mean magnitude of the known ones, and the greatest bound. */
static double mean_of(const drawn_groups *g, uint32_t output, double *most) {
    double sum = 0, known = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const double *value = g->items[i].values[output].data,
                     *bound = g->items[i].bounds[output].data;
        for (int64_t k = 0; k < tensor_count(&g->items[i].values[output]); k++)
            if (is_known(value[k], bound[k])) {
                sum += fabs(value[k]);
                known++;
                *most = fmax(*most, bound[k]);
            }
    }
    return known > 0 ? sum / known : 0;
}

static spread spread_of(const drawn_groups *g, uint32_t output) {
    spread found = {0, 0};
    const double mean = mean_of(g, output, &found.most);
    for (uint32_t i = 0; i < g->count; i++) {
        const double *value = g->items[i].values[output].data,
                     *bound = g->items[i].bounds[output].data;
        for (int64_t k = 0; k < tensor_count(&g->items[i].values[output]); k++)
            if (is_known(value[k], bound[k]) && value[k] != 0 && fabs(value[k]) >= mean)
                found.share = fmax(found.share, bound[k] / fabs(value[k]));
    }
    return found;
}

/* Everywhere the strict value and a generous bound; where that is no number, none. */
static bool fill_elsewhere(case_context *s, uint32_t output, const drawn_groups *g, status *st) {
    const tensor *strict = &s->oracle[output];
    tensor *value = &s->references[output], *bound = &s->bounds[output];
    const spread around = spread_of(g, output);
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
    static const double anything[COMPILER_LIMITS] = {-HUGE_VAL, HUGE_VAL, 1};
    if (limits->data)
        return true;
    if (!tensor_init(limits, DTYPE_F64, 2, (int64_t[]){count, COMPILER_LIMITS}, st))
        return false;
    for (int64_t k = 0; k < count; k++)
        memcpy((double *)limits->data + k * COMPILER_LIMITS, anything, sizeof anything);
    return true;
}

/* Limits of an element of a group without any: every bound there is finite, and no NaN comes
 * beside a number. */
static void limits_of(double value, double bound, double out[COMPILER_LIMITS]) {
    out[COMPILER_LIMIT_LOW] = isnan(value) ? HUGE_VAL : value - bound;
    out[COMPILER_LIMIT_HIGH] = isnan(value) ? -HUGE_VAL : value + bound;
    out[COMPILER_LIMIT_NAN] = isnan(value);
}

static bool put_drawn(case_context *s, uint32_t output, const drawn_group *g, status *st) {
    tensor shape;
    const double *value = g->values[output].data, *bound = g->bounds[output].data,
                 *limits = g->limits[output].data;
    if (limits && !widen_limits(&s->limits[output], tensor_count(&s->oracle[output]), st))
        return false;
    int64_t *places = draw_places(&s->sample, &g->at, &s->oracle[output], output, &shape);
    double *own = s->limits[output].data;
    for (int64_t k = 0; k < tensor_count(&shape); k++) {
        ((double *)s->references[output].data)[places[k]] = value[k];
        ((double *)s->bounds[output].data)[places[k]] = bound[k];
        if (limits)
            memcpy(own + places[k] * COMPILER_LIMITS, limits + k * COMPILER_LIMITS,
                   sizeof(double) * COMPILER_LIMITS);
        else if (own)
            limits_of(value[k], bound[k], own + places[k] * COMPILER_LIMITS);
    }
    free(places);
    return true;
}

/* The groups with limits first, so that the others find that there are some. */
static bool put_groups(case_context *s, uint32_t output, const drawn_groups *g, status *st) {
    bool ok = true;
    for (int without = 0; without < 2; without++)
        for (uint32_t i = 0; i < g->count && ok; i++)
            if ((g->items[i].limits[output].data == NULL) == without)
                ok = put_drawn(s, output, &g->items[i], st);
    return ok;
}

bool case_sample_reference(case_context *s, status *st) {
    drawn_groups groups;
    bool ok = drawn_groups_compute(s, draw_positions(&s->sample, SAMPLE_STRIP), refer, &groups, st);
    s->sampled = 0;
    s->whole = ok;
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++)
        ok = fill_elsewhere(s, i, &groups, st) && put_groups(s, i, &groups, st);
    for (uint32_t i = 0; i < groups.count && ok; i++) {
        s->whole &= groups.items[i].whole;
        for (uint32_t k = 0; k < s->signature.output_count; k++)
            s->sampled += tensor_count(&groups.items[i].values[k]);
    }
    drawn_groups_release(&groups);
    return ok;
}

bool case_sample_exact(case_context *s, uint32_t output, int64_t element, status *st) {
    drawn_groups groups;
    bool ok = drawn_groups_compute(s, draw_element(s, output, element), refer, &groups, st);
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++)
        ok = put_groups(s, i, &groups, st);
    drawn_groups_release(&groups);
    return ok;
}
