/* tensors.h - tsr diff A.npy B.npy. */
#ifndef TESSERA_HARNESS_DIFF_TENSORS_H
#define TESSERA_HARNESS_DIFF_TENSORS_H

#include <jansson.h>

#include "base/dtype.h"
#include "base/status.h"
#include "base/text.h"
#include "common/exit_code.h"

/* `want`: the type of the elements, DTYPE_NONE: as the files say. Appends what a person reads to
 * `out`; *document is owned by the caller, NULL on failure. Returns EXIT_DONE or EXIT_CHECK; on
 * failure `st` says why. */
exit_code diff_tensors(const char *a_path, const char *b_path, dtype want, text *out,
                       json_t **document, status *st);

#endif
