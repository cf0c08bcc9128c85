/* options.c - of the options of a compilation (a protocol buffer) what matters here: on how many
 * devices the program is to run, and the options that a user names (compiler_options of jax.jit).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pjrt/plugin.h"

/* CompileOptionsProto and, within it, ExecutableBuildOptionsProto. */
enum { BUILD_OPTIONS = 3, OVERRIDES = 7, NUM_REPLICAS = 4, NUM_PARTITIONS = 5 };
/* An entry of the map of overrides, and the value in it. */
enum { OVERRIDE_NAME = 1, OVERRIDE_VALUE = 2, STRING_VALUE = 1 };
enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

typedef struct wire {
    const unsigned char *at, *end;
    bool bad;
} wire;

typedef struct field {
    uint64_t number;
    unsigned kind;
    uint64_t value; /* VARINT */
    wire bytes;     /* BYTES */
} field;

static uint64_t take_varint(wire *w) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        const unsigned char byte = *w->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    w->bad = true;
    return 0;
}

static wire take_bytes(wire *w, uint64_t size) {
    const wire found = {w->at, w->at + size, false};
    if (size > (uint64_t)(w->end - w->at)) {
        w->bad = true;
        return (wire){w->end, w->end, false};
    }
    w->at += size;
    return found;
}

/* False at the end, and where the bytes are no such message. */
static bool take_field(wire *w, field *f) {
    if (w->bad || w->at == w->end)
        return false;
    const uint64_t tag = take_varint(w);
    *f = (field){.number = tag >> 3, .kind = tag & 7};
    if (f->kind == VARINT)
        f->value = take_varint(w);
    else if (f->kind == BYTES)
        f->bytes = take_bytes(w, take_varint(w));
    else if (f->kind == FIXED64 || f->kind == FIXED32)
        take_bytes(w, f->kind == FIXED64 ? 8 : 4);
    else
        w->bad = true;
    return !w->bad;
}

static PJRT_Error *check_build(wire build, bool *bad) {
    field f;
    while (take_field(&build, &f)) {
        const bool counts = f.number == NUM_REPLICAS || f.number == NUM_PARTITIONS;
        if (counts && f.kind == VARINT && f.value > 1)
            return error_new(PJRT_Error_Code_UNIMPLEMENTED,
                             "a program for %" PRIu64 " %s wants several devices; there is one",
                             f.value, f.number == NUM_REPLICAS ? "replicas" : "partitions");
    }
    *bad |= build.bad;
    return NULL;
}

/* Bytes of a field in a message; none where it is not there. */
static wire bytes_of(wire message, uint64_t number) {
    field f;
    wire found = {NULL, NULL, false};
    while (take_field(&message, &f))
        if (f.number == number && f.kind == BYTES)
            found = f.bytes;
    return found;
}

static bool is_word(wire w, const char *word) {
    const size_t length = (size_t)(w.end - w.at);
    return strlen(word) == length && (length == 0 || memcmp(w.at, word, length) == 0);
}

static PJRT_Error *take_override(wire entry, compile_settings *settings) {
    enum { SHOWN = 60 };
    const wire name = bytes_of(entry, OVERRIDE_NAME);
    const wire value = bytes_of(bytes_of(entry, OVERRIDE_VALUE), STRING_VALUE);
    const size_t name_size = (size_t)(name.end - name.at), size = (size_t)(value.end - value.at);
    if (!is_word(name, "profile"))
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "No such compile option: '%.*s'; there is profile, and those of XLA are "
                         "none of this compiler's",
                         name_size < SHOWN ? (int)name_size : SHOWN, (const char *)name.at);
    const char *profile = profile_named((const char *)value.at, size);
    if (!profile)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "the compile option 'profile' is strict, deterministic or fast");
    snprintf(settings->profile, sizeof settings->profile, "%s", profile);
    return NULL;
}

PJRT_Error *options_read(const char *bytes, size_t size, compile_settings *settings) {
    wire all = {(const unsigned char *)bytes, (const unsigned char *)bytes + size, false};
    PJRT_Error *e = NULL;
    bool bad = false;
    field f;
    while (!e && size && take_field(&all, &f))
        if (f.number == BUILD_OPTIONS && f.kind == BYTES)
            e = check_build(f.bytes, &bad);
        else if (f.number == OVERRIDES && f.kind == BYTES)
            e = take_override(f.bytes, settings);
    if (!e && (bad || all.bad))
        e = error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                      "the options of the compilation are no CompileOptionsProto");
    return e;
}
