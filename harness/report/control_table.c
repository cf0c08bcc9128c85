/* control_table.c - one line a kernel, one column a control; then each reason why one was left out.
 */
#include "report/control_table.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "common/json_text.h"
#include "common/say.h"
#include "job/fault.h"

static const char *const outcome_names[] = {"rejected", "left out", "PASSED", "BROKE"};

static const char *colour_of(control_outcome outcome) {
    return outcome == CONTROL_REJECTED   ? "\033[32m"
           : outcome == CONTROL_LEFT_OUT ? "\033[2m"
                                         : "\033[31m";
}

static bool same_line(const control_cell *a, const control_cell *b) {
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->backend, b->backend) == 0 &&
           strcmp(a->profile, b->profile) == 0;
}

static const control_cell *find(const control_cells *cells, const control_cell *line,
                                const char *control) {
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].control == control && same_line(&cells->items[i], line))
            return &cells->items[i];
    return NULL;
}

static bool begins_line(const control_cells *cells, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (same_line(&cells->items[i], &cells->items[index]))
            return false;
    return true;
}

/* "5/6": rejected in five of the six cases in which it changed the outputs. */
static void print_cell(const control_cell *cell, int width, bool colour, FILE *out) {
    char words[32] = "-";
    control_outcome outcome = cell ? control_outcome_of(cell) : CONTROL_LEFT_OUT;
    if (outcome == CONTROL_REJECTED)
        snprintf(words, sizeof words, "%u/%u", cell->rejected, cell->rejected + cell->accepted);
    else if (outcome != CONTROL_LEFT_OUT)
        snprintf(words, sizeof words, "%s", outcome_names[outcome]);
    say_text(out, colour ? colour_of(outcome) : "");
    say(out, "  %*s", width, words);
    say_text(out, colour ? "\033[0m" : "");
}

static int name_width(const control_cells *cells) {
    size_t width = strlen("kernel");
    for (size_t i = 0; i < cells->count; i++)
        if (strlen(cells->items[i].kernel) > width)
            width = strlen(cells->items[i].kernel);
    return (int)width;
}

static int column_width(const fault_info *f) {
    return (int)(strlen(f->name) > 6 ? strlen(f->name) : 6);
}

static void print_lines(const control_cells *cells, bool colour, FILE *out) {
    int names = name_width(cells);
    say(out, "%-*s %-7s %-13s", names, "kernel", "backend", "profile");
    for (size_t n = 0; fault_at(n); n++)
        if (fault_at(n)->control)
            say(out, "  %*s", column_width(fault_at(n)), fault_at(n)->name);
    say(out, "\n");
    for (size_t i = 0; i < cells->count; i++) {
        const control_cell *line = &cells->items[i];
        if (!begins_line(cells, i))
            continue;
        say(out, "%-*s %-7s %-13s", names, line->kernel, line->backend, line->profile);
        for (size_t n = 0; fault_at(n); n++)
            if (fault_at(n)->control)
                print_cell(find(cells, line, fault_at(n)->name), column_width(fault_at(n)), colour,
                           out);
        say(out, "\n");
    }
}

static bool is_left_out(const control_cell *cell) {
    return control_outcome_of(cell) == CONTROL_LEFT_OUT && cell->why;
}

static bool same_reason(const control_cell *a, const control_cell *b) {
    return a->control == b->control && strcmp(a->why, b->why) == 0;
}

static bool told_before(const control_cells *cells, size_t index, bool with_kernel) {
    const control_cell *cell = &cells->items[index];
    for (size_t i = 0; i < index; i++) {
        const control_cell *other = &cells->items[i];
        if (is_left_out(other) && same_reason(other, cell) &&
            (!with_kernel || strcmp(other->kernel, cell->kernel) == 0))
            return true;
    }
    return false;
}

/* Each reason once, with the kernels that it holds for. */
static void print_reasons(const control_cells *cells, FILE *out) {
    bool any = false;
    for (size_t i = 0; i < cells->count; i++) {
        if (!is_left_out(&cells->items[i]) || told_before(cells, i, false))
            continue;
        say_text(out, any ? "" : "\n");
        say(out, "%s does not apply: %s\n   ", cells->items[i].control, cells->items[i].why);
        any = true;
        for (size_t k = i; k < cells->count; k++)
            if (is_left_out(&cells->items[k]) && same_reason(&cells->items[k], &cells->items[i]) &&
                !told_before(cells, k, true))
                say(out, " %s", cells->items[k].kernel);
        say(out, "\n");
    }
}

static void print_failures(const control_cells *cells, FILE *out) {
    for (size_t i = 0; i < cells->count; i++) {
        const control_cell *cell = &cells->items[i];
        control_outcome outcome = control_outcome_of(cell);
        if (outcome == CONTROL_PASSED)
            say(out,
                "PASSED: %s in %s@%s,%s: rejected %u, accepted %u, outputs unchanged in %u "
                "cases, first in %s\n",
                cell->control, cell->kernel, cell->backend, cell->profile, cell->rejected,
                cell->accepted, cell->unchanged, cell->example);
        if (outcome == CONTROL_BROKE)
            say(out, "BROKE: %s in %s/%s@%s,%s: %s\n", cell->control, cell->kernel, cell->example,
                cell->backend, cell->profile, cell->why ? cell->why : "");
    }
}

static uint32_t number_of(const control_cells *cells, control_outcome outcome) {
    uint32_t n = 0;
    for (size_t i = 0; i < cells->count; i++)
        n += control_outcome_of(&cells->items[i]) == outcome;
    return n;
}

void control_table_print(const control_cells *cells, bool colour, FILE *out) {
    print_lines(cells, colour, out);
    print_reasons(cells, out);
    say(out, "\n");
    print_failures(cells, out);
    say(out, "%zu controls of kernels: %u rejected, %u passed, %u broke, %u left out\n",
        cells->count, number_of(cells, CONTROL_REJECTED), number_of(cells, CONTROL_PASSED),
        number_of(cells, CONTROL_BROKE), number_of(cells, CONTROL_LEFT_OUT));
}

void control_table_json(const control_cells *cells, FILE *out) {
    json_t *list = json_array();
    for (size_t i = 0; i < cells->count; i++) {
        const control_cell *c = &cells->items[i];
        static const char *const names[] = {"rejected", "left-out", "passed", "broke"};
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:o}", "kernel",
                            c->kernel, "backend", c->backend, "profile", c->profile, "control",
                            c->control, "outcome", names[control_outcome_of(c)], "rejected",
                            (int)c->rejected, "accepted", (int)c->accepted, "unchanged",
                            (int)c->unchanged, "left_out", (int)c->left_out, "broke", (int)c->broke,
                            "why", json_text(c->why)));
    }
    json_t *document = json_pack("{s:s, s:o}", "schema", "tsr.controls/1", "controls", list);
    say_json(out, document, 0);
    json_decref(document);
}
