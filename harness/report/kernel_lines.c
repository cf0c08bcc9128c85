/* kernel_lines.c - folds the results of a kernel into a line, and unfolds what matters. */
#include "report/kernel_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "common/terminal.h"
#include "job/job.h"
#include "job/result.h"
#include "report/beside.h"
#include "report/table.h"

enum {
    NOISY_LISTED = 3,
    CHANGED_LISTED = 3,
    SENTINELS_LISTED = 3,
    NAME_LEAST = 12,
    SHARE_WIDTH = 24,
    TIME_WIDTH = 24
};

/* A share of the median: an interval that is wider is noise, a time further away a change. */
static const double noisy_share = 0.5, changed_share = 0.1;
/* Shorter times vary that much from one process to the next by themselves. */
static const double telling_ns = 10000;

typedef enum mark { MARK_NONE, MARK_BITS, MARK_BOUND, MARK_OTHER, MARK_FAILED, MARK_COUNT } mark;
static const struct {
    const char *ascii, *unicode, *colour, *meaning;
} marks[MARK_COUNT] = {[MARK_NONE] = {" ", " ", "", ""},
                       [MARK_BITS] = {"+", "✓", TABLE_GREEN, "same bits"},
                       [MARK_BOUND] = {"~", "≈", TABLE_GREEN, "within its error bound"},
                       [MARK_OTHER] = {"-", "–", TABLE_YELLOW, "not run or not judged"},
                       [MARK_FAILED] = {"x", "✗", TABLE_RED, "failed"}};

/* ---- what is to come ---- */

static int column_of(const kernel_lines *k, const char *backend, const char *profile) {
    for (int i = 0; i < k->column_count; i++)
        if (strcmp(k->columns[i].backend, backend) == 0 &&
            strcmp(k->columns[i].profile, profile) == 0)
            return i;
    return -1;
}

void kernel_lines_expect(kernel_lines *k, const char *kernel, const char *backend,
                         const char *profile) {
    int length = (int)strlen(kernel);
    k->name_width = length > k->name_width ? length : k->name_width;
    if (column_of(k, backend, profile) < 0 && k->column_count < KERNEL_LINES_COLUMNS)
        k->columns[k->column_count++] = (struct kernel_column){backend, profile};
}

/* Parts that fit beside the name: the marks and the count always, then shares, then the time. */
typedef struct layout {
    int name;
    bool shares, time;
} layout;

static layout layout_of(const kernel_lines *k) {
    int left = k->width - 2 - (k->column_count > 5 ? k->column_count : 5) - 11;
    int wanted = k->name_width < left ? k->name_width : left;
    layout l = {.name = wanted > NAME_LEAST ? wanted : NAME_LEAST};
    l.shares = left - l.name >= SHARE_WIDTH || left - NAME_LEAST >= SHARE_WIDTH + TIME_WIDTH;
    l.time = left - NAME_LEAST >= SHARE_WIDTH + TIME_WIDTH;
    int room = left - (l.shares ? SHARE_WIDTH : 0) - (l.time ? TIME_WIDTH : 0);
    l.name = l.name < room ? l.name : room > NAME_LEAST ? room : NAME_LEAST;
    return l;
}

static void coloured(const kernel_lines *k, const char *colour, const char *word, text *out) {
    bool wanted = k->colour && *colour;
    text_append(out, wanted ? colour : "");
    text_append(out, word);
    text_append(out, wanted ? TABLE_PLAIN : "");
}

static const char *glyph(const kernel_lines *k, mark m) {
    return k->unicode ? marks[m].unicode : marks[m].ascii;
}

static bool has_implementations(const kernel_lines *k) {
    bool found = false;
    for (int i = 0; i < k->column_count; i++)
        found |= beside_is_column(k->columns[i].backend);
    return found;
}

