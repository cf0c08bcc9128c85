/* cmd_lint.c - tsr lint: static checks of kernels and their cases. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "case/source_probe.h"
#include "cli/command.h"
#include "common/interrupt.h"
#include "common/say.h"
#include "lint/lint.h"
#include "report/document.h"
#include "report/export/export.h"
#include "report/github.h"
#include "tessera/chip.h"

static const char *plural(size_t count) {
    return count == 1 ? "" : "s";
}

static void print_summary(const lint_report *r, FILE *out) {
    say(out, "%zu kernel%s with %zu case%s in %zu file%s: %zu error%s, %zu warning%s, %zu note%s\n",
        r->kernels, plural(r->kernels), r->cases, plural(r->cases), r->files, plural(r->files),
        r->counts[LINT_ERROR], plural(r->counts[LINT_ERROR]), r->counts[LINT_WARNING],
        plural(r->counts[LINT_WARNING]), r->counts[LINT_NOTE], plural(r->counts[LINT_NOTE]));
    if (r->race)
        say(out, "%zu case%s ran on the emulator\n", r->raced, plural(r->raced));
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
    if (r->race && !interrupt_settle())
        return EXIT_INTERRUPTED;
    say_text(stderr, r->others->length ? r->others->data : "");
    say_text(stderr, r->unrun->length ? r->unrun->data : "");
    return !r->given || r->kernels || r->counts[LINT_ERROR]
               ? report(o, r)
               : command_usage(o->command, "no kernel has just the names of --dims");
}

/* ---- chips ---- */

static int take_chip(const options *o, lint_report *r) {
    const char *const *levels, *word = options_text(o, OPTION_ISA, NULL);
    uint32_t count = compiler_level_names(&levels);
    text names;
    text_init(&names);
    for (uint32_t i = 0; word && i < count; i++) {
        const char *emulated = compiler_emulated_target(levels[i]);
        if (!emulated || strcmp(emulated, levels[i]) == 0)
            continue;
        text_printf(&names, "%s%s", names.length ? ", " : "", levels[i]);
        r->chip = strcmp(levels[i], word) == 0 ? levels[i] : r->chip;
    }
    int code = !word || r->chip
                   ? EXIT_DONE
                   : command_usage(o->command, "--isa takes a chip here, one of %s; found '%s'",
                                   names.data, word);
    text_release(&names);
    return code;
}

/* Checks that a program of that name can be started; a name with a slash is a path. */
static bool is_program(const char *name) {
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
        text at;
        text_init(&at);
        text_printf(&at, "%.*s/%s", (int)strcspn(path, ":"), path, name);
        bool found = access(at.data, X_OK) == 0;
        text_release(&at);
        if (found)
            return true;
    }
    return false;
}

/* Without one, what only it can tell is not told, and that is said. */
static int take_ptxas(const options *o, lint_report *r) {
    const char *named = options_text(o, OPTION_PTXAS, NULL), *usual = getenv("TSR_PTXAS");
    bool asked = r->code && r->chip && strcmp(compiler_chip_family(r->chip), "ptx") == 0;
    const char *ptxas = named ? named : usual && *usual ? usual : "ptxas";
    if (named && !asked)
        return command_usage(o->command, "--ptxas is for --code with --isa of an NVIDIA chip");
    if (!asked)
        return EXIT_DONE;
    if (is_program(ptxas))
        r->ptxas = ptxas;
    else if (named || (usual && *usual))
        return command_usage(o->command, "there is no program '%s' for --ptxas", ptxas);
    else
        say(stderr, "tsr: register-spills is skipped: there is no ptxas in $PATH; name it with "
                    "--ptxas, or set $TSR_PTXAS (ci/gpu-tools fetches one)\n");
    return EXIT_DONE;
}

static int lint_kernels(const options *o) {
    const char *dims = options_text(o, OPTION_DIMS, NULL);
    arena memory;
    text others, unrun;
    compiler_values values;
    status st = STATUS_INIT;
    arena_init(&memory);
    text_init(&others);
    text_init(&unrun);
    lint_report r = {.code = options_flag(o, OPTION_CODE),
                     .race = options_flag(o, OPTION_RACE),
                     .others = &others,
                     .unrun = &unrun};
    int code = take_chip(o, &r);
    code = code ? code : take_ptxas(o, &r);
    if (r.race)
        interrupt_watch();
    if (!code && dims && !compiler_values_read(dims, &memory, &values, &st))
        code = command_usage(o->command, "--dims: %s", st.message);
    else if (dims)
        r.given = &values;
    if (!code)
        code = look_at(o, &r, &st) ? settle(o, &r) : command_fail(&st);
    lint_release(&r);
    text_release(&others);
    text_release(&unrun);
    arena_release(&memory);
    return code;
}

int command_lint(const options *o) {
    int refused = EXIT_DONE;
    if (options_flag(o, OPTION_LINT_MARKDOWN))
        refused = COMMAND_REFUSE(o, "is for linting, and --markdown prints the table of checks",
                                 OPTION_JSON, OPTION_CODE, OPTION_STRICT, OPTION_LINT_EXPORT,
                                 OPTION_DIMS, OPTION_ISA, OPTION_PTXAS, OPTION_RACE);
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
