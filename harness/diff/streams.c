/* streams.c - counts over the pairs of calls, the first that matters, and its tensors. */
#include "diff/streams.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "common/command_line.h"
#include "common/json_text.h"
#include "diff/array.h"
#include "diff/describe.h"
#include "diff/stream_pairs.h"

typedef struct compare_state {
    capture_stream a, b;
    stream_pairs pairs;
    size_t agree, diverge, fed, only_a, only_b;
    size_t first_diverging, first_fed, first_only; /* calls of A; PAIR_NONE: there is none */
    text *out;
    status *st;
} compare_state;

static const capture_call *in_a(const compare_state *c, size_t i) {
    return &c->a.calls.items[i];
}

static const capture_call *in_b(const compare_state *c, size_t of_a) {
    return &c->b.calls.items[c->pairs.of_a[of_a]];
}

static void note(size_t *first, size_t i, size_t *count) {
    (*count)++;
    if (*first == PAIR_NONE)
        *first = i;
}

static void count_pairs(compare_state *c) {
    c->first_diverging = c->first_fed = c->first_only = PAIR_NONE;
    for (size_t i = 0; i < c->a.calls.count; i++) {
        if (c->pairs.of_a[i] == PAIR_NONE) {
            note(&c->first_only, i, &c->only_a);
            continue;
        }
        const capture_call *x = in_a(c, i), *y = in_b(c, i);
        if (strcmp(x->inputs, y->inputs) != 0)
            note(&c->first_fed, i, &c->fed);
        else if (strcmp(x->outputs, y->outputs) != 0)
            note(&c->first_diverging, i, &c->diverge);
        else
            c->agree++;
    }
    for (size_t i = 0; i < c->b.calls.count; i++)
        c->only_b += c->pairs.of_b[i] == PAIR_NONE;
}

/* ---- tensors ---- */

static bool differ(const char *a, const char *b) {
    return a && b && strcmp(a, b) != 0;
}

/* Two files of one hash each: what is in them. NULL where they cannot be compared. */
static json_t *compare_files(compare_state *c, const char *a_path, const char *b_path) {
    array a, b = {0};
    element_diff d = {0};
    status why = STATUS_INIT;
    json_t *document = NULL;
    if (array_open(&a, a_path, DTYPE_NONE, &why) && array_open(&b, b_path, DTYPE_NONE, &why) &&
        a.type == b.type && a.count == b.count) {
        elements_diff(a.type, a.data, b.data, a.count, &d);
        element_pair pair = {a.type, a.rank, a.dims, "A", "B", &d};
        describe_first(&pair, "    ", c->out);
        document = describe_elements_json(&pair);
    }
    array_close(&a);
    array_close(&b);
    return document;
}

static json_t *compare_tensor(compare_state *c, const capture_tensor *t, const char *of_a,
                              const char *of_b, bool *kept) {
    text a, b;
    json_t *found = NULL;
    text_init(&a);
    text_init(&b);
    *kept = capture_tensor_path(&c->a, of_a, &a) && capture_tensor_path(&c->b, of_b, &b);
    text_show(c->out, "  %s ", t->name);
    capture_describe_tensor(t, c->out);
    text_show(c->out, *kept ? "\n" : ": %.8s... and %.8s...\n", of_a, of_b);
    if (*kept)
        found = compare_files(c, a.data, b.data);
    text_release(&a);
    text_release(&b);
    return json_pack("{s:s, s:s, s:s, s:o?}", "name", t->name, "a", of_a, "b", of_b, "tensor",
                     found);
}

/* Those of a pair that differ, before or after. */
static json_t *compare_tensors(compare_state *c, size_t i, bool after, bool *kept) {
    const capture_call *x = in_a(c, i), *y = in_b(c, i);
    json_t *list = json_array();
    *kept = true;
    for (uint32_t k = 0; k < x->tensor_count; k++) {
        const capture_tensor *s = &x->tensors[k], *t = &y->tensors[k];
        const char *of_a = after ? s->after : s->before, *of_b = after ? t->after : t->before;
        bool these = true;
        if (differ(of_a, of_b))
            json_array_append_new(list, compare_tensor(c, s, of_a, of_b, &these));
        *kept &= these;
    }
    return list;
}

/* ---- a pair of calls ---- */

