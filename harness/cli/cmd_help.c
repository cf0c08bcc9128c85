/* cmd_help.c - tsr help and tsr completion. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "common/say.h"

int command_help(const options *o) {
    if (o->arguments.count > 1)
        return command_usage(COMMAND_HELP, "help takes one command");
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
    } else {
        command_id command = command_from_name(o->arguments.items[0]);
        if (command == COMMAND_COUNT)
            code = command_usage(COMMAND_COUNT, "no command '%s'", o->arguments.items[0]);
        else
            help_command(command, &out);
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
    else
        code = command_usage(COMMAND_COMPLETION, "which shell? bash or zsh");
    say_text(stdout, out.data);
    text_release(&out);
    return code;
}
