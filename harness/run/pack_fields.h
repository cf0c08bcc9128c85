/* pack_fields.h - the domain of every field of a pack's manifest: pack_fields.def, checked when a
 * pack is made and before one is believed. */
#ifndef TESSERA_HARNESS_RUN_PACK_FIELDS_H
#define TESSERA_HARNESS_RUN_PACK_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef enum pack_field_kind {
    PACK_FIELD_ANY,
    PACK_FIELD_OBJECT,     /* no keys but those of the table */
    PACK_FIELD_ARRAY,      /* of what the table says under "[]" */
    PACK_FIELD_BOOLEAN,    /* true or false */
    PACK_FIELD_INTEGER,    /* a number without a fraction */
    PACK_FIELD_IDENTIFIER, /* [A-Za-z_][A-Za-z0-9_]* */
    PACK_FIELD_LABEL,      /* [A-Za-z0-9._+-]* */
    PACK_FIELD_DEVICE,     /* [A-Za-z0-9._+:-]* */
    PACK_FIELD_VALUES,     /* [A-Za-z0-9._=,-]* */
    PACK_FIELD_TEXT,       /* UTF-8 */
    PACK_FIELD_PROFILE,    /* the name of a profile */
    PACK_FIELD_STATUS,     /* the status of a result */
    PACK_FIELD_DIGEST,     /* 64 lower-case hex digits */
    PACK_FIELD_DIGESTS     /* an array of such */
} pack_field_kind;

typedef struct pack_field {
    const char *path;
    pack_field_kind kind;
    bool required;
    int64_t low, high;
} pack_field;

/* A field by its number; NULL past the last. */
const pack_field *pack_field_at(size_t index);
/* The greatest value, or length, that the table allows at this path. */
int64_t pack_field_high(const char *path);

/* Checks that all of a manifest, or the part of it that the table has below `path` ("case"), is in
 * its domain; else appends what is not, with its path. */
bool pack_fields_check(const json_t *manifest, text *why);
bool pack_fields_check_part(const json_t *part, const char *path, text *why);

#endif
