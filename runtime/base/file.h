/* file.h - whole files, and writes that leave no partial file behind. */
#ifndef TESSERA_BASE_FILE_H
#define TESSERA_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/* Writes all of it at the place where an open file stands; false: errno tells why. */
bool file_append(int fd, const void *data, size_t size_bytes);
/* The path of the program that runs, empty where the system does not tell it. */
void file_own_program(char *out, size_t size_bytes);
/* Reads the whole of a regular file; NUL is appended (not counted). Owned by the caller (free).
 * Files over `limit_bytes` are refused. */
bool file_read(const char *path, size_t limit_bytes, char **data_out, size_t *size_out, status *st);
/* Temporary file beside `path`, write, fsync, rename; on failure nothing is left behind. A link is
 * followed; a pipe or a device is written into. */
bool file_write_atomic(const char *path, const void *data, size_t size_bytes, status *st);
/* The same for several pieces, written one after the other. */
typedef struct file_part {
    const void *data;
    size_t size_bytes;
} file_part;
bool file_write_parts(const char *path, const file_part *parts, size_t count, status *st);
/* Removes the temporary file that such a write has not finished, if there is one. For the handler
 * of a signal that ends the process. */
void file_discard_unfinished(void);
/* Straight into `path`, neither synced nor all or nothing: for a file that is read at once and then
 * removed. */
bool file_write_scratch(const char *path, const file_part *parts, size_t count, status *st);
bool file_make_dirs(const char *path, status *st);   /* mkdir -p */
bool file_make_parent(const char *path, status *st); /* the folders that a file stands in */
/* Waits for the lock of a file that is read, changed and replaced: PATH.lock, beside it. Returns a
 * descriptor; closing it, or the end of the process, gives the lock back. -1 on failure. */
int file_lock_beside(const char *path, status *st);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
bool file_is_same(const char *a, const char *b); /* both are there, and one file */

#endif
