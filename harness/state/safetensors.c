/* safetensors.c - see safetensors.h. */
#include "state/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

#define LENGTH_BYTES UINT64_C(8)
#define HEADER_BYTES_MAX UINT64_C(100000000)

static const struct element_type {
    const char *word;
    dtype type;
    uint64_t bytes;
} types[] = {
#define TYPE(word, type, bytes) {word, DTYPE_##type, bytes},
#include "state/safetensors_types.def"
#undef TYPE
};

/* ---- the header ---- */

static bool refuse(const safetensors *s, const char *name, const char *what, status *st) {
    return status_set(st, STATUS_CORRUPT, "%s: tensor '%.100s': %s", s->path, name, what);
}

static const struct element_type *type_named(const char *word) {
    for (size_t i = 0; word && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].word, word) == 0)
            return &types[i];
    return NULL;
}

static bool read_natural(const json_t *value, uint64_t *out) {
    *out = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

/* The bytes that the shape needs. */
static bool read_shape(const safetensors *s, safetensors_entry *e, const json_t *shape,
                       uint64_t *bytes, status *st) {
    size_t axis;
    const json_t *value;
    uint64_t extent;
    bool empty = false, fits = true;
    if (!json_is_array(shape))
        return refuse(s, e->name, "it has no \"shape\", a list of extents", st);
    e->rank = json_array_size(shape) > TENSOR_MAX_RANK ? TENSOR_MAX_RANK + 1
                                                       : (int)json_array_size(shape);
    json_array_foreach(shape, axis, value) {
        if (!read_natural(value, &extent))
            return refuse(s, e->name, "an extent of its shape is no number from 0 on", st);
        if (axis < TENSOR_MAX_RANK)
            e->dims[axis] = (int64_t)extent;
        empty |= extent == 0;
        fits = fits && !__builtin_mul_overflow(*bytes, extent, bytes);
    }
    *bytes = empty ? 0 : *bytes;
    return empty || fits || refuse(s, e->name, "its shape has more than 2^64 bytes", st);
}

static bool read_place(const safetensors *s, safetensors_entry *e, const json_t *place,
                       uint64_t wanted, uint64_t size, status *st) {
    if (json_array_size(place) != 2 || !read_natural(json_array_get(place, 0), &e->begin) ||
        !read_natural(json_array_get(place, 1), &e->end) || e->begin > e->end)
        return refuse(s, e->name, "it has no \"data_offsets\", [begin, end]", st);
    if (e->end > size)
        return status_set(st, STATUS_CORRUPT,
                          "%s: tensor '%.100s' ends at byte %" PRIu64 " of the elements, and the "
                          "file has %" PRIu64 ": it was cut short, or its header is wrong",
                          s->path, e->name, e->end, size);
    return e->end - e->begin == wanted ||
           status_set(st, STATUS_CORRUPT,
                      "%s: tensor '%.100s' has %" PRIu64
                      " bytes, and its shape of %s needs %" PRIu64,
                      s->path, e->name, e->end - e->begin, e->word, wanted);
}

static bool read_entry(safetensors *s, const char *name, const json_t *value, uint64_t size,
                       status *st) {
    safetensors_entry e = {.name = name};
    const char *word = json_string_value(json_object_get(value, "dtype"));
    const struct element_type *type = type_named(word);
    if (!type)
        return status_set(st, STATUS_CORRUPT,
                          "%s: tensor '%.100s': its \"dtype\" is %.40s, which is no element type "
                          "of .safetensors files",
                          s->path, name, word ? word : "not there");
    e.word = type->word;
    e.type = type->type;
    uint64_t bytes = type->bytes;
    if (!read_shape(s, &e, json_object_get(value, "shape"), &bytes, st) ||
        !read_place(s, &e, json_object_get(value, "data_offsets"), bytes, size, st))
        return false;
    vec_push(&s->entries, e);
    return true;
}

static int compare_places(const void *a, const void *b) {
    const safetensors_entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Elements of two tensors, or of none, are a sign of a header that is not the file's. */
static bool check_places(safetensors *s, uint64_t size, status *st) {
    uint64_t end = 0;
    const char *before = "";
    if (s->entries.count)
        qsort(s->entries.items, s->entries.count, sizeof *s->entries.items, compare_places);
    for (size_t i = 0; i < s->entries.count; i++) {
        const safetensors_entry *e = &s->entries.items[i];
        if (e->begin < end)
            return status_set(st, STATUS_CORRUPT,
                              "%s: tensors '%.100s' and '%.100s' share byte %" PRIu64
                              " of the elements",
                              s->path, before, e->name, e->begin);
        if (e->begin > end)
            return status_set(st, STATUS_CORRUPT,
                              "%s: bytes %" PRIu64 " to %" PRIu64
                              " of the elements, before tensor '%.100s', are of no tensor",
                              s->path, end, e->begin, e->name);
        end = e->end;
        before = e->name;
    }
    return end == size ||
           status_set(st, STATUS_CORRUPT, "%s: the last %" PRIu64 " bytes are of no tensor",
                      s->path, size - end);
}

static bool read_entries(safetensors *s, uint64_t size, status *st) {
    const char *name;
    json_t *value;
    json_object_foreach(s->header, name, value) {
        if (strcmp(name, "__metadata__") != 0 && !read_entry(s, name, value, size, st))
            return false;
    }
    return check_places(s, size, st);
}

/* ---- the file ---- */

static bool parse_header(safetensors *s, uint64_t length, status *st) {
    json_error_t error;
    char *words = base_malloc(length + 1);
    bool ok = fread(words, 1, length, s->file) == length ||
              status_set(st, STATUS_IO, "%s: cannot read its header", s->path);
    s->header = ok ? json_loadb(words, length, JSON_REJECT_DUPLICATES, &error) : NULL;
    free(words);
    if (ok && !s->header)
        return status_set(st, STATUS_CORRUPT, "%s: its header is no JSON, at byte %d: %.150s",
                          s->path, error.position, error.text);
    return ok && (json_is_object(s->header) ||
                  status_set(st, STATUS_CORRUPT, "%s: its header is no JSON object", s->path));
}

static bool read_header(safetensors *s, uint64_t size, status *st) {
    unsigned char bytes[LENGTH_BYTES];
    uint64_t length = 0;
    if (size < LENGTH_BYTES || fread(bytes, 1, sizeof bytes, s->file) != sizeof bytes)
        return status_set(st, STATUS_CORRUPT,
                          "%s is no .safetensors file: it has fewer than 8 bytes", s->path);
    for (size_t i = 0; i < sizeof bytes; i++)
        length |= (uint64_t)bytes[i] << 8 * i;
    if (length > HEADER_BYTES_MAX)
        return status_set(st, STATUS_CORRUPT,
                          "%s: a header of %" PRIu64 " bytes; at most %" PRIu64
                          " are read, and a .safetensors file begins with that number",
                          s->path, length, HEADER_BYTES_MAX);
    if (length > size - LENGTH_BYTES)
        return status_set(st, STATUS_CORRUPT,
                          "%s: its header has %" PRIu64 " bytes, and the file only %" PRIu64
                          " behind its first 8: it was cut short, or is no .safetensors file",
                          s->path, length, size - LENGTH_BYTES);
    s->data_offset = LENGTH_BYTES + length;
    return parse_header(s, length, st) && read_entries(s, size - s->data_offset, st);
}

bool safetensors_open(safetensors *s, const char *path, status *st) {
    struct stat info;
    *s = (safetensors){.path = base_strdup(path)};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return status_set_errno(st, errno, "cannot open %s", path);
    s->file = fdopen(fd, "rb");
    if (!s->file) {
        close(fd);
        return status_set(st, STATUS_OUT_OF_MEMORY, "opening %s", path);
    }
    return ((fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) ||
            status_set(st, STATUS_INVALID, "%s is not a regular file", path)) &&
           read_header(s, (uint64_t)info.st_size, st);
}

void safetensors_close(safetensors *s) {
    if (s->file)
        fclose(s->file);
    json_decref(s->header);
    vec_release(&s->entries);
    free(s->path);
    *s = (safetensors){0};
}

const safetensors_entry *safetensors_find(const safetensors *s, const char *name) {
    for (size_t i = 0; i < s->entries.count; i++)
        if (strcmp(s->entries.items[i].name, name) == 0)
            return &s->entries.items[i];
    return NULL;
}

/* ---- elements ---- */

/* tf32 is F32, and i4 is I8, where that is meant. */
static dtype type_meant(dtype own, dtype want) {
    bool other = want == DTYPE_TF32 || want == DTYPE_I4;
    return other && strcmp(dtype_npy_descr(own), dtype_npy_descr(want)) == 0 ? want : own;
}

bool safetensors_read(const safetensors *s, const safetensors_entry *e, dtype want, tensor *out,
                      status *st) {
    *out = (tensor){0};
    if (e->type == DTYPE_NONE)
        return status_set(st, STATUS_INVALID, "%s: tensor '%.100s' is of %s, which no kernel takes",
                          s->path, e->name, e->word);
    if (e->rank > TENSOR_MAX_RANK)
        return status_set(st, STATUS_INVALID, "%s: tensor '%.100s' has more than %d dimensions",
                          s->path, e->name, TENSOR_MAX_RANK);
    if (!tensor_init(out, type_meant(e->type, want), e->rank, e->dims, st))
        return status_set(st, STATUS_INVALID, "reading tensor '%.100s' of %s", e->name, s->path);
    size_t bytes = tensor_bytes(out);
    bool ok = (fseeko(s->file, (off_t)(s->data_offset + e->begin), SEEK_SET) == 0 &&
               fread(out->data, 1, bytes, s->file) == bytes) ||
              status_set(st, STATUS_IO, "%s: cannot read tensor '%.100s'", s->path, e->name);
    ok = ok && tensor_check_bytes(out, e->name, st);
    if (!ok)
        tensor_release(out);
    return ok;
}

const char *safetensors_metadata(const safetensors *s, const char *key) {
    return json_string_value(json_object_get(json_object_get(s->header, "__metadata__"), key));
}

/* ---- writing ---- */

static const char *word_for(dtype type) {
    type = type == DTYPE_TF32 ? DTYPE_F32 : type == DTYPE_I4 ? DTYPE_I8 : type;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].word;
    return "";
}

static json_t *entry_json(const tensor *t, uint64_t begin) {
    json_t *shape = json_array();
    for (int i = 0; i < t->rank; i++)
        json_array_append_new(shape, json_integer(t->dims[i]));
    return json_pack("{s:s, s:o, s:[I,I]}", "dtype", word_for(t->type), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)(begin + tensor_bytes(t)));
}

bool safetensors_write(const char *path, const safetensors_named *tensors, size_t count,
                       json_t *metadata, status *st) {
    json_t *header = json_object();
    uint64_t end = 0;
    file_part *parts = base_calloc(count + 2, sizeof *parts);
    json_object_set(header, "__metadata__", metadata);
    for (size_t i = 0; i < count; i++) {
        json_object_set_new(header, tensors[i].name, entry_json(tensors[i].value, end));
        parts[i + 2] = (file_part){tensors[i].value->data, tensor_bytes(tensors[i].value)};
        end += tensor_bytes(tensors[i].value);
    }
    char *words = json_dumps(header, JSON_COMPACT);
    unsigned char length[LENGTH_BYTES];
    const uint64_t bytes = strlen(words);
    for (uint64_t i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)(bytes >> (8 * i));
    parts[0] = (file_part){length, sizeof length};
    parts[1] = (file_part){words, bytes};
    bool ok = file_write_parts(path, parts, count + 2, st);
    json_decref(header);
    free(words);
    free(parts);
    return ok;
}
