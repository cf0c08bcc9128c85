/* cmd_bisect_perf.c - tsr bisect-perf: the commit that made a case slower. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bisect/bisect.h"
#include "cli/command.h"
#include "common/say.h"
#include "report/document.h"

enum { COMMITS = 2 };

/* The words for the gate: options, then paths. */
static json_t *gate_arguments(const options *o) {
    static const struct {
        option_id id;
        const char *name;
    } passed[] = {
        {OPTION_BISECT_CASE, "--filter"}, {OPTION_MARGIN, "--margin"},   {OPTION_MDE, "--mde"},
        {OPTION_PROFILE, "--profile"},    {OPTION_THREADS, "--threads"}, {OPTION_ISA, "--isa"},
        {OPTION_DIMS, "--dims"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        const string_list *values = &o->values[passed[i].id].values;
        for (size_t k = 0; k < values->count; k++) {
            json_array_append_new(list, json_string(passed[i].name));
            json_array_append_new(list, json_string(values->items[k]));
        }
    }
    for (size_t i = COMMITS; i < o->plain_count; i++)
        json_array_append_new(list, json_string(o->arguments.items[i]));
    return list;
}

/* For sh: words in quotation marks; a single one is a command line as it is. */
static char *command_of(const options *o) {
    text line;
    text_init(&line);
    bool single = o->arguments.count == o->plain_count + 1;
    for (size_t i = o->plain_count; i < o->arguments.count; i++) {
        const char *word = o->arguments.items[i];
        text_append(&line, line.length ? " " : "");
        if (single || word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789-_=./,:+")] == '\0') {
            text_append(&line, word);
            continue;
        }
        text_append_char(&line, '\'');
        for (const char *p = word; *p; p++)
            if (*p == '\'')
                text_append(&line, "'\\''");
            else
                text_append_char(&line, *p);
        text_append_char(&line, '\'');
    }
    char *command = line.length ? text_take(&line) : NULL;
    text_release(&line);
    return command;
}

static bool begin(const options *o, bisect *b, status *st) {
    json_t *gate = gate_arguments(o);
    char *command = command_of(o);
    bisect_request request = {o->arguments.items[0], o->arguments.items[1], command, gate};
    bool ok = bisect_open(b, &request, st);
    free(command);
    json_decref(gate);
    return ok;
}

static void print(const options *o, const bisect *b) {
    if (options_flag(o, OPTION_JSON)) {
        json_t *document = bisect_json(b);
        document_print(document, stdout);
        json_decref(document);
        return;
    }
    text out;
    text_init(&out);
    bisect_show(b, &out);
    say_text(stdout, out.data);
    text_release(&out);
}

int command_bisect_perf(const options *o) {
    bool resume = options_flag(o, OPTION_BISECT_RESUME);
    if (resume && o->arguments.count)
        return command_usage(o->command,
                             "--resume takes no commits: it goes on with the last search");
    if (!resume && o->plain_count < COMMITS)
        return command_usage(o->command, "bisect-perf wants two commits, GOOD and BAD");
    for (size_t i = COMMITS; i < o->plain_count; i++)
        if (!file_exists(o->arguments.items[i]))
            return command_usage(o->command,
                                 "there is no file or folder %s here; a build command stands "
                                 "behind --",
                                 o->arguments.items[i]);
    bisect b;
    status st = STATUS_INIT;
    int code;
    bool ok = resume ? bisect_resume(&b, &st) : begin(o, &b, &st);
    if (!ok) {
        code = command_fail(&st);
    } else {
        b.judge = options_text(o, OPTION_JUDGE, NULL);
        code = (int)bisect_run(&b, &st);
        if (st.code != STATUS_OK && code != EXIT_INTERRUPTED)
            command_fail(&st);
        if (code == EXIT_DONE || code == EXIT_NO_VERDICT)
            print(o, &b);
    }
    bisect_close(&b);
    return code;
}
