/* timing.c - the parent's side: starts the process, hears its answers, goes on after a crash. */
#include "gate/timing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "common/json_text.h"
#include "common/timer.h"
#include "process/process.h"

typedef struct conversation {
    const timing_request *request;
    timing_fn visit;
    void *context;
    bool *settled;
    size_t *sent; /* index in the process' list -> index of the spec */
    size_t sent_count;
    int side;      /* the one in hand; -1: both */
    int64_t begun; /* the case in hand, of the process' list; -1: none */
    int64_t ended; /* the case before it: what a thread that it left does is its own */
    bool done;
    process process;
} conversation;

static json_t *request_line(conversation *c) {
    const timing_request *r = c->request;
    json_t *cases = json_array();
    c->sent_count = 0;
    for (size_t i = 0; i < r->count; i++)
        if (!c->settled[i]) {
            json_array_append(cases, r->specs[i]);
            c->sent[c->sent_count++] = i;
        }
    return json_pack("{s:o, s:I, s:I, s:I, s:b, s:I, s:o}", "scratch", json_bytes(r->data->path),
                     "device", (json_int_t)r->device, "threads", (json_int_t)r->threads, "rounds",
                     (json_int_t)r->rounds, "swapped", r->swapped, "seed",
                     (json_int_t)(r->seed >> 1), "cases", cases);
}

static void settle(conversation *c, timing_outcome *outcome) {
    c->settled[outcome->index] = true;
    c->visit(c->context, outcome);
}

static void take_message(conversation *c, const json_t *message) {
    const json_t *begin = json_object_get(message, "begin"), *at = json_object_get(message, "case");
    c->done |= json_is_true(json_object_get(message, "done"));
    const json_t *side = json_object_get(message, "side");
    if (json_is_integer(begin))
        c->begun = json_integer_value(begin);
    if (!json_is_integer(at))
        c->side = json_is_integer(side) ? (int)json_integer_value(side) : -1;
    if (!json_is_integer(at) || json_integer_value(at) < 0 ||
        (size_t)json_integer_value(at) >= c->sent_count)
        return;
    const char *failed = json_string_value(json_object_get(message, "failed"));
    const json_t *ns = json_object_get(message, "ns");
    timing_outcome outcome = {
        .index = c->sent[json_integer_value(at)],
        .ok = failed == NULL,
        .log_ratio = json_number_value(json_object_get(message, "ratio")),
        .ns = {json_number_value(json_array_get(ns, 0)), json_number_value(json_array_get(ns, 1))},
        .clock_ns = json_number_value(json_object_get(message, "clock")),
        .side = failed ? (int)json_integer_value(json_object_get(message, "side")) : -1,
        .kind = failed,
        .why = json_string_value(json_object_get(message, "why"))};
    c->begun = -1;
    c->ended = json_integer_value(at);
    settle(c, &outcome);
}

/* The process ended before it was done: the case in hand did it. */
static bool reap(conversation *c, bool late, status *st) {
    text why;
    text_init(&why);
    child_end end = late ? (child_end){CHILD_RUNNING, 0} : process_await_end(&c->process);
    if (late)
        text_printf(&why, "longer than %.0f s", (double)c->request->timeout_seconds);
    else
        child_end_text(&end, &why);
    text last_words;
    text_init(&last_words);
    if (!late)
        process_last_words(&c->process, &last_words);
    if (last_words.length)
        text_printf(&why, ": %s", last_words.data);
    process_reap(&c->process);
    int64_t guilty = c->begun >= 0 ? c->begun : c->ended;
    bool known = guilty >= 0 && (size_t)guilty < c->sent_count;
    if (known) {
        timing_outcome outcome = {.index = c->sent[guilty],
                                  .side = c->side,
                                  .kind = late ? "timeout" : "crash",
                                  .why = why.data};
        settle(c, &outcome);
    } else {
        status_set(st, STATUS_UNAVAILABLE, "a timing process cannot run: %s", why.data);
    }
    text_release(&last_words);
    text_release(&why);
    return known;
}

static bool converse(conversation *c, status *st) {
    json_t *line = request_line(c);
    c->begun = c->ended = -1;
    c->done = false;
    bool ok = process_start(&c->process, st), sent = ok && process_send(&c->process, line);
    json_decref(line);
    if (ok && !sent) /* it ended before it had heard what to do */
        return reap(c, false, st);
    uint64_t limit_ns = c->request->timeout_seconds * 1000000000u;
    uint64_t deadline_ns = timer_now_ns() + limit_ns;
    while (ok && !c->done) {
        bool malformed = false;
        json_t *message = process_next_message(&c->process, &malformed);
        if (message && !malformed) {
            take_message(c, message);
            deadline_ns = timer_now_ns() + limit_ns;
        } else if (malformed || !process_receive(&c->process, deadline_ns)) {
            bool stop = !malformed && errno == EINTR, late = malformed || errno == ETIME;
            ok = !stop && reap(c, late, st);
            json_decref(message);
            return ok;
        }
        json_decref(message);
    }
    if (ok)
        process_await_end(&c->process);
    process_reap(&c->process);
    return ok;
}

static bool is_settled(const conversation *c) {
    for (size_t i = 0; i < c->request->count; i++)
        if (!c->settled[i])
            return false;
    return true;
}

bool timing_run(const timing_request *request, timing_fn visit, void *context, status *st) {
    conversation c = {.request = request,
                      .visit = visit,
                      .context = context,
                      .settled = base_calloc(request->count + 1, sizeof *c.settled),
                      .sent = base_calloc(request->count + 1, sizeof *c.sent)};
    bool ok = true;
    process_init(&c.process, "--gate-timer", request->interrupted);
    while (ok && !is_settled(&c))
        ok = converse(&c, st);
    process_stop(&c.process);
    free(c.settled);
    free(c.sent);
    return ok;
}
