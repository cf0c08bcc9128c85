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

/* A call under way. */
typedef struct call_trial {
    const compiler_promise *p;
    compiler_signature signature; /* of its body */
    tensor *given;                /* a list, of tensors_new: of all turns, one behind the other */
    int64_t turns;                /* of the loops around the call */
    tensor *inputs;               /* of one of them; borrowed */
    bool known;                   /* they are what the call reads */
    promise_verdict *out;
} call_trial;

/* Zeros, for what is not known; proofs look at integers alone. */
static bool blank_inputs(call_trial *t, status *st) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->signature.input_count; i++) {
        const compiler_buffer *b = &t->signature.inputs[i];
        ok = tensor_init(&t->given[i], b->type, b->rank, b->dims, st);
    }
    return ok;
}

static bool all_floats(const call_trial *t) {
    bool floats = true;
    for (uint32_t i = 0; i < t->signature.input_count; i++)
        floats &= dtype_is_float(t->signature.inputs[i].type);
    return floats;
}

static bool read_inputs(case_context *s, call_trial *t, status *st) {
    const uint32_t count = t->signature.input_count;
    t->given = tensors_new(count);
    t->inputs = base_calloc((size_t)count + 1, sizeof *t->inputs);
    t->known = t->p->arguments || count == 0;
    t->turns = 1;
    if (!t->p->arguments)
        return blank_inputs(t, st);
    if (!compiler_interpret(t->p->arguments, s->inputs, t->given, st))
        return false;
    for (uint32_t axis = 0; axis < t->p->depth; axis++)
        t->turns *= t->given[0].dims[axis];
    return true;
}

static void take_turn(call_trial *t, int64_t turn) {
    for (uint32_t i = 0; i < t->signature.input_count; i++) {
        const compiler_buffer *b = &t->signature.inputs[i];
        tensor *one = &t->inputs[i];
        *one = (tensor){.type = b->type, .rank = b->rank, .data = t->given[i].data};
        memcpy(one->dims, b->dims, sizeof one->dims);
        one->data = (char *)one->data + (size_t)turn * tensor_bytes(one);
    }
}

static void break_promise(call_trial *t, const char *words) {
    if (!t->out->holds)
        return;
    t->out->holds = false;
    text_printf(&t->out->why, "'%s', called in line %u, %s", t->p->function, t->p->line, words);
}

static void try_bounds(call_trial *t, const tensor *results) {
    const compiler_numerics *n = t->p->numerics;
    for (uint32_t i = 0; n->bounded && i < t->signature.output_count; i++) {
        range_check c = compare_range(&results[i], n->low, n->high);
        char words[200];
        if (!c.beyond)
            continue;
        double value = dtype_load(results[i].type, results[i].data, (size_t)c.first);
        snprintf(words, sizeof words, "gives %.9g, outside of [%.17g, %.17g]; %lld of %lld are",
                 isnan(value) ? fabs(value) : value, n->low, n->high, (long long)c.beyond,
                 (long long)tensor_count(&results[i]));
        break_promise(t, words);
    }
}

static bool try_stable(call_trial *t, status *st) {
    compiler_escape e = {.found = false};
    char words[200];
    if (!t->p->numerics->stable)
        return true;
    if (!compiler_find_escape(t->p->body, t->inputs, &e, st))
        return false;
    snprintf(words, sizeof words, "on its way has %g of '%s' where the f64 reference is %.9g",
             e.value, e.operation ? e.operation : "", e.reference);
    if (e.found)
        break_promise(t, words);
    return true;
}

static bool try_turn(call_trial *t, status *st) {
    tensor *results = tensors_new(t->signature.output_count);
    bool ok = compiler_interpret(t->p->body, t->inputs, results, st);
    if (ok)
        try_bounds(t, results);
    ok = ok && try_stable(t, st);
    tensors_free(results);
    return ok;
}

static bool try_call(call_trial *t, status *st) {
    bool ok = true;
    t->out->by = PROMISE_TEST;
    t->out->holds = true;
    for (int64_t turn = 0; ok && turn < t->turns && t->out->holds; turn++) {
        take_turn(t, turn);
        ok = try_turn(t, st);
    }
    return ok;
}

/* Integers are those of a turn, and floats any. */
static bool prove_call(call_trial *t, bool *proved, status *st) {
    const int64_t turns = all_floats(t) ? 1 : t->turns;
    bool ok = true;
    *proved = t->known || all_floats(t);
    for (int64_t turn = 0; ok && *proved && turn < turns; turn++) {
        take_turn(t, turn);
        ok = compiler_proves(t->p, t->inputs, proved, st);
    }
    return ok;
}

static bool judge_call(case_context *s, call_trial *t, status *st) {
    bool proved = false;
    if (s->c->large || case_sample_applies(s)) {
        text_append(&t->out->why, "the case is large");
        return true;
    }
    if (!compiler_signature_of(t->p->body, &t->signature, st) || !read_inputs(s, t, st))
        return false;
    if (t->turns == 0) {
        text_append(&t->out->why, "the loop around it has no turns");
        return true;
    }
    if (!prove_call(t, &proved, st))
        return false;
    if (proved) {
        t->out->by = PROMISE_PROOF;
        t->out->holds = true;
        return true;
    }
    if (t->known)
        return try_call(t, st);
    text_append(&t->out->why, "it is called in a branch, or in a loop that is none over a range, "
                              "and intervals do not prove it");
    return true;
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
        call_trial t = {.p = &list[i], .out = p};
        ok = judge_call(s, &t, st);
        tensors_free(t.given);
        free(t.inputs);
        if (p->by && !p->holds)
            take_broken(out, p);
    }
    compiler_promises_free(list, count);
    text_release(&said);
    return ok;
}
