/* across.c - see across.h. */
#include "diff/across.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/map.h"
#include "case/backend.h"
#include "common/json_text.h"
#include "diff/investigate.h"
#include "diff/match.h"
#include "job/result.h"

enum { COLUMNS_MAX = 64, INVESTIGATED_MAX = 10, NAME_WIDTH_MIN = 6, CELL_WIDTH_MIN = 9 };
#define STRICT "strict"

typedef struct column {
    const side *run;
    const char *backend;
    char name[96];
} column;

typedef struct cell {
    size_t equal, different, silent; /* cases; silent: they have no outputs */
} cell;

/* One case under one profile; `results` by column. */
typedef struct row_case {
    const char *kernel, *name, *profile;
    const json_t *results[COLUMNS_MAX];
    int reference; /* column; -1: none has outputs */
} row_case;

typedef struct matrix {
    const diff_request *request;
    column columns[COLUMNS_MAX];
    int column_count;
    VEC(row_case) cases;
    map by_key;
    size_t compared, different, apart, investigated; /* apart: where the profile lets them be */
    text *out, details;
    json_t *rows, *differences;
} matrix;

static const json_t *digests_of(const json_t *result) {
    const json_t *digests = result_get(result, RESULT_SHA256);
    return json_array_size(digests) ? digests : NULL;
}

/* ---- columns and cases ---- */

static int column_of(matrix *m, const side *run, const char *of) {
    for (int i = 0; i < m->column_count; i++)
        if (m->columns[i].run == run && strcmp(m->columns[i].backend, of) == 0)
            return i;
    if (m->column_count == COLUMNS_MAX)
        return -1;
    m->columns[m->column_count] = (column){.run = run, .backend = of};
    return m->column_count++;
}

/* The backend; where two runs have it, the run, too. */
static void name_columns(matrix *m) {
    for (int i = 0; i < m->column_count; i++) {
        column *c = &m->columns[i];
        bool twice = false;
        for (int k = 0; k < m->column_count; k++)
            twice |= k != i && strcmp(m->columns[k].backend, c->backend) == 0;
        if (twice)
            snprintf(c->name, sizeof c->name, "%s@%.60s", c->backend, c->run->run);
        else
            snprintf(c->name, sizeof c->name, "%s", c->backend);
    }
}

static void key_of(const json_t *result, text *key) {
    text_show(key, "%s/%s/%s", result_text(result, RESULT_KERNEL), result_text(result, RESULT_CASE),
              result_text(result, RESULT_PROFILE));
}

static void take(matrix *m, const side *run, const json_t *result) {
    int at = column_of(m, run, result_text(result, RESULT_BACKEND));
    intptr_t number = 0;
    text key;
    if (at < 0)
        return;
    text_init(&key);
    key_of(result, &key);
    if (!map_get(&m->by_key, key.data, &number)) {
        number = (intptr_t)m->cases.count;
        row_case r = {.kernel = result_text(result, RESULT_KERNEL),
                      .name = result_text(result, RESULT_CASE),
                      .profile = result_text(result, RESULT_PROFILE),
                      .reference = -1};
        map_put(&m->by_key, key.data, number);
        vec_push(&m->cases, r);
    }
    row_case *r = &m->cases.items[number];
    if (!r->results[at] || !digests_of(r->results[at])) /* of several thread counts the first */
        r->results[at] = result;
    text_release(&key);
}

static bool is_oracle(const matrix *m, int c) {
    return !backend_is_compiled(backend_named(m->columns[c].backend));
}

/* Beyond strict the oracle computes nothing of its own, so each profile has its reference. */
static void find_reference(const matrix *m, row_case *r) {
    for (int c = 0; c < m->column_count; c++) {
        bool has = r->results[c] && digests_of(r->results[c]);
        bool first = r->reference < 0 || (is_oracle(m, c) && !is_oracle(m, r->reference));
        if (has && first)
            r->reference = c;
    }
}

/* ---- cells ---- */

static int verdict_of(const row_case *r, int c) {
    const json_t *digests = r->results[c] ? digests_of(r->results[c]) : NULL;
    if (!digests || r->reference < 0)
        return -1;
    return json_equal(digests, digests_of(r->results[r->reference]));
}

static void look_into(matrix *m, const row_case *r, int c) {
    const column *a = &m->columns[r->reference], *b = &m->columns[c];
    const result_pair pair = {r->results[r->reference], r->results[c]};
    json_t *entry = json_pack("{s:s, s:s, s:s, s:s, s:s, s:n, s:[], s:n}", "kernel", r->kernel,
                              "case", r->name, "profile", r->profile, "a", a->name, "b", b->name,
                              "why", "outputs", "first_operation");
    text_show(&m->details, "\n%s/%s %s: %s | %s\n", r->kernel, r->name, r->profile, a->name,
              b->name);
    if (m->investigated++ < INVESTIGATED_MAX)
        investigate(a->run, b->run, &pair, m->request->timeout_seconds, &m->details, entry);
    else
        text_append(&m->details, "  not looked into: name this kernel alone to see its elements\n");
    json_array_append_new(m->differences, entry);
}

