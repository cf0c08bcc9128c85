/* localize.c - bisects the passes, then the operations. */
#include "localize/localize.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "job/result.h"
#include "localize/localize_before.h"
#include "localize/probes.h"

typedef struct search {
    probes probes;
    json_t *found;
    json_t *steps, *operations; /* of the case as it is edited by now */
    char *edits;                /* that make it: "", or the run of a program's kernel */
    const char *pass;           /* behind which it is wrong first; NULL: in the code */
    bool done;                  /* the rest cannot be told */
} search;

static void put(search *s, const char *key, json_t *value) {
    json_object_set_new(s->found, key, value);
}

/* Why nothing more precise is known. */
static void end_with(search *s, const char *why) {
    put(s, "why", json_text(why));
    s->done = true;
}

static const char *text_at(const json_t *object, const char *key) {
    return json_text_at(object, key);
}

/* ---- steps ---- */

static void take_lists(search *s) {
    const json_t *internal = result_internal(s->probes.result);
    json_decref(s->steps);
    json_decref(s->operations);
    s->steps = json_incref(internal_get(internal, INTERNAL_STEPS));
    s->operations = json_incref(internal_get(internal, INTERNAL_OPERATIONS));
}

/* The worker died, a pass erred, or the verifier refuses what it made: that pass it is, also where
 * the case itself, whose modules nobody verifies, went on. */
static void take_failed_step(search *s) {
    const char *stage = s->probes.worker.stage;
    const json_t *result = s->probes.result;
    if (probes_ended(&s->probes))
        end_with(s, "the time was up");
    else if (result && compiler_is_pass(stage)) {
        put(s, "pass", json_string(stage));
        put(s, "place", json_string("pass"));
        s->pass = text_at(s->found, "pass");
        if (strcmp(result_text(result, RESULT_STATUS), s->probes.fails_as) != 0) {
            put(s, "because", json_text(result_text(result, RESULT_WHY)));
            s->probes.fails_as = outcome_name(result_outcome(result));
        }
        if (probes_ask(&s->probes, JOB_STEPS, s->edits, ""))
            take_lists(s);
    } else
        end_with(s, "its passes cannot be run one by one");
}

/* True: all passes were run. */
static bool list_steps(search *s) {
    const json_t *result = probes_ask(&s->probes, JOB_STEPS, s->edits, NULL);
    const bool ok = result && result_outcome(result) == OUTCOME_OK;
    if (ok)
        take_lists(s);
    else
        take_failed_step(s);
    return ok;
}

static bool is_program(const search *s) {
    return json_is_true(internal_get(result_internal(s->probes.result), INTERNAL_PROGRAM));
}

static const json_t *step_at(const search *s, size_t i) {
    return json_array_get(s->steps, i);
}

/* Has the pass changed anything, and can its module be run? */
static bool is_candidate(const search *s, size_t i) {
    return i > 0 && json_is_true(json_object_get(step_at(s, i), "evaluated")) &&
           strcmp(text_at(step_at(s, i), "sha256"), text_at(step_at(s, i - 1), "sha256")) != 0;
}

/* ---- passes ---- */

static probe try_step(search *s, size_t i) {
    return probes_try(&s->probes, s->edits, text_at(step_at(s, i), "pass"));
}

/* The first step whose module is wrong, of those that can be run; the count of steps: none is.
 * *right receives the last one that is right, 0: before all passes. */
static size_t first_wrong_step(search *s, size_t *right) {
    const size_t count = json_array_size(s->steps);
    size_t *list = base_calloc(count + 1, sizeof *list), low = 0, high = 0;
    for (size_t i = 1; i < count; i++)
        if (is_candidate(s, i))
            list[high++] = i;
    size_t all = high;
    while (low < high && !s->done) {
        const size_t middle = low + (high - low) / 2;
        switch (try_step(s, list[middle])) {
        case PROBE_WRONG:
            high = middle;
            break;
        case PROBE_ENDED:
            end_with(s, "the time was up");
            break;
        case PROBE_RIGHT:
            low = middle + 1;
            break;
        default: /* what cannot be run says nothing */
            memmove(list + middle, list + middle + 1, (all - middle - 1) * sizeof *list);
            all--;
            high--;
        }
    }
    const size_t first = low < all ? list[low] : count;
    *right = low > 0 ? list[low - 1] : 0;
    free(list);
    return s->done ? count : first;
}

