/* execute_occupancy.c - how much of a compute unit a kernel's workgroups fill. */
#include "exec/execution.h"
#include "job/result.h"
#include "tessera/chip.h"

/* The phase that leaves most of a unit empty; false: there is none of which that is known. */
static bool find_least(const char *isa, const compiler_chip_facts *facts, uint32_t *phase,
                       compiler_chip_occupancy *least) {
    bool found = false;
    for (size_t i = 0; i < facts->phases.count; i++) {
        const compiler_chip_phase *p = &facts->phases.items[i];
        const int64_t most = facts->thread_registers;
        compiler_chip_occupancy o;
        if (!compiler_chip_occupancy_of(isa, facts->threads,
                                        p->registers < most ? p->registers : most,
                                        facts->shared_bytes, &o) ||
            (found && o.share >= least->share))
            continue;
        *least = o;
        *phase = p->number;
        found = true;
    }
    return found;
}

void execution_put_occupancy(execution *e, const compiler_options *options) {
    compiler_chip_facts facts;
    compiler_chip_occupancy least = {0};
    uint32_t phase = 0;
    status ignored = STATUS_INIT; /* the code was made: a fact that is not known is left out */
    const bool asked = e->job->mode == JOB_BENCH && options->isa &&
                       compiler_chip_family(options->isa) && !options->generic;
    if (!asked)
        return;
    bool ok = compiler_chip_facts_of(e->context->instance, options, &facts, &ignored);
    if (ok && find_least(options->isa, &facts, &phase, &least))
        result_put_OCCUPANCY(e->result, json_pack("{s:f, s:I, s:i, s:s}", "share", least.share,
                                                  "workgroups", (json_int_t)least.workgroups,
                                                  "phase", (int)phase, "by", least.by));
    compiler_chip_facts_release(&facts);
    status_clear(&ignored);
}
