/* record.c - exhausted.json by jansson, hard.txt line by line. */
#include "math/check/record.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/file.h"

enum { FILE_LIMIT = 1 << 20 };

static bool path_in(const char *root, const char *name, char *out, size_t size, status *st) {
    int length = snprintf(out, size, "%s/%s", root, name);
    return (length > 0 && (size_t)length < size) ||
           status_set(st, STATUS_INVALID, "the path %s is too long", root);
}

/* ---- exhausted.json ---- */

static json_t *load(const char *path, status *st) {
    json_error_t error;
    if (!file_exists(path))
        return json_array();
    json_t *all = json_load_file(path, 0, &error);
    if (!json_is_array(all)) {
        status_set(st, STATUS_CORRUPT, "%s:%d: %s", path, error.line, error.text);
        json_decref(all);
        return NULL;
    }
    return all;
}

static json_t *find(json_t *all, const char *function) {
    size_t i;
    json_t *entry;
    json_array_foreach(all, i, entry) {
        const char *name = json_string_value(json_object_get(entry, "function"));
        if (name && strcmp(name, function) == 0)
            return entry;
    }
    return NULL;
}

static const char *string_in(const json_t *entry, const char *key) {
    const char *value = json_string_value(json_object_get(entry, key));
    return value ? value : "?";
}

static long long number_in(const json_t *entry, const char *key) {
    return json_integer_value(json_object_get(entry, key));
}

static json_t *entry_of(const record *r) {
    const tally *t = r->found;
    char ulp[32], at[16], excess[32];
    snprintf(ulp, sizeof ulp, "%.6f", t->ulp);
    snprintf(at, sizeof at, "0x%08" PRIx64, t->at);
    snprintf(excess, sizeof excess, "%.4f", t->excess);
    return json_pack("{ss, sI, ss, sI, sI, ss, ss, sI, sI, sI, ss, ss, ss}", "function",
                     r->function, "inputs", (json_int_t)t->inputs, "levels", r->levels, "differing",
                     (json_int_t)t->differing, "wrong", (json_int_t)t->wrong, "ulp", ulp, "at", at,
                     "misrounded", (json_int_t)t->misrounded, "asked", (json_int_t)t->asked,
                     "verified", (json_int_t)t->verified, "excess", excess, "date", r->date, "code",
                     r->code);
}

/* One line an entry, so that a change of one function is a change of one line. */
static bool write_entries(const char *path, const char *const *names, uint32_t count, json_t *all,
                          const record *r, status *st) {
    text out;
    text_init(&out);
    for (uint32_t i = 0; i < count; i++) {
        bool mine = strcmp(names[i], r->function) == 0;
        json_t *entry = mine ? entry_of(r) : json_incref(find(all, names[i]));
        char *line = entry ? json_dumps(entry, JSON_PRESERVE_ORDER) : NULL;
        if (line)
            text_printf(&out, "%s\n%s", out.length ? "," : "[", line);
        free(line);
        json_decref(entry);
    }
    text_append(&out, "\n]\n");
    bool ok = file_write_atomic(path, out.data, out.length, st);
    text_release(&out);
    return ok;
}

/* ---- hard.txt ---- */

static float nearest_at(exact_judge *j, uint32_t at) {
    float x = f32_from_bits(at);
    double f64 = j->function->f64((double)x);
    return isfinite(f64) ? exact_nearest(j, x) : (float)f64;
}

static void append_hard(text *out, exact_judge *j, const char *function, const hard_list *list,
                        const char *why) {
    for (uint64_t i = 0; i < list->count; i++) {
        uint32_t at = (uint32_t)list->items[i].at;
        float nearest = nearest_at(j, at);
        uint32_t bits = isnan(nearest) ? 0x7fc00000 : f32_bits(nearest);
        text_printf(out, "%s 0x%08" PRIx32 " 0x%08" PRIx32 " %s\n", function, at, bits, why);
    }
}

static void append_found(text *out, exact_judge *j, const record *r) {
    append_hard(out, j, r->function, &r->found->errors, "error");
    append_hard(out, j, r->function, &r->found->boundaries, "boundary");
    append_hard(out, j, r->function, &r->found->ends, "end");
}

/* The lines of `data` that belong to a function. */
static void append_lines(text *out, const char *data, const char *function) {
    size_t length = strlen(function);
    for (const char *line = data; line && *line;) {
        const char *end = strchr(line, '\n');
        size_t size = end ? (size_t)(end - line) + 1 : strlen(line);
        if (strncmp(line, function, length) == 0 && line[length] == ' ')
            text_append_bytes(out, line, size);
        line += size;
    }
}

static bool write_hard(const char *path, const char *const *names, uint32_t count, exact_judge *j,
                       const record *r, status *st) {
    text out;
    char *data = NULL;
    size_t size = 0;
    if (file_exists(path) && !file_read(path, FILE_LIMIT, &data, &size, st))
        return false;
    text_init(&out);
    text_append(&out, "# Inputs that every test tries, written by ci/exhaustive: function, input, "
                      "nearest f32, why.\n");
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], r->function) == 0)
            append_found(&out, j, r);
        else
            append_lines(&out, data, names[i]);
    bool ok = file_write_atomic(path, out.data, out.length, st);
    text_release(&out);
    free(data);
    return ok;
}

bool record_write(const char *root, const char *const *names, uint32_t count, exact_judge *j,
                  const record *r, status *st) {
    char entries[4096], hard[4096];
    if (!path_in(root, RECORD_FILE, entries, sizeof entries, st) ||
        !path_in(root, HARD_FILE, hard, sizeof hard, st))
        return false;
    json_t *all = load(entries, st);
    bool ok = all && write_hard(hard, names, count, j, r, st) &&
              write_entries(entries, names, count, all, r, st);
    json_decref(all);
    return ok;
}

/* ---- the table ---- */

static void append_row(text *table, const json_t *entry) {
    const char *at = string_in(entry, "at");
    double x = (double)f32_from_bits((uint32_t)strtoul(at, NULL, 16));
    text_printf(table, "| `%s` | %lld | %s | %lld | %lld | %s | `%s` (%.9g) | %lld | %s | `%s` |\n",
                string_in(entry, "function"), number_in(entry, "inputs"),
                string_in(entry, "levels"), number_in(entry, "differing"),
                number_in(entry, "wrong"), string_in(entry, "ulp"), at, x,
                number_in(entry, "misrounded"), string_in(entry, "date"), string_in(entry, "code"));
}

/* Parameters: two texts are written beside each other from one record. */
bool record_list(const char *root, const char *const *names, const char *const *codes,
                 uint32_t count, text *table, text *complaints, status *st) {
    char path[4096];
    json_t *all = path_in(root, RECORD_FILE, path, sizeof path, st) ? load(path, st) : NULL;
    if (!all)
        return false;
    text_append(table, "| function | inputs | compiled for | differing bits | wrong special values "
                       "| maximum ULP | at | misrounded | date | code |\n"
                       "|---|---|---|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < count; i++) {
        json_t *entry = find(all, names[i]);
        if (entry)
            append_row(table, entry);
        else
            text_printf(complaints, "%s: not tried yet; run: ci/exhaustive %s\n", names[i],
                        names[i]);
        if (entry && strcmp(string_in(entry, "code"), codes[i]) != 0)
            text_printf(complaints,
                        "%s: the code is now %s, which was not tried; run: "
                        "ci/exhaustive %s\n",
                        names[i], codes[i], names[i]);
    }
    json_decref(all);
    return complaints->length == 0;
}
