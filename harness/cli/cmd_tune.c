/* cmd_tune.c - tsr tune: find schedules, show what was tried, export and import the cache. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/tuned_choice.h"
#include "common/json_text.h"
#include "common/say.h"
#include "tune/tune.h"

enum { TIMEOUT_S = 60, BUDGET_MAX_S = 1000000 };

/* Reads a cache whole; what is refused of it is told. EXIT_DONE, or the exit code. */
static int read_cache(const char *path, tune_cache *c) {
    status st = STATUS_INIT;
    bool ok = tune_cache_read(path, c, &st);
    if (ok)
        say_text(stderr, c->complaints.data);
    return ok ? EXIT_DONE : command_fail(&st);
}

/* ---- --export and --import ---- */

static int export_cache(const char *cache, const char *to) {
    tune_cache c;
    status st = STATUS_INIT;
    int code = read_cache(cache, &c);
    if (code == EXIT_DONE && !tune_cache_write(to, &c, &st))
        code = command_fail(&st);
    if (code == EXIT_DONE)
        say(stdout, "%zu schedules to %s\n", json_object_size(c.entries), to);
    tune_cache_release(&c);
    return code;
}

/* Refused entries make the exit code 3; the rest is in. */
static int import_cache(const char *cache, const char *from) {
    tune_cache c;
    status st = STATUS_INIT;
    text complaints;
    if (!file_exists(from)) {
        status_set(&st, STATUS_NOT_FOUND, "there is no file %s", from);
        return command_fail(&st);
    }
    text_init(&complaints);
    int code = read_cache(from, &c);
    json_t *entries = json_array(), *entry;
    const char *key;
    json_object_foreach(c.entries, key, entry) json_array_append(entries, entry);
    if (code == EXIT_DONE && !tune_cache_merge(cache, entries, &complaints, &st))
        code = command_fail(&st);
    say_text(stderr, complaints.data);
    if (code == EXIT_DONE) {
        say(stdout, "%zu schedules from %s, %u refused\n", json_array_size(entries), from,
            c.refused);
        code = c.refused ? EXIT_INPUT : EXIT_DONE;
    }
    json_decref(entries);
    text_release(&complaints);
    tune_cache_release(&c);
    return code;
}

/* Each file; the worst exit code. */
static int import_all(const options *o, const char *cache) {
    const string_list *files = &o->values[OPTION_TUNE_IMPORT].values;
    exit_code code = EXIT_DONE;
    for (size_t i = 0; i < files->count; i++)
        code = exit_code_worse(code, (exit_code)import_cache(cache, files->items[i]));
    return (int)code;
}

/* ---- --show ---- */

static bool is_meant(const json_t *entry, const char *pattern) {
    text name;
    text_init(&name);
    text_printf(&name, "%s/%s", json_text_at(entry, "kernel"), json_text_at(entry, "case"));
    bool meant = text_glob(pattern, name.data) || text_glob(pattern, json_text_at(entry, "kernel"));
    text_release(&name);
    return meant;
}

/* Choices that were left out for the reason of the one before are counted. */
static bool is_more(const json_t *one, const json_t *before) {
    return before && !*json_text_at(one, "schedule") && *json_text_at(one, "why") &&
           strcmp(json_text_at(one, "why"), json_text_at(before, "why")) == 0;
}

static void print_one(const json_t *one) {
    json_t *ratio = json_object_get(one, "ratio");
    const char *space = json_text_at(one, "space");
    say(stdout, "  %12" JSON_INTEGER_FORMAT "  ",
        json_integer_value(json_object_get(one, "cycles")));
    if (json_is_number(ratio))
        say(stdout, "%8.4f", json_number_value(ratio));
    else
        say(stdout, "%8s", "-");
    say(stdout, "  %s%s%s%s%s\n", space, *space ? "; " : "", json_text_at(one, "schedule"),
        json_is_number(ratio) ? "" : "  ", json_text_at(one, "why"));
}

static void print_tried(const json_t *entry) {
    const json_t *tried = json_object_get(entry, "tried");
    for (size_t i = 0, end; i < json_array_size(tried); i = end) {
        const json_t *one = json_array_get(tried, i);
        print_one(one);
        for (end = i + 1; is_more(json_array_get(tried, end), one);)
            end++;
        if (end > i + 1)
            say(stdout, "  %24sand %zu more\n", "", end - i - 1);
    }
}

