/* verdict.c - judges outputs against goldens, the interpreter and the f64 reference. */
#include "check/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case_sample.h"
#include "case/effects.h"
#include "check/compare.h"

static bool repeats_agree(const case_context *s, const verdict_request *request, verdict *out) {
    for (uint32_t i = 0; i < s->signature.output_count && request->repeat; i++) {
        comparison c = compare_bits(&request->outputs[i], &request->repeat[i]);
        if (c.differing == 0)
            continue;
        text_append(&out->why, "nondeterministic: two launches on equal inputs disagree: ");
        compare_describe(s->signature.outputs[i].name, &request->outputs[i], &request->repeat[i],
                         &c, &out->why);
        return false;
    }
    return true;
}

static bool digests_agree(const case_context *s, const tensor *outputs) {
    for (uint32_t i = 0; i < s->signature.output_count; i++) {
        char digest[65];
        const char *recorded = golden_digest(&s->golden, i);
        golden_tensor_digest(&outputs[i], digest);
        if (!recorded || strcmp(recorded, digest) != 0)
            return false;
    }
    return true;
}

/* Compares with the strict bits of output `i`: the golden's tensor where it was kept, else the
 * interpreter's. */
static bool compare_strict(case_context *s, const verdict_request *request, uint32_t i,
                           verdict *out, status *st) {
    tensor kept = {0};
    const tensor *expected = NULL;
    status kept_status = STATUS_INIT;
    if (s->golden_state == GOLDEN_PRESENT &&
        golden_tensor(&s->golden, i, &s->signature.outputs[i], &kept, &kept_status))
        expected = &kept;
    if (kept_status.code != STATUS_OK)
        return status_set(st, kept_status.code, "%s", kept_status.message);
    if (!expected) {
        request->stage(request->context, "oracle");
        const tensor *oracle = case_context_oracle(s, st);
        if (!oracle)
            return false;
        expected = &oracle[i];
    }
    comparison c = compare_bits(expected, &request->outputs[i]);
    if (c.differing) {
        if (out->bitwise)
            compare_describe(s->signature.outputs[i].name, expected, &request->outputs[i], &c,
                             &out->why);
        out->bitwise = false;
    }
    out->max_ulp = c.max_ulp > out->max_ulp ? c.max_ulp : out->max_ulp;
    tensor_release(&kept);
    return true;
}

/* Fills bitwise, against, max_ulp and, where bits differ, why. */
static bool against_strict(case_context *s, const verdict_request *request, verdict *out,
                           status *st) {
    out->bitwise = true;
    out->has_ulp = true;
    out->against = s->golden_state == GOLDEN_PRESENT ? "golden" : "reference";
    if (s->golden_state == GOLDEN_PRESENT && digests_agree(s, request->outputs))
        return true;
    for (uint32_t i = 0; i < s->signature.output_count; i++)
        if (!compare_strict(s, request, i, out, st))
            return false;
    out->sampled = s->by_code ? s->held : 0;
    if (s->golden_state == GOLDEN_PRESENT && out->bitwise) {
        out->bitwise = false;
        text_append(
            &out->why,
            "the outputs are the interpreter's, but not what the golden records: one of the two "
            "has changed its meaning");
    }
    return true;
}

/* Small integers on the whole way, exact in any order of accumulation: then no profile may differ
 * in a bit. */
static bool is_exact_case(const case_context *s) {
    if (!s->whole)
        return false;
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        if (s->c->inputs[i].kind != INPUT_INTEGERS)
            return false;
    for (uint32_t i = 0; i < s->signature.output_count; i++) {
        const double *values = s->references[i].data;
        int64_t count = tensor_count(&s->references[i]);
        const dtype_format *f = dtype_format_of(s->signature.outputs[i].type);
        double limit = ldexp(1.0, f ? f->mantissa_bits + 1 : 8);
        for (int64_t k = 0; k < count; k++)
            if (values[k] != trunc(values[k]) || fabs(values[k]) > limit)
                return false;
    }
    return true;
}

