/* pack_read.c - one file in, verified members out.
 *
 * There is no tar parser here. After the manifest, every byte of the archive but the members' data
 * is known, so it is compared; the data has its digest. What lies outside of the archive, the
 * frame's own bytes, is compared too, or covered by the checksum of its block or header. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sha256.h"
#include "base/text.h"
#include "container.h"
#include "manifest.h"
#include "pack.h"

struct pack {
    manifest about;
    pack_member *members; /* as many as the manifest has */
    size_t count;
};

enum { INPUT_BYTES = 128 << 10 };

typedef struct reader {
    int fd;
    LZ4F_dctx *context;
    unsigned char input[INPUT_BYTES];
    size_t at, end;
    bool frame_ended;
    uint64_t content_bytes; /* as the frame's header says */
    uint64_t members_bytes_max;
    sha256_stream *digest; /* of the file; NULL: nobody asks */
} reader;

static bool corrupt(status *st, const char *what) {
    return status_set(st, STATUS_CORRUPT, "%s", what);
}

/* More input, if there is none; at the end of the file at == end stays. */
static bool refill(reader *r, status *st) {
    if (r->at < r->end)
        return true;
    ssize_t n;
    do
        n = read(r->fd, r->input, sizeof r->input);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return status_set_errno(st, errno, "cannot read it");
    r->at = 0;
    r->end = (size_t)n;
    if (r->digest)
        sha256_stream_update(r->digest, r->input, r->end);
    return true;
}

/* Decodes until `size_bytes` are there or the frame ends; *got says how many. */
static bool decode(reader *r, void *out, size_t size_bytes, size_t *got, status *st) {
    *got = 0;
    while (*got < size_bytes && !r->frame_ended) {
        if (!refill(r, st))
            return false;
        if (r->at == r->end)
            return corrupt(st, "it ends in the middle");
        size_t out_bytes = size_bytes - *got, in_bytes = r->end - r->at;
        size_t hint = LZ4F_decompress(r->context, (char *)out + *got, &out_bytes, r->input + r->at,
                                      &in_bytes, NULL);
        if (LZ4F_isError(hint))
            return status_set(st, STATUS_CORRUPT, "it is damaged (%s)", LZ4F_getErrorName(hint));
        r->at += in_bytes;
        *got += out_bytes;
        r->frame_ended = hint == 0;
    }
    return true;
}

static bool decode_all(reader *r, void *out, size_t size_bytes, status *st) {
    size_t got;
    if (!decode(r, out, size_bytes, &got, st))
        return false;
    return got == size_bytes || corrupt(st, "its archive ends in the middle");
}

static bool decode_zeros(reader *r, size_t size_bytes, status *st) {
    static const unsigned char zeros[TAR_END_BYTES];
    unsigned char found[TAR_END_BYTES];
    if (!decode_all(r, found, size_bytes, st))
        return false;
    return memcmp(found, zeros, size_bytes) == 0 || corrupt(st, "bytes between its members");
}

/* The most that the file may say to hold, so that a size is never believed further than this. */
static bool content_is_plausible(uint64_t content_bytes, uint64_t file_bytes) {
    enum { BLOCK_OVERHEAD = 8, RATIO_MAX = 255 }; /* LZ4: a byte of a length stands for 255 */
    const uint64_t around = (uint64_t)(PACK_MEMBERS_MAX + 2) * 2 * TAR_BLOCK_BYTES;
    if (content_bytes > PACK_TOTAL_BYTES_MAX + PACK_MANIFEST_BYTES_MAX + around)
        return false;
    uint64_t blocks = content_bytes / FRAME_BLOCK_BYTES + 2;
    return file_bytes <= content_bytes + blocks * BLOCK_OVERHEAD + FRAME_HEADER_BYTES + 4 &&
           content_bytes / RATIO_MAX <= file_bytes;
}

static bool read_frame_header(reader *r, uint64_t file_bytes, status *st) {
    if (!refill(r, st))
        return false;
    if (r->end < FRAME_HEADER_BYTES || memcmp(r->input, frame_start, 4) != 0)
        return corrupt(st, "it is not a pack: no LZ4 frame");
    if (memcmp(r->input, frame_start, sizeof frame_start) != 0)
        return corrupt(st, "its LZ4 frame is not of the kind that tsr writes");
    for (size_t i = 0; i < 8; i++)
        r->content_bytes |= (uint64_t)r->input[sizeof frame_start + i] << (8 * i);
    return content_is_plausible(r->content_bytes, file_bytes) ||
           corrupt(st, "its LZ4 frame names a size over the limit, or not its own");
}

