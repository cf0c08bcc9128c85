/* pack.h - writing and reading repro packs: one failing (or passing) case in one file.
 *
 * A pack is a ustar archive in an LZ4 frame (docs/packs.md): `manifest.json` first, then the
 * members that it lists, each with its size and SHA-256. Any other tar or lz4 program reads it;
 * pack_read accepts only what pack_write would have written around the same manifest, so a damaged
 * byte anywhere, a byte more or a byte less is an invalid pack. Thread rule: functions may be
 * called from any thread; one pack may be read by several. */
#ifndef TESSERA_REPRO_PACK_H
#define TESSERA_REPRO_PACK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "base/status.h"

#define PACK_SUFFIX ".repro.tar.lz4"

/* Limits, the same for writing and reading. */
enum {
    PACK_SCHEMA = 1, /* N of "tsr.repro/N" */
    PACK_MANIFEST_BYTES_MAX = 4 << 20,
    PACK_MANIFEST_VALUES_MAX = 1 << 17, /* of JSON, nested ones counted */
    PACK_MEMBERS_MAX = 12544,           /* manifest.json not counted: three arrays for each of 4,096
                                           parameters or results, and files */
    PACK_NAME_BYTES_MAX = 99            /* of a member */
};
#define PACK_TOTAL_BYTES_MAX ((size_t)2 << 30) /* of all members together */

/* Name: components of [A-Za-z0-9._-] separated by '/', none empty, "." or ".."; unique, not
 * "manifest.json", and not the folder of another member. `data` may be NULL where the size is 0. */
typedef struct pack_member {
    const char *name;
    const void *data;
    size_t size_bytes;
} pack_member;

/* Writes PATH from `about` (a JSON object: all of the manifest but "schema" and "members") and the
 * members, in the given order. Same arguments, same bytes: the file has no time, owner or address.
 * A temporary file beside it is renamed; on failure nothing is left. STATUS_INVALID where `about`
 * or a member breaks a rule above. */
bool pack_write(const char *path, const json_t *about, const pack_member *members, size_t count,
                status *st);

/* The first 12 hex digits of the SHA-256 of the manifest that pack_write would write: names the
 * file. */
bool pack_name(const json_t *about, const pack_member *members, size_t count, char hex_out[13],
               status *st);

typedef struct pack pack;
typedef enum pack_state { PACK_VALID, PACK_INVALID, PACK_NEWER } pack_state;

/* Reads and verifies a whole pack; writes nothing. Owned by the caller (pack_free). Memory is
 * bounded by what the file can really hold and by the limits, and is taken only after the manifest
 * was checked. NULL unless *state is PACK_VALID; then `st` says why:
 *   PACK_INVALID  STATUS_CORRUPT: damaged, forged or over a limit; STATUS_NOT_FOUND and the other
 *                 codes of an open or read that failed; STATUS_OUT_OF_MEMORY
 *   PACK_NEWER    STATUS_UNAVAILABLE: made by a newer tsr */
pack *pack_read(const char *path, pack_state *state, status *st);
/* The same, of a pack whose members take at most so many bytes together; more are over a limit. */
pack *pack_read_within(const char *path, size_t total_bytes_max, pack_state *state, status *st);
/* Likewise; `file` receives the SHA-256 of the very bytes that were read, where a pack is returned.
 */
pack *pack_read_digest(const char *path, size_t total_bytes_max, sha256 *file, pack_state *state,
                       status *st);

/* All borrowed until pack_free. Data is followed by a NUL that its size does not count. */
const json_t *pack_about(const pack *p); /* the manifest, "schema" and "members" included */
const pack_member *pack_find(const pack *p, const char *name); /* NULL where there is none */
size_t pack_member_count(const pack *p);
const pack_member *pack_member_at(const pack *p, size_t index);
void pack_free(pack *p); /* NULL is allowed */

#endif