/* Exact promises must be there bit for bit: an integer or bool that no rounded number has any part
 * in. f64, in which references are given, could not tell two large ones apart. */
static bool integers_hold(case_context *s, const verdict_request *request, verdict *out,
                          status *st) {
    for (uint32_t i = 0; i < s->signature.output_count && !out->bitwise; i++) {
        const tensor *got = &request->outputs[i];
        if (dtype_is_float(got->type))
            continue;
        const tensor *oracle = case_context_oracle(s, st);
        const double *bounds = s->bounds[i].data;
        int64_t count = tensor_count(got);
        if (!oracle)
            return false;
        for (int64_t k = 0; k < count && out->holds; k++)
            out->holds = bounds[k] != 0 || dtype_load_bits(got->type, oracle[i].data, (size_t)k) ==
                                               dtype_load_bits(got->type, got->data, (size_t)k);
    }
    return true;
}

static bound_reference reference_of(const case_context *s, uint32_t output) {
    return (bound_reference){.values = &s->references[output],
                             .bounds = &s->bounds[output],
                             .limits = &s->limits[output],
                             .tolerated = s->tolerance,
                             .scale = s->tolerance > 0 ? compare_scale(&s->references[output]) : 0,
                             .strict = s->has_oracle ? &s->oracle[output] : NULL};
}

static bound_check bound_once(case_context *s, uint32_t output, const tensor *got) {
    status ignored = STATUS_INIT;
    bound_reference r = reference_of(s, output);
    bound_check c = compare_bound(&r, got);
    if (c.unjudged + c.beyond == 0 || r.strict || s->c->large || !s->limits[output].data ||
        !case_context_oracle(s, &ignored))
        return c;
    r = reference_of(s, output);
    return compare_bound(&r, got);
}

bound_check verdict_bound(case_context *s, uint32_t output, const tensor *got) {
    enum { TRIES = 16 };
    status ignored = STATUS_INIT;
    bound_check c = bound_once(s, output, got);
    for (int i = 0; i < TRIES && s->sampled && c.beyond; i++) {
        const int64_t first = c.first;
        if (!case_context_exact(s, output, first, &ignored))
            break;
        c = bound_once(s, output, got);
        if (c.first == first)
            return c;
    }
    if (s->sampled && c.beyond && case_context_exact_all(s, &ignored))
        c = bound_once(s, output, got);
    return c;
}

bool verdict_is_empty(const verdict *v) {
    return v->holds && v->unjudged > 0 && v->unjudged == v->elements;
}

static void describe_bound(const case_context *s, uint32_t output, const tensor *got,
                           const bound_check *c, text *out) {
    const bound_reference r = reference_of(s, output);
    compare_describe_bound(s->signature.outputs[output].name, &r, got, c, out);
}

static bool against_bound(case_context *s, const verdict_request *request, verdict *out,
                          status *st) {
    request->stage(request->context, "reference");
    if (!case_context_reference(s, st))
        return false;
    out->max_error_over_bound = 0;
    out->holds = true;
    if (!integers_hold(s, request, out, st))
        return false;
    out->holds &= out->bitwise || s->tolerance > 0 || !is_exact_case(s);
    if (!out->holds)
        return true;
    text_clear(&out->why);
    for (uint32_t i = 0; i < s->signature.output_count; i++) {
        bound_check c = verdict_bound(s, i, &request->outputs[i]);
        out->unjudged += c.unjudged;
        out->tolerated += c.tolerated;
        if (c.worst > out->max_error_over_bound)
            out->max_error_over_bound = c.worst;
        if (c.max_ulp > out->max_ulp_f64)
            out->max_ulp_f64 = c.max_ulp;
        if (c.beyond == 0)
            continue;
        if (out->holds)
            describe_bound(s, i, &request->outputs[i], &c, &out->why);
        out->holds = false;
    }
    out->sampled = s->sampled;
    if (verdict_is_empty(out))
        out->max_error_over_bound = -1;
    return true;
}

