/* pack_fields.c - walks a manifest by the table, and the table by the manifest. */
#include "run/pack_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "case/backend.h"
#include "job/job.h"
#include "job/result.h"

enum { PATH_BYTES = 64 };

static const pack_field fields[] = {
#define REQUIRED true
#define OPTIONAL false
#define FIELD(path, kind, need, low, high) {path, PACK_FIELD_##kind, need, low, high},
#include "run/pack_fields.def"
#undef FIELD
#undef REQUIRED
#undef OPTIONAL
};
enum { FIELDS = sizeof fields / sizeof *fields };

const pack_field *pack_field_at(size_t index) {
    return index < FIELDS ? &fields[index] : NULL;
}

static const pack_field *find(const char *path) {
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].path, path) == 0)
            return &fields[i];
    return NULL;
}

int64_t pack_field_high(const char *path) {
    const pack_field *f = find(path);
    return f ? f->high : 0;
}

/* ---- one value ---- */

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static bool is_made_of(const char *word, const char *accepted) {
    return word[strspn(word, accepted)] == '\0';
}

static bool is_digest(const json_t *value) {
    const char *word = json_string_value(value);
    return word && strlen(word) == 64 && is_made_of(word, DIGITS "abcdef");
}

static bool are_digests(const json_t *value) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)value, i, item) if (!is_digest(item)) return false;
    return true;
}

static bool is_of_kind(const char *word, pack_field_kind kind) {
    switch (kind) {
    case PACK_FIELD_IDENTIFIER:
        return is_made_of(word, LETTERS DIGITS "_") && !strchr(DIGITS, word[0]);
    case PACK_FIELD_LABEL:
        return is_made_of(word, LETTERS DIGITS "._+-");
    case PACK_FIELD_DEVICE:
        return is_made_of(word, LETTERS DIGITS "._+-:");
    case PACK_FIELD_VALUES:
        return is_made_of(word, LETTERS DIGITS "._=,-");
    case PACK_FIELD_PROFILE:
        return profile_from_name(word) != PROFILE_COUNT;
    case PACK_FIELD_STATUS:
        return outcome_from_name(word) != OUTCOME_COUNT;
    default:
        return true;
    }
}

static bool is_within(size_t count, const pack_field *f) {
    return count >= (size_t)f->low && count <= (size_t)f->high;
}

static bool string_fits(const json_t *value, const pack_field *f) {
    const char *word = json_string_value(value);
    return word && is_within(json_string_length(value), f) && is_of_kind(word, f->kind);
}

static bool value_fits(const json_t *value, const pack_field *f) {
    switch (f->kind) {
    case PACK_FIELD_ANY:
        return true;
    case PACK_FIELD_OBJECT:
        return json_is_object(value);
    case PACK_FIELD_BOOLEAN:
        return json_is_boolean(value);
    case PACK_FIELD_INTEGER:
        return json_is_integer(value) && json_integer_value(value) >= f->low &&
               json_integer_value(value) <= f->high;
    case PACK_FIELD_ARRAY:
        return json_is_array(value) && is_within(json_array_size(value), f);
    case PACK_FIELD_DIGEST:
        return is_digest(value);
    case PACK_FIELD_DIGESTS:
        return json_is_array(value) && is_within(json_array_size(value), f) && are_digests(value);
    default:
        return string_fits(value, f);
    }
}

static void describe(const pack_field *f, text *why) {
    static const char *const whats[] = {
        [PACK_FIELD_ANY] = "anything",
        [PACK_FIELD_OBJECT] = "an object",
        [PACK_FIELD_ARRAY] = "a list",
        [PACK_FIELD_BOOLEAN] = "true or false",
        [PACK_FIELD_INTEGER] = "a whole number",
        [PACK_FIELD_IDENTIFIER] = "an identifier",
        [PACK_FIELD_LABEL] = "a name of letters, digits and . _ + -",
        [PACK_FIELD_DEVICE] = "a device, NAME or NAME:INDEX",
        [PACK_FIELD_VALUES] = "a list of NAME=VALUE",
        [PACK_FIELD_TEXT] = "a text",
        [PACK_FIELD_PROFILE] = "the name of a profile",
        [PACK_FIELD_STATUS] = "the status of a result",
        [PACK_FIELD_DIGEST] = "a SHA-256",
        [PACK_FIELD_DIGESTS] = "a list of SHA-256",
    };
    text_printf(why, "%s is not %s", f->path, whats[f->kind]);
    if (f->kind == PACK_FIELD_INTEGER)
        text_printf(why, " from %" PRId64 " to %" PRId64, f->low, f->high);
    else if (f->high > 1 && f->kind != PACK_FIELD_DIGEST)
        text_printf(why, " of %" PRId64 " to %" PRId64 " %s", f->low, f->high,
                    f->kind == PACK_FIELD_ARRAY || f->kind == PACK_FIELD_DIGESTS ? "elements"
                                                                                 : "bytes");
}

/* ---- all of them ---- */

/* "case" and "threads" make "case.threads"; the root's path is empty. */
static bool join(const char *path, const char *key, char out[PATH_BYTES]) {
    int length = snprintf(out, PATH_BYTES, "%s%s%s", path, *path ? "." : "", key);
    return length > 0 && length < PATH_BYTES;
}

static bool keys_are_known(const json_t *object, const char *path, text *why) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        char full[PATH_BYTES];
        if (join(path, key, full) && !strchr(key, '.') && find(full))
            continue;
        text_show(why, "%s%s%.64s is no field of a manifest", path, *path ? "." : "", key);
        return false;
    }
    return true;
}

/* The key that `f` has in the object at `path`; NULL where it lies elsewhere, or deeper. */
static const char *key_below(const pack_field *f, const char *path) {
    size_t length = strlen(path);
    if (strncmp(f->path, path, length) != 0 || (length && f->path[length] != '.'))
        return NULL;
    const char *key = f->path + length + (length > 0);
    return *key && !strpbrk(key, ".[") ? key : NULL;
}

static bool object_fits(const json_t *object, const char *path, text *why);

/* The table is three levels deep, and so is what is looked at. */
static bool field_fits(const json_t *value, const pack_field *f, text *why) {
    if ((!value || json_is_null(value)) && !f->required)
        return true;
    if (!value || !value_fits(value, f)) {
        describe(f, why);
        return false;
    }
    if (f->kind == PACK_FIELD_OBJECT)
        return object_fits(value, f->path, why);
    if (f->kind != PACK_FIELD_ARRAY)
        return true;
    char each[PATH_BYTES];
    snprintf(each, sizeof each, "%s[]", f->path);
    const pack_field *element = find(each);
    for (size_t i = 0; element && i < json_array_size(value); i++)
        if (!field_fits(json_array_get(value, i), element, why))
            return false;
    return true;
}

static bool object_fits(const json_t *object, const char *path, text *why) {
    for (size_t i = 0; i < FIELDS; i++) {
        const char *key = key_below(&fields[i], path);
        if (key && !field_fits(json_object_get(object, key), &fields[i], why))
            return false;
    }
    return keys_are_known(object, path, why);
}

bool pack_fields_check(const json_t *manifest, text *why) {
    return object_fits(manifest, "", why);
}

bool pack_fields_check_part(const json_t *part, const char *path, text *why) {
    return field_fits(part, find(path), why);
}
