/* page.c - puts style, scripts and data into the template. */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "page/page_files.h"

enum { JSON_DIGITS = 10 };

static bool ends_with(const embedded_file *file, const char *suffix) {
    size_t length = strlen(file->name), tail = strlen(suffix);
    return length > tail && strcmp(file->name + length - tail, suffix) == 0;
}

/* All files of a kind, one after the other. */
static void gather(const char *suffix, text *out) {
    for (size_t i = 0; i < page_files_count; i++)
        if (ends_with(&page_files[i], suffix))
            text_append_bytes(out, page_files[i].data, page_files[i].size_bytes);
}

/* Appends a policy's name for a script or a style: 'sha256-...' of the element's text. */
static void append_source(const text *body, text *out) {
    sha256 digest = sha256_of(body->data, body->length);
    text_append(out, "'sha256-");
    text_append_base64(out, digest.bytes, sizeof digest.bytes);
    text_append(out, "'");
}

/* JSON within a script element: no end tag and no comment can begin in it. */
static void append_data(const json_t *data, text *out) {
    char *body = json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(JSON_DIGITS));
    const char *from = body;
    for (const char *p; (p = strchr(from, '<')); from = p + 1) {
        text_append_bytes(out, from, (size_t)(p - from));
        text_append(out, "\\u003c");
    }
    text_append(out, from);
    free(body);
}

typedef struct render {
    const json_t *data;
    const page_samples *samples;
    text style, script;
    text *out;
} render;

static void put_policy(render *r) {
    text_append(r->out, "default-src 'none'; style-src ");
    append_source(&r->style, r->out);
    text_append(r->out, "; script-src ");
    append_source(&r->script, r->out);
    text_append(r->out, "; base-uri 'none'; form-action 'none'");
}

static void put_style(render *r) {
    text_append_bytes(r->out, r->style.data, r->style.length);
}

static void put_script(render *r) {
    text_append_bytes(r->out, r->script.data, r->script.length);
}

static void put_data(render *r) {
    append_data(r->data, r->out);
}

static void put_samples(render *r) {
    text_append_base64(r->out, r->samples->items, r->samples->count * sizeof *r->samples->items);
}

/* The places of the template: @NAME@. */
static const struct place {
    const char *name;
    void (*put)(render *r);
} places[] = {{"@policy@", put_policy},
              {"@style@", put_style},
              {"@data@", put_data},
              {"@samples@", put_samples},
              {"@script@", put_script}};
enum { PLACES = sizeof places / sizeof *places };

/* The first line of the template says what it is, to those who read it. */
static void fill_template(render *r, const char *page) {
    const char *from = strchr(page, '\n') + 1;
    for (int i = 0; i < PLACES; i++) {
        const char *at = strstr(from, places[i].name);
        if (!at)
            continue;
        text_append_bytes(r->out, from, (size_t)(at - from));
        places[i].put(r);
        from = at + strlen(places[i].name);
    }
    text_append(r->out, from);
}

void page_render(const json_t *data, const page_samples *samples, text *out) {
    render r = {.data = data, .samples = samples, .out = out};
    text page;
    text_init(&page);
    text_init(&r.style);
    text_init(&r.script);
    gather(".html", &page);
    gather(".css", &r.style);
    gather(".js", &r.script);
    fill_template(&r, page.data);
    text_release(&page);
    text_release(&r.style);
    text_release(&r.script);
}
