/* manifest.c - see manifest.h. */
#include "manifest.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static const char schema_prefix[] = "tsr.repro/";

static bool has_only(const char *string, const char *accepted) {
    return string[strspn(string, accepted)] == '\0';
}

bool manifest_name_is_plain(const char *name) {
    if (!name[0] || strlen(name) > PACK_NAME_BYTES_MAX ||
        !has_only(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"))
        return false;
    for (const char *part = name;; part++) {
        size_t length = strcspn(part, "/");
        bool dots = strspn(part, ".") >= length;
        if (length == 0 || (dots && length <= 2))
            return false;
        part += length;
        if (!*part)
            return true;
    }
}

/* A member, or (`folder`) only a folder that some are in; `number` is that of one of them. */
static bool is_known(const manifest *m, const char *name, bool *folder, size_t *number) {
    intptr_t value;
    if (!map_get(&m->names, name, &value))
        return false;
    *folder = value < 0;
    *number = (size_t)(value < 0 ? -value - 1 : value);
    return true;
}

static bool collides(const manifest *m, const char *name, size_t other, status *st) {
    return status_set(st, STATUS_INVALID, "members %s and %s cannot both be there",
                      m->entries[other].name, name);
}

/* No member has the name, or is a folder of it, or is in a folder of that name. */
static bool take_name(manifest *m, const char *name, status *st) {
    char path[PACK_NAME_BYTES_MAX + 1];
    bool folder;
    size_t other;
    snprintf(path, sizeof path, "%s", name);
    if (strncmp(name, MANIFEST_NAME "/", sizeof MANIFEST_NAME) == 0 ||
        strcmp(name, MANIFEST_NAME) == 0)
        return status_set(st, STATUS_INVALID, "a member may not be called %s", name);
    if (is_known(m, name, &folder, &other))
        return collides(m, name, other, st);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!is_known(m, path, &folder, &other))
            map_put(&m->names, path, -(intptr_t)m->count - 1);
        else if (!folder)
            return collides(m, name, other, st);
        *slash = '/';
    }
    map_put(&m->names, name, (intptr_t)m->count);
    return true;
}

bool manifest_has_room(size_t total_bytes, size_t size_bytes) {
    return total_bytes <= PACK_TOTAL_BYTES_MAX && size_bytes <= PACK_TOTAL_BYTES_MAX - total_bytes;
}

/* One element of "members": exactly the three keys. */
static bool read_entry(manifest *m, const json_t *value, size_t *total_bytes, status *st) {
    const char *name = json_string_value(json_object_get(value, "name"));
    const char *digest = json_string_value(json_object_get(value, "sha256"));
    const json_t *size = json_object_get(value, "size");
    if (json_object_size(value) != 3 || !name || !digest || !json_is_integer(size))
        return status_set(st, STATUS_INVALID,
                          "member %zu of the manifest has not just a name, a size and a sha256",
                          m->count + 1);
    if (!manifest_name_is_plain(name))
        return status_set(st, STATUS_INVALID,
                          "member %zu of the manifest has a name that a pack may not hold",
                          m->count + 1);
    if (!take_name(m, name, st))
        return false;
    if (strlen(digest) != 64 || !has_only(digest, "0123456789abcdef"))
        return status_set(st, STATUS_INVALID, "member %s: its sha256 is none", name);
    json_int_t bytes = json_integer_value(size);
    if (bytes < 0 || (uint64_t)bytes > SIZE_MAX || !manifest_has_room(*total_bytes, (size_t)bytes))
        return status_set(st, STATUS_INVALID,
                          "member %s of %" JSON_INTEGER_FORMAT
                          " bytes: a pack holds at most %zu in all",
                          name, bytes, PACK_TOTAL_BYTES_MAX);
    *total_bytes += (size_t)bytes;
    m->entries[m->count++] = (manifest_entry){name, (size_t)bytes, digest};
    return true;
}

/* N of "tsr.repro/N"; 0 where it is something else. */
static uint64_t schema_number(const json_t *root) {
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema || strncmp(schema, schema_prefix, sizeof schema_prefix - 1) != 0)
        return 0;
    const char *digits = schema + sizeof schema_prefix - 1;
    size_t length = strlen(digits);
    if (length == 0 || length > 9 || digits[0] == '0' || !has_only(digits, "0123456789"))
        return 0;
    return strtoull(digits, NULL, 10);
}

