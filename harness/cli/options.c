/* options.c - parses a command line by the tables. */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "common/command_line.h"

const command_info command_table[COMMAND_COUNT] = {
#define COMMAND(id, name, spelling, usage, summary, description)                                   \
    {spelling, usage, summary, description},
#include "cli/commands.def"
#undef COMMAND
};

const option_info option_table[OPTION_COUNT] = {
#define OPTION(id, name, letter, argument, repeats, commands, help)                                \
    {name, letter, argument, repeats, commands, help},
#include "cli/options.def"
#undef OPTION
};

command_id command_from_name(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(command_table[i].name, name) == 0)
            return (command_id)i;
    return COMMAND_COUNT;
}

bool option_applies(option_id option, command_id command) {
    const char *name = command_table[command].name;
    size_t length = strlen(name);
    for (const char *p = option_table[option].commands; (p = strstr(p, name)); p += length) {
        bool starts = p == option_table[option].commands || p[-1] == ' ';
        if (starts && (p[length] == ' ' || p[length] == '\0'))
            return true;
    }
    return false;
}

static option_id find_long(command_id command, const char *name, size_t length) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(option_table[i].name) == length &&
            strncmp(option_table[i].name, name, length) == 0 &&
            option_applies((option_id)i, command))
            return (option_id)i;
    return OPTION_COUNT;
}

static option_id find_letter(command_id command, char letter) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_table[i].letter == letter && option_applies((option_id)i, command))
            return (option_id)i;
    return OPTION_COUNT;
}

/* "bench, gate, log": the commands that take what this one does not. */
static void commands_with(const char *name, text *out) {
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (find_long((command_id)c, name, strlen(name)) != OPTION_COUNT)
            text_printf(out, "%s%s", out->length ? ", " : "", command_table[c].name);
}

static bool unknown_option(command_id command, const char *word, status *st) {
    const char *names[OPTION_COUNT];
    size_t count = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_applies((option_id)i, command))
            names[count++] = option_table[i].name;
    char name[64];
    size_t length = strcspn(word + strspn(word, "-"), "=");
    length = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, word + strspn(word, "-"), length);
    name[length] = '\0';
    const char *nearest = text_nearest(name, names, count);
    text others;
    text_init(&others);
    commands_with(name, &others);
    if (others.length)
        status_set(st, STATUS_INVALID, "--%s is of %s, and not of %s; see tsr help %s", name,
                   others.data, command_table[command].name, command_table[command].name);
    else if (nearest)
        status_set(st, STATUS_INVALID, "unknown option %s; did you mean --%s?", word, nearest);
    else
        status_set(st, STATUS_INVALID, "unknown option %s; see tsr help %s", word,
                   command_table[command].name);
    text_release(&others);
    return false;
}

/* A file's name is bytes; every other word becomes part of a document sooner or later. */
static bool is_word(const option_info *info, const char *value) {
    static const char *const of_files[] = {"FILE", "DIR", "WHAT", "COMMAND"};
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        if (strstr(info->argument, of_files[i]))
            return true;
    return text_is_utf8(value, strlen(value));
}

static bool store_value(options *o, option_id id, const char *value, status *st) {
    const option_info *info = &option_table[id];
    if (value && !info->argument)
        return status_set(st, STATUS_INVALID, "--%s takes no value", info->name);
    if (!value && info->argument && info->argument[0] != '[')
        return status_set(st, STATUS_INVALID, "--%s needs a value: %s", info->name, info->argument);
    if (value && !*value)
        return status_set(st, STATUS_INVALID, "the value of --%s is empty", info->name);
    if (value && !is_word(info, value))
        return status_set(st, STATUS_INVALID, "the value of --%s is not UTF-8", info->name);
    if (o->values[id].present && info->argument && !info->repeats)
        return status_set(st, STATUS_INVALID, "--%s was given twice", info->name);
    o->values[id].present = true;
    if (value)
        vec_push(&o->values[id].values, value);
    return true;
}

/* An argument in brackets may be left out: then the next word is it where that is a number. */
static bool takes_next(const option_info *info, const char *word) {
    if (!info->argument)
        return false;
    return info->argument[0] != '[' || (*word && word[strspn(word, "0123456789")] == '\0');
}

