/* options.c - of the options of a compilation (a protocol buffer) what matters here: on how many
 * devices the program is to run, and the options that a user names (compiler_options of jax.jit).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pjrt/plugin.h"

/* CompileOptionsProto and, within it, ExecutableBuildOptionsProto. */
enum { BUILD_OPTIONS = 3, OVERRIDES = 7, NUM_REPLICAS = 4, NUM_PARTITIONS = 5, ASSIGNMENT = 9 };
/* DeviceAssignmentProto: for each partition the devices of its replicas. */
enum { PARTITION = 3, REPLICA_DEVICES = 1 };
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

static PJRT_Error *too_many(const PJRT_Client *c, uint64_t replicas, uint64_t partitions) {
    return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                     "a program for %" PRIu64 " replicas of %" PRIu64
                     " partitions wants more devices than there are: %u (TESSERA_DEVICES)",
                     replicas, partitions, c->device_count);
}

/* The devices of a partition's replicas, packed or one by one; their count. */
static uint32_t take_devices(wire partition, int *out, uint32_t limit, bool *bad) {
    uint32_t count = 0;
    field f;
    while (take_field(&partition, &f)) {
        if (f.number != REPLICA_DEVICES)
            continue;
        wire packed = f.bytes;
        do {
            const uint64_t id = f.kind == VARINT ? f.value : take_varint(&packed);
            if (count < limit)
                out[count] = id < PJRT_DEVICES_MAX ? (int)id : -1;
            count++;
        } while (f.kind == BYTES && !packed.bad && packed.at < packed.end);
        *bad |= packed.bad;
    }
    *bad |= partition.bad;
    return count;
}

/* Each device that a program is assigned to is there, and no other replica or partition has it. */
static PJRT_Error *take_assignment(const PJRT_Client *c, wire message, assignment *on, bool *bad) {
    uint32_t partition = 0;
    uint64_t seen = 0;
    field f;
    while (take_field(&message, &f)) {
        int ids[PJRT_DEVICES_MAX];
        if (f.number != PARTITION || f.kind != BYTES)
            continue;
        const uint32_t count = take_devices(f.bytes, ids, PJRT_DEVICES_MAX, bad);
        if (count != on->replicas || partition >= on->partitions)
            return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                             "the program is assigned to other devices than one for each of %u "
                             "replicas of %u partitions",
                             on->replicas, on->partitions);
        for (uint32_t i = 0; i < count; i++) {
            if (ids[i] < 0 || (uint32_t)ids[i] >= c->device_count || seen >> ids[i] & 1)
                return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                                 "the program is assigned to device %d, which is there once, or "
                                 "not at all: there are %u, from 0 on (TESSERA_DEVICES)",
                                 ids[i], c->device_count);
            seen |= (uint64_t)1 << ids[i];
            on->devices[i * on->partitions + partition] = ids[i];
        }
        partition++;
    }
    *bad |= message.bad;
    return partition == 0 || partition == on->partitions
               ? NULL
               : error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                           "the program is assigned to %u partitions, and is for %u", partition,
                           on->partitions);
}

static PJRT_Error *check_build(const PJRT_Client *c, wire build, assignment *on, bool *bad) {
    uint64_t replicas = 1, partitions = 1;
    wire assigned = {NULL, NULL, false};
    field f;
    while (take_field(&build, &f))
        if (f.number == NUM_REPLICAS && f.kind == VARINT && f.value)
            replicas = f.value;
        else if (f.number == NUM_PARTITIONS && f.kind == VARINT && f.value)
            partitions = f.value;
        else if (f.number == ASSIGNMENT && f.kind == BYTES)
            assigned = f.bytes;
    *bad |= build.bad;
    if (replicas > c->device_count || partitions > c->device_count ||
        replicas * partitions > c->device_count)
        return too_many(c, replicas, partitions);
    on->replicas = (uint32_t)replicas;
    on->partitions = (uint32_t)partitions;
    for (uint32_t i = 0; i < assignment_count(on); i++)
        on->devices[i] = (int)i;
    return take_assignment(c, assigned, on, bad);
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

PJRT_Error *options_read(const PJRT_Client *c, const char *bytes, size_t size,
                         compile_settings *settings) {
    wire all = {(const unsigned char *)bytes, (const unsigned char *)bytes + size, false};
    PJRT_Error *e = NULL;
    bool bad = false;
    field f;
    settings->on = (assignment){.replicas = 1, .partitions = 1};
    while (!e && size && take_field(&all, &f))
        if (f.number == BUILD_OPTIONS && f.kind == BYTES)
            e = check_build(c, f.bytes, &settings->on, &bad);
        else if (f.number == OVERRIDES && f.kind == BYTES)
            e = take_override(f.bytes, settings);
    if (!e && (bad || all.bad))
        e = error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                      "the options of the compilation are no CompileOptionsProto");
    return e;
}