static void print_entry(const json_t *entry) {
    const char *schedule = json_text_at(entry, "schedule"), *space = json_text_at(entry, "space");
    say(stdout,
        "%s/%s  %s %s, %" JSON_INTEGER_FORMAT " threads, shapes %s%s%s\n"
        "  by tsr %s on %s\n  schedule  %s\n",
        json_text_at(entry, "kernel"), json_text_at(entry, "case"), json_text_at(entry, "isa"),
        json_text_at(entry, "profile"), json_integer_value(json_object_get(entry, "threads")),
        json_text_at(entry, "shapes"), *json_text_at(entry, "types") ? ", " : "",
        json_text_at(entry, "types"), json_text_at(entry, "tsr"), json_text_at(entry, "cpu"),
        *schedule ? schedule : "the default");
    if (*space)
        say(stdout, "  tiles     %s\n", space);
    text was, is;
    text_init(&was);
    text_init(&is);
    (void)tune_amount(entry, "default", &was);
    (void)tune_amount(entry, "tuned", &is);
    say(stdout,
        "  default   %s\n  tuned     %s\n  estimated cycles, time against the default, schedule:\n",
        was.data, is.data);
    text_release(&was);
    text_release(&is);
    print_tried(entry);
}

static int show_cache(const options *o, const char *cache, const char *pattern) {
    tune_cache c;
    int code = read_cache(cache, &c);
    json_t *meant = json_array(), *entry;
    const char *key;
    json_object_foreach(c.entries, key, entry) if (is_meant(entry, pattern))
        json_array_append(meant, entry);
    if (code == EXIT_DONE && json_array_size(meant) == 0) {
        status st = STATUS_INIT;
        status_set(&st, STATUS_NOT_FOUND, "%s has nothing of %s", cache, pattern);
        code = command_fail(&st);
    } else if (code == EXIT_DONE && options_flag(o, OPTION_JSON)) {
        say_json(stdout, meant, 0);
    } else if (code == EXIT_DONE) {
        size_t i;
        json_array_foreach(meant, i, entry) print_entry(entry);
    }
    json_decref(meant);
    tune_cache_release(&c);
    return code;
}

/* ---- tuning ---- */

static int tune(const options *o, const char *cache) {
    job_choice choice;
    corpus c;
    status st = STATUS_INIT;
    uint64_t budget = 60;
    if (!options_number(o, OPTION_BUDGET, 1, BUDGET_MAX_S, &budget, &st))
        return command_usage(o->command, "%s", st.message);
    int code = choice_make(o, "strict", TIMEOUT_S, &choice);
    if (code)
        return code;
    code = choice_tuned(&choice);
    if (code)
        return code;
    code = choice_corpus(o, 0, &c);
    tuned_files places;
    tuned_open(&places, cache, tuned_is_named(o));
    tune_request request = {.corpus = &c,
                            .choice = &choice,
                            .places = &places,
                            .budget_s = budget,
                            .budget_given = options_flag(o, OPTION_BUDGET),
                            .again = options_flag(o, OPTION_AGAIN),
                            .json = options_flag(o, OPTION_JSON)};
    /* Results that cannot be kept are not worth the time. */
    if (code == EXIT_DONE && !file_make_parent(cache, &st)) {
        say(stderr, "tsr: %s; choose another place with --tuned FILE\n", st.message);
        code = (int)exit_code_of_status(st.code);
    }
    if (code == EXIT_DONE)
        code = tune_run(&request);
    tuned_release(&places);
    corpus_release(&c);
    return code;
}

int command_tune(const options *o) {
    const char *export = options_text(o, OPTION_TUNE_EXPORT, NULL),
               *import = options_text(o, OPTION_TUNE_IMPORT, NULL),
               *show = options_text(o, OPTION_TUNE_SHOW, NULL);
    if ((export != NULL) + (import != NULL) + (show != NULL) > 1)
        return command_usage(o->command, "one of --export, --import and --show, please");
    if ((export || import || show) && o->arguments.count)
        return command_usage(o->command, "'%s' is too much: nothing is tuned here",
                             o->arguments.items[0]);
    int refused = EXIT_DONE;
    if (export || import || show)
        refused = COMMAND_REFUSE(o, "is for tuning, and nothing is tuned here", OPTION_PROFILE,
                                 OPTION_FILTER, OPTION_THREADS, OPTION_ISA, OPTION_SEED,
                                 OPTION_TIMEOUT, OPTION_MEMORY, OPTION_QUICK, OPTION_BUDGET,
                                 OPTION_AGAIN, OPTION_NO_CACHE, OPTION_GOLDEN, OPTION_SPACE,
                                 OPTION_CONSTANTS, OPTION_SHARD);
    if (!refused && (export || import))
        refused = COMMAND_REFUSE(o, "is for tuning and --show", OPTION_JSON);
    if (refused)
        return refused;
    char *cache = tuned_path(o);
    int code = export   ? export_cache(cache, export)
               : import ? import_all(o, cache)
               : show   ? show_cache(o, cache, show)
                        : tune(o, cache);
    free(cache);
    return code;
}
