/* checks_chip.c - what a chip makes of a kernel: how its threads meet in memory, what they hold.
 *
 * All of it is about speed, so large cases are looked at; where a kernel has none, all of its
 * cases. Of one place in the source the worst is told. */
#include <inttypes.h>
#include <string.h>

#include "lint/chip.h"
#include "lint/lint_kernel.h"
#include "tessera/chip.h"

/* Shares from which on it is worth a word. */
static const double occupancy_least = 0.25, idle_most = 0.5, sectors_most = 2;

typedef struct chip_finding {
    lint_id id;
    lint_span at;
    const compiler_case *c;
    double weight;
    char message[240];
} chip_finding;

typedef struct chip_findings {
    const lint_kernel *k;
    const compiler_case *c; /* in hand */
    VEC(chip_finding) items;
} chip_findings;

static void note(chip_findings *f, lint_id id, ir_location at, double weight, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
static void note(chip_findings *f, lint_id id, ir_location at, double weight, const char *format,
                 ...) {
    chip_finding made = {id, lint_location_span(f->k, at), f->c, weight, ""}, *to = NULL;
    va_list args;
    for (size_t i = 0; i < f->items.count && !to; i++)
        if (f->items.items[i].id == id && f->items.items[i].at.start == made.at.start)
            to = &f->items.items[i];
    if (to && to->weight >= weight)
        return;
    va_start(args, format);
    vsnprintf(made.message, sizeof made.message, format, args);
    va_end(args);
    if (to)
        *to = made;
    else
        vec_push(&f->items, made);
}

/* ---- memory ---- */

static void look_at_access(chip_findings *f, const compiler_chip_facts *facts,
                           const compiler_chip_access *a) {
    const char *what = a->writes ? "store" : "load", *type = dtype_name(a->element);
    double share = a->lanes ? (double)a->lanes_idle / (double)a->lanes : 0,
           ratio = a->sectors_needed ? (double)a->sectors / (double)a->sectors_needed : 0;
    if (a->degree > 1)
        note(f, LINT_BANK_CONFLICT, a->at, a->degree,
             "in case %s a %s of a %" PRId64 " x %" PRId64 " tile of %s, %d bytes a thread, has "
             "conflicts of banks of degree %d on %s",
             f->c->name, what, a->rows, a->columns, type, a->width_bytes, a->degree,
             f->k->report->chip);
    if (ratio > sectors_most)
        note(f, LINT_UNCOALESCED, a->at, ratio,
             "in case %s a %s of a %" PRId64 " x %" PRId64 " tile of %s touches %" PRId64
             " sectors, and %" PRId64 " would hold it, on %s",
             f->c->name, what, a->rows, a->columns, type, a->sectors, a->sectors_needed,
             f->k->report->chip);
    if (share > idle_most && a->rows * a->columns >= facts->subgroup)
        note(f, LINT_DIVERGENCE, a->at, share,
             "in case %s %.0f %% of the threads go round a %s of a %" PRId64 " x %" PRId64
             " tile of %s on %s: they are past its edge",
             f->c->name, 100 * share, what, a->rows, a->columns, type, f->k->report->chip);
}

/* ---- what a thread and a unit hold ---- */

static void look_at_occupancy(chip_findings *f, const compiler_chip_facts *facts,
                              const compiler_chip_phase *p, const chip_registers *known) {
    compiler_chip_occupancy o;
    int64_t registers = known ? known->registers : p->registers;
    int64_t most = facts->thread_registers;
    bool one =
        compiler_chip_occupancy_of(f->k->report->chip, facts->threads,
                                   registers < most ? registers : most, facts->shared_bytes, &o);
    if (!one || (o.workgroups > 1 && o.share >= occupancy_least))
        return;
    note(f, LINT_OCCUPANCY, p->at, -o.share,
         "in case %s a unit of %s holds %" PRId64 " workgroup%s of phase %" PRIu32
         ", %.0f %% of its threads, for want of %s (%s%" PRId64 " registers a thread, %" PRId64
         " bytes of memory)",
         f->c->name, f->k->report->chip, o.workgroups, o.workgroups == 1 ? "" : "s", p->number,
         100 * o.share, o.by, known ? "" : "about ", registers, facts->shared_bytes);
}

static void look_at_phase(chip_findings *f, const compiler_chip_facts *facts,
                          const compiler_chip_phase *p, const chip_registers *known) {
    if (!known && p->registers > facts->thread_registers)
        note(f, LINT_REGISTER_PRESSURE, p->at, (double)p->registers,
             "in case %s a thread of phase %" PRIu32 " holds parts of tiles in %" PRId64
             " registers, operation by operation, and has at most %" PRId64 " on %s",
             f->c->name, p->number, p->registers, facts->thread_registers, f->k->report->chip);
    if (known && known->spills)
        note(f, LINT_REGISTER_SPILLS, p->at, (double)known->spills,
             "in case %s phase %" PRIu32 " has %" PRId64 " registers a thread on %s and spills "
             "%" PRId64 " %s",
             f->c->name, p->number, known->registers, f->k->report->chip, known->spills,
             known->unit);
    look_at_occupancy(f, facts, p, known);
}

static void look_at_memory(chip_findings *f, const compiler_chip_facts *facts) {
    if (facts->moved_bytes)
        note(f, LINT_MOVED_MEMORY, (ir_location){0}, (double)facts->moved_bytes,
             "in case %s %" PRId64 " bytes of each workgroup are in the workspace: a workgroup of "
             "%s has %" PRId64 " bytes of its own",
             f->c->name, facts->moved_bytes, f->k->report->chip, facts->shared_most);
}

/* ---- cases ---- */

static void look_at_case(chip_findings *f, const lint_case *c) {
    const lint_report *r = f->k->report;
    compiler_options options = {.profile = PROFILE_STRICT, .threads = 1, .isa = r->chip};
    compiler_chip_facts facts;
    chip_registers_list known = {0};
    status st = STATUS_INIT;
    f->c = c->c;
    bool ok = compiler_chip_facts_of(c->instance, &options, &facts, &st) &&
              (!r->code || chip_registers_of(c->instance, &options, r->ptxas, &known, &st));
    for (size_t i = 0; ok && i < facts.accesses.count; i++)
        look_at_access(f, &facts, &facts.accesses.items[i]);
    for (size_t i = 0; ok && i < facts.phases.count; i++)
        look_at_phase(f, &facts, &facts.phases.items[i],
                      chip_registers_at(&known, facts.phases.items[i].number));
    if (ok)
        look_at_memory(f, &facts);
    /* A case that there is no code for is no mistake, unless its source is why. */
    if (!ok && (st.code != STATUS_UNAVAILABLE || compiler_diagnostic_in(st.message)))
        lint_add_failure(f->k, c->c, &st);
    vec_release(&known);
    compiler_chip_facts_release(&facts);
    status_clear(&st);
}

void lint_check_chip(const lint_kernel *k) {
    chip_findings f = {.k = k};
    bool large = false;
    for (size_t i = 0; i < k->case_count; i++)
        large |= k->cases[i].c->large;
    for (size_t i = 0; i < k->case_count; i++)
        if (!large || k->cases[i].c->large)
            look_at_case(&f, &k->cases[i]);
    for (size_t i = 0; i < f.items.count; i++)
        lint_add(k, f.items.items[i].id, f.items.items[i].at, f.items.items[i].c, "%s",
                 f.items.items[i].message);
    vec_release(&f.items);
}
