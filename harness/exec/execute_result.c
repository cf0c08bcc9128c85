/* execute_result.c - what a job knows of its case and its verdict, as fields of the result. */
#include <math.h>
#include <stdio.h>

#include "case/backend.h"
#include "case/golden.h"
#include "case/result.h"
#include "check/verdict.h"
#include "common/json_text.h"
#include "exec/execution.h"

json_t *execution_digests(const execution *e, const tensor *outputs) {
    json_t *digests = json_array();
    for (uint32_t i = 0; i < e->subject->signature.output_count; i++) {
        char digest[65];
        golden_tensor_digest(&outputs[i], digest);
        json_array_append_new(digests, json_string(digest));
    }
    return digests;
}

void execution_put_digests(execution *e, const tensor *outputs) {
    result_set(e->result, RESULT_SHA256, execution_digests(e, outputs));
}

/* The tiles of a kernel, and those of them that no code depends on. */
void execution_put_tiles(execution *e) {
    case_context *s = e->subject;
    bool compiled = backend_is_compiled(e->backend) && !e->class->foreign;
    text space;
    if (s->kernel->knobs->count == 0)
        return;
    text_init(&space);
    compiler_choice_text(s->kernel, s->c, &space);
    if (space.length)
        result_set(e->result, RESULT_SPACE, json_string(space.data));
    if (compiled) {
        result_set(e->result, RESULT_UNUSED_HINTS, json_words(case_context_unused(s)));
        e->provenance = (compiler_provenance){.unused_hints = s->unused.data};
    }
    snprintf(e->space, sizeof e->space, "%s", space.data);
    e->provenance.space = e->space;
    e->provenance.specialized = compiled && s->specialized;
    if (s->apart)
        snprintf(e->note, sizeof e->note, "%s", s->apart);
    text_release(&space);
}

/* The case's identity, for packs: two tsr that agree on it run the same. */
void execution_put_identity(execution *e) {
    json_t *internal = json_object_get(e->result, "internal"), *inputs = json_array();
    json_object_set_new(internal, "key", json_string(e->subject->key));
    execution_put_case_key(e);
    if (e->job->mode == JOB_PACK || e->job->mode == JOB_REPLAY)
        for (uint32_t i = 0; i < e->subject->signature.input_count; i++) {
            char digest[65];
            golden_tensor_digest(&e->subject->inputs[i], digest);
            json_array_append_new(inputs, json_string(digest));
        }
    json_object_set_new(internal, "inputs", inputs);
}

static json_t *finite_or_null(double value) {
    return isfinite(value) && value >= 0 ? json_real(value) : json_null();
}

void execution_put_verdict(execution *e, const verdict *v) {
    json_t *check = json_object_get(e->result, "check");
    json_object_set_new(check, "against", json_string(v->against));
    json_object_set_new(check, "bitwise", json_boolean(v->bitwise));
    bool known = v->has_ulp && v->max_ulp <= INT64_MAX;
    json_object_set_new(check, "max_ulp",
                        known ? json_integer((json_int_t)v->max_ulp) : json_null());
    json_object_set_new(check, "max_error_over_bound", finite_or_null(v->max_error_over_bound));
    execution_put_judged(e, v);
    if (v->numerics)
        json_object_set_new(check, "numerics", json_string(v->numerics));
    if (v->max_error_over_bound >= 0)
        json_object_set_new(check, "max_ulp_f64", json_integer((json_int_t)v->max_ulp_f64));
}

void execution_put_work(execution *e) {
    const case_context *s = e->subject;
    json_t *internal = json_object_get(e->result, "internal");
    json_object_set_new(e->result, "flops", json_integer((json_int_t)s->flops));
    json_object_set_new(e->result, "bytes", json_integer((json_int_t)s->bytes));
    json_object_set_new(e->result, "type", json_string(dtype_name(case_context_element(s))));
    json_object_set_new(internal, "element", json_string(dtype_name(case_context_element(s))));
    json_object_set_new(internal, "pairs", json_boolean(case_context_pairs(s)));
    json_object_set_new(internal, "working_set", json_integer((json_int_t)s->working_set_bytes));
}
