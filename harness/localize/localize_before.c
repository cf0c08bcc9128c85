/* localize_before.c - see localize_before.h.
 *
 * The interpreter and the way down share passes, so only the golden shows that they are wrong. What
 * these passes make is held to a second opinion (tessera/opinion.h), and the interpreter to code.
 */
#include "localize/localize_before.h"

#include <stdio.h>
#include <string.h>

#include "common/json_text.h"
#include "job/result.h"

static void put(json_t *found, const char *key, const char *words) {
    json_object_set_new(found, key, json_text(words));
}

static void put_pass(json_t *found, const char *pass, const char *because) {
    put(found, "place", "pass");
    put(found, "pass", pass);
    put(found, "because", because);
}

static bool holds(const json_t *list, const char *word) {
    size_t i;
    json_t *one;
    bool found = false;
    json_array_foreach(list, i, one) found |= strcmp(json_string_value(one), word) == 0;
    return found;
}

/* ---- the interpreter ---- */

static bool is_interpreted(const probes *p) {
    return strcmp(p->job.backend, "interp") == 0;
}

/* Has code of a case of the interpreter the bits of its golden? */
static bool code_is_right(probes *p, const char *edits) {
    const job own = p->job;
    p->job.backend = "cpu";
    const bool right = probes_try(p, edits, NULL) == PROBE_RIGHT;
    p->job = own;
    return right;
}

/* It is not as another kernel, which the interpreter alone evaluates. */
static bool is_of_another(const char *why) {
    static const char same[] = "same_as ";
    return strncmp(why, same, sizeof same - 1) == 0;
}

/* Code that is wrong as the interpreter is has its bits. */
static bool code_agrees(probes *p, const char *edits) {
    return probes_try(p, edits, NULL) == PROBE_WRONG &&
           !is_of_another(result_text(p->result, RESULT_WHY)) &&
           !internal_get(result_internal(p->result), INTERNAL_WRONG);
}

/* A kernel that should have the bits of another, has them by the interpreter, and differs from that
 * one's: code of the other is not what the interpreter makes of it either. */
static bool other_differs(probes *p) {
    char kernel[128];
    const job own = p->job;
    bool differs =
        is_of_another(p->fails_why) && sscanf(p->fails_why, "same_as %127[^:]", kernel) == 1;
    if (differs) {
        p->job.kernel = kernel;
        p->job.golden = NULL;
        differs = probes_try(p, NULL, NULL) == PROBE_WRONG &&
                  !is_of_another(result_text(p->result, RESULT_WHY));
    }
    p->job = own;
    return differs;
}

bool localize_interpreter(probes *p, const char *edits, json_t *found) {
    const bool by_code = p->job.opinion && strcmp(p->job.opinion, JOB_OPINION_OF_CODE) == 0,
               alone = is_interpreted(p) && (by_code || code_is_right(p, edits));
    if (alone) {
        put_pass(found, "interpreter",
                 by_code ? "code of the same graph has other bits"
                         : "code of the same graph has the golden's bits");
        put(found, "said_by", "code");
    } else if (!is_interpreted(p) && other_differs(p))
        put_pass(found, "interpreter",
                 "code of this kernel and of the one that it is the same as agree with each other, "
                 "and not with it");
    else
        return false;
    return true;
}

/* ---- barriers ---- */

/* Modules are evaluated one thread after the other, so nothing shows where threads should wait:
 * code that waits before each access does. */
bool localize_barriers(probes *p, const char *edits, json_t *found) {
    const job own = p->job;
    if (own.fault || is_interpreted(p) || strcmp(own.backend, "cpu") == 0)
        return false;
    p->job.fault = "more-barriers";
    const bool mended = probes_try(p, edits, NULL) == PROBE_RIGHT;
    p->job = own;
    if (mended)
        put_pass(found, "insert-barriers", "with a barrier before each access it is right");
    return mended;
}

/* ---- what both share ---- */

static void put_operation(json_t *found, const json_t *opinion) {
    json_object_set_new(found, "operation",
                        json_pack("{s:O, s:O, s:O}", "name", json_object_get(opinion, "name"),
                                  "line", json_object_get(opinion, "line"), "column",
                                  json_object_get(opinion, "column")));
}

/* Changed by a pass that both have, and not known to be right. */
static bool is_suspect(const json_t *steps, size_t i, const json_t *right) {
    const json_t *step = json_array_get(steps, i);
    return json_is_true(json_object_get(step, "shared")) &&
           strcmp(json_text_at(step, "sha256"),
                  json_text_at(json_array_get(steps, i - 1), "sha256")) != 0 &&
           !holds(right, json_text_at(step, "pass"));
}

/* One transform may be expanded by the pass of another that it stands in. */
static void add_open(json_t *list, const json_t *opinion) {
    size_t i;
    json_t *pass;
    json_array_foreach(json_object_get(opinion, "open"), i, pass) {
        if (!holds(list, json_string_value(pass)))
            json_array_append(list, pass);
    }
}

/* `held` to a golden, which is of this graph, as it is read; its inputs are known by their seed
 * alone. */
static void put_suspects(json_t *found, const json_t *steps, const json_t *opinion, bool held,
                         bool interpreter) {
    json_t *list = json_array();
    for (size_t i = 1; i < json_array_size(steps); i++)
        if (is_suspect(steps, i, json_object_get(opinion, "right")))
            json_array_append(list, json_object_get(json_array_get(steps, i), "pass"));
    add_open(list, opinion);
    json_array_append_new(list, json_string(held ? "inputs" : "read"));
    if (interpreter)
        json_array_append_new(list, json_string("interpreter"));
    put(found, "place", "before");
    json_object_set_new(found, "suspects", list);
    put(found, "why",
        "the graph is wrong as it is read: the interpreter, which evaluates it, has these passes, "
        "too, and no second opinion of them differs");
}

void localize_before(probes *p, const char *edits, const json_t *steps, json_t *found) {
    const bool agrees = !is_interpreted(p) && code_agrees(p, edits);
    const json_t *result = probes_ask(p, JOB_OPINION, edits, NULL),
                 *opinion = internal_get(result_internal(result), INTERNAL_OPINION);
    const char *wrong = json_text_at(opinion, "wrong");
    if (*wrong) {
        put_pass(found, wrong, json_text_at(opinion, "why"));
        put(found, "said_by", "opinion");
        put_operation(found, opinion);
    } else
        put_suspects(found, steps, json_object_get(opinion, "right"), p->job.golden != NULL,
                     !agrees);
}
