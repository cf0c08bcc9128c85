/* stream.c - which phases write past the caches. A store of a whole line that goes there reads
 * nothing first, and leaves the cache to what is read again; where everything fits into the last
 * cache, it only costs the next reader. */
#include "schedule/scheduler.h"

/* A phase that touches less than the first has no such parameter; from the second on it streams by
 * itself: what a core has of a usual last cache is full of other things by then. */
static const int64_t least_bytes = INT64_C(1) << 20, usual_bytes = INT64_C(24) << 20;

static int64_t bytes_of(const scheduler *s, ir_value v) {
    const ir_type_data *t = plan_type(s->p, v);
    int64_t bytes = (int64_t)dtype_size(t->element);
    for (int i = 0; i < t->rank; i++)
        bytes *= t->dims[i];
    return bytes;
}

int64_t scheduler_stream(scheduler *s, const ir_value *sources, size_t source_count,
                         const ir_value *results, size_t result_count, ir_attr *name) {
    int64_t written = 0, touched = 0;
    *name = 0;
    for (size_t i = 0; i < result_count; i++)
        written += bytes_of(s, results[i]);
    for (size_t i = 0; i < source_count; i++)
        touched += bytes_of(s, sources[i]);
    touched += written;
    if (written < least_bytes)
        return 0;
    return scheduler_parameter(s, "STREAM", touched >= usual_bytes, name);
}
