/* history.h - the past of results: series of comparable times, where their level changed, and two
 * anchors.
 *
 * A series is what a result of one key (docs/database.md) took in run after run on one machine, for
 * as many operations and bytes as in the newest run that has it; results that were not ok have no
 * place in it. The rolling anchor is the median of the latest segment (history/changepoints.h):
 * what the next run is likely to show. The sustained anchor is the least median of any segment of
 * at least `sustained` runs since an accepted change: what the kernel has shown that it can do.
 * Where every step is small, the rolling anchor follows them; the distance between the two
 * (`creep`) grows. */
#ifndef TESSERA_HARNESS_HISTORY_HISTORY_H
#define TESSERA_HARNESS_HISTORY_HISTORY_H

#include <jansson.h>

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "statistics/changepoints.h"
#include "store/store.h"

typedef struct history_run {
    int64_t number;
    char *id, *started, *commit; /* owned; commit may be "" */
} history_run;

typedef struct history_series {
    char *key; /* owned */
    int64_t flops, bytes;
    VEC(double) ns;    /* oldest first */
    VEC(size_t) where; /* indices into history.runs, ascending */
    size_t left_out;   /* times that are none, and results of other work */
    changepoints points;
    size_t best;  /* the segment of the sustained anchor */
    bool tested;  /* false: fewer runs than two segments have, so nothing can be said of changes */
    double creep; /* rolling / sustained - 1; 0 where the latest segment is the best */
} history_series;

typedef struct history_request {
    const char *machine; /* NULL: that of the newest run */
    const char *filter;  /* glob over KERNEL or KERNEL/CASE; NULL: all */
    const char *since;   /* a run with a change that was accepted: what was before it is not looked
                            at; NULL: none */
    uint32_t runs;       /* at most, the newest */
    size_t sustained;    /* runs */
    changepoint_options changes;
} history_request;
history_request history_defaults(void);

typedef struct history {
    char *machine;              /* owned; NULL: the database holds no run */
    VEC(history_run) runs;      /* oldest first */
    VEC(history_series) series; /* in the order of the newest run that has them */
    VEC(char *) warnings;       /* owned; each begins with its name and a colon */
    map keys;                   /* key -> index into series */
} history;

/* history_release in any case. `s` may be NULL: no database, no series. */
bool history_read(store *s, const history_request *request, history *h, status *st);
void history_release(history *h);

/* The anchors of one series, in ns. */
double history_sustained(const history_series *s);
double history_rolling(const history_series *s);
/* {"schema": "tsr.history/1", ...}; owned. */
json_t *history_json(const history *h);

/* The values' course in `width` characters at most, on a logarithmic scale; several values share a
 * character by their median. Blocks of Unicode, or ASCII. */
void history_sparkline(const double *values, size_t count, size_t width, bool unicode, text *out);

#endif
