/* help.c - help, the man page and docs/cli.md, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

enum { HELP_COLUMNS = 80, HELP_INDENT = 26 };

static const struct exit_row {
    const char *code, *meaning;
} exit_rows[] = {
    {"0", "done, and every check held"},
    {"1", "a check did not hold: a mismatch, a crash, a hang"},
    {"2", "wrong command line"},
    {"3", "wrong input: source with diagnostics, empty corpus, unreadable or newer database, "
          "foreign golden"},
    {"4", "something asked for is not here: backend, device, permission, room on the disk"},
    {"5", "no verdict: the two sides do not cover the same cases, or nothing was judged"},
    {"70", "a bug of tsr itself"},
    {"130", "interrupted: no verdict; what was finished is stored, and --resume goes on"},
};
enum { EXIT_ROWS = sizeof exit_rows / sizeof exit_rows[0] };

static void drop_spaces(text *out) {
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

void help_wrap(text *out, const char *words, int indent, int column) {
    while (*words) {
        size_t length = strcspn(words, " ");
        if (column + (int)length > HELP_COLUMNS && column > indent) {
            drop_spaces(out);
            text_printf(out, "\n%*s", indent, "");
            column = indent;
        }
        text_append_bytes(out, words, length);
        column += (int)length;
        words += length;
        if (*words == ' ') {
            if (column < HELP_COLUMNS)
                text_append_char(out, ' ');
            column++;
            words++;
        }
    }
    drop_spaces(out);
    text_append_char(out, '\n');
}

static void option_label(const option_info *option, text *out) {
    if (option->letter)
        text_printf(out, "-%c, ", option->letter);
    text_printf(out, "--%s", option->name);
    if (option->argument)
        text_printf(out, " %s", option->argument);
}

static void help_option(const option_info *option, text *out) {
    size_t start = out->length;
    text_append(out, "  ");
    option_label(option, out);
    int column = (int)(out->length - start);
    if (column + 2 > HELP_INDENT)
        text_printf(out, "\n%*s", HELP_INDENT, "");
    else
        text_printf(out, "%*s", HELP_INDENT - column, "");
    help_wrap(out, option->help, HELP_INDENT, HELP_INDENT);
}

void help_overview(text *out) {
    text_append(out, "tsr - reproducible benchmarks of tensor kernels\n\nusage: tsr COMMAND "
                     "[OPTIONS] [ARGS]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_printf(out, "  %-12s", command_table[i].name);
        help_wrap(out, command_table[i].summary, 14, 14);
    }
    text_append(out, "\ntsr help COMMAND tells more. tsr --version prints the version.\n");
}

void help_command(command_id command, text *out) {
    const command_info *info = &command_table[command];
    text_printf(out, "usage: tsr %s\n\n", info->usage);
    help_wrap(out, info->description, 0, 0);
    text_append(out, "\noptions:\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_applies((option_id)i, command))
            help_option(&option_table[i], out);
    const embedded_file *page = help_page(info->name);
    if (page)
        text_printf(out, "\nmore: tsr help %s\n", page->name);
}

static void roff_text(text *out, const char *words) {
    for (const char *p = words; *p; p++) {
        if (*p == '-' || *p == '\\')
            text_append_char(out, '\\');
        text_append_char(out, *p);
    }
    text_append_char(out, '\n');
}

static void man_command(command_id command, text *out) {
    const command_info *info = &command_table[command];
    text_append(out, ".SS \"tsr ");
    roff_text(out, info->usage);
    out->data[out->length - 1] = '"';
    text_append_char(out, '\n');
    roff_text(out, info->description);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!option_applies((option_id)i, command))
            continue;
        text label;
        text_init(&label);
        option_label(&option_table[i], &label);
        text_append(out, ".TP\n.B ");
        roff_text(out, label.data);
        roff_text(out, option_table[i].help);
        text_release(&label);
    }
}

void help_man(text *out) {
    text_printf(out, ".TH TSR 1 \"\" \"tsr %s\" \"User Commands\"\n", TSR_VERSION);
    text_append(out, ".SH NAME\ntsr \\- reproducible benchmarks of tensor kernels\n"
                     ".SH SYNOPSIS\n.B tsr\n.I COMMAND\n[OPTIONS] [ARGS]\n.SH COMMANDS\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        man_command((command_id)i, out);
    text_append(out, ".SH EXIT STATUS\n");
    for (int i = 0; i < EXIT_ROWS; i++) {
        text_printf(out, ".TP\n.B %s\n", exit_rows[i].code);
        roff_text(out, exit_rows[i].meaning);
    }
    text_append(out, "Where several apply: 130, 70, 3, 4, 1, 5.\n"
                     ".SH ENVIRONMENT\n.TP\n.B TESSERA_BACKEND\ndefault of \\-\\-backend\n"
                     ".TP\n.B TSR_DB\ndefault of \\-\\-db\n.TP\n.B TSR_INJECT\ndefault of "
                     "\\-\\-inject, which \\-\\-resume does not compare\n"
                     ".TP\n.B TSR_PTXAS\ndefault of \\-\\-ptxas\n"
                     ".TP\n.B NO_COLOR\nturns colour off\n");
}

/* A table cell: '|' would end it. */
static void markdown_cell(text *out, const char *words) {
    for (const char *p = words; *p; p++) {
        if (*p == '|')
            text_append_char(out, '\\');
        text_append_char(out, *p);
    }
}

static void markdown_command(command_id command, text *out) {
    const command_info *info = &command_table[command];
    text_printf(out, "\n## tsr %s\n\n```\ntsr %s\n```\n\n", info->name, info->usage);
    help_wrap(out, info->description, 0, 0);
    text_append(out, "\n| option | meaning |\n|---|---|\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!option_applies((option_id)i, command))
            continue;
        text_append(out, "| `");
        option_label(&option_table[i], out);
        text_append(out, "` | ");
        markdown_cell(out, option_table[i].help);
        text_append(out, " |\n");
    }
}

void help_markdown(text *out) {
    text_append(out, "# The command line\n\nThis page is printed by `tsr help --markdown`; a test "
                     "holds it to that.\n\n"
                     "| command | what it does |\n|---|---|\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        text_printf(out, "| [`tsr %s`](#tsr-%s) | %s |\n", command_table[i].name,
                    command_table[i].name, command_table[i].summary);
    text_append(
        out,
        "\nResults go to stdout, progress and diagnostics to stderr. Every list takes commas.\n\n"
        "| exit code | meaning |\n|---|---|\n");
    for (int i = 0; i < EXIT_ROWS; i++)
        text_printf(out, "| %s | %s |\n", exit_rows[i].code, exit_rows[i].meaning);
    text_append(out, "\nWhere several apply: 130, 70, 3, 4, 1, 5.\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        markdown_command((command_id)i, out);
}
