/* cmd_replay.c - tsr replay: what a pack recorded, and whether it happens again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/pack_show.h"
#include "cli/replay_as.h"
#include "cli/replay_folder_view.h"
#include "cli/replay_onward.h"
#include "common/command_line.h"
#include "common/json_text.h"
#include "common/say.h"
#include "job/job.h"
#include "job/result.h"
#include "policy.h"
#include "report/document.h"
#include "run/pack_level.h"
#include "run/pack_needs.h"
#include "run/replay.h"

static void show_end(const char *what, const json_t *end) {
    const char *why = json_text_at(end, "why");
    text line;
    text_init(&line);
    text_show(&line, "%-9s %s%s", what, json_text_at(end, "status"), *why ? ": " : "");
    text_show_lines(&line, "          ", why);
    text_append_char(&line, '\n');
    say_text(stdout, line.data);
    text_release(&line);
}

static void show_qualifiers(const json_t *list) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) say(stdout, "%s%s", i ? ", " : " (", json_string_value(item));
    say(stdout, json_array_size(list) ? ")\n" : "\n");
}

/* Lists things that the code opened where it ran, and that the pack does not hold. */
static void show_needs(const replay *r) {
    text lacks;
    if (r->verdict == REPRODUCED_EXACT || r->verdict == REPRODUCED_CLASS)
        return;
    text_init(&lacks);
    pack_needs_text(json_object_get(r->manifest, "needs"), false, &lacks);
    if (lacks.length)
        say(stdout, "lacks     %s\n", lacks.data);
    text_release(&lacks);
}

static void show_missing(const json_t *list) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) say(stdout, "missing   %s\n", json_string_value(item));
}

/* Whose code it is, and what ran in its place. */
static void show_code(const replay *r, const replay_request *request) {
    const json_t *item = json_object_get(r->manifest, "case");
    const json_t *held = json_object_get(item, "implementation");
    const json_t *ran = result_get(r->result, RESULT_IMPLEMENTATION);
    text line;
    text_init(&line);
    if (json_is_object(held))
        text_show(&line, "code      %s:%s\n", json_text_at(held, "name"),
                  json_text_at(held, "symbol"));
    if (ran && request->with)
        text_show(&line, "instead   %s:%s\n", json_text_at(ran, "path"),
                  json_text_at(ran, "symbol"));
    say_text(stdout, line.data ? line.data : "");
    text_release(&line);
}

static void show_ways(const replay *r, const replay_request *request) {
    text word;
    text_init(&word);
    const char *path = command_line_quoted(&word, request->path);
    say(stdout,
        "%s\n    tsr replay %s --show           what is in it\n"
        "    tsr replay %s --trust          run the pack's own copy\n"
        "    tsr replay %s --with FILE      run a file of yours instead\n",
        r->why, path, path, path);
    text_release(&word);
}

static void show_sentinels(const json_t *result) {
    const char *words = json_text_at(result_get(result, RESULT_SENTINELS), "description");
    text line;
    if (!*words)
        return;
    text_init(&line);
    text_show(&line, "sentinels %s\n", words);
    say_text(stdout, line.data);
    text_release(&line);
}

static void show_signer(const replay *r) {
    const json_t *said = json_object_get(r->signed_by, "statement");
    text line;
    if (!r->signed_by)
        return;
    text_init(&line);
    text_show(&line, "signed by %s: %s, by tsr %s, build %s\n", json_text_at(r->signed_by, "keyid"),
              json_text_at(said, "verdict"), json_text_at(json_object_get(said, "tsr"), "version"),
              json_text_at(json_object_get(said, "tsr"), "build"));
    say_text(stdout, line.data);
    text_release(&line);
}

/* The code that whoever made the pack had, and how that went here. */
static void show_image(const replay *r, const replay_request *request) {
    const char *verdict = json_text_at(r->image, "verdict"), *why = json_text_at(r->image, "why");
    text line;
    if (!r->image)
        return;
    text_init(&line);
    text_show(&line, "image     %s, %lld bytes (%.12s): ", json_text_at(r->image, "member"),
              (long long)json_integer_value(json_object_get(r->image, "bytes")),
              json_text_at(r->image, "sha256"));
    if (*verdict)
        text_show(&line, "%s, %s%s%s\n", verdict, json_text_at(r->image, "status"),
                  *why ? ": " : "", why);
    else
        text_show(&line, "not run%s\n",
                  request->image ? "" : "; --allow-native runs it in the sandbox");
    say_text(stdout, line.data);
    text_release(&line);
}

