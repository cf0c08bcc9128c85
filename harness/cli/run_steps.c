/* run_steps.c - see run_steps.h. */
#include "cli/run_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "case/effects.h"
#include "cli/run_states.h"
#include "cli/step_log.h"
#include "common/interrupt.h"
#include "common/say.h"
#include "common/timer.h"
#include "report/progress.h"
#include "state/index.h"
#include "state/safetensors.h"
#include "tessera/nonfinite.h"

typedef struct runner {
    const step_plan *plan;
    tensor *outputs;
    FILE **logs;    /* by output: its elements, step after step; NULL: it is not kept */
    int64_t done;   /* steps */
    uint64_t saved; /* when, in ns: the states, */
    uint64_t told;  /* the metrics of the last step, */
    uint64_t drawn; /* and the bar */
    step_log log;
    progress bar;
    bool *in_place; /* by output: it lies in the input that it replaces */
    bool fails;     /* an operation made a NaN or an infinity */
} runner;

enum { SAVE_AFTER_NS = 1000000000, DRAW_AFTER_NS = 100000000 };

static bool is_kept(const struct compiler_buffer *output) {
    return output->replaces < 0 && !output->effect;
}

/* ---- files ---- */

static char *path_in(const char *folder, const char *name, const char *end) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/%s%s", folder, name, end);
    return path.data;
}

/* ---- states ---- */

static bool write_states(const runner *r, const char *path, status *st) {
    const step_plan *p = r->plan;
    const compiler_signature *s = p->signature;
    safetensors_named *list = base_calloc(s->input_count + 1, sizeof *list);
    char step[24];
    size_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (states_is_one(s, i))
            list[count++] = (safetensors_named){s->inputs[i].name, &p->inputs[i]};
    snprintf(step, sizeof step, "%" PRId64, r->done);
    json_t *metadata =
        json_pack("{s:s, s:s, s:s}", "step", step, "kernel", p->kernel, "program", p->program);
    bool ok = safetensors_write(path, list, count, metadata, st);
    json_decref(metadata);
    free(list);
    return ok;
}

/* Brings the states that lie on the device into the inputs' arrays. */
static bool fetch_states(runner *r, status *st) {
    const step_plan *p = r->plan;
    bool ok = true;
    for (uint32_t o = 0; p->device && o < p->signature->output_count && ok; o++)
        if (r->in_place[o])
            ok = launch_read_input(p->device, (uint32_t)p->signature->outputs[o].replaces,
                                   p->inputs[p->signature->outputs[o].replaces].data, st);
    return ok;
}

static kept_states states_of(const runner *r) {
    const step_plan *p = r->plan;
    const bool apart = p->device && p->device->ranks;
    return (kept_states){.folder = p->state,
                         .kernel = p->kernel,
                         .program = p->program,
                         .signature = p->signature,
                         .shards = p->shards,
                         .inputs = p->inputs,
                         .retried = p->retried,
                         .ranks = apart ? p->device : NULL};
}

/* Results first: those behind the step that the states are of are cut off when it is read again. */
static bool save_state(runner *r, status *st) {
    if (!r->plan->state)
        return true;
    for (uint32_t o = 0; o < r->plan->signature->output_count; o++)
        if (r->logs[o] && fdatasync(fileno(r->logs[o])))
            return status_set(st, STATUS_IO, "%s: %s", r->plan->state, strerror(errno));
    const kept_states kept = states_of(r);
    bool ok = (kept.ranks || fetch_states(r, st)) && states_keep(&kept, r->done, st);
    r->saved = timer_now_ns();
    return ok;
}

/* Takes what the folder holds, into the inputs that lie on the device or will be written there. */
static bool take_state(runner *r, status *st) {
    const kept_states kept = states_of(r);
    if (!states_take(&kept, &r->done, st))
        return false;
    say(stderr, "tsr: goes on behind step %" PRId64 ", of which %s holds the states\n", r->done,
        r->plan->state);
    return true;
}

/* ---- results of every step ---- */

