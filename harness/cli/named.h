/* named.h - names on the command line: backends, and what is said of one that there is not. */
#ifndef TESSERA_HARNESS_CLI_NAMED_H
#define TESSERA_HARNESS_CLI_NAMED_H

#include "case/backend.h"
#include "cli/options.h"

/* Tells that there is no such thing, and the nearest that there is, or all; EXIT_USAGE. */
int named_unknown(const options *o, const char *what, const char *word, const char *const *names,
                  size_t count);
/* The same of a backend: a slip of the pen, or one that is none here; the exit code. */
int named_no_backend(const options *o, const char *word);
/* The backend of that name, where it can run on `device` (NULL: its first). *own: the chip of its
 * device, of a backend whose code is for that, borrowed until it is asked for again. EXIT_DONE, or
 * the exit code, told. */
int named_backend(const options *o, const char *word, const char *device, backend_id *id,
                  const char **own);

#endif
