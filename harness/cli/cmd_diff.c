/* cmd_diff.c - tsr diff: two tensors, two runs, or two backends of one. */
#include <string.h>

#include "cli/command.h"
#include "cli/database.h"
#include "diff/tensors.h"

enum { DIGITS = 17 };

static void print_document(const json_t *document) {
    json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
    fputc('\n', stdout);
}

static int finish(const options *o, const text *report, json_t *document, exit_code code,
                  const status *st) {
    if (st->code != STATUS_OK)
        return command_fail(st);
    if (options_flag(o, OPTION_JSON))
        print_document(document);
    else
        fputs(report->data, stdout);
    return (int)code;
}

int command_diff(const options *o) {
    if (o->arguments.count != 2)
        return command_usage(o->command, "diff takes two things to compare");
    status st = STATUS_INIT;
    text report;
    json_t *document = NULL;
    text_init(&report);
    exit_code found =
        diff_tensors(o->arguments.items[0], o->arguments.items[1], &report, &document, &st);
    int code = finish(o, &report, document, found, &st);
    json_decref(document);
    text_release(&report);
    return code;
}
