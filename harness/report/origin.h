/* origin.h - the member "origin" of a document: what was typed, and of which state of the user's
 * repository its kernels were. */
#ifndef TESSERA_HARNESS_REPORT_ORIGIN_H
#define TESSERA_HARNESS_REPORT_ORIGIN_H

#include <jansson.h>

#include "base/text.h"

/* Owned. `path` is where the kernels lie; the repository is the one that it is in. Without one, or
 * without git, its members are null. */
json_t *origin_new(const char *command, const char *path);
/* The commit of the kernels; of documents that do not know it, that of tsr; or "". Borrowed. */
const char *origin_commit(const json_t *document);
/* "tsr bench kernels; of /home/me/kernels at 0123456789ab, changed"; nothing where the document
 * has none, as those of older versions. */
void origin_words(const json_t *document, text *out);

#endif
