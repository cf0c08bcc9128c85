/* execute_guest.c - what the process of an implementation does beside its calls. */
#include "case/implementation.h"
#include "device/foreign.h"
#include "exec/execution.h"

enum { TELLING_NS = 5000000 }; /* shorter times say nothing */
/* Of the time that it was not stopped. Libraries have threads that wait, and look around now and
 * then. */
static const double slack = 0.25;
/* Processes that nobody waits for have no reason to run at all. */
static const double left_behind_slack = 0.02;

bool execution_has_guest(const execution *e) {
    return e->job->implementation &&
           implementation_has_guest((implementation_kind)e->job->implementation_kind);
}

void execution_guest_begin(execution *e) {
    if (!execution_has_guest(e))
        return;
    e->guest.before = foreign_cpu_time(e->job->threads);
    e->guest.left_behind_ns = foreign_left_behind_cpu_ns();
}

static double since(uint64_t now, uint64_t before) {
    return now > before ? (double)(now - before) : 0;
}

/* Of threads beyond those that it was given, whether they still run or not. */
static uint64_t others_ns(foreign_cpu cpu) {
    return cpu.all_ns > cpu.busiest_ns ? cpu.all_ns - cpu.busiest_ns : 0;
}

static bool check_left_behind(const execution *e, double awake, status *st) {
    double left = since(foreign_left_behind_cpu_ns(), e->guest.left_behind_ns);
    return left <= TELLING_NS / 2.0 + left_behind_slack * awake ||
           status_set(st, STATUS_MISMATCH,
                      "a process that it started went on computing: for %.1f ms, while it was "
                      "called for %.1f ms",
                      left * 1e-6, awake * 1e-6);
}

/* Work that threads hand to each other is theirs to arrange: too much is what more threads do than
 * it was given, and more at the same time than it has threads. */
static bool check_threads(const execution *e, foreign_cpu now, double awake, status *st) {
    const foreign_cpu *before = &e->guest.before;
    double others = since(others_ns(now), others_ns(*before));
    double wanted = since(now.all_ns + now.waited_ns, before->all_ns + before->waited_ns);
    return others <= TELLING_NS + slack * awake ||
           wanted <= TELLING_NS + (e->job->threads + slack) * awake ||
           status_set(
               st, STATUS_MISMATCH,
               "more threads computed than --threads gives it (%u): all of them for %.1f ms, "
               "while it was called for %.1f ms; either it takes no notice of "
               "OMP_NUM_THREADS, or it works on after its calls have returned",
               e->job->threads, wanted * 1e-6, awake * 1e-6);
}

bool execution_guest_check(const execution *e, status *st) {
    if (!execution_has_guest(e))
        return true;
    foreign_cpu now = foreign_cpu_time(e->job->threads);
    double awake = since(now.awake_ns, e->guest.before.awake_ns);
    return check_left_behind(e, awake, st) && check_threads(e, now, awake, st);
}
