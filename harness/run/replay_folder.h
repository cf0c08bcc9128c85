/* replay_folder.h - replays every pack of a folder, each by a process of its own, and groups them
 * by what broke: a compiler that was mended is looked at with every failure of the past. */
#ifndef TESSERA_HARNESS_RUN_REPLAY_FOLDER_H
#define TESSERA_HARNESS_RUN_REPLAY_FOLDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "common/exit_code.h"

/* Is called before each replay, and once behind the last one (NULL); by one thread at a time. */
typedef void (*replay_folder_fn)(void *context, const char *pack, size_t done, size_t count);

typedef struct replay_folder_request {
    const char *folder;
    const char *const *options; /* of tsr replay, for each pack; NULL ends them */
    uint32_t jobs;              /* replays at once */
    bool regress;               /* a failure that a pack recorded must be gone, and bits stay */
    replay_folder_fn tell;      /* or NULL */
    void *context;
} replay_folder_request;

/* The document tsr.replays/1 (docs/packs.md), owned; NULL with a status: STATUS_NOT_FOUND where the
 * folder has no pack, STATUS_INTERRUPTED where the user ended it. */
json_t *replay_folder_run(const replay_folder_request *request, status *st);
/* The worst of the packs' exits. */
exit_code replay_folder_exit(const json_t *document);

#endif
