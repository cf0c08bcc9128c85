/* worker.c - the parent's side: feed and watch worker processes. */
#include "exec/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json_text.h"
#include "common/timer.h"
#include "device/foreign/foreign.h"
#include "job/result.h"
#include "process/frames.h"

void worker_init(worker *w, uint64_t timeout_seconds, uint64_t memory_mib,
                 const volatile sig_atomic_t *interrupted) {
    *w = (worker){.timeout_ns = timeout_seconds * 1000000000u};
    process_init(&w->process, "--worker", interrupted);
    w->process.memory_bytes = memory_mib << 20;
}

void worker_limit(worker *w, uint64_t seconds) {
    w->job_ns = seconds * 1000000000u;
}

/* Deadline of the step that begins now. */
static uint64_t deadline_of(const worker *w) {
    uint64_t step_ns = timer_now_ns() + w->timeout_ns;
    return w->end_ns && w->end_ns < step_ns ? w->end_ns : step_ns;
}

static json_t *out_of_memory(const worker *w, const job *j) {
    char why[120] = "out of memory";
    if (w->process.memory_bytes && strcmp(w->stage, "start") == 0)
        snprintf(why, sizeof why,
                 "out of memory: a worker cannot even start within --memory %" PRIu64,
                 w->process.memory_bytes >> 20);
    return result_new(j, OUTCOME_ERROR, why);
}

/* " in step launch, on input set 1": the case's own inputs are not named. */
static void put_place(const worker *w, text *why) {
    if (w->has_set && w->set.number)
        text_printf(why, " on input set %u", w->set.number);
}

static json_t *failed_here(const worker *w, const job *j, job_outcome o, const char *why) {
    json_t *result = result_new(j, o, why);
    if (w->has_set)
        result_put_failed_on(result, w->set);
    return result;
}

/* Result of a job from its worker's end. */
static json_t *result_of_end(worker *w, const job *j, const child_end *end) {
    /* Within its limit the loader may not have had the memory to start the program. */
    bool never_began = w->process.memory_bytes && strcmp(w->stage, "start") == 0;
    if (end->how == CHILD_OUT_OF_MEMORY || never_began)
        return out_of_memory(w, j);
    text why, words;
    text_init(&why);
    text_init(&words);
    if (end->how == CHILD_ENDED)
        text_append(&why, "the worker ");
    child_end_text(end, &why);
    text_printf(&why, " in step %s", w->stage);
    put_place(w, &why);
    if (end->how == CHILD_KILLED && end->code == SIGKILL)
        text_append(&why, " (the system may have run out of memory)");
    process_last_words(&w->process, &words);
    if (words.length)
        text_printf(&why, ": %s", words.data);
    json_t *result = failed_here(w, j, OUTCOME_CRASH, why.data);
    if (w->frames)
        internal_put_FRAMES(result, json_incref(w->frames));
    if (w->process.stderr_tail.length)
        result_set_internal(result, INTERNAL_PRINTED, json_text(w->process.stderr_tail.data));
    text_release(&words);
    text_release(&why);
    return result;
}

static json_t *ended(worker *w, const job *j) {
    child_end end = process_await_end(&w->process);
    json_t *result;
    if (end.how == CHILD_RUNNING)
        result = result_new(j, OUTCOME_CRASH, "the worker closed its pipe and went on running");
    else
        result = result_of_end(w, j, &end);
    process_reap(&w->process);
    return result;
}

static json_t *timed_out(worker *w, const job *j) {
    text why;
    text_init(&why);
    text_printf(&why, "step %s took longer than %.0f s", w->stage, (double)w->timeout_ns * 1e-9);
    put_place(w, &why);
    json_t *result = failed_here(w, j, OUTCOME_TIMEOUT, why.data);
    text_release(&why);
    process_reap(&w->process);
    return result;
}

/* The worker's clock against ours, over the whole time that it measured: what runs there cannot
 * touch this one. A busy machine may let us wait, so short differences say nothing. */
static void compare_clocks(const worker *w, json_t *result) {
    const json_t *timed = internal_get(result_internal(result), INTERNAL_TIMED_NS);
    uint64_t until_ns = w->timed_until_ns ? w->timed_until_ns : timer_now_ns();
    double passed = (double)(until_ns - w->timed_since_ns), said = json_number_value(timed);
    if (!timed || !w->timed_since_ns || (said > 0.9 * passed - 1e9 && said < passed + 1e9))
        return;
    char why[160];
    snprintf(why, sizeof why,
             "the clock was changed: by the worker's, timing took %.3f s, and by ours %.3f s",
             said * 1e-9, passed * 1e-9);
    result_set_outcome(result, OUTCOME_MISMATCH, why, EXIT_CHECK);
}

