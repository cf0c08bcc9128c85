/* cmd_roofline.c - tsr roofline: what this machine can do at best, measured now; or the roofs of a
 * run, with its results below them. */
#include <stdlib.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/database.h"
#include "common/say.h"
#include "common/terminal.h"
#include "device/host/host.h"
#include "measure/ceilings.h"
#include "measure/host_facts.h"
#include "page/plot.h"
#include "report/document.h"
#include "run/stored_run.h"

/* A drawing needs a width where nothing gives one. */
enum { PLOT_COLUMNS = 80 };

static plot plot_for(const options *o, uint32_t threads) {
    int width = terminal_width(stdout);
    return (plot){.threads = threads,
                  .width = width == TERMINAL_UNBOUNDED ? PLOT_COLUMNS : width,
                  .unicode = terminal_unicode(),
                  .colour = command_colour(o, stdout)};
}

static void show_plot(const plot *p) {
    text out;
    text_init(&out);
    plot_print(p, &out);
    say_text(stdout, out.data);
    text_release(&out);
}

/* ---- measured now ---- */

static void print_ceilings(const ceilings *c) {
    say(stdout, "%s, %s\n", host_cpu_name(), c->isa);
    for (size_t i = 0; i < c->count; i++)
        say(stdout, "  %-24s %10.1f %s%s\n", c->items[i].resource, c->items[i].value,
            c->items[i].unit, c->items[i].profile ? "  (not strict)" : "");
}

static void show_ceilings(const options *o, const ceilings *c, uint32_t threads) {
    json_t *list = document_ceilings(c);
    if (options_flag(o, OPTION_JSON)) {
        json_t *document = json_pack("{s:s, s:o, s:O}", "schema", "tsr.roofline/1", "host",
                                     host_facts(), "ceilings", list);
        document_print(document, stdout);
        json_decref(document);
    } else {
        plot p = plot_for(o, threads);
        plot_add_roofs(&p, list);
        print_ceilings(c);
        show_plot(&p);
        plot_release(&p);
    }
    json_decref(list);
}

static int measure(const options *o) {
    job_choice choice;
    status st = STATUS_INIT;
    int code = choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    /* The one-thread roofs belong to the picture unless threads were chosen. */
    if (!options_flag(o, OPTION_THREADS) && choice.threads[0] != 1) {
        choice.threads[1] = choice.threads[0];
        choice.threads[0] = 1;
        choice.thread_count = 2;
    }
    ceilings *c = base_calloc(1, sizeof *c);
    ceilings_init(c, choice.isa);
    bool ok = true;
    for (uint32_t i = 0; i < choice.thread_count && ok; i++)
        ok = ceilings_measure(c, choice.threads[i], choice.quick, &st);
    if (ok)
        show_ceilings(o, c, choice.threads[choice.thread_count - 1]);
    free(c);
    return ok ? EXIT_DONE : command_fail(&st);
}

/* ---- of a run ---- */

static json_t *read_run(const options *o, status *st) {
    const char *database = database_path(o);
    int64_t number;
    store *s = store_open_existing(database, st);
    if (!s && st->code == STATUS_OK)
        status_set(st, STATUS_NOT_FOUND, "there is no database %s", database);
    bool ok = s && store_find_run(s, o->arguments.items[0], &number, st);
    json_t *document = ok ? stored_run_document(s, number, st) : NULL;
    store_close(s);
    return document;
}

/* The threads that were asked for, else those that most of its results had. */
static bool threads_of(const options *o, const json_t *results, uint32_t *threads, status *st) {
    uint64_t wanted = plot_usual_threads(results);
    if (!options_number(o, OPTION_THREADS, 1, UINT32_MAX, &wanted, st))
        return false;
    *threads = (uint32_t)wanted;
    return true;
}

static void show_run(const options *o, const json_t *document, uint32_t threads) {
    const json_t *host = json_object_get(document, "host");
    plot p = plot_for(o, threads);
    arena memory;
    string_list filters = {0};
    arena_init(&memory);
    for (size_t i = 0; i < o->values[OPTION_FILTER].values.count; i++)
        options_split(o->values[OPTION_FILTER].values.items[i], &memory, &filters);
    plot_add_roofs(&p, json_object_get(document, "ceilings"));
    plot_add_points(&p, json_object_get(document, "results"), filters.items, filters.count);
    say(stdout, "run %s, %s, %s\n", json_string_value(json_object_get(document, "run")),
        json_string_value(json_object_get(host, "cpu")),
        json_string_value(json_object_get(host, "isa")));
    if (p.points.count + p.without_work == 0)
        say(stdout, "no timed result of this run has a place here\n");
    show_plot(&p);
    plot_release(&p);
    vec_release(&filters);
    arena_release(&memory);
}

static int show_stored(const options *o) {
    status st = STATUS_INIT;
    uint32_t threads;
    json_t *document = read_run(o, &st);
    if (!document)
        return command_fail(&st);
    int code = EXIT_DONE;
    if (!threads_of(o, json_object_get(document, "results"), &threads, &st))
        code = command_usage(o->command, "%s", st.message);
    else if (options_flag(o, OPTION_JSON))
        document_print(document, stdout);
    else
        show_run(o, document, threads);
    json_decref(document);
    return code;
}

int command_roofline(const options *o) {
    if (o->arguments.count > 1)
        return command_usage(o->command, "roofline takes one run");
    if (o->arguments.count) {
        int code = COMMAND_REFUSE(o, "is for measuring, and a run was measured already", OPTION_ISA,
                                  OPTION_QUICK);
        if (!code && options_flag(o, OPTION_JSON))
            code = COMMAND_REFUSE(o, "is for the picture: --json has the whole run", OPTION_FILTER,
                                  OPTION_THREADS);
        return code ? code : show_stored(o);
    }
    if (options_flag(o, OPTION_FILTER) || options_flag(o, OPTION_DB))
        return command_usage(o->command, "--filter and --db go with a run");
    return measure(o);
}
