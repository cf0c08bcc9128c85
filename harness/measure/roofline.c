/* roofline.c - places one measurement. */
#include "measure/roofline.h"

#include <string.h>

bool roofline_place(const ceilings *c, const roofline_query *query, roofline_point *out) {
    bool dots = query->pairs || strcmp(query->profile, "strict") != 0;
    const ceiling *peak = ceilings_compute(c, query->type, dots, query->threads);
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
