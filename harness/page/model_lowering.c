/* model_lowering.c - source and levels of some kernels of the first run, made again from the
 * sources. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/backend.h"
#include "case/case.h"
#include "common/json_text.h"
#include "page/model.h"
#include "page/record.h"

enum {
    KERNELS_SHOWN = 12,
    LEVEL_BYTES_MAX = 64 << 10, /* of a text; the rest is counted in lines */
    ALL_BYTES_MAX = 1536 << 10
};

typedef struct model_levels {
    const json_t *run;
    const lowering_request *request;
    json_t *kernels, *left_out;
    size_t bytes;
    corpus sources;
    bool generic;
} model_levels;

typedef struct choice {
    const json_t *row;
    double time_ns;
} choice;
typedef VEC(choice) choice_list;

static const char *word(const json_t *row, size_t column) {
    const char *s = json_string_value(json_array_get(row, column));
    return s ? s : "";
}

/* ---- which ones ---- */

static void name_of(const json_t *row, text *out) {
    text_clear(out);
    text_printf(out, "%s/%s", word(row, ROW_KERNEL), word(row, ROW_CASE));
}

static bool is_wanted(const model_levels *l, const json_t *row) {
    text name;
    text_init(&name);
    name_of(row, &name);
    bool wanted = l->request->wanted_count == 0;
    for (size_t i = 0; i < l->request->wanted_count; i++)
        wanted |= text_glob(l->request->wanted[i], name.data) ||
                  text_glob(l->request->wanted[i], word(row, ROW_KERNEL));
    text_release(&name);
    return wanted;
}

/* One result stands for a kernel, or, where cases were named, for a case: the longest case, and of
 * its profiles the first. */
static void consider(const model_levels *l, choice_list *list, map *places, const json_t *row) {
    const json_t *median = json_array_get(row, ROW_MEDIAN);
    choice c = {row, json_is_number(median) ? json_number_value(median) : 0};
    text key;
    intptr_t place;
    text_init(&key);
    if (l->request->wanted_count)
        name_of(row, &key);
    else
        text_append(&key, word(row, ROW_KERNEL));
    if (!map_get(places, key.data, &place)) {
        map_put(places, key.data, (intptr_t)list->count);
        vec_push(list, c);
    } else {
        choice *old = &list->items[place];
        bool same_case = strcmp(word(old->row, ROW_CASE), word(row, ROW_CASE)) == 0;
        if (!same_case && c.time_ns > old->time_ns)
            *old = c;
    }
    text_release(&key);
}

static int compare_times(const void *a, const void *b) {
    const choice *x = a, *y = b;
    if (x->time_ns < y->time_ns || x->time_ns > y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    int order = strcmp(word(x->row, ROW_KERNEL), word(y->row, ROW_KERNEL));
    return order ? order : strcmp(word(x->row, ROW_CASE), word(y->row, ROW_CASE));
}

/* Only what was compiled has levels. */
static void choose(const model_levels *l, choice_list *list) {
    size_t i;
    json_t *row;
    map places;
    map_init(&places);
    json_array_foreach(json_object_get(l->run, "rows"), i, row) {
        bool compiled = json_is_string(json_array_get(row, ROW_SCHEDULE_HASH)) &&
                        backend_is_compiled(backend_named(word(row, ROW_BACKEND)));
        if (compiled && is_wanted(l, row))
            consider(l, list, &places, row);
    }
    map_release(&places);
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_times);
}

/* ---- one kernel ---- */

static void leave_out(model_levels *l, const json_t *row, const char *why) {
    text name;
    text_init(&name);
    name_of(row, &name);
    json_array_append_new(l->left_out,
                          json_pack("{s:s, s:o}", "name", name.data, "why", json_text(why)));
    text_release(&name);
}

/* At most LEVEL_BYTES_MAX of a text, in whole lines. */
static size_t cut_at(const text *body) {
    if (body->length <= LEVEL_BYTES_MAX)
        return body->length;
    size_t end = LEVEL_BYTES_MAX;
    while (end > 0 && body->data[end - 1] != '\n')
        end--;
    return end;
}

