/* sample.c - warm up, choose the group, sample. */
#include "measure/sample.h"

#include "common/timer.h"

enum { GROUPS_OF_SHORT = 3, SHORT_NS = 1000000 };

sample_plan sample_plan_for(bool quick) {
    if (quick)
        return (sample_plan){.least = 5, .most = 11, .budget_ns = 60000000, .warm_up_ns = 5000000};
    return (sample_plan){.least = 7, .most = 51, .budget_ns = 200000000, .warm_up_ns = 20000000};
}

static uint64_t repeats_for(double each_ns, const sample_source *source) {
    uint64_t group_ns = source->group_ns ? source->group_ns : SAMPLE_GROUP_NS;
    uint64_t repeats = each_ns > 0 ? (uint64_t)((double)group_ns / each_ns) + 1 : group_ns;
    return repeats == 1 ? 1
                        : (repeats + source->multiple - 1) / source->multiple * source->multiple;
}

bool sample_warm_up(uint64_t warm_up_ns, const sample_source *source, uint64_t *repeats) {
    uint64_t start = timer_now_ns();
    uint64_t group = 1;
    double least = 0;
    for (;;) {
        double each;
        if (!source->group(source->context, group, &each))
            return false;
        least = least > 0 && least < each ? least : each;
        *repeats = repeats_for(least, source);
        if (timer_now_ns() - start >= warm_up_ns)
            return true;
        group = *repeats;
    }
}

/* The least of a few groups, or one group of a long action. */
bool sample_once(const sample_source *source, uint64_t repeats, double *ns) {
    for (int i = 0; i < GROUPS_OF_SHORT; i++) {
        double each;
        if (!source->group(source->context, repeats, &each))
            return false;
        if (i == 0 || each < *ns)
            *ns = each;
        if (each * (double)repeats > SHORT_NS)
            break;
    }
    return true;
}

bool sample_enough(size_t count, size_t least, uint64_t spent_ns, uint64_t budget_ns) {
    bool is_long = count >= SAMPLE_LEAST_LONG && spent_ns > SAMPLE_LONG_NS;
    return (count >= least || is_long) && spent_ns > budget_ns;
}

bool sample_take(const sample_plan *plan, const sample_source *source, sample_set *out) {
    out->count = 0;
    if (!sample_warm_up(plan->warm_up_ns, source, &out->repeats))
        return false;
    uint64_t start = timer_now_ns();
    size_t most = plan->most < SAMPLE_MAX ? plan->most : SAMPLE_MAX;
    while (out->count < most) {
        if (!sample_once(source, out->repeats, &out->ns[out->count++]))
            return false;
        if (sample_enough(out->count, plan->least, timer_now_ns() - start, plan->budget_ns))
            break;
    }
    return true;
}