static char *canonical(const json_t *root, size_t *size_out) {
    char *dumped = json_dumps(root, JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    if (!dumped)
        return NULL;
    size_t length = strlen(dumped);
    dumped = base_realloc(dumped, length + 2);
    memcpy(dumped + length, "\n", 2);
    *size_out = length + 1;
    return dumped;
}

static bool is_canonical(const json_t *root, const char *json, size_t size_bytes) {
    size_t size;
    char *expected = canonical(root, &size);
    bool same = expected && size == size_bytes && memcmp(expected, json, size) == 0;
    free(expected);
    return same;
}

static bool read_members(manifest *m, status *st) {
    const json_t *list = json_object_get(m->root, "members");
    size_t total_bytes = 0;
    if (!json_is_array(list))
        return status_set(st, STATUS_INVALID, "the manifest has no list of members");
    if (json_array_size(list) > PACK_MEMBERS_MAX)
        return status_set(st, STATUS_INVALID, "%zu members: a pack has at most %d",
                          json_array_size(list), (int)PACK_MEMBERS_MAX);
    m->entries = base_calloc(json_array_size(list) + 1, sizeof *m->entries);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_entry(m, json_array_get(list, i), &total_bytes, st))
            return false;
    return true;
}

/* A byte of JSON may become a hundred in memory, so values are counted before they are parsed. */
static bool has_few_values(const char *json, size_t size_bytes) {
    size_t values = 0;
    bool in_string = false;
    for (size_t i = 0; i < size_bytes; i++)
        if (in_string && json[i] == '\\')
            i++;
        else if (json[i] == '"')
            in_string = !in_string;
        else if (!in_string && (json[i] == ',' || json[i] == '[' || json[i] == '{'))
            values++;
    return values <= PACK_MANIFEST_VALUES_MAX;
}

pack_state manifest_read(manifest *m, const char *json, size_t size_bytes, status *st) {
    json_error_t error;
    *m = (manifest){.root = NULL};
    map_init(&m->names);
    if (!has_few_values(json, size_bytes)) {
        status_set(st, STATUS_INVALID, "the manifest has more than %d values",
                   (int)PACK_MANIFEST_VALUES_MAX);
        return PACK_INVALID;
    }
    m->root = json_loadb(json, size_bytes, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(m->root)) {
        status_set(st, STATUS_INVALID, "the manifest is not a JSON object%s%s", m->root ? "" : ": ",
                   m->root ? "" : error.text);
        return PACK_INVALID;
    }
    uint64_t schema = schema_number(m->root);
    if (schema > PACK_SCHEMA) {
        status_set(st, STATUS_UNAVAILABLE,
                   "made by a newer tsr: its schema is %s%" PRIu64 ", this one reads up to %s%d",
                   schema_prefix, schema, schema_prefix, (int)PACK_SCHEMA);
        return PACK_NEWER;
    }
    if (schema != PACK_SCHEMA) {
        status_set(st, STATUS_INVALID, "the manifest's schema is not %s%d", schema_prefix,
                   (int)PACK_SCHEMA);
        return PACK_INVALID;
    }
    if (!read_members(m, st))
        return PACK_INVALID;
    if (!is_canonical(m->root, json, size_bytes)) {
        status_set(st, STATUS_INVALID, "the manifest is not in its canonical form");
        return PACK_INVALID;
    }
    return PACK_VALID;
}

void manifest_release(manifest *m) {
    json_decref(m->root);
    free(m->entries);
    map_release(&m->names);
    *m = (manifest){.root = NULL};
}

static json_t *members_json(const pack_member *members, const sha256 *digests, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        char hex[65];
        sha256_hex(&digests[i], hex);
        json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "name", members[i].name, "size",
                                              (json_int_t)members[i].size_bytes, "sha256", hex));
    }
    return list;
}

char *manifest_write(const json_t *about, const pack_member *members, const sha256 *digests,
                     size_t count, size_t *size_out, status *st) {
    char schema[32];
    char *json = NULL;
    json_t *root = json_copy((json_t *)(uintptr_t)about);
    manifest *check = base_calloc(1, sizeof *check);
    if (!json_is_object(about) || json_object_get(about, "schema") ||
        json_object_get(about, "members")) {
        status_set(st, STATUS_INVALID,
                   "a pack is described by an object without \"schema\" and \"members\"");
        goto out;
    }
    snprintf(schema, sizeof schema, "%s%d", schema_prefix, (int)PACK_SCHEMA);
    json_object_set_new(root, "schema", json_string(schema));
    json_object_set_new(root, "members", members_json(members, digests, count));
    json = canonical(root, size_out);
    if (!json || *size_out > PACK_MANIFEST_BYTES_MAX) {
        status_set(st, STATUS_INVALID, "the description of a pack is larger than %d bytes",
                   (int)PACK_MANIFEST_BYTES_MAX);
    } else if (manifest_read(check, json, *size_out, st) == PACK_VALID && check->count == count) {
        goto out; /* what is written can be read */
    } else {
        status_set(st, STATUS_INVALID, "nothing that can be packed");
    }
    free(json);
    json = NULL;
out:
    manifest_release(check);
    free(check);
    json_decref(root);
    return json;
}