void kernel_lines_header(const kernel_lines *k, text *out) {
    layout l = layout_of(k);
    text_append(out, "columns:");
    for (int i = 0; i < k->column_count; i++)
        text_show(out, "%s %d %s %s", i ? "," : "", i + 1, k->columns[i].backend,
                  k->columns[i].profile);
    text_append(out, "\nmarks:  ");
    for (int m = MARK_BITS; m < MARK_COUNT; m++)
        text_printf(out, "%s%s %s", m > MARK_BITS ? ", " : "", glyph(k, (mark)m), marks[m].meaning);
    text_append_char(out, '\n');
    if (has_implementations(k))
        beside_legend(out);
    text_append_char(out, '\n');
    text_append(out, k->colour ? TABLE_DIM : "");
    text_printf(out, "%-*s  ", l.name, "kernel");
    for (int i = 0; i < k->column_count; i++)
        text_printf(out, "%d", (i + 1) % 10);
    text_printf(out, "%*s%10s", k->column_count < 5 ? 5 - k->column_count : 0, "", "hold");
    if (l.shares)
        text_append(out, l.time ? "  of the ceiling          largest case" : "  of the ceiling");
    text_append(out, k->colour ? TABLE_PLAIN : "");
    text_append_char(out, '\n');
}

/* ---- one kernel ---- */

static mark mark_of(const json_t *result) {
    job_outcome outcome = result_outcome(result);
    if (outcome_is_failure(outcome))
        return MARK_FAILED;
    if (outcome != OUTCOME_OK)
        return MARK_OTHER;
    const char *against = result_string(result, RESULT_AGAINST);
    bool judged = against && strcmp(against, "none") != 0;
    if (result_flag(result, RESULT_BITWISE))
        return MARK_BITS;
    return judged ? MARK_BOUND : MARK_OTHER;
}

static void append_marks(const kernel_lines *k, text *out) {
    mark worst[KERNEL_LINES_COLUMNS] = {MARK_NONE};
    for (size_t i = 0; i < k->results.count; i++) {
        const json_t *r = k->results.items[i].result;
        int at = column_of(k, result_text(r, RESULT_BACKEND), result_text(r, RESULT_PROFILE));
        mark m = mark_of(r);
        if (at >= 0 && m > worst[at])
            worst[at] = m;
    }
    for (int i = 0; i < k->column_count; i++)
        coloured(k, marks[worst[i]].colour, glyph(k, worst[i]), out);
    text_printf(out, "%*s", k->column_count < 5 ? 5 - k->column_count : 0, "");
}

static void append_count(const kernel_lines *k, text *out) {
    char words[32];
    size_t held = 0;
    for (size_t i = 0; i < k->results.count; i++)
        held += result_outcome(k->results.items[i].result) == OUTCOME_OK;
    snprintf(words, sizeof words, "%zu/%zu", held, k->results.count);
    text_printf(out, "%10s", words);
}

/* "12-91 % memory.L2": the least and the best, and what bounds the best. */
static void append_shares(const kernel_lines *k, text *out) {
    double least = INFINITY, best = -1;
    char resource[TABLE_RESOURCE_BYTES] = "", words[128] = "";
    for (size_t i = 0; i < k->results.count; i++) {
        double share = result_number(k->results.items[i].result, RESULT_FRACTION);
        if (isnan(share))
            continue;
        least = fmin(least, share);
        if (share <= best)
            continue;
        best = share;
        table_resource(k->results.items[i].result, resource);
    }
    if (best >= 0)
        snprintf(words, sizeof words, "%.0f-%.0f %% %s", 100 * least, 100 * best, resource);
    text_printf(out, "  %-*.*s", SHARE_WIDTH - 2,
                k->width == TERMINAL_UNBOUNDED ? (int)sizeof words : SHARE_WIDTH - 2, words);
}

static double work_of(const json_t *result) {
    return result_number(result, RESULT_FLOPS) + result_number(result, RESULT_BYTES);
}

static void append_interval(const json_t *result, text *out) {
    double median = result_number(result, RESULT_MEDIAN), low = result_number(result, RESULT_LOW),
           high = result_number(result, RESULT_HIGH);
    table_duration(median, out);
    text_printf(out, " -%.0f+%.0f %%", 100 * (median - low) / median,
                100 * (high - median) / median);
}

