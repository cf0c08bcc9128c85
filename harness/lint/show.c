/* show.c - findings for people and for programs, and the table of checks. */
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "lint/lint.h"
#include "measure/host_facts.h"

static const char *colour_of(lint_severity severity) {
    static const char *const codes[LINT_SEVERITY_COUNT] = {"\x1b[1;31m", "\x1b[1;35m",
                                                           "\x1b[1;36m"};
    return codes[severity];
}

static void put_carets(const lint_finding *f, text *out) {
    text_append(out, "      | ");
    uint32_t column = 1;
    for (const char *p = f->shown; *p && column < f->column; p++) {
        if (((unsigned char)*p & 0xC0) == 0x80)
            continue;
        text_append_char(out, *p == '\t' ? '\t' : ' ');
        column++;
    }
    text_append_char(out, '^');
    for (uint32_t i = 1; i < f->length; i++)
        text_append_char(out, '~');
    text_append_char(out, '\n');
}

void lint_show(const lint_report *r, bool colour, text *out) {
    for (size_t i = 0; i < r->findings.count; i++) {
        const lint_finding *f = &r->findings.items[i];
        const lint_info *info = &lint_table[f->id];
        text_show(out, "%s:%u:%u: ", f->path, f->line, f->column);
        text_append(out, colour ? colour_of(info->severity) : "");
        text_append(out, lint_severity_name(info->severity));
        if (f->diagnostic)
            text_show(out, "[%s]", f->diagnostic->id);
        text_append(out, colour ? "\x1b[0m" : "");
        if (f->diagnostic)
            text_show(out, ": %s\n", f->message);
        else
            text_show(out, ": %s [%s]\n", f->message, info->name);
        text_show(out, "%5u | %s\n", f->line, f->shown);
        put_carets(f, out);
        if (f->id != LINT_SOURCE)
            text_show(out, "      = why: %s\n      = help: %s\n", info->why, info->help);
        text_append(out, f->more ? f->more : "");
    }
}

static void add_rule(json_t *list, const char *id, lint_severity severity, const char *what,
                     const char *why, const char *help) {
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", id, "severity",
                                          lint_severity_name(severity), "what", what, "why", why,
                                          "help", help));
}

static bool was_found(const lint_report *r, const compiler_diagnostic *d) {
    for (size_t i = 0; i < r->findings.count; i++)
        if (r->findings.items[i].diagnostic == d)
            return true;
    return false;
}

/* Every check, and of the compiler's diagnostics those that were found. */
static json_t *rules_json(const lint_report *r) {
    json_t *list = json_array();
    size_t count;
    const compiler_diagnostic *d = compiler_diagnostics(&count);
    for (int i = 0; i < LINT_COUNT; i++)
        add_rule(list, lint_table[i].name, lint_table[i].severity, lint_table[i].what,
                 lint_table[i].why, lint_table[i].help);
    for (size_t i = 0; i < count; i++)
        if (was_found(r, &d[i]))
            add_rule(list, d[i].id, lint_table[LINT_SOURCE].severity, d[i].title, d[i].explanation,
                     lint_table[LINT_SOURCE].help);
    return list;
}

json_t *lint_json(const lint_report *r) {
    json_t *list = json_array();
    for (size_t i = 0; i < r->findings.count; i++) {
        const lint_finding *f = &r->findings.items[i];
        size_t length;
        const char *help = lint_finding_help(f, &length);
        json_t *finding = json_pack(
            "{s:s, s:s, s:o, s:I, s:I, s:I, s:s?, s:s?, s:o, s:o}", "id", lint_finding_id(f),
            "severity", lint_severity_name(lint_table[f->id].severity), "path", json_text(f->path),
            "line", (json_int_t)f->line, "column", (json_int_t)f->column, "end_column",
            (json_int_t)f->column + f->length, "kernel", f->kernel, "case", f->case_name, "message",
            json_text(f->message), "source", json_text(f->shown));
        if (length)
            json_object_set_new(finding, "help", json_stringn(help, length));
        json_array_append_new(list, finding);
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "schema",
                     "tsr.lint/1", "tsr", program_facts(), "rules", rules_json(r), "findings", list,
                     "summary", "files", (json_int_t)r->files, "kernels", (json_int_t)r->kernels,
                     "cases", (json_int_t)r->cases, "errors", (json_int_t)r->counts[LINT_ERROR],
                     "warnings", (json_int_t)r->counts[LINT_WARNING], "notes",
                     (json_int_t)r->counts[LINT_NOTE]);
}

void lint_markdown(text *out) {
    text_append(
        out, "# tsr lint\n\n`tsr lint [PATH...]` looks for what is wrong with kernels and their "
             "cases without running any. What it says holds for the\nkernel as written and, "
             "where a line says so, for this machine's caches and memory; nothing is guessed. "
             "`--isa CHIP` says, too, what a GPU\nmakes of each case, and `--race` alone runs "
             "something, on the emulator ([gpu-code.md](gpu-code.md#what-lint-says-of-gpu-code)). "
             "The exit code is 1 where there\nis an error, with `--strict` also where there is "
             "a warning. `--json` prints one document, `--export sarif=FILE` writes SARIF 2.1.0 "
             "for\ncode scanning. This page is printed by `tsr lint --markdown`.\n\n"
             "| check | severity | finds | why | what to do |\n|---|---|---|---|---|\n");
    for (int i = 0; i < LINT_COUNT; i++)
        text_show(out, "| `%s` | %s | %s | %s | %s |\n", lint_table[i].name,
                  lint_severity_name(lint_table[i].severity), lint_table[i].what, lint_table[i].why,
                  lint_table[i].help);
}
