/* cmd_lint.c - tsr lint: static checks of kernels and their cases. */
#include <stdlib.h>

#include "case/case.h"
#include "case/source_probe.h"
#include "cli/command.h"
#include "common/say.h"
#include "lint/lint.h"
#include "report/document.h"
#include "report/export/export.h"
#include "report/github.h"

static const char *plural(size_t count) {
    return count == 1 ? "" : "s";
}

static void print_summary(const lint_report *r, FILE *out) {
    say(out, "%zu kernel%s with %zu case%s in %zu file%s: %zu error%s, %zu warning%s, %zu note%s\n",
        r->kernels, plural(r->kernels), r->cases, plural(r->cases), r->files, plural(r->files),
        r->counts[LINT_ERROR], plural(r->counts[LINT_ERROR]), r->counts[LINT_WARNING],
        plural(r->counts[LINT_WARNING]), r->counts[LINT_NOTE], plural(r->counts[LINT_NOTE]));
}

static bool look_at(const options *o, lint_report *r, status *st) {
    static const char *const usual[] = {"corpus/"};
    size_t count = o->arguments.count;
    const char *const *paths = count ? o->arguments.items : usual;
    arena memory;
    corpus_paths found = {0};
    arena_init(&memory);
    bool ok = true;
    for (size_t i = 0; i < (count ? count : 1) && ok; i++)
        ok = corpus_find(paths[i], &memory, &found, st);
    for (size_t i = 0; i < found.count && ok; i++)
        ok = source_probe_one(found.items[i], st) && lint_source(r, found.items[i], st);
    vec_release(&found);
    arena_release(&memory);
    return ok;
}

static bool export_all(const options *o, const json_t *document, status *st) {
    const string_list *specs = &o->values[OPTION_LINT_EXPORT].values;
    for (size_t i = 0; i < specs->count; i++)
        if (!document_export(document, specs->items[i], st))
            return false;
    return true;
}

static void print_findings(const options *o, const lint_report *r) {
    text out;
    text_init(&out);
    lint_show(r, command_colour(o, stdout), &out);
    say_text(stdout, out.data);
    text_release(&out);
    for (size_t i = 0; i < r->findings.count; i++)
        if (lint_table[r->findings.items[i].id].severity == LINT_ERROR) {
            say(stdout, "for more: tsr explain %s\n", lint_finding_id(&r->findings.items[i]));
            break;
        }
}

static int report(const options *o, lint_report *r) {
    status st = STATUS_INIT;
    lint_sort(r);
    json_t *document = lint_json(r);
    bool ok = github_report(document, stderr, &st) && export_all(o, document, &st),
         json = options_flag(o, OPTION_JSON);
    if (json)
        document_print(document, stdout);
    else
        print_findings(o, r);
    print_summary(r, json ? stderr : stdout);
    json_decref(document);
    if (!ok)
        return command_fail(&st);
    size_t counted =
        r->counts[LINT_ERROR] + (options_flag(o, OPTION_STRICT) ? r->counts[LINT_WARNING] : 0);
    return counted ? EXIT_CHECK : EXIT_DONE;
}

static int check_exports(const options *o) {
    const string_list *specs = &o->values[OPTION_LINT_EXPORT].values;
    status st = STATUS_INIT;
    for (size_t i = 0; i < specs->count; i++)
        if (!document_export_check(specs->items[i], EXPORT_LINT, &st))
            return command_usage(o->command, "%s", st.message);
    for (size_t i = 0; i < specs->count; i++)
        if (!document_export_place(specs->items[i], &st))
            return command_fail(&st);
    return EXIT_DONE;
}

/* The kernels that --dims does not fit are told of; that it fits none is a mistake. */
static int settle(const options *o, lint_report *r) {
    say(stderr, "%s", r->others->length ? r->others->data : "");
    return !r->given || r->kernels || r->counts[LINT_ERROR]
               ? report(o, r)
               : command_usage(o->command, "no kernel has just the names of --dims");
}

static int lint_kernels(const options *o) {
    const char *dims = options_text(o, OPTION_DIMS, NULL);
    arena memory;
    text others;
    compiler_values values;
    status st = STATUS_INIT;
    arena_init(&memory);
    text_init(&others);
    lint_report r = {.code = options_flag(o, OPTION_CODE), .others = &others};
    int code = EXIT_DONE;
    if (dims && !compiler_values_read(dims, &memory, &values, &st))
        code = command_usage(o->command, "--dims: %s", st.message);
    else if (dims)
        r.given = &values;
    if (!code)
        code = look_at(o, &r, &st) ? settle(o, &r) : command_fail(&st);
    lint_release(&r);
    text_release(&others);
    arena_release(&memory);
    return code;
}

int command_lint(const options *o) {
    int refused = EXIT_DONE;
    if (options_flag(o, OPTION_LINT_MARKDOWN))
        refused = COMMAND_REFUSE(o, "is for linting, and --markdown prints the table of checks",
                                 OPTION_JSON, OPTION_CODE, OPTION_STRICT, OPTION_LINT_EXPORT,
                                 OPTION_DIMS);
    if (!refused && options_flag(o, OPTION_LINT_MARKDOWN) && o->arguments.count)
        refused = command_usage(o->command, "--markdown looks at no kernels: '%s' is too much",
                                o->arguments.items[0]);
    if (refused)
        return refused;
    if (options_flag(o, OPTION_LINT_MARKDOWN)) {
        text page;
        text_init(&page);
        lint_markdown(&page);
        say_text(stdout, page.data);
        text_release(&page);
        return EXIT_DONE;
    }
    int code = check_exports(o);
    if (code)
        return code;
    compiler_init();
    return lint_kernels(o);
}
