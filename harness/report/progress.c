/* progress.c - draws with carriage returns; nothing at all where stderr is no terminal. */
#include "report/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "common/say.h"
#include "common/timer.h"

enum { BAR_CELLS = 24 };

void progress_start(progress *p, size_t total) {
    *p = (progress){
        .shown = isatty(STDERR_FILENO) == 1, .total = total, .started_ns = timer_now_ns()};
}

void progress_show(const progress *p, const char *in_hand) {
    if (!p->shown)
        return;
    char bar[BAR_CELLS + 1];
    size_t filled = p->total ? p->done * BAR_CELLS / p->total : 0;
    for (size_t i = 0; i < BAR_CELLS; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    say(stderr, "\r\033[K[%s] %zu/%zu", bar, p->done, p->total);
    if (p->done) {
        double passed_s = (double)(timer_now_ns() - p->started_ns) * 1e-9;
        double left_s = passed_s / (double)p->done * (double)(p->total - p->done);
        say(stderr, " %.0f s left", left_s);
    }
    say(stderr, "  %.60s", in_hand);
    fflush(stderr);
}

void progress_step(progress *p) {
    p->done++;
}

void progress_clear(const progress *p) {
    if (p->shown)
        say(stderr, "\r\033[K");
}
