/* git.h - what is asked of the repository here, through the program git. */
#ifndef TESSERA_HARNESS_PROCESS_GIT_H
#define TESSERA_HARNESS_PROCESS_GIT_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

/* Runs git; `out` receives its stdout without the white space at its end. `arguments` begin with
 * "git" and end with NULL. False with the first line of what it complained about. */
bool git_ask(const char *const *arguments, text *out, status *st);
/* The full name of a commit. False with STATUS_NOT_FOUND where there is none of that name, or no
 * repository. */
bool git_resolve(const char *name, text *commit, status *st);

/* The state of the repository that a file or folder is of. */
typedef struct git_state {
    text root, commit; /* the folder of the repository; the full name of HEAD */
    bool changed;      /* a tracked file differs from that, or one at the path is not tracked */
} git_state;
/* False where the path is in no repository, there is no git, or no commit yet; git_state_release in
 * any case. */
bool git_state_of(const char *path, git_state *out);
void git_state_release(git_state *s);

#endif
