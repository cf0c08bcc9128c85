/* worker_serve.c - the worker's own side: reads jobs, runs them, answers. */
#include "exec/execute.h"
#include "exec/worker.h"
#include "job/fault.h"
#include "job/result.h"
#include "process/frames.h"
#include "process/serve.h"
#include "repro/sandbox.h"

static void announce_stage(void *context, const char *stage) {
    (void)context;
    serve_answer(json_pack("{s:s}", "stage", stage));
}

static void announce_set(void *context, const input_set *set) {
    (void)context;
    serve_answer(set ? json_pack("{s:{s:I, s:b}}", "set", "number", (json_int_t)set->number,
                                 "perturbed", set->perturbed)
                     : json_pack("{s:{}}", "set"));
}

typedef struct served {
    case_context context;
    execute_relation_fn relation;
} served;

static exit_code serve_job(void *context, json_t *request) {
    served *s = context;
    job j;
    status st = STATUS_INIT, later = STATUS_INIT;
    if (!request || !job_from_json(request, &j))
        return EXIT_BUG;
    fault_prepare(j.fault);
    if (j.sandbox)
        (void)compiler_open_llvm(&later); /* whoever needs it says so */
    bool ready = !j.sandbox || sandbox_enter(j.inputs ? j.inputs : j.images, &st);
    const execute_hooks hooks = {
        .relation = s->relation, .stage = announce_stage, .set = announce_set};
    json_t *result =
        ready ? execute_job(&s->context, &j, &hooks) : result_new(&j, OUTCOME_ERROR, st.message);
    serve_answer(json_pack("{s:o}", "result", result));
    return EXIT_DONE;
}

int worker_serve(execute_relation_fn relation) {
    served s = {.relation = relation};
    frames_watch();
    exit_code code = serve_lines(serve_job, &s);
    case_context_close(&s.context);
    return code;
}
