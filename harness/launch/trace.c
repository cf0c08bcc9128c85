/* trace.c - see trace.h. */
#include "launch/trace.h"

#include <string.h>

#include "launch/ranks.h"
#include "telemetry.h"

bool launch_trace(launch *l, telemetry_record *records, size_t capacity, size_t *count,
                  status *st) {
    if (l->ranks)
        return launch_ranks_trace(l->ranks, records, capacity, count, st);
    telemetry_record newest;
    const uint64_t first = telemetry_read(l->context, &newest, 1) ? newest.serial + 1 : 0;
    telemetry_enable(l->context, true);
    const bool ok = launch_run(l, st);
    telemetry_enable(l->context, false);
    const size_t all = telemetry_read(l->context, records, capacity);
    size_t old = 0;
    while (old < all && records[old].serial < first)
        old++;
    *count = all - old;
    memmove(records, records + old, *count * sizeof *records);
    return ok;
}
