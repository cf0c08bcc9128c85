/* stream.c - the files of a folder, put into the order in which processes began. */
#include "capture/stream.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "capture/line.h"

enum { HEAD_BYTES_MAX = 1 << 20 };
#define FILE_BYTES_MAX ((size_t)4 << 30)

bool capture_is_stream(const char *folder) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/stream.json", folder);
    bool is = file_is_dir(folder) && file_exists(path.data);
    text_release(&path);
    return is;
}

static bool read_head(capture_stream *s, status *st) {
    text path;
    char *data = NULL;
    size_t size;
    text_init(&path);
    text_printf(&path, "%s/stream.json", s->folder);
    bool ok = file_read(path.data, HEAD_BYTES_MAX, &data, &size, st);
    s->head = ok ? json_loadb(data, size, 0, NULL) : NULL;
    const char *schema = json_string_value(json_object_get(s->head, "schema"));
    if (ok && (!schema || strcmp(schema, CAPTURE_SCHEMA) != 0))
        ok = status_set(st, STATUS_CORRUPT, "%s is not of the schema " CAPTURE_SCHEMA, path.data);
    free(data);
    text_release(&path);
    return ok;
}

/* ---- a process ---- */

static bool damaged(const capture_stream *s, const capture_process *p, size_t line,
                    const char *what, status *st) {
    return status_set(st, STATUS_CORRUPT, "%s/%s, line %zu: %s", s->folder, p->file, line, what);
}

static bool take_line(capture_stream *s, capture_process *p, size_t number, json_t *line,
                      status *st) {
    capture_call call = {.process = (uint32_t)(p - s->processes.items)};
    json_t *end = json_object_get(line, "end");
    const char *why = NULL;
    if (number == 1) {
        why = capture_line_process(line, &s->memory, p);
    } else if (end) {
        p->ended = json_integer_value(end) == (json_int_t)p->count;
    } else {
        why = capture_line_call(line, &s->memory, &call);
        if (!why) {
            vec_push(&s->calls, call);
            p->count++;
        }
    }
    return !why || damaged(s, p, number, why, st);
}

/* A last line without its end is cut: what is before it holds. */
static bool take_lines(capture_stream *s, capture_process *p, const char *data, size_t size,
                       status *st) {
    size_t number = 0;
    bool ok = true;
    while (size && ok) {
        const char *end = memchr(data, '\n', size);
        if (!end) {
            p->cut = true;
            break;
        }
        size_t length = (size_t)(end - data);
        json_t *line = json_loadb(data, length, 0, NULL);
        number++;
        ok = line ? take_line(s, p, number, line, st) : damaged(s, p, number, "it is no JSON", st);
        json_decref(line);
        data += length + 1;
        size -= length + 1;
    }
    p->ended &= !p->cut;
    return ok;
}

static bool read_process(capture_stream *s, const char *name, status *st) {
    text path;
    char *data = NULL;
    size_t size;
    text_init(&path);
    text_printf(&path, "%s/%s", s->folder, name);
    capture_process p = {.file = arena_strdup(&s->memory, name), .program = ""};
    p.first = s->calls.count;
    vec_push(&s->processes, p);
    bool ok = file_read(path.data, FILE_BYTES_MAX, &data, &size, st) &&
              take_lines(s, &s->processes.items[s->processes.count - 1], data, size, st);
    free(data);
    text_release(&path);
    return ok;
}

/* ---- order ---- */

static int by_start(const void *a, const void *b) {
    const capture_process *x = a, *y = b;
    if (x->started_ns != y->started_ns)
        return x->started_ns < y->started_ns ? -1 : 1;
    return strcmp(x->file, y->file);
}

