/* execute_steps.c - jobs that look at the way down: which passes there are, what the module behind
 * one computes, and which kernel of a program is wrong. */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "case/case_edited.h"
#include "exec/descents.h"
#include "job/result.h"

const compiler_stored *execution_stored(execution *e) {
    const job *j = e->job;
    e->stored = (compiler_stored){j->from, j->ir};
    return j->from && j->ir && !j->edits ? &e->stored : NULL;
}

static compiler_options options_of(execution *e) {
    compiler_options options = job_compiler_options(e->job, e->context->kernel);
    options.stored = execution_stored(e);
    options.schedule_loose |= e->job->edits != NULL;
    if (e->job->edits)
        options.constants = NULL;
    return options;
}

/* ---- REPLAY, behind a pass ---- */

static bool run_to(execution *e, descents *d, const char *pass, status *st) {
    const char *name;
    bool ok = true, there = !*pass; /* before any */
    while (ok && !there && (name = compiler_descent_name(descents_first(d)))) {
        there = strcmp(name, pass) == 0;
        e->stage(e->stage_context, name);
        ok = descents_run(d, st);
    }
    return ok && (there || status_set(st, STATUS_INVALID, "no pass is called '%s' here", pass));
}

static const tensor *compute(execution *e, status *st) {
    const compiler_options options = options_of(e);
    descents d;
    bool ok = descents_open(e, &options, &d, st) && run_to(e, &d, e->job->after, st);
    if (ok) {
        e->stage(e->stage_context, "evaluate");
        ok = descents_evaluate(&d, e->context, e->outputs, st);
    }
    descents_close(&d);
    return ok ? e->outputs : NULL;
}

static bool judge(execution *e, const tensor *outputs, status *st) {
    (void)outputs;
    return execution_judge(e, NULL, st);
}

static bool pack_outputs(execution *e, const tensor *expected, const tensor **actual, status *st) {
    (void)e;
    (void)expected;
    (void)st;
    *actual = NULL;
    return true;
}

const execution_class execution_of_steps = {.build = execution_needs_nothing,
                                            .compute = compute,
                                            .judge = judge,
                                            .time = execution_needs_nothing,
                                            .pack_code = execution_packs_nothing,
                                            .pack_outputs = pack_outputs};

/* ---- STEPS ---- */

static void put_text(const execution *e, const compiler_descent *s) {
    text words;
    text_init(&words);
    compiler_descent_print(s, &words);
    internal_put_IR(e->result, words.data);
    text_release(&words);
}

static json_t *text_of(const compiler_descent *s) {
    text words;
    text_init(&words);
    compiler_descent_print(s, &words);
    json_t *made = json_text(words.data);
    text_release(&words);
    return made;
}

/* With its module, where those of all passes are asked for. */
static json_t *step_json(const execution *e, const descents *d, const char *name) {
    const compiler_descent *s = descents_first(d);
    json_t *step =
        json_pack("{s:s, s:s, s:o, s:b, s:b}", "pass", name, "level", compiler_descent_level(s),
                  "sha256", descents_digest(d), "evaluated", compiler_descent_evaluates(s),
                  "shared", compiler_pass_is_shared(name));
    if (e->job->after && strcmp(e->job->after, JOB_AFTER_EACH) == 0)
        json_object_set_new(step, "ir", text_of(s));
    return step;
}

static bool list_steps(execution *e, json_t *list, status *st) {
    const compiler_options options = options_of(e);
    descents d;
    const char *name;
    bool ok = descents_open(e, &options, &d, st);
    if (ok)
        json_array_append_new(list, step_json(e, &d, "")); /* before any */
    while (ok && (name = compiler_descent_name(descents_first(&d)))) {
        e->stage(e->stage_context, name);
        ok = descents_run(&d, st);
        if (ok)
            json_array_append_new(list, step_json(e, &d, name));
        if (ok && e->job->after && strcmp(e->job->after, name) == 0)
            put_text(e, descents_first(&d));
    }
    internal_put_PROGRAM(e->result,
                         descents_first(&d) && compiler_descent_is_program(descents_first(&d)));
    descents_close(&d);
    return ok;
}

static json_t *operation_json(const compiler_operation *o) {
    json_t *made = json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", o->name, "line",
                             (json_int_t)o->line, "column", (json_int_t)o->column, "operands",
                             (json_int_t)o->operand_count, "results", (json_int_t)o->result_count);
    if (o->has_block)
        json_object_set_new(made, "inside", json_integer((json_int_t)o->inside));
    return made;
}

/* Those that edits count, of a case that has none yet, too. */
static bool list_operations(execution *e, json_t *list, status *st) {
    case_edited plain = {.inputs = NULL};
    compiler_operation o;
    const compiler_options options = options_of(e);
    const bool edited = e->job->edits != NULL;
    bool ok = edited || case_edited_open(e->context, &options, "", &plain, st);
    if (ok && !edited)
        execution_put_size(e, &plain.edited);
    const compiler_instance *instance = edited ? e->context->instance : plain.edited.instance;
    for (uint32_t i = 1; ok && compiler_operation_at(instance, i, &o); i++)
        json_array_append_new(list, operation_json(&o));
    case_edited_close(&plain);
    return ok;
}

