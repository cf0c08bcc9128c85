/* diagnostic.c - keeping count of the errors, and rendering each with its source line and a caret.
 */
#include "source/diagnostic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

enum { EXCERPT_BEFORE = 80, EXCERPT_BYTES = 180, TAB_WIDTH = 4 };

static void find_lines(source_text *s, arena *a) {
    uint32_t lines = 1, line = 0;
    for (uint32_t i = 0; i < s->size; i++)
        lines += s->data[i] == '\n';
    s->line_count = lines;
    s->lines = ARENA_NEW(a, uint32_t, lines);
    for (uint32_t i = 0; i < s->size; i++)
        if (s->data[i] == '\n')
            s->lines[++line] = i + 1;
}

void source_text_init(source_text *s, arena *a, const char *name, const char *data, uint32_t size) {
    *s = (source_text){.name = name, .data = data, .size = size};
    find_lines(s, a);
}

/* A line's end stands between two files. */
span source_text_add(source_text *s, arena *a, const char *name, const char *data, uint32_t size) {
    uint32_t start = s->size + 1, count = s->imported_count;
    char *all = ARENA_NEW(a, char, start + size);
    source_file *files = ARENA_NEW(a, source_file, count + 1);
    memcpy(all, s->data, s->size);
    all[s->size] = '\n';
    memcpy(all + start, data, size);
    for (uint32_t i = 0; i < count; i++)
        files[i] = s->imported[i];
    files[count] = (source_file){name, start, s->line_count};
    s->data = all;
    s->size = start + size;
    s->imported = files;
    s->imported_count = count + 1;
    find_lines(s, a);
    return (span){start, s->size};
}

static const source_file *imported_at(const source_text *s, uint32_t offset) {
    const source_file *found = NULL;
    for (uint32_t i = 0; i < s->imported_count && s->imported[i].start <= offset; i++)
        found = &s->imported[i];
    return found;
}

bool source_is_first(const source_text *s, uint32_t offset) {
    return !imported_at(s, offset);
}

const char *source_name_at(const source_text *s, uint32_t offset) {
    const source_file *file = imported_at(s, offset);
    return file ? file->name : s->name;
}

