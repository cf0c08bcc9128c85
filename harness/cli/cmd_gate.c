/* cmd_gate.c - tsr gate, and the hidden processes that time and count for it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/backend.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/database.h"
#include "common/interrupt.h"
#include "common/run_name.h"
#include "common/say.h"
#include "common/terminal.h"
#include "exec/backend_device.h"
#include "gate/document.h"
#include "gate/self_test.h"
#include "gate/timing.h"
#include "measure/host_facts.h"
#include "report/document.h"
#include "report/export/export.h"
#include "report/github.h"
#include "report/progress.h"
#include "store/store.h"

enum {
    TIMEOUT_S = 60,
    ROUNDS = 15,
    SETS = 3,
    BUDGET_MAX_S = 1 << 20,
    PROGRESS_STEPS = 1000,
    FULL_GATES = 299,
    QUICK_GATES = 10
};

int command_gate_timer(void) {
    return timing_serve();
}

int command_gate_counter(const char *manifest) {
    return instructions_serve(manifest);
}

typedef struct gate_command {
    const options *o;
    job_choice choice;
    gate_settings settings;
    arena memory;
    corpus_query query;
    corpus corpus;
    text diagnostics; /* of loading it, while nobody has been told */
    status problem;   /* likewise: why it cannot be used */
    gate_side sides[2];
    progress progress;
} gate_command;

/* ---- what was asked for ---- */

static bool take_numbers(const options *o, gate_settings *s, status *st) {
    uint64_t pairs = 0, budget = 0;
    if (!options_percent(o, OPTION_MARGIN, 0, 100, &s->margin, st) ||
        !options_percent(o, OPTION_MDE, 0.01, 1000, &s->bound, st) ||
        !options_percent(o, OPTION_ALPHA, 0.0001, 50, &s->alpha, st) ||
        !options_percent(o, OPTION_POWER, 50, 99.99, &s->power, st) ||
        !options_number(o, OPTION_PAIRS, 1, PLAN_PAIRS_MAX, &pairs, st) ||
        !options_number(o, OPTION_BUDGET, 1, BUDGET_MAX_S, &budget, st))
        return false;
    s->pairs = pairs;
    s->budget_seconds = (double)budget;
    if (s->margin >= s->bound)
        return status_set(st, STATUS_INVALID,
                          "--margin (%g %%) must be smaller than --mde (%g %%): what lies between "
                          "them is how sure the gate can be",
                          s->margin * 100, s->bound * 100);
    return true;
}

