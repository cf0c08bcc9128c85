/* module.c - the module container: sections with their hashes, in one canonical layout.
 *
 * Only one byte sequence is valid for given parts: sections follow each other at the next multiple
 * of 64, padding is zero and the file ends with the last section. So a checked image has no room
 * for overlaps or hidden bytes. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sha256.h"
#include "tessera/tessera.h"

enum {
    MAGIC_BYTES = 8,
    HEADER_BYTES = 16,
    KIND_BYTES = 32,
    ENTRY_BYTES = 80,
    ALIGNMENT = 64,
    PART_LIMIT = 4096
};
static const char magic[MAGIC_BYTES + 1] = "TSRMOD\r\n";

typedef struct entry {
    char kind[KIND_BYTES];
    uint64_t offset, size_bytes;
    sha256 digest;
} entry;

_Static_assert(sizeof(entry) == ENTRY_BYTES, "the table entry is the struct, byte for byte");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "module files are little endian, and so are hosts");

typedef struct header {
    char magic[MAGIC_BYTES];
    uint16_t abi_major, abi_minor;
    uint32_t count;
} header;

_Static_assert(sizeof(header) == HEADER_BYTES, "the header is the struct, byte for byte");

static uint64_t align_up(uint64_t offset) {
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static sha256 digest_of(const char kind[KIND_BYTES], const void *data, size_t size_bytes) {
    sha256_stream *s = sha256_stream_new();
    sha256_stream_update(s, kind, KIND_BYTES);
    sha256_stream_update(s, data, size_bytes);
    return sha256_stream_finish(s);
}

static bool check_part(const module_part *part, map *kinds, status *st) {
    size_t length = strlen(part->kind);
    if (length == 0 || length >= KIND_BYTES)
        return status_set(st, STATUS_INVALID, "'%s': a kind has 1 to %d characters", part->kind,
                          KIND_BYTES - 1);
    if (map_get(kinds, part->kind, NULL))
        return status_set(st, STATUS_INVALID, "two parts of kind '%s'", part->kind);
    map_put(kinds, part->kind, 0);
    return part->size_bytes <= (uint64_t)1 << 40 ||
           status_set(st, STATUS_INVALID, "part '%s' is too large", part->kind);
}

static bool check_parts(const module_part *parts, size_t count, uint64_t *total, status *st) {
    map kinds;
    bool ok = true;
    if (count > PART_LIMIT)
        return status_set(st, STATUS_INVALID, "a module has at most %d parts", PART_LIMIT);
    *total = HEADER_BYTES + ENTRY_BYTES * (uint64_t)count;
    map_init(&kinds);
    for (size_t i = 0; i < count && ok; i++) {
        ok = check_part(&parts[i], &kinds, st);
        *total = align_up(*total) + parts[i].size_bytes;
    }
    map_release(&kinds);
    return ok;
}

bool module_write_for(uint16_t abi_minor, const module_part *parts, size_t count, void **image_out,
                      size_t *size_out, status *st) {
    uint64_t total = 0;
    if (!check_parts(parts, count, &total, st))
        return false;
    unsigned char *image = calloc(1, total);
    if (!image)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for a module of %llu bytes",
                          (unsigned long long)total);
    header h = {.abi_major = TSR_ABI_MAJOR, .abi_minor = abi_minor, .count = (uint32_t)count};
    memcpy(h.magic, magic, MAGIC_BYTES);
    memcpy(image, &h, sizeof h);
    uint64_t end = HEADER_BYTES + ENTRY_BYTES * (uint64_t)count;
    for (size_t i = 0; i < count; i++) {
        entry e = {.offset = align_up(end), .size_bytes = parts[i].size_bytes};
        memcpy(e.kind, parts[i].kind, strlen(parts[i].kind));
        e.digest = digest_of(e.kind, parts[i].data, parts[i].size_bytes);
        memcpy(image + HEADER_BYTES + i * ENTRY_BYTES, &e, sizeof e);
        if (e.size_bytes)
            memcpy(image + e.offset, parts[i].data, e.size_bytes);
        end = e.offset + e.size_bytes;
    }
    *image_out = image;
    *size_out = total;
    return true;
}

bool module_write(const module_part *parts, size_t count, void **image_out, size_t *size_out,
                  status *st) {
    return module_write_for(MODULE_ABI_MINOR, parts, count, image_out, size_out, st);
}

static bool read_header(const void *image, size_t size_bytes, header *h, status *st) {
    if (size_bytes < HEADER_BYTES)
        return status_set(st, STATUS_CORRUPT, "%zu bytes are too few for a module", size_bytes);
    memcpy(h, image, sizeof *h);
    if (memcmp(h->magic, magic, MAGIC_BYTES) != 0)
        return status_set(st, STATUS_CORRUPT, "not a Tessera module (no TSRMOD at its start)");
    return true;
}

bool module_version(const void *image, size_t size_bytes, uint16_t *major_out, uint16_t *minor_out,
                    status *st) {
    header h;
    if (!read_header(image, size_bytes, &h, st))
        return false;
    *major_out = h.abi_major;
    *minor_out = h.abi_minor;
    return true;
}

static entry entry_at(const void *image, size_t index) {
    entry e;
    memcpy(&e, (const unsigned char *)image + HEADER_BYTES + index * ENTRY_BYTES, sizeof e);
    return e;
}

static bool kind_is_sound(const char kind[KIND_BYTES]) {
    size_t length = strnlen(kind, KIND_BYTES);
    for (size_t i = length; i < KIND_BYTES; i++)
        if (kind[i] != '\0')
            return false;
    return length > 0 && length < KIND_BYTES;
}

static bool is_zero(const unsigned char *bytes, uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Checks entry `index`, whose section must start at the first multiple of 64 from *end; moves *end
 * past it. */
