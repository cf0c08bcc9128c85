/* write_pack.c - write_pack OUT MANIFEST.json [MEMBER=FILE...]: a pack that a test made up. With
 * members the manifest is what pack_write gets; without any it stands in the archive as it is,
 * whatever it says. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "repro/container.h"
#include "repro/pack.h"

enum { FILE_BYTES_MAX = 64 << 20 };

static bool write_sound(const char *path, const char *manifest, char **words, int count,
                        status *st) {
    pack_member members[PACK_MEMBERS_MAX];
    json_t *about = json_loads(manifest, 0, NULL);
    bool ok = count <= PACK_MEMBERS_MAX;
    for (int i = 0; i < count && ok; i++) {
        char *equals = strchr(words[i], '='), *data;
        size_t size;
        ok = equals && file_read(equals + 1, FILE_BYTES_MAX, &data, &size, st);
        if (ok)
            *equals = '\0';
        members[i] = (pack_member){words[i], data, size};
    }
    ok = ok && pack_write(path, about, members, (size_t)count, st);
    json_decref(about);
    return ok;
}

/* One member and the end of the archive, in a frame as pack_read expects it. */
static bool write_forged(const char *path, const char *manifest, size_t size, status *st) {
    static const char zeros[TAR_END_BYTES];
    unsigned char header[TAR_BLOCK_BYTES];
    text tar;
    LZ4F_cctx *context;
    text_init(&tar);
    tar_header(header, "manifest.json", size);
    text_append_bytes(&tar, header, sizeof header);
    text_append_bytes(&tar, manifest, size);
    text_append_bytes(&tar, zeros, tar_padding(size));
    text_append_bytes(&tar, zeros, TAR_END_BYTES);
    LZ4F_preferences_t how = frame_preferences(tar.length);
    size_t capacity = LZ4F_compressFrameBound(tar.length, &how) + 64;
    char *frame = base_malloc(capacity);
    LZ4F_createCompressionContext(&context, LZ4F_VERSION);
    size_t used = LZ4F_compressBegin(context, frame, capacity, &how);
    used += LZ4F_compressUpdate(context, frame + used, capacity - used, tar.data, tar.length, NULL);
    used += LZ4F_compressEnd(context, frame + used, capacity - used, NULL);
    LZ4F_freeCompressionContext(context);
    bool ok = file_write_atomic(path, frame, used, st);
    free(frame);
    text_release(&tar);
    return ok;
}

int main(int argc, char **argv) {
    status st = STATUS_INIT;
    char *manifest = NULL;
    size_t size = 0;
    bool ok = argc > 2 && file_read(argv[2], FILE_BYTES_MAX, &manifest, &size, &st) &&
              (argc > 3 ? write_sound(argv[1], manifest, argv + 3, argc - 3, &st)
                        : write_forged(argv[1], manifest, size, &st));
    if (!ok)
        fprintf(stderr, "write_pack: %s\n", st.message);
    free(manifest);
    return !ok;
}
