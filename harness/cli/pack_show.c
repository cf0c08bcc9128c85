/* pack_show.c - see pack_show.h. */
#include "cli/pack_show.h"

#include <stdio.h>
#include <string.h>

#include "common/json_text.h"
#include "common/say.h"
#include "report/document.h"
#include "repro/pack.h"
#include "run/environment.h"
#include "run/pack_fields.h"

enum { TEXT_BYTES_MAX = 256 << 10 };

/* ---- members ---- */

static bool is_below(const char *name, const char *folder) {
    return strncmp(name, folder, strlen(folder)) == 0;
}

/* A person reads it: no tensor, and nothing that the compiler made. */
static bool is_shown(const pack_member *m) {
    static const char *const others[] = {"inputs/", "expected/", "actual/", "ir/"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_below(m->name, others[i]))
            return false;
    return m->size_bytes <= TEXT_BYTES_MAX && !memchr(m->data, '\0', m->size_bytes) &&
           text_is_utf8(m->data, m->size_bytes);
}

/* The manifest without the list of members, which stands elsewhere. */
static json_t *head_of(const pack *p) {
    json_t *head = json_copy((json_t *)(uintptr_t)pack_about(p));
    json_object_del(head, "members");
    return head;
}

/* ---- for a program ---- */

static void show_json(const pack *p, const char *path) {
    json_t *texts = json_object();
    for (size_t i = 0; i < pack_member_count(p); i++) {
        const pack_member *m = pack_member_at(p, i);
        if (is_shown(m))
            json_object_set_new(texts, m->name, json_stringn(m->data, m->size_bytes));
    }
    json_t *document = json_pack("{s:s, s:o, s:o, s:O, s:o}", "schema", "tsr.pack/1", "pack",
                                 json_text(path), "manifest", head_of(p), "members",
                                 json_object_get(pack_about(p), "members"), "texts", texts);
    document_print(document, stdout);
    json_decref(document);
}

/* ---- for a person ---- */

static void show_case(const pack *p) {
    const json_t *item = json_object_get(pack_about(p), "case");
    const json_t *ended = json_object_get(pack_about(p), "outcome");
    const json_t *code = json_object_get(item, "implementation");
    const json_t *made = json_object_get(pack_about(p), "tsr");
    const json_t *host = json_object_get(pack_about(p), "host");
    text out;
    text_init(&out);
    text_show(&out, "case      %s/%s@%s,%s,%lld%s%s", json_text_at(item, "kernel"),
              json_text_at(item, "case"), json_text_at(item, "backend"),
              json_text_at(item, "profile"),
              (long long)json_integer_value(json_object_get(item, "threads")),
              *json_text_at(item, "dims") ? " --dims " : "", json_text_at(item, "dims"));
    if (json_object_get(item, "set"))
        text_show(&out, ", input set %lld",
                  (long long)json_integer_value(json_object_get(item, "set")));
    text_show(&out, "\nrecorded  %s%s", json_text_at(ended, "status"),
              *json_text_at(ended, "why") ? ": " : "");
    text_show_lines(&out, "          ", json_text_at(ended, "why"));
    if (json_is_object(code))
        text_show(&out, "\ncode      %s:%s (%s)", json_text_at(code, "name"),
                  json_text_at(code, "symbol"), json_text_at(code, "kind"));
    text_show(&out, "\nmade by   tsr %s, commit %s\non        %s, %s, %s\n",
              json_text_at(made, "version"), json_text_at(made, "commit"),
              json_text_at(host, "cpu"), json_text_at(host, "isa"), json_text_at(host, "os"));
    say_text(stdout, out.data);
    text_release(&out);
}

static void show_members(const pack *p) {
    size_t i;
    json_t *one;
    say(stdout, "\n%zu members\n", pack_member_count(p));
    json_array_foreach(json_object_get(pack_about(p), "members"), i, one)
        say(stdout, "  %10lld  %.12s  %s\n",
            (long long)json_integer_value(json_object_get(one, "size")),
            json_text_at(one, "sha256"), json_text_at(one, "name"));
}

static void show_text(const pack_member *m) {
    const char *words = m->data;
    size_t length = m->size_bytes;
    text out, whole;
    text_init(&out);
    text_init(&whole);
    text_append_bytes(&whole, words, length && words[length - 1] == '\n' ? length - 1 : length);
    text_show(&out, "\n%s\n    ", m->name);
    text_show_lines(&out, "    ", whole.data ? whole.data : "");
    text_append_char(&out, '\n');
    say_text(stdout, out.data);
    text_release(&whole);
    text_release(&out);
}

/* Names everything that is not here as it was there. */
static void show_environment(const pack *p) {
    const pack_member *m = pack_find(p, ENVIRONMENT_MEMBER);
    text out;
    if (!m)
        return;
    json_t *here = environment_facts();
    text_init(&out);
    bool sound = environment_differences(m->data, m->size_bytes, here, &out);
    say(stdout, "\n%s%s\n", ENVIRONMENT_MEMBER,
        !sound       ? " is not as tsr writes it"
        : out.length ? ", where this machine differs"
                     : ": this machine is the same");
    if (out.length)
        say_text(stdout, out.data);
    text_release(&out);
    json_decref(here);
}

static void show(const pack *p) {
    show_case(p);
    show_environment(p);
    show_members(p);
    for (size_t i = 0; i < pack_member_count(p); i++)
        if (is_shown(pack_member_at(p, i)))
            show_text(pack_member_at(p, i));
    json_t *head = head_of(p);
    say(stdout, "\nmanifest.json\n");
    say_json(stdout, head, 17);
    json_decref(head);
}

bool pack_show(const char *path, uint64_t memory_mib, bool json, status *st) {
    pack_state state;
    text why;
    uint64_t most = memory_mib ? memory_mib : SIZE_MAX >> 20;
    pack *p = pack_read_within(path, (size_t)most << 20, &state, st);
    text_init(&why);
    bool ok = p && (pack_fields_check(pack_about(p), &why) ||
                    status_set(st, STATUS_CORRUPT, "%s: %s", path, why.data));
    if (ok && json)
        show_json(p, path);
    else if (ok)
        show(p);
    text_release(&why);
    pack_free(p);
    return ok;
}