static size_t count_lines(const char *from, const char *end) {
    size_t n = 0;
    for (; from < end; from++)
        n += *from == '\n';
    return n;
}

static void add_level(model_levels *l, json_t *levels, const char *name, const text *body,
                      const ir_line_list *lines) {
    size_t end = cut_at(body), shown = count_lines(body->data, body->data + end);
    json_t *origins = json_array();
    for (size_t i = 0; i < lines->count && i < shown; i++)
        json_array_append_new(origins, json_integer(lines->items[i]));
    json_t *content = json_stringn(body->data, end);
    json_array_append_new(
        levels, json_pack("{s:s, s:o, s:o, s:I}", "name", name, "text",
                          content ? content : json_string("(not UTF-8)"), "lines", origins,
                          "lines_left_out",
                          (json_int_t)count_lines(body->data + end, body->data + body->length)));
    l->bytes += end;
}

static compiler_profile profile_of(const json_t *row) {
    for (int p = 0; p < PROFILE_COUNT; p++)
        if (strcmp(compiler_profile_name((compiler_profile)p), word(row, ROW_PROFILE)) == 0)
            return (compiler_profile)p;
    return PROFILE_STRICT;
}

/* Checks that today's source has the schedule that the run measured. */
static bool is_what_ran(const json_t *row, const text *schedule) {
    char hex[65];
    sha256 digest = sha256_of(schedule->data, schedule->length);
    sha256_hex(&digest, hex);
    return strcmp(hex, word(row, ROW_SCHEDULE_HASH)) == 0;
}

/* Adds of a program, whose kernels have levels of their own, the graph alone. *same stays as it is
 * where there is no schedule. */
static bool emit_levels(model_levels *l, const corpus_case *c, const json_t *row, json_t *levels,
                        json_t **same, status *st) {
    static const char *const names[] = {"graph", "schedule", "tile", "asm"};
    text body;
    text_init(&body);
    ir_line_list lines = {0};
    compiler_instance *instance = corpus_case_instance(c, NULL);
    const json_t *host = json_object_get(l->run, "host");
    compiler_options options = {
        .profile = profile_of(row),
        .isa = json_string_value(json_object_get(host, "isa")),
        .threads = (uint32_t)json_integer_value(json_array_get(row, ROW_THREADS)),
        .generic = l->generic,
        .schedule = json_string_value(json_array_get(row, ROW_SCHEDULE_VALUES)),
        .source_schedule = c->kernel->schedule,
        .lines = &lines};
    bool ok = instance || status_set(st, STATUS_INVALID, "the source is wrong");
    for (size_t i = 0; i < sizeof names / sizeof *names && ok; i++) {
        bool is_schedule = strcmp(names[i], "schedule") == 0;
        if (is_schedule && l->generic)
            continue;
        text_clear(&body);
        vec_clear(&lines);
        ok = compiler_emit(instance, &options, names[i], &body, st);
        if (ok)
            add_level(l, levels, names[i], &body, &lines);
        if (ok && is_schedule)
            *same = json_boolean(is_what_ran(row, &body));
        if (!ok && i > 0 && st->code == STATUS_UNAVAILABLE) {
            status_clear(st);
            ok = true;
            break;
        }
    }
    compiler_instance_free(instance);
    vec_release(&lines);
    text_release(&body);
    return ok;
}

/* The kernel's lines of its file: from what stands above its cases to the next kernel. */
static bool add_source(json_t *entry, const corpus_case *c, status *st) {
    char *data;
    size_t size;
    if (!file_read(c->path, LEVEL_BYTES_MAX, &data, &size, st))
        return false;
    json_t *content = json_stringn(data, size);
    free(data);
    if (!content)
        return status_set(st, STATUS_INVALID, "%s is not UTF-8", c->path);
    const char *slash = strrchr(c->path, '/');
    json_object_set_new(entry, "path", json_text(slash ? slash + 1 : c->path));
    json_object_set_new(entry, "source", content);
    json_object_set_new(entry, "line", json_integer(c->kernel->line));
    return true;
}

