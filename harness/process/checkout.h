/* checkout.h - the tree of a commit in a folder of its own, and a build in it. */
#ifndef TESSERA_HARNESS_PROCESS_CHECKOUT_H
#define TESSERA_HARNESS_PROCESS_CHECKOUT_H

#include <stdbool.h>

#include "base/status.h"

/* A folder with the commit's tree, made where it is missing, and built where `build` is not NULL.
 * Owned. `commit` receives the full name. */
char *checkout_make(const char *name, const char *build, char commit[65], status *st);
/* `path` as it is called in a checkout of the repository that it is in. Owned. */
char *checkout_path(const char *folder, const char *path, status *st);
/* Checks that `name` is a commit of the repository here. */
bool checkout_is_commit(const char *name);

#endif
