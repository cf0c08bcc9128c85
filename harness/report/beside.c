/* beside.c - see beside.h. */
#include "report/beside.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/map.h"
#include "case/backend.h"
#include "common/terminal.h"
#include "job/job.h"
#include "job/result.h"
#include "report/table.h"

enum { WIDTH_LEAST = 80, CASE_LEAST = 12, NAME_LEAST = 12, NAME_MOST = 24, CASE_MOST = 24 };

static double number(const json_t *result, const char *field, const char *of) {
    const json_t *value =
        json_object_get(json_object_get(result_get(result, RESULT_BESIDE), field), of);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

bool beside_has(const json_t *result) {
    return !isnan(number(result, "ratio", "median"));
}

bool beside_is_column(const char *name) {
    return backend_from_name(name) == BACKEND_COUNT;
}

void beside_legend(text *out) {
    text_append(out,
                "rows:    case, threads, ours and theirs with their shares of the ceiling,\n"
                "         and their time / ours in turn: above 1 ours is faster, = may be equal\n");
}

static void append_cut(const char *name, int width, bool bound, text *out) {
    if (bound)
        table_cut(name, width, out);
    else
        text_show(out, "%-*s", width, name);
}

static void append_time(double ns, double share, text *out) {
    text time;
    char words[16] = "";
    text_init(&time);
    table_duration(ns, &time);
    if (!isnan(share))
        snprintf(words, sizeof words, "%.0f %%", 100 * share);
    text_printf(out, " %8s %5s", time.data, words);
    text_release(&time);
}

void beside_row(const json_t *result, const json_t *ours, int width, text *out) {
    int spare = width > WIDTH_LEAST ? (width - WIDTH_LEAST) / 2 : 0;
    int name = NAME_LEAST + spare, where = CASE_LEAST + spare;
    bool bound = width < TERMINAL_UNBOUNDED;
    text_append(out, "    ");
    append_cut(result_text(result, RESULT_CASE), where < CASE_MOST ? where : CASE_MOST, bound, out);
    text_printf(out, "%2" PRId64, result_whole(result, RESULT_THREADS));
    append_time(number(result, "ours_ns", "median"),
                ours ? result_number(ours, RESULT_FRACTION) : NAN, out);
    text_append(out, "  ");
    append_cut(result_text(result, RESULT_BACKEND), name < NAME_MOST ? name : NAME_MOST, bound,
               out);
    append_time(number(result, "time_ns", "median"), result_number(result, RESULT_FRACTION), out);
    const double low = number(result, "ratio", "low"), high = number(result, "ratio", "high");
    text_printf(out, " %c%.2f (%.2f-%.2f)\n", low <= 1 && high >= 1 ? '=' : ' ',
                number(result, "ratio", "median"), low, high);
}

/* ---- the end of a run ---- */

/* With its interval of 95 %. */
typedef struct ratio {
    double median, low, high;
} ratio;

static bool holds_one(const ratio *r) {
    return r->low <= 1 && r->high >= 1;
}

static ratio beside_ratio(const json_t *result) {
    return (ratio){number(result, "ratio", "median"), number(result, "ratio", "low"),
                   number(result, "ratio", "high")};
}

/* A geometric mean: intervals of cases, which have nothing to do with each other, add up as squares
 * of logarithms. */
typedef struct mean {
    double log, below, above;
    size_t count;
} mean;

static double square(double x) {
    return x * x;
}

static void mean_add(mean *m, const ratio *r) {
    m->log += log(r->median);
    m->below += square(log(r->median / r->low));
    m->above += square(log(r->high / r->median));
    m->count++;
}

static ratio mean_of(const mean *m) {
    double n = (double)m->count, median = exp(m->log / n);
    return (ratio){median, median * exp(-sqrt(m->below) / n), median * exp(sqrt(m->above) / n)};
}

static void append_mean(const json_t *results, const char *name, text *out) {
    mean sum = {0};
    double least = INFINITY;
    size_t i;
    const json_t *r, *worst = NULL;
    json_array_foreach(results, i, r) {
        const ratio one = beside_ratio(r);
        if (isnan(one.median) || strcmp(result_text(r, RESULT_BACKEND), name) != 0)
            continue;
        mean_add(&sum, &one);
        if (one.median < least) {
            least = one.median;
            worst = r;
        }
    }
    ratio all = mean_of(&sum);
    text_printf(out, "%-9s ", "beside");
    text_show(
        out,
        "%s: its time / ours %.2f (%.2f to %.2f%s) by geometric mean of %zu, least %.2f (%s/%s)\n",
        name, all.median, all.low, all.high, holds_one(&all) ? ": no difference shown" : "",
        sum.count, least, result_text(worst, RESULT_KERNEL), result_text(worst, RESULT_CASE));
}

static bool is_same_case(const json_t *a, const json_t *b) {
    return strcmp(result_text(a, RESULT_KERNEL), result_text(b, RESULT_KERNEL)) == 0 &&
           strcmp(result_text(a, RESULT_CASE), result_text(b, RESULT_CASE)) == 0 &&
           strcmp(result_text(a, RESULT_PROFILE), result_text(b, RESULT_PROFILE)) == 0 &&
           result_whole(a, RESULT_THREADS) == result_whole(b, RESULT_THREADS);
}

/* Compares what each took beside ours, where both were timed so: what slows the machine meets all.
 */
static ratio of_two(const json_t *a, const json_t *b) {
    const bool turns = beside_has(a) && beside_has(b);
    const ratio x = turns ? beside_ratio(a)
                          : (ratio){result_number(a, RESULT_MEDIAN), result_number(a, RESULT_LOW),
                                    result_number(a, RESULT_HIGH)},
                y = turns ? beside_ratio(b)
                          : (ratio){result_number(b, RESULT_MEDIAN), result_number(b, RESULT_LOW),
                                    result_number(b, RESULT_HIGH)};
    const double median = y.median / x.median,
                 below = hypot(log(y.median / y.low), log(x.high / x.median)),
                 above = hypot(log(y.high / y.median), log(x.median / x.low));
    return (ratio){median, median * exp(-below), median * exp(above)};
}

static mean compare(const json_t *results, const char *base, const char *name) {
    mean sum = {0};
    size_t i, k;
    const json_t *a, *b;
    json_array_foreach(results, i, a) {
        if (strcmp(result_text(a, RESULT_BACKEND), base) != 0)
            continue;
        json_array_foreach(results, k, b) {
            if (strcmp(result_text(b, RESULT_BACKEND), name) != 0 || !is_same_case(a, b))
                continue;
            const ratio r = of_two(a, b);
            if (isfinite(r.median) && r.median > 0)
                mean_add(&sum, &r);
        }
    }
    return sum;
}

static void append_comparison(const char *base, const char *name, const mean *m, text *out) {
    ratio r = mean_of(m);
    const bool faster = r.median < 1;
    text_printf(out, "%-9s ", "compared");
    if (holds_one(&r)) {
        text_show(out, "no difference shown between %s and %s: %.2fx (%.2f to %.2f)", name, base,
                  r.median, r.low, r.high);
    } else {
        if (faster)
            r = (ratio){1 / r.median, 1 / r.high, 1 / r.low};
        text_show(out, "%s is %.2fx (%.2f to %.2f) %s than %s", name, r.median, r.low, r.high,
                  faster ? "faster" : "slower", base);
    }
    text_printf(out, ", geometric mean of %zu case%s\n", m->count, m->count == 1 ? "" : "s");
}

void beside_means(const json_t *results, text *out) {
    map names, others;
    size_t i;
    const json_t *r;
    map_init(&names);
    map_init(&others);
    json_array_foreach(results, i, r) {
        if (beside_has(r))
            map_put(&names, result_text(r, RESULT_BACKEND), 1);
        if (result_get(r, RESULT_IMPLEMENTATION))
            map_put(&others, result_text(r, RESULT_BACKEND), 1);
    }
    for (i = 0; i < names.count; i++)
        append_mean(results, names.entries[i].key, out);
    for (i = 1; i < others.count; i++) {
        mean m = compare(results, others.entries[0].key, others.entries[i].key);
        if (m.count)
            append_comparison(others.entries[0].key, others.entries[i].key, &m, out);
    }
    map_release(&names);
    map_release(&others);
}

/* ---- what was not tried ---- */

/* True where all that others computed holds; `shapes` receives how many cases. */
static bool all_hold(const json_t *results, size_t *shapes) {
    map cases;
    size_t i;
    const json_t *r;
    bool holds = true;
    map_init(&cases);
    json_array_foreach(results, i, r) {
        if (!result_get(r, RESULT_IMPLEMENTATION))
            continue;
        job_outcome outcome = result_outcome(r);
        text name;
        text_init(&name);
        text_printf(&name, "%s/%s", result_text(r, RESULT_KERNEL), result_text(r, RESULT_CASE));
        if (outcome == OUTCOME_OK)
            map_put(&cases, name.data, 1);
        holds &=
            outcome == OUTCOME_OK || outcome == OUTCOME_UNSUPPORTED || outcome == OUTCOME_SKIPPED;
        text_release(&name);
    }
    *shapes = cases.count;
    map_release(&cases);
    return holds;
}

void beside_untried(const json_t *results, const char *command, text *out) {
    size_t shapes;
    if (command && all_hold(results, &shapes) && shapes)
        text_show(out, "%zu case%s of the corpus hold%s; other shapes are drawn by:\n%s\n", shapes,
                  shapes == 1 ? "" : "s", shapes == 1 ? "s" : "", command);
}