/* The passes that may have made it wrong: those behind the last right module that changed it. */
static json_t *suspects(const search *s, size_t right, size_t wrong) {
    json_t *list = json_array();
    for (size_t i = right + 1; i < json_array_size(s->steps) && i <= wrong; i++)
        if (strcmp(text_at(step_at(s, i), "sha256"), text_at(step_at(s, i - 1), "sha256")) != 0)
            json_array_append(list, json_object_get(step_at(s, i), "pass"));
    return list;
}

static json_t *suspects_and(const search *s, size_t right, size_t wrong, const char *last) {
    json_t *list = suspects(s, right, wrong);
    json_array_append_new(list, json_string(last));
    return list;
}

/* No pass that can be evaluated is wrong. */
static void put_code(search *s, size_t right) {
    if (localize_barriers(&s->probes, s->edits, s->found)) {
        s->pass = NULL; /* its module, evaluated in turn, is right */
        return;
    }
    put(s, "place", json_string("code"));
    put(s, "right", json_incref(json_object_get(step_at(s, right), "pass")));
    put(s, "suspects", suspects_and(s, right, json_array_size(s->steps), "code"));
}

/* Modules between the last right one and this may be of a level that nothing evaluates. */
static void put_pass(search *s, size_t right, size_t first) {
    json_t *list = suspects(s, right, first);
    put(s, "place", json_string("pass"));
    put(s, "pass", json_incref(json_object_get(step_at(s, first), "pass")));
    put(s, "level", json_incref(json_object_get(step_at(s, first), "level")));
    s->pass = text_at(s->found, "pass");
    if (json_array_size(list) > 1) {
        put(s, "right", json_incref(json_object_get(step_at(s, right), "pass")));
        put(s, "suspects", json_incref(list));
    }
    json_decref(list);
}

/* A schedule is the one module whose workgroups are seen to meet: those behind it run in turn. */
static size_t racing_schedule(search *s, size_t *right) {
    const size_t count = json_array_size(s->steps);
    size_t last = 0;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(text_at(step_at(s, i), "level"), "schedule") != 0)
            last = is_candidate(s, i) ? i : last;
        else if (is_candidate(s, i) && try_step(s, i) == PROBE_WRONG) {
            *right = last;
            return i;
        }
    }
    return count;
}

static void bisect_passes(search *s) {
    size_t right;
    size_t first = first_wrong_step(s, &right);
    if (s->done)
        return;
    if (first == json_array_size(s->steps))
        first = racing_schedule(s, &right);
    const bool by_pass = first < json_array_size(s->steps), all = by_pass && right == 0;
    if (all && s->probes.job.ir) { /* or the first passes made it so */
        put(s, "place", json_string("stored"));
        put(s, "right", json_string(""));
        put(s, "suspects", suspects_and(s, 0, first, "stored"));
    } else if (all && probes_try(&s->probes, s->edits, "") == PROBE_WRONG) {
        localize_before(&s->probes, s->edits, s->steps, s->found);
        s->pass = text_at(s->found, "pass");
        s->done = true;
    } else if (by_pass)
        put_pass(s, right, first);
    else
        put_code(s, right);
}

/* ---- the kernels of a program ---- */

static void take_edits(search *s, int64_t number) {
    text words;
    text_init(&words);
    text_printf(&words, "dispatch %lld", (long long)number);
    free(s->edits);
    s->edits = base_strdup(words.data);
    text_release(&words);
}

/* A worker that dies in a run announced its number. */
static int64_t run_of_stage(const char *stage) {
    return strncmp(stage, "run ", 4) == 0 ? strtoll(stage + 4, NULL, 10) : 0;
}

