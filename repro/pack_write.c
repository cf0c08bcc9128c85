/* pack_write.c - members in, one file out. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/sha256.h"
#include "container.h"
#include "manifest.h"
#include "pack.h"

/* Part of the frame, in memory. */
typedef struct section {
    LZ4F_cctx *context;
    unsigned char *data;
    size_t used, capacity;
    bool failed;
} section;

static bool section_begin(section *s, uint64_t content_bytes, uint64_t frame_bytes, status *st) {
    LZ4F_preferences_t preferences = frame_preferences(frame_bytes);
    *s = (section){0};
    /* A block that does not shrink is stored as it is; two blocks more than that is what a call of
     * LZ4F wants to see free. */
    s->capacity = LZ4F_compressFrameBound(content_bytes, &preferences) + 2 * FRAME_BLOCK_BYTES +
                  TAR_BLOCK_BYTES;
    s->data = malloc(s->capacity);
    if (!s->data || LZ4F_isError(LZ4F_createCompressionContext(&s->context, LZ4F_VERSION)))
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory to pack %zu bytes",
                          (size_t)content_bytes);
    s->used = LZ4F_compressBegin(s->context, s->data, s->capacity, &preferences);
    if (LZ4F_isError(s->used))
        return status_set(st, STATUS_INTERNAL, "LZ4: %s", LZ4F_getErrorName(s->used));
    return true;
}

static void section_release(section *s) {
    LZ4F_freeCompressionContext(s->context);
    free(s->data);
}

static void section_count(section *s, size_t result) {
    s->failed = s->failed || LZ4F_isError(result);
    s->used += s->failed ? 0 : result;
}

static void section_add(section *s, const void *data, size_t size_bytes) {
    if (size_bytes)
        section_count(s, LZ4F_compressUpdate(s->context, s->data + s->used, s->capacity - s->used,
                                             data, size_bytes, NULL));
}

static void section_member(section *s, const char *name, const void *data, size_t size_bytes) {
    static const unsigned char zeros[TAR_BLOCK_BYTES];
    unsigned char header[TAR_BLOCK_BYTES];
    tar_header(header, name, size_bytes);
    section_add(s, header, sizeof header);
    section_add(s, data, size_bytes);
    section_add(s, zeros, tar_padding(size_bytes));
}

static bool section_end(section *s, status *st) {
    section_count(s, LZ4F_flush(s->context, s->data + s->used, s->capacity - s->used, NULL));
    return !s->failed || status_set(st, STATUS_INTERNAL, "LZ4 could not compress a pack");
}

typedef struct digest_job {
    const pack_member *members;
    size_t count;
    sha256 *digests;
} digest_job;

static void *digest_members(void *argument) {
    const digest_job *job = argument;
    for (size_t i = 0; i < job->count; i++)
        job->digests[i] = sha256_of(job->members[i].data, job->members[i].size_bytes);
    return NULL;
}

static bool members_fit(const pack_member *members, size_t count, status *st) {
    size_t total_bytes = 0;
    if (count > PACK_MEMBERS_MAX)
        return status_set(st, STATUS_INVALID, "%zu members: a pack has at most %d", count,
                          (int)PACK_MEMBERS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!manifest_has_room(total_bytes, members[i].size_bytes))
            return status_set(st, STATUS_INVALID, "a pack holds at most %zu bytes",
                              PACK_TOTAL_BYTES_MAX);
        total_bytes += members[i].size_bytes;
    }
    return true;
}

/* The members' part of the frame, while another thread takes their digests: the manifest needs
 * those, and comes first, but blocks are independent of each other. */
static bool compress_members(section *s, const digest_job *job, status *st) {
    static const unsigned char end[TAR_END_BYTES];
    pthread_t thread;
    uint64_t content_bytes = sizeof end;
    for (size_t i = 0; i < job->count; i++)
        content_bytes += tar_member_bytes(job->members[i].size_bytes);
    bool threaded = pthread_create(&thread, NULL, digest_members, (void *)(uintptr_t)job) == 0;
    bool ok = section_begin(s, content_bytes, 0, st);
    if (ok) {
        for (size_t i = 0; i < job->count; i++)
            section_member(s, job->members[i].name, job->members[i].data,
                           job->members[i].size_bytes);
        section_add(s, end, sizeof end);
        ok = section_end(s, st);
    }
    if (threaded)
        pthread_join(thread, NULL);
    else
        digest_members((void *)(uintptr_t)job);
    return ok;
}

/* One frame of two sections: the first with its header, the second without. */
static bool write_sections(const char *path, const section *first, const section *second,
                           size_t second_header_bytes, status *st) {
    static const unsigned char end_mark[4];
    file_part parts[] = {{first->data, first->used},
                         {second->data + second_header_bytes, second->used - second_header_bytes},
                         {end_mark, sizeof end_mark}};
    return file_write_parts(path, parts, 3, st);
}

bool pack_write(const char *path, const json_t *about, const pack_member *members, size_t count,
                status *st) {
    section first = {0}, second = {0};
    sha256 *digests = NULL;
    char *json = NULL;
    size_t json_bytes = 0;
    bool ok = false;
    if (!members_fit(members, count, st))
        goto out;
    digests = base_calloc(count + 1, sizeof *digests);
    const digest_job job = {members, count, digests};
    if (!compress_members(&second, &job, st))
        goto out;
    json = manifest_write(about, members, digests, count, &json_bytes, st);
    if (!json)
        goto out;
    uint64_t frame_bytes = tar_member_bytes(json_bytes) + TAR_END_BYTES;
    for (size_t i = 0; i < count; i++)
        frame_bytes += tar_member_bytes(members[i].size_bytes);
    if (!section_begin(&first, tar_member_bytes(json_bytes), frame_bytes, st))
        goto out;
    section_member(&first, MANIFEST_NAME, json, json_bytes);
    ok = section_end(&first, st) &&
         write_sections(path, &first, &second, FRAME_HEADER_BYTES - 8, st);
out:
    section_release(&first);
    section_release(&second);
    free(digests);
    free(json);
    return ok;
}

bool pack_name(const json_t *about, const pack_member *members, size_t count, char hex_out[13],
               status *st) {
    char hex[65];
    size_t size;
    if (!members_fit(members, count, st))
        return false;
    sha256 *digests = base_calloc(count + 1, sizeof *digests);
    digest_job job = {members, count, digests};
    digest_members(&job);
    char *json = manifest_write(about, members, digests, count, &size, st);
    free(digests);
    if (!json)
        return false;
    sha256 digest = sha256_of(json, size);
    sha256_hex(&digest, hex);
    memcpy(hex_out, hex, 12);
    hex_out[12] = '\0';
    free(json);
    return true;
}
