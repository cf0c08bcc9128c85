/* cmd_diff.c - tsr diff: two tensors, two runs, two backends of one, or two recorded programs. */
#include <string.h>

#include "capture/stream.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/database.h"
#include "cli/named.h"
#include "common/say.h"
#include "device/host/host.h"
#include "diff/across.h"
#include "diff/backends.h"
#include "diff/runs.h"
#include "diff/streams.h"
#include "diff/tensors.h"
#include "implementation/implementation.h"

enum { DIGITS = 17, TIMEOUT_SECONDS = 60, TIMEOUT_SECONDS_MAX = 1 << 20 };

typedef struct comparison_of {
    const options *o;
    const char *a, *b;
    diff_request request;
    text report;
    json_t *document;
    bool refused; /* told already */
} comparison_of;

static exit_code compare_results(comparison_of *c, status *st) {
    side a, b = {0};
    exit_code code = EXIT_DONE;
    const char *database = database_path(c->o);
    arena_init(&b.memory);
    if (side_open(&a, c->a, database, st) && side_open(&b, c->b, database, st))
        code = diff_runs(&a, &b, &c->request, &c->report, &c->document);
    side_close(&a);
    side_close(&b);
    return code;
}

/* The type that --type names; false with the names that there are. */
static bool wanted_type(const options *o, dtype *want, status *st) {
    const char *name = options_text(o, OPTION_TYPE, NULL);
    *want = name ? dtype_from_name(name) : DTYPE_NONE;
    if (!name || *want != DTYPE_NONE)
        return true;
    text known;
    text_init(&known);
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        text_printf(&known, " %s", dtype_name((dtype)t));
    status_set(st, STATUS_INVALID, "--type: no type is called '%s'; there are%s", name, known.data);
    text_release(&known);
    return false;
}

static exit_code compare_streams(comparison_of *c, status *st) {
    bool both = capture_is_stream(c->a) && capture_is_stream(c->b);
    if (!both) {
        status_set(st, STATUS_INVALID,
                   "%s is a recorded program and %s is none: only two of a kind are compared",
                   capture_is_stream(c->a) ? c->a : c->b, capture_is_stream(c->a) ? c->b : c->a);
        return EXIT_INPUT;
    }
    int refused = COMMAND_REFUSE(c->o, "is for runs and tensors, and these are recorded programs",
                                 OPTION_DB, OPTION_TIMEOUT, OPTION_TYPE);
    c->refused = refused != 0;
    return refused ? (exit_code)refused : diff_streams(c->a, c->b, &c->report, &c->document, st);
}

static exit_code compare(comparison_of *c, status *st) {
    side_kind a, b;
    dtype want;
    if (capture_is_stream(c->a) || capture_is_stream(c->b))
        return compare_streams(c, st);
    if (!wanted_type(c->o, &want, st))
        return EXIT_INPUT;
    if (!side_kind_of(c->a, database_path(c->o), &a, st) ||
        !side_kind_of(c->b, database_path(c->o), &b, st))
        return EXIT_INPUT;
    if (a != b) {
        status_set(st, STATUS_INVALID,
                   "%s is a tensor and %s a run: only two of a kind are compared",
                   a == SIDE_TENSOR ? c->a : c->b, a == SIDE_TENSOR ? c->b : c->a);
        return EXIT_INPUT;
    }
    int refused =
        a == SIDE_TENSOR
            ? COMMAND_REFUSE(c->o, "is for runs, and these are tensors", OPTION_DB, OPTION_TIMEOUT)
            : COMMAND_REFUSE(c->o, "is for tensors, and these are runs", OPTION_TYPE);
    if (refused) {
        c->refused = true;
        return (exit_code)refused;
    }
    return a == SIDE_TENSOR ? diff_tensors(c->a, c->b, want, &c->report, &c->document, st)
                            : compare_results(c, st);
}

static exit_code compare_across(comparison_of *c, status *st) {
    const string_list *words = &c->o->arguments;
    side runs[ACROSS_RUNS_MAX] = {{.name = NULL}};
    size_t opened = 0;
    bool ok = true;
    exit_code code = EXIT_DONE;
    for (size_t i = 0; i < words->count && ok; i++, opened++) {
        side_kind kind;
        ok = side_kind_of(words->items[i], database_path(c->o), &kind, st) &&
             (kind == SIDE_RESULTS ||
              status_set(st, STATUS_INVALID, "--across compares runs, and %s is a tensor",
                         words->items[i]));
        arena_init(&runs[i].memory);
        ok = ok && side_open(&runs[i], words->items[i], database_path(c->o), st);
    }
    if (ok)
        code = diff_across(runs, opened, &c->request, &c->report, &c->document);
    for (size_t i = 0; i < opened; i++)
        side_close(&runs[i]);
    return code;
}

