/* log_history.c - tsr log --history: series, changes of their level, anchors, and a check of them.
 */
#include "cli/log_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/say.h"
#include "common/terminal.h"
#include "history/history.h"
#include "report/document.h"
#include "report/table.h"

enum { SPARKLINE_WIDTH = 40 };

static void put_changes(const history *h, const history_series *s, text *out) {
    for (size_t i = 1; i < s->points.count; i++) {
        const changepoint_segment *g = &s->points.segments[i];
        const history_run *run = &h->runs.items[s->where.items[g->begin]];
        text_show(out, "    %+.2f %% from run %s (%s%s%s), p %.3f\n",
                  100 * (g->median / g[-1].median - 1), run->id, run->started,
                  *run->commit ? ", tsr " : "", run->commit, g->p);
    }
}

static void put_series(const history *h, const history_series *s, int width, text *out) {
    text_show(out, "%-*s %5zu ", width, s->key, s->ns.count);
    if (s->points.count == 0) {
        text_append(out, "no time that can be used\n");
        return;
    }
    table_duration(history_rolling(s), out);
    text_append(out, ", sustained ");
    table_duration(history_sustained(s), out);
    if (s->tested)
        text_show(out, ", creep %+.2f %%  ", 100 * s->creep);
    else
        text_append(out, ", too short to judge  ");
    history_sparkline(s->ns.items, s->ns.count, SPARKLINE_WIDTH, terminal_unicode(), out);
    text_append_char(out, '\n');
    put_changes(h, s, out);
}

static void show(const history *h) {
    int width = 0;
    text out;
    text_init(&out);
    for (size_t i = 0; i < h->series.count; i++) {
        int length = (int)strlen(h->series.items[i].key);
        width = length > width ? length : width;
    }
    if (h->machine)
        text_show(&out, "%zu runs on %s\n", h->runs.count, h->machine);
    for (size_t i = 0; i < h->series.count; i++)
        put_series(h, &h->series.items[i], width, &out);
    say_text(stdout, out.data);
    text_release(&out);
}

/* 1: some kernel is slower than it has shown to be for long; 5: nothing could be judged. */
static int check(const history *h, double margin) {
    size_t tested = 0, worse = 0;
    for (size_t i = 0; i < h->series.count; i++) {
        const history_series *s = &h->series.items[i];
        tested += s->tested;
        if (!s->tested || s->creep <= margin)
            continue;
        worse++;
        say(stderr, "tsr: %s is %.2f %% slower than it was for long, above %.2f %%\n", s->key,
            100 * s->creep, 100 * margin);
    }
    say(stderr, "tsr: %zu of %zu series judged, %zu slower\n", tested, h->series.count, worse);
    if (worse)
        return EXIT_CHECK;
    return tested ? EXIT_DONE : EXIT_NO_VERDICT;
}

static int read_request(const options *o, history_request *request, double *margin) {
    status st = STATUS_INIT;
    uint64_t sustained = request->sustained;
    if (!options_percent(o, OPTION_LOG_MARGIN, 0, 100, margin, &st) ||
        !options_number(o, OPTION_SUSTAINED, 1, 1000, &sustained, &st))
        return command_usage(o->command, "%s", st.message);
    request->sustained = (size_t)sustained;
    request->since = options_text(o, OPTION_SINCE, NULL);
    request->filter = o->arguments.count ? o->arguments.items[0] : NULL;
    return EXIT_DONE;
}

int log_history(store *s, const options *o) {
    history_request request = history_defaults();
    double margin = 0.02;
    status st = STATUS_INIT;
    int code = read_request(o, &request, &margin);
    if (code)
        return code;
    history h;
    bool ok = history_read(s, &request, &h, &st);
    if (ok && request.filter && h.series.count == 0)
        ok = status_set(&st, STATUS_NOT_FOUND, "no timed result of %s is in the database",
                        request.filter);
    if (!ok)
        code = command_fail(&st);
    for (size_t i = 0; i < h.warnings.count && ok; i++)
        say(stderr, "tsr: %s\n", h.warnings.items[i]);
    if (ok && options_flag(o, OPTION_JSON)) {
        json_t *document = history_json(&h);
        document_print(document, stdout);
        json_decref(document);
    } else if (ok) {
        show(&h);
    }
    if (ok && options_flag(o, OPTION_CHECK))
        code = check(&h, margin);
    history_release(&h);
    return code;
}
