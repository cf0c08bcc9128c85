/* pack_implementation.c - reads the file into a pack, and puts a pack's copy into a folder. */
#include "run/pack_implementation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sha256.h"
#include "case/result.h"
#include "common/json_text.h"
#include "repro/manifest.h"
#include "run/pack_fields.h"

#define FOLDER "implementation/"

/* ---- into a pack ---- */

/* How files of a kind are called; a guest knows Python by it. */
static const char *ending_of(uint32_t kind) {
    return kind == IMPLEMENTATION_PYTHON          ? ".py"
           : kind == IMPLEMENTATION_SHARED_OBJECT ? ".so"
           : kind == IMPLEMENTATION_MODULE        ? ".tsrm"
                                                  : "";
}

/* The file's own name where a pack may hold it, else the kernel's; a module's own. */
static void name_of(const job *j, text *out) {
    const char *slash = strrchr(j->implementation, '/'), *own = slash ? slash + 1 : "";
    text member;
    text_init(&member);
    text_printf(&member, FOLDER "%s", own);
    bool plain = *own && own[0] != '.' && manifest_name_is_plain(member.data);
    text_release(&member);
    if (!implementation_is_file(j->implementation))
        text_append(out, j->implementation);
    else if (plain && strlen(own) <= (size_t)pack_field_high("case.implementation.name"))
        text_append(out, own);
    else
        text_printf(out, "implementation%s", ending_of(j->implementation_kind));
}

json_t *pack_implementation_json(const job *j, const char *digest) {
    bool known = j->implementation_kind < IMPLEMENTATION_KIND_COUNT;
    text name;
    text_init(&name);
    name_of(j, &name);
    json_t *item = json_pack(
        "{s:s?, s:o, s:s?, s:s?}", "kind",
        known ? implementation_kind_name((implementation_kind)j->implementation_kind) : NULL,
        "name", json_text(name.data), "symbol", j->implementation_symbol, "sha256",
        digest && *digest ? digest : NULL);
    text_release(&name);
    return item;
}

/* A result is of the file that made it: what was compiled anew since is another one. */
static bool is_as_recorded(const pack_implementation *p, const job *j, const json_t *result,
                           status *st) {
    const char *recorded =
        json_string_value(json_object_get(json_object_get(result, "implementation"), "sha256"));
    return !recorded || strcmp(recorded, p->sha256) == 0 ||
           status_set(st, STATUS_INVALID, "%s was changed after it ran", j->implementation);
}

bool pack_implementation_read(pack_implementation *p, const job *j, const json_t *result,
                              status *st) {
    *p = (pack_implementation){0};
    if (!j->implementation || !implementation_is_file(j->implementation))
        return true;
    struct stat facts;
    bool small = stat(j->implementation, &facts) == 0 &&
                 facts.st_size <= (off_t)PACK_IMPLEMENTATION_BYTES_MAX;
    if (small) {
        text member;
        text_init(&member);
        text_append(&member, FOLDER);
        name_of(j, &member);
        p->member = text_take(&member);
        text_release(&member);
        if (!file_read(j->implementation, PACK_IMPLEMENTATION_BYTES_MAX, &p->data, &p->size_bytes,
                       st))
            return false;
        sha256 digest = sha256_of(p->data, p->size_bytes);
        sha256_hex(&digest, p->sha256);
    } else {
        implementation_digest(j->implementation, p->sha256);
    }
    return is_as_recorded(p, j, result, st);
}

void pack_implementation_release(pack_implementation *p) {
    free(p->member);
    free(p->data);
}

/* ---- out of a pack ---- */

static const char *word_at(const json_t *item, const char *name) {
    const char *word = json_string_value(json_object_get(item, name));
    return word ? word : "";
}

static bool is_refused(const pack_code_request *q, status *st) {
    return !q->instead && !q->trusted &&
           !status_set(st, STATUS_CORRUPT,
                       "refused by policy: its case is run by code of others, %s:%s, outside of "
                       "the sandbox; --trust runs the pack's own copy, --with FILE a file "
                       "of yours instead",
                       word_at(q->item, "name"), word_at(q->item, "symbol"));
}