/* True: one of its kernels is wrong by itself, and is the case from now on. */
static bool find_run(search *s) {
    const json_t *result = probes_ask(&s->probes, JOB_RUNS, NULL, NULL);
    const json_t *run = internal_get(result_internal(result), INTERNAL_RUN);
    int64_t number = json_integer_value(json_object_get(run, "number"));
    if (!result)
        end_with(s, "the time was up");
    else if (!run && strcmp(result_text(result, RESULT_STATUS), s->probes.fails_as) == 0)
        number = run_of_stage(s->probes.worker.stage);
    else if (!run && result_outcome(result) != OUTCOME_OK)
        end_with(s, result_text(result, RESULT_WHY));
    if (number > 0) {
        put(s, "run",
            run ? json_incref((json_t *)(uintptr_t)run)
                : json_pack("{s:I}", "number", (json_int_t)number));
        take_edits(s, number);
    } else if (!s->done && !localize_barriers(&s->probes, NULL, s->found)) {
        put(s, "place", json_string("program"));
        end_with(s, "each of its kernels is right by itself: it is how they share memory, or the "
                    "order in which they run");
    }
    return number > 0;
}

/* Kernels of several ranks are not run by themselves: each module that has them all is right. */
static bool is_between_ranks(search *s) {
    put(s, "place", json_string("program"));
    end_with(s, "the modules of all ranks together are right: it is how they exchange, how they "
                "share memory, or code of their kernels");
    return false;
}

static bool enter_program(search *s) {
    size_t right;
    const size_t first = first_wrong_step(s, &right);
    if (s->done || first < json_array_size(s->steps)) {
        if (!s->done)
            bisect_passes(s);
        return false;
    }
    const bool found = s->probes.job.ranks > 1 ? is_between_ranks(s) : find_run(s);
    if (!found && !json_object_get(s->found, "place") && !probes_ended(&s->probes))
        put_code(s, right); /* its kernels cannot be run one by one */
    return found && list_steps(s);
}

/* ---- operations ---- */

static void prefix_edits(const search *s, size_t last, text *out) {
    text_clear(out);
    text_printf(out, "%s%sprefix %zu", s->edits, *s->edits ? ";" : "", last);
}

static probe try_prefix(search *s, size_t last) {
    text edits;
    text_init(&edits);
    prefix_edits(s, last, &edits);
    const probe p = probes_try(&s->probes, edits.data, s->pass);
    text_release(&edits);
    return p;
}

/* The numbers of the kernel's own operations, without those in blocks; fills in as many as it
 * returns. */
static size_t own_numbers(const search *s, size_t *out) {
    size_t count = 0;
    for (size_t number = 1; number <= json_array_size(s->operations); number++) {
        const json_t *one = json_array_get(s->operations, number - 1);
        out[count++] = number;
        number += (size_t)json_integer_value(json_object_get(one, "inside"));
    }
    return count;
}

/* The least number of operations whose values are wrong; 0: not even all of them are. */
static size_t first_wrong_prefix(search *s) {
    size_t *numbers = base_calloc(json_array_size(s->operations) + 1, sizeof *numbers);
    size_t low = 0, high = own_numbers(s, numbers), found = 0;
    if (high > 0 && try_prefix(s, numbers[high - 1]) == PROBE_WRONG) {
        high--;
        while (low < high && !probes_ended(&s->probes)) {
            const size_t middle = low + (high - low) / 2;
            if (try_prefix(s, numbers[middle]) == PROBE_WRONG)
                high = middle;
            else
                low = middle + 1;
        }
        found = numbers[high];
    }
    free(numbers);
    return found;
}

static void put_operation(search *s, size_t number) {
    json_t *operation = json_copy(json_array_get(s->operations, number - 1));
    json_object_del(operation, "inside");
    json_object_set_new(operation, "number", json_integer((json_int_t)number));
    json_object_set_new(operation, "of", json_integer((json_int_t)json_array_size(s->operations)));
    put(s, "operation", operation);
}

/* The edits that leave the operations up to that one. */
static void put_cut(search *s, size_t number) {
    text cut;
    text_init(&cut);
    prefix_edits(s, number, &cut);
    put(s, "cut", json_text(cut.data));
    text_release(&cut);
}

static bool is_place(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"name", "line", "column", "operands"};
    bool same = true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        same &= json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i]));
    return same;
}

/* A value may be wrong that an operation before the last made. It is counted among those that are
 * left there; its number among all is the nearest of its kind and place. */
static void put_maker(search *s, size_t last, int64_t made) {
    const char *cut = text_at(s->found, "cut");
    const json_t *result = made > 0 ? probes_ask(&s->probes, JOB_STEPS, cut, "") : NULL;
    const json_t *left = internal_get(result_internal(result), INTERNAL_OPERATIONS);
    const json_t *one = json_array_get(left, (size_t)made - 1);
    size_t number = last;
    while (one && number > 0 && !is_place(json_array_get(s->operations, number - 1), one))
        number--;
    if (one && number > 0)
        put_operation(s, number);
}