static bool open_log(runner *r, uint32_t output, status *st) {
    const struct compiler_buffer *b = &r->plan->signature->outputs[output];
    if (!is_kept(b))
        return true;
    if (b->rank == TENSOR_MAX_RANK)
        return status_set(st, STATUS_INVALID,
                          "output %s has %d axes, and one more for the steps is too many", b->name,
                          b->rank);
    char *path = r->plan->state ? path_in(r->plan->state, b->name, ".steps") : NULL;
    FILE *file = path ? fopen(path, r->done ? "r+b" : "w+b") : tmpfile();
    r->logs[output] = file;
    off_t end = (off_t)(r->done * (int64_t)tensor_bytes(&r->outputs[output]));
    /* not fseeko(), which goes no further than its buffer, and file_append() writes past that */
    bool ok = file && lseek(fileno(file), 0, SEEK_END) >= end &&
              ftruncate(fileno(file), end) == 0 && lseek(fileno(file), end, SEEK_SET) == end;
    if (!ok)
        status_set(st, STATUS_IO, "%s: the results of %" PRId64 " steps are not there",
                   path ? path : "a temporary file", r->done);
    free(path);
    return ok;
}

static bool keep_results(runner *r, status *st) {
    for (uint32_t o = 0; o < r->plan->signature->output_count; o++)
        if (r->logs[o] &&
            !file_append(fileno(r->logs[o]), r->outputs[o].data, tensor_bytes(&r->outputs[o])))
            return status_set(st, STATUS_IO, "results of a step: %s", strerror(errno));
    return true;
}

static bool write_array(const runner *r, const char *name, const tensor *t, status *st) {
    char *path = path_in(r->plan->out, name, ".npy");
    bool ok = tensor_write_npy(t, path, st);
    if (ok)
        say(stdout, "%s\n", path);
    free(path);
    return ok;
}

/* All steps of one output, along a new first axis. */
static bool write_log(const runner *r, uint32_t output, status *st) {
    const struct compiler_buffer *b = &r->plan->signature->outputs[output];
    int64_t dims[TENSOR_MAX_RANK];
    tensor all;
    dims[0] = r->done;
    memcpy(dims + 1, b->dims, sizeof *dims * (size_t)b->rank);
    if (!tensor_init(&all, b->type, b->rank + 1, dims, st))
        return false;
    rewind(r->logs[output]);
    size_t bytes = tensor_bytes(&all);
    bool ok =
        fread(all.data, 1, bytes, r->logs[output]) == bytes
            ? write_array(r, b->name, &all, st)
            : status_set(st, STATUS_IO, "the results of output %s: %s", b->name, strerror(errno));
    tensor_release(&all);
    return ok;
}

static bool write_outputs(const runner *r, status *st) {
    const compiler_signature *s = r->plan->signature;
    if (file_exists(r->plan->out) && !file_is_dir(r->plan->out))
        return status_set(st, STATUS_INVALID, "--out %s: it is no folder", r->plan->out);
    bool ok = file_make_dirs(r->plan->out, st);
    for (uint32_t o = 0; o < s->output_count && ok; o++) {
        if (s->outputs[o].effect)
            continue;
        ok = s->outputs[o].replaces >= 0
                 ? write_array(r, s->outputs[o].name, &r->plan->inputs[s->outputs[o].replaces], st)
             : r->logs[o] ? write_log(r, o, st)
                          : write_array(r, s->outputs[o].name, &r->outputs[o], st);
    }
    return ok;
}

void steps_options(step_plan *plan, const options *o) {
    plan->state = options_text(o, OPTION_KEEP, NULL);
    plan->save = options_text(o, OPTION_SAVE, NULL);
    plan->out = options_text(o, OPTION_OUT, ".");
    plan->sentinels = options_flag(o, OPTION_SENTINELS);
    plan->exports = plan->steps ? o : NULL;
}

/* ---- a step ---- */

static void swap(tensor *a, tensor *b) {
    tensor t = *a;
    *a = *b;
    *b = t;
}

/* Reads what a launch has made; a state that does not stay in place goes back as an input. */
static bool take_results(runner *r, status *st) {
    const step_plan *p = r->plan;
    bool ok = true;
    for (uint32_t o = 0; o < p->signature->output_count && ok; o++)
        ok = r->in_place[o] || launch_read(p->device, o, r->outputs[o].data, st);
    return ok;
}