static bool judge_bits(case_context *s, const verdict_request *request, verdict *out, status *st) {
    bool contract = compiler_instance_is_contract(s->instance);
    if ((request->profile != PROFILE_FAST || contract) && !repeats_agree(s, request, out))
        return true;
    if (contract) {
        out->holds = true;
        return true;
    }
    if (!against_strict(s, request, out, st))
        return false;
    /* The strict bits are within their own bound, so a large case that has them needs no slow f64
     * reference. */
    if (request->profile == PROFILE_STRICT || (out->bitwise && s->c->large)) {
        out->holds = out->bitwise;
        return true;
    }
    return against_bound(s, request, out, st);
}

/* ---- the kernel that says what was meant ---- */

/* Takes what the named kernel says of the outputs. */
static void take_named(const case_context *named, const verdict *found, verdict *out) {
    out->unjudged = found->unjudged;
    out->tolerated = found->tolerated;
    out->sampled = found->sampled;
    out->max_error_over_bound = found->max_error_over_bound;
    out->max_ulp_f64 = found->max_ulp_f64;
    if (found->holds)
        return;
    out->holds = false;
    text_clear(&out->why);
    text_printf(&out->why, "same_as %s: %s", named->kernel->name, found->why.data);
}

bool verdict_same_as(case_context *s, const verdict_request *request, verdict *out, status *st) {
    case_context *named;
    verdict found = {.elements = out->elements, .max_error_over_bound = -1};
    verdict_request as_named = *request;
    if (!out->holds)
        return true;
    if (!case_context_named(s, &named, st) || !named)
        return st->code == STATUS_OK;
    as_named.repeat = NULL;
    if (request->profile == PROFILE_STRICT && !case_context_adds_alike(s, named))
        as_named.profile = PROFILE_FAST;
    text_init(&found.why);
    bool ok = judge_bits(named, &as_named, &found, st);
    if (ok)
        take_named(named, &found, out);
    text_release(&found.why);
    return ok;
}

/* ---- what the kernel promises ---- */

static void violate(verdict *out, const case_context *s, const verdict_request *request, uint32_t i,
                    const range_check *c, const char *what) {
    out->numerics = "violated";
    if (!out->holds)
        return;
    out->holds = false;
    text_append(&out->why, "verify.numerics: ");
    compare_describe_value(s->signature.outputs[i].name, &request->outputs[i], c->first, &out->why);
    text_printf(&out->why, ", %s; %lld of %lld are", what, (long long)c->beyond,
                (long long)tensor_count(&request->outputs[i]));
}

/* An overflow may end in 0 or in another number. */
static bool hold_on_the_way(case_context *s, const verdict_request *request, verdict *out,
                            status *st) {
    if (s->c->large || request->foreign)
        return true;
    request->stage(request->context, "reference");
    const compiler_escape *e = case_context_escape(s, st);
    if (!e || !e->found)
        return e != NULL;
    out->numerics = "violated";
    if (!out->holds)
        return true;
    out->holds = false;
    text_printf(&out->why,
                "verify.numerics: on the way '%s' in line %u gives %g where the f64 reference is "
                "%.9g; %lld of %lld elements do",
                e->operation, e->line, e->value, e->reference, (long long)e->elements,
                (long long)e->count);
    return true;
}

/* The reference is as wide as f64: what overflows on the way is not finite because of its type. */
static bool hold_stable(case_context *s, const verdict_request *request, verdict *out, status *st) {
    uint32_t count = s->signature.output_count;
    int64_t infinite = 0;
    for (uint32_t i = 0; i < count; i++)
        infinite += compare_finite(NULL, &request->outputs[i]).beyond;
    if (!infinite)
        return hold_on_the_way(s, request, out, st);
    request->stage(request->context, "reference");
    tensor *references = tensors_new(count);
    bool known = case_context_unlimited(s, references, st);
    for (uint32_t i = 0; i < count && known; i++) {
        range_check c = compare_finite(&references[i], &request->outputs[i]);
        if (c.beyond)
            violate(out, s, request, i, &c, "where the f64 reference is finite");
    }
    tensors_free(references);
    if (!known)
        return false;
    return strcmp(out->numerics, "violated") == 0 || hold_on_the_way(s, request, out, st);
}

