/* command.h - what a cmd_*.c offers, exit codes, and the terminal's colours.
 *
 * A command gets its parsed options and returns the exit code. Results go to stdout, everything
 * else to stderr. */
#ifndef TESSERA_HARNESS_CLI_COMMAND_H
#define TESSERA_HARNESS_CLI_COMMAND_H

#include <jansson.h>
#include <stdio.h>

#include "cli/doc_pages.h"
#include "cli/options.h"
#include "common/exit_code.h"
#include "common/version.h"

#define COMMAND(id, name, spelling, usage, summary, description)                                   \
    int command_##name(const options *o);
#include "cli/commands.def"
#undef COMMAND

/* The hidden entries of a worker, and of processes that time and count for the gate. */
int command_worker(void);
int command_gate_timer(void);
int command_gate_counter(const char *manifest);

/* Prints "tsr: MESSAGE" to stderr; returns the code of the status' kind. */
int command_fail(const status *st);
/* The same for a wrong command line: always EXIT_USAGE. */
int command_usage(command_id command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Options that the rest of the command line leaves without effect are refused, not ignored: with
 * the first of them that was given, "--NAME WHY". EXIT_DONE where none was. */
int command_refuse(const options *o, const option_id *without_effect, size_t count,
                   const char *why);
#define COMMAND_REFUSE(o, why, ...)                                                                \
    command_refuse(o, (const option_id[]){__VA_ARGS__},                                            \
                   sizeof((const option_id[]){__VA_ARGS__}) / sizeof(option_id), why)

/* Owned: the member "origin" of what this command finds out, with paths from argument `first` on.
 */
json_t *command_origin(const options *o, size_t first);

/* True where --color, NO_COLOR and the terminal ask for colour on `stream`. */
bool command_colour(const options *o, FILE *stream);
/* Checks the value of --color; false with a message. */
bool command_colour_check(const options *o, status *st);

/* cmd_help.c: the page of docs/ of that name, "check" or "check.md"; NULL where there is none. */
const embedded_file *help_page(const char *topic);

/* help.c: the texts made from the tables. */
void help_overview(text *out);
/* Appends `words` wrapped to 80 columns, continuing at column `indent`; `column` is where the text
 * stands. */
void help_wrap(text *out, const char *words, int indent, int column);
void help_command(command_id command, text *out);
void help_man(text *out);
void help_markdown(text *out);
/* completion.c */
void completion_bash(text *out);
void completion_zsh(text *out);
void completion_fish(text *out);

#endif
