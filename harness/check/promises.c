/* promises.c - what functions promise of their results, call by call: proved for any finite floats,
 * else tried on what the call reads in the case. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "case/case_sample.h"
#include "check/verdict.h"
#include "tessera/promise.h"

enum { READ_BYTES_MAX = 1 << 30 };

/* A call under way. */
typedef struct call_trial {
    case_context *s;
    const compiler_promise *p;
    compiler_signature signature; /* of its body */
    tensor *given;  /* a list, of tensors_new: what it reads in all turns, then where it happens */
    tensor *inputs; /* of one turn; borrowed */
    int64_t turns, calls; /* of the loops around the call; and of them, those in which it happens */
    double distance;      /* of the worst turn from what is promised; 0: none is off */
    const char *why;      /* there is no call to try */
    promise_verdict *out;
} call_trial;

/* ---- inputs ---- */

static bool happens(const call_trial *t, int64_t turn) {
    return ((const uint8_t *)t->given[t->signature.input_count].data)[turn] != 0;
}

/* In all turns together. */
static bool fits_memory(call_trial *t, bool *fits, status *st) {
    compiler_signature all;
    double bytes = 0;
    if (!compiler_signature_of(t->p->arguments, &all, st))
        return false;
    for (uint32_t i = 0; i < all.output_count; i++) {
        double size = (double)dtype_size(all.outputs[i].type);
        for (int axis = 0; axis < all.outputs[i].rank; axis++)
            size *= (double)all.outputs[i].dims[axis];
        bytes += size;
    }
    *fits = bytes <= READ_BYTES_MAX;
    return true;
}

static bool read_inputs(call_trial *t, status *st) {
    const uint32_t count = t->signature.input_count;
    bool fits = false;
    t->given = tensors_new(count + 1);
    t->inputs = base_calloc((size_t)count + 1, sizeof *t->inputs);
    t->why = "a combiner calls it, or it reads too many axes in a loop";
    if (!t->p->arguments)
        return true;
    if (!fits_memory(t, &fits, st))
        return false;
    t->why = fits ? "the case does not come by this call"
                  : "in all turns of the loops around it, it reads more than a GiB";
    if (!fits)
        return true;
    if (!compiler_interpret(t->p->arguments, t->s->inputs, t->given, st))
        return false;
    t->turns = tensor_count(&t->given[count]);
    for (int64_t turn = 0; turn < t->turns; turn++)
        t->calls += happens(t, turn);
    return true;
}

/* An input has axes in front for the loops in which it changes, and the bool for all of them. */
static void take_turn(call_trial *t, int64_t turn) {
    const tensor *all = &t->given[t->signature.input_count];
    for (uint32_t i = 0; i < t->signature.input_count; i++) {
        const compiler_buffer *b = &t->signature.inputs[i];
        tensor *one = &t->inputs[i];
        int64_t own = turn;
        for (int axis = t->given[i].rank - b->rank; axis < all->rank; axis++)
            own /= all->dims[axis];
        *one = (tensor){.type = b->type, .rank = b->rank, .data = t->given[i].data};
        memcpy(one->dims, b->dims, sizeof one->dims);
        one->data = (char *)one->data + (size_t)own * tensor_bytes(one);
    }
}

/* ---- trying it ---- */

/* "'unit', called in line 25, in turn [3, 0] ": of the loops, the outermost first. */
static void name_call(call_trial *t, int64_t turn) {
    const tensor *all = t->given ? &t->given[t->signature.input_count] : NULL;
    int64_t left = t->turns;
    text_clear(&t->out->why);
    text_printf(&t->out->why, "'%s', called in line %u, ", t->p->function, t->p->line);
    for (int axis = 0; all && axis < all->rank; axis++) {
        left /= all->dims[axis];
        text_printf(&t->out->why, "%s%lld%s", axis ? ", " : "in turn [", (long long)(turn / left),
                    axis + 1 == all->rank ? "] " : "");
        turn %= left;
    }
}

/* Keeps the words for the turn that is furthest off. */
static void break_promise(call_trial *t, int64_t turn, double distance, const char *words) {
    t->out->holds = false;
    if (!(distance > t->distance))
        return;
    t->distance = distance;
    name_call(t, turn);
    text_append(&t->out->why, words);
}

static void try_bounds(call_trial *t, int64_t turn, const tensor *results) {
    const compiler_numerics *n = t->p->numerics;
    for (uint32_t i = 0; n->bounded && i < t->signature.output_count; i++) {
        range_check c = compare_range(&results[i], n->low, n->high);
        char words[200];
        if (!c.beyond)
            continue;
        double value = dtype_load(results[i].type, results[i].data, (size_t)c.worst);
        snprintf(words, sizeof words, "gives %.9g, outside of [%.17g, %.17g]; %lld of %lld are",
                 isnan(value) ? fabs(value) : value, n->low, n->high, (long long)c.beyond,
                 (long long)tensor_count(&results[i]));
        break_promise(t, turn, c.distance, words);
    }
}

static bool try_stable(call_trial *t, int64_t turn, status *st) {
    compiler_escape e = {.found = false};
    char words[200];
    if (!t->p->numerics->stable)
        return true;
    if (!compiler_find_escape(t->p->body, t->inputs, &e, st))
        return false;
    snprintf(words, sizeof words, "on its way has %g of '%s' where the f64 reference is %.9g",
             e.value, e.operation ? e.operation : "", e.reference);
    if (e.found)
        break_promise(t, turn, INFINITY, words);
    return true;
}

