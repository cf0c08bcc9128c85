/* progress.h - the bar on stderr, only where that is a terminal. */
#ifndef TESSERA_HARNESS_REPORT_PROGRESS_H
#define TESSERA_HARNESS_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef struct progress {
    bool shown; /* stderr is a terminal */
    size_t total, done;
    uint64_t started_ns;
} progress;

void progress_start(progress *p, size_t total);
/* The bar with what is in hand and the seconds left (negative: not known yet), in at most
 * `columns`: a longer name is cut, and on a narrow terminal the bar goes. */
void progress_line(const progress *p, const char *in_hand, double left_s, int columns, text *out);
/* Draws a line of progress on stderr, cut to the terminal; for callers that have their own words.
 */
void progress_draw(text *line);
/* Draws the bar with what is in hand and the time left. */
void progress_show(const progress *p, const char *in_hand);
void progress_step(progress *p);
/* Takes the bar away, so that a line can be printed. */
void progress_clear(const progress *p);

#endif
