/* execute_guest.c - what the process of an implementation does beside its calls. */
#include "common/timer.h"
#include "device/foreign.h"
#include "exec/execution.h"

enum { TELLING_NS = 5000000 }; /* shorter times say nothing */
/* Of a core, over what it was given: the guest's own loop waits for calls, too. */
static const double threads_slack = 0.5, left_behind_share = 0.25;

void execution_guest_part(execution *e, bool begins) {
    struct guest_time *g = &e->guest;
    if (begins) {
        g->part_cpu_ns = foreign_cpu_ns();
        g->part_ns = timer_now_ns();
        return;
    }
    foreign_freeze(); /* first: what it still has to do for its outputs is not done */
    g->ns += timer_now_ns() - g->part_ns;
    g->cpu_ns += foreign_cpu_ns() - g->part_cpu_ns;
}

void execution_guest_begin(execution *e) {
    e->guest = (struct guest_time){0};
    if (e->job->implementation)
        e->guest.left_behind_ns = foreign_left_behind_cpu_ns();
}

bool execution_guest_check(const execution *e, status *st) {
    const struct guest_time *g = &e->guest;
    if (!e->job->implementation)
        return true;
    double all = (double)g->ns, cores = (double)g->cpu_ns / (all > 0 ? all : 1);
    uint64_t now = foreign_left_behind_cpu_ns();
    double left = now > g->left_behind_ns ? (double)(now - g->left_behind_ns) : 0;
    if (left > TELLING_NS + left_behind_share * all)
        return status_set(st, STATUS_MISMATCH,
                          "a process that it started went on computing: for %.1f ms, while %.1f ms "
                          "were timed",
                          left * 1e-6, all * 1e-6);
    if (all > TELLING_NS && cores > e->job->threads + threads_slack)
        return status_set(st, STATUS_MISMATCH,
                          "it used %.1f cores while it was timed, and --threads gives it %u: "
                          "either it takes no notice of OMP_NUM_THREADS, or threads work on after "
                          "its calls have returned",
                          cores, e->job->threads);
    return true;
}
