/* pack_sign.h - signs a pack with what its replay says here: repro/sign.h. */
#ifndef TESSERA_HARNESS_RUN_PACK_SIGN_H
#define TESSERA_HARNESS_RUN_PACK_SIGN_H

#include <stdbool.h>

#include "base/status.h"
#include "repro/sign.h"

/* Replays a pack that this program has just made, and signs the verdict, the recorded outcome and
 * the build of tsr. `trusted`: it holds code of others, which just ran. STATUS_INTERRUPTED where
 * the user ended it: nothing is signed. */
bool pack_sign(const char *path, bool trusted, const char *key_path,
               char keyid_out[SIGN_KEYID_BYTES], status *st);
/* Checks before the work that a key is there. */
bool pack_sign_check(const char *key_path, status *st);

#endif
