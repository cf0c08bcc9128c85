/* cost.h - what a schedule costs by arithmetic alone: cycles of a whole launch, phase by phase.
 *
 * A roofline with footprints. The walk over phases, loops and computations is the same for all
 * classes of targets; a class says what a computation uses, and how long a phase of so many
 * workgroups takes. The formulas are in docs/schedules.md. The cycles rank schedules of one kernel,
 * and predict no time. */
#ifndef TESSERA_SCHEDULE_COST_H
#define TESSERA_SCHEDULE_COST_H

#include "schedule/dot_shape.h"
#include "schedule/schedule.h"

typedef struct cost_model cost_model;

typedef struct cost_walk {
    const ir_module *m;
    const schedule_target *target;
    const cost_model *model;
    int64_t *step_of;  /* by value: how many elements an index stands for */
    bool *touched;     /* by value: the phase's buffers counted so far */
    double workgroups; /* of the present phase */
    double traffic;    /* cycles of the present phase's memory, each buffer once */
    double own_bytes;  /* of a workgroup's memory in the present phase, ... */
    double registers;  /* ... and what a thread holds at most, as far as a class counts them */
    double loaders;    /* threads beside a workgroup's that load for it */
    double warps;      /* of a workgroup, where the schedule says how many; else 0 */
} cost_walk;

/* Use of a workgroup, in cycles but for `far_bytes`. A class fills in what it knows. */
typedef struct cost_use {
    double issue;     /* of its core's or unit's instructions */
    double near;      /* of the unit's own memory */
    double matrix;    /* of the matrix unit */
    double functions; /* of the unit for exponentials */
    double wait;      /* latencies one after the other, which other workgroups can fill */
    double far_bytes; /* from beyond the unit */
} cost_use;

/* The number of an operation in a table of them. */
enum { COST_OPERATIONS = SCHEDULE_END - SCHED_KERNEL };
#define COST_NUMBER(opcode) ((opcode)-SCHED_KERNEL)

struct cost_model {
    cost_use around_loop, around_workgroup; /* of one trip; of one workgroup */
    /* Fills in the use of a computation; NULL: the operation is none. */
    void (*use[COST_OPERATIONS])(cost_walk *w, ir_op op, cost_use *u);
    /* Cycles of memory for a buffer of so many bytes that a phase reads, or writes (past the
     * caches). */
    double (*transfer)(const cost_walk *w, double bytes, bool written, bool streams);
    /* Cycles of the present phase, each workgroup of which uses so much. */
    double (*phase)(const cost_walk *w, const cost_use *each);
};

/* Cycles of all phases, one after the other. */
double cost_of(const ir_module *schedule, const schedule_target *target, const cost_model *model);

/* ---- for the classes ---- */

/* Adds a use so many times. */
void cost_add(cost_use *sum, double times, const cost_use *u);
double cost_greater(double a, double b);
/* n / by, rounded up to a whole number. */
double cost_divide_up(double n, double by);
const ir_type_data *cost_type(const cost_walk *w, ir_value v);
int64_t cost_estimate(const cost_walk *w, ir_dim extent);
/* The attribute `extent` of an operation. */
int64_t cost_extent(const cost_walk *w, ir_op op);
/* The number of a contraction's steps, in all runs, of its strip or chunk; and those of a trip. */
int64_t cost_dot_steps(const cost_walk *w, ir_op dot, const dot_shape *shape, double *trip);
/* Elements that the index stands for which is so many places from the last; 1: there is none. */
int64_t cost_step_from_end(const cost_walk *w, ir_op op, int64_t at);
/* Instructions of a body for each element, specified functions counted as several. */
double cost_body(const cost_walk *w, ir_op op);
/* Does a buffer belong to the workgroup? */
bool cost_is_own(const cost_walk *w, ir_value buffer);

#endif
