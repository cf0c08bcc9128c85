/* bytecode_cursor.c - numbers, counts, blobs and sections out of bytes, with their bounds. */
#include "import/stablehlo/bytecode_cursor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool bytecode_fail(status *st, size_t at, const char *format, ...) {
    char what[512];
    va_list args;
    if (st->code != STATUS_OK)
        return false;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return status_set(st, STATUS_INVALID, "byte %zu: %s", at, what);
}

static bool ends_early(bytecode_cursor *c) {
    return bytecode_fail(c->st, c->at,
                         "the file ends early here, or a size in front of this is wrong; write it "
                         "again");
}

uint8_t bytecode_byte(bytecode_cursor *c) {
    if (bytecode_failed(c) || c->at == c->end) {
        ends_early(c);
        return 0;
    }
    return c->file[c->at++];
}

/* The zeros at the low end of the first byte say how many bytes follow. */
uint64_t bytecode_long_varint(bytecode_cursor *c) {
    const uint8_t first = bytecode_byte(c);
    if (first & 1)
        return first >> 1;
    if (bytecode_failed(c))
        return 0;
    const int more = first ? __builtin_ctz(first) : 8;
    const uint8_t *bytes = bytecode_bytes(c, (uint64_t)more);
    uint64_t value = 0;
    if (!bytes)
        return 0;
    for (int i = more; i-- > 0;)
        value = value << 8 | bytes[i];
    if (more < 8)
        value = (value << 8 | first) >> (more + 1);
    return value;
}

int64_t bytecode_signed(bytecode_cursor *c) {
    const uint64_t value = bytecode_varint(c);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

uint32_t bytecode_count(bytecode_cursor *c, const char *what) {
    const size_t at = c->at;
    const uint64_t count = bytecode_varint(c);
    if (count <= bytecode_left(c) && count <= UINT32_MAX)
        return (uint32_t)count;
    bytecode_fail(c->st, at, "%" PRIu64 " %s are announced, and only %zu bytes are left for them",
                  count, what, bytecode_left(c));
    return 0;
}

uint32_t bytecode_check_index(bytecode_cursor *c, size_t at, uint64_t index, uint32_t limit,
                              const char *what) {
    if (index < limit)
        return (uint32_t)index;
    bytecode_fail(c->st, at, "there is no %s %" PRIu64 ": the file has %" PRIu32, what, index,
                  limit);
    return 0;
}

uint64_t bytecode_flagged(bytecode_cursor *c, bool *flag) {
    const uint64_t value = bytecode_varint(c);
    *flag = value & 1;
    return value >> 1;
}

uint32_t bytecode_flagged_index(bytecode_cursor *c, uint32_t limit, const char *what, bool *flag) {
    const size_t at = c->at;
    return bytecode_check_index(c, at, bytecode_flagged(c, flag), limit, what);
}

const uint8_t *bytecode_bytes(bytecode_cursor *c, uint64_t size) {
    if (bytecode_failed(c) || size > bytecode_left(c)) {
        ends_early(c);
        return NULL;
    }
    const uint8_t *bytes = c->file + c->at;
    c->at += (size_t)size;
    return bytes;
}

bytecode_cursor bytecode_part(bytecode_cursor *c, uint64_t size) {
    bytecode_cursor part = *c;
    part.end = part.at;
    if (bytecode_bytes(c, size))
        part.end = c->at;
    return part;
}

uint64_t bytecode_bits(bytecode_cursor *c, int bits) {
    if (bits <= 8)
        return bytecode_byte(c);
    return (uint64_t)bytecode_signed(c);
}

/* Behind the size there may be bytes of padding, up to a multiple of a power of two. */
static void skip_padding(bytecode_cursor *c) {
    enum { PADDING = 0xCB };
    const size_t at = c->at;
    const uint64_t alignment = bytecode_varint(c);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        bytecode_fail(c->st, at, "an alignment of %" PRIu64 " is no power of two", alignment);
        return;
    }
    while (!bytecode_failed(c) && (c->at & (alignment - 1)) != 0)
        if (bytecode_byte(c) != PADDING)
            bytecode_fail(c->st, c->at - 1, "this is no byte of padding");
}

bytecode_cursor bytecode_section(bytecode_cursor *c, uint8_t *id) {
    enum { IS_ALIGNED = 0x80 };
    const uint8_t first = bytecode_byte(c);
    const uint64_t size = bytecode_varint(c);
    if (first & IS_ALIGNED)
        skip_padding(c);
    *id = first & (IS_ALIGNED - 1);
    return bytecode_part(c, size);
}

bool bytecode_end(bytecode_cursor *c, const char *what) {
    if (!bytecode_failed(c) && c->at == c->end)
        return true;
    return bytecode_fail(c->st, c->at, "%zu bytes are left over behind %s", bytecode_left(c), what);
}
