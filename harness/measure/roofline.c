/* roofline.c - places one measurement. */
#include "measure/roofline.h"

#include <string.h>

static bool has_dots(const roofline_query *query) {
    return query->pairs || strcmp(query->profile, "strict") != 0;
}

bool roofline_measure(ceilings *c, const roofline_query *query, bool quick, status *st) {
    const ceilings_need need = {query->type, has_dots(query), query->working_set_bytes,
                                query->threads};
    return quick ? ceilings_measure_needed(c, &need, st)
                 : ceilings_measure(c, query->threads, false, st);
}

bool roofline_place(const ceilings *c, const roofline_query *query, roofline_point *out) {
    const ceiling *peak = ceilings_compute(c, query->type, has_dots(query), query->threads);
    const ceiling *stream = ceilings_memory(c, query->working_set_bytes, query->threads);
    if (!peak || !stream || !(peak->value > 0) || !(stream->value > 0) || !(query->time_ns > 0))
        return false;
    double compute_ns = (double)query->flops / peak->value;
    double memory_ns = (double)query->bytes / stream->value;
    if (compute_ns <= 0 && memory_ns <= 0)
        return false;
    bool compute = compute_ns >= memory_ns;
    *out = (roofline_point){.compute_bound = compute,
                            .ceiling = compute ? peak->value : stream->value,
                            .fraction = (compute ? compute_ns : memory_ns) / query->time_ns,
                            .intensity =
                                query->bytes ? (double)query->flops / (double)query->bytes : 0,
                            .resource = compute ? peak->resource : stream->resource};
    return true;
}