/* Names what stands in place of the expected header. */
static const char *kind_of(unsigned char type) {
    switch (type) {
    case '\0':
    case '0':
    case '7':
        return "another file";
    case '1':
        return "a hard link";
    case '2':
        return "a symbolic link";
    case '3':
    case '4':
    case '6':
        return "a device or a pipe";
    case '5':
        return "a folder";
    default:
        return "an extension of tar";
    }
}

static bool read_member_header(reader *r, const char *name, size_t size_bytes, status *st) {
    unsigned char expected[TAR_BLOCK_BYTES], found[TAR_BLOCK_BYTES];
    if (!decode_all(r, found, sizeof found, st))
        return false;
    tar_header(expected, name, size_bytes);
    if (memcmp(expected, found, sizeof found) == 0)
        return true;
    bool same_name = memcmp(expected, found, TAR_NAME_BYTES) == 0;
    bool same_type = found[TAR_TYPE_OFFSET] == '0';
    return status_set(st, STATUS_CORRUPT, "where the manifest has %s there is %s", name,
                      same_name && same_type ? "one with another size or attributes"
                                             : kind_of(found[TAR_TYPE_OFFSET]));
}

/* Eleven octal digits; SIZE_MAX where they are none. */
static size_t read_octal(const unsigned char *field) {
    size_t value = 0;
    for (int i = 0; i < 11; i++) {
        if (field[i] < '0' || field[i] > '7')
            return SIZE_MAX;
        value = value << 3 | (size_t)(field[i] - '0');
    }
    return value;
}

/* Memory that grows only as it is written; page by page, that is most of the time of a large pack,
 * so large pages are asked for. NULL where there is none. */
static char *allocate(size_t size_bytes) {
    enum { LARGE_PAGE_BYTES = 2 << 20 };
    if (size_bytes < 2 * LARGE_PAGE_BYTES)
        return malloc(size_bytes);
    size_t rounded = (size_bytes + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
    char *data = aligned_alloc(LARGE_PAGE_BYTES, rounded);
    if (data)
        (void)madvise(data, size_bytes / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES, MADV_HUGEPAGE);
    return data;
}

/* A block at a time, so that its digest is taken while it is in the cache. */
static bool decode_and_digest(reader *r, char *data, size_t size_bytes, sha256 *digest,
                              status *st) {
    sha256_stream *stream = sha256_stream_new();
    bool ok = true;
    for (size_t done = 0; done < size_bytes && ok;) {
        size_t step = size_bytes - done;
        step = step < FRAME_BLOCK_BYTES ? step : FRAME_BLOCK_BYTES;
        ok = decode_all(r, data + done, step, st);
        if (ok)
            sha256_stream_update(stream, data + done, step);
        done += step;
    }
    *digest = sha256_stream_finish(stream);
    return ok && decode_zeros(r, tar_padding(size_bytes), st);
}

static bool read_data(reader *r, size_t size_bytes, char **data_out, sha256 *digest, status *st) {
    char *data = allocate(size_bytes + 1);
    if (!data)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for a member of %zu bytes",
                          size_bytes);
    if (!decode_and_digest(r, data, size_bytes, digest, st)) {
        free(data);
        return false;
    }
    data[size_bytes] = '\0';
    *data_out = data;
    return true;
}

static pack_state read_manifest(reader *r, manifest *m, size_t *size_out, status *st) {
    unsigned char found[TAR_BLOCK_BYTES], expected[TAR_BLOCK_BYTES];
    char *json;
    sha256 digest;
    if (!decode_all(r, found, sizeof found, st))
        return PACK_INVALID;
    size_t size = read_octal(found + TAR_SIZE_OFFSET);
    tar_header(expected, MANIFEST_NAME, size <= PACK_MANIFEST_BYTES_MAX ? size : 0);
    if (memcmp(found, expected, sizeof found) != 0) {
        bool named = memcmp(found, expected, TAR_NAME_BYTES) == 0;
        corrupt(st, named ? "its manifest is too large, or not an ordinary file"
                          : "its first member is not " MANIFEST_NAME);
        return PACK_INVALID;
    }
    if (!read_data(r, size, &json, &digest, st))
        return PACK_INVALID;
    status why = STATUS_INIT;
    pack_state state = manifest_read(m, json, size, &why);
    if (state != PACK_VALID)
        status_set(st, state == PACK_NEWER ? STATUS_UNAVAILABLE : STATUS_CORRUPT, "%s",
                   why.message);
    free(json);
    *size_out = size;
    return state;
}

static bool sizes_agree(const reader *r, const manifest *m, size_t manifest_bytes) {
    uint64_t expected = tar_member_bytes(manifest_bytes) + TAR_END_BYTES;
    for (size_t i = 0; i < m->count; i++)
        expected += tar_member_bytes(m->entries[i].size_bytes);
    return expected == r->content_bytes;
}

