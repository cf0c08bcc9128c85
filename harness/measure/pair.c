/* pair.c - warm up both, choose a group for each, take pairs. */
#include "measure/pair.h"

#include "common/timer.h"

enum { GROUPS_OF_SHORT = 3, SHORT_NS = 1000000, TELLING = 3 };

typedef struct timed {
    sample_action action;
    void *context;
    uint64_t repeats;
} timed;

static bool time_group(const timed *t, double *ns) {
    uint64_t start = timer_now_ns();
    for (uint64_t i = 0; i < t->repeats; i++)
        if (!t->action(t->context))
            return false;
    uint64_t took = timer_now_ns() - start, cost = timer_cost_ns();
    *ns = (double)(took > cost ? took - cost : took) / (double)t->repeats;
    return true;
}

static bool warm_up(timed *t, uint64_t warm_up_ns) {
    uint64_t start = timer_now_ns();
    t->repeats = 1;
    for (;;) {
        double each;
        if (!time_group(t, &each))
            return false;
        t->repeats = each > 0 ? (uint64_t)(SAMPLE_GROUP_NS / each) + 1 : SAMPLE_GROUP_NS;
        if (timer_now_ns() - start >= warm_up_ns)
            return true;
    }
}

static bool time_once(const timed *t, double *best) {
    for (int group = 0; group < GROUPS_OF_SHORT; group++) {
        double ns;
        if (!time_group(t, &ns))
            return false;
        if (group == 0 || ns < *best)
            *best = ns;
        if (ns * (double)t->repeats > SHORT_NS)
            break;
    }
    return true;
}

static bool is_hopeless(const pair_plan *plan, const double *ratios, size_t count) {
    if (count != TELLING)
        return false;
    for (size_t i = 0; i < count; i++)
        if (ratios[i] <= plan->hopeless)
            return false;
    return true;
}

bool pair_take(const pair_plan *plan, sample_action action, void *a, void *b, pair_result *out) {
    double ratios[SAMPLE_MAX], as[SAMPLE_MAX], bs[SAMPLE_MAX];
    timed first = {action, a, 1}, second = {action, b, 1};
    size_t count = 0, most = plan->most < SAMPLE_MAX ? plan->most : SAMPLE_MAX;
    if (!warm_up(&first, plan->warm_up_ns) || !warm_up(&second, plan->warm_up_ns))
        return false;
    uint64_t start = timer_now_ns();
    while (count < most && !is_hopeless(plan, ratios, count)) {
        bool turned = count % 2 == 1;
        if (!time_once(turned ? &second : &first, turned ? &bs[count] : &as[count]) ||
            !time_once(turned ? &first : &second, turned ? &as[count] : &bs[count]))
            return false;
        ratios[count] = bs[count] / (as[count] > 0 ? as[count] : 1);
        count++;
        if (count >= plan->least && timer_now_ns() - start > plan->budget_ns)
            break;
    }
    out->ratio = statistics_of(ratios, count);
    out->a_ns = statistics_of(as, count).median;
    out->b_ns = statistics_of(bs, count).median;
    return true;
}
