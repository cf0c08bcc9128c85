/* cmd_report.c - tsr report: runs, gates and levels on one HTML page. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/database.h"
#include "common/output.h"
#include "common/say.h"
#include "page/model.h"
#include "page/page.h"

static const char DEFAULT_OUTPUT[] = "tsr-report.html";

/* A word with a slash or a dot is a file of results, any other a run; as in tsr diff. */
static bool names_a_file(const char *word) {
    return strchr(word, '/') || strchr(word, '.');
}

static bool add_runs(report_model *m, store *s, const options *o, bool other_files, status *st) {
    static const char last[] = "last";
    const char *const *words = o->arguments.items;
    for (size_t i = 0; i < o->arguments.count; i++) {
        bool file = names_a_file(words[i]);
        if (!file && !s)
            return status_set(st, STATUS_NOT_FOUND, "there is no database %s with a run '%s'",
                              database_path(o), words[i]);
        if (!(file ? report_add_file(m, words[i], st) : report_add_run(m, s, words[i], st)))
            return false;
    }
    if (o->arguments.count || (!s && other_files))
        return true;
    if (!s)
        return status_set(st, STATUS_NOT_FOUND,
                          "there is no database %s; tsr bench makes one, or name a file of results",
                          database_path(o));
    int64_t newest;
    status none = STATUS_INIT;
    if (other_files && !store_find_run(s, last, &newest, &none))
        return true;
    return report_add_run(m, s, last, st);
}

static bool gather(report_model *m, store *s, const options *o, status *st) {
    const string_list *files = &o->values[OPTION_GATE].values;
    const string_list *steps = &o->values[OPTION_STEP_FILE].values;
    const string_list *wanted = &o->values[OPTION_INSPECT].values;
    lowering_request lowering = {wanted->items, wanted->count};
    bool ok = add_runs(m, s, o, files->count + steps->count > 0, st);
    bool any_run = ok && json_array_size(json_object_get(m->document, "runs"));
    ok = ok && (!any_run || !s || report_add_history(m, s, st));
    for (size_t i = 0; i < files->count && ok; i++)
        ok = report_add_gate_file(m, files->items[i], st);
    for (size_t i = 0; i < steps->count && ok; i++)
        ok = report_add_steps(m, steps->items[i], st);
    ok = ok && (!s || report_add_gates(m, s, st));
    return ok && (!any_run || report_add_lowering(m, &lowering, st));
}

static bool write_page(const report_model *m, const char *path, status *st) {
    text page;
    text_init(&page);
    page_render(m->document, &m->samples, &page);
    bool ok = output_write(path, page.data, page.length, st);
    if (ok)
        say(stderr, "%s: %zu runs, %zu results, %zu samples, %zu gates; %.1f MiB\n", path,
            json_array_size(json_object_get(m->document, "runs")), m->result_count,
            m->samples.count, json_array_size(json_object_get(m->document, "gates")),
            (double)page.length / 0x1p20);
    text_release(&page);
    return ok;
}

int command_report(const options *o) {
    status st = STATUS_INIT;
    report_model m;
    const char *path = options_text(o, OPTION_OUTPUT, DEFAULT_OUTPUT);
    if (!output_check(path, &st))
        return command_fail(&st);
    store *s = store_open_existing(database_path(o), &st);
    if (!s && st.code == STATUS_OK && options_flag(o, OPTION_DB))
        status_set(&st, STATUS_NOT_FOUND, "there is no database %s", database_path(o));
    if (st.code != STATUS_OK)
        return command_fail(&st);
    report_model_init(&m);
    bool ok = gather(&m, s, o, &st) && write_page(&m, path, &st);
    report_model_release(&m);
    store_close(s);
    return ok ? EXIT_DONE : command_fail(&st);
}