/* ---- programs on two backends ---- */

/* Our code as strict as the backend can; a plugin's as it is. */
static int open_side(const options *o, const char *word, implementation *plugin,
                     diff_backend *out) {
    status st = STATUS_INIT;
    backend_id id;
    const char *own = NULL;
    *out = (diff_backend){.word = word, .how.threads = host_usable_cores()};
    if (implementation_is_plugin(word)) {
        if (!implementation_open(plugin, word, &st))
            return command_fail(&st);
        out->how.backend = plugin->name;
        out->how.profile = "fast";
        out->how.implementation = plugin->path;
        out->how.kind = (uint32_t)plugin->kind;
        return EXIT_DONE;
    }
    int code = named_backend(o, word, NULL, &id, &own);
    if (code)
        return code;
    const backend *b = &backend_table[id];
    if (backend_is_tools(b))
        return command_usage(o->command, "backend %s takes part in bench and golden alone", word);
    out->how.backend = b->name;
    out->how.profile = "strict";
    out->how.isa = backend_is_ours(b) ? backend_target_for(b, NULL, own) : NULL;
    return EXIT_DONE;
}

static int compare_programs(comparison_of *c) {
    diff_backend sides[2];
    implementation plugins[2] = {0};
    string_list words = {0};
    corpus cases;
    arena memory;
    status st = STATUS_INIT;
    uint64_t seed = 1;
    arena_init(&memory);
    options_split(options_text(c->o, OPTION_BACKEND, ""), &memory, &words);
    int code = words.count == 2 && c->o->arguments.count
                   ? EXIT_DONE
                   : command_usage(c->o->command, "--backend wants two backends, A,B, and the "
                                                  "sources whose kernels are compared");
    if (!code && !options_number(c->o, OPTION_SEED, 0, INT64_MAX, &seed, &st))
        code = command_usage(c->o->command, "%s", st.message);
    for (size_t i = 0; i < 2 && !code; i++)
        code = open_side(c->o, words.items[i], &plugins[i], &sides[i]);
    if (!code) {
        code = choice_corpus(c->o, 0, &cases);
        if (!code)
            code =
                (int)exit_code_worse(cases.problem, diff_backends(sides, &cases, seed, &c->request,
                                                                  &c->report, &c->document));
        corpus_release(&cases);
    }
    for (size_t i = 0; i < 2; i++)
        implementation_release(&plugins[i]);
    vec_release(&words);
    arena_release(&memory);
    return code;
}

static void print(const comparison_of *c) {
    if (!options_flag(c->o, OPTION_JSON)) {
        say_text(stdout, c->report.data);
        return;
    }
    say_json(stdout, c->document, DIGITS);
}

int command_diff(const options *o) {
    status st = STATUS_INIT;
    bool across = options_flag(o, OPTION_ACROSS), programs = options_flag(o, OPTION_BACKEND);
    size_t count = o->arguments.count;
    if (across && (count == 0 || count > ACROSS_RUNS_MAX))
        return command_usage(o->command, "--across takes 1 to %d runs", ACROSS_RUNS_MAX);
    int refused =
        programs ? COMMAND_REFUSE(o, "is for runs and tensors, and --backend compares programs",
                                  OPTION_ACROSS, OPTION_DB, OPTION_TYPE)
                 : COMMAND_REFUSE(o, "is for programs: --backend A,B names what runs them",
                                  OPTION_FILTER, OPTION_DIMS, OPTION_SEED);
    if (refused)
        return refused;
    if (!across && !programs && count != 2)
        return command_usage(o->command, "diff takes two things to compare");
    comparison_of c = {.o = o,
                       .a = count ? o->arguments.items[0] : NULL,
                       .b = count > 1 ? o->arguments.items[1] : NULL,
                       .request = {TIMEOUT_SECONDS, command_colour(o, stdout)}};
    if (options_flag(o, OPTION_TIMEOUT) &&
        !options_number(o, OPTION_TIMEOUT, 1, TIMEOUT_SECONDS_MAX, &c.request.timeout_seconds, &st))
        return command_usage(o->command, "%s", st.message);
    text_init(&c.report);
    int code = programs ? compare_programs(&c)
                        : (int)(across ? compare_across(&c, &st) : compare(&c, &st));
    if (st.code != STATUS_OK)
        code = command_fail(&st);
    else if (!c.refused && (!programs || c.document))
        print(&c);
    json_decref(c.document);
    text_release(&c.report);
    return code;
}
