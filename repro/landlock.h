/* landlock.h - which files a closed-off process may read, where the kernel has Landlock: a filter
 * of calls sees a path's address, and not the path. */
#ifndef TESSERA_REPRO_LANDLOCK_H
#define TESSERA_REPRO_LANDLOCK_H

#include <stdbool.h>

#include "base/status.h"

/* From now on the calling thread, and those that it starts, opens for reading only what is below
 * the system's folders, its own in /proc, the program's folder and `folder` (NULL: no more), and
 * nothing for writing. *entered: the kernel has it; where it does not, nothing is changed. False
 * where it has, and refuses. PR_SET_NO_NEW_PRIVS comes before. */
bool landlock_enter(const char *folder, bool *entered, status *st);

#endif
