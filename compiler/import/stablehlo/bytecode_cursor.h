/* bytecode_cursor.h - bytes of a file of MLIR bytecode, one after the other and never behind their
 * end: numbers, counts and blobs as its format has them.
 *
 * The first failure is kept in the status of all cursors of a file. From then on everything that is
 * taken is zero or empty, so that a caller may take several things and ask once. */
#ifndef TESSERA_IMPORT_STABLEHLO_BYTECODE_CURSOR_H
#define TESSERA_IMPORT_STABLEHLO_BYTECODE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct bytecode_cursor {
    const uint8_t *file;
    size_t at, end; /* offsets in the file */
    status *st;
} bytecode_cursor;

/* Says what is wrong at a byte of the file. Always returns false. */
bool bytecode_fail(status *st, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool bytecode_failed(const bytecode_cursor *c) {
    return c->st->code != STATUS_OK;
}

static inline size_t bytecode_left(const bytecode_cursor *c) {
    return c->end - c->at;
}

uint8_t bytecode_byte(bytecode_cursor *c);
uint64_t bytecode_long_varint(bytecode_cursor *c);
/* Most are of one byte. */
static inline uint64_t bytecode_varint(bytecode_cursor *c) {
    if (c->at < c->end && c->file[c->at] & 1 && !bytecode_failed(c))
        return c->file[c->at++] >> 1;
    return bytecode_long_varint(c);
}
int64_t bytecode_signed(bytecode_cursor *c);
/* The count of `what` that follow, each of a byte at least: never more than there are bytes. */
uint32_t bytecode_count(bytecode_cursor *c, const char *what);
/* The place of one of `limit` `what` in their table: that number, or 0 with the error. */
uint32_t bytecode_check_index(bytecode_cursor *c, size_t at, uint64_t index, uint32_t limit,
                              const char *what);
static inline uint32_t bytecode_index(bytecode_cursor *c, uint32_t limit, const char *what) {
    const size_t at = c->at;
    const uint64_t index = bytecode_varint(c);
    return index < limit ? (uint32_t)index : bytecode_check_index(c, at, index, limit, what);
}
/* A number in whose lowest bit a flag stands: its other bits. */
uint64_t bytecode_flagged(bytecode_cursor *c, bool *flag);
/* The same of an index. */
uint32_t bytecode_flagged_index(bytecode_cursor *c, uint32_t limit, const char *what, bool *flag);
/* So many bytes; NULL: there are not. */
const uint8_t *bytecode_bytes(bytecode_cursor *c, uint64_t size);
/* The same as a cursor of their own. */
bytecode_cursor bytecode_part(bytecode_cursor *c, uint64_t size);
/* Bytes of a whole number of so many bits, up to 64, as attributes have it: without its sign. */
uint64_t bytecode_bits(bytecode_cursor *c, int bits);
/* The header of a section and its bytes. */
bytecode_cursor bytecode_section(bytecode_cursor *c, uint8_t *id);
/* Fails unless everything was taken. */
bool bytecode_end(bytecode_cursor *c, const char *what);

#endif