/* The member, whose bytes must be what the case says. */
static const pack_member *find_copy(const pack_code_request *q, status *st) {
    char hex[65];
    text name;
    text_init(&name);
    text_printf(&name, FOLDER "%s", word_at(q->item, "name"));
    const pack_member *m = pack_find(q->from, name.data);
    text_release(&name);
    if (!m) {
        status_set(st, STATUS_UNAVAILABLE,
                   "the pack names %s and does not hold it: --with says where it is",
                   word_at(q->item, "name"));
        return NULL;
    }
    sha256 digest = sha256_of(m->data, m->size_bytes);
    sha256_hex(&digest, hex);
    if (strcmp(hex, word_at(q->item, "sha256")) != 0) {
        status_set(st, STATUS_CORRUPT, "%s is not the file that case.implementation names",
                   m->name);
        return NULL;
    }
    return m;
}

/* Into a folder for this user alone. */
static bool unpack(pack_code *c, const pack_member *m, text *path, status *st) {
    if (!scratch_folder_open(&c->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    file_part part = {m->data, m->size_bytes};
    text_printf(path, "%s/%s", c->folder.path, m->name + strlen(FOLDER));
    return file_write_scratch(path->data, &part, 1, st) &&
           (chmod(path->data, S_IRWXU) == 0 ||
            status_set(st, STATUS_UNAVAILABLE, "%s cannot be made a program", path->data));
}

static void give(job *j, const implementation *i, const char *symbol) {
    j->implementation = i->path;
    j->implementation_kind = (uint32_t)i->kind;
    j->implementation_symbol = symbol;
}

/* What the file is decides, not what the manifest says of it; the two must agree. */
static bool open_copy(pack_code *c, const pack_code_request *q, job *j, status *st) {
    const char *kind = word_at(q->item, "kind"), *symbol = word_at(q->item, "symbol");
    text path;
    if (implementation_kind_from_name(kind) == IMPLEMENTATION_KIND_COUNT)
        return status_set(st, STATUS_UNAVAILABLE, "no kind of implementation is called %s here",
                          kind);
    const pack_member *m = find_copy(q, st);
    if (!m)
        return false;
    text_init(&path);
    bool ok = unpack(c, m, &path, st);
    if (ok) {
        status why = STATUS_INIT;
        text_printf(&path, ":%s=%s", symbol, j->kernel);
        c->is_open = true;
        ok = (implementation_open(&c->opened, path.data, &why) &&
              c->opened.kind == implementation_kind_from_name(kind)) ||
             status_set(st, STATUS_CORRUPT, "%s is no %s with a function %s%s%s", m->name, kind,
                        symbol, why.message[0] ? ": " : "", why.message);
    }
    if (ok)
        give(j, &c->opened, c->opened.symbol);
    text_release(&path);
    return ok;
}

static bool take_instead(pack_code *c, const pack_code_request *q, job *j, status *st) {
    char digest[65] = "";
    const char *symbol =
        implementation_symbol_like(q->instead, word_at(q->item, "symbol"), j->kernel);
    if (!symbol)
        return status_set(st, STATUS_INVALID,
                          "--with %s: it has no function %s, nor one of the kernel's name; "
                          "--with %s:SYMBOL names one",
                          q->instead->path, word_at(q->item, "symbol"), q->instead->path);
    if (implementation_is_file(q->instead->path))
        implementation_digest(q->instead->path, digest);
    c->is_other = strcmp(digest, word_at(q->item, "sha256")) != 0;
    give(j, q->instead, symbol);
    return true;
}

bool pack_code_open(pack_code *c, const pack_code_request *request, job *j, status *st) {
    *c = (pack_code){0};
    if (is_refused(request, st))
        return false;
    return request->instead ? take_instead(c, request, j, st) : open_copy(c, request, j, st);
}

void pack_code_close(pack_code *c) {
    if (c->is_open)
        implementation_release(&c->opened);
    scratch_folder_close(&c->folder);
}
