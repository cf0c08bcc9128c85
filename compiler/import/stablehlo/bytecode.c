/* bytecode.c - a StableHLO module out of MLIR bytecode: the file's header, then its parts.
 *
 * This is version 6 of the format, which all of StableHLO from 0.15.0 on writes, and the dialect
 * VHLO up to 1.20: a portable artifact. */
#include "import/stablehlo/bytecode.h"

#include <inttypes.h>
#include <string.h>

enum { BYTECODE_VERSION = 6 };

static const uint8_t magic[4] = {'M', 'L', 0xEF, 'R'};

bool shlo_is_bytecode(const uint8_t *data, size_t size) {
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static bool read_header(bytecode *r, bytecode_cursor *c) {
    if (!shlo_is_bytecode(c->file, c->end))
        return bytecode_fail(r->st, 0,
                             "this is no bytecode of MLIR, which begins with 4D 4C EF 52; write "
                             "the program with serialize_portable_artifact");
    c->at = sizeof magic;
    const size_t at = c->at;
    const uint64_t version = bytecode_varint(c);
    if (!bytecode_failed(c) && version != BYTECODE_VERSION)
        return bytecode_fail(r->st, at,
                             "this is version %" PRIu64 " of bytecode, and version %d is read; "
                             "write the program for StableHLO 0.15.0 or newer",
                             version, BYTECODE_VERSION);
    const uint8_t *end = memchr(c->file + c->at, 0, bytecode_left(c));
    if (!end)
        return bytecode_fail(r->st, c->at, "the producer's name has no end");
    r->module->version = arena_strdup(&r->module->memory, (const char *)c->file + c->at);
    c->at = (size_t)(end - c->file) + 1;
    return true;
}

shlo_module *shlo_read_bytecode(const uint8_t *data, size_t size, status *st) {
    status own = STATUS_INIT;
    bytecode r = {.module = shlo_module_new(), .st = &own, .file = data};
    bytecode_cursor c = {data, 0, size, &own}, ir;
    if (read_header(&r, &c) && bytecode_read_tables(&r, &c, &ir) && bytecode_read_module(&r, &ir))
        return r.module;
    shlo_module_free(r.module);
    status_set(st, own.code, "%s", own.message);
    return NULL;
}
