/* pack_implementation.c - reads the files into a pack, and puts a pack's copies into a folder. */
#include "run/pack_implementation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sha256.h"
#include "common/json_text.h"
#include "job/result.h"
#include "repro/manifest.h"
#include "run/pack_fields.h"

#define FOLDER "implementation/"

/* ---- into a pack ---- */

/* File ending of a kind; a guest knows Python by it. */
static const char *ending_of(uint32_t kind) {
    return kind == IMPLEMENTATION_PYTHON          ? ".py"
           : kind == IMPLEMENTATION_SHARED_OBJECT ? ".so"
           : kind == IMPLEMENTATION_MODULE        ? ".tsrm"
           : kind == IMPLEMENTATION_SOURCE        ? ".tsr"
           : kind == IMPLEMENTATION_PTX           ? ".ptx"
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

json_t *pack_implementation_json(const job *j) {
    bool known = j->implementation_kind < IMPLEMENTATION_KIND_COUNT;
    text name;
    text_init(&name);
    name_of(j, &name);
    json_t *item = json_pack(
        "{s:s?, s:o, s:s?, s:n}", "kind",
        known ? implementation_kind_name((implementation_kind)j->implementation_kind) : NULL,
        "name", json_text(name.data), "symbol", j->implementation_symbol, "sha256");
    text_release(&name);
    return item;
}

/* A result is of the file that made it: what was compiled anew since is another one. */
static bool is_as_recorded(const pack_implementation_file *p, const char *path,
                           const char *recorded, status *st) {
    return !recorded || strcmp(recorded, p->sha256) == 0 ||
           status_set(st, STATUS_INVALID, "%s was changed after it ran", path);
}

static bool read_one(pack_implementation_file *p, const char *path, const char *member,
                     status *st) {
    struct stat facts;
    if (stat(path, &facts) != 0 || facts.st_size > (off_t)PACK_IMPLEMENTATION_BYTES_MAX) {
        implementation_digest(path, p->sha256);
        return true;
    }
    p->member = base_strdup(member);
    if (!file_read(path, PACK_IMPLEMENTATION_BYTES_MAX, &p->data, &p->size_bytes, st))
        return false;
    sha256 digest = sha256_of(p->data, p->size_bytes);
    sha256_hex(&digest, p->sha256);
    return true;
}

static bool read_both(pack_implementation *p, const job *j, const json_t *result, arena *memory,
                      status *st) {
    const json_t *said = result_get(result, RESULT_IMPLEMENTATION);
    const implementation_kind kind = (implementation_kind)j->implementation_kind;
    const char *beside = implementation_companion(j->implementation, kind, memory);
    text name;
    text_init(&name);
    name_of(j, &name);
    const char *member = arena_printf(memory, FOLDER "%s", name.data);
    text_release(&name);
    return read_one(&p->code, j->implementation, member, st) &&
           is_as_recorded(&p->code, j->implementation,
                          json_string_value(json_object_get(said, "sha256")), st) &&
           (!beside ||
            (read_one(&p->launch, beside, implementation_companion(member, kind, memory), st) &&
             is_as_recorded(&p->launch, beside,
                            json_string_value(json_object_get(said, "launch_sha256")), st)));
}

bool pack_implementation_read(pack_implementation *p, const job *j, const json_t *result,
                              status *st) {
    arena memory;
    *p = (pack_implementation){0};
    if (!j->implementation || !implementation_is_file(j->implementation))
        return true;
    arena_init(&memory);
    bool ok = read_both(p, j, result, &memory, st);
    arena_release(&memory);
    return ok;
}

void pack_implementation_release(pack_implementation *p) {
    pack_implementation_file *const files[] = {&p->code, &p->launch};
    for (int i = 0; i < 2; i++) {
        free(files[i]->member);
        free(files[i]->data);
    }
}

/* ---- out of a pack ---- */

static const char *word_at(const json_t *item, const char *name) {
    const char *word = json_string_value(json_object_get(item, name));
    return word ? word : "";
}

/* A member, whose bytes must be what the case says. */
static const pack_member *find_copy(const pack_code_request *q, const char *name, const char *key,
                                    status *st) {
    char hex[65];
    const pack_member *m = pack_find(q->from, name);
    if (!m) {
        status_set(st, STATUS_UNAVAILABLE,
                   "the pack names %s and does not hold it: --with says where it is",
                   name + strlen(FOLDER));
        return NULL;
    }
    sha256 digest = sha256_of(m->data, m->size_bytes);
    sha256_hex(&digest, hex);
    if (strcmp(hex, word_at(q->item, key)) != 0) {
        status_set(st, STATUS_CORRUPT, "%s is not the file that case.implementation names",
                   m->name);
        return NULL;
    }
    return m;
}

static bool write_member(const pack_code *c, const pack_member *m, text *path, status *st) {
    file_part part = {m->data, m->size_bytes};
    text_printf(path, "%s/%s", c->folder.path, m->name + strlen(FOLDER));
    return file_write_scratch(path->data, &part, 1, st);
}

/* The copy that --trust would run, where the pack has a sound one. */
static bool check_copy(const pack_code_request *q, status *st) {
    text name;
    arena memory;
    arena_init(&memory);
    text_init(&name);
    text_printf(&name, FOLDER "%s", word_at(q->item, "name"));
    const char *beside = implementation_companion(
        name.data, implementation_kind_from_name(word_at(q->item, "kind")), &memory);
    const pack_member *m = find_copy(q, name.data, "sha256", st);
    bool ok = m && (!beside || find_copy(q, beside, "launch_sha256", st));
    if (ok)
        text_printf(q->why,
                    "its case is run by code of others, outside of the sandbox: %s:%s (%s, %zu "
                    "bytes, SHA-256 %s)",
                    word_at(q->item, "name"), word_at(q->item, "symbol"), word_at(q->item, "kind"),
                    m->size_bytes, word_at(q->item, "sha256"));
    arena_release(&memory);
    text_release(&name);
    return ok;
}

/* Unpacks the launch file of code for a GPU, where there is one. */
static bool unpack_launch(const pack_code *c, const pack_code_request *q, const char *beside,
                          status *st) {
    text path;
    const pack_member *m = find_copy(q, beside, "launch_sha256", st);
    text_init(&path);
    bool ok = m && write_member(c, m, &path, st);
    text_release(&path);
    return ok;
}

/* Modules that the file imports from its own folder, at their places beside it. */
static bool unpack_neighbours(const pack_code *c, const pack_code_request *q, const char *code,
                              const char *launch, status *st) {
    bool ok = true;
    text path;
    text_init(&path);
    for (size_t i = 0; i < pack_member_count(q->from) && ok; i++) {
        const pack_member *m = pack_member_at(q->from, i);
        if (strncmp(m->name, FOLDER, strlen(FOLDER)) != 0 || strcmp(m->name, code) == 0 ||
            (launch && strcmp(m->name, launch) == 0))
            continue;
        text_clear(&path);
        text_printf(&path, "%s/%s", c->folder.path, m->name + strlen(FOLDER));
        ok = file_make_parent(path.data, st);
        text_clear(&path);
        ok = ok && write_member(c, m, &path, st);
    }
    text_release(&path);
    return ok;
}

/* Into a folder for this user alone. */
static bool unpack(pack_code *c, const pack_code_request *q, const pack_member *m, text *path,
                   status *st) {
    arena memory;
    if (!scratch_folder_open(&c->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    arena_init(&memory);
    const char *beside = implementation_companion(
        m->name, implementation_kind_from_name(word_at(q->item, "kind")), &memory);
    bool ok = write_member(c, m, path, st) && (!beside || unpack_launch(c, q, beside, st)) &&
              unpack_neighbours(c, q, m->name, beside, st) &&
              (chmod(path->data, S_IRWXU) == 0 ||
               status_set(st, STATUS_UNAVAILABLE, "%s cannot be made a program", path->data));
    arena_release(&memory);
    return ok;
}

static void give(job *j, const implementation *i, const char *symbol) {
    j->implementation = i->path;
    j->implementation_kind = (uint32_t)i->kind;
    j->implementation_symbol = symbol;
}

/* The file decides what it is, not the manifest; the two must agree. */
static bool open_copy(pack_code *c, const pack_code_request *q, job *j, status *st) {
    const char *kind = word_at(q->item, "kind"), *symbol = word_at(q->item, "symbol");
    text path;
    if (implementation_kind_from_name(kind) == IMPLEMENTATION_KIND_COUNT)
        return status_set(st, STATUS_UNAVAILABLE, "no kind of implementation is called %s here",
                          kind);
    text_init(&path);
    text_printf(&path, FOLDER "%s", word_at(q->item, "name"));
    const pack_member *m = find_copy(q, path.data, "sha256", st);
    text_clear(&path);
    bool ok = m && unpack(c, q, m, &path, st);
    if (ok) {
        status why = STATUS_INIT;
        text given;
        text_init(&given);
        implementation_spell(&given, implementation_kind_from_name(kind), path.data, symbol,
                             j->kernel);
        c->is_open = true;
        ok = (implementation_open(&c->opened, given.data, &why) &&
              c->opened.kind == implementation_kind_from_name(kind)) ||
             status_set(st, STATUS_CORRUPT, "%s is no %s with a function %s%s%s", m->name, kind,
                        symbol, why.message[0] ? ": " : "", why.message);
        text_release(&given);
    }
    if (ok)
        give(j, &c->opened, c->opened.symbol ? c->opened.symbol : j->kernel);
    text_release(&path);
    return ok;
}

/* True where a file's bytes, or those of its launch file, are other than the pack's. */
static bool is_changed(const pack_code_request *q) {
    const implementation *i = q->instead;
    implementation_digest_of files[IMPLEMENTATION_FILES_MAX];
    bool changed = false;
    arena memory;
    arena_init(&memory);
    uint32_t count = implementation_digests(i->path, i->kind, &memory, files);
    for (uint32_t k = 0; k < count; k++)
        changed |= strcmp(files[k].sha256, word_at(q->item, files[k].key)) != 0;
    arena_release(&memory);
    return changed;
}

static bool take_instead(pack_code *c, const pack_code_request *q, job *j, status *st) {
    const char *symbol =
        implementation_symbol_like(q->instead, word_at(q->item, "symbol"), j->kernel);
    if (!symbol)
        return status_set(st, STATUS_INVALID,
                          "--with %s: it has no function %s, nor one of the kernel's name; "
                          "--with %s:SYMBOL names one",
                          q->instead->path, word_at(q->item, "symbol"), q->instead->path);
    c->is_other = is_changed(q);
    give(j, q->instead, symbol);
    return true;
}

bool pack_code_open(pack_code *c, const pack_code_request *request, job *j, status *st) {
    *c = (pack_code){0};
    if (!request->instead && !request->trusted)
        return check_copy(request, st) && false;
    return request->instead ? take_instead(c, request, j, st) : open_copy(c, request, j, st);
}

void pack_code_close(pack_code *c) {
    if (c->is_open)
        implementation_release(&c->opened);
    scratch_folder_close(&c->folder);
}
