/* abreast.c - see abreast.h. */
#include "run/abreast.h"

#include <stdio.h>

#include "case/backend.h"
#include "common/interrupt.h"
#include "device/host/host.h"

_Static_assert((int)ABREAST_MOST <= (int)PROCESS_WAIT_MOST, "all are waited for at once");

void abreast_init(abreast *a, const job_plan *plan, const job_choice *choice, const map *done) {
    const uint32_t cores = host_usable_cores();
    *a = (abreast){.plan = plan, .done = done};
    a->count = cores < ABREAST_MOST ? cores : ABREAST_MOST;
    for (size_t i = 0; i < a->count; i++)
        worker_init(&a->workers[i], choice->timeout_seconds, choice->memory_mib, &interrupt_seen);
}

void abreast_stop(abreast *a) {
    for (size_t i = 0; i < a->count; i++) {
        worker_give_up(&a->workers[i]);
        worker_stop(&a->workers[i]);
    }
    for (size_t i = 0; i < ABREAST_AHEAD; i++)
        json_decref(a->places[i].result);
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

static void end_place(abreast_place *place, const worker *w, json_t *result) {
    place->state = PLACE_ENDED;
    place->result = result;
    snprintf(place->stage, sizeof place->stage, "%s", w->stage);
}

/* ---- what is not timed ---- */

/* The next to begin, no further ahead of the first, which is in hand, than there are places; the
 * end of the plan if there is none. */
static size_t next_after(const abreast *a, size_t first) {
    const size_t last = first + ABREAST_AHEAD, end = a->plan->jobs.count;
    for (size_t i = first; i < last && i < end; i++) {
        const job *j = &a->plan->jobs.items[i];
        if (is_timed(j))
            break;
        if (a->places[i % ABREAST_AHEAD].state == PLACE_FREE && (i == first || !is_done(a, j)))
            return i;
    }
    return end;
}

static void begin_idle(abreast *a, size_t first) {
    for (size_t i = 0; i < a->count; i++) {
        worker *w = &a->workers[i];
        const size_t next = w->begun ? a->plan->jobs.count : next_after(a, first);
        if (next == a->plan->jobs.count)
            continue;
        abreast_place *place = &a->places[next % ABREAST_AHEAD];
        json_t *failed = worker_begin(w, &a->plan->jobs.items[next]);
        place->state = PLACE_BEGUN;
        if (failed)
            end_place(place, w, failed);
    }
}

static void wait_for_any(abreast *a) {
    process *begun[ABREAST_MOST];
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->workers[i].begun)
            begun[count++] = &a->workers[i].process;
    if (count)
        process_wait(begun, count);
}

static void take_ended(abreast *a) {
    for (size_t i = 0; i < a->count; i++) {
        worker *w = &a->workers[i];
        const job *j = w->begun;
        json_t *result;
        if (j && worker_has_ended(w, &result))
            end_place(&a->places[place_of(a, j) % ABREAST_AHEAD], w, result);
    }
}

static void go_on(abreast *a, size_t first) {
    take_ended(a);
    if (!interrupt_seen)
        begin_idle(a, first);
}

/* ---- each ---- */

json_t *abreast_run(abreast *a, const job *j) {
    const size_t first = place_of(a, j);
    abreast_place *place = &a->places[first % ABREAST_AHEAD];
    if (is_timed(j))
        end_place(place, &a->workers[0], worker_run(&a->workers[0], j));
    else
        go_on(a, first);
    while (place->state != PLACE_ENDED && !interrupt_seen) {
        wait_for_any(a);
        go_on(a, first);
    }
    json_t *result = place->result;
    place->result = NULL;
    place->state = PLACE_FREE;
    return result;
}

const char *abreast_stage(const abreast *a, const job *j) {
    return a->places[place_of(a, j) % ABREAST_AHEAD].stage;
}