/* Takes argv[*i] and, where the option needs it, the value after it. */
static bool parse_option(options *o, int argc, char **argv, int *i, status *st) {
    const char *word = argv[*i];
    const char *value = NULL;
    option_id id;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        id = find_long(o->command, word + 2,
                       equals ? (size_t)(equals - word - 2) : strlen(word + 2));
        value = equals ? equals + 1 : NULL;
    } else {
        id = find_letter(o->command, word[1]);
        value = word[2] ? word + 2 : NULL;
    }
    if (id == OPTION_COUNT)
        return unknown_option(o->command, word, st);
    if (!value && *i + 1 < argc && takes_next(&option_table[id], argv[*i + 1]))
        value = argv[++*i];
    return store_value(o, id, value, st);
}

static void join_chosen(options *o) {
    const char *space = options_text(o, OPTION_SPACE, NULL),
               *constants = options_text(o, OPTION_CONSTANTS, NULL);
    text all;
    if (!space && !constants)
        return;
    text_init(&all);
    text_printf(&all, "%s%s%s", space ? space : "", space && constants ? "," : "",
                constants ? constants : "");
    o->chosen = base_strdup(all.data);
    text_release(&all);
}

bool options_parse(options *o, command_id command, int argc, char **argv, status *st) {
    *o = (options){.command = command, .word_count = argc, .words = argv};
    bool only_arguments = false;
    for (int i = 0; i < argc; i++) {
        if (!only_arguments && strcmp(argv[i], "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(o, argc, argv, &i, st))
                return false;
        } else {
            vec_push(&o->arguments, argv[i]);
            o->plain_count += !only_arguments;
        }
    }
    join_chosen(o);
    return true;
}

void options_release(options *o) {
    for (int i = 0; i < OPTION_COUNT; i++)
        vec_release(&o->values[i].values);
    vec_release(&o->arguments);
    free(o->chosen);
}

void options_line(const options *o, text *out) {
    text_printf(out, "tsr %s", command_table[o->command].name);
    for (int i = 0; i < o->word_count; i++) {
        text_append_char(out, ' ');
        command_line_word(out, o->words[i]);
    }
}

bool options_flag(const options *o, option_id id) {
    return o->values[id].present;
}

const char *options_text(const options *o, option_id id, const char *otherwise) {
    const string_list *values = &o->values[id].values;
    return values->count ? values->items[values->count - 1] : otherwise;
}

bool options_number(const options *o, option_id id, uint64_t low, uint64_t high, uint64_t *value,
                    status *st) {
    const char *word = options_text(o, id, NULL);
    if (!word)
        return true;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(word, &end, 0);
    if (errno || *end || word[0] == '-' || number < low || number > high)
        return status_set(
            st, STATUS_INVALID, "--%s wants a whole number from %llu to %llu, not '%s'",
            option_table[id].name, (unsigned long long)low, (unsigned long long)high, word);
    *value = number;
    return true;
}

typedef struct real_range {
    double low, high;
    bool percent; /* a sign may stand behind the number */
} real_range;

static bool read_real(const options *o, option_id id, real_range range, double *value, status *st) {
    const bool percent = range.percent;
    const char *word = options_text(o, id, NULL);
    if (!word)
        return true;
    char *end;
    errno = 0;
    double number = strtod(word, &end);
    end += percent && *end == '%';
    if (errno || *end || end == word || !(number >= range.low && number <= range.high))
        return status_set(st, STATUS_INVALID, "--%s wants a %s from %g to %g, not '%s'",
                          option_table[id].name, percent ? "percentage" : "number", range.low,
                          range.high, word);
    *value = percent ? number / 100 : number;
    return true;
}

bool options_real(const options *o, option_id id, double low, double high, double *value,
                  status *st) {
    return read_real(o, id, (real_range){low, high, false}, value, st);
}

bool options_percent(const options *o, option_id id, double low, double high, double *value,
                     status *st) {
    return read_real(o, id, (real_range){low, high, true}, value, st);
}

void options_split(const char *list, arena *a, string_list *out) {
    for (const char *p = list; *p;) {
        size_t length = strcspn(p, ",");
        if (length)
            vec_push(out, arena_strndup(a, p, length));
        p += length + (p[length] == ',');
    }
}
