/* place.c - a point under its ceiling, which is measured beside it where it has modes. */
#include "place.h"

#include <stdio.h>

#include "measure/roofline.h"

enum { ATTEMPTS = 4 };

static bool query_of(const json_t *result, const json_t *internal, roofline_query *query) {
    const char *element = json_string_value(json_object_get(internal, "element"));
    const json_t *median = json_object_get(json_object_get(result, "time_ns"), "median");
    *query = (roofline_query){
        .type = element ? dtype_from_name(element) : DTYPE_F32,
        .profile = json_string_value(json_object_get(result, "profile")),
        .threads = (uint32_t)json_integer_value(json_object_get(result, "threads")),
        .flops = (uint64_t)json_integer_value(json_object_get(result, "flops")),
        .bytes = (uint64_t)json_integer_value(json_object_get(result, "bytes")),
        .working_set_bytes = (uint64_t)json_integer_value(json_object_get(internal, "working_set")),
        .time_ns = json_number_value(median),
    };
    return query->time_ns > 0;
}

/* Bandwidth has modes, and other tenants take their share of it: so it is measured where and when
 * the point was. */
static bool place_beside(ceilings *c, const roofline_query *query, roofline_point *point,
                         status *st) {
    if (point->compute_bound ||
        !ceilings_set_is_shared(c, query->working_set_bytes, query->threads))
        return true;
    ceiling_set_probe probe = {.set_bytes = query->working_set_bytes, .threads = query->threads};
    return ceilings_probe_set(c, &probe, st) && roofline_place(c, query, point);
}

/* Above the limit the time is too short or the ceiling too low: only the second can be mended. */
static bool place_again(ceilings *c, const roofline_query *query, roofline_point *point,
                        status *st) {
    ceiling_set_probe probe = {
        .set_bytes = query->working_set_bytes, .threads = query->threads, .keep_greater = true};
    for (int i = 0; i < ATTEMPTS && point->fraction > ROOFLINE_LIMIT; i++) {
        char name[CEILING_NAME_BYTES];
        snprintf(name, sizeof name, "%s", point->resource);
        bool ok = point->compute_bound ? ceilings_probe(c, name, query->threads, st)
                                       : ceilings_probe_set(c, &probe, st);
        if (!ok)
            return false;
        roofline_place(c, query, point);
    }
    return true;
}

static void put_point(json_t *result, const roofline_point *point) {
    json_object_set_new(result, "roofline",
                        json_pack("{s:s, s:f, s:f}", "bound",
                                  point->compute_bound ? "compute" : "memory", "ceiling",
                                  point->ceiling, "fraction", point->fraction));
    if (point->fraction <= ROOFLINE_LIMIT)
        return;
    char why[160];
    snprintf(why, sizeof why,
             "%.2f of its roofline (%s): the time, the count of work or the ceiling is wrong",
             point->fraction, point->resource);
    json_object_set_new(result, "status", json_string("error"));
    json_object_set_new(result, "why", json_string(why));
}

bool place_result(ceilings *c, json_t *result, const json_t *internal,
                  char resource[CEILING_NAME_BYTES], status *st) {
    roofline_query query;
    roofline_point point;
    resource[0] = '\0';
    if (!query_of(result, internal, &query) || !roofline_place(c, &query, &point))
        return true;
    if (!place_beside(c, &query, &point, st) || !place_again(c, &query, &point, st))
        return false;
    snprintf(resource, CEILING_NAME_BYTES, "%s", point.resource);
    put_point(result, &point);
    return true;
}