static void show(const replay *r, const replay_request *request) {
    const json_t *item = json_object_get(r->manifest, "case");
    say(stdout, "%s", repro_verdict_name(r->verdict));
    show_qualifiers(r->qualifiers);
    if (r->verdict == INVALID_PACK) {
        say(stdout, "%s\n", r->why);
        return;
    }
    show_signer(r);
    if (r->verdict == NEEDS_TRUST)
        show_ways(r, request);
    if (item)
        say(stdout, "case      %s/%s@%s,%s,%lld%s%s%s%s\n", json_text_at(item, "kernel"),
            json_text_at(item, "case"), json_text_at(item, "backend"),
            json_text_at(item, "profile"),
            (long long)json_integer_value(json_object_get(item, "threads")),
            *json_text_at(item, "dims") ? " --dims " : "", json_text_at(item, "dims"),
            *json_text_at(item, "fault") ? " --inject " : "", json_text_at(item, "fault"));
    if (json_is_integer(json_object_get(item, "set")))
        say(stdout, "inputs    set %lld of the case\n",
            (long long)json_integer_value(json_object_get(item, "set")));
    show_code(r, request);
    show_needs(r);
    show_missing(r->missing);
    if (item)
        show_end("recorded", json_object_get(r->manifest, "outcome"));
    if (r->result && r->verdict != INCOMPATIBLE) {
        show_end("now", r->result);
        show_sentinels(r->result);
    }
    show_image(r, request);
}

static void show_json(const replay *r, const replay_onward *n) {
    bool none = r->verdict == REPRO_NO_VERDICT;
    json_decref(result_take_internal(r->result));
    json_t *document = json_pack(
        "{s:s, s:s?, s:b, s:O, s:O, s:O?, s:O?, s:O?, s:O?, s:o, s:O?, s:O?}", "schema",
        "tsr.replay/1", "verdict", none ? NULL : repro_verdict_name(r->verdict), "interrupted",
        none, "qualifiers", r->qualifiers, "missing", r->missing, "case",
        json_object_get(r->manifest, "case"), "needs", json_object_get(r->manifest, "needs"),
        "recorded", json_object_get(r->manifest, "outcome"), "replayed", none ? NULL : r->result,
        "why", json_text(r->why[0] ? r->why : NULL), "signature", r->signed_by, "image", r->image);
    if (json_object_get(r->manifest, "bisect")) /* what was found before, unless it is now */
        json_object_set(document, "bisect", json_object_get(r->manifest, "bisect"));
    replay_onward_put(n, document);
    document_print(document, stdout);
    json_decref(document);
}

/* A verdict that says nothing of the failure keeps its own. */
static int exit_of(const replay *r, const replay_request *request) {
    int code = repro_verdict_exit(r->verdict);
    if (!request->expects_fixed)
        return code;
    return r->verdict == NOT_REPRODUCED ? EXIT_DONE : code == EXIT_DONE ? EXIT_CHECK : code;
}

static int run(const options *o, replay_request *request) {
    replay r;
    status st = STATUS_INIT;
    replay_onward n;
    int code = replay_onward_open(o, request, &n);
    if (code) {
        replay_onward_close(&n);
        return code;
    }
    code = replay_run(request, &r, &st) ? exit_of(&r, request) : command_fail(&st);
    if (st.code == STATUS_OK && options_flag(o, OPTION_JSON))
        show_json(&r, &n);
    else if (st.code == STATUS_OK && r.verdict == REPRO_NO_VERDICT) {
        say(stderr, "tsr: interrupted: there is no verdict\n");
        replay_onward_show(&n);
    } else if (st.code == STATUS_OK) {
        show(&r, request);
        replay_onward_show(&n);
    }
    replay_onward_close(&n);
    replay_release(&r);
    return code;
}

/* With the keys of --signed-by, where there are some. */
static int run_signed(const options *o, replay_request *request) {
    status st = STATUS_INIT;
    const char *path = options_text(o, OPTION_SIGNED_BY, NULL);
    sign_keys *keys = path ? sign_keys_open(path, &st) : NULL;
    if (path && !keys)
        return command_fail(&st);
    request->signers = keys;
    int code = options_flag(o, OPTION_REPLAY_AS) ? replay_as(o, request) : run(o, request);
    sign_keys_close(keys);
    return code;
}