static void append_largest(const kernel_lines *k, text *out) {
    const json_t *largest = NULL;
    for (size_t i = 0; i < k->results.count; i++) {
        const json_t *r = k->results.items[i].result;
        if (!isnan(result_number(r, RESULT_MEDIAN)) && (!largest || work_of(r) > work_of(largest)))
            largest = r;
    }
    if (!largest)
        return;
    text_append(out, "  ");
    append_interval(largest, out);
}

/* ---- what is unfolded ---- */

static void append_key(const json_t *result, text *out) {
    text_show(out, "    %s@%s,%s,%" PRId64, result_text(result, RESULT_CASE),
              result_text(result, RESULT_BACKEND), result_text(result, RESULT_PROFILE),
              result_whole(result, RESULT_THREADS));
    result_ranks(result, out);
    text_append(out, "  ");
}

static void append_failure(const kernel_lines *k, const json_t *result, text *out) {
    const char *why = result_text(result, RESULT_WHY), *pack = result_text(result, RESULT_PACK);
    append_key(result, out);
    coloured(k, TABLE_RED, result_text(result, RESULT_STATUS), out);
    if (*why) {
        text_append(out, ": ");
        text_show_lines(out, "      ", why);
    }
    if (*pack) {
        text_append(out, "\n      ");
        result_replay(result, out);
    }
    text_append_char(out, '\n');
}

static bool is_noisy(const struct kernel_kept *r) {
    double median = result_number(r->result, RESULT_MEDIAN);
    return median >= telling_ns &&
           result_number(r->result, RESULT_HIGH) - result_number(r->result, RESULT_LOW) >
               noisy_share * median;
}

static bool is_changed(const struct kernel_kept *r) {
    double median = result_number(r->result, RESULT_MEDIAN), before = r->previous_ns;
    return median >= telling_ns && before > 0 && fabs(median / before - 1) > changed_share &&
           (before < result_number(r->result, RESULT_LOW) ||
            before > result_number(r->result, RESULT_HIGH)) &&
           !is_noisy(r);
}

static void append_noisy(const kernel_lines *k, const struct kernel_kept *r, text *out) {
    append_key(r->result, out);
    coloured(k, TABLE_YELLOW, "noisy", out);
    text_append(out, ": ");
    append_interval(r->result, out);
    text_append_char(out, '\n');
}

static void append_changed(const kernel_lines *k, const struct kernel_kept *r, text *out) {
    double median = result_number(r->result, RESULT_MEDIAN);
    bool slower = median > r->previous_ns;
    append_key(r->result, out);
    coloured(k, slower ? TABLE_YELLOW : TABLE_GREEN, slower ? "slower" : "faster", out);
    text_printf(out, " %+.0f %%: ", 100 * (median / r->previous_ns - 1));
    table_duration(median, out);
    text_append(out, ", was ");
    table_duration(r->previous_ns, out);
    text_append_char(out, '\n');
}

static bool has_cold(const struct kernel_kept *r) {
    return json_is_object(result_get(r->result, RESULT_COLD));
}

static void append_cold(const kernel_lines *k, const struct kernel_kept *r, text *out) {
    double median = result_number(r->result, RESULT_MEDIAN),
           cold = json_number_value(json_object_get(result_get(r->result, RESULT_COLD), "median"));
    (void)k;
    append_key(r->result, out);
    table_duration(median, out);
    text_append(out, ", cold ");
    table_duration(cold, out);
    text_printf(out, " (%.2fx)\n", cold / median);
}

static const char *sentinel_of(const struct kernel_kept *r) {
    return json_text_at(result_get(r->result, RESULT_SENTINELS), "description");
}

/* A failure has it in its reason. */
static bool has_sentinel(const struct kernel_kept *r) {
    const char *why = result_text(r->result, RESULT_WHY);
    return *sentinel_of(r) && strncmp(why, "sentinels: ", 11) != 0;
}

