/* reduce.c - shrinks a case, and packs what is left. */
#include "reduce/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/vec.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/scratch_folder.h"
#include "common/timer.h"
#include "job/result.h"
#include "localize/localize.h"
#include "reduce/reducer.h"
#include "run/pack_case.h"
#include "run/pack_opinion.h"

enum { EMIT_SECONDS = 60 };

/* ---- where it begins ---- */

/* The pass and the operation that a second opinion accuses, as a job has them; NULL: none does. */
static char *opinion_in(const json_t *found) {
    const char *operation = json_text_at(json_object_get(found, "operation"), "name");
    if (!*json_text_at(found, "said_by"))
        return NULL;
    json_t *said = json_pack("{s:s}", "pass", json_text_at(found, "pass"));
    if (*operation)
        json_object_set_new(said, "operation", json_string(operation));
    char *words = pack_opinion_words(said);
    json_decref(said);
    return words;
}

/* A place of bisecting: what stands behind the operation goes at once. */
static char *beginning(const json_t *found) {
    const char *cut = json_text_at(found, "cut");
    const json_t *run = json_object_get(found, "run");
    text words;
    text_init(&words);
    text_append(&words, cut);
    if (!*cut && run)
        text_printf(&words, "dispatch %lld",
                    (long long)json_integer_value(json_object_get(run, "number")));
    char *edits = base_strdup(words.data ? words.data : "");
    text_release(&words);
    return edits;
}

static void open_reducer(reducer *r, const replay_case *c, const replay *of, const json_t *found,
                         uint64_t seconds) {
    const json_t *level = json_object_get(found, "level");
    const char *operation = json_text_at(json_object_get(found, "operation"), "name");
    *r = (reducer){.edits = beginning(found),
                   .operation = *operation ? operation : NULL,
                   .opinion = opinion_in(found)};
    r->refused = !level && !r->opinion && *json_text_at(found, "because") &&
                 compiler_is_pass(json_text_at(found, "pass"));
    r->pass = level || r->opinion || r->refused ? json_text_at(found, "pass") : NULL;
    r->by_code = r->opinion && strcmp(r->opinion, JOB_OPINION_OF_CODE) == 0;
    if (r->by_code)
        r->pass = NULL; /* no module is looked at */
    probes_open(&r->probes, c, of, seconds);
    probes_try_one_rank(&r->probes);
    if (r->opinion)
        r->probes.job.golden = NULL;
    r->probes.job.opinion = r->opinion;
}

static void close_reducer(reducer *r) {
    probes_close(&r->probes);
    json_decref(r->size);
    json_decref(r->operations);
    free(r->edits);
    free(r->dims);
    free(r->opinion);
}

/* Is what is wrong a transform, or on several ranks, which need one? */
static bool needs_transforms(const reducer *r) {
    return (r->opinion && !r->by_code) || r->probes.job.ranks > 1 ||
           (r->refused && pack_opinion_is_known(r->pass));
}

static int64_t operations_of(const json_t *result) {
    const json_t *size = internal_get(result_internal(result), INTERNAL_SIZE);
    return json_integer_value(json_object_get(size, "operations"));
}

/* Those of the whole, or where they are more those of the kernel of a program that is wrong. */
static int64_t operations_before(reducer *r, int64_t whole) {
    char run[64];
    snprintf(run, sizeof run, "%.*s", (int)strcspn(r->edits, ";"), r->edits);
    if (strncmp(run, "dispatch ", 9) != 0)
        return whole;
    const int64_t kernel = operations_of(probes_ask(&r->probes, JOB_STEPS, run, ""));
    return kernel > whole ? kernel : whole;
}