/* As --dims has them, for the case in other sizes. */
static void put_dims(const execution *e) {
    const compiler_case *c = e->context->c;
    text words;
    text_init(&words);
    text_append(&words, "");
    for (uint32_t i = 0; i < c->dim_count; i++)
        text_printf(&words, "%s%s=%lld", words.length ? "," : "", c->dims[i].name,
                    (long long)c->dims[i].value);
    for (uint32_t i = 0; i < c->type_count; i++)
        text_printf(&words, "%s%s=%s", words.length ? "," : "", c->types[i].name,
                    dtype_name(c->types[i].type));
    internal_put_DIMS(e->result, words.data);
    text_release(&words);
}

bool execution_list_steps(execution *e, status *st) {
    json_t *steps = json_array(), *operations = json_array();
    const bool operations_alone = e->job->after && !*e->job->after;
    status own = STATUS_INIT; /* passes can be listed where operations cannot */
    bool ok = operations_alone ? list_operations(e, operations, st) : list_steps(e, steps, st);
    if (ok && !operations_alone)
        list_operations(e, operations, &own);
    put_dims(e);
    internal_put_STEPS(e->result, steps);
    internal_put_OPERATIONS(e->result, operations);
    if (ok)
        result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    return ok;
}

/* ---- RUNS ---- */

typedef struct built {
    const compiler_instance *instance;
    compiler_artifact artifact;
} built;

typedef struct run_state {
    execution *e;
    VEC(built) modules;
    bool ok;
    json_t *wrong; /* the first; NULL: none so far */
    status *st;
} run_state;

static const compiler_artifact *module_of(run_state *s, compiler_instance *instance) {
    for (size_t i = 0; i < s->modules.count; i++)
        if (s->modules.items[i].instance == instance)
            return &s->modules.items[i].artifact;
    built one = {.instance = instance};
    compiler_options options = options_of(s->e);
    options.constants = NULL;
    options.stored = NULL;
    options.schedule_loose = true;
    if (!compiler_build(instance, &options, &one.artifact, s->st))
        return NULL;
    vec_push(&s->modules, one);
    return &s->modules.items[s->modules.count - 1].artifact;
}

static json_t *run_json(const compiler_run *run) {
    json_t *turns = json_array();
    for (uint32_t i = 0; i < run->turn_count; i++)
        json_array_append_new(turns, json_pack("{s:I, s:I}", "line", (json_int_t)run->turns[i].line,
                                               "turn", (json_int_t)run->turns[i].turn));
    return json_pack("{s:I, s:I, s:o}", "number", (json_int_t)run->number, "line",
                     (json_int_t)run->line, "turns", turns);
}

/* Holds one run of a kernel to the interpreter's. */
static bool judge_run(run_state *s, case_edited *one, const compiler_run *run) {
    const compiler_artifact *module = module_of(s, run->instance);
    case_context *c = &one->context;
    tensor *outputs = tensors_new(c->signature.output_count);
    bool ok = module && execution_launch_beside(s->e, c, module, outputs, s->st);
    json_t *wrong = NULL;
    ok = ok && execution_find_wrong(c, s->e->profile, outputs, &wrong, s->st);
    tensors_free(outputs);
    if (wrong) {
        s->wrong = run_json(run);
        internal_put_WRONG(s->e->result, wrong);
    }
    return ok;
}

static bool visit(void *self, const compiler_run *run) {
    run_state *s = self;
    case_edited one = {.inputs = NULL};
    char stage[32];
    snprintf(stage, sizeof stage, "run %lld", (long long)run->number);
    s->e->stage(s->e->stage_context, stage);
    s->ok = case_edited_of(s->e->context, run->instance, run->inputs, &one, s->st) &&
            judge_run(s, &one, run);
    case_edited_close(&one);
    return s->ok && !s->wrong;
}

bool execution_runs(execution *e, status *st) {
    run_state s = {.e = e, .ok = true, .st = st};
    const compiler_options options = options_of(e);
    bool ok =
        compiler_runs(e->context->instance, &options, e->context->inputs, visit, &s, st) && s.ok;
    if (s.wrong)
        internal_put_RUN(e->result, s.wrong);
    for (size_t i = 0; i < s.modules.count; i++)
        compiler_artifact_release(&s.modules.items[i].artifact);
    vec_release(&s.modules);
    if (ok)
        result_set_outcome(e->result, s.wrong ? OUTCOME_MISMATCH : OUTCOME_OK, NULL,
                           s.wrong ? EXIT_CHECK : EXIT_DONE);
    return ok;
}
