/* attempt_memory.c - what a function does beside writing its outputs: to its inputs, to the bytes
 * around all buffers, and, in a process of its own, with threads and processes that go on. */
#include <stdio.h>
#include <string.h>

#include "relations/attempt.h"

enum { ENOUGH_NS = 30000000, OTHERS_ENOUGH_NS = 250000000, CALLS_MAX = 10000 };

static const char *name_of(const attempt *t, uint32_t buffer) {
    const compiler_signature *s = &t->shape->signature;
    return buffer < s->input_count ? s->inputs[buffer].name
                                   : s->outputs[buffer - s->input_count].name;
}

static void put_bits(violation *v, dtype type, uint64_t before, uint64_t after) {
    v->type = type;
    v->bits[0] = before;
    v->bits[1] = after;
    for (int i = 0; i < 2; i++)
        v->values[i] = dtype_load(type, &v->bits[i], 0);
}

static void note_around(attempt *t, const runner_effect *e) {
    violation *v = &t->violation;
    bool behind = e->place == RUNNER_BEHIND;
    char between[160];
    snprintf(between, sizeof between,
             "before the call and after it: %lld bytes outside of the buffer were written, the "
             "first %s it",
             (long long)e->bytes, behind ? "behind" : "before");
    attempt_note(t, between);
    snprintf(v->output, sizeof v->output, "%.40s, %s, byte ", name_of(t, e->buffer),
             behind ? "behind its end" : "before its beginning");
    snprintf(v->index, sizeof v->index, "%lld", (long long)e->byte);
    put_bits(v, DTYPE_I8, e->before, e->after);
}

static void note_input(attempt *t, const runner_effect *e) {
    const tensor *x = &t->shape->inputs[e->buffer];
    int64_t flat = e->byte / (int64_t)dtype_size(x->type);
    violation *v = &t->violation;
    char between[160];
    snprintf(between, sizeof between,
             "before the call and after it: %lld bytes of an input were written",
             (long long)e->bytes);
    attempt_note(t, between);
    snprintf(v->output, sizeof v->output, "%.40s, an input, ", name_of(t, e->buffer));
    attempt_index(x, flat, v->index, sizeof v->index);
    put_bits(v, x->type, e->before, e->after);
}

static bool try_once(attempt *t, const circumstances *how, status *st) {
    tensor *outputs = tensors_new(t->shape->signature.output_count);
    runner_effect e;
    bool ok = runner_run(t->runner, t->shape, how, t->shape->inputs, outputs, st);
    tensors_free(outputs);
    if (!ok || !how->watched || !runner_had_effect(t->runner, &e))
        return ok;
    if (e.place == RUNNER_INPUT)
        note_input(t, &e);
    else
        note_around(t, &e);
    return true;
}

/* Writing what is there already does not show, so other bytes lie there each time. */
static bool try_places(attempt *t, status *st) {
    static const struct {
        size_t offset;
        unsigned char surround;
        bool at_end;
    } places[] = {{0, 0x5A, false}, {64, 0x00, false}, {4032, 0xFF, false}, {0, 0x33, true}};
    bool ok = true;
    for (size_t i = 0; i < sizeof places / sizeof *places && ok && !t->violation.found; i++) {
        circumstances how = attempt_plain(t);
        how.offset = places[i].offset;
        how.surround = places[i].surround;
        how.at_end = places[i].at_end;
        how.watched = true;
        ok = try_once(t, &how, st);
    }
    return ok;
}

/* Processes that were started may have to wait for a processor for long, on a busy machine. */
static bool is_enough(const attempt *t) {
    foreign_cost cost = runner_cost(t->runner);
    return cost.awake_ns >= (cost.started ? OTHERS_ENOUGH_NS : ENOUGH_NS);
}

/* Called for long enough that what goes on beside the calls tells. */
static bool try_beside(attempt *t, status *st) {
    circumstances how = attempt_plain(t);
    status watched = STATUS_INIT;
    bool ok = true;
    for (int i = 0; i < CALLS_MAX && ok && !is_enough(t); i++)
        ok = try_once(t, &how, st);
    how.watched = true;
    ok = ok && try_once(t, &how, st);
    if (ok && !t->violation.found && !runner_settle(t->runner, &watched))
        attempt_note(t, watched.message);
    return ok;
}

/* That a priority was changed is found in the run itself. */
bool attempt_memory(attempt *t, status *st) {
    bool ok = try_places(t, st);
    if (ok && !t->violation.found && runner_cost(t->runner).awake_ns)
        ok = try_beside(t, st);
    if (ok || st->code != STATUS_MISMATCH)
        return ok;
    attempt_note(t, st->message);
    *st = (status)STATUS_INIT;
    return true;
}