/* As the pack has it: operations, and bytes of its inputs. */
static void measure_whole(reducer *r, json_t *told) {
    const char *whole_edits = needs_transforms(r) ? "transforms" : "primitives";
    const json_t *internal = result_internal(probes_ask(&r->probes, JOB_STEPS, whole_edits, ""));
    if (!internal_get(internal, INTERNAL_SIZE))
        internal = result_internal(probes_ask(&r->probes, JOB_STEPS, NULL, ""));
    const json_t *size = internal_get(internal, INTERNAL_SIZE);
    const char *dims = json_string_value(internal_get(internal, INTERNAL_DIMS));
    const int64_t whole = json_integer_value(json_object_get(size, "operations"));
    json_object_set_new(told, "bytes_before",
                        json_integer(json_integer_value(json_object_get(size, "bytes"))));
    if (dims && *dims && !r->probes.job.inputs)
        r->dims = base_strdup(dims);
    json_object_set_new(told, "operations_before", json_integer(operations_before(r, whole)));
}

/* ---- the pack ---- */

typedef struct emitted {
    scratch_folder folder; /* with its arrays */
    arena memory;
    VEC(pack_member) members;
    job job; /* that runs it by itself */
    json_t *result;
    const char *stage;
} emitted;

static int digit(char c) {
    return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static void add_member(emitted *e, const char *name, const void *data, size_t bytes) {
    vec_push(&e->members, ((pack_member){arena_strdup(&e->memory, name), data, bytes}));
}

/* Names and bytes are from the worker, which ran what is not trusted: pack_write refuses names that
 * are no names of members. */
static bool add_array(emitted *e, const json_t *one, status *st) {
    const char *name = json_string_value(json_array_get(one, 0));
    const char *hex = json_string_value(json_array_get(one, 1));
    const size_t bytes = hex ? strlen(hex) / 2 : 0;
    text path;
    if (!name || !hex || strchr(name, '/'))
        return status_set(st, STATUS_INTERNAL, "the worker's arrays were not understood");
    unsigned char *data = arena_alloc(&e->memory, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    text_init(&path);
    text_printf(&path, "inputs/%s.npy", name);
    add_member(e, path.data, data, bytes);
    text_clear(&path);
    text_printf(&path, "%s/%s.npy", e->folder.path, name);
    const file_part part = {data, bytes};
    bool ok = file_write_scratch(path.data, &part, 1, st);
    text_release(&path);
    return ok;
}

/* The worker that gives it away has to run even though the user interrupted. */
static bool emit(emitted *e, const reducer *r, const replay_case *c, status *st) {
    static const volatile sig_atomic_t never;
    worker w;
    job j = r->probes.job;
    j.mode = JOB_EMIT;
    j.edits = r->edits;
    worker_init(&w, c->timeout_seconds, c->memory_mib, &never);
    worker_limit(&w, EMIT_SECONDS);
    json_t *result = worker_run(&w, &j);
    worker_stop(&w);
    const json_t *internal = result_internal(result);
    const char *source = json_string_value(internal_get(internal, INTERNAL_SOURCE));
    bool ok = source || status_set(st, STATUS_UNAVAILABLE, "the smaller case cannot be packed: %s",
                                   result_text(result, RESULT_WHY));
    if (ok) {
        char *copy = arena_strdup(&e->memory, source);
        add_member(e, "source/minimized.tsr", copy, strlen(copy));
        e->job.source = copy;
    }
    size_t i;
    json_t *one;
    ok = ok && scratch_folder_open(&e->folder, NULL, SCRATCH_FOLDER_PREFIX, st);
    if (ok)
        json_array_foreach(internal_get(internal, INTERNAL_ARRAYS), i, one) ok =
            ok && add_array(e, one, st);
    json_decref(result);
    return ok;
}

/* It has to fail by itself, as it is packed. */
static bool run_emitted(emitted *e, const reducer *r, const replay_case *c, status *st) {
    static const volatile sig_atomic_t never;
    worker w;
    const char *source = e->job.source;
    e->job = r->probes.job;
    e->job.source = source;
    e->job.path = "minimized.tsr";
    e->job.case_name = "minimized";
    e->job.inputs = e->folder.path;
    e->job.dims = e->job.space = e->job.constants = e->job.schedule = e->job.golden = NULL;
    e->job.set = 0;
    e->job.perturbed = e->job.tuned = e->job.held = e->job.generic = false;
    worker_init(&w, c->timeout_seconds, c->memory_mib, &never);
    worker_limit(&w, EMIT_SECONDS);
    e->result = worker_run(&w, &e->job);
    e->stage = arena_strdup(&e->memory, pack_stage(e->result, w.stage));
    worker_stop(&w);
    const bool fails = probes_same_failure(&r->probes, e->result);
    if (!fails && r->probes.job.golden)
        return status_set(st, STATUS_UNAVAILABLE,
                          "only its golden shows the failure, and no smaller case has one: the "
                          "interpreter is as wrong");
    return fails || status_set(st, STATUS_UNAVAILABLE,
                               "the smaller case does not fail in a source of its own: %s",
                               result_text(e->result, RESULT_WHY));
}

/* The modules on its way down, as far as it goes: names as other packs have them. */
static void add_modules(emitted *e, const replay_case *c) {
    static const volatile sig_atomic_t never;
    worker w;
    job j = e->job;
    size_t i;
    json_t *step;
    j.mode = JOB_STEPS;
    j.after = JOB_AFTER_EACH;
    worker_init(&w, c->timeout_seconds, c->memory_mib, &never);
    worker_limit(&w, EMIT_SECONDS);
    json_t *result = worker_run(&w, &j);
    worker_stop(&w);
    json_array_foreach(internal_get(result_internal(result), INTERNAL_STEPS), i, step) {
        const char *pass = json_text_at(step, "pass"), *ir = json_text_at(step, "ir");
        text path;
        text_init(&path);
        text_printf(&path, "ir/%02zu-%s.mlir", i, *pass ? pass : "graph");
        char *copy = arena_strdup(&e->memory, ir);
        if (*ir)
            add_member(e, path.data, copy, strlen(copy));
        text_release(&path);
    }
    json_decref(result);
}

static void put_about(const emitted *e, const reducer *r, const replay_case *c, const json_t *told,
                      json_t *about) {
    json_t *outcome = json_object_get(about, "outcome"),
           *field = json_copy((json_t *)(uintptr_t)told);
    const char *why = result_text(e->result, RESULT_WHY);
    static const char *const of_the_whole[] = {"key", "module_hash", "schedule_hash", "bisect",
                                               "needs"};
    for (size_t i = 0; i < sizeof of_the_whole / sizeof *of_the_whole; i++)
        json_object_del(about, of_the_whole[i]);
    json_object_set_new(about, "case", pack_case_json(&e->job, c->timeout_seconds, c->memory_mib));
    json_object_set(about, "inputs_sha256",
                    internal_get(result_internal(e->result), INTERNAL_INPUTS));
    json_object_del(outcome, "golden");
    if (r->opinion)
        json_object_set_new(outcome, "opinion", pack_opinion_json(r->opinion));
    json_object_set_new(outcome, "stage", json_string(e->stage));
    if (result_outcome(e->result) == OUTCOME_MISMATCH)
        json_object_set_new(outcome, "why", json_text(why));
    json_object_set_new(outcome, "sha256",
                        json_incref((json_t *)(uintptr_t)result_digests(e->result)));
    json_object_del(field, "seconds");
    json_object_del(field, "attempts");
    json_object_del(field, "complete");
    json_object_set_new(about, "minimize", field);
}

static void add_readme(emitted *e, const json_t *about) {
    text words;
    text_init(&words);
    text_printf(&words,
                "The case of pack %s, without what its failure has no need of\n\n"
                "Make it happen again with\n\n    tsr replay THIS-FILE\n\n"
                "source/         what is left of the kernel\n"
                "inputs/         what goes in\n"
                "ir/             the modules on its way down\n",
                json_text_at(about, "parent"));
    char *copy = arena_strdup(&e->memory, words.data);
    add_member(e, "README", copy, strlen(copy));
    text_release(&words);
}

static bool write_pack(reduction *l, const reducer *r, const replay_case *c, status *st) {
    emitted e = {.result = NULL};
    arena_init(&e.memory);
    json_t *about = pack_child_about(c->pack, st);
    bool ok = about != NULL;
    if (ok)
        add_readme(&e, about);
    ok = ok && emit(&e, r, c, st) && run_emitted(&e, r, c, st);
    if (ok) {
        add_modules(&e, c);
        put_about(&e, r, c, l->told, about);
        ok = pack_child_write(c->pack, about, e.members.items, e.members.count, &l->place, &l->pack,
                              st);
    }
    json_decref(about);
    json_decref(e.result);
    scratch_folder_close(&e.folder);
    vec_release(&e.members);
    arena_release(&e.memory);
    return ok;
}

/* ---- all ---- */

/* A graph that is wrong as it is read, so that the kernel's own check fails, stays so in what is
 * made of it, whoever runs that. */
static bool may_shrink(const reducer *r, const json_t *found) {
    return strcmp(json_text_at(found, "place"), "before") != 0 ||
           !probes_fails_by_check(&r->probes);
}

static void shrink(reducer *r) {
    if (*r->edits &&
        !reducer_try(r, "%s", "")) { /* bisecting made it, so it fails; else it is the whole */
        free(r->edits);
        r->edits = base_strdup("");
    }
    if (!*r->edits)
        (void)reducer_try(r, "%s", needs_transforms(r) ? "transforms" : "primitives");
    reduce_to_block(r);
    if (needs_transforms(r))
        reduce_transforms(r);
    else
        reduce_operations(r);
    reduce_dimensions(r);
    reduce_values(r);
}

bool reduce_onward(void *self, const replay_case *c, const replay *of, status *st) {
    reduction *l = self;
    reducer r;
    if (c->job->implementation || c->job->ir)
        return status_set(st, STATUS_INVALID, "--minimize is for code of ours, from its source on");
    const uint64_t begin_ns = timer_now_ns();
    json_t *found = localize_find(c, of, l->budget_seconds / 2 + 1);
    const uint64_t used = (timer_now_ns() - begin_ns) / 1000000000u;
    open_reducer(&r, c, of, found, l->budget_seconds > used ? l->budget_seconds - used : 1);
    l->told = json_object();
    measure_whole(&r, l->told);
    const bool by_others = may_shrink(&r, found);
    if (by_others)
        shrink(&r);
    if (!r.size && r.refused && !probes_ended(&r.probes)) { /* a part of it is not refused */
        r.refused = false;
        r.pass = NULL;
        free(r.edits);
        r.edits = beginning(found);
        shrink(&r);
    }
    json_object_set_new(l->told, "operations", json_integer(reducer_size(&r, "operations")));
    json_object_set_new(l->told, "bytes", json_integer(reducer_size(&r, "bytes")));
    json_object_set_new(l->told, "attempts", json_integer(r.probes.count));
    json_object_set_new(l->told, "complete", json_boolean(!probes_ended(&r.probes)));
    json_object_set_new(l->told, "seconds", json_real((double)(timer_now_ns() - begin_ns) * 1e-9));
    bool ok = false;
    if (r.size)
        ok = write_pack(l, &r, c, st);
    else if (!by_others)
        status_set(st, STATUS_UNAVAILABLE,
                   "only a check of its own shows the failure, and the interpreter, which makes "
                   "smaller cases, is as wrong");
    else if (interrupt_seen)
        status_set(st, STATUS_INTERRUPTED, "interrupted: nothing was packed");
    else
        status_set(st, STATUS_UNAVAILABLE,
                   "no part of the case by itself was seen to fail the same way within the budget");
    close_reducer(&r);
    json_decref(found);
    return ok;
}

void reduction_show(const json_t *told, text *out) {
    text_printf(out,
                "minimized %lld operations to %lld, %lld bytes of inputs to %lld, in %.1f s%s\n",
                (long long)json_integer_value(json_object_get(told, "operations_before")),
                (long long)json_integer_value(json_object_get(told, "operations")),
                (long long)json_integer_value(json_object_get(told, "bytes_before")),
                (long long)json_integer_value(json_object_get(told, "bytes")),
                json_number_value(json_object_get(told, "seconds")),
                json_is_true(json_object_get(told, "complete")) ? "" : " (the time was up)");
}