static void append_sentinel(const kernel_lines *k, const struct kernel_kept *r, text *out) {
    append_key(r->result, out);
    coloured(k, TABLE_YELLOW, "not finite", out);
    text_append(out, ": ");
    text_show_lines(out, "      ", sentinel_of(r));
    text_append_char(out, '\n');
}

static void unfold(const kernel_lines *k, bool (*belongs)(const struct kernel_kept *),
                   void (*append)(const kernel_lines *, const struct kernel_kept *, text *),
                   const char *word, size_t most, text *out) {
    size_t found = 0;
    for (size_t i = 0; i < k->results.count; i++)
        if (belongs(&k->results.items[i]) && found++ < most)
            append(k, &k->results.items[i], out);
    if (found > most)
        text_printf(out, "    and %zu more %s (-v shows them)\n", found - most, word);
}

/* Our own result of the case that an implementation was timed in turn with; or NULL. */
static const json_t *ours_of(const kernel_lines *k, const json_t *theirs) {
    const json_t *beside = result_get(theirs, RESULT_BESIDE);
    const char *name = json_text_at(beside, "backend"), *profile = json_text_at(beside, "profile");
    for (size_t i = 0; i < k->results.count; i++) {
        const json_t *r = k->results.items[i].result;
        if (strcmp(result_text(r, RESULT_BACKEND), name) == 0 &&
            strcmp(result_text(r, RESULT_PROFILE), profile) == 0 &&
            strcmp(result_text(r, RESULT_CASE), result_text(theirs, RESULT_CASE)) == 0 &&
            result_whole(r, RESULT_THREADS) == result_whole(theirs, RESULT_THREADS))
            return r;
    }
    return NULL;
}

static void append_beside(const kernel_lines *k, text *out) {
    for (size_t i = 0; i < k->results.count; i++) {
        const json_t *r = k->results.items[i].result;
        if (beside_has(r))
            beside_row(r, ours_of(k, r), k->width, out);
    }
}

/* The name in its column, and what parts it from the next. */
static void append_name(const kernel_lines *k, int width, text *out) {
    table_cut(k->kernel, width, out);
    text_append(out, "  ");
}

void kernel_lines_end(kernel_lines *k, text *out) {
    layout l = layout_of(k);
    if (!k->results.count)
        return;
    append_name(k, l.name, out);
    append_marks(k, out);
    append_count(k, out);
    if (l.shares)
        append_shares(k, out);
    if (l.time)
        append_largest(k, out);
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_append_char(out, '\n');
    append_beside(k, out);
    for (size_t i = 0; i < k->results.count; i++)
        if (mark_of(k->results.items[i].result) == MARK_FAILED)
            append_failure(k, k->results.items[i].result, out);
    unfold(k, has_sentinel, append_sentinel, "not finite", SENTINELS_LISTED, out);
    unfold(k, has_cold, append_cold, "cold", SIZE_MAX, out);
    unfold(k, is_changed, append_changed, "changed", CHANGED_LISTED, out);
    unfold(k, is_noisy, append_noisy, "noisy", NOISY_LISTED, out);
    for (size_t i = 0; i < k->results.count; i++)
        json_decref(k->results.items[i].result);
    k->results.count = 0;
}

void kernel_lines_add(kernel_lines *k, json_t *result, double previous_ns, text *out) {
    const char *kernel = result_text(result, RESULT_KERNEL);
    struct kernel_kept kept = {json_incref(result), previous_ns};
    if (strcmp(kernel, k->kernel) != 0)
        kernel_lines_end(k, out);
    snprintf(k->kernel, sizeof k->kernel, "%s", kernel);
    vec_push(&k->results, kept);
}

void kernel_lines_release(kernel_lines *k) {
    for (size_t i = 0; i < k->results.count; i++)
        json_decref(k->results.items[i].result);
    vec_release(&k->results);
}