static const corpus_case *find_case(const model_levels *l, const json_t *row) {
    text name;
    text_init(&name);
    name_of(row, &name);
    const corpus_case *found = NULL;
    for (size_t i = 0; i < l->sources.cases.count && !found; i++)
        if (strcmp(l->sources.cases.items[i].name, name.data) == 0)
            found = &l->sources.cases.items[i];
    text_release(&name);
    return found;
}

static void add_kernel(model_levels *l, const json_t *row) {
    status st = STATUS_INIT;
    const corpus_case *c = find_case(l, row);
    if (l->bytes > ALL_BYTES_MAX || json_array_size(l->kernels) >= KERNELS_SHOWN) {
        leave_out(l, row, "for its size");
        return;
    }
    if (!c) {
        leave_out(l, row, "its source is not here");
        return;
    }
    json_t *levels = json_array();
    json_t *entry = json_pack("{s:s, s:s, s:s, s:O, s:o}", "kernel", word(row, ROW_KERNEL), "case",
                              word(row, ROW_CASE), "profile", word(row, ROW_PROFILE), "threads",
                              json_array_get(row, ROW_THREADS), "levels", levels);
    json_t *same = json_null();
    if (emit_levels(l, c, row, levels, &same, &st) && add_source(entry, c, &st)) {
        json_object_set_new(entry, "same", same);
        json_array_append_new(l->kernels, entry);
        return;
    }
    json_decref(entry);
    leave_out(l, row, st.message);
}

/* ---- all of them ---- */

/* Paths of the run that are still there. */
static size_t source_paths(const model_levels *l, const char **paths, size_t limit) {
    const json_t *list = json_object_get(json_object_get(l->run, "arguments"), "paths");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list) && count < limit; i++) {
        const char *path = json_string_value(json_array_get(list, i));
        if (path && (file_exists(path) || file_is_dir(path)))
            paths[count++] = path;
    }
    return count;
}

static bool load_sources(model_levels *l, const choice_list *list) {
    const char *paths[64];
    status st = STATUS_INIT;
    text diagnostics;
    text_init(&diagnostics);
    const char **filters = base_calloc(list->count + 1, sizeof *filters);
    for (size_t i = 0; i < list->count; i++)
        filters[i] = word(list->items[i].row, ROW_KERNEL);
    corpus_query query = {
        .paths = paths,
        .path_count = source_paths(l, paths, 64),
        .filters = filters,
        .filter_count = list->count,
        .dims = json_string_value(json_object_get(json_object_get(l->run, "arguments"), "dims"))};
    bool ok = query.path_count && corpus_load(&l->sources, &query, &diagnostics, &st);
    free(filters);
    text_release(&diagnostics);
    return ok;
}

bool report_add_lowering(report_model *m, const lowering_request *request, status *st) {
    model_levels l = {.run = json_array_get(json_object_get(m->document, "runs"), 0),
                      .request = request,
                      .kernels = json_array(),
                      .left_out = json_array()};
    choice_list list = {0};
    l.generic = json_is_true(json_object_get(json_object_get(l.run, "arguments"), "generic"));
    choose(&l, &list);
    bool ok = list.count || request->wanted_count == 0 ||
              status_set(st, STATUS_NOT_FOUND,
                         "--inspect: no compiled result of the run matches %s", request->wanted[0]);
    if (ok && list.count)
        load_sources(&l, &list);
    for (size_t i = 0; i < list.count && ok; i++)
        add_kernel(&l, list.items[i].row);
    corpus_release(&l.sources);
    vec_release(&list);
    json_object_set_new(m->document, "lowering",
                        json_pack("{s:o, s:o}", "kernels", l.kernels, "left_out", l.left_out));
    return ok;
}
