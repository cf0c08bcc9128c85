/* execute_pack.c - writes the members of a pack. */
#include "case/golden.h"
#include "exec/execution.h"
#include "exec/opened.h"
#include "exec/staging.h"
#include "job/result.h"

bool execution_packs_nothing(execution *e, const staging *s, status *st) {
    (void)e;
    (void)s;
    (void)st;
    return true;
}

bool execution_pack_computed(execution *e, const tensor *expected, const tensor **actual,
                             status *st) {
    (void)expected;
    *actual = e->job->launches ? e->class->compute(e, st) : NULL;
    return *actual || !e->job->launches;
}

/* The golden's outputs, where it kept all of them; *put: it did. */
static bool put_golden(const execution *e, const staging *s, bool *put, status *st) {
    const compiler_signature *signature = &e->context->signature;
    tensor *kept = tensors_new(signature->output_count);
    *put = true;
    for (uint32_t i = 0; i < signature->output_count && *put; i++)
        *put = golden_tensor(&e->context->golden, i, &signature->outputs[i], &kept[i], st);
    const bool ok =
        st->code == STATUS_OK && (!*put || staging_put_tensors(s, "expected", kept, st));
    tensors_free(kept);
    internal_put_GOLDEN(e->result, golden_digests(&e->context->golden));
    return ok;
}

/* The golden's outputs, else the interpreter's: of the kernel that @same_as names where there is
 * one. */
static bool put_expected(const execution *e, const staging *s, const tensor *own, status *st) {
    case_context *named;
    bool put = false;
    if (e->context->golden_state == GOLDEN_PRESENT && (!put_golden(e, s, &put, st) || put))
        return put;
    if (!case_context_named(e->context, &named, st))
        return false;
    const tensor *expected = named ? case_context_oracle(named, st) : own;
    return expected && staging_put_tensors(s, "expected", expected, st);
}

bool execution_pack(execution *e, status *st) {
    staging s = {e->job, e->context, e->stage, e->stage_context};
    const tensor *expected, *actual;
    if (e->job->opens)
        opened_begin(e->job->staging);
    if (!staging_put_sources(&s, st) || !e->class->pack_code(e, &s, st))
        return false;
    e->stage(e->stage_context, "oracle");
    bool known = !compiler_instance_is_contract(e->context->instance);
    expected = known ? case_context_oracle(e->context, st) : NULL;
    if (known && (!expected || !put_expected(e, &s, expected, st)))
        return false;
    if (!e->class->pack_outputs(e, expected, &actual, st))
        return false;
    if (actual)
        execution_put_digests(e, actual);
    if (e->job->opens)
        execution_put_opened(e);
    result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    return !actual || staging_put_tensors(&s, "actual", actual, st);
}
