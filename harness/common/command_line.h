/* command_line.h - a command line as somebody would type it. */
#ifndef TESSERA_HARNESS_COMMON_COMMAND_LINE_H
#define TESSERA_HARNESS_COMMON_COMMAND_LINE_H

#include <stdbool.h>

#include "base/text.h"

/* Appends a word as a shell reads it: quoted where it has to be. */
void command_line_word(text *out, const char *word);
/* The same in the place of what `room` has; borrowed from it. */
const char *command_line_quoted(text *room, const char *word);
/* The command that replays a pack, likewise; `trusted`: it has code of others. */
const char *command_line_replay(text *room, const char *pack, bool trusted);

#endif