static void show_place(compare_state *c, size_t i) {
    const capture_call *x = in_a(c, i), *y = in_b(c, i);
    capture_describe_place(&c->a, x, c->out);
    text_append(c->out, " of A, ");
    capture_describe_place(&c->b, y, c->out);
    text_show(c->out, " of B: %s", x->function);
    text_show(c->out, ", thread %u and %u\n", x->thread, y->thread);
}

static void show_arguments(compare_state *c, const capture_call *x) {
    json_t *list = json_loads(x->arguments, 0, NULL), *one;
    size_t i;
    text_append(c->out, "  ");
    json_array_foreach(list, i, one) {
        char *value = json_dumps(json_array_get(one, 1), JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
        text_show(c->out, value ? "%s%s=%s" : "%s%s", i ? " " : "",
                  json_string_value(json_array_get(one, 0)), value);
        free(value);
    }
    text_append_char(c->out, '\n');
    json_decref(list);
}

static void show_libraries(compare_state *c, const capture_call *x, const capture_call *y) {
    if (!x->library && !y->library)
        return;
    bool same = x->library && y->library && strcmp(x->library, y->library) == 0;
    text_show(c->out, "  %s%s", same ? "both by " : "A by ", x->library ? x->library : "?");
    if (!same)
        text_show(c->out, ", B by %s", y->library ? y->library : "?");
    text_append_char(c->out, '\n');
}

static json_t *place_json(const capture_stream *s, const capture_call *c) {
    return json_pack("{s:I, s:I, s:i, s:s, s:s?, s:o}", "call", (json_int_t)c->number, "process",
                     (json_int_t)s->processes.items[c->process].id, "thread", (int)c->thread,
                     "function", c->function, "library", c->library, "arguments",
                     json_loads(c->arguments, 0, NULL));
}

static json_t *pair_json(const compare_state *c, size_t i, json_t *tensors) {
    return json_pack("{s:o, s:o, s:o}", "a", place_json(&c->a, in_a(c, i)), "b",
                     place_json(&c->b, in_b(c, i)), "tensors", tensors);
}

static void say_how_to_keep(compare_state *c, size_t i) {
    text_show(c->out,
              "  their elements were not kept: record both again with --tensors %" PRIu64
              " (A) and --tensors %" PRIu64 " (B)\n",
              in_a(c, i)->number, in_b(c, i)->number);
}

static json_t *show_diverging(compare_state *c) {
    size_t i = c->first_diverging;
    bool kept;
    if (i == PAIR_NONE)
        return json_null();
    text_append(c->out, "\nthe first call whose inputs agree and whose output does not:\n");
    show_place(c, i);
    show_arguments(c, in_a(c, i));
    show_libraries(c, in_a(c, i), in_b(c, i));
    json_t *tensors = compare_tensors(c, i, true, &kept);
    if (kept) {
        text word;
        text_init(&word);
        text_show(c->out, "  pack it: tsr pack-repro %s:", command_line_quoted(&word, c->b.folder));
        text_release(&word);
        capture_name_place(&c->b, in_b(c, i), c->out);
        text_append_char(c->out, '\n');
    } else {
        say_how_to_keep(c, i);
    }
    return pair_json(c, i, tensors);
}

/* A call that left just this content, the last one before `end`. */
static void show_origin(compare_state *c, const capture_stream *s, const char *letter, size_t end,
                        const char *hash) {
    for (size_t i = end; i-- > 0;) {
        const capture_call *made = &s->calls.items[i];
        for (uint32_t k = 0; k < made->tensor_count; k++) {
            if (!made->tensors[k].after || strcmp(made->tensors[k].after, hash) != 0)
                continue;
            text_show(c->out, "  in %s it is what ", letter);
            capture_describe_place(s, made, c->out);
            text_show(c->out, " (%s) left in %s\n", made->function, made->tensors[k].name);
            return;
        }
    }
}

static void show_origins(compare_state *c, size_t i) {
    const capture_call *x = in_a(c, i), *y = in_b(c, i);
    for (uint32_t k = 0; k < x->tensor_count; k++)
        if (differ(x->tensors[k].before, y->tensors[k].before)) {
            show_origin(c, &c->a, "A", i, x->tensors[k].before);
            show_origin(c, &c->b, "B", c->pairs.of_a[i], y->tensors[k].before);
        }
}

/* Only where no call before it explains it. */
static json_t *show_fed(compare_state *c) {
    size_t i = c->first_fed;
    bool kept;
    if (i == PAIR_NONE || (c->first_diverging != PAIR_NONE && c->first_diverging < i))
        return json_null();
    text_append(c->out, "\nthe first call whose inputs differ; no call that both made explains it, "
                        "so the program did, between calls:\n");
    show_place(c, i);
    show_arguments(c, in_a(c, i));
    show_origins(c, i);
    json_t *tensors = compare_tensors(c, i, false, &kept);
    if (!kept)
        say_how_to_keep(c, i);
    return pair_json(c, i, tensors);
}

/* ---- all of it ---- */

static void show_side(compare_state *c, const char *letter, const capture_stream *s) {
    const capture_process *p = s->processes.count ? s->processes.items : NULL;
    text_show(c->out, "%s  %s: %zu calls", letter, s->folder, s->calls.count);
    if (s->processes.count > 1)
        text_show(c->out, " of %zu processes", s->processes.count);
    text_show(c->out, "%s%s\n", p ? ", " : "", p ? p->program : "");
    for (size_t i = 0; i < s->processes.count; i++) {
        const capture_process *q = &s->processes.items[i];
        if (!q->ended)
            text_show(c->out, "   process %" PRId64 " %s\n", q->id,
                      q->cut ? "was cut off: its last line is not whole"
                             : "did not end by itself, or its recording did");
    }
}

static void show_counts(compare_state *c) {
    text_show(c->out, "%zu calls agree", c->agree);
    text_show(c->out, ", %zu differ with equal inputs, %zu have other inputs", c->diverge, c->fed);
    text_show(c->out, "; %zu only in A, %zu only in B\n", c->only_a, c->only_b);
    if (c->pairs.moved)
        text_show(c->out, "%zu were made by a thread that has another place\n", c->pairs.moved);
    if (!c->pairs.exact)
        text_append(c->out, "the streams differ in too many places for the best alignment: a "
                            "good one was taken\n");
}

static void show_only(compare_state *c) {
    if (c->first_only != PAIR_NONE) {
        const capture_call *x = in_a(c, c->first_only);
        text_append(c->out, "first only in A: ");
        capture_describe_place(&c->a, x, c->out);
        text_show(c->out, ", %s\n", x->function);
    }
    for (size_t i = 0; i < c->b.calls.count; i++) {
        const capture_call *y = &c->b.calls.items[i];
        if (c->pairs.of_b[i] != PAIR_NONE)
            continue;
        text_append(c->out, "first only in B: ");
        capture_describe_place(&c->b, y, c->out);
        text_show(c->out, ", %s\n", y->function);
        break;
    }
}

static json_t *side_json(const capture_stream *s) {
    bool whole = true;
    for (size_t i = 0; i < s->processes.count; i++)
        whole &= s->processes.items[i].ended;
    return json_pack("{s:o, s:I, s:I, s:b}", "folder", json_text(s->folder), "calls",
                     (json_int_t)s->calls.count, "processes", (json_int_t)s->processes.count,
                     "whole", whole);
}

static exit_code show(compare_state *c, json_t **document) {
    count_pairs(c);
    show_side(c, "A", &c->a);
    show_side(c, "B", &c->b);
    show_counts(c);
    show_only(c);
    json_t *diverging = show_diverging(c), *fed = show_fed(c);
    bool differs = c->diverge || c->fed, same = !differs && !c->only_a && !c->only_b;
    *document =
        json_pack("{s:s, s:b, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "schema",
                  "tsr.streams/1", "equal", same, "a", side_json(&c->a), "b", side_json(&c->b),
                  "agree", (json_int_t)c->agree, "differ", (json_int_t)c->diverge, "other_inputs",
                  (json_int_t)c->fed, "only_a", (json_int_t)c->only_a, "only_b",
                  (json_int_t)c->only_b, "moved", (json_int_t)c->pairs.moved, "exact",
                  c->pairs.exact, "first_difference", diverging, "first_other_inputs", fed);
    return differs ? EXIT_CHECK : same ? EXIT_DONE : EXIT_NO_VERDICT;
}

exit_code diff_streams(const char *a, const char *b, text *out, json_t **document, status *st) {
    compare_state c = {.out = out, .st = st};
    exit_code code = EXIT_DONE;
    *document = NULL;
    if (capture_stream_open(&c.a, a, st) && capture_stream_open(&c.b, b, st)) {
        stream_pairs_make(&c.pairs, &c.a, &c.b);
        code = show(&c, document);
    }
    stream_pairs_release(&c.pairs);
    capture_stream_close(&c.a);
    capture_stream_close(&c.b);
    return code;
}
