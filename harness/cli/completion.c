/* completion.c - shell completion, from the tables of commands and options. */
#include "cli/command.h"

static void append_commands(text *out) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        text_printf(out, "%s%s", i ? " " : "", command_table[i].name);
}

void completion_bash(text *out) {
    text_append(out, "_tsr() {\n    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
                     "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    append_commands(out);
    text_append(out, "\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_printf(out, "    %s) options=\"", command_table[i].name);
        for (int k = 0; k < OPTION_COUNT; k++)
            if (option_applies((option_id)k, (command_id)i))
                text_printf(out, "--%s ", option_table[k].name);
        if (i == COMMAND_GOLDEN)
            text_append(out, "record verify list");
        if (i == COMMAND_COMPLETION)
            text_append(out, "bash fish zsh");
        if (i == COMMAND_HELP)
            append_commands(out);
        if (i == COMMAND_EXPLAIN)
            text_append(out, "$(\"${COMP_WORDS[0]}\" explain 2>/dev/null | cut -d' ' -f1)");
        text_append(out, "\" ;;\n");
    }
    text_append(out, "    esac\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n}\n"
                     "complete -o default -F _tsr tsr\n");
}

/* Inside zsh's '...' and [...]: quotes, brackets and colons are escaped. */
static void zsh_escape(text *out, const char *words) {
    for (const char *p = words; *p; p++) {
        if (*p == '\'') {
            text_append(out, "'\\''");
            continue;
        }
        if (*p == '[' || *p == ']' || *p == ':')
            text_append_char(out, '\\');
        text_append_char(out, *p);
    }
}

static void zsh_option(text *out, const option_info *option) {
    text_printf(out, "            '%s--%s%s[", option->repeats ? "*" : "", option->name,
                option->argument ? "=" : "");
    zsh_escape(out, option->help);
    text_append_char(out, ']');
    if (option->argument)
        text_printf(out, ":%s:_files", option->argument);
    text_append(out, "' \\\n");
}

void completion_zsh(text *out) {
    text_append(
        out,
        "#compdef tsr\n_tsr() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_printf(out, "            '%s:", command_table[i].name);
        zsh_escape(out, command_table[i].summary);
        text_append(out, "'\n");
    }
    text_append(out, "        )\n        _describe command commands\n        return\n    fi\n"
                     "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case "
                     "$command in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_printf(out, "    %s)\n        _arguments \\\n", command_table[i].name);
        for (int k = 0; k < OPTION_COUNT; k++)
            if (option_applies((option_id)k, (command_id)i))
                zsh_option(out, &option_table[k]);
        text_append(out, "            '*:argument:_files' ;;\n");
    }
    text_append(out, "    esac\n}\ncompdef _tsr tsr\n");
}

/* Inside fish's '...'. */
static void fish_escape(text *out, const char *words) {
    for (const char *p = words; *p; p++) {
        if (*p == '\'' || *p == '\\')
            text_append_char(out, '\\');
        text_append_char(out, *p);
    }
}

static void fish_line(text *out, const char *when, const char *words, const char *help) {
    text_printf(out, "complete -c tsr -n '%s' %s -d '", when, words);
    fish_escape(out, help);
    text_append(out, "'\n");
}

/* Words that may follow a command, beside its options. */
static void fish_words(text *out, command_id command, const char *words) {
    text_printf(out, "complete -c tsr -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                command_table[command].name, words);
}

void completion_fish(text *out) {
    text words;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_init(&words);
        text_printf(&words, "-f -a %s", command_table[i].name);
        fish_line(out, "__fish_use_subcommand", words.data, command_table[i].summary);
        text_release(&words);
    }
    for (int k = 0; k < OPTION_COUNT; k++) {
        text commands;
        text_init(&commands);
        text_append(&commands, "__fish_seen_subcommand_from");
        for (int i = 0; i < COMMAND_COUNT; i++)
            if (option_applies((option_id)k, (command_id)i))
                text_printf(&commands, " %s", command_table[i].name);
        text_init(&words);
        text_printf(&words, "-l %s%s", option_table[k].name, option_table[k].argument ? " -r" : "");
        fish_line(out, commands.data, words.data, option_table[k].help);
        text_release(&words);
        text_release(&commands);
    }
    fish_words(out, COMMAND_GOLDEN, "record verify list");
    fish_words(out, COMMAND_COMPLETION, "bash fish zsh");
    fish_words(out, COMMAND_EXPLAIN, "(tsr explain 2>/dev/null | cut -d\" \" -f1)");
}