static int by_number(const void *a, const void *b) {
    const capture_call *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void put_in_order(capture_stream *s) {
    capture_call *sorted = base_malloc((s->calls.count + 1) * sizeof *sorted);
    size_t at = 0;
    if (s->processes.count)
        qsort(s->processes.items, s->processes.count, sizeof *s->processes.items, by_start);
    for (size_t i = 0; i < s->processes.count; i++) {
        capture_process *p = &s->processes.items[i];
        if (p->count)
            memcpy(sorted + at, s->calls.items + p->first, p->count * sizeof *sorted);
        qsort(sorted + at, p->count, sizeof *sorted, by_number);
        for (size_t k = 0; k < p->count; k++)
            sorted[at + k].process = (uint32_t)i;
        p->first = at;
        at += p->count;
    }
    free(s->calls.items);
    s->calls.items = sorted;
    s->calls.capacity = s->calls.count + 1;
}

static int is_process(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return strncmp(entry->d_name, "calls-", 6) == 0 && length > 12 &&
           strcmp(entry->d_name + length - 6, ".jsonl") == 0;
}

bool capture_stream_open(capture_stream *s, const char *folder, status *st) {
    struct dirent **names = NULL;
    *s = (capture_stream){.folder = folder};
    arena_init(&s->memory);
    bool ok = read_head(s, st);
    int count = ok ? scandir(folder, &names, is_process, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        ok = ok && read_process(s, names[i]->d_name, st);
        free(names[i]);
    }
    free(names);
    if (ok)
        put_in_order(s);
    return ok;
}

void capture_stream_close(capture_stream *s) {
    json_decref(s->head);
    for (size_t i = 0; i < s->processes.count; i++)
        json_decref(s->processes.items[i].environment);
    vec_release(&s->processes);
    vec_release(&s->calls);
    arena_release(&s->memory);
    *s = (capture_stream){0};
}

/* ---- looking into it ---- */

bool capture_tensor_path(const capture_stream *s, const char *hash, text *out) {
    text_clear(out);
    if (!hash)
        return false;
    text_printf(out, "%s/tensors/%s.npy", s->folder, hash);
    return file_exists(out->data);
}

void capture_describe_place(const capture_stream *s, const capture_call *c, text *out) {
    text_show(out, "call %" PRIu64, c->number);
    if (s->processes.count > 1)
        text_show(out, " of process %" PRId64, s->processes.items[c->process].id);
}

void capture_name_place(const capture_stream *s, const capture_call *c, text *out) {
    if (s->processes.count > 1)
        text_show(out, "%" PRId64 "/", s->processes.items[c->process].id);
    text_show(out, "%" PRIu64, c->number);
}

void capture_describe_tensor(const capture_tensor *t, text *out) {
    text_show(out, "%s [", t->dtype);
    for (int axis = 0; axis < t->rank; axis++)
        text_show(out, "%s%" PRId64, axis ? ", " : "", t->shape[axis]);
    text_append_char(out, ']');
}

const capture_call *capture_find(const capture_stream *s, const char *place, status *st) {
    const char *slash = strchr(place, '/'), *digits = slash ? slash + 1 : place;
    char *end;
    unsigned long long process = strtoull(place, &end, 10), number = strtoull(digits, NULL, 10);
    bool sound = *digits && digits[strspn(digits, "0123456789")] == '\0' &&
                 (!slash || (end == slash && slash != place));
    const capture_call *found = NULL;
    if (!sound) {
        status_set(st, STATUS_INVALID, "'%s' is no call of %s: NUMBER, or PROCESS/NUMBER", place,
                   s->folder);
        return NULL;
    }
    for (size_t i = 0; i < s->calls.count; i++) {
        const capture_call *c = &s->calls.items[i];
        bool meant = c->number == number &&
                     (!slash || s->processes.items[c->process].id == (int64_t)process);
        if (meant && found) {
            status_set(st, STATUS_INVALID,
                       "several processes of %s have a call %s: PROCESS/NUMBER names one, such "
                       "as %" PRId64 "/%s",
                       s->folder, digits, s->processes.items[found->process].id, digits);
            return NULL;
        }
        found = meant ? c : found;
    }
    if (!found)
        status_set(st, STATUS_NOT_FOUND, "%s has no call %s", s->folder, place);
    return found;
}
