/* sample.c - warm up, choose the group, sample. */
#include "measure/sample.h"

#include "measure/timer.h"

enum { GROUPS_OF_SHORT = 3, SHORT_NS = 1000000 };

sample_plan sample_plan_for(bool quick) {
    if (quick)
        return (sample_plan){.least = 5, .most = 11, .budget_ns = 60000000, .warm_up_ns = 5000000};
    return (sample_plan){.least = 7, .most = 51, .budget_ns = 700000000, .warm_up_ns = 50000000};
}

static bool time_group(sample_action action, void *context, uint64_t repeats, double *ns) {
    uint64_t start = timer_now_ns();
    for (uint64_t i = 0; i < repeats; i++)
        if (!action(context))
            return false;
    uint64_t took = timer_now_ns() - start;
    uint64_t cost = timer_cost_ns();
    *ns = (double)(took > cost ? took - cost : took) / (double)repeats;
    return true;
}

/* Runs the action for a while; the last run, when caches are warm, tells how many make a group. */
static bool warm_up(const sample_plan *plan, sample_action action, void *context, uint64_t *repeats,
                    uint64_t *ran) {
    uint64_t start = timer_now_ns();
    uint64_t group = 1;
    *ran = 0;
    for (;;) {
        double each;
        if (!time_group(action, context, group, &each))
            return false;
        *ran += group;
        *repeats = each > 0 ? (uint64_t)(SAMPLE_GROUP_NS / each) + 1 : SAMPLE_GROUP_NS;
        if (timer_now_ns() - start >= plan->warm_up_ns)
            return true;
        group = *repeats;
    }
}

bool sample_take(const sample_plan *plan, sample_action action, void *context, sample_set *out) {
    uint64_t repeats;
    out->count = 0;
    if (!warm_up(plan, action, context, &repeats, &out->actions))
        return false;
    uint64_t start = timer_now_ns();
    size_t most = plan->most < SAMPLE_MAX ? plan->most : SAMPLE_MAX;
    while (out->count < most) {
        double best = 0;
        for (int group = 0; group < GROUPS_OF_SHORT; group++) {
            double ns;
            if (!time_group(action, context, repeats, &ns))
                return false;
            out->actions += repeats;
            if (group == 0 || ns < best)
                best = ns;
            if (ns * (double)repeats > SHORT_NS)
                break;
        }
        out->ns[out->count++] = best;
        if (out->count >= plan->least && timer_now_ns() - start > plan->budget_ns)
            break;
    }
    return true;
}
