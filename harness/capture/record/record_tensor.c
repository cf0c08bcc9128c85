/* record_tensor.c - the content of a tensor: hashed, and kept where it is asked for.
 *
 * The hash is XXH3 of 128 bits (github.com/Cyan4973/xxHash) over "DTYPE[SHAPE]" and the elements,
 * row-major. It tells tensors apart that nobody made to collide. */
#define XXH_INLINE_ALL
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#include "record.h"

enum { PIECE_BYTES = 1 << 16 };

/* Sink of elements: a hash, and a file. */
typedef struct sink {
    XXH3_state_t *hash;
    int fd; /* -1: none */
    int why;
    size_t filled;
    unsigned char *piece; /* PIECE_BYTES */
} sink;

static void pour(sink *s, const void *data, size_t count) {
    XXH3_128bits_update(s->hash, data, count);
    if (s->fd >= 0 && !s->why && !record_write_all(s->fd, data, count))
        s->why = errno;
}

static void flush(sink *s) {
    if (s->filled)
        pour(s, s->piece, s->filled);
    s->filled = 0;
}

static void put(sink *s, const void *data, size_t count) {
    if (count >= PIECE_BYTES / 4) {
        flush(s);
        pour(s, data, count);
        return;
    }
    if (s->filled + count > PIECE_BYTES)
        flush(s);
    memcpy(s->piece + s->filled, data, count);
    s->filled += count;
}

/* Elements [begin, end) of a row of a part are seen. */
static void seen_of_row(record_part part, int64_t row, int64_t columns, int64_t *begin,
                        int64_t *end) {
    int64_t open = part == RECORD_UPPER_OPEN || part == RECORD_LOWER_OPEN;
    bool upper = part == RECORD_UPPER || part == RECORD_UPPER_OPEN;
    bool lower = part == RECORD_LOWER || part == RECORD_LOWER_OPEN;
    *begin = upper ? row + open : 0;
    *end = lower ? row + 1 - open : columns;
    *begin = *begin < columns ? *begin : columns;
    *end = *end < columns ? *end : columns;
}

static void put_row(sink *s, const record_tensor *t, const unsigned char *row, int64_t number) {
    static const unsigned char zeros[16];
    int64_t columns = t->rank ? t->shape[t->rank - 1] : 1;
    int64_t step = t->rank ? t->strides[t->rank - 1] : 1, begin, end;
    size_t size = t->item_bytes;
    seen_of_row(t->part, number, columns, &begin, &end);
    if (step == 1 && begin == 0 && end == columns) {
        put(s, row, (size_t)columns * size);
        return;
    }
    for (int64_t i = 0; i < columns; i++)
        put(s, i >= begin && i < end ? row + i * step * (int64_t)size : zeros, size);
}

/* The axes from `axis` on; the last is a row. */
static void put_axes(sink *s, const record_tensor *t, int axis, const unsigned char *at,
                     int64_t number) {
    if (axis + 1 >= t->rank) {
        put_row(s, t, at, number);
        return;
    }
    for (int64_t i = 0; i < t->shape[axis]; i++)
        put_axes(s, t, axis + 1, at + i * t->strides[axis] * (int64_t)t->item_bytes, i);
}

static size_t describe(const record_tensor *t, char *out, size_t room) {
    int length = snprintf(out, room, "%s[", t->dtype);
    for (int axis = 0; axis < t->rank; axis++)
        length += snprintf(out + length, room - (size_t)length, "%s%lld", axis ? "," : "",
                           (long long)t->shape[axis]);
    length += snprintf(out + length, room - (size_t)length, "]");
    return (size_t)length;
}

/* A .npy file of version 1: its header fills a multiple of 64 bytes. */
static bool write_head(int fd, const record_tensor *t) {
    char head[512] = "\x93NUMPY\x01";
    int length = 10;
    length += snprintf(head + length, sizeof head - (size_t)length,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (", t->descr);
    for (int axis = 0; axis < t->rank; axis++)
        length += snprintf(head + length, sizeof head - (size_t)length, "%lld,",
                           (long long)t->shape[axis]);
    length += snprintf(head + length, sizeof head - (size_t)length, "), }");
    while (length % 64 != 63)
        head[length++] = ' ';
    head[length++] = '\n';
    head[8] = (char)((length - 10) & 0xff);
    head[9] = (char)((length - 10) >> 8);
    return record_write_all(fd, head, (size_t)length);
}

static void name_hash(XXH128_hash_t hash, char out[RECORD_HASH_BYTES]) {
    snprintf(out, RECORD_HASH_BYTES, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static void take(sink *s, const record_tensor *t, char hash[RECORD_HASH_BYTES]) {
    char about[256];
    XXH3_128bits_reset(s->hash);
    XXH3_128bits_update(s->hash, about, describe(t, about, sizeof about));
    bool empty = false;
    for (int axis = 0; axis < t->rank; axis++)
        empty |= t->shape[axis] == 0;
    if (!empty)
        put_axes(s, t, 0, t->data, 0);
    flush(s);
    name_hash(XXH3_128bits_digest(s->hash), hash);
}

/* Into a file of another name, which gets its own when it is whole. */
static bool keep(sink *s, const record_tensor *t, const char *folder,
                 char hash[RECORD_HASH_BYTES]) {
    char path[4352], name[4352];
    snprintf(path, sizeof path, "%s/.%d-%ld", folder, (int)getpid(), syscall(SYS_gettid));
    s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (s->fd < 0)
        return false;
    bool ok = write_head(s->fd, t);
    if (ok)
        take(s, t, hash);
    s->why = ok ? s->why : errno;
    snprintf(name, sizeof name, "%s/%s.npy", folder, hash);
    if (close(s->fd) != 0 && !s->why)
        s->why = errno;
    if (!s->why && rename(path, name) != 0)
        s->why = errno;
    if (!s->why)
        return true;
    unlink(path);
    errno = s->why;
    return false;
}

bool record_tensor_take(const record_tensor *t, const char *folder, char hash[RECORD_HASH_BYTES]) {
    sink s = {.hash = XXH3_createState(), .fd = -1, .piece = malloc(PIECE_BYTES)};
    bool ok = s.hash && s.piece;
    if (!ok)
        errno = ENOMEM;
    else if (folder)
        ok = keep(&s, t, folder, hash);
    else
        take(&s, t, hash);
    if (s.hash)
        XXH3_freeState(s.hash);
    free(s.piece);
    return ok;
}