static void note_timed(worker *w, const char *stage) {
    if (strcmp(stage, "time") == 0) {
        w->timed_since_ns = timer_now_ns();
        w->timed_until_ns = 0;
    } else if (w->timed_since_ns && !w->timed_until_ns) {
        w->timed_until_ns = timer_now_ns();
    }
}

/* Handles one message; returns the result when it is one. */
static json_t *take_message(worker *w, const job *j, json_t *message, bool malformed) {
    json_t *result = NULL;
    const char *stage = json_string_value(json_object_get(message, "stage"));
    json_t *frame = json_object_get(message, "frame");
    const json_t *set = json_object_get(message, "set"), *number = json_object_get(set, "number");
    if (malformed) {
        result = result_new(j, OUTCOME_CRASH,
                            "the worker's answer was not understood: its memory may be damaged");
        process_reap(&w->process);
    } else if (frame) {
        w->frames = w->frames ? w->frames : json_array();
        if (json_array_size(w->frames) < FRAMES_MAX && json_is_string(frame))
            json_array_append(w->frames, frame);
    } else if (set) {
        w->has_set = json_is_integer(number);
        w->set = (input_set){(uint32_t)json_integer_value(number),
                             json_is_true(json_object_get(set, "perturbed"))};
    } else if (stage) {
        snprintf(w->stage, sizeof w->stage, "%s", stage);
        note_timed(w, stage);
        w->deadline_ns = deadline_of(w);
    } else {
        result = json_incref(json_object_get(message, "result"));
        compare_clocks(w, result);
        if (internal_get(result_internal(result), INTERNAL_LOST))
            process_reap(&w->process); /* no library gives a lost device back to its process */
    }
    json_decref(message);
    return result;
}

/* NULL, or the result of a job that no process took. */
static json_t *begin(worker *w, const job *j) {
    status st = STATUS_INIT;
    if (w->process.pid == 0 && !process_start(&w->process, &st))
        return result_new(j, OUTCOME_ERROR, st.message);
    json_t *request = job_to_json(j);
    bool sent = process_send(&w->process, request);
    json_decref(request);
    snprintf(w->stage, sizeof w->stage, "start");
    w->has_set = false;
    json_decref(w->frames);
    w->frames = NULL;
    w->timed_since_ns = w->timed_until_ns = 0;
    w->end_ns = w->job_ns ? timer_now_ns() + w->job_ns : 0;
    w->deadline_ns = deadline_of(w);
    return sent ? NULL : ended(w, j);
}

/* NULL: interrupted. */
static json_t *without_answer(worker *w, const job *j) {
    if (errno == EINTR) {
        kill(w->process.pid, SIGTERM);
        process_await_end(&w->process);
        process_reap(&w->process);
        return NULL;
    }
    json_t *result = errno == ETIME ? timed_out(w, j) : ended(w, j);
    /* A signal that was meant for both of us may have taken the worker first. */
    if (*w->process.interrupted) {
        json_decref(result);
        return NULL;
    }
    return result;
}

typedef bool (*receive_fn)(process *p, uint64_t deadline_ns);

/* False: not yet. */
static bool has_ended(worker *w, const job *j, receive_fn receive, json_t **result) {
    *result = NULL;
    while (!*result) {
        bool malformed = false;
        json_t *message = process_next_message(&w->process, &malformed);
        if (message || malformed) {
            *result = take_message(w, j, message, malformed);
        } else if (!receive(&w->process, w->deadline_ns)) {
            if (errno == EAGAIN)
                return false;
            *result = without_answer(w, j);
            return true;
        }
    }
    return true;
}

json_t *worker_begin(worker *w, const job *j) {
    json_t *failed = begin(w, j);
    if (failed) { /* the last job may have ended it behind its answer */
        json_decref(failed);
        failed = begin(w, j);
    }
    w->begun = failed ? NULL : j;
    return failed;
}

bool worker_has_ended(worker *w, json_t **result) {
    const bool over = has_ended(w, w->begun, process_receive_now, result);
    w->begun = over ? NULL : w->begun;
    return over;
}

void worker_give_up(worker *w) {
    if (w->begun)
        process_reap(&w->process);
    w->begun = NULL;
}

static json_t *run_job(worker *w, const job *j) {
    json_t *result = begin(w, j);
    if (!result)
        has_ended(w, j, process_receive, &result);
    return result;
}

/* Code of others may have left processes behind that a worker which was killed could not end. */
static void end_left_behind(const worker *w) {
    if (w->has_others && w->process.pid == 0)
        foreign_end_left_behind(process_is_ours);
}

json_t *worker_run(worker *w, const job *j) {
    if (j->implementation && !w->has_others)
        foreign_keep_apart();
    w->has_others |= j->implementation != NULL;
    json_t *result = run_job(w, j);
    end_left_behind(w);
    return result;
}

void worker_stop(worker *w) {
    json_decref(w->frames);
    w->frames = NULL;
    process_stop(&w->process);
    end_left_behind(w);
}