static bool try_turn(call_trial *t, int64_t turn, status *st) {
    tensor *results = tensors_new(t->signature.output_count);
    take_turn(t, turn);
    bool ok = compiler_interpret(t->p->body, t->inputs, results, st);
    if (ok)
        try_bounds(t, turn, results);
    ok = ok && try_stable(t, turn, st);
    tensors_free(results);
    return ok;
}

static bool try_call(call_trial *t, status *st) {
    bool ok = true;
    t->out->by = PROMISE_TEST;
    t->out->holds = true;
    for (int64_t turn = 0; ok && turn < t->turns; turn++)
        ok = !happens(t, turn) || try_turn(t, turn, st);
    return ok;
}

/* ---- proving it ---- */

static bool all_floats(const call_trial *t) {
    bool floats = true;
    for (uint32_t i = 0; i < t->signature.input_count; i++)
        floats &= dtype_is_float(t->signature.inputs[i].type);
    return floats;
}

/* Zeros stand for any floats. */
static bool prove_any(call_trial *t, bool *proved, status *st) {
    const uint32_t count = t->signature.input_count;
    tensor *blank = tensors_new(count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        const compiler_buffer *b = &t->signature.inputs[i];
        ok = tensor_init(&blank[i], b->type, b->rank, b->dims, st);
    }
    ok = ok && compiler_proves(t->p, blank, proved, st);
    tensors_free(blank);
    return ok;
}

/* Integers are those of a turn. */
static bool prove_turns(call_trial *t, bool *proved, status *st) {
    bool ok = true;
    *proved = t->calls > 0;
    for (int64_t turn = 0; ok && *proved && turn < t->turns; turn++) {
        if (!happens(t, turn))
            continue;
        take_turn(t, turn);
        ok = compiler_proves(t->p, t->inputs, proved, st);
    }
    return ok;
}

static bool judge_in_turns(call_trial *t, status *st) {
    bool proved = false;
    if (!compiler_signature_of(t->p->body, &t->signature, st))
        return false;
    const bool floats = all_floats(t);
    if ((floats && !prove_any(t, &proved, st)) || (!proved && !read_inputs(t, st)) ||
        (!floats && !prove_turns(t, &proved, st)))
        return false;
    t->out->by = proved ? PROMISE_PROOF : PROMISE_NONE;
    t->out->holds = proved;
    if (!proved && t->calls)
        return try_call(t, st);
    if (!proved)
        text_append(&t->out->why, t->why);
    return true;
}

/* ---- large cases ---- */

/* The results alone: what the call has on its way is not looked at. */
static bool try_results(call_trial *t, case_context *own, const tensor *results, status *st) {
    int64_t infinite = 0;
    t->signature = own->signature;
    t->out->by = PROMISE_TEST;
    t->out->holds = true;
    try_bounds(t, 0, results);
    for (uint32_t i = 0; i < own->signature.output_count; i++)
        infinite += compare_finite(NULL, &results[i]).beyond;
    if (!t->p->numerics->stable || !infinite)
        return true;
    tensor *references = tensors_new(own->signature.output_count);
    bool ok = case_context_unlimited(own, references, st);
    for (uint32_t i = 0; ok && i < own->signature.output_count; i++)
        if (compare_finite(&references[i], &results[i]).beyond)
            break_promise(t, 0, INFINITY, "is not finite where the f64 reference is");
    tensors_free(references);
    return ok;
}

/* Tries what the call gives, as the results of a large case are made (case_sample.h). */
static bool judge_large(call_trial *t, status *st) {
    case_context own = {0};
    const tensor *results = NULL;
    bool ok = true;
    if (t->p->results) {
        ok = case_context_like(t->s, t->p->results, &own, st);
        if (ok && case_sample_applies(&own))
            ok = (results = case_context_oracle(&own, st)) && try_results(t, &own, results, st);
        case_context_release_like(&own);
    }
    if (!results)
        text_append(&t->out->why, "the case is large, and no part of the call can be drawn");
    return ok;
}

static bool judge_call(call_trial *t, status *st) {
    return t->s->c->large || case_sample_applies(t->s) ? judge_large(t, st) : judge_in_turns(t, st);
}

const char *promise_by_name(promise_by by) {
    static const char *const names[] = {
        [PROMISE_NONE] = "none", [PROMISE_PROOF] = "proof", [PROMISE_TEST] = "test"};
    return names[by];
}

static void take_broken(verdict *out, const promise_verdict *p) {
    out->numerics = "violated";
    if (!out->holds)
        return;
    out->holds = false;
    text_clear(&out->why);
    text_printf(&out->why, "verify.numerics: %s", p->why.data);
}

bool verdict_promises(case_context *s, const verdict_request *request, verdict *out, status *st) {
    uint32_t count = 0;
    text said;
    bool ok = true;
    if (!request->promises || request->foreign)
        return true;
    text_init(&said);
    compiler_promise *list = compiler_promises(s->source, s->kernel, s->c, &count, &said);
    if (!list)
        ok = status_set(st, STATUS_INTERNAL, "calls that promise something: %.900s", said.data);
    if (count)
        request->stage(request->context, "promises");
    out->promises = base_calloc(count + 1, sizeof *out->promises);
    for (uint32_t i = 0; ok && i < count; i++) {
        promise_verdict *p = &out->promises[out->promise_count++];
        *p = (promise_verdict){.line = list[i].line};
        snprintf(p->function, sizeof p->function, "%s", list[i].function);
        text_init(&p->why);
        call_trial t = {.s = s, .p = &list[i], .out = p};
        ok = judge_call(&t, st);
        tensors_free(t.given);
        free(t.inputs);
        if (p->by && !p->holds)
            take_broken(out, p);
    }
    compiler_promises_free(list, count);
    text_release(&said);
    return ok;
}
