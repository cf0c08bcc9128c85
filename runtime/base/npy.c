/* npy.c - NumPy's .npy files (numpy.lib.format, versions 1.0 to 3.0).
 *
 * Layout: "\x93NUMPY", u8 major, u8 minor, header length (u16, or u32 from 2.0), then a Python dict
 * literal with 'descr', 'fortran_order' and 'shape', padded with blanks to a newline, then the
 * elements. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/tensor.h"
#include "base/text.h"

enum { HEADER_LIMIT_BYTES = 1 << 16, DESCR_LIMIT = 16 };

typedef struct npy_header {
    char descr[DESCR_LIMIT];
    bool fortran_order;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    size_t data_offset;
} npy_header;

/* A reader of the dict literal: `at` walks to `end`; every failure names `path`. */
typedef struct npy_reader {
    const char *path;
    const char *at, *end;
    status *st;
} npy_reader;

static bool malformed(npy_reader *r, const char *what) {
    return status_set(r->st, STATUS_CORRUPT, "%s: damaged .npy header: %s", r->path, what);
}

static void skip_blanks(npy_reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t'))
        r->at++;
}

static bool take(npy_reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool read_string(npy_reader *r, char *out, size_t capacity) {
    char quote = '\'';
    if (!take(r, '\'')) {
        quote = '"';
        if (!take(r, '"'))
            return malformed(r, "expected a quoted string");
    }
    size_t length = 0;
    while (r->at < r->end && *r->at != quote) {
        if (length + 1 == capacity)
            return malformed(r, "a string is too long (structured types are not supported)");
        out[length++] = *r->at++;
    }
    out[length] = '\0';
    return take(r, quote) || malformed(r, "unterminated string");
}

static bool take_word(npy_reader *r, const char *word) {
    size_t length = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool read_bool(npy_reader *r, bool *out) {
    *out = take_word(r, "True");
    return *out || take_word(r, "False") ||
           malformed(r, "'fortran_order' is neither True nor False");
}

static bool read_dimension(npy_reader *r, int64_t *out) {
    int64_t value = 0;
    skip_blanks(r);
    const char *first = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(*r->at - '0'), &value))
            return malformed(r, "a dimension is above 2^63");
    *out = value;
    return r->at != first || malformed(r, "a dimension is not a non-negative integer");
}

static bool read_shape(npy_reader *r, npy_header *h) {
    if (!take(r, '('))
        return malformed(r, "'shape' is not a tuple");
    while (!take(r, ')')) {
        if (h->rank == TENSOR_MAX_RANK)
            return status_set(r->st, STATUS_INVALID, "%s: more than %d dimensions", r->path,
                              TENSOR_MAX_RANK);
        if (!read_dimension(r, &h->dims[h->rank]))
            return false;
        h->rank++;
        if (!take(r, ',')) {
            if (!take(r, ')'))
                return malformed(r, "'shape' is not closed");
            break;
        }
    }
    return true;
}

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static bool read_entry(npy_reader *r, npy_header *h, int *seen) {
    char key[32];
    if (!read_string(r, key, sizeof key))
        return false;
    if (!take(r, ':'))
        return malformed(r, "expected ':' after a key");
    int bit = strcmp(key, "descr") == 0           ? KEY_DESCR
              : strcmp(key, "fortran_order") == 0 ? KEY_ORDER
              : strcmp(key, "shape") == 0         ? KEY_SHAPE
                                                  : 0;
    if (bit == 0 || (*seen & bit))
        return malformed(r, "an unknown or repeated key");
    *seen |= bit;
    if (bit == KEY_DESCR)
        return read_string(r, h->descr, sizeof h->descr);
    return bit == KEY_ORDER ? read_bool(r, &h->fortran_order) : read_shape(r, h);
}

static bool read_dict(npy_reader *r, npy_header *h) {
    int seen = 0;
    if (!take(r, '{'))
        return malformed(r, "expected '{'");
    while (!take(r, '}')) {
        if (!read_entry(r, h, &seen))
            return false;
        if (!take(r, ',')) {
            if (!take(r, '}'))
                return malformed(r, "the dict is not closed");
            break;
        }
    }
    skip_blanks(r);
    if (r->at != r->end)
        return malformed(r, "text after the dict");
    return seen == KEY_ALL || malformed(r, "'descr', 'fortran_order' or 'shape' is missing");
}

