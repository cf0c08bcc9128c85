/* scratch_folder.h - a folder for files that other programs or processes read, gone when its owner
 * is done.
 *
 * Its owner holds a lock on it, which ends with the process however that ends. What a killed
 * process left behind is therefore known: a folder of this name that nobody holds. The next one
 * that is made beside it removes it. */
#ifndef TESSERA_HARNESS_COMMON_SCRATCH_FOLDER_H
#define TESSERA_HARNESS_COMMON_SCRATCH_FOLDER_H

#include <stdbool.h>

#include "base/status.h"

/* Prefix of those in $TMPDIR or /tmp. */
#define SCRATCH_FOLDER_PREFIX "tsr-scratch-"

typedef struct scratch_folder {
    char *path;
    int lock; /* a descriptor of the folder, locked; closed when the process becomes another one */
} scratch_folder;

/* Makes PARENT/PREFIXxxxxxx, for this user alone, and removes abandoned ones of that name. A NULL
 * parent is $TMPDIR, else /tmp. PREFIX must be tsr's own: folders of this user that are called so
 * are removed. */
bool scratch_folder_open(scratch_folder *s, const char *parent, const char *prefix, status *st);
/* Removes it and what is in it. Does nothing for one that is all zeros. */
void scratch_folder_close(scratch_folder *s);
/* Removes the folders PARENT/PREFIXxxxxxx of this user that no process holds. */
void scratch_folder_sweep(const char *parent, const char *prefix);

#endif
