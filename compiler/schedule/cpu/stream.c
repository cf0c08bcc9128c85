/* stream.c - what phases do that touch much memory: they write past the caches, and fetch what they
 * read ahead.
 *
 * A store of a whole line that goes past the caches reads nothing first, and leaves them to what is
 * read again; where everything fits into the last cache, it only costs the next reader. */
#include "parameters/thresholds.h"
#include "schedule/policy.h"
#include "schedule/scheduler.h"

static int64_t bytes_of(const scheduler *s, ir_value v) {
    const ir_type_data *t = plan_type(s->p, v);
    int64_t bytes = (int64_t)dtype_size(t->element);
    for (int i = 0; i < t->rank; i++)
        bytes *= scheduler_estimate(s, t->dims[i]);
    return bytes;
}

/* A value that a later phase reads, of a size that only a launch knows: it may well be in cache. */
static bool stays_near(const scheduler *s, ir_value v) {
    const ir_type_data *t = plan_type(s->p, v);
    bool known = true;
    for (int i = 0; i < t->rank; i++)
        known &= ir_dim_is_static(t->dims[i]);
    return !known && (!plan_is_output(s->p, v) || s->p->uses[v] > 1);
}

/* Parameters: two lists with their counts; what they make is in `out`. */
void scheduler_traffic(scheduler *s, const ir_value *sources, size_t source_count,
                       const ir_value *results, size_t result_count, int64_t ahead, traffic *out) {
    int64_t written = 0, touched = 0;
    bool near = false;
    *out = (traffic){0};
    if (!s->target->policy->streams)
        return;
    for (size_t i = 0; i < result_count; i++) {
        written += bytes_of(s, results[i]);
        near |= stays_near(s, results[i]);
    }
    for (size_t i = 0; i < source_count; i++)
        touched += bytes_of(s, sources[i]);
    touched += written;
    /* From USUAL_CACHE_BYTES on, what a core has of a usual last cache is full of other things. */
    bool far = touched >= USUAL_CACHE_BYTES;
    if (written >= MUCH_MEMORY_BYTES && (s->kind & GROUPS_OF_STREAM))
        scheduler_parameter(s, GROUPS_OF_STREAM, STREAM, far && !near, &out->stream);
    if (touched >= MUCH_MEMORY_BYTES && (s->kind & GROUPS_OF_AHEAD))
        scheduler_parameter(s, GROUPS_OF_AHEAD, AHEAD, far ? ahead : 0, &out->ahead);
}

int traffic_attrs(scheduler *s, const traffic *t, bool streams, int axis, ir_named_attr *attrs) {
    int n = 0;
    if (t->ahead) {
        attrs[n++] = (ir_named_attr){"ahead", t->ahead};
        attrs[n++] = (ir_named_attr){"ahead_axis", scheduler_int(s, axis)};
    }
    if (t->stream && streams)
        attrs[n++] = (ir_named_attr){"stream", t->stream};
    return n;
}
