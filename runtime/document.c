/* document.c - reads YAML and JSON by libyaml's events. */
#include "document.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/escape.h"
#include "base/file.h"

enum { FILE_BYTES_MAX = 1 << 20, DEPTH_MAX = 16 };

/* A document while it is read. */
typedef struct reader {
    document *out;
    status *st;
    document_node *open; /* the map or list that is being read */
    const char *key;     /* in a map: that of the next value */
    int depth;
    yaml_mark_t key_at;
} reader;

static bool told(const reader *r, yaml_mark_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool told(const reader *r, yaml_mark_t at, const char *format, ...) {
    va_list args;
    text words;
    text_init(&words);
    text_show(&words, "%s:%zu:%zu: ", r->out->path, at.line + 1, at.column + 1);
    va_start(args, format);
    text_vshow(&words, format, args);
    va_end(args);
    status_set(r->st, STATUS_INVALID, "%s", words.data);
    text_release(&words);
    return false;
}

/* ---- values ---- */

static document_node *add(reader *r, document_kind kind, yaml_mark_t at) {
    document_node *n = ARENA_NEW(&r->out->memory, document_node, 1), *parent = r->open;
    const yaml_mark_t place = r->key ? r->key_at : at;
    *n = (document_node){.kind = kind,
                         .line = (int)place.line + 1,
                         .column = (int)place.column + 1,
                         .name = r->key,
                         .parent = parent};
    r->key = NULL;
    if (!parent)
        r->out->root = n;
    else if (parent->last)
        parent->last->next = n;
    else
        parent->first = n;
    if (parent)
        parent->last = n;
    return n;
}

static bool open_value(reader *r, document_kind kind, const yaml_event_t *e) {
    if (r->open && r->open->kind == DOCUMENT_MAP && !r->key)
        return told(r, e->start_mark, "a key is a text");
    if (r->depth == DEPTH_MAX)
        return told(r, e->start_mark, "more than %d levels", DEPTH_MAX);
    r->depth++;
    r->open = add(r, kind, e->start_mark);
    return true;
}

static void close_value(reader *r) {
    r->depth--;
    r->open = (document_node *)(uintptr_t)r->open->parent;
}

static bool take_key(reader *r, const yaml_event_t *e) {
    r->key = arena_strdup(&r->out->memory, (const char *)e->data.scalar.value);
    r->key_at = e->start_mark;
    return !document_member(r->open, r->key) ||
           told(r, e->start_mark, "the key %s is there twice", r->key);
}

static bool take_scalar(reader *r, const yaml_event_t *e) {
    const char *value = (const char *)e->data.scalar.value;
    if (strlen(value) != e->data.scalar.length)
        return told(r, e->start_mark, "a text has no byte that is 0");
    if (r->open && r->open->kind == DOCUMENT_MAP && !r->key)
        return take_key(r, e);
    document_node *n = add(r, DOCUMENT_SCALAR, e->start_mark);
    n->value = arena_strdup(&r->out->memory, value);
    n->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return true;
}

/* Nothing but plain data: no names for values, and no types of others. */
static bool is_plain(const reader *r, const yaml_event_t *e) {
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return told(r, e->start_mark,
                    "*%s: aliases and anchors are not taken; write the value itself",
                    (const char *)e->data.alias.anchor);
    case YAML_SCALAR_EVENT:
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
        break;
    default:
        break;
    }
    if (anchor)
        return told(r, e->start_mark,
                    "&%s: aliases and anchors are not taken; write the value itself",
                    (const char *)anchor);
    return !tag || told(r, e->start_mark, "%s: tags are not taken", (const char *)tag);
}

static bool take(reader *r, const yaml_event_t *e) {
    if (!is_plain(r, e))
        return false;
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        return !r->out->root || told(r, e->start_mark, "a second document begins; a file has one");
    case YAML_SCALAR_EVENT:
        return take_scalar(r, e);
    case YAML_MAPPING_START_EVENT:
        return open_value(r, DOCUMENT_MAP, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_value(r, DOCUMENT_LIST, e);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        close_value(r);
        return true;
    default:
        return true;
    }
}

/* libyaml's own words, at the place that it means. */
static bool broken(const reader *r, const yaml_parser_t *p) {
    const bool marked = p->problem_mark.line || p->problem_mark.column || !p->problem_offset;
    const yaml_mark_t at = marked ? p->problem_mark : p->mark;
    return told(r, at, "neither YAML nor JSON: %s", p->problem ? p->problem : "no memory");
}