static void hold_bounded(const case_context *s, const verdict_request *request, uint32_t i,
                         verdict *out) {
    const compiler_numerics *n = s->kernel->numerics;
    char words[80];
    range_check c = compare_range(&request->outputs[i], n->low, n->high);
    snprintf(words, sizeof words, "outside of [%.17g, %.17g]", n->low, n->high);
    if (c.beyond)
        violate(out, s, request, i, &c, words);
}

/* Holds the launch to each debug.check(), which are outputs of it; the first of the source is told.
 */
static void hold_checks(const case_context *s, const verdict_request *request, verdict *out) {
    effect e;
    const int failed = effects_failed(&s->signature, request->outputs);
    if (failed < 0 || !effect_is_check(s->signature.outputs[failed].effect, &e))
        return;
    out->holds = false;
    text_clear(&out->why);
    text_printf(&out->why, "debug.check in line %u: ", e.line);
    effects_message(&s->signature, request->outputs, failed, &out->why);
}

bool verdict_numerics(case_context *s, const verdict_request *request, verdict *out, status *st) {
    const compiler_numerics *n = s->kernel->numerics;
    hold_checks(s, request, out);
    out->numerics = n ? "holds" : NULL;
    for (uint32_t i = 0; n && n->bounded && i < s->signature.output_count; i++)
        hold_bounded(s, request, i, out);
    return !n || !n->stable || hold_stable(s, request, out, st);
}

/* ---- what made it ---- */

static const char *why_unseen(case_context *s) {
    if (compiler_instance_is_contract(s->instance))
        return "the kernel has no formula";
    return s->c->large || case_sample_applies(s)
               ? "the case is too large for the interpreter; take smaller dimensions (--dims)"
               : NULL;
}

static bool fail_sentinel(case_context *s, verdict *out, status *st) {
    out->holds = false;
    text_append(&out->why, "sentinels: ");
    return compiler_nonfinite_text(s->instance, &out->nonfinite, &out->why, st);
}

bool verdict_sentinels(case_context *s, const verdict_request *request, verdict *out, status *st) {
    int64_t elements = 0;
    out->looked = request->sentinels;
    for (uint32_t i = 0; out->looked && i < s->signature.output_count; i++)
        elements += compare_finite(NULL, &request->outputs[i]).beyond;
    if (!elements)
        return true;
    out->unseen = why_unseen(s);
    if (out->unseen)
        return true;
    request->stage(request->context, "sentinels");
    if (!compiler_find_nonfinite(s->instance, s->inputs, request->outputs, &out->nonfinite, st))
        return false;
    bool fails = out->holds && !request->told && out->nonfinite.origin == NONFINITE_OPERATION;
    return !fails || fail_sentinel(s, out, st);
}

bool verdict_judge(case_context *s, const verdict_request *request, verdict *out, status *st) {
    *out = (verdict){.against = "none", .max_error_over_bound = -1};
    text_init(&out->why);
    for (uint32_t i = 0; i < s->signature.output_count; i++)
        out->elements += tensor_count(&request->outputs[i]);
    return judge_bits(s, request, out, st) && verdict_same_as(s, request, out, st) &&
           verdict_numerics(s, request, out, st) && verdict_promises(s, request, out, st) &&
           verdict_sentinels(s, request, out, st);
}

void verdict_release(verdict *v) {
    for (uint32_t i = 0; i < v->promise_count; i++)
        text_release(&v->promises[i].why);
    free(v->promises);
    v->promises = NULL;
    v->promise_count = 0;
    text_release(&v->why);
}
