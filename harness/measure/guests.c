/* guests.c - see guests.h. */
#include "measure/guests.h"

#include <sched.h>

#include "process/process.h"

enum {
    TELLING_NS = 5000000, /* shorter times say nothing */
    TICKS_NS = 20000000   /* what the system counts by, twice */
};
/* Libraries have threads that wait, and look around now and then: a share of what one thread takes
 * that it was given. */
static const double slack = 0.25;
/* A process that nobody waits for has no reason to run: the share of the guest's time it may take.
 */
static const double left_behind_slack = 0.02;

void guest_watch_begin(guest_watch *w, uint32_t threads) {
    *w = (guest_watch){.threads = threads};
    foreign_spare(process_is_ours);
}

static guest_seen *find(const guest_watch *w, uint64_t number) {
    for (size_t i = 0; i < w->count; i++)
        if (w->seen[i].number == number)
            return (guest_seen *)&w->seen[i];
    return NULL;
}

void guest_watch_add(guest_watch *w, uint64_t number) {
    if (!number || w->count == GUESTS_MAX || find(w, number))
        return;
    guest_seen *g = &w->seen[w->count];
    *g = (guest_seen){.number = number, .threads = w->threads};
    if (!foreign_cost_of(number, w->threads, &g->before) ||
        !foreign_schedule_of(number, &g->born, &g->schedule))
        return;
    w->count++;
}

/* ---- how it is scheduled ---- */

static const foreign_thread *thread_with(const foreign_schedule *s, pid_t id) {
    for (size_t i = 0; i < s->count; i++)
        if (s->threads[i].id == id)
            return &s->threads[i];
    return NULL;
}

static bool is_alike(const foreign_thread *a, const foreign_thread *b) {
    return a->policy == b->policy && a->nice == b->nice && a->cores == b->cores;
}

static bool tell_changed(const char *whose, const foreign_thread *was, const foreign_thread *is,
                         status *st) {
    bool priority = is->policy != was->policy || is->nice != was->nice;
    return status_set(st, STATUS_MISMATCH,
                      "how %s is scheduled was changed: %s (policy %d, nice %d; before policy %d, "
                      "nice %d)",
                      whose, priority ? "its priority" : "the processors that it may use",
                      is->policy, is->nice, was->policy, was->nice);
}

/* Requires that no thread of a stopped guest is scheduled otherwise than before. */
static bool is_as_it_was(const foreign_schedule *before, const foreign_schedule *now,
                         const char *whose, status *st) {
    for (size_t i = 0; i < now->count; i++) {
        const foreign_thread *was = thread_with(before, now->threads[i].id);
        if (was && !is_alike(was, &now->threads[i]))
            return tell_changed(whose, was, &now->threads[i], st);
    }
    return true;
}

/* Requires of the guest in hand that none of its threads comes before others, and that the one that
 * is called stays as it was; the processors that they run on are theirs to choose. */
static bool is_modest(const guest_seen *g, const foreign_schedule *now, status *st) {
    for (size_t i = 0; i < now->count; i++) {
        const foreign_thread *t = &now->threads[i];
        bool lower = i && (t->policy == SCHED_BATCH || t->policy == SCHED_IDLE);
        if ((t->policy != g->born.policy && !lower) || t->nice < g->born.nice ||
            (!i && t->nice != g->born.nice))
            return tell_changed("it", &g->born, t, st);
    }
    return true;
}

static bool check_schedules(guest_watch *w, uint64_t in_hand, bool others, status *st) {
    static const char *const whose = "another side";
    foreign_schedule now;
    for (size_t i = 0; i < w->count; i++) {
        guest_seen *g = &w->seen[i];
        bool own = g->number == in_hand;
        if ((!own && !others) || !foreign_schedule_of(g->number, &g->born, &now))
            continue;
        if (own ? !is_modest(g, &now, st) : !is_as_it_was(&g->schedule, &now, whose, st))
            return false;
        g->schedule = now;
    }
    return true;
}

/* ---- parts ---- */

void guest_watch_part_begins(guest_watch *w) {
    uint64_t numbers[GUESTS_MAX];
    size_t count = foreign_guests(numbers, GUESTS_MAX);
    for (size_t i = 0; i < count; i++)
        guest_watch_add(w, numbers[i]);
    if (!count)
        return;
    foreign_freeze();
    foreign_keep_awake(true);
}

bool guest_watch_part_ends(guest_watch *w, status *st) {
    if (!w->count)
        return true;
    foreign_freeze();
    foreign_keep_awake(false);
    return check_schedules(w, foreign_called(), true, st);
}

bool guest_watch_called(guest_watch *w, status *st) {
    if (!w->count)
        return true;
    foreign_freeze_called();
    return check_schedules(w, foreign_called(), false, st);
}

/* ---- what it did beside its calls ---- */

static double since(uint64_t now, uint64_t before) {
    return now > before ? (double)(now - before) : 0;
}

/* Adds up the time of threads beyond those that it was given, ended ones included. */
static uint64_t others_ns(const foreign_cost *cost) {
    return cost->all_ns > cost->busiest_ns ? cost->all_ns - cost->busiest_ns : 0;
}

static bool check_left_behind(const foreign_cost *before, const foreign_cost *now, double awake,
                              status *st) {
    double left = since(now->started_ns, before->started_ns);
    if (now->memory_is_shared)
        return status_set(st, STATUS_MISMATCH,
                          "a process that it started went on computing, or can: it has the tensors "
                          "of the calls in its memory");
    return left <= TELLING_NS / 2.0 + left_behind_slack * awake ||
           status_set(st, STATUS_MISMATCH,
                      "a process that it started went on computing: for %.1f ms, while it was "
                      "called for %.1f ms",
                      left * 1e-6, awake * 1e-6);
}

/* Work that threads hand to each other is theirs to arrange: too much is what more threads do than
 * it was given, and more at the same time than it has threads. Children count as threads.
 *
 * Processor time is compared with processor time, and time in which threads were ready to run with
 * time that passed: where others keep the machine busy all threads of the guest run less, and none
 * of both ratios changes. */
static bool check_threads(const guest_seen *g, const foreign_cost *now, double awake, status *st) {
    const foreign_cost *before = &g->before;
    double ended = since(now->ended_ns, before->ended_ns);
    ended = ended > TICKS_NS ? ended - TICKS_NS : 0;
    double others = since(others_ns(now), others_ns(before)) + ended;
    double one = since(now->busiest_ns, before->busiest_ns) / g->threads;
    double wanted = since(now->all_ns + now->waited_ns, before->all_ns + before->waited_ns) + ended;
    return others <= TELLING_NS + slack * one ||
           wanted <= TELLING_NS + (g->threads + slack) * awake ||
           status_set(
               st, STATUS_MISMATCH,
               "more threads computed than --threads gives it (%u): all of them for %.1f ms, "
               "while it was called for %.1f ms; either it takes no notice of "
               "OMP_NUM_THREADS, or it works on after its calls have returned",
               g->threads, wanted * 1e-6, awake * 1e-6);
}

bool guest_watch_settle(const guest_watch *w, uint64_t number, status *st) {
    const guest_seen *g = find(w, number);
    foreign_cost now;
    if (!g || !foreign_cost_of(number, g->threads, &now))
        return true;
    double awake = since(now.awake_ns, g->before.awake_ns);
    return check_left_behind(&g->before, &now, awake, st) && check_threads(g, &now, awake, st);
}
