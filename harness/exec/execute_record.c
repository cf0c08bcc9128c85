/* execute_record.c - writes the golden of a case: what the interpreter computed. */
#include "check/compare.h"
#include "exec/execution.h"
#include "job/result.h"

/* Worst distance of each output from the f64 reference, in ULP of its own type; negative where not
 * computed. */
static void error_against_f64(execution *e, const tensor *outputs, double *error_ulp) {
    case_context *s = e->context;
    status ignored = STATUS_INIT;
    for (uint32_t i = 0; i < s->signature.output_count; i++)
        error_ulp[i] = -1;
    if (s->c->large)
        return;
    e->stage(e->stage_context, "reference");
    if (!case_context_exact_all(s, &ignored))
        return;
    for (uint32_t i = 0; i < s->signature.output_count; i++) {
        tensor rounded;
        if (!tensor_init(&rounded, outputs[i].type, outputs[i].rank, outputs[i].dims, &ignored))
            return;
        const double *values = s->references[i].data;
        for (int64_t k = 0; k < tensor_count(&rounded); k++)
            dtype_store(rounded.type, rounded.data, (size_t)k, values[k]);
        comparison c = compare_bits(&rounded, &outputs[i]);
        error_ulp[i] = c.max_ulp == UINT64_MAX ? -1 : (double)c.max_ulp;
        tensor_release(&rounded);
    }
}

bool execution_record(execution *e, const tensor *outputs, status *st) {
    case_context *s = e->context;
    double *error_ulp = base_calloc(s->signature.output_count + 1, sizeof *error_ulp);
    bool written, conflict;
    error_against_f64(e, outputs, error_ulp);
    golden_record record = {e->job->golden_path, e->job->kernel, e->job->case_name, s->key,
                            &s->signature,       outputs,        error_ulp};
    bool ok = golden_write(&record, &written, &conflict, st);
    free(error_ulp);
    if (!ok) {
        if (conflict)
            result_set_outcome(e->result, OUTCOME_MISMATCH, st->message, EXIT_CHECK);
        return conflict;
    }
    result_set_outcome(e->result, OUTCOME_OK, written ? "recorded" : "unchanged", EXIT_DONE);
    internal_put_RECORDED(e->result, written);
    return true;
}
