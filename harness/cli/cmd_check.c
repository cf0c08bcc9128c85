/* cmd_check.c - tsr check: relations between a kernel's runs, for our code or that of others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/backend.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/own_inputs.h"
#include "common/command_line.h"
#include "common/interrupt.h"
#include "common/say.h"
#include "relations/relation_pack.h"
#include "relations/sums.h"
#include "report/progress.h"

enum { SHAPES = 3, BUDGET_SECONDS = 60, EXAMPLE_COLUMN = 15 };
static const uint64_t second_ns = 1000000000;

typedef struct session {
    const options *o;
    const job_choice *choice;
    relations_request request;
    json_t *results;
    const char *said;                      /* why the relation shown last was not verified */
    const compiler_case *at;               /* of the kernel in hand, its first one */
    size_t held, violated, open_questions; /* verdicts */
    exit_code code;
    bool json;
    progress progress;
} session;

/* ---- what was asked for ---- */

static int unknown_relation(const char *word) {
    const char *names[RELATION_COUNT];
    text list;
    text_init(&list);
    for (int i = 0; i < RELATION_COUNT; i++) {
        names[i] = relation_table[i].name;
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = text_nearest(word, names, RELATION_COUNT);
    int code =
        nearest
            ? command_usage(COMMAND_CHECK, "unknown relation '%s'; did you mean %s?", word, nearest)
            : command_usage(COMMAND_CHECK, "unknown relation '%s'; there are %s", word, list.data);
    text_release(&list);
    return code;
}

static int take_relations(session *s) {
    arena memory;
    string_list words = {0};
    int code = EXIT_DONE;
    bool all = !options_flag(s->o, OPTION_RELATION);
    arena_init(&memory);
    options_split(options_text(s->o, OPTION_RELATION, ""), &memory, &words);
    for (int i = 0; i < RELATION_COUNT; i++)
        s->request.wanted[i] = all;
    for (size_t i = 0; i < words.count && code == EXIT_DONE; i++) {
        relation_id id = relation_from_name(words.items[i]);
        if (id == RELATION_COUNT)
            code = unknown_relation(words.items[i]);
        else
            s->request.wanted[id] = true;
    }
    s->request.named = !all;
    vec_release(&words);
    arena_release(&memory);
    return code;
}

static int take_vary(session *s) {
    const string_list *given = &s->o->values[OPTION_VARY].values;
    for (size_t i = 0; i < given->count; i++) {
        const char *equals = strchr(given->items[i], '=');
        if (!equals || equals == given->items[i] || !equals[1])
            return command_usage(COMMAND_CHECK, "--vary %s: NAME=VALUE, or NAME=A,B,...",
                                 given->items[i]);
    }
    s->request.vary = (const char *const *)given->items;
    s->request.vary_count = (uint32_t)given->count;
    return EXIT_DONE;
}

static int take_request(session *s) {
    uint64_t budget = BUDGET_SECONDS, shapes = SHAPES;
    status st = STATUS_INIT;
    if (!options_number(s->o, OPTION_CHECK_BUDGET, 1, 1000000, &budget, &st) ||
        !options_number(s->o, OPTION_SHAPES, 1, 1000, &shapes, &st))
        return command_usage(COMMAND_CHECK, "%s", st.message);
    if (s->choice->thread_count != 1)
        return command_usage(COMMAND_CHECK, "one number of threads, please: the relation threads "
                                            "tries others");
    s->request.threads = s->choice->threads[0];
    s->request.seed = s->choice->seed;
    s->request.shapes = (uint32_t)shapes;
    s->request.budget_ns = budget * second_ns;
    s->request.timeout_ns = s->choice->timeout_seconds * second_ns;
    s->request.interrupted = &interrupt_seen;
    int code = EXIT_DONE;
    if (options_flag(s->o, OPTION_TREES))
        code = COMMAND_REFUSE(s->o, "is for relations, and --trees tries none", OPTION_RELATION,
                              OPTION_VARY, OPTION_SHAPES, OPTION_FAILURES, OPTION_INPUTS);
    else
        code = COMMAND_REFUSE(s->o, "is of a tree: add --trees", OPTION_WRITE);
    if (!code && !options_flag(s->o, OPTION_WRITE))
        code = COMMAND_REFUSE(s->o, "is the shape whose tree is written: add --trees --write FILE",
                              OPTION_DIMS);
    if (!code && options_flag(s->o, OPTION_SHARD))
        code = COMMAND_REFUSE(s->o, "is about one kernel: it does not go with --shard",
                              OPTION_WRITE, OPTION_INPUTS);
    code = code ? code : take_relations(s);
    return code ? code : take_vary(s);
}

/* ---- what is shown ---- */

/* A number as it is written; what JSON cannot say is an infinity or a NaN. */
static void show_value(const json_t *example, size_t at) {
    const json_t *value = json_array_get(json_object_get(example, "values"), at);
    say(stdout, "%s", json_string_value(json_array_get(json_object_get(example, "bits"), at)));
    if (json_is_number(value))
        say(stdout, " (%.9g)", json_number_value(value));
}

/* Shows which of the two values the formula, if there is one, rules out. Is any? */
static bool show_judged(const json_t *judged) {
    const json_t *outside = json_object_get(judged, "outside");
    bool first = json_is_true(json_array_get(outside, 0)),
         second = json_is_true(json_array_get(outside, 1));
    if (!json_is_object(judged))
        return false;
    say(stdout, "%*s%s: the formula gives %.9g within %.3g\n", EXAMPLE_COLUMN, "",
        first && second ? "both are wrong, not only other: outside of their bound"
        : first         ? "the first is wrong, not only other: outside of its bound"
        : second        ? "the second is wrong, not only other: outside of its bound"
                        : "both are within their bound",
        json_number_value(json_object_get(judged, "reference")),
        json_number_value(json_object_get(judged, "bound")));
    return first || second;
}

static void show_example(const json_t *found, relation_id id) {
    const json_t *example = json_object_get(found, "example"),
                 *place = json_object_get(found, "place");
    const json_t *boundary = json_object_get(example, "boundary");
    const char *output = json_string_value(json_object_get(example, "output"));
    if (*output) {
        say(stdout, "%*s%s[%s] is ", EXAMPLE_COLUMN, "", output,
            json_string_value(json_object_get(example, "index")));
        show_value(example, 0);
        say(stdout, " and ");
        show_value(example, 1);
        say(stdout, "\n");
    }
    say(stdout, "%*s%s%s\n", EXAMPLE_COLUMN, "", *output ? "between " : "",
        json_string_value(json_object_get(example, "between")));
    if (*json_string_value(json_object_get(example, "dims")))
        say(stdout, "%*swith %s%s\n", EXAMPLE_COLUMN, "",
            json_string_value(json_object_get(example, "dims")),
            json_is_true(json_object_get(place, "inputs")) ? ", on the inputs of --inputs" : "");
    if (json_is_object(boundary))
        say(stdout, "%*sbits change between %s=%lld and %s=%lld\n", EXAMPLE_COLUMN, "",
            json_string_value(json_object_get(boundary, "dim")),
            (long long)json_integer_value(json_object_get(boundary, "from")),
            json_string_value(json_object_get(boundary, "dim")),
            (long long)json_integer_value(json_object_get(boundary, "to")));
    /* A wrong value says nothing of which code was chosen. */
    if (!show_judged(json_object_get(example, "judged")))
        say(stdout, "%*s(%s)\n", EXAMPLE_COLUMN, "", relation_table[id].means);
}

/* " (27 runs on 3 shapes, M=2 to 99, N=7)" */
static void show_tried(const json_t *one) {
    const char *dim;
    const json_t *range;
    long long shapes = json_integer_value(json_object_get(one, "shapes"));
    say(stdout, " (%lld runs on %lld shape%s",
        (long long)json_integer_value(json_object_get(one, "runs")), shapes,
        shapes == 1 ? "" : "s");
    json_object_foreach((json_t *)json_object_get(one, "sizes"), dim, range) {
        long long least = json_integer_value(json_array_get(range, 0)),
                  most = json_integer_value(json_array_get(range, 1));
        say(stdout, ", %s=%lld", dim, least);
        if (most != least)
            say(stdout, " to %lld", most);
    }
    say(stdout, ")");
}

/* The reason of the one before is not said again. */
static void show(session *s, const json_t *one) {
    const char *name = json_string_value(json_object_get(one, "relation"));
    const char *dim = json_string_value(json_object_get(one, "dim"));
    const char *why = json_string_value(json_object_get(one, "why"));
    char label[80];
    snprintf(label, sizeof label, "%s%s%s%s", name, dim ? " of " : "", dim ? dim : "", "");
    bool again = why && s->said && strcmp(why, s->said) == 0;
    say(stdout, "  %-20s %s%s%s", label, json_string_value(json_object_get(one, "verdict")),
        why ? ": " : "",
        again ? "as above"
        : why ? why
              : "");
    s->said = why ? why : s->said;
    if (!why)
        show_tried(one);
    say(stdout, "\n");
    if (json_is_object(json_object_get(one, "example")))
        show_example(one, relation_from_name(name));
}

static void count(session *s, const json_t *one) {
    const char *verdict = json_string_value(json_object_get(one, "verdict"));
    if (strcmp(verdict, relation_verdict_name(RELATION_VIOLATED)) == 0) {
        s->violated++;
        s->code = exit_code_worse(s->code, EXIT_CHECK);
    } else if (strcmp(verdict, relation_verdict_name(RELATION_HOLDS)) == 0) {
        s->held++;
    } else {
        s->open_questions++;
    }
}

/* ---- columns ---- */

static void show_trees(const json_t *found) {
    size_t i;
    const json_t *one;
    const char *why = json_string_value(json_object_get(found, "why"));
    json_array_foreach(json_object_get(found, "trees"), i, one) {
        const json_t *fused = json_object_get(one, "fused");
        const char *added_in = json_string_value(json_object_get(one, "accumulator"));
        say(stdout, "  %s, %lld thread%s: %s%s%s%s\n",
            json_string_value(json_object_get(one, "dims")),
            (long long)json_integer_value(json_object_get(one, "threads")),
            json_integer_value(json_object_get(one, "threads")) == 1 ? "" : "s",
            json_string_value(json_object_get(one, "class")),
            json_is_true(fused)    ? ", fused"
            : json_is_false(fused) ? ", products rounded"
                                   : "",
            added_in ? ", added in " : "",
            !added_in                        ? ""
            : strcmp(added_in, "wider") == 0 ? "more than f32"
                                             : added_in);
    }
    json_array_foreach(json_object_get(found, "changes"), i, one)
        say(stdout, "  the tree changes between %s=%lld and %lld\n",
            json_string_value(json_object_get(one, "of")),
            (long long)json_integer_value(json_object_get(one, "from")),
            (long long)json_integer_value(json_object_get(one, "to")));
    const char *written = json_string_value(json_object_get(found, "written"));
    if (written)
        say(stdout, "  written to %s: random inputs have its bits in all elements\n", written);
    else if (json_object_get(found, "written"))
        say(stdout, "  not written: %s\n", why);
    else if (why)
        say(stdout, "  not verified: %s\n", why);
}

/* Results of a shape: "M=17,N=997" has 17 * 997. */
static double size_of(const json_t *tree) {
    double size = 1;
    for (const char *p = json_string_value(json_object_get(tree, "dims")); p && *p;) {
        p = strchr(p, '=');
        size *= p ? strtod(p + 1, NULL) : 1;
        p = p ? strchr(p, ',') : NULL;
    }
    return size;
}

static json_int_t threads_of(const json_t *tree) {
    return json_integer_value(json_object_get(tree, "threads"));
}

/* The one that holds at the shape and number of threads of another: trees are listed where they
 * change. NULL: none. */
static const json_t *tree_like(const json_t *found, const json_t *wanted) {
    size_t i;
    const json_t *one, *last = NULL;
    json_array_foreach(json_object_get(found, "trees"), i,
                       one) if (size_of(one) <= size_of(wanted) &&
                                threads_of(one) <= threads_of(wanted)) last = one;
    return last;
}

static bool is_same_tree(const json_t *a, const json_t *b) {
    static const char *const facts[] = {"digest", "fused", "accumulator"};
    bool same = true;
    for (int i = 0; i < 3; i++)
        same &= json_equal(json_object_get(a, facts[i]), json_object_get(b, facts[i]));
    return same;
}

/* Compares a column with its kernel's first: whether both add alike wherever both were asked, and
 * where they part first. */
static void compare_trees(const session *s, json_t *found) {
    size_t i;
    const json_t *first = NULL, *one, *parts = NULL;
    bool any = false;
    json_array_foreach(s->results, i,
                       one) if (!first && json_equal(json_object_get(one, "kernel"),
                                                     json_object_get(found, "kernel"))) first = one;
    json_array_foreach(json_object_get(found, "trees"), i, one) {
        const json_t *other = first ? tree_like(first, one) : NULL;
        any |= other != NULL;
        if (other && !parts && !is_same_tree(one, other))
            parts = one;
    }
    if (any)
        json_object_set_new(
            found, "beside",
            json_pack("{s:O, s:b, s:o}", "column", json_object_get(first, "column"), "same",
                      parts == NULL, "parts_at",
                      parts ? json_pack("{s:O, s:O}", "dims", json_object_get(parts, "dims"),
                                        "threads", json_object_get(parts, "threads"))
                            : json_null()));
}

static void show_beside(const json_t *found) {
    const json_t *beside = json_object_get(found, "beside"),
                 *at = json_object_get(beside, "parts_at");
    const char *column = json_string_value(json_object_get(beside, "column"));
    if (json_is_true(json_object_get(beside, "same")))
        say(stdout, "  the same trees as %s\n", column);
    else if (beside)
        say(stdout, "  another tree than %s at %s, threads=%lld\n", column,
            json_string_value(json_object_get(at, "dims")),
            (long long)json_integer_value(json_object_get(at, "threads")));
}

/* Writes one kernel and column, at one shape. */
static json_t *write_tree(const session *s) {
    const sums_writing w = {.path = options_text(s->o, OPTION_WRITE, NULL),
                            .at = options_flag(s->o, OPTION_DIMS) ? s->at : NULL,
                            .threads = options_flag(s->o, OPTION_THREADS) ? s->request.threads : 1};
    return sums_write(&s->request, &w);
}

static void find_trees(session *s, const relations_column *column) {
    s->request.column = column;
    bool writes = options_flag(s->o, OPTION_WRITE);
    json_t *found = writes ? write_tree(s) : sums_find(&s->request);
    bool any = json_array_size(json_object_get(found, "trees")) > 0;
    if (writes && !json_is_null(json_object_get(found, "why")))
        s->code = exit_code_worse(s->code, EXIT_NO_VERDICT);
    s->held += any;
    s->open_questions += !any;
    json_object_set_new(found, "kernel", json_string(column->kernel->name));
    json_object_set_new(found, "column", json_string(column->name));
    compare_trees(s, found);
    if (!s->json) {
        say(stdout, "%s on %s\n", column->kernel->name, column->name);
        show_trees(found);
        show_beside(found);
    }
    json_array_append_new(s->results, found);
}

/* Path of its pack; NULL: it is no failure, or could not be packed. */
static json_t *pack_one(const session *s, const json_t *one) {
    const relation_pack_request request = {.of = &s->request,
                                           .found = one,
                                           .failures = options_text(s->o, OPTION_FAILURES, NULL),
                                           .timeout_seconds = s->choice->timeout_seconds,
                                           .memory_mib = s->choice->memory_mib};
    status st = STATUS_INIT;
    text path;
    text_init(&path);
    bool packed =
        relation_pack_wanted(one) && !interrupt_seen && relation_pack_write(&request, &path, &st);
    json_t *told = packed ? json_text(path.data) : json_null();
    text word;
    text_init(&word);
    if (packed && !s->json)
        say(stdout, "%*s%s\n", EXAMPLE_COLUMN, "",
            command_line_replay(&word, path.data, s->request.column->with != NULL));
    text_release(&word);
    if (!packed && st.code != STATUS_OK && st.code != STATUS_INTERRUPTED)
        say(stderr, "tsr: %s of %s is not packed: %s\n",
            json_string_value(json_object_get(one, "relation")), s->request.column->kernel->name,
            st.message);
    text_release(&path);
    return told;
}

static void show_begin(void *context, relation_id id) {
    session *s = context;
    char words[120];
    snprintf(words, sizeof words, "%s on %s: %s", s->request.column->kernel->name,
             s->request.column->name, relation_table[id].name);
    s->progress.done = (size_t)id;
    progress_show(&s->progress, words);
}

/* Packed where it is found: what comes after it may take long. */
static void take_verdict(void *context, const json_t *found) {
    session *s = context;
    const relations_column *column = s->request.column;
    json_t *one = json_copy((json_t *)found);
    count(s, one);
    progress_clear(&s->progress);
    if (!s->json)
        show(s, one);
    json_object_set_new(one, "pack", pack_one(s, one));
    json_object_set_new(one, "kernel", json_string(column->kernel->name));
    json_object_set_new(one, "column", json_string(column->name));
    json_array_append_new(s->results, one);
    fflush(stdout);
}

static void check_relations(session *s, const relations_column *column) {
    bool failed = false;
    s->request.column = column;
    s->request.begins = show_begin;
    s->request.decided = take_verdict;
    s->request.context = s;
    if (!s->json)
        say(stdout, "%s on %s\n", column->kernel->name, column->name);
    progress_start(&s->progress, RELATION_COUNT);
    json_decref(relations_check(&s->request, &failed));
    progress_clear(&s->progress);
    if (failed)
        s->code = exit_code_worse(s->code, EXIT_CHECK);
}

static void check_column(session *s, const relations_column *column) {
    if (options_flag(s->o, OPTION_TREES))
        find_trees(s, column);
    else
        check_relations(s, column);
}

/* There is nothing of ours to check. */
static void tell_without(session *s, const compiler_kernel *k) {
    say(stderr,
        "tsr: %s:%u: kernel %s %s, so there is nothing of ours to check: --with FILE gives code "
        "that "
        "computes it\n",
        k->path, k->line, k->name,
        k->contract ? "has no formula (its body is '...')"
                    : "adds in an order of which no code is made, a written tree(...) or a matrix "
                      "unit's");
    s->code = exit_code_worse(s->code, EXIT_INPUT);
}

static void check_kernel(session *s, const corpus_case *item, bool lone) {
    const job_choice *c = s->choice;
    s->at = s->request.like = item->c;
    relations_column column = {
        .source = item->source, .kernel = item->kernel, .name = backend_table[BACKEND_CPU].name};
    if (c->implementation_count == 0 && (item->kernel->contract || item->kernel->interpreted))
        tell_without(s, item->kernel);
    else if (c->implementation_count == 0)
        check_column(s, &column);
    for (uint32_t i = 0; i < c->implementation_count && !interrupt_seen; i++) {
        column.with = &c->implementations[i];
        column.name = column.with->name;
        column.symbol = implementation_symbol(column.with, item->kernel->name, lone);
        if (column.symbol)
            check_column(s, &column);
    }
}

static int check_all(session *s, const corpus *c) {
    bool lone = corpus_is_of_one_kernel(c);
    if (options_flag(s->o, OPTION_WRITE) && (!lone || s->choice->implementation_count > 1))
        return command_usage(COMMAND_CHECK, "--write: one kernel and one column, please: --filter "
                                            "chooses a kernel, and one --with a column");
    interrupt_watch();
    for (size_t i = 0; i < c->cases.count && !interrupt_seen; i++)
        if (i == 0 || c->cases.items[i].kernel != c->cases.items[i - 1].kernel)
            check_kernel(s, &c->cases.items[i], lone);
    if (!interrupt_settle())
        return EXIT_INTERRUPTED;
    size_t all = s->held + s->violated + s->open_questions;
    if (s->json) {
        json_t *document =
            json_pack("{s:s, s:O}", "schema",
                      options_flag(s->o, OPTION_TREES) ? "tsr.trees/1" : "tsr.check/1", "results",
                      s->results);
        say_json(stdout, document, 9);
        json_decref(document);
    }
    fflush(stdout); /* what follows goes elsewhere, or behind it */
    if (options_flag(s->o, OPTION_TREES))
        say(stderr, "%zu kernels: trees of %zu\n", all, s->held);
    else
        say(stderr, "%zu relation%s: %zu hold, %zu violated, %zu not verified\n", all, text_s(all),
            s->held, s->violated, s->open_questions);
    if (s->held + s->violated == 0 && !(c->shard && all == 0))
        s->code = exit_code_worse(s->code, EXIT_NO_VERDICT);
    return (int)exit_code_worse(s->code, c->problem);
}

int command_check(const options *o) {
    job_choice choice;
    corpus c;
    int code = choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    session s = {
        .o = o, .choice = &choice, .results = json_array(), .json = options_flag(o, OPTION_JSON)};
    own_inputs own = {.given = false};
    code = take_request(&s);
    code = code ? code : own_inputs_open(o, 0, &own);
    if (!code) {
        code = own.given ? own_inputs_corpus(o, 0, &own, &c) : choice_corpus(o, 0, &c);
        s.request.inputs = own.folder.path;
        code = code == EXIT_DONE ? check_all(&s, &c) : code;
        corpus_release(&c);
    }
    own_inputs_close(&own);
    json_decref(s.results);
    return code;
}
