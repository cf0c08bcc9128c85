/* execute_set.c - which set of inputs the kernel runs on, for what is said of a failure. */
#include <string.h>

#include "exec/execution.h"
#include "job/result.h"

void execution_set(execution *e, const input_set *set) {
    e->has_set = set != NULL;
    if (set)
        e->set = *set;
    if (e->hooks->set)
        e->hooks->set(e->hooks->context, set);
}

/* A message about timed launches names its set already. */
status execution_name_set(const execution *e, const status *failed) {
    static const char in_timed[] = "timed launches: ";
    status named = STATUS_INIT;
    if (!e->has_set || !e->set.number || strncmp(failed->message, in_timed, strlen(in_timed)) == 0)
        return *failed;
    status_set(&named, failed->code, "input set %u: %s", e->set.number, failed->message);
    return named;
}

void execution_mismatch(execution *e, const char *why) {
    text said;
    text_init(&said);
    if (e->has_set && e->set.number)
        text_printf(&said, "input set %u: ", e->set.number);
    text_append(&said, why);
    result_set_outcome(e->result, OUTCOME_MISMATCH, said.data, EXIT_CHECK);
    text_release(&said);
}

/* A job that runs on another set than the first has the digests of that one. */
void execution_put_failed_set(execution *e) {
    if (!e->has_set || !outcome_is_failure(result_outcome(e->result)) ||
        result_get(e->result, RESULT_FAILED_ON))
        return;
    result_put_failed_on(e->result, e->set);
    if (e->set.number && e->set.number == e->context->set.number)
        json_object_set(result_get(e->result, RESULT_FAILED_ON), "sha256",
                        result_get(e->result, RESULT_SHA256));
}

static void put_digests_of_given(execution *e) {
    const compiler_signature *signature = &e->context->signature;
    json_t *inputs = json_object();
    for (uint32_t i = 0; i < signature->input_count; i++) {
        char digest[65];
        golden_tensor_digest(&e->context->inputs[i], digest);
        json_object_set_new(inputs, signature->inputs[i].name, json_string(digest));
    }
    result_put_INPUTS(e->result, inputs);
}

void execution_put_case_key(execution *e) {
    if (e->job->inputs)
        put_digests_of_given(e);
    else
        result_put_CASE_KEY(e->result, e->context->key);
}
