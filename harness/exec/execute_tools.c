/* execute_tools.c - jobs of the stock tools of LLVM. */
#include "exec/execution.h"
#include "exec/mlir_backend.h"
#include "job/fault.h"

/* The outputs of programs of others. Faults of our compiler cannot be made there. */
static const tensor *compute(execution *e, status *st) {
    if (fault_of_code(e->job->fault)) {
        status_set(st, STATUS_UNAVAILABLE, "fault %s does not apply: %s is not made by us",
                   e->job->fault, e->job->backend);
        return NULL;
    }
    e->stage(e->stage_context, "compile");
    if (!mlir_backend_run(e->context, e->job->unoptimised, e->outputs, st) ||
        !fault_apply(e->job->fault, e->outputs, e->context->signature.output_count, st))
        return NULL;
    execution_transpose_output(e, e->outputs);
    return e->outputs;
}

/* A second run would only compile the same again. */
static bool judge(execution *e, const tensor *outputs, status *st) {
    (void)outputs;
    return execution_judge(e, NULL, st);
}

const execution_class execution_of_tools = {.held_to_golden = true,
                                            .build = execution_needs_nothing,
                                            .compute = compute,
                                            .judge = judge,
                                            .time = execution_needs_nothing,
                                            .pack_code = execution_packs_nothing,
                                            .pack_outputs = execution_pack_computed};
