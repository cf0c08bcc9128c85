/* spirv_image.c - see spirv_image.h. Numbers are those of the SPIR-V specification, 2.3 and 3.32.
 */
#include "device/shared/spirv_image.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    IDS_MOST = 1 << 22,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_POINTER = 32,
    OP_CONSTANT = 43,
    OP_VARIABLE = 59,
    OP_CONTROL_BARRIER = 224,
    MODE_LOCAL_SIZE = 17,
    STORAGE_WORKGROUP = 4,
    CAPABILITY_FLOAT16 = 9,
    CAPABILITY_FLOAT64 = 10,
    BYTE_BITS = 8,
    HALF = 16
};

static uint32_t length_of(const uint32_t *op) {
    return op[0] >> HALF;
}

static uint32_t code_of(const uint32_t *op) {
    return op[0] & 0xFFFF;
}

const uint32_t *spirv_image_next(const spirv_image *m, size_t *at, uint32_t code, uint32_t words) {
    if (*at < HEADER_WORDS)
        *at = HEADER_WORDS;
    while (*at < m->count) {
        const uint32_t *op = m->words + *at;
        *at += length_of(op);
        if (code_of(op) == code && length_of(op) >= words)
            return op;
    }
    return NULL;
}

static bool is_whole(const spirv_image *m) {
    size_t at = HEADER_WORDS;
    while (at < m->count && length_of(m->words + at) && length_of(m->words + at) <= m->count - at)
        at += length_of(m->words + at);
    return at == m->count;
}

/* ---- the workgroup's memory ---- */

/* Numbers by id: the bytes of a type, the value of a constant, what a pointer points to. */
typedef struct ids {
    uint64_t *of;
    uint32_t count;
} ids;

static uint64_t get(const ids *known, uint32_t id) {
    return id < known->count ? known->of[id] : 0;
}

static void put(const ids *known, uint32_t id, uint64_t value) {
    if (id < known->count)
        known->of[id] = value;
}

static uint64_t times(uint64_t a, uint64_t b) {
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static void note(const ids *known, const uint32_t *op) {
    uint32_t length = length_of(op);
    switch (code_of(op)) {
    case OP_TYPE_INT:
    case OP_TYPE_FLOAT:
        if (length > 2)
            put(known, op[1], op[2] / BYTE_BITS);
        break;
    case OP_TYPE_VECTOR:
        if (length > 3)
            put(known, op[1], times(get(known, op[2]), op[3]));
        break;
    case OP_TYPE_ARRAY:
        if (length > 3)
            put(known, op[1], times(get(known, op[2]), get(known, op[3])));
        break;
    case OP_TYPE_POINTER:
        if (length > 3)
            put(known, op[1], get(known, op[3]));
        break;
    case OP_CONSTANT:
        if (length > 3)
            put(known, op[2], op[3] | (length > 4 ? (uint64_t)op[4] << 32 : 0));
        break;
    default:
        break;
    }
}

static uint64_t workgroup_bytes(const spirv_image *m, const ids *known) {
    uint64_t sum = 0;
    for (size_t at = HEADER_WORDS; at < m->count;) {
        const uint32_t *op = m->words + at;
        at += length_of(op);
        note(known, op);
        if (code_of(op) != OP_VARIABLE || length_of(op) < 4 || op[3] != STORAGE_WORKGROUP)
            continue;
        uint64_t bytes = get(known, op[1]);
        sum = bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
    }
    return sum;
}

/* ---- the whole ---- */

bool spirv_image_read(spirv_image *image, const void *bytes, size_t size_bytes, const char *label,
                      status *st) {
    const uint32_t *words = bytes, *op;
    *image = (spirv_image){.words = words, .count = size_bytes / sizeof *words};
    if (size_bytes % sizeof *words || (uintptr_t)bytes % sizeof *words ||
        image->count < HEADER_WORDS || words[0] != MAGIC)
        return status_set(st, STATUS_CORRUPT, "'%s' is no SPIR-V", label);
    if (words[3] > IDS_MOST || !is_whole(image))
        return status_set(st, STATUS_CORRUPT, "the SPIR-V of '%s' is damaged", label);
    for (size_t at = HEADER_WORDS; (op = spirv_image_next(image, &at, OP_CAPABILITY, 2));) {
        image->needs_f16 |= op[1] == CAPABILITY_FLOAT16;
        image->needs_f64 |= op[1] == CAPABILITY_FLOAT64;
    }
    size_t first = HEADER_WORDS;
    image->has_barriers = spirv_image_next(image, &first, OP_CONTROL_BARRIER, 1) != NULL;
    ids known = {base_calloc(words[3] + 1, sizeof *known.of), words[3]};
    image->workgroup_bytes = workgroup_bytes(image, &known);
    free(known.of);
    return true;
}

static bool is_named(const uint32_t *entry, const char *symbol) {
    enum { NAME = 3 };
    size_t room = (length_of(entry) - NAME) * sizeof *entry;
    const char *name = (const char *)(entry + NAME);
    return memchr(name, '\0', room) && strcmp(name, symbol) == 0;
}

bool spirv_image_threads(const spirv_image *image, const char *symbol, const char *label,
                         uint64_t *threads_out, status *st) {
    const uint32_t *entry, *mode;
    size_t at = HEADER_WORDS;
    while ((entry = spirv_image_next(image, &at, OP_ENTRY_POINT, 4)) && !is_named(entry, symbol))
        ;
    if (!entry)
        return status_set(st, STATUS_NOT_FOUND,
                          "'%s' has no function '%s', which its metadata names", label, symbol);
    for (at = HEADER_WORDS; (mode = spirv_image_next(image, &at, OP_EXECUTION_MODE, 6));)
        if (mode[1] == entry[2] && mode[2] == MODE_LOCAL_SIZE)
            break;
    *threads_out = mode ? times(times(mode[3], mode[4]), mode[5]) : 0;
    return *threads_out || status_set(st, STATUS_CORRUPT,
                                      "'%s' does not say how many threads '%s' has", label, symbol);
}