static bool read_exactly(int fd, void *data, size_t size_bytes) {
    size_t got = 0;
    while (got < size_bytes) {
        ssize_t n = read(fd, (char *)data + got, size_bytes - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static bool read_header(int fd, const char *path, npy_header *h, status *st) {
    unsigned char prefix[12];
    if (!read_exactly(fd, prefix, 10) || memcmp(prefix, "\x93NUMPY", 6) != 0)
        return status_set(st, STATUS_CORRUPT, "%s is not a .npy file (no \\x93NUMPY at its start)",
                          path);
    int major = prefix[6], minor = prefix[7];
    if (major < 1 || major > 3 || minor != 0)
        return status_set(st, STATUS_CORRUPT,
                          "%s: .npy version %d.%d; 1.0, 2.0 and 3.0 are supported", path, major,
                          minor);
    size_t length = (size_t)prefix[8] | (size_t)prefix[9] << 8, start = 10;
    if (major > 1) {
        if (!read_exactly(fd, prefix + 10, 2))
            return status_set(st, STATUS_CORRUPT, "%s: the file ends inside its header", path);
        length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
        start = 12;
    }
    if (length > HEADER_LIMIT_BYTES)
        return status_set(st, STATUS_CORRUPT, "%s: a header of %zu bytes; at most %d are read",
                          path, length, HEADER_LIMIT_BYTES);
    char *dict = base_malloc(length + 1);
    npy_reader r = {path, dict, dict + length, st};
    bool ok = read_exactly(fd, dict, length) ||
              status_set(st, STATUS_CORRUPT, "%s: the file ends inside its header", path);
    ok = ok && read_dict(&r, h);
    h->data_offset = start + length;
    free(dict);
    return ok;
}

/* The byte order of a single byte may be written in any way. */
static bool same_descr(const char *descr, dtype t) {
    const char *ours = dtype_npy_descr(t);
    return strcmp(ours, descr) == 0 || (dtype_size(t) == 1 && strcmp(ours + 1, descr + 1) == 0);
}

/* Types that NumPy lacks: the descr that we write, or raw bytes ("V1", "V2") and "f1" as the
 * package ml_dtypes writes them. */
static bool travels_as(const char *descr, dtype want) {
    if (want == DTYPE_NONE || dtype_owns_npy_descr(want))
        return false;
    bool small = descr[0] && descr[1] && descr[2] == '0' + (char)dtype_size(want) && !descr[3];
    bool raw = small && descr[1] == 'V' && dtype_size(want) < 4;
    bool float1 = small && descr[1] == 'f' && dtype_is_float(want) && dtype_size(want) == 1;
    return raw || float1 || same_descr(descr, want);
}

/* Our type for a descr; messages say what was found. */
static bool type_of_descr(const char *path, const char *descr, dtype want, dtype *out, status *st) {
    if (descr[0] == '>')
        return status_set(st, STATUS_INVALID,
                          "%s: type '%s' is big endian; only little endian is read (in NumPy: "
                          "a.astype(a.dtype.newbyteorder('<')))",
                          path, descr);
    if (travels_as(descr, want)) {
        *out = want;
        return true;
    }
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        if (dtype_owns_npy_descr((dtype)t) && same_descr(descr, (dtype)t)) {
            *out = (dtype)t;
            return want == DTYPE_NONE || want == *out ||
                   status_set(st, STATUS_INVALID, "%s holds %s; %s was expected", path,
                              dtype_name(*out), dtype_name(want));
        }
    return status_set(
        st, STATUS_INVALID,
        "%s: type '%s' is not supported (f8, f4, f2, i8, i4, i2, i1, u8, u4, u2, u1 and b1 are)",
        path, descr);
}

/* Reorders column-major elements into row-major ones. */
static void from_fortran(tensor *t, const unsigned char *columns) {
    size_t size = dtype_size(t->type), stride[TENSOR_MAX_RANK], next = 1;
    int64_t index[TENSOR_MAX_RANK] = {0};
    for (int i = 0; i < t->rank; i++) {
        stride[i] = next;
        next *= (size_t)t->dims[i];
    }
    unsigned char *out = t->data;
    for (int64_t n = tensor_count(t); n > 0; n--, out += size) {
        size_t at = 0;
        for (int i = 0; i < t->rank; i++)
            at += (size_t)index[i] * stride[i];
        memcpy(out, columns + at * size, size);
        for (int i = t->rank - 1; i >= 0 && ++index[i] == t->dims[i]; i--)
            index[i] = 0;
    }
}

bool tensor_check_bytes(const tensor *t, const char *what, status *st) {
    const signed char *bytes = t->data;
    int64_t count = tensor_count(t);
    for (int64_t i = 0; t->type == DTYPE_BOOL && i < count; i++)
        if (bytes[i] != 0 && bytes[i] != 1)
            return status_set(st, STATUS_CORRUPT, "%s: element %lld of type bool is %d, not 0 or 1",
                              what, (long long)i, (unsigned char)bytes[i]);
    for (int64_t i = 0; t->type == DTYPE_I4 && i < count; i++)
        if (bytes[i] < -8 || bytes[i] > 7)
            return status_set(st, STATUS_CORRUPT,
                              "%s: element %lld of type i4 is %d, not between -8 and 7", what,
                              (long long)i, bytes[i]);
    return true;
}

static bool read_elements(int fd, const char *path, bool fortran, tensor *t, status *st) {
    size_t bytes = tensor_bytes(t);
    if (!read_exactly(fd, t->data, bytes))
        return status_set(st, STATUS_IO, "%s: cannot read its %zu bytes of elements", path, bytes);
    if (fortran && t->rank > 1 && bytes > 0) {
        unsigned char *columns = base_malloc(bytes);
        memcpy(columns, t->data, bytes);
        from_fortran(t, columns);
        free(columns);
    }
    return tensor_check_bytes(t, path, st);
}

/* The length of the file must be what the header says, before anything is allocated for it. */
static bool check_length(int fd, const char *path, const npy_header *h, dtype type, status *st) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return status_set_errno(st, errno, "cannot stat %s", path);
    bool empty = false, too_big = false;
    int64_t bytes = (int64_t)dtype_size(type);
    for (int i = 0; i < h->rank; i++)
        empty |= h->dims[i] == 0;
    for (int i = 0; i < h->rank && !empty; i++)
        too_big |= __builtin_mul_overflow(bytes, h->dims[i], &bytes);
    if (empty)
        bytes = 0;
    int64_t present = (int64_t)info.st_size - (int64_t)h->data_offset;
    if (too_big || present != bytes)
        return status_set(st, STATUS_CORRUPT,
                          "%s: its shape needs %s%lld bytes of elements; the file has %lld", path,
                          too_big ? "more than " : "",
                          too_big ? (long long)INT64_MAX : (long long)bytes, (long long)present);
    return true;
}

bool tensor_open_npy(npy_layout *layout, int *fd_out, const char *path, dtype want, status *st) {
    struct stat info;
    npy_header h = {0};
    dtype type = DTYPE_NONE;
    *layout = (npy_layout){0};
    *fd_out = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return status_set_errno(st, errno, "cannot open %s", path);
    bool ok = (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) ||
              status_set(st, STATUS_INVALID, "%s is not a regular file", path);
    ok = ok && read_header(fd, path, &h, st) && type_of_descr(path, h.descr, want, &type, st) &&
         check_length(fd, path, &h, type, st);
    if (!ok) {
        close(fd);
        return false;
    }
    *layout = (npy_layout){.type = type,
                           .rank = h.rank,
                           .fortran_order = h.fortran_order,
                           .data_offset = h.data_offset};
    memcpy(layout->dims, h.dims, sizeof h.dims);
    *fd_out = fd;
    return true;
}

bool tensor_read_npy(tensor *t, const char *path, dtype want, status *st) {
    npy_layout layout;
    int fd;
    *t = (tensor){0};
    if (!tensor_open_npy(&layout, &fd, path, want, st))
        return false;
    bool made = tensor_init(t, layout.type, layout.rank, layout.dims, st);
    bool ok = made ? read_elements(fd, path, layout.fortran_order, t, st)
                   : status_context(st, "reading %s", path);
    if (made && !ok)
        tensor_release(t);
    close(fd);
    return ok;
}

void tensor_npy_header(const tensor *t, text *out) {
    text header;
    text_init(&header);
    text_append_bytes(&header, "\x93NUMPY\x01\x00\x00\x00", 10);
    text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                dtype_npy_descr(t->type));
    for (int i = 0; i < t->rank; i++)
        text_printf(&header, "%s%lld%s", i ? " " : "", (long long)t->dims[i],
                    i + 1 < t->rank || t->rank == 1 ? "," : "");
    text_append(&header, "), }");
    while ((header.length + 1) % 64 != 0)
        text_append_char(&header, ' ');
    text_append_char(&header, '\n');
    size_t length = header.length - 10; /* at most 8 dimensions of 20 digits: far below 65536 */
    header.data[8] = (char)(length & 0xff);
    header.data[9] = (char)(length >> 8);
    text_append_bytes(out, header.data, header.length);
    text_release(&header);
}

bool tensor_write_npy(const tensor *t, const char *path, status *st) {
    text header;
    text_init(&header);
    tensor_npy_header(t, &header);
    file_part parts[] = {{header.data, header.length}, {t->data, tensor_bytes(t)}};
    bool ok = file_write_parts(path, parts, 2, st);
    text_release(&header);
    return ok;
}
