/* table.c - a gate as lines for a person: what asks for attention first. */
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "gate/document.h"
#include "report/table.h"

#define GREEN "\033[32m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

enum { NAME_WIDTH_LEAST = 20, NAME_WIDTH_MOST = 48, ROW_COLUMNS = 99 /* beside the name */ };

static const char *const colours[GATE_VERDICT_COUNT] = {
    [GATE_INCONCLUSIVE] = YELLOW, [GATE_EQUIVALENT] = GREEN, [GATE_IMPROVED] = GREEN,
    [GATE_REGRESSED] = RED,       [GATE_FAILED] = RED,
};

static void append_name(const gate_row *row, text *out) {
    const gate_side_unit *unit = row->units[1] ? row->units[1] : row->units[0];
    text_show(out, "%s/%s", unit->kernel, unit->case_name);
}

static int name_width(const gate *g) {
    int width = NAME_WIDTH_LEAST;
    for (size_t i = 0; i < g->rows.count; i++) {
        text name;
        text_init(&name);
        append_name(&g->rows.items[i], &name);
        if ((int)name.length > width)
            width = (int)name.length;
        text_release(&name);
    }
    return width < NAME_WIDTH_MOST ? width : NAME_WIDTH_MOST;
}

static void append_time(double ns, text *out) {
    text cell;
    text_init(&cell);
    if (ns > 0)
        table_duration(ns, &cell);
    else
        text_append(&cell, "-");
    text_show(out, " %10s", cell.data);
    text_release(&cell);
}

static void append_change(const gate_row *row, text *out) {
    text cell;
    text_init(&cell);
    if (row->change.known)
        text_show(&cell, "%+.2f %% [%+.2f, %+.2f]", row->change.estimate * 100,
                  row->change.low * 100, row->change.high * 100);
    else
        text_append(&cell, "-");
    if (row->change.known && row->change.confidence < 0.949)
        text_show(&cell, " (%.0f %%)", row->change.confidence * 100);
    text_show(out, "  %-25s", cell.data);
    text_clear(&cell);
    if (!row->timed)
        text_append(&cell, "-");
    else if (isfinite(row->detectable))
        text_show(&cell, "%.2f %%", row->detectable * 100);
    else
        text_append(&cell, "none");
    text_show(out, " %7s %5zu", cell.data, row->replicas);
    text_release(&cell);
}

static bool is_stacked(int width, const gate_table_options *o) {
    return width + ROW_COLUMNS > o->width;
}

/* Counts that both sides have and that differ. */
static void append_facts(const gate_row *row, text *out) {
    const gate_facts *a = &row->facts[0], *b = &row->facts[1];
    const struct {
        const char *name;
        int64_t was, is;
    } facts[] = {{"FLOPs", a->flops, b->flops},
                 {"bytes", a->bytes, b->bytes},
                 {"code bytes", a->code_bytes, b->code_bytes},
                 {"spills", a->spills, b->spills},
                 {"instructions", a->instructions, b->instructions}};
    const char *between = "    ";
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (facts[i].was < 0 || facts[i].is < 0 || facts[i].was == facts[i].is)
            continue;
        text_show(out, "%s%s %lld -> %lld", between, facts[i].name, (long long)facts[i].was,
                  (long long)facts[i].is);
        between = ", ";
    }
    if (between[0] == ',')
        text_append_char(out, '\n');
}

static void append_verdict(const gate_row *row, const gate_table_options *o, text *out) {
    const char *reason = gate_reasons[row->reason].name;
    text_append(out, "  ");
    text_append(out, o->colour ? colours[row->verdict] : "");
    text_append(out, gate_verdict_name(row->verdict));
    text_append(out, o->colour ? PLAIN : "");
    text_show(out, "%s%s\n", *reason ? ": " : "", reason);
}