static bool hand_on(runner *r, status *st) {
    const step_plan *p = r->plan;
    bool ok = true;
    for (uint32_t o = 0; o < p->signature->output_count && ok; o++) {
        const int input = p->signature->outputs[o].replaces;
        if (input < 0 || r->in_place[o])
            continue;
        swap(&p->inputs[input], &r->outputs[o]);
        ok = !p->device || launch_write(p->device, (uint32_t)input, p->inputs[input].data, st);
    }
    return ok;
}

static bool compute(runner *r, status *st) {
    const step_plan *p = r->plan;
    const int32_t number = (int32_t)r->done;
    if (p->counter >= 0)
        memcpy(p->inputs[p->counter].data, &number, sizeof number);
    if (!p->device) {
        tensor_release_all(r->outputs, p->signature->output_count);
        return compiler_interpret(p->instance, p->inputs, r->outputs, st);
    }
    return (p->counter < 0 || launch_write(p->device, (uint32_t)p->counter, &number, st)) &&
           launch_run(p->device, st) && take_results(r, st);
}

/* Reads states that stay in place, as a launch left them; those that cannot be read stay as they
 * are. */
static void read_states(runner *r) {
    status ignored = STATUS_INIT;
    for (uint32_t o = 0; o < r->plan->signature->output_count; o++)
        if (r->in_place[o])
            launch_read(r->plan->device, o, r->outputs[o].data, &ignored);
    status_clear(&ignored);
}

static bool checks_hold(runner *r, status *st) {
    const compiler_signature *s = r->plan->signature;
    effect e;
    int output = effects_failed(s, r->outputs);
    if (output < 0)
        return true;
    effect_is_check(s->outputs[output].effect, &e);
    text said;
    text_init(&said);
    read_states(r);
    effects_message(s, r->outputs, output, &said);
    if (r->plan->steps)
        status_set(st, STATUS_MISMATCH, "%s:%u: step %" PRId64 " of %s: %.600s", r->plan->path,
                   e.line, r->done, r->plan->kernel, said.data);
    else
        status_set(st, STATUS_MISMATCH, "%s:%u: %s: %.600s", r->plan->path, e.line, r->plan->kernel,
                   said.data);
    text_release(&said);
    return false;
}

/* Tells what made outputs that are not finite; only an operation is a failure. The inputs are those
 * of this step: no state lies in its output. */
static bool look_for_nonfinite(runner *r, status *st) {
    const step_plan *p = r->plan;
    compiler_nonfinite found;
    text words;
    if (!compiler_find_nonfinite(p->instance, p->inputs, r->outputs, &found, st))
        return false;
    r->fails = found.origin == NONFINITE_OPERATION;
    text_init(&words);
    bool ok = compiler_nonfinite_text(p->instance, &found, &words, st);
    if (ok && found.elements && p->steps)
        say(stderr, "tsr: sentinels: step %" PRId64 ": %s\n", r->done, words.data);
    else if (ok && found.elements)
        say(stderr, "tsr: sentinels: %s\n", words.data);
    text_release(&words);
    return ok;
}

/* Numbers of the step that was taken, and the bar of those that are. */
static bool tell_step(runner *r, double seconds, status *st) {
    const uint64_t now = timer_now_ns();
    const bool last = r->done + 1 >= r->plan->steps, told = last || now - r->told > SAVE_AFTER_NS;
    if (!step_log_add(&r->log, r->done, r->outputs, seconds, st) ||
        (told && !step_log_metrics(&r->log, r->done, r->outputs, st)))
        return false;
    r->told = told ? now : r->told;
    progress_step(&r->bar);
    if (r->plan->steps > 1 && now - r->drawn > DRAW_AFTER_NS) {
        progress_show(&r->bar, r->plan->kernel);
        r->drawn = now;
    }
    return true;
}

static bool step(runner *r, status *st) {
    const uint64_t began = timer_now_ns();
    if (!compute(r, st))
        return false;
    const double seconds = (double)(timer_now_ns() - began) * 1e-9;
    if (effects_any(r->plan->signature))
        progress_clear(&r->bar);
    effects_print(r->plan->signature, r->outputs, stdout);
    if ((r->plan->sentinels && !look_for_nonfinite(r, st)) || !checks_hold(r, st) ||
        !keep_results(r, st) || !tell_step(r, seconds, st) || !hand_on(r, st))
        return false;
    r->done++;
    return !r->plan->state || timer_now_ns() - r->saved < SAVE_AFTER_NS || save_state(r, st);
}

