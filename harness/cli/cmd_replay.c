/* cmd_replay.c - tsr replay: what a pack recorded, and whether it happens again. */
#include <stdio.h>
#include <string.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "job.h"
#include "json_text.h"
#include "replay.h"
#include "report/document.h"

static void show_end(const char *what, const json_t *end) {
    const char *why = job_result_text(end, "why");
    printf("%-9s %s%s%s\n", what, job_result_text(end, "status"), *why ? ": " : "", why);
}

static void show_list(const char *head, const json_t *list, const char *between) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) printf("%s%s", i ? between : head, json_string_value(item));
}

static void show(const replay *r) {
    const json_t *item = json_object_get(r->manifest, "case");
    fputs(repro_verdict_name(r->verdict), stdout);
    show_list(" (", r->qualifiers, ", ");
    puts(json_array_size(r->qualifiers) ? ")" : "");
    if (r->verdict == INVALID_PACK) {
        printf("%s\n", r->why);
        return;
    }
    if (item)
        printf("case      %s/%s@%s,%s,%lld%s%s\n", job_result_text(item, "kernel"),
               job_result_text(item, "case"), job_result_text(item, "backend"),
               job_result_text(item, "profile"),
               (long long)json_integer_value(json_object_get(item, "threads")),
               *job_result_text(item, "fault") ? " --inject " : "", job_result_text(item, "fault"));
    show_list("missing   ", r->missing, "\nmissing   ");
    if (json_array_size(r->missing))
        puts("");
    if (item)
        show_end("recorded", json_object_get(r->manifest, "outcome"));
    if (r->result && r->verdict != INCOMPATIBLE)
        show_end("now", r->result);
}

static void show_json(const replay *r) {
    json_object_del(r->result, "internal");
    json_t *document = json_pack(
        "{s:s, s:s, s:O, s:O, s:O?, s:O?, s:O?, s:o}", "schema", "tsr.replay/1", "verdict",
        repro_verdict_name(r->verdict), "qualifiers", r->qualifiers, "missing", r->missing, "case",
        json_object_get(r->manifest, "case"), "recorded", json_object_get(r->manifest, "outcome"),
        "replayed", r->result, "why", json_text(r->why[0] ? r->why : NULL));
    document_print(document, stdout);
    json_decref(document);
}

int command_replay(const options *o) {
    job_choice choice;
    status st = STATUS_INIT;
    replay r;
    if (o->arguments.count != 1)
        return command_usage(o->command, "one PACK is wanted");
    int code = choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    replay_request request = {o->arguments.items[0], choice.isa};
    code = replay_run(&request, &r, &st) ? repro_verdict_exit(r.verdict) : command_fail(&st);
    if (r.manifest || r.why[0] || json_array_size(r.missing)) {
        if (options_flag(o, OPTION_JSON))
            show_json(&r);
        else
            show(&r);
    }
    replay_release(&r);
    return code;
}
