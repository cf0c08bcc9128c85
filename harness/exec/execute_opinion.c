/* execute_opinion.c - what the interpreter shares with the way down, held to a second opinion
 * (tessera/opinion.h), and the interpreter itself, held to code of the processor. */
#include "tessera/opinion.h"

#include <string.h>

#include "check/compare.h"
#include "exec/execution.h"
#include "job/result.h"

static json_t *opinion_json(const compiler_opinion *o) {
    json_t *right = json_array(), *open = json_array();
    for (uint32_t i = 0; i < o->right_count; i++)
        json_array_append_new(right, json_string(o->right[i]));
    for (uint32_t i = 0; i < o->open_count; i++)
        json_array_append_new(open, json_string(o->open[i]));
    return json_pack("{s:s?, s:s?, s:I, s:I, s:s, s:o, s:o}", "wrong", o->wrong, "name", o->name,
                     "line", (json_int_t)o->line, "column", (json_int_t)o->column, "why", o->why,
                     "right", right, "open", open);
}

bool execution_opinion(execution *e, status *st) {
    compiler_opinion o;
    const bool ok = compiler_second_opinion(e->context->instance, e->context->inputs, &o, st);
    if (ok) {
        internal_put_OPINION(e->result, opinion_json(&o));
        result_set_outcome(e->result, OUTCOME_OK, NULL, EXIT_DONE);
    }
    return ok;
}

/* ---- as a judge ---- */

bool execution_launch_beside(const execution *e, const case_context *c,
                             const compiler_artifact *module, tensor *outputs, status *st) {
    launch l;
    const ir_module *m = compiler_instance_graph(c->instance);
    launch_request request = {.device = e->device,
                              .threads = e->job->threads,
                              .kernel = ir_op_string(m, ir_module_kernel(m), "name", "")};
    launch_request_artifact(&request, module);
    launch_request_buffers(&request, &c->signature);
    bool ok = launch_open(&l, &request, st) && launch_write_inputs(&l, c->inputs, st) &&
              launch_poison_outputs(&l, st) && launch_run(&l, st) &&
              launch_read_outputs(&l, &c->signature, outputs, st);
    launch_close(&l);
    return ok;
}

static void put_difference(execution *e, const tensor *of_code, const tensor *outputs, text *why) {
    const compiler_signature *s = &e->context->signature;
    for (uint32_t i = 0; i < s->output_count && why->length == 0; i++) {
        const comparison c = compare_bits(&of_code[i], &outputs[i]);
        if (c.differing)
            text_printf(why, "output %s: code has other bits than the interpreter in %lld of %lld",
                        s->outputs[i].name, (long long)c.differing, (long long)c.count);
    }
}

/* Appends how far code of the processor is from the interpreter; nothing where it is not. */
static bool hold_to_code(execution *e, const tensor *outputs, text *why, status *st) {
    compiler_artifact module = {0};
    tensor *of_code = tensors_new(e->context->signature.output_count);
    const compiler_options options = {.profile = e->profile};
    e->stage(e->stage_context, "code");
    const bool ok = compiler_build(e->context->instance, &options, &module, st) &&
                    execution_launch_beside(e, e->context, &module, of_code, st);
    if (ok)
        put_difference(e, of_code, outputs, why);
    tensors_free(of_code);
    compiler_artifact_release(&module);
    return ok;
}

/* Appends what is wrong with the pass' operation by a second opinion; nothing where that is right.
 */
static bool hold_to_opinion(execution *e, text *why, status *st) {
    const char *pass = e->job->opinion, *operation = strchr(pass, ' ');
    const size_t length = operation ? (size_t)(operation - pass) : strlen(pass);
    compiler_opinion o;
    e->stage(e->stage_context, "opinion");
    if (!compiler_second_opinion(e->context->instance, e->context->inputs, &o, st))
        return false;
    if (o.wrong && strlen(o.wrong) == length && memcmp(o.wrong, pass, length) == 0 &&
        (!operation || strcmp(o.name, operation + 1) == 0))
        text_printf(why, "%s, by pass %s: %s", o.name, o.wrong, o.why);
    return true;
}

bool execution_ask_opinion(execution *e, const tensor *outputs, bool *wrong, status *st) {
    text why;
    text_init(&why);
    const bool ok = strcmp(e->job->opinion, JOB_OPINION_OF_CODE) == 0
                        ? hold_to_code(e, outputs, &why, st)
                        : hold_to_opinion(e, &why, st);
    *wrong = ok && why.length > 0;
    if (*wrong) {
        execution_put_digests(e, outputs);
        e->mismatch = true;
        execution_mismatch(e, why.data);
    }
    text_release(&why);
    return ok;
}