static bool allow(gate_settings *s, const char *name, status *st) {
    const char *names[REASON_COUNT];
    size_t count = 0;
    for (int i = 0; i < REASON_COUNT; i++) {
        if (!gate_reasons[i].allowable)
            continue;
        names[count++] = gate_reasons[i].name;
        if (strcmp(name, gate_reasons[i].name) == 0) {
            s->allowed[i] = true;
            return true;
        }
    }
    const char *nearest = text_nearest(name, names, count);
    return status_set(st, STATUS_INVALID, "--allow: '%s' cannot be allowed%s%s%s", name,
                      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static bool take_lists(const options *o, gate_settings *s, arena *memory, status *st) {
    string_list words = {0};
    options_split(options_text(o, OPTION_ALLOW, ""), memory, &words);
    bool ok = true;
    for (size_t i = 0; i < words.count && ok; i++)
        ok = allow(s, words.items[i], st);
    vec_release(&words);
    const char *counters = options_text(o, OPTION_COUNTERS, NULL);
    s->instructions = counters != NULL;
    if (ok && counters && strcmp(counters, "instructions") != 0)
        ok = status_set(st, STATUS_INVALID, "--counters knows instructions, not '%s'", counters);
    return ok;
}

static int take_options(gate_command *c) {
    const options *o = c->o;
    status st = STATUS_INIT;
    c->settings = (gate_settings){.margin = 0.005,
                                  .bound = 0.02,
                                  .alpha = 0.01,
                                  .power = 0.95,
                                  .rounds = ROUNDS,
                                  .sets = SETS,
                                  .always_time = options_flag(o, OPTION_ALWAYS_TIME),
                                  .no_timing = options_flag(o, OPTION_NO_TIMING),
                                  .cross_host = options_flag(o, OPTION_CROSS_HOST)};
    if (!take_numbers(o, &c->settings, &st) || !take_lists(o, &c->settings, &c->memory, &st))
        return command_usage(o->command, "%s", st.message);
    int code = choice_make(o, "strict", TIMEOUT_S, &c->choice);
    if (code)
        return code;
    memset(c->choice.backends, 0, sizeof c->choice.backends);
    c->choice.backends[BACKEND_CPU] = true;
    if (!backend_device(&backend_table[BACKEND_CPU], c->choice.device, &c->settings.device, &st))
        return command_fail(&st);
    if (c->settings.instructions && !backend_device_is_host(c->settings.device))
        return command_usage(o->command, "--counters instructions counts the host's: %s is none",
                             c->choice.device);
    c->settings.seed = c->choice.seed;
    c->settings.timeout_seconds = c->choice.timeout_seconds;
    choice_query(o, 0, &c->memory, &c->query);
    c->query.skip_large |= options_flag(o, OPTION_SELF_TEST);
    return EXIT_DONE;
}

static int check_exports(const options *o) {
    status st = STATUS_INIT;
    for (size_t i = 0; i < o->values[OPTION_EXPORT].values.count; i++)
        if (!document_export_check(o->values[OPTION_EXPORT].values.items[i], EXPORT_GATE, &st))
            return command_usage(o->command, "%s", st.message);
    for (size_t i = 0; i < o->values[OPTION_EXPORT].values.count; i++)
        if (!document_export_place(o->values[OPTION_EXPORT].values.items[i], &st))
            return command_fail(&st);
    return EXIT_DONE;
}

/* ---- sides ---- */

static bool names_records(const char *what) {
    return what && (strncmp(what, "run:", 4) == 0 || strncmp(what, "file:", 5) == 0);
}

/* Recorded results need no corpus, and modules use it where it is there; what is compiled needs it.
 */
static int tell_corpus(gate_command *c, bool needed) {
    if (needed || c->problem.code == STATUS_OK) {
        say_diagnostics(stderr, c->diagnostics.data);
        text_clear(&c->diagnostics);
    }
    return needed && c->problem.code != STATUS_OK ? command_fail(&c->problem) : EXIT_DONE;
}

static int load_corpus(gate_command *c) {
    corpus_load(&c->corpus, &c->query, &c->diagnostics, &c->problem);
    return tell_corpus(c, !options_text(c->o, OPTION_AGAINST, NULL) || c->o->arguments.count > 0);
}

/* Names the sides; --with OLD --against NEW are two implementations. */
static int name_sides(gate_command *c, const char *names[2]) {
    const char *with = options_text(c->o, OPTION_GATE_WITH, NULL);
    const char *kind = gate_side_kind_name(GATE_SIDE_IMPLEMENTATION);
    names[0] = options_text(c->o, OPTION_BASELINE, NULL);
    names[1] = options_text(c->o, OPTION_AGAINST, NULL);
    if (!with)
        return EXIT_DONE;
    if (names[0])
        return command_usage(c->o->command, "--with is the baseline: %s cannot be one, too",
                             names[0]);
    if (!names[1])
        return command_usage(c->o->command, "--against FILE is missing: what is held against %s",
                             with);
    bool said = strncmp(names[1], kind, strlen(kind)) == 0 && names[1][strlen(kind)] == ':';
    names[0] = arena_printf(&c->memory, "%s:%s", kind, with);
    names[1] = said ? names[1] : arena_printf(&c->memory, "%s:%s", kind, names[1]);
    return EXIT_DONE;
}

/* Refuses what is for code that tsr compiles. */
static int check_foreign(gate_command *c) {
    status st = STATUS_INIT;
    if (!gate_side_is_foreign(&c->sides[0]) || !gate_side_is_foreign(&c->sides[1]))
        return EXIT_DONE;
    int code = COMMAND_REFUSE(c->o, "is for code that tsr compiles, and both sides are of others",
                              OPTION_COUNTERS, OPTION_BUILD, OPTION_ISA, OPTION_DEVICE,
                              OPTION_NO_CACHE, OPTION_CROSS_HOST);
    if (code)
        return code;
    const backend_id ids[] = {implementation_backend(c->sides[0].code->kind),
                              implementation_backend(c->sides[1].code->kind)};
    if (ids[0] != ids[1])
        return command_usage(c->o->command, "%s and %s do not run on the same device",
                             c->sides[0].code->name, c->sides[1].code->name);
    const backend *b = &backend_table[ids[0]];
    return backend_device(b, NULL, &c->settings.device, &st) ? EXIT_DONE : command_fail(&st);
}

static int open_sides(gate_command *c) {
    const char *names[2];
    int named = name_sides(c, names);
    if (named)
        return named;
    if (!names_records(names[0]) || !names_records(names[1])) {
        int code = load_corpus(c);
        if (code)
            return code;
    }
    for (int i = 0; i < 2; i++) {
        status st = STATUS_INIT;
        gate_side_request request = {.what = names[i],
                                     .build = options_text(c->o, OPTION_BUILD, NULL),
                                     .choice = &c->choice,
                                     .query = &c->query,
                                     .corpus = &c->corpus,
                                     .database = database_path(c->o),
                                     .profiles_chosen = options_flag(c->o, OPTION_PROFILE),
                                     .threads_chosen = options_flag(c->o, OPTION_THREADS)};
        if (!gate_side_open(&c->sides[i], &request, &st))
            return command_fail(&st);
        int code = tell_corpus(c, c->sides[i].items == &c->corpus);
        if (code)
            return code;
    }
    int foreign = check_foreign(c);
    if (foreign)
        return foreign;
    bool recorded = gate_side_is_recorded(&c->sides[0]) && gate_side_is_recorded(&c->sides[1]);
    if (recorded) {
        int code =
            COMMAND_REFUSE(c->o, "is for kernels of a corpus: --filter chooses cases", OPTION_DIMS);
        if (code)
            return code;
    }
    if (c->o->arguments.count && recorded)
        return command_usage(c->o->command,
                             "recorded results are of no corpus: '%s' is too much; "
                             "--filter chooses cases",
                             c->o->arguments.items[0]);
    if (c->choice.device && gate_side_is_recorded(&c->sides[0]))
        return command_usage(c->o->command, "--device: recorded results are launched nowhere");
    if (c->settings.instructions && gate_side_is_recorded(&c->sides[0]))
        return command_usage(c->o->command, "recorded results are no code whose instructions "
                                            "--counters could count");
    return EXIT_DONE;
}

/* ---- the gate ---- */

static void show_progress(void *context, const char *what, double fraction) {
    gate_command *c = context;
    c->progress.done = (size_t)(fraction * PROGRESS_STEPS);
    progress_show(&c->progress, what);
}

static bool keep(const gate_command *c, const json_t *document, status *st) {
    store *s = store_open(database_path(c->o), st);
    if (!s)
        return false;
    text machine;
    text_init(&machine);
    host_machine(c->choice.isa, &machine);
    char *words = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(10));
    store_gate row = {.id = json_string_value(json_object_get(document, "gate")),
                      .started = json_string_value(json_object_get(document, "started")),
                      .machine = machine.data,
                      .exit_code = (int)json_integer_value(json_object_get(document, "exit")),
                      .document = words};
    bool ok = store_put_gate(s, &row, st);
    free(words);
    text_release(&machine);
    store_close(s);
    return ok;
}

static int show(const gate_command *c, const gate *g, const json_t *document) {
    status st = STATUS_INIT;
    int code = (int)gate_exit(g);
    if (options_flag(c->o, OPTION_JSON)) {
        document_print(document, stdout);
    } else {
        text out;
        text_init(&out);
        gate_table_options how = {.colour = command_colour(c->o, stdout),
                                  .width = terminal_width(stdout)};
        gate_table(g, &how, &out);
        say_diagnostics(stdout, out.data);
        text_release(&out);
    }
    bool ok = github_report(document, stderr, &st) && keep(c, document, &st);
    for (size_t i = 0; i < c->o->values[OPTION_EXPORT].values.count && ok; i++)
        ok = document_export(document, c->o->values[OPTION_EXPORT].values.items[i], &st);
    return ok ? code : (int)exit_code_worse((exit_code)code, (exit_code)command_fail(&st));
}

static int run_gate(gate_command *c) {
    char id[RUN_NAME_BYTES], started[RUN_NAME_BYTES];
    status st = STATUS_INIT;
    gate g = {.settings = &c->settings,
              .sides = {&c->sides[0], &c->sides[1]},
              .choice = &c->choice,
              .data = {.fd = -1},
              .stop = &interrupt_seen,
              .progress = show_progress,
              .progress_context = c};
    run_name_now(id, started);
    progress_start(&c->progress, PROGRESS_STEPS);
    bool ok = gate_run(&g, &st);
    progress_clear(&c->progress);
    int code;
    g.interrupted |= !interrupt_settle();
    if (ok && !g.interrupted) {
        json_t *document = gate_document(&g, id, started);
        json_object_set_new(document, "origin", command_origin(c->o, 0));
        code = show(c, &g, document);
        json_decref(document);
    } else {
        code = g.interrupted ? EXIT_INTERRUPTED : command_fail(&st);
        if (g.interrupted)
            say(stderr, "tsr: interrupted: there is no verdict\n");
    }
    gate_release(&g);
    return code;
}

/* ---- the self-test ---- */

static int show_self_test(const gate_command *c, const self_test *t) {
    if (options_flag(c->o, OPTION_JSON)) {
        json_t *document = self_test_document(t, &c->settings);
        document_print(document, stdout);
        json_decref(document);
    } else {
        text out;
        text_init(&out);
        self_test_table(t, &c->settings, &out);
        say_text(stdout, out.data);
        text_release(&out);
    }
    return (int)self_test_exit(t, &c->settings);
}

typedef struct campaign_size {
    uint64_t gates, cases; /* cases 0: all */
} campaign_size;

static int self_test_with(gate_command *c, const char *path, const campaign_size *size) {
    self_test t;
    status st = STATUS_INIT;
    bool interrupted;
    self_test_request request = {.settings = &c->settings,
                                 .choice = &c->choice,
                                 .sides = {&c->sides[0], &c->sides[1]},
                                 .path = path,
                                 .gates = size->gates,
                                 .slowed = size->gates / 10 > 3 ? size->gates / 10 : 3,
                                 .stop = &interrupt_seen,
                                 .progress = show_progress,
                                 .progress_context = c};
    self_test_choose(&c->sides[0], size->cases);
    self_test_choose(&c->sides[1], size->cases);
    progress_start(&c->progress, PROGRESS_STEPS);
    bool ok = self_test_run(&request, &t, &interrupted, &st);
    progress_clear(&c->progress);
    if (!ok)
        return command_fail(&st);
    if (!interrupted && interrupt_settle())
        return show_self_test(c, &t);
    say(stderr, "tsr: interrupted: the same command goes on with %s\n", path);
    return EXIT_INTERRUPTED;
}

static int run_self_test(gate_command *c) {
    const options *o = c->o;
    bool quick = options_flag(o, OPTION_QUICK);
    campaign_size size = {quick ? QUICK_GATES : FULL_GATES, SELF_TEST_CASES};
    status st = STATUS_INIT;
    char nameless[] = "/tmp/tsr-self-test-XXXXXX";
    const char *path = options_text(o, OPTION_STATE, quick ? NULL : ".tsr/self-test.jsonl");
    if (!options_number(o, OPTION_GATES, 1, 1000000, &size.gates, &st) ||
        !options_number(o, OPTION_CASES, 0, 1000000, &size.cases, &st))
        return command_usage(o->command, "%s", st.message);
    int fd = path ? -1 : mkostemp(nameless, O_CLOEXEC);
    if (fd >= 0)
        unlink(nameless);
    if (fd >= 0)
        close(fd);
    int code = self_test_with(c, path ? path : nameless, &size);
    if (!path)
        unlink(nameless);
    return code;
}

static int check_self_test(const options *o) {
    static const option_id others[] = {OPTION_BASELINE, OPTION_AGAINST,   OPTION_COUNTERS,
                                       OPTION_EXPORT,   OPTION_NO_TIMING, OPTION_CROSS_HOST,
                                       OPTION_ALLOW,    OPTION_BUILD,     OPTION_GATE_WITH};
    bool self = options_flag(o, OPTION_SELF_TEST);
    for (size_t i = 0; self && i < sizeof others / sizeof *others; i++)
        if (o->values[others[i]].present)
            return command_usage(o->command, "--self-test and --%s do not go together",
                                 option_table[others[i]].name);
    if (!self && (options_flag(o, OPTION_GATES) || options_flag(o, OPTION_STATE) ||
                  options_flag(o, OPTION_CASES)))
        return command_usage(o->command, "--gates, --cases and --state are for --self-test");
    if (!self && !options_flag(o, OPTION_BASELINE) && !options_flag(o, OPTION_GATE_WITH))
        return command_usage(o->command, "--baseline WHAT is missing: a commit, a tsr program, "
                                         "modules, a run or a result file; or --with FILE, code "
                                         "of others");
    return EXIT_DONE;
}

int command_gate(const options *o) {
    gate_command c = {.o = o};
    arena_init(&c.memory);
    text_init(&c.diagnostics);
    interrupt_watch();
    int code = check_self_test(o);
    code = code ? code : check_exports(o);
    code = code ? code : take_options(&c);
    code = code ? code : open_sides(&c);
    if (code == EXIT_DONE)
        code = options_flag(o, OPTION_SELF_TEST) ? run_self_test(&c) : run_gate(&c);
    gate_side_close(&c.sides[0]);
    gate_side_close(&c.sides[1]);
    corpus_release(&c.corpus);
    text_release(&c.diagnostics);
    arena_release(&c.memory);
    return code;
}