/* ---- all of them ---- */

/* Room for the outputs, and which of them lie in their inputs. */
static bool open_outputs(runner *r, status *st) {
    const step_plan *p = r->plan;
    bool ok = true;
    for (uint32_t o = 0; o < p->signature->output_count && ok; o++) {
        const struct compiler_buffer *b = &p->signature->outputs[o];
        uint32_t output = TSR_NOT_DONATED;
        ok = tensor_init(&r->outputs[o], b->type, b->rank, b->dims, st);
        if (p->device && b->replaces >= 0 && !p->sentinels &&
            tsrGetDonatedOutput(p->device->kernel, (uint32_t)b->replaces, &output) == TSR_SUCCESS)
            r->in_place[o] = output == o;
    }
    if (p->device && !p->sentinels)
        launch_share_donated(p->device, true);
    return ok;
}

/* States that ranks take by themselves need not be written to them. */
static bool write_inputs(const runner *r, bool apart, status *st) {
    const step_plan *p = r->plan;
    bool ok = true;
    for (uint32_t i = 0; p->device && i < p->signature->input_count && ok; i++)
        ok = (apart && states_is_one(p->signature, i)) ||
             launch_write(p->device, i, p->inputs[i].data, st);
    return ok;
}

/* Ranks read what is kept once they have room for it. Arrays are for states that do not stay in
 * place on them, and for sentinels. */
static bool take_on_ranks(runner *r, status *st) {
    const step_plan *p = r->plan;
    bool ok = take_state(r, st);
    for (uint32_t o = 0; o < p->signature->output_count && ok; o++) {
        const int input = p->signature->outputs[o].replaces;
        if (input >= 0 && (!r->in_place[o] || p->sentinels))
            ok = launch_read_input(p->device, (uint32_t)input, p->inputs[input].data, st);
    }
    return ok;
}

static bool begin(runner *r, status *st) {
    const step_plan *p = r->plan;
    const bool kept = p->state && state_is_kept(p->state),
               apart = kept && p->device && p->device->ranks;
    bool ok = (!p->state || file_make_dirs(p->state, st)) &&
              (!kept || apart || take_state(r, st)) && open_outputs(r, st) &&
              write_inputs(r, apart, st) && (!apart || take_on_ranks(r, st));
    r->saved = timer_now_ns();
    for (uint32_t o = 0; p->steps && o < p->signature->output_count && ok; o++)
        ok = open_log(r, o, st);
    r->log = (step_log){.kernel = p->kernel, .signature = p->signature};
    ok = ok && (!p->exports || step_log_open(&r->log, p->exports, r->done, st));
    return ok && (kept || !p->from_kept || save_state(r, st));
}

static bool finish(runner *r, status *st) {
    const step_plan *p = r->plan;
    if (!fetch_states(r, st) || !save_state(r, st) || (p->save && !write_states(r, p->save, st)))
        return false;
    return interrupt_seen ? status_set(st, STATUS_INTERRUPTED, "behind step %" PRId64 " of %s",
                                       r->done, p->kernel)
                          : write_outputs(r, st);
}

bool steps_run(const step_plan *plan, bool *fails, status *st) {
    const uint32_t count = plan->signature->output_count;
    const int64_t steps = plan->steps ? plan->steps : 1;
    runner r = {.plan = plan,
                .outputs = tensors_new(count),
                .logs = base_calloc(count + 1, sizeof *r.logs),
                .in_place = base_calloc(count + 1, sizeof *r.in_place)};
    if (plan->state)
        interrupt_watch();
    bool ok = begin(&r, st);
    progress_start(&r.bar, (size_t)(steps > r.done ? steps - r.done : 0));
    while (ok && r.done < steps && !interrupt_seen && !r.fails)
        ok = step(&r, st);
    if (steps > 1)
        progress_clear(&r.bar);
    ok = ok && finish(&r, st);
    step_log_close(&r.log);
    *fails = r.fails;
    for (uint32_t o = 0; o < count; o++)
        if (r.logs[o])
            fclose(r.logs[o]);
    tensors_free(r.outputs);
    free(r.logs);
    free(r.in_place);
    return ok;
}
