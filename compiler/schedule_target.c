/* schedule_target.c - what the scheduler is told of a target. */
#include "pipeline.h"
#include "schedule/policy.h"
#include "tile/mma.h"
#include "tile/simt/simt.h"

/* A chain of a workgroup multiplies without stages and without a matrix unit: where memory holds
 * the scores of all, three phases took a fourteenth of its time (an H200, attention over 2048
 * keys). */
enum { SCORES_ROOM = 1 << 30 };

/* Instructions of the target's matrix unit. */
static uint32_t units_of(const target_info *t, schedule_unit out[PIPELINE_UNITS]) {
    const mma_unit *list;
    uint32_t all = mma_units(&list), count = 0;
    for (uint32_t i = 0; i < all && count < PIPELINE_UNITS; i++)
        if (t->class == TARGET_SIMT && mma_unit_is_of(&list[i], t->cpu))
            out[count++] = (schedule_unit){
                .name = list[i].name,
                .factor = list[i].factor,
                .sum = list[i].sum,
                .m = list[i].m,
                .n = list[i].n,
                .k = list[i].k,
                .exact = mma_unit_is_exact(&list[i]),
                .chain = mma_unit_is_chain(&list[i]) && !mma_unit_is_exact(&list[i]),
                .equal = mma_unit_is_equal(&list[i], t->probed),
                .stands_in = mma_unit_stands_in(&list[i]),
                .in_memory = mma_in_memory(&list[i]),
                .reads_lines = mma_reads_lines(&list[i]),
                .alone =
                    mma_in_memory(&list[i]) && !mma_unit_find(list[i].name, false, list[i].factor)};
    return count;
}

static double exponentials_of(const target_info *t, const compiler_options *options) {
    const chip_exp2 *own = chip_exp2_of(t->cpu);
    bool used = options->profile != PROFILE_STRICT && !options->unoptimised;
    return own && used ? own->rate : 0;
}

/* The grid is cut for the threads of this machine, or for the compute units of a chip. */
schedule_target schedule_target_of(const target_info *t, const compiler_options *options,
                                   schedule_unit units[PIPELINE_UNITS]) {
    bool simt = t->class == TARGET_SIMT;
    int threads = options->threads ? (int)options->threads : 1;
    return (schedule_target){.policy = simt ? &schedule_simt_policy : &schedule_cpu_policy,
                             .vector_lanes = simt ? SIMT_THREADS : t->lanes,
                             .vector_registers = simt ? t->thread_registers : t->registers,
                             .dots = t->has_dots,
                             .l1_bytes = t->l1_bytes,
                             .l2_bytes = t->l2_bytes,
                             .copies = t->copies,
                             .units = units,
                             .unit_count = units_of(t, units),
                             .scores_room = simt ? SCORES_ROOM : 0,
                             .threads = simt ? t->compute_units : threads,
                             .unit = target_unit_of(t),
                             .rates = simt ? chip_rates_of(t->cpu) : NULL,
                             .buffers = target_buffers(t),
                             .exponentials = exponentials_of(t, options),
                             .exchanges = simt && t->subgroup >= SIMT_FOLD_THREADS,
                             .unfused = options->unoptimised};
}

uint32_t pipeline_buffers(const target_info *target, const compiler_options *options) {
    uint32_t fewest = target_buffers(target);
    for (uint32_t i = 0; i < options->also_count; i++) {
        const target_info *t = target_find(options->also[i]);
        uint32_t buffers = t ? target_buffers(t) : 0;
        fewest = buffers && (!fewest || buffers < fewest) ? buffers : fewest;
    }
    return fewest;
}
