/* controls.c - plans the wrong runs, counts their verdicts, and reports by kernel. */
#include "run/controls.h"

#include <stdlib.h>
#include <string.h>

#include "common/say.h"
#include "job/fault.h"
#include "job/result.h"
#include "report/control_table.h"
#include "run/run.h"

typedef struct controls {
    const corpus *c;
    job_choice choice;
    job_plan plan;
    VEC(size_t) cell_of; /* of each job */
    control_cells cells;
    arena memory;
    exit_code code;
} controls;

static bool same_text(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static size_t cell_for(controls *k, const char *kernel, const char *backend_name,
                       const char *profile, const fault_info *fault) {
    for (size_t i = k->cells.count; i-- > 0;) {
        const control_cell *cell = &k->cells.items[i];
        if (cell->control == fault->name && same_text(cell->kernel, kernel) &&
            same_text(cell->backend, backend_name) && same_text(cell->profile, profile))
            return i;
    }
    control_cell cell = {
        .kernel = kernel, .backend = backend_name, .profile = profile, .control = fault->name};
    vec_push(&k->cells, cell);
    return k->cells.count - 1;
}

/* ---- which controls can show ---- */

/* NULL where the control can show in the case, else the reason. */
static const char *obstacle(controls *k, const corpus_case *item, const fault_info *fault) {
    text why;
    status st = STATUS_INIT;
    bool applies = true;
    text_init(&why);
    compiler_instance *instance = corpus_case_instance(item, &st);
    /* The run will say what cannot be said here. */
    if (instance && !compiler_fault_applies(instance, fault->name, &applies, &why, &st))
        applies = true;
    compiler_instance_free(instance);
    const char *reason = applies ? NULL : arena_strdup(&k->memory, why.data);
    text_release(&why);
    return reason;
}

/* One rounding the other way is what a bound leaves room for: it is a difference of strict bits. */
static const char *profile_obstacle(const char *profile, const fault_info *fault) {
    return fault_is_rounding(fault->name) && !same_text(profile, "strict")
               ? "a rounding in another direction is within the bound that this profile promises"
               : NULL;
}

static void plan_case(controls *k, size_t index, const fault_info *fault) {
    corpus one = {.problem = EXIT_DONE};
    const corpus_case *item = &k->c->cases.items[index];
    job_plan wrong;
    vec_push(&one.cases, *item);
    k->choice.inject = k->choice.fault = fault->name;
    job_plan_make(&wrong, &one, &k->choice, JOB_CONTROL);
    const char *reason = obstacle(k, item, fault);
    for (size_t i = 0; i < wrong.jobs.count; i++) {
        const job *j = &wrong.jobs.items[i];
        if (!j->fault)
            continue;
        size_t cell = cell_for(k, j->kernel, j->backend, j->profile, fault);
        const char *why = reason ? reason : profile_obstacle(j->profile, fault);
        if (why) {
            k->cells.items[cell].left_out++;
            if (!k->cells.items[cell].why)
                k->cells.items[cell].why = why;
            continue;
        }
        vec_push(&k->plan.jobs, *j);
        vec_push(&k->cell_of, cell);
    }
    job_plan_release(&wrong);
    vec_release(&one.cases);
}

static void plan(controls *k) {
    for (size_t i = 0; i < k->c->cases.count; i++)
        for (size_t n = 0; fault_at(n); n++)
            if (fault_at(n)->control)
                plan_case(k, i, fault_at(n));
}

/* ---- what became of them ---- */

static void count(control_cell *cell, const json_t *result) {
    job_outcome o = result_outcome(result);
    if (o == OUTCOME_MISMATCH)
        cell->rejected++;
    else if (o == OUTCOME_UNSUPPORTED || o == OUTCOME_UNJUDGED)
        cell->left_out++;
    else if (o != OUTCOME_OK)
        cell->broke++;
    else if (json_is_true(result_get(result, RESULT_BITWISE)))
        cell->unchanged++;
    else
        cell->accepted++;
}

static void on_result(void *context, const job *j, json_t *result) {
    controls *k = context;
    control_cell *cell = &k->cells.items[k->cell_of.items[j - k->plan.jobs.items]];
    count(cell, result);
    if (result_outcome(result) == OUTCOME_MISMATCH)
        return;
    if (!cell->example)
        cell->example = arena_strdup(&k->memory, j->case_name);
    if (result_outcome(result) != OUTCOME_OK && !cell->why)
        cell->why = arena_strdup(&k->memory, result_text(result, RESULT_WHY));
}

control_outcome control_outcome_of(const control_cell *cell) {
    bool strict = same_text(cell->profile, "strict");
    if (cell->broke)
        return CONTROL_BROKE;
    if (strict && cell->accepted)
        return CONTROL_PASSED;
    if (cell->rejected)
        return CONTROL_REJECTED;
    return cell->accepted + cell->unchanged ? CONTROL_PASSED : CONTROL_LEFT_OUT;
}

static exit_code code_of(const controls *k) {
    exit_code code = k->cells.count ? k->c->problem : EXIT_USAGE;
    for (size_t i = 0; i < k->cells.count; i++) {
        control_outcome outcome = control_outcome_of(&k->cells.items[i]);
        if (outcome == CONTROL_PASSED || outcome == CONTROL_BROKE)
            code = exit_code_worse(code, EXIT_CHECK);
    }
    return code;
}

int controls_run(const corpus *c, const job_choice *choice, bool json, bool colour) {
    controls k = {.c = c, .choice = *choice};
    arena_init(&k.memory);
    plan(&k);
    if (k.cells.count == 0)
        say(stderr, "tsr: no control can be made: interp is never wrong on purpose; name another "
                    "backend\n");
    bool complete = run_jobs(&k.plan, &k.choice, on_result, &k);
    if (complete && json)
        control_table_json(&k.cells, stdout);
    else if (complete)
        control_table_print(&k.cells, colour, stdout);
    int code = complete ? (int)code_of(&k) : EXIT_INTERRUPTED;
    job_plan_release(&k.plan);
    vec_release(&k.cell_of);
    vec_release(&k.cells);
    arena_release(&k.memory);
    return code;
}
