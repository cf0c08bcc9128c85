/* checks_race.c - small cases on the emulator: what it finds of races and the like.
 *
 * A worker runs them, so that a kernel that ends its process is a finding of its case and no more.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "case/backend.h"
#include "common/interrupt.h"
#include "exec/worker.h"
#include "job/result.h"
#include "lint/lint_kernel.h"
#include "lint/race.h"
#include "tessera/chip.h"

/* Work that one of its threads emulates in some seconds. */
enum { ELEMENTS_MAX = 1 << 18, STAGE_SECONDS = 120 };

const char *race_keyword_in(const char *why) {
    static const char *const keywords[] = {
#define FAULT(id, keyword) keyword ": ",
#include "device/emulate/emulate_faults.def"
#undef FAULT
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const char *found = strstr(why, keywords[i]);
        if (found)
            return found;
    }
    return NULL;
}

/* "... at 12:5 (tile) ..." */
ir_location race_location_in(const char *words) {
    ir_location at = {0};
    for (const char *p = strstr(words, " at "); p && !at.line; p = strstr(p + 1, " at ")) {
        char *colon, *end;
        unsigned long line = strtoul(p + 4, &colon, 10);
        unsigned long column = *colon == ':' ? strtoul(colon + 1, &end, 10) : 0;
        if (line && column && strncmp(end, " (", 2) == 0)
            at = (ir_location){.line = (uint32_t)line, .column = (uint32_t)column};
    }
    return at;
}

void lint_add_race(const lint_kernel *k, const compiler_case *c, const char *why) {
    const char *words = race_keyword_in(why);
    ir_location at = race_location_in(words ? words : why);
    lint_add(k, LINT_RACE, lint_location_span(k, at), c, "in case %s the emulator says %s", c->name,
             words ? words : why);
}

static bool is_small(const lint_case *c) {
    return !c->c->large && c->bytes <= (uint64_t)ELEMENTS_MAX * sizeof(float);
}

static const backend *emulator_of(const char *chip) {
    bool is_ptx = !chip || strcmp(compiler_chip_family(chip), "ptx") == 0;
    return &backend_table[is_ptx ? BACKEND_PTX_EMULATED : BACKEND_ROCM_EMULATED];
}

/* A wrong result is a finding. What could not be run to its end shows nothing: that is told
 * apart. */
static void take_result(const lint_kernel *k, const compiler_case *c, const json_t *result) {
    const char *why = result_text(result, RESULT_WHY);
    job_outcome outcome = result_outcome(result);
    bool wrong = outcome == OUTCOME_MISMATCH || race_keyword_in(why);
    if (wrong)
        lint_add_race(k, c, why);
    else if (outcome != OUTCOME_OK)
        text_show(k->report->unrun, "tsr: %s/%s did not run on the emulator: %s\n", k->kernel->name,
                  c->name, why);
    k->report->raced += wrong || outcome == OUTCOME_OK;
}

static void run_case(const lint_kernel *k, worker *w, const lint_case *c) {
    const backend *b = emulator_of(k->report->chip);
    job j = {.path = k->file->path,
             .kernel = k->kernel->name,
             .case_name = c->c->name,
             .dims = c->c->bound,
             .backend = b->name,
             .isa = backend_target_for(b, k->report->chip, NULL),
             .profile = "strict",
             .threads = 1,
             .quick = true,
             .mode = JOB_REPLAY};
    json_t *result = worker_run(w, &j);
    if (result)
        take_result(k, c->c, result);
    json_decref(result);
}

void lint_check_race(const lint_kernel *k) {
    worker w;
    worker_init(&w, STAGE_SECONDS, 0, &interrupt_seen);
    for (size_t i = 0; i < k->case_count && !interrupt_seen; i++)
        if (is_small(&k->cases[i]))
            run_case(k, &w, &k->cases[i]);
    worker_stop(&w);
}
