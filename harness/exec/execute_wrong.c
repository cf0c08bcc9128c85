/* execute_wrong.c - the first element of a result that does not hold, in numbers. */
#include <math.h>
#include <stdio.h>

#include "check/compare.h"
#include "exec/execution.h"
#include "job/result.h"
#include "tessera/edit.h"

/* JSON has neither. */
static json_t *number_json(double value) {
    if (isnan(value))
        return json_string("nan");
    return isinf(value) ? json_string(value < 0 ? "-inf" : "inf") : json_real(value);
}

static json_t *value_json(const tensor *t, int64_t at) {
    char bits[32];
    snprintf(bits, sizeof bits, "0x%0*llx", (int)(2 * dtype_size(t->type)),
             (unsigned long long)dtype_load_bits(t->type, t->data, (size_t)at));
    return json_pack("{s:o, s:s}", "value", number_json(dtype_load(t->type, t->data, (size_t)at)),
                     "bits", bits);
}

static json_t *index_json(const tensor *t, int64_t at) {
    json_t *list = json_array();
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        json_array_insert_new(list, 0, json_integer(at % t->dims[axis]));
        at /= t->dims[axis];
    }
    return list;
}

static json_t *element_json(const case_context *s, uint32_t output, const tensor *got,
                            const tensor *expected, int64_t at) {
    compiler_operation made;
    const uint32_t number = compiler_output_operation(s->instance, output);
    const bool by_one = compiler_operation_at(s->instance, number, &made);
    return json_pack("{s:s, s:s, s:I, s:s, s:o, s:o, s:o}", "output",
                     s->signature.outputs[output].name, "type", dtype_name(got->type), "operation",
                     (json_int_t)number, "made_by", by_one ? made.name : "", "index",
                     index_json(got, at), "got", value_json(got, at), "expected",
                     value_json(expected, at));
}

/* The first element that is wrong, and how many are. Parameters: an output and what is told of it.
 */
static bool find_in(case_context *s, compiler_profile profile, uint32_t output, const tensor *got,
                    int64_t *first, int64_t *count, status *st) {
    const tensor *strict = case_context_oracle(s, st);
    if (!strict || (profile != PROFILE_STRICT && !case_context_reference(s, st)))
        return false;
    if (profile == PROFILE_STRICT) {
        const comparison c = compare_bits(&strict[output], got);
        *first = c.first;
        *count = c.differing;
    } else {
        const bound_check c = verdict_bound(s, output, got);
        *first = c.first;
        *count = c.beyond;
    }
    return true;
}

bool execution_find_wrong(case_context *s, compiler_profile profile, const tensor *outputs,
                          json_t **wrong, status *st) {
    bool ok = true;
    for (uint32_t i = 0; ok && !*wrong && i < s->signature.output_count; i++) {
        int64_t first, count;
        ok = find_in(s, profile, i, &outputs[i], &first, &count, st);
        if (!ok || count == 0)
            continue;
        *wrong = element_json(s, i, &outputs[i], &case_context_oracle(s, st)[i], first);
        json_object_set_new(*wrong, "differing", json_integer(count));
        json_object_set_new(*wrong, "elements", json_integer(tensor_count(&outputs[i])));
    }
    return ok;
}

void execution_put_wrong(execution *e) {
    status ignored = STATUS_INIT;
    json_t *wrong = NULL;
    if (e->job->mode != JOB_REPLAY || compiler_instance_is_contract(e->context->instance))
        return;
    if (execution_find_wrong(e->context, e->profile, e->outputs, &wrong, &ignored) && wrong)
        internal_put_WRONG(e->result, wrong);
    else
        json_decref(wrong);
}
