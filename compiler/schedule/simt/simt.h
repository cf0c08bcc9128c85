/* simt.h - the parts of the policy of targets with threads (policy.h). */
#ifndef TESSERA_SCHEDULE_SIMT_H
#define TESSERA_SCHEDULE_SIMT_H

#include "schedule/cost.h"

struct contraction;

/* Threads of a group that loads beside a workgroup's, of which one does. Two groups of warps or
 * more have a whole one beside them, which keeps so many registers for each of its threads and
 * hands the rest of the unit's over (setmaxnreg). */
enum { SIMT_LOADERS = 32, SIMT_GROUP = 128, SIMT_LOADER_REGISTERS = 24 };
static inline int simt_loaders_beside(int64_t threads) {
    return threads > SIMT_GROUP ? SIMT_GROUP : SIMT_LOADERS;
}
/* Registers of each of the threads that compute beside such a whole group: a multiple of 8. */
static inline int simt_registers_handed_over(int64_t threads) {
    enum { OF_UNIT = 65536, UNIT = 8, MOST = 240 };
    const int64_t each = (OF_UNIT - SIMT_GROUP * SIMT_LOADER_REGISTERS) / threads / UNIT * UNIT;
    return each < MOST ? (int)each : MOST;
}
/* The mean of all threads' registers where `threads` compute with so many each. */
double simt_registers_beside(double threads, double loaders, double registers);

/* dot_tiles.c */
bool simt_stages_dot(struct contraction *c);
void simt_dot_tiles(struct contraction *c);
/* cost.c */
double simt_cost(const ir_module *schedule, const schedule_target *target);

/* ---- for what else is weighed on chips (tile/simt/cost.c) ---- */

enum {
    /* Cycles until what is far or in the unit's memory is there, until an instruction's result is,
     * of a barrier, and of a phase's start. */
    SIMT_COST_FAR = 700,
    SIMT_COST_NEAR = 30,
    SIMT_COST_LATENCY = 4,
    SIMT_COST_BARRIER = 40,
    SIMT_COST_PHASE = 2500,
    SIMT_COST_SUBGROUP = 32,
    SIMT_COST_FOLD = 6,            /* exchanges of a fold of 64 lanes */
    SIMT_COST_BASE_REGISTERS = 28, /* of a thread beside its tiles */
    SIMT_COST_UNIT_CELL = 16 * 8,  /* sums of an instruction of a matrix unit, and its steps */
    SIMT_COST_UNIT_STEPS = 16      /* where factors have 16 bits */
};
/* Instructions of a thread for each word that is copied into the workgroup's memory, in pieces of
 * four. */
#define SIMT_COST_COPIED 0.5

/* Those of the target, or of a usual chip where it is not known before. */
const chip_rates *simt_rates_of(const schedule_target *target);
const chip_unit *simt_unit_of(const schedule_target *target);
/* Products on a matrix unit, whose instructions have so many steps each, and read both sides from
 * the workgroup's memory or the threads' registers. */
typedef struct simt_products {
    double rows, columns, steps, each;
    bool in_memory;
    bool wide; /* factors of f32 or f64 */
} simt_products;
/* Adds the unit's cycles, and those in which its instructions are issued. */
void simt_use_unit(const schedule_target *target, const simt_products *p, cost_use *u);
/* Cycles in which a workgroup's unit is busy with it. */
double simt_busy_cycles(const cost_use *u);
/* Cycles of memory for a buffer of so many bytes. */
double simt_transfer_cycles(const schedule_target *target, double bytes);

typedef struct simt_phase_needs {
    double threads, registers;  /* of a workgroup; of a thread */
    double own_bytes;           /* of a workgroup's memory */
    double workgroups, traffic; /* of the phase; cycles of its buffers, each once */
    double groups;              /* parts of a workgroup that wait for none of each other */
} simt_phase_needs;
/* ... of those beside so many loaders: groups of warps; else it is one. */
double simt_groups_beside(double threads, double loaders);
double simt_phase_cycles(const schedule_target *target, const simt_phase_needs *p,
                         const cost_use *each);

#endif
