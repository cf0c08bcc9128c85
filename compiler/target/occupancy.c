/* occupancy.c - see occupancy.h; the arithmetic of NVIDIA's occupancy calculator, which is AMD's,
 * too, with other portions. */
#include "target/occupancy.h"

static int64_t in_portions(int64_t n, int64_t portion) {
    return (n + portion - 1) / portion * portion;
}

static void limit(occupancy *o, int64_t workgroups, occupancy_limit by) {
    if (workgroups >= o->workgroups)
        return;
    o->workgroups = workgroups;
    o->by = by;
}

occupancy occupancy_of(const target_unit *unit, int64_t threads, int64_t registers,
                       int64_t shared_bytes) {
    int64_t each = in_portions(registers, unit->register_granule),
            shared = in_portions(shared_bytes + unit->system_bytes, unit->shared_granule);
    occupancy o = {unit->threads / threads, 0,
                   unit->threads % threads ? LIMITED_BY_THREADS : LIMITED_BY_NOTHING};
    each = each > unit->register_least ? each : unit->register_least;
    limit(&o, unit->workgroups, LIMITED_BY_WORKGROUPS);
    limit(&o, unit->registers / (each * threads), LIMITED_BY_REGISTERS);
    if (shared)
        limit(&o, unit->shared_bytes / shared, LIMITED_BY_SHARED);
    o.share = (double)(o.workgroups * threads) / (double)unit->threads;
    return o;
}
