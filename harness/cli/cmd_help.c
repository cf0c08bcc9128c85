/* cmd_help.c - tsr help and tsr completion. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/doc_pages.h"
#include "common/say.h"

enum { NAMES_MOST = 128, PAGE_NAME_BYTES = 64, PAGES_INDENT = 2 };

/* "check" of "check.md". */
static void page_name(const embedded_file *page, char name[PAGE_NAME_BYTES]) {
    snprintf(name, PAGE_NAME_BYTES, "%.*s", (int)strcspn(page->name, "."), page->name);
}

const embedded_file *help_page(const char *topic) {
    for (size_t i = 0; i < doc_pages_count; i++) {
        char name[PAGE_NAME_BYTES];
        page_name(&doc_pages[i], name);
        if (strcmp(topic, name) == 0 || strcmp(topic, doc_pages[i].name) == 0)
            return &doc_pages[i];
    }
    return NULL;
}

static int no_topic(const char *topic) {
    static char pages[NAMES_MOST][PAGE_NAME_BYTES];
    const char *names[NAMES_MOST];
    size_t count = 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[count++] = command_table[i].name;
    for (size_t i = 0; i < doc_pages_count && count < NAMES_MOST; i++) {
        page_name(&doc_pages[i], pages[i]);
        names[count++] = pages[i];
    }
    const char *nearest = text_nearest(topic, names, count);
    if (nearest)
        return command_usage(COMMAND_HELP, "no command and no page '%s'; did you mean %s?", topic,
                             nearest);
    return command_usage(COMMAND_HELP, "no command and no page '%s'; tsr help lists them", topic);
}

/* A command's name is that of the command; with .md it is that of its page. */
static int help_topic(const char *topic, text *out) {
    command_id command = command_from_name(topic);
    const embedded_file *page = help_page(topic);
    if (command != COMMAND_COUNT)
        help_command(command, out);
    else if (page)
        text_append_bytes(out, page->data, page->size_bytes);
    else
        return no_topic(topic);
    return EXIT_DONE;
}

static void list_pages(text *out) {
    text names;
    text_init(&names);
    for (size_t i = 0; i < doc_pages_count; i++) {
        char name[PAGE_NAME_BYTES];
        page_name(&doc_pages[i], name);
        text_printf(&names, "%s%s", i ? " " : "",
                    command_from_name(name) == COMMAND_COUNT ? name : doc_pages[i].name);
    }
    text_printf(out, "\ntsr help PAGE shows one of the pages:\n%*s", PAGES_INDENT, "");
    help_wrap(out, names.data, PAGES_INDENT, PAGES_INDENT);
    text_release(&names);
}

int command_help(const options *o) {
    if (o->arguments.count > 1)
        return command_usage(COMMAND_HELP, "help takes one command or page");
    bool page = options_flag(o, OPTION_MAN) || options_flag(o, OPTION_MARKDOWN);
    if (page && o->arguments.count)
        return command_usage(COMMAND_HELP, "the page is of all commands: '%s' is too much",
                             o->arguments.items[0]);
    if (options_flag(o, OPTION_MAN) && options_flag(o, OPTION_MARKDOWN))
        return command_usage(COMMAND_HELP, "one of --man and --markdown");
    text out;
    text_init(&out);
    int code = EXIT_DONE;
    if (options_flag(o, OPTION_MAN)) {
        help_man(&out);
    } else if (options_flag(o, OPTION_MARKDOWN)) {
        help_markdown(&out);
    } else if (o->arguments.count == 0) {
        help_overview(&out);
        list_pages(&out);
    } else {
        code = help_topic(o->arguments.items[0], &out);
    }
    say_text(stdout, out.data);
    text_release(&out);
    return code;
}

int command_completion(const options *o) {
    const char *shell = o->arguments.count == 1 ? o->arguments.items[0] : "";
    text out;
    text_init(&out);
    int code = EXIT_DONE;
    if (strcmp(shell, "bash") == 0)
        completion_bash(&out);
    else if (strcmp(shell, "zsh") == 0)
        completion_zsh(&out);
    else if (strcmp(shell, "fish") == 0)
        completion_fish(&out);
    else
        code = command_usage(COMMAND_COMPLETION, "which shell? bash, fish or zsh");
    say_text(stdout, out.data);
    text_release(&out);
    return code;
}
