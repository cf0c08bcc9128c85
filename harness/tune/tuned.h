/* tuned.h - what the tuner found, for the commands that use it: which file it is kept in, and what
 * it says of a case.
 *
 * A file that was named (--tuned, $TSR_TUNED) is the one for all kernels. Else a kernel whose
 * source says @kernel.autotune(..., cache="PATH") has its own, where sources may have files
 * written: below the folder of the user's caches or one of $TSR_TUNED_FOLDERS. All others share the
 * usual one.
 *
 * Threads: one thread at a time. */
#ifndef TESSERA_HARNESS_TUNE_TUNED_H
#define TESSERA_HARNESS_TUNE_TUNED_H

#include "tune/cache.h"

typedef struct tuned_file {
    char *path;
    tune_cache cache;
} tuned_file;
typedef struct tuned_files {
    const char *usual; /* borrowed; NULL: nothing that was tuned is used */
    bool named;        /* ... for all kernels */
    VEC(tuned_file *) files;
} tuned_files;

/* `usual` NULL: every question is answered with no. */
void tuned_open(tuned_files *t, const char *usual, bool named);
void tuned_release(tuned_files *t);

/* The file of a kernel: owned, free(). `why` (may be NULL) receives why it is not the one that the
 * kernel's source names. */
char *tuned_place(const tuned_files *t, const compiler_kernel *kernel, text *why);
/* The cache in that file, read when first asked for; what is wrong with it is told on stderr, and
 * then it is empty. Borrowed. */
const tune_cache *tuned_cache(tuned_files *t, const char *path);

/* Replacement for the kernel's own: a schedule and a choice of its space, of which one may be NULL.
 * Borrowed from `t`. */
typedef struct tuned_choice {
    const char *schedule, *space;
} tuned_choice;
/* All borrowed; `job` has the profile, the level and the threads. */
typedef struct tuned_question {
    compiler_source *source;
    const compiler_kernel *kernel;
    const compiler_case *c;
    compiler_instance *instance;
    const job *job;
} tuned_question;
/* Finds what was found for a case; false: nothing, or that its own is best, or (told on stderr)
 * something that no tuner of ours can have found: tiles that the kernel does not have, or that add
 * in another order. */
bool tuned_find(tuned_files *t, const tuned_question *q, tuned_choice *out);

#endif
