/* replay_as.c - see replay_as.h. */
#include "cli/replay_as.h"

#include "cli/command.h"
#include "common/command_line.h"
#include "common/json_text.h"
#include "common/say.h"
#include "export/export.h"

typedef struct written {
    const export_language *language;
    text folder, how;
} written;

static bool write(void *context, const pack *from, const json_t *made, status *st) {
    written *w = context;
    const json_t *item = json_object_get(pack_about(from), "case");
    if (!w->folder.length)
        text_printf(&w->folder, "%s-%s", json_text_at(item, "kernel"), json_text_at(item, "case"));
    const export_request request = {from, made, w->language, w->folder.data};
    return export_write(&request, &w->how, st);
}

static int end(const written *w, const replay *r, status *st) {
    text word;
    if (st->code != STATUS_OK)
        return command_fail(st);
    if (r->verdict == INVALID_PACK || r->verdict == INCOMPATIBLE) {
        say(stdout, "%s\n%s\n", repro_verdict_name(r->verdict),
            r->why[0] ? r->why : json_string_value(json_array_get(r->missing, 0)));
        return repro_verdict_exit(r->verdict);
    }
    if (!w->how.length) {
        say(stderr, "tsr: interrupted: nothing was written\n");
        return EXIT_INTERRUPTED;
    }
    text_init(&word);
    say(stdout, "cd %s && %s\n", command_line_quoted(&word, w->folder.data), w->how.data);
    text_release(&word);
    return EXIT_DONE;
}

int replay_as(const options *o, const replay_request *request) {
    const char *name = options_text(o, OPTION_REPLAY_AS, "");
    written w = {.language = export_language_named(name)};
    int code = COMMAND_REFUSE(o, "is for a replay, and --as makes none", OPTION_ALLOW_NATIVE,
                              OPTION_TRUST, OPTION_REPLAY_WITH, OPTION_REPLAY_EXPECT, OPTION_ISA,
                              OPTION_SENTINELS, OPTION_REPLAY_THREADS, OPTION_REPLAY_FROM,
                              OPTION_REPLAY_BISECT, OPTION_REPLAY_MINIMIZE, OPTION_REPLAY_BUDGET,
                              OPTION_REPLAY_AGAINST, OPTION_OUTPUT, OPTION_FAILURES, OPTION_JSON);
    if (code)
        return code;
    if (!w.language)
        return command_usage(o->command, "--as %s: it is c, python, stablehlo or jax", name);
    replay_request asked = *request;
    const replay_export export = {export_language_level(w.language), write, &w};
    replay r;
    status st = STATUS_INIT;
    text_init(&w.folder);
    text_init(&w.how);
    text_append(&w.folder, options_text(o, OPTION_REPLAY_OUT, ""));
    asked.export = &export;
    (void)replay_run(&asked, &r, &st);
    code = end(&w, &r, &st);
    replay_release(&r);
    text_release(&w.folder);
    text_release(&w.how);
    return code;
}
