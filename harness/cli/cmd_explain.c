/* cmd_explain.c - tsr explain: what the identifiers of diagnostics, of checks and of reasons mean.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "cli/command.h"
#include "common/say.h"
#include "gate/gate.h"
#include "lint/lint.h"
#include "tessera/diagnostics.h"

/* One identifier. What is NULL is absent. */
typedef struct explained {
    const char *id, *of, *title, *explanation, *help, *wrong, *right;
} explained;
typedef VEC(explained) explained_list;

static void list_all(explained_list *out) {
    size_t count;
    const compiler_diagnostic *d = compiler_diagnostics(&count);
    for (size_t i = 0; i < count; i++) {
        explained e = {d[i].id, "compiler", d[i].title, d[i].explanation,
                       NULL,    d[i].wrong, d[i].right};
        vec_push(out, e);
    }
    for (int i = 0; i < LINT_COUNT; i++) {
        const lint_info *l = &lint_table[i];
        explained e = {l->name, "lint", l->what, l->why, l->help, NULL, NULL};
        vec_push(out, e);
    }
    for (int i = 0; i < REASON_COUNT; i++) {
        const gate_reason_info *r = &gate_reasons[i];
        explained e = {r->name, "gate", r->meaning, NULL, NULL, NULL, NULL};
        if (*r->name)
            vec_push(out, e);
    }
}

/* ---- choosing ---- */

static int unknown(const options *o, const explained_list *all, const char *word) {
    int code;
    const char **names = base_calloc(all->count, sizeof *names);
    for (size_t i = 0; i < all->count; i++)
        names[i] = all->items[i].id;
    const char *nearest = text_nearest(word, names, all->count);
    if (nearest)
        code =
            command_usage(o->command, "unknown identifier '%s'; did you mean %s?", word, nearest);
    else
        code = command_usage(o->command, "unknown identifier '%s'; tsr explain lists all", word);
    free(names);
    return code;
}

/* The entries that the command line names, in its order; all of them where it names none. */
static int choose(const options *o, const explained_list *all, explained_list *out) {
    for (size_t k = 0; k < o->arguments.count; k++) {
        size_t before = out->count;
        for (size_t i = 0; i < all->count; i++)
            if (strcasecmp(all->items[i].id, o->arguments.items[k]) == 0)
                vec_push(out, all->items[i]);
        if (out->count == before)
            return unknown(o, all, o->arguments.items[k]);
    }
    for (size_t i = 0; o->arguments.count == 0 && i < all->count; i++)
        vec_push(out, all->items[i]);
    return EXIT_DONE;
}

/* ---- showing ---- */

static void show_source(const char *heading, const char *source, text *out) {
    text_printf(out, "\n%s\n\n", heading);
    for (const char *line = source; *line;) {
        size_t length = strcspn(line, "\n");
        text_printf(out, length ? "    %.*s\n" : "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void show_one(const explained *e, text *out) {
    text_printf(out, "%s: %s\n", e->id, e->title);
    if (e->explanation) {
        text_append_char(out, '\n');
        help_wrap(out, e->explanation, 0, 0);
    }
    if (e->help) {
        text_append_char(out, '\n');
        help_wrap(out, e->help, 0, 0);
    }
    if (e->wrong) {
        show_source("Wrong:", e->wrong, out);
        show_source("Right:", e->right, out);
        if (compiler_example_is_body(e->wrong))
            show_source("In a kernel that takes", compiler_example_operands, out);
    }
}

static json_t *json_of(const explained_list *chosen) {
    json_t *entries = json_array();
    for (size_t i = 0; i < chosen->count; i++) {
        const explained *e = &chosen->items[i];
        json_array_append_new(entries, json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?, s:s?}", "id",
                                                 e->id, "of", e->of, "title", e->title,
                                                 "explanation", e->explanation, "help", e->help,
                                                 "wrong", e->wrong, "right", e->right));
    }
    return json_pack("{s:s, s:o}", "schema", "tsr.explain/1", "entries", entries);
}

static void show(const options *o, const explained_list *chosen) {
    if (options_flag(o, OPTION_JSON)) {
        json_t *document = json_of(chosen);
        say_json(stdout, document, 17);
        json_decref(document);
        return;
    }
    text out;
    text_init(&out);
    for (size_t i = 0; i < chosen->count; i++)
        if (o->arguments.count) {
            text_append(&out, i ? "\n" : "");
            show_one(&chosen->items[i], &out);
        } else {
            text_printf(&out, "%-20s  %s\n", chosen->items[i].id, chosen->items[i].title);
        }
    say_text(stdout, out.data);
    text_release(&out);
}

/* ---- docs/errors.md ---- */

static void page_example(const char *label, const char *example, text *out) {
    text_printf(out, "\n%s:\n\n```python\n%s\n```\n", label, example);
}

static void print_page(void) {
    text out;
    text_init(&out);
    text_append(&out,
                "# Errors of the compiler\n\n"
                "The compiler prints an error as `FILE:LINE:COLUMN: error[E0301]: MESSAGE`. The "
                "message may change from one version to the next, the\nidentifier does not. "
                "`tsr explain E0301` prints what stands here. This page is printed by `tsr explain "
                "--markdown`.\n\nExamples that are not whole files begin the body of a kernel that "
                "takes\n\n```python\n");
    text_printf(&out, "%s```\n", compiler_example_operands);
    size_t count;
    const compiler_diagnostic *d = compiler_diagnostics(&count);
    const char *group = "";
    for (size_t i = 0; i < count; i++) {
        if (group != compiler_diagnostic_group(&d[i]))
            text_printf(&out, "\n## %s\n", compiler_diagnostic_group(&d[i]));
        group = compiler_diagnostic_group(&d[i]);
        text_printf(&out, "\n### %s: %s\n\n%s\n", d[i].id, d[i].title, d[i].explanation);
        if (d[i].wrong) {
            page_example("Wrong", d[i].wrong, &out);
            page_example("Right", d[i].right, &out);
        }
    }
    say_text(stdout, out.data);
    text_release(&out);
}

static int command_page(const options *o) {
    int refused =
        COMMAND_REFUSE(o, "is for explaining, and --markdown prints docs/errors.md", OPTION_JSON);
    if (!refused && o->arguments.count)
        refused = command_usage(o->command, "--markdown prints all errors: '%s' is too much",
                                o->arguments.items[0]);
    if (!refused)
        print_page();
    return refused;
}

int command_explain(const options *o) {
    if (options_flag(o, OPTION_EXPLAIN_MARKDOWN))
        return command_page(o);
    explained_list all = {0}, chosen = {0};
    list_all(&all);
    int code = choose(o, &all, &chosen);
    if (code == EXIT_DONE)
        show(o, &chosen);
    vec_release(&all);
    vec_release(&chosen);
    return code;
}
