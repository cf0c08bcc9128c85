/* replay_folder_view.c - tsr replay DIR: every pack of a folder, a group for each fault. */
#include <string.h>

#include "cli/command.h"
#include "cli/replay_folder_view.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "device/host/host.h"
#include "report/document.h"
#include "report/progress.h"
#include "report/table.h"
#include "repro/verdict.h"
#include "run/replay_folder.h"

enum { JOBS_MOST = 256, VERDICT_WIDTH = 17 };

static void show_progress(void *context, const char *pack, size_t done, size_t count) {
    progress *bar = context;
    bar->done = done;
    bar->total = count;
    if (pack)
        progress_show(bar, pack);
    else
        progress_clear(bar);
}

/* Collects the options for each pack: all that were given, but for those of the folder.
 */
static void hand_on(const options *o, string_list *words, arena *memory) {
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_value *value = &o->values[id];
        if (!value->present || id == OPTION_JSON || id == OPTION_COLOR || id == OPTION_JOBS ||
            id == OPTION_REGRESS)
            continue;
        text name;
        text_init(&name);
        text_printf(&name, "--%s", option_table[id].name);
        const char *kept = arena_strdup(memory, name.data);
        text_release(&name);
        if (!option_table[id].argument)
            vec_push(words, kept);
        for (size_t i = 0; i < value->values.count && option_table[id].argument; i++) {
            vec_push(words, kept);
            vec_push(words, value->values.items[i]);
        }
    }
    vec_push(words, NULL);
}

/* ---- shown to a person ---- */

static const json_t *entry_at(const json_t *document, const json_t *path) {
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(document, "packs"), i,
                       entry) if (json_equal(json_object_get(entry, "pack"), path)) return entry;
    return NULL;
}

static void put_fault(const json_t *fault, text *out) {
    const char *pass = json_text_at(fault, "pass"), *operation = json_text_at(fault, "operation"),
               *stage = json_text_at(fault, "stage");
    if (*pass || *operation)
        text_show(out, "%s%s%s", *pass ? pass : "", *pass && *operation ? ", " : "",
                  *operation ? operation : "");
    else if (*json_text_at(fault, "status"))
        text_show(out, "recorded: %s%s%s", json_text_at(fault, "status"), *stage ? " at " : "",
                  stage);
    else
        text_append(out, "not replayed");
}

static void put_entry(const json_t *entry, bool colour, text *out) {
    const json_t *item = json_object_get(entry, "case");
    const bool good = json_integer_value(json_object_get(entry, "exit")) == EXIT_DONE;
    const char *verdict = json_text_at(entry, "verdict"), *why = json_text_at(entry, "why");
    text_printf(out, "  %s%-*s%s ",
                !colour ? ""
                : good  ? TABLE_GREEN
                        : TABLE_RED,
                VERDICT_WIDTH, *verdict ? verdict : "-", colour ? TABLE_PLAIN : "");
    if (json_is_object(item))
        text_show(out, "%s/%s@%s,%s,%lld ", json_text_at(item, "kernel"),
                  json_text_at(item, "case"), json_text_at(item, "backend"),
                  json_text_at(item, "profile"),
                  (long long)json_integer_value(json_object_get(item, "threads")));
    const char *name = strrchr(json_text_at(entry, "pack"), '/');
    text_show(out, "%s\n", name ? name + 1 : "");
    if (*why) {
        text_append(out, "    ");
        text_show_lines(out, "    ", why);
        text_append_char(out, '\n');
    }
}

static size_t count_of(const json_t *document, const char *verdict) {
    size_t i, count = 0;
    json_t *entry;
    json_array_foreach(json_object_get(document, "packs"), i, entry) count +=
        strcmp(json_text_at(entry, "verdict"), verdict) == 0;
    return count;
}

static void put_counts(const json_t *document, bool regress, text *out) {
    const json_t *packs = json_object_get(document, "packs");
    const size_t groups = json_array_size(json_object_get(document, "groups"));
    size_t known = 0, held = 0, i;
    json_t *entry;
    json_array_foreach(packs, i, entry) held +=
        json_integer_value(json_object_get(entry, "exit")) == EXIT_DONE;
    text_printf(out, "%zu pack%s in %zu group%s:", json_array_size(packs),
                text_s(json_array_size(packs)), groups, text_s(groups));
    for (int v = 0; v < REPRO_VERDICT_COUNT; v++) {
        const size_t count = count_of(document, repro_verdict_name((repro_verdict)v));
        known += count;
        if (count)
            text_printf(out, " %zu %s", count, repro_verdict_name((repro_verdict)v));
    }
    if (known < json_array_size(packs))
        text_printf(out, " %zu without a verdict", json_array_size(packs) - known);
    text_append_char(out, '\n');
    if (regress)
        text_printf(out, "%zu of %zu as they must be\n", held, json_array_size(packs));
}

static void show(const json_t *document, bool colour, bool regress) {
    text out;
    size_t i, k;
    json_t *group, *path;
    text_init(&out);
    json_array_foreach(json_object_get(document, "groups"), i, group) {
        put_fault(json_object_get(group, "fault"), &out);
        text_append_char(&out, '\n');
        json_array_foreach(json_object_get(group, "packs"), k, path)
            put_entry(entry_at(document, path), colour, &out);
    }
    put_counts(document, regress, &out);
    say_text(stdout, out.data);
    text_release(&out);
}

int replay_folder_view(const options *o) {
    status st = STATUS_INIT;
    uint64_t jobs = host_usable_cores();
    string_list words = {0};
    arena memory;
    progress bar;
    if (options_flag(o, OPTION_REGRESS) && options_flag(o, OPTION_REPLAY_EXPECT))
        return command_usage(o->command,
                             "--regress knows what each pack must do: without --expect");
    int code = COMMAND_REFUSE(o, "is for one pack, and this is a folder", OPTION_REPLAY_SHOW,
                              OPTION_OUTPUT);
    if (code)
        return code;
    if (!options_number(o, OPTION_JOBS, 1, JOBS_MOST, &jobs, &st))
        return command_usage(o->command, "%s", st.message);
    arena_init(&memory);
    hand_on(o, &words, &memory);
    progress_start(&bar, 0);
    const replay_folder_request request = {.folder = o->arguments.items[0],
                                           .options = words.items,
                                           .jobs = (uint32_t)jobs,
                                           .regress = options_flag(o, OPTION_REGRESS),
                                           .tell = show_progress,
                                           .context = &bar};
    interrupt_watch();
    json_t *document = replay_folder_run(&request, &st);
    code = document ? (int)replay_folder_exit(document) : command_fail(&st);
    if (document && options_flag(o, OPTION_JSON))
        document_print(document, stdout);
    else if (document)
        show(document, command_colour(o, stdout), request.regress);
    json_decref(document);
    vec_release(&words);
    arena_release(&memory);
    return code;
}