static bool check_entry(const void *image, size_t size_bytes, size_t index, uint64_t *end,
                        map *kinds, status *st) {
    const unsigned char *bytes = image;
    entry e = entry_at(image, index);
    if (!kind_is_sound(e.kind))
        return status_set(st, STATUS_CORRUPT, "section %zu of the module has no sound kind", index);
    uint64_t start = align_up(*end);
    if (e.offset != start || start > size_bytes || e.size_bytes > size_bytes - start)
        return status_set(st, STATUS_CORRUPT,
                          "section '%s' lies outside its place in the module (truncated?)", e.kind);
    if (!is_zero(bytes, *end, start))
        return status_set(st, STATUS_CORRUPT, "the padding before section '%s' is not zero",
                          e.kind);
    sha256 digest = digest_of(e.kind, bytes + start, e.size_bytes);
    if (memcmp(&digest, &e.digest, sizeof digest) != 0)
        return status_set(st, STATUS_CORRUPT, "section '%s' does not match its SHA-256", e.kind);
    if (map_get(kinds, e.kind, NULL))
        return status_set(st, STATUS_CORRUPT, "two sections of kind '%s'", e.kind);
    map_put(kinds, e.kind, 0);
    *end = start + e.size_bytes;
    return true;
}

static bool check_entries(const void *image, size_t size_bytes, uint32_t count, uint64_t *end,
                          status *st) {
    map kinds;
    bool ok = true;
    map_init(&kinds);
    for (size_t i = 0; i < count && ok; i++)
        ok = check_entry(image, size_bytes, i, end, &kinds, st);
    map_release(&kinds);
    return ok;
}

bool module_check(const void *image, size_t size_bytes, status *st) {
    header h;
    if (!read_header(image, size_bytes, &h, st))
        return false;
    if (h.abi_major != TSR_ABI_MAJOR || h.abi_minor > TSR_ABI_MINOR)
        return status_set(st, STATUS_CORRUPT,
                          "the module was made for ABI %u.%u; this is ABI %d.%d", h.abi_major,
                          h.abi_minor, TSR_ABI_MAJOR, TSR_ABI_MINOR);
    uint64_t end = HEADER_BYTES + ENTRY_BYTES * (uint64_t)h.count;
    if (h.count > PART_LIMIT || end > size_bytes)
        return status_set(st, STATUS_CORRUPT,
                          "the section table (%u entries) does not fit the module", h.count);
    if (!check_entries(image, size_bytes, h.count, &end, st))
        return false;
    if (end != size_bytes)
        return status_set(st, STATUS_CORRUPT, "%llu bytes after the last section",
                          (unsigned long long)(size_bytes - end));
    return true;
}

bool module_part_at(const void *image, size_t size_bytes, size_t index, module_part *part) {
    header h;
    if (!read_header(image, size_bytes, &h, NULL) || index >= h.count)
        return false;
    const char *kind = (const char *)image + HEADER_BYTES + index * ENTRY_BYTES;
    entry e = entry_at(image, index);
    *part = (module_part){kind, (const unsigned char *)image + e.offset, (size_t)e.size_bytes};
    return true;
}

bool module_find(const void *image, size_t size_bytes, const char *kind, module_part *part) {
    for (size_t i = 0; module_part_at(image, size_bytes, i, part); i++)
        if (strcmp(part->kind, kind) == 0)
            return true;
    return false;
}

bool module_is_image(const char *kind) {
    return strchr(kind, '/') != NULL;
}

bool module_is_constant(const char *kind) {
    return strncmp(kind, "constant:", 9) == 0;
}

bool module_is_kernel(const char *kind) {
    return strncmp(kind, "kernel:", 7) == 0;
}
