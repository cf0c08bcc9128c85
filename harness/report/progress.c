/* progress.c - draws with carriage returns; nothing at all where stderr is no terminal. */
#include "report/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/escape.h"
#include "common/say.h"
#include "common/terminal.h"
#include "common/timer.h"

enum { BAR_CELLS = 24, BAR_LEAST_COLUMNS = 60 };

void progress_start(progress *p, size_t total) {
    *p = (progress){
        .shown = isatty(STDERR_FILENO) == 1, .total = total, .started_ns = timer_now_ns()};
}

static void append_bar(const progress *p, text *out) {
    size_t filled = p->total ? p->done * BAR_CELLS / p->total : 0;
    text_append_char(out, '[');
    for (size_t i = 0; i < BAR_CELLS; i++)
        text_append_char(out, i < filled ? '#' : '.');
    text_append(out, "] ");
}

static void cut(text *out, size_t start, int columns) {
    if (out->length - start <= (size_t)columns)
        return;
    out->length = start + text_utf8_cut(out->data + start, (size_t)columns);
    out->data[out->length] = '\0';
}

void progress_line(const progress *p, const char *in_hand, double left_s, int columns, text *out) {
    size_t start = out->length;
    if (columns >= BAR_LEAST_COLUMNS)
        append_bar(p, out);
    text_printf(out, "%zu/%zu", p->done, p->total);
    if (left_s >= 0)
        text_printf(out, " %.0f s left", left_s);
    text_show(out, "  %s", in_hand);
    cut(out, start, columns);
}

void progress_draw(text *line) {
    /* A full last column makes some terminals begin the next line. */
    cut(line, 0, terminal_width(stderr) - 1);
    say(stderr, "\r\033[K%s", line->data);
    fflush(stderr);
}

void progress_show(const progress *p, const char *in_hand) {
    if (!p->shown)
        return;
    double passed_s = (double)(timer_now_ns() - p->started_ns) * 1e-9,
           left_s = p->done ? passed_s / (double)p->done * (double)(p->total - p->done) : -1;
    text line;
    text_init(&line);
    progress_line(p, in_hand, left_s, terminal_width(stderr) - 1, &line);
    progress_draw(&line);
    text_release(&line);
}

void progress_step(progress *p) {
    p->done++;
}

void progress_clear(const progress *p) {
    if (p->shown)
        say(stderr, "\r\033[K");
}
