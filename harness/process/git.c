/* git.c - runs git and reads what it prints. */
#include "process/git.h"

#include <string.h>

#include "process/program.h"

static void trim(text *t) {
    while (t->length && (t->data[t->length - 1] == '\n' || t->data[t->length - 1] == ' '))
        t->data[--t->length] = '\0';
}

bool git_ask(const char *const *arguments, text *out, status *st) {
    text errors;
    int code = 0;
    text_init(&errors);
    program p = {.arguments = arguments, .output = out, .errors = &errors};
    bool ok = program_run(&p, &code, st);
    trim(out);
    if (ok && code != 0)
        ok = status_set(st, STATUS_NOT_FOUND, "git %s: %.*s", arguments[1],
                        (int)strcspn(errors.data, "\n"), errors.data);
    text_release(&errors);
    return ok;
}

bool git_resolve(const char *name, text *commit, status *st) {
    text wanted;
    text_init(&wanted);
    text_printf(&wanted, "%s^{commit}", name);
    const char *const arguments[] = {"git",       "rev-parse", "--verify", "--end-of-options",
                                     wanted.data, NULL};
    bool ok = git_ask(arguments, commit, st);
    text_release(&wanted);
    return ok;
}