static uint32_t line_of(const source_text *s, uint32_t offset) {
    uint32_t low = 0, high = s->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t source_line_of(const source_text *s, uint32_t offset) {
    return line_of(s, offset) + 1;
}

source_position source_position_of(const source_text *s, uint32_t offset) {
    uint32_t line = line_of(s, offset), column = 1;
    for (uint32_t i = s->lines[line]; i < offset && i < s->size; i++)
        column += ((unsigned char)s->data[i] & 0xC0) != 0x80;
    const source_file *file = imported_at(s, offset);
    return (source_position){line + 1 - (file ? file->first_line : 0), column};
}

uint32_t source_offset_of(const source_text *s, uint32_t line, uint32_t column) {
    if (line == 0 || line > s->line_count)
        return s->size;
    uint32_t at = s->lines[line - 1];
    while (column > 1 && at < s->size) {
        at++;
        column -= at == s->size || ((unsigned char)s->data[at] & 0xC0) != 0x80;
    }
    return at;
}

span span_join(span first, span last) {
    return (span){first.start, last.end > first.end ? last.end : first.end};
}

void diagnostics_init(diagnostics *d, const source_text *source, bool colour, text *out) {
    *d = (diagnostics){.source = source, .colour = colour, .out = out};
}

void diagnostics_release(diagnostics *d) {
    vec_release(&d->seen);
    vec_release(&d->places);
}

/* ---- as data ---- */

static _Thread_local diagnostic_list *listed;

diagnostic_list *diagnostics_list(diagnostic_list *l) {
    diagnostic_list *before = listed;
    listed = l;
    return before;
}

void diagnostic_list_add(diagnostic_list *l, const char *id, source_position at,
                         const char *message) {
    vec_push(l, ((diagnostic_entry){id, at, base_strdup(message)}));
}

void diagnostic_list_release(diagnostic_list *l) {
    for (size_t i = 0; i < l->count; i++)
        free(l->items[i].message);
    vec_release(l);
}

static void add_listed(const diagnostics *d, const char *id, span at, const char *message) {
    uint32_t start = at.start > d->source->size ? d->source->size : at.start;
    if (listed)
        diagnostic_list_add(listed, id, source_position_of(d->source, start), message);
}

/* ---- rendering ---- */

/* Decodes one code point of at most `left` bytes; broken bytes come one at a time as -1. */
static int decode(const unsigned char *p, size_t left, int32_t *code) {
    int length = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : p[0] >= 0xC2 ? 2 : 0;
    *code = -1;
    if (length == 0 || (size_t)length > left)
        return 1;
    int32_t value = length == 1 ? p[0] : p[0] & (0x7F >> length);
    for (int i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (p[i] & 0x3F);
    }
    *code = value;
    return length;
}

static int width_of(int32_t code) {
    if (code >= 0x300 && code <= 0x36F)
        return 0;
    bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
    return wide ? 2 : 1;
}

/* Appends bytes [from, to) as a terminal may show them (out may be NULL) and returns how many
 * columns they take. */
static int append_visible(text *out, const source_text *s, uint32_t from, uint32_t to) {
    int columns = 0;
    for (uint32_t i = from; i < to;) {
        int32_t code;
        int length = decode((const unsigned char *)s->data + i, to - i, &code);
        bool shown = code >= 32 && code != 127;
        columns += code == '\t' ? TAB_WIDTH : shown ? width_of(code) : 1;
        if (out && code == '\t')
            text_append(out, "    ");
        else if (out && !shown)
            text_append(out, "\xEF\xBF\xBD");
        else if (out)
            text_append_bytes(out, s->data + i, (size_t)length);
        i += (uint32_t)length;
    }
    return columns;
}

/* The part of the line that is shown: all of it, or a window around the span in a very long one. */
static void excerpt_window(const source_text *s, uint32_t at, uint32_t *from, uint32_t *to) {
    uint32_t line = line_of(s, at);
    *from = s->lines[line];
    *to = line + 1 < s->line_count ? s->lines[line + 1] - 1 : s->size;
    if (*to > *from && s->data[*to - 1] == '\r')
        --*to;
    if (*to - *from <= EXCERPT_BYTES)
        return;
    if (at - *from > EXCERPT_BEFORE)
        *from = at - EXCERPT_BEFORE;
    while (*from < at && ((unsigned char)s->data[*from] & 0xC0) == 0x80)
        ++*from;
    if (*to - *from > EXCERPT_BYTES)
        *to = *from + EXCERPT_BYTES;
}

static const char *paint(const diagnostics *d, const char *code) {
    return d->colour ? code : "";
}

static void render_excerpt(diagnostics *d, span at, const char *caret_colour) {
    const source_text *s = d->source;
    uint32_t from, to;
    excerpt_window(s, at.start, &from, &to);
    text_printf(d->out, "%5u | ", source_position_of(s, at.start).line);
    append_visible(d->out, s, from, to);
    text_append(d->out, "\n      | ");
    uint32_t start = at.start < to ? at.start : to, end = at.end < to ? at.end : to;
    int before = append_visible(NULL, s, from, start);
    int length = end > start ? append_visible(NULL, s, start, end) : 1;
    for (int i = 0; i < before; i++)
        text_append_char(d->out, ' ');
    text_append(d->out, paint(d, caret_colour));
    text_append_char(d->out, '^');
    for (int i = 1; i < length; i++)
        text_append_char(d->out, '~');
    text_append(d->out, paint(d, "\033[0m"));
    text_append_char(d->out, '\n');
}

/* `id` NULL: a note. */
static void render(diagnostics *d, const char *id, span at, const char *format, va_list args) {
    bool error = id != NULL;
    const char *colour = error ? "\033[1;31m" : "\033[1;36m";
    if (at.start > d->source->size)
        at.start = at.end = d->source->size;
    source_position p = source_position_of(d->source, at.start);
    text_append(d->out, paint(d, "\033[1m"));
    text_show(d->out, "%s:%u:%u:", source_name_at(d->source, at.start), p.line, p.column);
    text_printf(d->out, "%s ", paint(d, "\033[0m"));
    text_append(d->out, paint(d, colour));
    if (error)
        text_printf(d->out, "error[%s]:%s %s", id, paint(d, "\033[0m"), paint(d, "\033[1m"));
    else
        text_printf(d->out, "note:%s ", paint(d, "\033[0m"));
    text_vshow(d->out, format, args);
    text_printf(d->out, "%s\n", error ? paint(d, "\033[0m") : "");
    render_excerpt(d, at, colour);
}

/* ---- reporting ---- */

static bool seen_before(const diagnostics *d, span at, const char *format) {
    for (size_t i = 0; i < d->seen.count; i++) {
        const struct diagnostic_key *key = &d->seen.items[i];
        if (key->at.start == at.start && key->at.end == at.end && strcmp(key->format, format) == 0)
            return true;
    }
    return false;
}

void diagnose_error(diagnostics *d, diagnostic_id id, span at, const char *format, ...) {
    d->muted = true;
    d->reported++;
    if (d->errors <= DIAGNOSTIC_LIMIT && seen_before(d, at, format))
        return;
    d->errors++;
    vec_push(&d->places, at.start);
    if (d->errors > DIAGNOSTIC_LIMIT) {
        if (d->errors == DIAGNOSTIC_LIMIT + 1) {
            text_show(d->out, "%s: more errors follow; the first %d are shown\n", d->source->name,
                      DIAGNOSTIC_LIMIT);
        }
        return;
    }
    d->muted = false;
    struct diagnostic_key key = {at, format};
    vec_push(&d->seen, key);
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    render(d, diagnostic_name(id), at, format, args);
    va_end(args);
    text message;
    text_init(&message);
    text_vshow(&message, format, again);
    va_end(again);
    add_listed(d, diagnostic_name(id), at, message.data);
    text_release(&message);
    if (d->context)
        text_show(d->out, "      = note: where %s\n", d->context);
}

bool diagnosed_on_line(const diagnostics *d, uint32_t offset) {
    uint32_t line = line_of(d->source, offset);
    for (size_t i = 0; i < d->seen.count; i++)
        if (line_of(d->source, d->seen.items[i].at.start) == line)
            return true;
    return false;
}

void diagnose_note(diagnostics *d, span at, const char *format, ...) {
    if (d->muted)
        return;
    va_list args;
    va_start(args, format);
    render(d, NULL, at, format, args);
    va_end(args);
}

void diagnose_help(diagnostics *d, const char *format, ...) {
    if (d->muted)
        return;
    text_printf(d->out, "      = %shelp:%s ", paint(d, "\033[1;32m"), paint(d, "\033[0m"));
    va_list args;
    va_start(args, format);
    text_vshow(d->out, format, args);
    va_end(args);
    text_append_char(d->out, '\n');
}

bool diagnose_nearest(diagnostics *d, const char *word, const char *const *names, size_t count) {
    const char *nearest = strlen(word) > 1 ? text_nearest(word, names, count) : NULL;
    if (nearest)
        diagnose_help(d, "did you mean '%s'?", nearest);
    return nearest != NULL;
}

/* Parameters: as in diagnostic.h. */
bool diagnose_status(status *st, status_code code, const source_text *source, diagnostic_id id,
                     span at, const char *why, const char *help) {
    enum { SHOWN_MAX = 900 };
    diagnostics d;
    text shown;
    text_init(&shown);
    diagnostics_init(&d, source, false, &shown);
    diagnose_error(&d, id, at, "%s", why);
    if (help)
        diagnose_help(&d, "%s", help);
    int length = (int)shown.length - (shown.length > 0); /* without the last newline */
    status_set(st, code, "%.*s", length < SHOWN_MAX ? length : SHOWN_MAX, shown.data);
    diagnostics_release(&d);
    text_release(&shown);
    return false;
}
