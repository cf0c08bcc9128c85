/* replay_image.h - the compiled module that a pack holds: code of whoever made the pack, which runs
 * only where the user says so, and then in the sandbox. */
#ifndef TESSERA_HARNESS_RUN_REPLAY_IMAGE_H
#define TESSERA_HARNESS_RUN_REPLAY_IMAGE_H

#include "run/replay.h"
#include "run/replay_once.h"

/* About the image: `member`, `sha256`, `bytes`. Owned; NULL: the pack has none. */
json_t *replay_image_about(const pack *p);
/* Puts it into a folder that the worker may read. */
bool replay_image_put(const pack *p, const char *folder, status *st);
/* Runs the case with the image of the folder in the place of what the compiler makes, and puts how
 * that went into `about`: `verdict`, `status`, `why`, `digests`. False: it is no module, as *why
 * says. */
bool replay_image_run(const replay_case *c, const char *folder, const replay_outcome *recorded,
                      json_t *about, const char **why);

#endif
