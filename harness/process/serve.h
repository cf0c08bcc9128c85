/* serve.h - the side of the process that was started (process.h): reads lines, answers in lines. */
#ifndef TESSERA_HARNESS_PROCESS_SERVE_H
#define TESSERA_HARNESS_PROCESS_SERVE_H

#include <jansson.h>

#include "common/exit_code.h"

/* One line of the parent's, as JSON (borrowed; NULL where it is none); anything but EXIT_DONE ends
 * the service. */
typedef exit_code (*serve_line_fn)(void *context, json_t *request);

/* Serves until the parent closes its end, and returns the exit code; EXIT_USAGE where no parent is
 * there. The process dies with its parent, and is interrupted by SIGTERM. */
exit_code serve_lines(serve_line_fn line, void *context);

/* Takes the message over. Ends the process where nobody reads any more. */
void serve_answer(json_t *message);

#endif