static json_t *compare_case(matrix *m, const row_case *r, cell *cells) {
    json_t *bits = json_object();
    for (int c = 0; c < m->column_count; c++) {
        int verdict = verdict_of(r, c);
        cells[c].silent += r->results[c] && verdict < 0;
        cells[c].equal += verdict == 1;
        cells[c].different += verdict == 0;
        if (r->results[c])
            json_object_set_new(bits, m->columns[c].name,
                                verdict < 0 ? json_null() : json_boolean(verdict));
        bool bound = strcmp(r->profile, STRICT) == 0;
        m->compared += verdict >= 0 && c != r->reference;
        m->different += verdict == 0 && bound;
        m->apart += verdict == 0 && !bound;
        if (verdict == 0 && bound)
            look_into(m, r, c);
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "kernel", r->kernel, "case", r->name, "profile",
                     r->profile, "reference",
                     json_text(r->reference < 0 ? NULL : m->columns[r->reference].name),
                     "bits_equal", bits);
}

/* ---- the table ---- */

static int wider(int width, const char *name) {
    int length = (int)strlen(name);
    return length > width ? length : width;
}

static void head(matrix *m, int names) {
    text_append(
        m->out,
        "cases with the bits of their kernel's first column: = all, ! not all, ~ not all, which "
        "the profile allows, ? no outputs, - not run\n");
    text_show(m->out, "%-*s  %-13s", names, "kernel", "profile");
    for (int c = 0; c < m->column_count; c++)
        text_show(m->out, "  %*s", wider(CELL_WIDTH_MIN, m->columns[c].name), m->columns[c].name);
    text_append_char(m->out, '\n');
}

/* "12 =" of 12 cases, "11/12 !" where one differs ("~" where it may), "-" where nothing ran, "3 ?"
 * without outputs. */
static void show_cell(matrix *m, int c, const cell *found, bool bound) {
    char words[48] = "-";
    size_t judged = found->equal + found->different;
    if (found->different)
        snprintf(words, sizeof words, "%zu/%zu %c", found->equal, judged, bound ? '!' : '~');
    else if (judged)
        snprintf(words, sizeof words, "%zu =", judged);
    else if (found->silent)
        snprintf(words, sizeof words, "%zu ?", found->silent);
    text_show(m->out, "  %*s", wider(CELL_WIDTH_MIN, m->columns[c].name), words);
}

static bool same_row(const row_case *a, const row_case *b) {
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->profile, b->profile) == 0;
}

/* The row that begins with case `first`; the cases before it have had theirs. */
static void show_row(matrix *m, size_t first, int names) {
    cell cells[COLUMNS_MAX] = {{0, 0, 0}};
    const row_case *r = &m->cases.items[first];
    for (size_t i = first; i < m->cases.count; i++)
        if (same_row(&m->cases.items[i], r))
            json_array_append_new(m->rows, compare_case(m, &m->cases.items[i], cells));
    text_show(m->out, "%-*s  %-13s", names, r->kernel, r->profile);
    for (int c = 0; c < m->column_count; c++)
        show_cell(m, c, &cells[c], strcmp(r->profile, STRICT) == 0);
    text_append_char(m->out, '\n');
}

static void show_rows(matrix *m) {
    int names = NAME_WIDTH_MIN;
    for (size_t i = 0; i < m->cases.count; i++)
        names = wider(names, m->cases.items[i].kernel);
    head(m, names);
    for (size_t i = 0; i < m->cases.count; i++) {
        bool begun = false;
        for (size_t k = 0; k < i && !begun; k++)
            begun = same_row(&m->cases.items[k], &m->cases.items[i]);
        if (!begun)
            show_row(m, i, names);
    }
}

static json_t *columns_json(const matrix *m) {
    json_t *list = json_array();
    for (int c = 0; c < m->column_count; c++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s}", "name", m->columns[c].name, "backend",
                                        m->columns[c].backend, "run", m->columns[c].run->run));
    return list;
}

exit_code diff_across(const side *runs, size_t count, const diff_request *request, text *out,
                      json_t **document) {
    matrix m = {.request = request, .out = out, .rows = json_array(), .differences = json_array()};
    text_init(&m.details);
    map_init(&m.by_key);
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < json_array_size(runs[s].results); i++)
            take(&m, &runs[s], json_array_get(runs[s].results, i));
    name_columns(&m);
    for (size_t i = 0; i < m.cases.count; i++)
        find_reference(&m, &m.cases.items[i]);
    show_rows(&m);
    text_append(out, m.details.data);
    text_show(out, "\n%zu compared: %zu differ, %zu equal", m.compared, m.different,
              m.compared - m.different - m.apart);
    if (m.apart)
        text_show(out, ", %zu differ as their profile allows", m.apart);
    text_append_char(out, '\n');
    *document = json_pack("{s:s, s:o, s:o, s:o}", "schema", "tsr.across/1", "columns",
                          columns_json(&m), "cases", m.rows, "differences", m.differences);
    vec_release(&m.cases);
    map_release(&m.by_key);
    text_release(&m.details);
    return m.different ? EXIT_CHECK : m.compared ? EXIT_DONE : EXIT_NO_VERDICT;
}
