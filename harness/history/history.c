/* history.c - reads series from the database and judges them. */
#include "history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "report/origin.h"

history_request history_defaults(void) {
    return (history_request){.runs = 1000, .sustained = 5, .changes = changepoint_defaults()};
}

static void warn(history *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void warn(history *h, const char *format, ...) {
    va_list args;
    text words;
    text_init(&words);
    va_start(args, format);
    text_vprintf(&words, format, args);
    va_end(args);
    vec_push(&h->warnings, text_take(&words));
    text_release(&words);
}

/* ---- runs ---- */
typedef struct reader_state {
    history *h;
    const history_request *request;
    int64_t first; /* number of the oldest run that counts; 0: any */
    size_t elsewhere;
    map places; /* number of a run -> place in h->runs */
} reader_state;

static char *commit_of(const char *head_text) {
    json_t *head = json_loads(head_text, 0, NULL);
    char *copy = base_strdup(origin_commit(head));
    json_decref(head);
    return copy;
}

/* Newest first. */
static bool take_run(void *context, const store_run *run) {
    reader_state *r = context;
    history *h = r->h;
    if (run->number < r->first)
        return false;
    if (!h->machine)
        h->machine = base_strdup(r->request->machine ? r->request->machine : run->machine);
    if (strcmp(run->machine, h->machine) != 0) {
        r->elsewhere++;
        return true;
    }
    history_run kept = {run->number, base_strdup(run->id), base_strdup(run->started),
                        commit_of(run->head)};
    vec_push(&h->runs, kept);
    return h->runs.count < r->request->runs;
}

/* Oldest first; and clocks that went back, which make dates a lie and nothing else: the order is
 * that of the database. */
static void order_runs(reader_state *r) {
    history *h = r->h;
    for (size_t i = 0; i < h->runs.count / 2; i++) {
        history_run kept = h->runs.items[i];
        h->runs.items[i] = h->runs.items[h->runs.count - 1 - i];
        h->runs.items[h->runs.count - 1 - i] = kept;
    }
    for (size_t i = 0; i < h->runs.count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)h->runs.items[i].number);
        map_put(&r->places, number, (intptr_t)i);
        const history_run *run = &h->runs.items[i];
        if (i && strcmp(run->started, run[-1].started) < 0)
            warn(h,
                 "clock-jump: run %s was stored after %s and says that it began before it; the "
                 "order of the database holds",
                 run->id, run[-1].id);
    }
    if (r->elsewhere)
        warn(h, "other-machine: %zu runs on other machines are left out; this is of %s",
             r->elsewhere, h->machine);
}

/* ---- points ---- */
static bool is_wanted(const history_request *request, const char *key) {
    if (!request->filter)
        return true;
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "@"), key);
    if (text_glob(request->filter, name))
        return true;
    name[strcspn(name, "/")] = '\0';
    return text_glob(request->filter, name);
}

static history_series *series_of(history *h, const store_point *p) {
    intptr_t place;
    if (!map_get(&h->keys, p->key, &place)) {
        history_series made = {.key = base_strdup(p->key), .flops = p->flops, .bytes = p->bytes};
        place = (intptr_t)h->series.count;
        map_put(&h->keys, p->key, place);
        vec_push(&h->series, made);
    }
    return &h->series.items[place];
}

/* The newest run first. */
static bool take_point(void *context, const store_point *p) {
    reader_state *r = context;
    intptr_t run;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)p->run);
    if (!is_wanted(r->request, p->key) || !map_get(&r->places, number, &run))
        return true;
    history_series *s = series_of(r->h, p);
    if (s->flops != p->flops || s->bytes != p->bytes) {
        s->left_out++;
    } else if (!isfinite(p->median_ns) || p->median_ns <= 0) {
        s->left_out++;
        warn(r->h, "no-time: %s of run %s took %g ns, which cannot be; it is left out", p->key,
             r->h->runs.items[run].id, p->median_ns);
    } else {
        vec_push(&s->ns, p->median_ns);
        vec_push(&s->where, (size_t)run);
    }
    return true;
}

static void turn_round(history_series *s) {
    for (size_t i = 0, k = s->ns.count; i + 1 < k--; i++) {
        double ns = s->ns.items[i];
        size_t where = s->where.items[i];
        s->ns.items[i] = s->ns.items[k];
        s->where.items[i] = s->where.items[k];
        s->ns.items[k] = ns;
        s->where.items[k] = where;
    }
}

/* ---- anchors ---- */
static void judge(const history_request *request, history_series *s) {
    turn_round(s);
    if (!changepoints_find(s->ns.items, s->ns.count, &request->changes, &s->points))
        return;
    s->tested = s->ns.count >= 2 * request->changes.shortest;
    s->best = s->points.count - 1;
    for (size_t i = 0; i < s->points.count; i++) {
        const changepoint_segment *segment = &s->points.segments[i];
        if (segment->end - segment->begin >= request->sustained &&
            segment->median < s->points.segments[s->best].median)
            s->best = i;
    }
    s->creep = history_rolling(s) / history_sustained(s) - 1;
}

double history_sustained(const history_series *s) {
    return s->points.count ? s->points.segments[s->best].median : NAN;
}

double history_rolling(const history_series *s) {
    return s->points.count ? s->points.segments[s->points.count - 1].median : NAN;
}

bool history_read(store *s, const history_request *request, history *h, status *st) {
    *h = (history){0};
    map_init(&h->keys);
    reader_state r = {.h = h, .request = request};
    map_init(&r.places);
    bool ok = !s || ((!request->since || store_find_run(s, request->since, &r.first, st)) &&
                     store_each_run(s, take_run, &r, st));
    order_runs(&r);
    if (ok && h->runs.count) {
        store_past past = {h->machine, INT64_MAX, request->runs};
        ok = store_each_point(s, &past, take_point, &r, st);
    }
    map_release(&r.places);
    for (size_t i = 0; i < h->series.count && ok; i++)
        judge(request, &h->series.items[i]);
    return ok;
}

void history_release(history *h) {
    for (size_t i = 0; i < h->runs.count; i++) {
        free(h->runs.items[i].id);
        free(h->runs.items[i].started);
        free(h->runs.items[i].commit);
    }
    for (size_t i = 0; i < h->series.count; i++) {
        free(h->series.items[i].key);
        vec_release(&h->series.items[i].ns);
        vec_release(&h->series.items[i].where);
        changepoints_release(&h->series.items[i].points);
    }
    for (size_t i = 0; i < h->warnings.count; i++)
        free(h->warnings.items[i]);
    vec_release(&h->runs);
    vec_release(&h->series);
    vec_release(&h->warnings);
    map_release(&h->keys);
    free(h->machine);
    *h = (history){0};
}