static bool read_member(reader *r, pack *p, const manifest_entry *entry, status *st) {
    char *data, hex[65];
    sha256 digest;
    if (!read_member_header(r, entry->name, entry->size_bytes, st) ||
        !read_data(r, entry->size_bytes, &data, &digest, st))
        return false;
    p->members[p->count++] = (pack_member){entry->name, data, entry->size_bytes};
    sha256_hex(&digest, hex);
    if (strcmp(hex, entry->sha256) != 0)
        return status_set(st, STATUS_CORRUPT, "%s is not what the manifest says: SHA-256 %s",
                          entry->name, hex);
    return true;
}

/* Two blocks of zeros, the end of the frame, the end of the file. */
static bool read_end(reader *r, status *st) {
    unsigned char more;
    size_t got;
    if (!decode_zeros(r, TAR_END_BYTES, st) || !decode(r, &more, 1, &got, st))
        return false;
    if (got)
        return corrupt(st, "its archive goes on after the end");
    if (!refill(r, st))
        return false;
    return r->at == r->end || corrupt(st, "bytes after the end of its LZ4 frame");
}

static pack_state read_pack(reader *r, pack *p, uint64_t file_bytes, status *st) {
    size_t manifest_bytes;
    if (!read_frame_header(r, file_bytes, st))
        return PACK_INVALID;
    pack_state state = read_manifest(r, &p->about, &manifest_bytes, st);
    if (state != PACK_VALID)
        return state;
    if (!sizes_agree(r, &p->about, manifest_bytes)) {
        corrupt(st, "its size is not the one of the members in its manifest");
        return PACK_INVALID;
    }
    uint64_t members_bytes = 0;
    for (size_t i = 0; i < p->about.count; i++)
        members_bytes += p->about.entries[i].size_bytes;
    if (members_bytes > r->members_bytes_max) {
        status_set(st, STATUS_CORRUPT, "its members take %" PRIu64 " bytes, of %" PRIu64 " allowed",
                   members_bytes, r->members_bytes_max);
        return PACK_INVALID;
    }
    p->members = base_calloc(p->about.count + 1, sizeof *p->members);
    for (size_t i = 0; i < p->about.count; i++)
        if (!read_member(r, p, &p->about.entries[i], st))
            return PACK_INVALID;
    return read_end(r, st) ? PACK_VALID : PACK_INVALID;
}

static int open_regular(const char *path, uint64_t *size_out, status *st) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        status_set_errno(st, errno, "cannot open %s", path);
        return -1;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *size_out = (uint64_t)info.st_size;
        return fd;
    }
    status_set(st, STATUS_INVALID, "%s is not a regular file", path);
    close(fd);
    return -1;
}

pack *pack_read(const char *path, pack_state *state, status *st) {
    return pack_read_within(path, PACK_TOTAL_BYTES_MAX, state, st);
}

pack *pack_read_within(const char *path, size_t total_bytes_max, pack_state *state, status *st) {
    return pack_read_digest(path, total_bytes_max, NULL, state, st);
}

pack *pack_read_digest(const char *path, size_t total_bytes_max, sha256 *file, pack_state *state,
                       status *st) {
    status why = STATUS_INIT;
    uint64_t file_bytes;
    *state = PACK_INVALID;
    int fd = open_regular(path, &file_bytes, st);
    if (fd < 0)
        return NULL;
    pack *p = base_calloc(1, sizeof *p);
    reader *r = base_calloc(1, sizeof *r);
    r->fd = fd;
    r->members_bytes_max = total_bytes_max;
    r->digest = file ? sha256_stream_new() : NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&r->context, LZ4F_VERSION)))
        status_set(&why, STATUS_OUT_OF_MEMORY, "no memory to read it");
    else
        *state = read_pack(r, p, file_bytes, &why);
    LZ4F_freeDecompressionContext(r->context);
    if (file)
        *file = sha256_stream_finish(r->digest);
    free(r);
    close(fd);
    if (*state == PACK_VALID)
        return p;
    status_set(st, why.code, "%s: %s", path, why.message);
    pack_free(p);
    return NULL;
}

void pack_free(pack *p) {
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++)
        free((void *)(uintptr_t)p->members[i].data);
    free(p->members);
    manifest_release(&p->about);
    free(p);
}

const json_t *pack_about(const pack *p) {
    return p->about.root;
}

const pack_member *pack_find(const pack *p, const char *name) {
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->members[i].name, name) == 0)
            return &p->members[i];
    return NULL;
}

size_t pack_member_count(const pack *p) {
    return p->count;
}

const pack_member *pack_member_at(const pack *p, size_t index) {
    return index < p->count ? &p->members[index] : NULL;
}
