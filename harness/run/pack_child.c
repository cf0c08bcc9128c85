/* pack_child.c - see pack_child.h. */
#include "run/pack_child.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "common/json_text.h"
#include "run/failures.h"
#include "run/pack_fields.h"

static pack_member *members_of(const pack *p) {
    const size_t count = pack_member_count(p);
    pack_member *list = base_calloc(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = *pack_member_at(p, i);
    return list;
}

static json_t *without_members(const pack *p) {
    json_t *about = json_deep_copy(pack_about(p));
    json_object_del(about, "schema");
    json_object_del(about, "members");
    return about;
}

json_t *pack_child_about(const pack *parent, status *st) {
    char hash[13];
    json_t *about = without_members(parent);
    pack_member *members = members_of(parent);
    bool ok = pack_name(about, members, pack_member_count(parent), hash, st);
    free(members);
    if (ok) {
        json_object_set_new(about, "parent", json_string(hash));
        return about;
    }
    json_decref(about);
    return NULL;
}

static bool put_path(const json_t *about, const pack_member *members, size_t count,
                     const pack_place *place, text *path, status *st) {
    const json_t *c = json_object_get(about, "case");
    const char *folder = place->folder ? place->folder : FAILURES_FOLDER;
    char hash[13];
    if (place->output) {
        text_append(path, place->output);
        return true;
    }
    if (!file_make_dirs(folder, st) || !pack_name(about, members, count, hash, st))
        return false;
    text_printf(path, "%s/%s-%s-%s" PACK_SUFFIX, folder, json_text_at(c, "kernel"),
                json_text_at(c, "case"), hash);
    return true;
}

/* Each field that the child has of its own is one that a pack may have. */
static bool is_sound(const json_t *about, status *st) {
    json_t *whole = json_copy((json_t *)(uintptr_t)about);
    text why;
    text_init(&why);
    json_object_set_new(whole, "schema", json_null());
    json_object_set_new(whole, "members", json_null());
    bool ok = pack_fields_check(whole, &why) ||
              status_set(st, STATUS_INVALID, "it cannot be packed: %s", why.data);
    json_decref(whole);
    text_release(&why);
    return ok;
}

/* Parameters: a pack and its place. */
bool pack_child_write(const pack *parent, const json_t *about, const pack_member *members,
                      size_t count, const pack_place *place, text *path, status *st) {
    pack_member *own = members ? NULL : members_of(parent);
    const pack_member *list = members ? members : own;
    const size_t length = members ? count : pack_member_count(parent);
    bool ok = is_sound(about, st) && put_path(about, list, length, place, path, st) &&
              pack_write(path->data, about, list, length, st);
    if (ok && !place->output && !place->folder)
        failures_trim(FAILURES_FOLDER, path->data, FAILURES_KEPT, FAILURES_KEPT_BYTES);
    free(own);
    return ok;
}
