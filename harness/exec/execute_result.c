/* execute_result.c - what a job knows of its case and its verdict, as fields of the result. */
#include <math.h>
#include <stdio.h>

#include "case/backend.h"
#include "case/golden.h"
#include "check/verdict.h"
#include "common/json_text.h"
#include "exec/execution.h"
#include "job/result.h"

json_t *execution_digests(const execution *e, const tensor *outputs) {
    json_t *digests = json_array();
    for (uint32_t i = 0; i < e->context->signature.output_count; i++) {
        char digest[65];
        golden_tensor_digest(&outputs[i], digest);
        json_array_append_new(digests, json_string(digest));
    }
    return digests;
}

void execution_put_digests(execution *e, const tensor *outputs) {
    result_put_SHA256(e->result, execution_digests(e, outputs));
}

/* The tiles of a kernel, and what of its source no code depends on. */
void execution_put_tiles(execution *e) {
    case_context *s = e->context;
    bool compiled = backend_is_compiled(e->backend) && !e->class->foreign;
    text space;
    const bool tiles = s->kernel->knobs->count > 0;
    text_init(&space);
    compiler_choice_text(s->kernel, s->c, &space);
    if (space.length)
        result_put_SPACE(e->result, space.data);
    if (compiled) {
        const compiler_options options = {.isa = e->job->isa, .profile = e->profile};
        const char *unused = case_context_unused(s, &options);
        if (tiles || *unused)
            result_put_UNUSED_HINTS(e->result, json_words(unused));
        e->provenance = (compiler_provenance){.unused_hints = s->unused.data};
    }
    snprintf(e->space, sizeof e->space, "%s", space.data);
    e->provenance.space = e->space;
    e->provenance.specialized = compiled && s->specialized;
    if (s->golden_skips)
        snprintf(e->note, sizeof e->note, "%s", s->golden_skips);
    else if (s->golden_state == GOLDEN_STALE && e->job->mode == JOB_BENCH)
        snprintf(
            e->note, sizeof e->note,
            "its golden is stale, of another graph or case: the interpreter was asked instead");
    text_release(&space);
}

/* The case's identity, for packs: two tsr that agree on it run the same. */
void execution_put_identity(execution *e) {
    json_t *inputs = json_array();
    internal_put_KEY(e->result, e->context->key);
    execution_put_case_key(e);
    if (e->job->mode == JOB_PACK || e->job->mode == JOB_REPLAY)
        for (uint32_t i = 0; i < e->context->signature.input_count; i++) {
            char digest[65];
            golden_tensor_digest(&e->context->inputs[i], digest);
            json_array_append_new(inputs, json_string(digest));
        }
    internal_put_INPUTS(e->result, inputs);
}

static void put_promises(const execution *e, const verdict *v) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < v->promise_count; i++) {
        const promise_verdict *p = &v->promises[i];
        json_t *one = json_pack("{s:s, s:i, s:s, s:o}", "function", p->function, "line",
                                (int)p->line, "by", promise_by_name(p->by), "holds",
                                p->by ? json_boolean(p->holds) : json_null());
        if (p->why.length)
            json_object_set_new(one, "why", json_text(p->why.data));
        json_array_append_new(list, one);
    }
    if (v->promise_count)
        result_put_PROMISES(e->result, list);
    else
        json_decref(list);
}

void execution_put_verdict(execution *e, const verdict *v) {
    double error = v->max_error_over_bound;
    result_put_AGAINST(e->result, v->against);
    result_put_BITWISE(e->result, v->bitwise);
    bool known = v->has_ulp && v->max_ulp <= INT64_MAX;
    result_put_MAX_ULP(e->result, known ? (int64_t)v->max_ulp : -1);
    result_put_MAX_ERROR(e->result, error >= 0 ? error : (double)NAN);
    execution_put_judged(e, v);
    put_promises(e, v);
    if (v->numerics)
        result_put_NUMERICS(e->result, v->numerics);
    if (error >= 0)
        result_put_MAX_ULP_F64(e->result, (int64_t)v->max_ulp_f64);
}

void execution_put_work(execution *e) {
    const case_context *s = e->context;
    const char *element = dtype_name(case_context_element(s));
    result_put_FLOPS(e->result, (int64_t)s->flops);
    result_put_BYTES(e->result, (int64_t)s->bytes);
    result_put_TYPE(e->result, element);
    internal_put_ELEMENT(e->result, element);
    internal_put_PAIRS(e->result, case_context_pairs(s));
    internal_put_WORKING_SET(e->result, (int64_t)s->working_set_bytes);
}
