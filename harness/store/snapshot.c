/* snapshot.c - copies a database and its log. */
#include "store/snapshot.h"

#include <libgen.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

bool snapshot_is_needed(const char *path) {
    char *words = base_strdup(path);
    bool writable = access(path, W_OK) == 0 && access(dirname(words), W_OK) == 0;
    free(words);
    return !writable;
}

static bool copy_file(const char *from, const char *to, status *st) {
    char *data;
    size_t size;
    if (!file_read(from, SIZE_MAX / 2, &data, &size, st))
        return false;
    file_part part = {data, size};
    bool ok = file_write_scratch(to, &part, 1, st);
    free(data);
    return ok;
}

bool snapshot_make(const char *path, scratch_folder *folder, text *copy, status *st) {
    text log, log_copy;
    if (!scratch_folder_open(folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    text_init(&log);
    text_init(&log_copy);
    text_printf(copy, "%s/results.db", folder->path);
    text_printf(&log, "%s-wal", path);
    text_printf(&log_copy, "%s-wal", copy->data);
    bool ok = copy_file(path, copy->data, st) &&
              (!file_exists(log.data) || copy_file(log.data, log_copy.data, st));
    text_release(&log);
    text_release(&log_copy);
    return ok;
}