/* With the file of --with, where there is one. */
static int run_with(const options *o, replay_request *request) {
    implementation with;
    status st = STATUS_INIT;
    const char *given = options_text(o, OPTION_REPLAY_WITH, NULL);
    if (!given)
        return run_signed(o, request);
    request->with = &with;
    int code = implementation_open(&with, given, &st) ? run_signed(o, request) : command_fail(&st);
    implementation_release(&with);
    return code;
}

static int show_pack(const options *o) {
    status st = STATUS_INIT;
    uint64_t memory_mib = replay_memory_mib();
    int code = COMMAND_REFUSE(
        o, "is for a pack that is run, and --show runs none", OPTION_ALLOW_NATIVE, OPTION_TRUST,
        OPTION_REPLAY_WITH, OPTION_REPLAY_EXPECT, OPTION_ISA, OPTION_SENTINELS, OPTION_SIGNED_BY,
        OPTION_REPLAY_TIMEOUT, OPTION_REPLAY_THREADS, OPTION_REPLAY_BISECT, OPTION_OUTPUT,
        OPTION_FAILURES, OPTION_REPLAY_FROM, OPTION_REPLAY_AGAINST, OPTION_REPLAY_MINIMIZE,
        OPTION_REPLAY_BUDGET, OPTION_REPLAY_AS, OPTION_REPLAY_OUT);
    if (code)
        return code;
    if (!options_number(o, OPTION_REPLAY_MEMORY, 1, 1u << 30, &memory_mib, &st))
        return command_usage(o->command, "%s", st.message);
    return pack_show(o->arguments.items[0], memory_mib, options_flag(o, OPTION_JSON), &st)
               ? EXIT_DONE
               : command_fail(&st);
}

int command_replay(const options *o) {
    job_choice choice;
    status st = STATUS_INIT;
    uint64_t threads = REPLAY_THREADS;
    unsetenv(POLICY_FILE);
    /* the sandbox opens no file of the user's */ // NOLINT(concurrency-mt-unsafe)
    if (o->arguments.count != 1)
        return command_usage(o->command, "one PACK is wanted, or a folder of them");
    if (file_is_dir(o->arguments.items[0]))
        return replay_folder_view(o);
    int code = COMMAND_REFUSE(o, "is for a folder of packs", OPTION_JOBS, OPTION_REGRESS);
    if (code)
        return code;
    if (options_flag(o, OPTION_REPLAY_SHOW))
        return show_pack(o);
    if (options_flag(o, OPTION_REPLAY_OUT) && !options_flag(o, OPTION_REPLAY_AS))
        return command_usage(o->command, "--out is of --as");
    const char *expected = options_text(o, OPTION_REPLAY_EXPECT, "fixed");
    if (strcmp(expected, "fixed") != 0)
        return command_usage(o->command, "--expect %s: it is fixed that is expected", expected);
    const char *from = options_text(o, OPTION_REPLAY_FROM, "graph");
    if (!pack_level_is_one(from))
        return command_usage(o->command, "--from %s: levels are " PACK_LEVELS, from);
    if (options_flag(o, OPTION_TRUST) && options_flag(o, OPTION_REPLAY_WITH))
        return command_usage(o->command, "--trust runs the pack's copy, and --with another file: "
                                         "one of them");
    replay_request request = {.path = o->arguments.items[0],
                              .timeout_seconds = REPLAY_TIMEOUT_S,
                              .memory_mib = replay_memory_mib()};
    if (!options_number(o, OPTION_REPLAY_TIMEOUT, 1, 1000000, &request.timeout_seconds, &st) ||
        !options_number(o, OPTION_REPLAY_MEMORY, 1, 1u << 30, &request.memory_mib, &st) ||
        !options_number(o, OPTION_REPLAY_THREADS, 1, 256, &threads, &st))
        return command_usage(o->command, "%s", st.message);
    request.threads = (uint32_t)threads;
    code = choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    request.isa = choice.isa;
    request.from = options_text(o, OPTION_REPLAY_FROM, NULL);
    request.sentinels = options_flag(o, OPTION_SENTINELS);
    request.trust = options_flag(o, OPTION_TRUST);
    request.image = options_flag(o, OPTION_ALLOW_NATIVE);
    request.expects_fixed = options_flag(o, OPTION_REPLAY_EXPECT);
    return run_with(o, &request);
}
