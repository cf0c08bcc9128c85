/* scratch.h - for readers of files: a folder in memory that is removed at the end. */
#ifndef TESSERA_CI_READERS_SCRATCH_H
#define TESSERA_CI_READERS_SCRATCH_H

#include <stddef.h>

/* The path of a file of that name with these bytes; valid until the next call. Ends the program
 * where it cannot be written. */
const char *scratch_file(const char *name, const void *data, size_t size);

#endif
