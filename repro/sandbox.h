/* sandbox.h - a process that can compute, and no longer touch the world. */
#ifndef TESSERA_REPRO_SANDBOX_H
#define TESSERA_REPRO_SANDBOX_H

#include <stdbool.h>

#include "base/status.h"

/* Puts the calling process, with all its threads and for good, behind a seccomp filter. Refused,
 * with EPERM: sockets; starting processes or programs; opening for writing, creating, renaming,
 * removing or changing files; mounts; tracing, reading or signalling other processes; io_uring, bpf
 * and every call that the list in sandbox.c does not name. Allowed: memory (executable too),
 * threads, clocks, opening files for reading, and reading and writing what is open already, but for
 * regular files (RLIMIT_FSIZE is 0: a write gives EFBIG). There are no core files.
 * Where the kernel has Landlock, files are read only below the system's folders, the program's and
 * `folder` (NULL: no more), and of /proc the process' own: no home, no key, no environment of
 * another. At most 256 files are open.
 * A second call does nothing. STATUS_UNAVAILABLE where the kernel refuses filters; then the process
 * may be limited in part and must not go on with what it does not trust. */
bool sandbox_enter(const char *folder, status *st);
/* Did it close files off? */
bool sandbox_hides_files(void);

#endif