static bool read_all(reader *r, const char *data, size_t size) {
    yaml_parser_t parser;
    bool ok = true, ended = false;
    if (!yaml_parser_initialize(&parser))
        return status_set(r->st, STATUS_OUT_OF_MEMORY, "no memory to read %s with", r->out->path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
    while (ok && !ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            ok = broken(r, &parser);
            break;
        }
        ok = take(r, &event);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return ok && (r->out->root || told(r, (yaml_mark_t){0}, "there is nothing in it"));
}

bool document_read(document *d, const char *path, status *st) {
    char *data = NULL;
    size_t size;
    status why = STATUS_INIT;
    arena_init(&d->memory);
    d->path = arena_strdup(&d->memory, path);
    d->root = NULL;
    if (!file_read(path, FILE_BYTES_MAX, &data, &size, &why))
        return status_set(st, STATUS_INVALID, "%s", why.message);
    reader r = {.out = d, .st = st};
    const bool ok = read_all(&r, data, size);
    free(data);
    return ok;
}

void document_release(document *d) {
    arena_release(&d->memory);
    d->root = NULL;
}

/* ---- looking ---- */

const document_node *document_member(const document_node *map, const char *name) {
    if (!map || map->kind != DOCUMENT_MAP)
        return NULL;
    const document_node *n = map->first;
    while (n && strcmp(n->name, name) != 0)
        n = n->next;
    return n;
}

/* "memory.kept", "links.3.latency": keys, and the numbers of members of lists. */
static void append_path(const document_node *at, text *out) {
    const document_node *chain[DEPTH_MAX + 1];
    int count = 0;
    for (; at && at->parent; at = at->parent)
        chain[count++] = at;
    for (int i = count - 1; i >= 0; i--) {
        size_t number = 0;
        for (const document_node *n = chain[i]->parent->first; n != chain[i]; n = n->next)
            number++;
        text_append(out, i < count - 1 ? "." : "");
        if (chain[i]->name)
            text_show(out, "%s", chain[i]->name);
        else
            text_printf(out, "%zu", number);
    }
    text_append(out, count ? " " : "");
}

bool document_wrong(const document *d, const document_node *at, status *st, const char *format,
                    ...) {
    va_list args;
    text words;
    text_init(&words);
    text_show(&words, "%s:%d:%d: ", d->path, at ? at->line : 1, at ? at->column : 1);
    append_path(at, &words);
    va_start(args, format);
    text_vshow(&words, format, args);
    va_end(args);
    status_set(st, STATUS_INVALID, "%s", words.data);
    text_release(&words);
    return false;
}

static bool is_number(const char *word) {
    char *end;
    return word[strspn(word, "0123456789+-.eE")] == '\0' && *word && (strtod(word, &end), !*end);
}

/* A scalar that is not text though no quotes are around it. */
static bool is_special(const char *word) {
    static const char *const words[] = {"", "~", "null", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return is_number(word);
}

const char *document_shown(document *d, const document_node *at) {
    if (!at)
        return "nothing";
    if (at->kind != DOCUMENT_SCALAR)
        return at->kind == DOCUMENT_MAP ? "{...}" : "[...]";
    return document_text(at)
               ? arena_printf(&d->memory, "\"%.60s\"", at->value)
               : arena_printf(&d->memory, "%.60s", *at->value ? at->value : "nothing");
}

bool document_flag(const document_node *at, bool *out) {
    if (!at || at->kind != DOCUMENT_SCALAR || at->quoted)
        return false;
    *out = strcmp(at->value, "true") == 0;
    return *out || strcmp(at->value, "false") == 0;
}

bool document_number(const document_node *at, double *out) {
    if (!at || at->kind != DOCUMENT_SCALAR || at->quoted || !is_number(at->value))
        return false;
    *out = strtod(at->value, NULL);
    return isfinite(*out);
}

bool document_whole(const document_node *at, uint64_t low, uint64_t high, uint64_t *out) {
    if (!at || at->kind != DOCUMENT_SCALAR || at->quoted || !*at->value ||
        at->value[strspn(at->value, "0123456789")])
        return false;
    errno = 0;
    const unsigned long long number = strtoull(at->value, NULL, 10);
    *out = number;
    return errno == 0 && number >= low && number <= high;
}

const char *document_text(const document_node *at) {
    if (!at || at->kind != DOCUMENT_SCALAR || (!at->quoted && is_special(at->value)))
        return NULL;
    return at->value;
}
