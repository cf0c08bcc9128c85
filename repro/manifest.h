/* manifest.h - manifest.json of a pack: made from members, and checked before anything is believed.
 *
 * Text is canonical: sorted keys, one space of indentation, a newline at the end. So a manifest has
 * one spelling, and its SHA-256 names the pack. */
#ifndef TESSERA_REPRO_MANIFEST_H
#define TESSERA_REPRO_MANIFEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "base/sha256.h"
#include "pack.h"

#define MANIFEST_NAME "manifest.json"

typedef struct manifest_entry {
    const char *name; /* borrowed from the JSON */
    size_t size_bytes;
    const char *sha256; /* 64 lower-case hex digits, borrowed from the JSON */
} manifest_entry;

typedef struct manifest {
    json_t *root;
    manifest_entry *entries;
    size_t count;
    map names; /* of members, and of the folders that they are in: the number of a member */
} manifest;

/* The canonical text, owned by the caller (free). `digests` has one for each member.
 * STATUS_INVALID where pack_read would refuse it. */
char *manifest_write(const json_t *about, const pack_member *members, const sha256 *digests,
                     size_t count, size_t *size_out, status *st);

/* Fills `m`, to be given to manifest_release whatever the answer. */
pack_state manifest_read(manifest *m, const char *json, size_t size_bytes, status *st);
void manifest_release(manifest *m);

/* Checks that a member may have this name: letters, digits and . _ - /, short, and no way out. */
bool manifest_name_is_plain(const char *name);
/* Checks that `size_bytes` more may follow `total_bytes` in a pack. */
bool manifest_has_room(size_t total_bytes, size_t size_bytes);

#endif
