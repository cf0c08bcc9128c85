/* replay_onward.c - see replay_onward.h. */
#include "cli/replay_onward.h"

#include <stdio.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "cli/command.h"
#include "common/json_text.h"
#include "common/say.h"

enum { BUDGET_S = 60 };

/* A program, or the folder of a build. */
static bool find_build(const options *o, text *program, status *st) {
    const char *given = options_text(o, OPTION_REPLAY_AGAINST, NULL);
    if (!given)
        return true;
    text_printf(program, "%s%s", given, file_is_dir(given) ? "/tsr" : "");
    return access(program->data, X_OK) == 0 ||
           status_set(st, STATUS_NOT_FOUND, "--against %s: there is no program %s", given,
                      program->data);
}

static int refuse(const options *o) {
    const bool bisects = options_flag(o, OPTION_REPLAY_BISECT),
               minimizes = options_flag(o, OPTION_REPLAY_MINIMIZE);
    if (bisects && minimizes)
        return command_usage(o->command, "--minimize bisects, too: one of them");
    int code = bisects ? EXIT_DONE : COMMAND_REFUSE(o, "is for --bisect", OPTION_REPLAY_AGAINST);
    if (!code && !minimizes)
        code = COMMAND_REFUSE(o, "is for --minimize", OPTION_REPLAY_BUDGET);
    if (!code && minimizes)
        code = COMMAND_REFUSE(o, "begins behind the source, which --minimize makes smaller",
                              OPTION_REPLAY_FROM);
    if (!code && !bisects && !minimizes)
        code = COMMAND_REFUSE(o, "is for the new pack of --bisect or --minimize", OPTION_OUTPUT,
                              OPTION_FAILURES);
    return code;
}

int replay_onward_open(const options *o, replay_request *request, replay_onward *out) {
    const pack_place place = {options_text(o, OPTION_OUTPUT, NULL),
                              options_text(o, OPTION_FAILURES, NULL)};
    status st = STATUS_INIT;
    *out = (replay_onward){.found = {.place = place},
                           .reduced = {.place = place, .budget_seconds = BUDGET_S}};
    text_init(&out->found.pack);
    text_init(&out->reduced.pack);
    text_init(&out->program);
    const int code = refuse(o);
    if (code)
        return code;
    if (!options_number(o, OPTION_REPLAY_BUDGET, 1, 1000000, &out->reduced.budget_seconds, &st))
        return command_usage(o->command, "%s", st.message);
    if (!find_build(o, &out->program, &st))
        return command_fail(&st);
    out->found.against = out->program.length ? out->program.data : NULL;
    if (options_flag(o, OPTION_REPLAY_BISECT)) {
        request->onward = localize_onward;
        request->self = &out->found;
    } else if (options_flag(o, OPTION_REPLAY_MINIMIZE)) {
        request->onward = reduce_onward;
        request->self = &out->reduced;
    }
    return EXIT_DONE;
}

void replay_onward_close(replay_onward *n) {
    json_decref(n->found.found);
    json_decref(n->reduced.told);
    text_release(&n->found.pack);
    text_release(&n->reduced.pack);
    text_release(&n->program);
}

static const text *pack_of(const replay_onward *n) {
    return n->reduced.pack.length ? &n->reduced.pack : &n->found.pack;
}

void replay_onward_show(const replay_onward *n) {
    text words;
    text_init(&words);
    if (n->found.found)
        localization_show(n->found.found, &words);
    if (n->reduced.told)
        reduction_show(n->reduced.told, &words);
    if (pack_of(n)->length)
        text_show(&words, "pack      %s\n", pack_of(n)->data);
    say_text(stdout, words.data ? words.data : "");
    text_release(&words);
}

void replay_onward_put(const replay_onward *n, json_t *document) {
    if (n->found.found)
        json_object_set(document, "bisect", n->found.found);
    if (n->reduced.told)
        json_object_set(document, "minimize", n->reduced.told);
    if (pack_of(n)->length)
        json_object_set_new(document, "pack", json_text(pack_of(n)->data));
}
