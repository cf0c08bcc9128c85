/* pair.c - warm up both, choose a group for each, take pairs. */
#include "measure/pair.h"

#include "common/timer.h"

enum { TELLING = 3 };

static bool is_hopeless(const pair_plan *plan, const double *ratios, size_t count) {
    if (count != TELLING)
        return false;
    for (size_t i = 0; i < count; i++)
        if (ratios[i] <= plan->hopeless)
            return false;
    return true;
}

bool pair_take(const pair_plan *plan, const sample_source *a, const sample_source *b,
               pair_result *out) {
    double ratios[SAMPLE_MAX], as[SAMPLE_MAX], bs[SAMPLE_MAX];
    size_t count = 0, most = plan->most < SAMPLE_MAX ? plan->most : SAMPLE_MAX;
    uint64_t of_a, of_b;
    if (!sample_warm_up(plan->warm_up_ns, a, &of_a) || !sample_warm_up(plan->warm_up_ns, b, &of_b))
        return false;
    uint64_t start = timer_now_ns();
    while (count < most && !is_hopeless(plan, ratios, count)) {
        bool b_first = count % 2 == 1;
        if ((b_first && !sample_once(b, of_b, &bs[count])) || !sample_once(a, of_a, &as[count]) ||
            (!b_first && !sample_once(b, of_b, &bs[count])))
            return false;
        ratios[count] = bs[count] / (as[count] > 0 ? as[count] : 1);
        count++;
        if (sample_enough(count, plan->least, timer_now_ns() - start, plan->budget_ns))
            break;
    }
    out->ratio = statistics_of(ratios, count);
    out->a_ns = statistics_of(as, count);
    out->b_ns = statistics_of(bs, count);
    return true;
}
