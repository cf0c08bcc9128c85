/* options.h - the command line, parsed by the tables commands.def and options.def.
 *
 * Options and arguments may be mixed; "--" ends the options; --name=value and --name value are the
 * same. Strings are borrowed from argv. */
#ifndef TESSERA_HARNESS_CLI_OPTIONS_H
#define TESSERA_HARNESS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/vec.h"

typedef enum command_id {
#define COMMAND(id, name, spelling, usage, summary, description) COMMAND_##id,
#include "cli/commands.def"
#undef COMMAND
    COMMAND_COUNT
} command_id;

typedef enum option_id {
#define OPTION(id, name, letter, argument, repeats, commands, help) OPTION_##id,
#include "cli/options.def"
#undef OPTION
    OPTION_COUNT
} option_id;

typedef struct command_info {
    const char *name, *usage, *summary, *description;
} command_info;
typedef struct option_info {
    const char *name;
    char letter;
    const char *argument; /* NULL for a flag */
    bool repeats;
    const char *commands; /* names, separated by spaces */
    const char *help;
} option_info;

extern const command_info command_table[COMMAND_COUNT];
extern const option_info option_table[OPTION_COUNT];

typedef VEC(const char *) string_list;

typedef struct options {
    command_id command;
    struct option_value {
        bool present;
        string_list values; /* empty for a flag */
    } values[OPTION_COUNT];
    string_list arguments;
    size_t plain_count; /* of these, what stands before "--"; all of them without one */
    int word_count;     /* what followed the command's name; borrowed */
    char *const *words;
    char *chosen; /* --space and --constants together, as compiler_case_choose takes them; NULL:
                     neither is there */
} options;

/* The command of that name, or COMMAND_COUNT. */
command_id command_from_name(const char *name);
bool option_applies(option_id option, command_id command);

/* Parses what follows the command's name. False: `st` says what is wrong, with a suggestion where
 * there is one. */
bool options_parse(options *o, command_id command, int argc, char **argv, status *st);
void options_release(options *o);

/* The command line as it was typed, from "tsr" on. */
void options_line(const options *o, text *out);

bool options_flag(const options *o, option_id id);
/* The last value given, or `otherwise`. */
const char *options_text(const options *o, option_id id, const char *otherwise);
/* A whole number in [low, high]. */
bool options_number(const options *o, option_id id, uint64_t low, uint64_t high, uint64_t *value,
                    status *st);

/* A number in [low, high]. */
bool options_real(const options *o, option_id id, double low, double high, double *value,
                  status *st);

/* A percentage in [low, high], with or without the sign; *value is the fraction. */
bool options_percent(const options *o, option_id id, double low, double high, double *value,
                     status *st);

/* Splits at commas and appends the non-empty pieces; each is owned by the caller's arena. */
void options_split(const char *list, arena *a, string_list *out);

#endif