/* The last probe need not have been the one that decided. */
static void put_element(search *s, size_t number) {
    if ((number ? try_prefix(s, number) : probes_try(&s->probes, s->edits, s->pass)) != PROBE_WRONG)
        return;
    json_t *wrong = internal_get(result_internal(s->probes.result), INTERNAL_WRONG);
    const int64_t made = json_integer_value(json_object_get(wrong, "operation"));
    json_t *element = wrong ? json_copy(wrong) : NULL;
    json_object_del(element, "operation"); /* a number among what is left there */
    if (element)
        put(s, "element", element);
    if (number)
        put_maker(s, number, made);
}

static void put_place(search *s, size_t number) {
    put_operation(s, number);
    put_cut(s, number);
    put_element(s, number);
}

/* Finds the primitive of a composite, where those written out are wrong as well. */
static void look_into_composite(search *s) {
    char *edits = s->edits;
    json_t *operations = s->operations, *whole = json_object_get(s->found, "operation");
    text words;
    text_init(&words);
    text_printf(&words, "%s%sprimitives", edits, *edits ? ";" : "");
    s->edits = words.data;
    s->operations = NULL;
    if (probes_ask(&s->probes, JOB_STEPS, s->edits, ""))
        take_lists(s);
    json_incref(whole);
    size_t number = 0;
    if (json_array_size(s->operations) > json_array_size(operations))
        number = first_wrong_prefix(s);
    if (number) {
        put_place(s, number);
        json_t *part = json_object_get(s->found, "operation");
        if (strcmp(text_at(part, "name"), text_at(whole, "name")) != 0)
            json_object_set(part, "part_of", json_object_get(whole, "name"));
    }
    json_decref(whole);
    json_decref(s->operations);
    s->operations = operations;
    s->edits = edits;
    text_release(&words);
}

static void bisect_operations(search *s) {
    const size_t number = first_wrong_prefix(s);
    if (number) {
        put_place(s, number);
        look_into_composite(s);
    } else
        put_element(s, 0);
    if (probes_ended(&s->probes))
        end_with(s, "the time was up");
    else if (!number)
        put(s, "why",
            json_string("its operations without what stands behind them are right: it "
                        "takes all of them together"));
}

/* ---- another build ---- */

/* The module of the other build behind a pass, from which this one goes on. */
static probe try_theirs(search *s, probes *theirs, const char *pass) {
    const json_t *result = probes_ask(theirs, JOB_STEPS, s->edits, pass);
    const char *ir = json_string_value(internal_get(result_internal(result), INTERNAL_IR));
    probes *ours = &s->probes;
    const job before = ours->job;
    if (!ir)
        return result ? PROBE_UNKNOWN : PROBE_ENDED;
    ours->job.from = pass;
    ours->job.ir = ir;
    const probe p = probes_try(ours, NULL, NULL);
    ours->job = before;
    return p;
}

/* The first pass whose text is another one there; NULL: none is. */
static const char *first_other_text(const search *s, const json_t *theirs) {
    const size_t count = json_array_size(theirs);
    for (size_t i = 0; i < count && i < json_array_size(s->steps); i++)
        if (strcmp(text_at(step_at(s, i), "sha256"),
                   text_at(json_array_get(theirs, i), "sha256")) != 0)
            return text_at(step_at(s, i), "pass");
    return NULL;
}

/* The first pass of theirs that, with those before it, mends the result of ours. */
static const char *first_that_mends(search *s, probes *theirs) {
    size_t low = 1, high = json_array_size(s->steps);
    while (low < high && !probes_ended(theirs)) {
        const size_t middle = low + (high - low) / 2;
        if (try_theirs(s, theirs, text_at(step_at(s, middle), "pass")) == PROBE_RIGHT)
            high = middle;
        else
            low = middle + 1;
    }
    return high < json_array_size(s->steps) ? text_at(step_at(s, high), "pass") : NULL;
}

