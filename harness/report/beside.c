/* beside.c - see beside.h. */
#include "report/beside.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/map.h"
#include "case/backend.h"
#include "case/result.h"
#include "common/terminal.h"
#include "report/table.h"

enum { WIDTH_LEAST = 80, CASE_LEAST = 12, NAME_LEAST = 13, NAME_MOST = 24, CASE_MOST = 24 };

static double number(const json_t *result, const char *field, const char *of) {
    const json_t *value =
        json_object_get(json_object_get(json_object_get(result, "beside"), field), of);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

bool beside_has(const json_t *result) {
    return !isnan(number(result, "ratio", "median"));
}

bool beside_is_column(const char *name) {
    return backend_from_name(name) == BACKEND_COUNT;
}

void beside_legend(text *out) {
    text_append(out, "rows:    case, threads, ours and theirs with their shares of the ceiling, "
                     "and their\n         time / ours in turn: above 1 ours is faster\n");
}

/* A name that is too long ends in a full stop, where there is a bound. */
static void append_cut(const char *name, int width, bool bound, text *out) {
    bool cut = bound && (int)strlen(name) > width;
    text_show(out, "%-*.*s%s", cut ? width - 1 : width, cut ? width - 1 : (int)strlen(name), name,
              cut ? "." : "");
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
    text_printf(out, " %.2f (%.2f-%.2f)\n", number(result, "ratio", "median"),
                number(result, "ratio", "low"), number(result, "ratio", "high"));
}

/* ---- the end of a run ---- */

static void append_mean(const json_t *results, const char *name, text *out) {
    double sum = 0, least = INFINITY;
    size_t i, count = 0;
    const json_t *r, *worst = NULL;
    json_array_foreach(results, i, r) {
        double ratio = number(r, "ratio", "median");
        if (isnan(ratio) || strcmp(result_text(r, RESULT_BACKEND), name) != 0)
            continue;
        sum += log(ratio);
        count++;
        if (ratio < least) {
            least = ratio;
            worst = r;
        }
    }
    text_printf(out, "%-9s ", "beside");
    text_show(out, "%s: its time / ours %.2f by geometric mean of %zu, least %.2f (%s/%s)\n", name,
              exp(sum / (double)count), count, least, result_text(worst, RESULT_KERNEL),
              result_text(worst, RESULT_CASE));
}

void beside_means(const json_t *results, text *out) {
    map names;
    size_t i;
    const json_t *r;
    map_init(&names);
    json_array_foreach(results, i, r) {
        if (beside_has(r))
            map_put(&names, result_text(r, RESULT_BACKEND), 1);
    }
    for (i = 0; i < names.count; i++)
        append_mean(results, names.entries[i].key, out);
    map_release(&names);
}
