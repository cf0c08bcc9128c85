/* roofline_place.c - a point under its ceiling, which is measured beside it where it has modes. */
#include "run/roofline_place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "job/result.h"
#include "measure/roofline.h"

typedef struct placement {
    ceilings *c;
    const roofline_place_source *source;
    json_t **result, **internal;
    roofline_query query;
    roofline_point point;
    double times_ns[ROOFLINE_PLACE_ROUNDS + 1], values[2 * ROOFLINE_PLACE_ROUNDS + 1];
    int time_count, value_count;
} placement;

static uint32_t ranks_of(const json_t *result) {
    const json_t *ranks = result_get(result, RESULT_RANKS);
    return ranks ? (uint32_t)json_integer_value(ranks) : 1;
}

/* Threads of all ranks, which share the work; more than the machine has do no more of it. */
static uint32_t threads_of(const json_t *result) {
    const uint32_t each = (uint32_t)result_whole(result, RESULT_THREADS),
                   all = each * ranks_of(result);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return all > each && cores > 0 && all > (uint32_t)cores
               ? (uint32_t)cores > each ? (uint32_t)cores : each
               : all;
}

/* False where there is no time, or nothing to hold it against: the ceilings are the host's. */
static bool describe(placement *p) {
    const json_t *result = *p->result, *internal = *p->internal;
    const char *element = json_string_value(internal_get(internal, INTERNAL_ELEMENT));
    p->query = (roofline_query){
        .type = element ? dtype_from_name(element) : DTYPE_F32,
        .profile = result_text(result, RESULT_PROFILE),
        .pairs = json_is_true(internal_get(internal, INTERNAL_PAIRS)),
        .threads = threads_of(result),
        .flops = (uint64_t)json_integer_value(result_get(result, RESULT_FLOPS)),
        .bytes = (uint64_t)json_integer_value(result_get(result, RESULT_BYTES)),
        .working_set_bytes = /* at least the part of each rank */
        (uint64_t)json_integer_value(internal_get(internal, INTERNAL_WORKING_SET)) /
        ranks_of(result),
        .time_ns = json_number_value(result_get(result, RESULT_MEDIAN)),
    };
    return p->query.time_ns > 0 && !json_is_true(internal_get(internal, INTERNAL_OWN_MEMORY));
}

static bool locate(placement *p) {
    return describe(p) && roofline_place(p->c, &p->query, &p->point);
}

static bool is_above(const placement *p) {
    return p->point.fraction > ROOFLINE_LIMIT;
}

static bool measure_ceiling(const placement *p, const char *resource,
                            const ceiling_set_probe *probe, status *st) {
    if (p->source->ceiling)
        return p->source->ceiling(p->source->context, p->c, resource, probe, st);
    return resource ? ceilings_probe(p->c, resource, probe->threads, st)
                    : ceilings_probe_set(p->c, probe, st);
}

/* Probes whatever bounds the point. */
static bool probe(placement *p, bool keep_greater, status *st) {
    ceiling_set_probe set = {.set_bytes = p->query.working_set_bytes,
                             .threads = p->query.threads,
                             .keep_greater = keep_greater};
    char name[CEILING_NAME_BYTES];
    snprintf(name, sizeof name, "%s", p->point.resource);
    return measure_ceiling(p, p->point.compute_bound ? name : NULL, &set, st) &&
           roofline_place(p->c, &p->query, &p->point);
}

/* Bandwidth has modes, and other tenants take their share of it: so it is measured where and when
 * the point was. */
static bool roofline_place_beside(placement *p, status *st) {
    if (p->point.compute_bound ||
        !ceilings_set_is_shared(p->c, p->query.working_set_bytes, p->query.threads))
        return true;
    return probe(p, false, st);
}

static bool probe_and_note(placement *p, status *st) {
    if (!probe(p, true, st))
        return false;
    p->values[p->value_count++] = p->point.ceiling;
    return true;
}

/* Above the limit the time is too short or the ceiling too low: both are looked at again. */
static bool roofline_place_again(placement *p, status *st) {
    p->times_ns[p->time_count++] = p->query.time_ns;
    p->values[p->value_count++] = p->point.ceiling;
    for (int i = 0; i < ROOFLINE_PLACE_ROUNDS && is_above(p); i++) {
        if (!probe_and_note(p, st))
            return false;
        if (!is_above(p) || !p->source->point)
            continue;
        if (!p->source->point(p->source->context, p->result, p->internal, st))
            return false;
        if (!result_outcome(*p->result) == OUTCOME_OK || !locate(p))
            return true;
        p->times_ns[p->time_count++] = p->query.time_ns;
        if (!probe_and_note(p, st))
            return false;
    }
    return true;
}

static json_t *list_of(const double *values, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

static void tell(const double *values, int count, double unit, text *out) {
    for (int i = 0; i < count; i++)
        text_printf(out, "%s%.3g", i ? ", " : "", values[i] / unit);
}

static void accuse(placement *p) {
    text why;
    text_init(&why);
    text_printf(&why,
                "%.2f of its roofline (%s), also when both were measured again in turn: the time, "
                "the count of work or the ceiling is wrong; times ",
                p->point.fraction, p->point.resource);
    tell(p->times_ns, p->time_count, 1e3, &why);
    text_append(&why, " us, ceilings ");
    tell(p->values, p->value_count, 1, &why);
    text_append(&why, p->point.compute_bound ? " GFLOP/s" : " GB/s");
    result_set_outcome(*p->result, OUTCOME_ERROR, why.data, EXIT_CHECK);
    text_release(&why);
}

static void put_point(placement *p) {
    json_t *result = *p->result;
    result_put_BOUND(result, p->point.compute_bound ? "compute" : "memory");
    result_put_RESOURCE(result, p->point.resource);
    result_put_CEILING(result, p->point.ceiling);
    result_put_FRACTION(result, p->point.fraction);
    if (p->value_count)
        result_put_AGAIN(result,
                         json_pack("{s:o, s:o}", "times_ns", list_of(p->times_ns, p->time_count),
                                   "ceilings", list_of(p->values, p->value_count)));
    if (is_above(p))
        accuse(p);
}

bool roofline_place_result(ceilings *c, const roofline_place_source *source, json_t **result,
                           json_t **internal, status *st) {
    placement p = {.c = c, .source = source, .result = result, .internal = internal};
    if (!describe(&p))
        return true;
    if (source->needed && !source->needed(source->context, c, &p.query, st))
        return false;
    if (!roofline_place(c, &p.query, &p.point))
        return true;
    if (!roofline_place_beside(&p, st) || (is_above(&p) && !roofline_place_again(&p, st)))
        return false;
    if (p.value_count && result_outcome(*result) != OUTCOME_OK)
        return true; /* it was measured again, and something else is wrong with it */
    put_point(&p);
    return true;
}