static void compare_builds(search *s, probes *theirs, json_t *against) {
    const json_t *listed = probes_ask(theirs, JOB_STEPS, s->edits, NULL);
    json_t *steps = json_incref(internal_get(result_internal(listed), INTERNAL_STEPS));
    const char *other = steps && s->steps ? first_other_text(s, steps) : NULL;
    const bool program = json_is_true(internal_get(result_internal(listed), INTERNAL_PROGRAM));
    json_object_set_new(against, "differs", other ? json_string(other) : json_null());
    const char *why = NULL, *mends = NULL;
    if (!steps)
        why = "that build does not list its passes";
    else if (probes_try(theirs, s->edits, NULL) != PROBE_RIGHT)
        why = "it is no better there";
    else if (other && !program)
        mends = first_that_mends(s, theirs);
    if (why)
        json_object_set_new(against, "why", json_string(why));
    else
        json_object_set_new(against, "pass",
                            json_string(mends     ? mends
                                        : program ? "program"
                                                  : "code"));
    json_decref(steps);
}

/* ---- all ---- */

/* Dead before the operations were listed: they are those of the source. */
static void bisect(search *s) {
    probes_try_one_rank(&s->probes);
    bool listed = list_steps(s);
    const bool program = listed && is_program(s);
    if (localize_interpreter(&s->probes, s->edits, s->found))
        return;
    if (s->probes.job.opinion) { /* no module differs from the graph */
        localize_before(&s->probes, s->edits, s->steps, s->found);
        return;
    }
    if (program)
        listed = enter_program(s);
    if (listed && !s->done && !s->pass)
        bisect_passes(s);
    if (!s->done && s->probes.job.ir) {
        put_element(s, 0);
        end_with(s, "operations are those of the source: without --from");
    }
    if (!s->done)
        bisect_operations(s);
}

/* The passes of the case as the pack has it: what was looked at last may be a kernel of it. */
static bool list_steps_of_whole(search *s) {
    free(s->edits);
    s->edits = base_strdup("");
    const json_t *result = probes_ask(&s->probes, JOB_STEPS, NULL, NULL);
    const bool ok = result && result_outcome(result) == OUTCOME_OK;
    if (ok)
        take_lists(s);
    return ok;
}

/* With the time that is left. */
static void against(search *s, const localization *l, const replay_case *c, const replay *r) {
    probes theirs;
    json_t *found = json_object();
    const bool listed = list_steps_of_whole(s);
    probes_open(&theirs, c, r, c->most_seconds);
    theirs.end_ns = s->probes.end_ns;
    theirs.worker.process.program = l->against;
    if (listed)
        compare_builds(s, &theirs, found);
    else
        json_object_set_new(found, "why",
                            json_string("the passes of this build cannot be run one by one"));
    s->probes.count += theirs.count;
    put(s, "against", found);
    probes_close(&theirs);
}

/* Puts what was found into a pack that names this one. */
static bool write_pack(localization *l, const replay_case *c, status *st) {
    json_t *about = pack_child_about(c->pack, st);
    bool ok = about != NULL;
    if (ok) {
        json_object_set_new(about, "bisect", localization_field(l->found));
        ok = pack_child_write(c->pack, about, NULL, 0, &l->place, &l->pack, st);
    }
    json_decref(about);
    return ok;
}

static json_t *find(const localization *l, const replay_case *c, const replay *r,
                    uint64_t seconds) {
    search s = {.found = json_object(), .edits = base_strdup("")};
    probes_open(&s.probes, c, r, seconds);
    bisect(&s);
    if (l && l->against)
        against(&s, l, c, r);
    put(&s, "probes", json_integer(s.probes.count));
    probes_close(&s.probes);
    json_decref(s.steps);
    json_decref(s.operations);
    free(s.edits);
    return s.found;
}

json_t *localize_find(const replay_case *c, const replay *r, uint64_t seconds) {
    return find(NULL, c, r, seconds);
}

bool localize_onward(void *self, const replay_case *c, const replay *r, status *st) {
    localization *l = self;
    if (c->job->implementation)
        return status_set(st, STATUS_INVALID,
                          "--bisect is for code of ours: this pack runs a file "
                          "of others");
    l->found = find(l, c, r, c->most_seconds);
    if (interrupt_seen)
        return status_set(st, STATUS_INTERRUPTED, "interrupted: nothing was packed");
    return write_pack(l, c, st);
}
