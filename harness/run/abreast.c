/* abreast.c - see abreast.h. */
#include "run/abreast.h"

#include "case/backend.h"
#include "common/interrupt.h"
#include "device/host/host.h"

void abreast_init(abreast *a, const job_plan *plan, const job_choice *choice, const map *done) {
    const uint32_t cores = host_usable_cores();
    a->plan = plan;
    a->done = done;
    a->count = cores < ABREAST_MOST ? cores : ABREAST_MOST;
    for (size_t i = 0; i < a->count; i++)
        worker_init(&a->workers[i], choice->timeout_seconds, choice->memory_mib, &interrupt_seen);
}

void abreast_stop(abreast *a) {
    for (size_t i = 0; i < a->count; i++) {
        worker_give_up(&a->workers[i]);
        worker_stop(&a->workers[i]);
    }
}

static size_t place_of(const abreast *a, const job *j) {
    return (size_t)(j - a->plan->jobs.items);
}

static bool is_timed(const job *j) {
    return j->implementation || backend_named(j->backend)->timed;
}

static bool is_done(const abreast *a, const job *j) {
    intptr_t ignored;
    text key;
    text_init(&key);
    job_key(j, &key);
    const bool done = map_get(a->done, key.data, &ignored);
    text_release(&key);
    return done;
}

/* The first job is in hand. Each worker has one of as many as there are workers. */
static void begin_others(abreast *a, size_t first) {
    const size_t last = first + a->count, end = a->plan->jobs.count;
    for (size_t i = first; i < last && i < end && !is_timed(&a->plan->jobs.items[i]); i++) {
        const job *j = &a->plan->jobs.items[i];
        worker *w = abreast_worker(a, j);
        if (!w->begun && (i == first || !is_done(a, j)))
            worker_begin(w, j);
    }
}

worker *abreast_worker(abreast *a, const job *j) {
    return &a->workers[is_timed(j) ? 0 : place_of(a, j) % a->count];
}

json_t *abreast_run(abreast *a, const job *j) {
    begin_others(a, place_of(a, j));
    return worker_run(abreast_worker(a, j), j);
}
