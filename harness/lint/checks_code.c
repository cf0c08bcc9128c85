/* checks_code.c - what the machine code is made of. */
#include <inttypes.h>

#include "lint/lint_kernel.h"

/* A share of the instructions that no loop of ours has without spilling; prologues and the
 * arguments of a launch are below it. */
static const double stack_share_most = 0.10;

static bool facts_of(const lint_case *c, const compiler_schedule *schedule,
                     compiler_code_facts *out, status *st) {
    compiler_options options = {
        .profile = PROFILE_STRICT, .threads = 1, .source_schedule = schedule};
    compiler_artifact made = {0};
    bool ok = compiler_build(c->instance, &options, &made, st) &&
              compiler_code_facts_of(made.image, made.image_size, out, st);
    compiler_artifact_release(&made);
    return ok;
}

void lint_check_code(const lint_kernel *k) {
    for (size_t i = 0; i < k->case_count; i++) {
        const lint_case *c = &k->cases[i];
        compiler_code_facts facts;
        status st = STATUS_INIT;
        if (!facts_of(c, k->kernel->schedule, &facts, &st))
            lint_add_failure(k, c->c, &st);
        else if (facts.instructions &&
                 (double)facts.stack_accesses / (double)facts.instructions > stack_share_most)
            lint_add(k, LINT_STACK_TRAFFIC, lint_case_span(k, c->c), c->c,
                     "%" PRIu64 " of %" PRIu64 " instructions of case %s read or write the stack",
                     facts.stack_accesses, facts.instructions, c->c->name);
    }
}
