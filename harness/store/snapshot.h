/* snapshot.h - a database that cannot be written where it is: a copy to read.
 *
 * SQLite reads a database with a write-ahead log only where it can write beside it. */
#ifndef TESSERA_HARNESS_STORE_SNAPSHOT_H
#define TESSERA_HARNESS_STORE_SNAPSHOT_H

#include "base/text.h"
#include "common/scratch_folder.h"

/* May this process write the database and files beside it? */
bool snapshot_is_needed(const char *path);
/* Copies the database and its log into `folder`, which the caller closes; `copy` is the path. */
bool snapshot_make(const char *path, scratch_folder *folder, text *copy, status *st);

#endif
