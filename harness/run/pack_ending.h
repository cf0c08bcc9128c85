/* pack_ending.h - members of a pack that say how its case ended, and what was around it: each text
 * is empty where there is nothing to say, and the same for the same failure. */
#ifndef TESSERA_HARNESS_RUN_PACK_ENDING_H
#define TESSERA_HARNESS_RUN_PACK_ENDING_H

#include <jansson.h>

#include "base/text.h"

/* A line for each of a worker's frames (process/frames.h), with its function where that is this
 * program's; NULL: none. */
void pack_ending_frames(const json_t *frames, text *out);
/* The end of what our worker printed (NULL: nothing), and of what `why` quotes of code of others.
 */
void pack_ending_printed(const char *printed, const char *why, text *out);
void pack_ending_environment(text *out);
/* sh replay.sh PACK */
void pack_ending_script(bool trusted, text *out);

#endif
