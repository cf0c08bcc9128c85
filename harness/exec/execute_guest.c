/* execute_guest.c - what the process of an implementation does beside its calls. */
#include "common/timer.h"
#include "device/foreign.h"
#include "exec/execution.h"

enum { TELLING_NS = 5000000 }; /* shorter times say nothing */
/* Of what was timed. Libraries have threads that wait, and look around now and then. */
static const double slack = 0.25;
/* Processes that nobody waits for have no reason to run at all. */
static const double left_behind_slack = 0.02;

/* Outside of the parts the guest is stopped, so what it uses it uses inside. */
void execution_guest_part(execution *e, bool begins) {
    struct guest_time *g = &e->guest;
    if (begins) {
        g->part_ns = timer_now_ns();
        return;
    }
    foreign_freeze(); /* first: what it still has to do for its outputs is not done */
    g->ns += timer_now_ns() - g->part_ns;
}

/* Of threads beyond those that it was given, whether they still run or not. */
static uint64_t others_ns(const execution *e) {
    foreign_cpu cpu = foreign_cpu_time(e->job->threads);
    return cpu.all_ns > cpu.busiest_ns ? cpu.all_ns - cpu.busiest_ns : 0;
}

void execution_guest_begin(execution *e) {
    e->guest = (struct guest_time){0};
    if (!e->job->implementation)
        return;
    e->guest.others_ns = others_ns(e);
    e->guest.left_behind_ns = foreign_left_behind_cpu_ns();
}

static double since(uint64_t now, uint64_t before) {
    return now > before ? (double)(now - before) : 0;
}

bool execution_guest_check(const execution *e, status *st) {
    const struct guest_time *g = &e->guest;
    if (!e->job->implementation)
        return true;
    double allowed = TELLING_NS + slack * (double)g->ns;
    double left = since(foreign_left_behind_cpu_ns(), g->left_behind_ns);
    if (left > TELLING_NS / 2.0 + left_behind_slack * (double)g->ns)
        return status_set(st, STATUS_MISMATCH,
                          "a process that it started went on computing: for %.1f ms, while %.1f ms "
                          "were timed",
                          left * 1e-6, (double)g->ns * 1e-6);
    double others = since(others_ns(e), g->others_ns);
    if (others > allowed)
        return status_set(st, STATUS_MISMATCH,
                          "more threads computed than --threads gives it (%u): they used %.1f ms, "
                          "while %.1f ms were timed; either it takes no notice of "
                          "OMP_NUM_THREADS, or it works on after its calls have returned",
                          e->job->threads, others * 1e-6, (double)g->ns * 1e-6);
    return true;
}
