/* line.h - one line of a stream, checked. */
#ifndef TESSERA_HARNESS_CAPTURE_LINE_H
#define TESSERA_HARNESS_CAPTURE_LINE_H

#include "capture/stream.h"

/* The first line of a process; NULL, or what is wrong with it. Strings go into the arena, and the
 * environment is referred to. */
const char *capture_line_process(const json_t *line, arena *memory, capture_process *out);
/* A call; all but its process. */
const char *capture_line_call(const json_t *line, arena *memory, capture_call *out);

#endif