/* Numbers stand below the name where a line is too long for the terminal. */
static void append_row(const gate_row *row, int width, const gate_table_options *o, text *out) {
    const gate_side_unit *unit = row->units[1] ? row->units[1] : row->units[0];
    bool stacked = is_stacked(width, o);
    text name;
    text_init(&name);
    append_name(row, &name);
    text_show(out, "%-*s %-8.8s %2u", stacked ? 0 : width, name.data, unit->profile, unit->threads);
    if (stacked)
        append_verdict(row, o, out);
    if (!stacked || row->change.known) {
        append_time(row->change.median_ns[0], out);
        append_time(row->change.median_ns[1], out);
        append_change(row, out);
    }
    if (!stacked)
        append_verdict(row, o, out);
    else if (row->change.known)
        text_append_char(out, '\n');
    if (row->why)
        text_show(out, "    %s\n", row->why);
    if (row->verdict != GATE_EQUIVALENT)
        append_facts(row, out);
    text_release(&name);
}

static bool is_shown(const gate_row *row, const gate_table_options *o) {
    return o->all || row->timed || row->verdict != GATE_EQUIVALENT;
}

static void append_summary(const gate *g, text *out) {
    size_t counted[GATE_VERDICT_COUNT] = {0}, same = 0, timed = 0;
    double worst = 0;
    for (size_t i = 0; i < g->rows.count; i++) {
        const gate_row *row = &g->rows.items[i];
        counted[row->verdict]++;
        same += row->reason == REASON_SAME_MODULE;
        timed += row->timed;
        worst = row->timed ? fmax(worst, row->detectable) : worst;
    }
    text_show(out, "\n%zu case%s:", g->rows.count, text_s(g->rows.count));
    static const gate_verdict order[] = {GATE_FAILED, GATE_REGRESSED, GATE_INCONCLUSIVE,
                                         GATE_IMPROVED, GATE_EQUIVALENT};
    for (size_t i = 0; i < GATE_VERDICT_COUNT; i++)
        if (counted[order[i]])
            text_show(out, " %zu %s", counted[order[i]], gate_verdict_name(order[i]));
    text_show(out, "; %zu with the same code on both sides, %zu timed\n", same, timed);
    if (counted[GATE_INCONCLUSIVE] == g->rows.count)
        text_append(out, "no verdict: nothing was compared\n");
    if (!timed)
        return;
    const gate_settings *s = g->settings;
    if (isfinite(worst))
        text_show(out,
                  "minimum detectable effect: %.2f %% (asked for: %.2f %%); what is that "
                  "much\nslower is missed in at most %.2g %% of gates\n",
                  worst * 100, s->bound * 100, (1 - s->power) * 100);
    else
        text_show(out, "minimum detectable effect: none can be told (asked for: %.2f %%)\n",
                  s->bound * 100);
    text_show(out,
              "margin %.2f %%; a case that did not change is called changed in at most %.2g %%\n"
              "of gates (all %zu cases together)\n",
              s->margin * 100, s->alpha * 100, g->plan.request.family);
    text_show(out, "%zu processes, %.1f s\n", g->processes, g->seconds);
}

void gate_table(const gate *g, const gate_table_options *o, text *out) {
    int width = name_width(g);
    bool any = false;
    for (size_t i = 0; i < g->rows.count; i++)
        any |= is_shown(&g->rows.items[i], o);
    if (any) {
        text_append(out, o->colour ? DIM : "");
        bool stacked = is_stacked(width, o);
        text_show(out, "%-*s %-8s %2s", stacked ? 0 : width, "case", "profile", "t");
        text_append(out, stacked ? "  verdict\n" : "");
        text_show(out, " %10s %10s  %-25s %7s %5s", "baseline", "against", "change [95 %]", "MDE",
                  "pairs");
        text_append(out, stacked ? "" : "  verdict");
        text_append(out, o->colour ? PLAIN : "");
        text_append_char(out, '\n');
        for (size_t i = 0; i < g->rows.count; i++)
            if (is_shown(&g->rows.items[i], o))
                append_row(&g->rows.items[i], width, o, out);
    }
    append_summary(g, out);
}
