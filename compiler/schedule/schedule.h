/* schedule.h - Schedule IR: opcodes, and the way from Graph IR to it.
 *
 * This level decides what is computed together (fusion), in which phase, over which grid, in blocks
 * of which size, and what is kept in cache, stored to the workspace or computed again. It never
 * decides an order of accumulation. */
#ifndef TESSERA_SCHEDULE_SCHEDULE_H
#define TESSERA_SCHEDULE_SCHEDULE_H

#include "chip/unit.h"
#include "ir/ir.h"
#include "ir/opset.h"
#include "ops/settings.h"
#include "tessera/compiler.h"

/* Stands in for an extent that only a launch knows in choices; no result depends on it. */
enum { SCHEDULE_USUAL_EXTENT = 1024 };
/* Most outputs of one computation. */
enum { SCHEDULE_OUTPUTS = 12 };

typedef enum schedule_opcode {
    SCHEDULE_BASE = IR_LEVEL_SCHEDULE * IR_LEVEL_STRIDE - 1,
#define S(ENUM, ...) SCHED_##ENUM,
#include "schedule/schedule.def"
    SCHEDULE_END
} schedule_opcode;

const op_table *schedule_op_table(void);
/* An operation by itself. */
bool schedule_verify(const ir_module *m, ir_op op, status *st);
/* Every accumulation is one of the graph, in its order. */
bool schedule_verify_orders(const ir_module *m, status *st);
/* Checks that none of the phases that are concurrent writes what another of them touches. */
bool schedule_phases_are_independent(const ir_module *m);

/* Policy by which a class of targets chooses sizes (policy.h). */
typedef struct schedule_policy schedule_policy;
extern const schedule_policy schedule_cpu_policy, schedule_simt_policy;

/* An instruction of a matrix unit: m x n sums of k products each, of factors of a type. */
typedef struct schedule_unit {
    const char *name;
    dtype factor, sum;
    int m, n, k;
    bool exact;       /* in strict, too, as no order can be seen */
    bool chain;       /* it adds as threads do, by one fma after the other: in their order ... */
    bool equal;       /* ... in strict, too: the chip is known to */
    bool stands_in;   /* beyond strict, for any order */
    bool in_memory;   /* it reads both sides from the workgroup's memory */
    bool reads_lines; /* ... where lines may lie side by side, too, in place of steps */
    bool alone;       /* ... and no other instruction adds as it does */
} schedule_unit;

/* The scheduler's view of a target. Where threads share a tile, a vector is what they hold
 * together, one element each. */
typedef struct schedule_target {
    const schedule_policy *policy; /* of its class */
    int vector_lanes;              /* f32 elements in a vector register */
    int vector_registers;          /* architectural vector registers */
    bool dots;                     /* of groups of i8 and bf16 */
    int64_t l1_bytes, l2_bytes;
    const schedule_unit *units; /* of its matrix unit; the first of a type is the usual one */
    uint32_t unit_count;
    bool copies;      /* into a workgroup's memory while its threads multiply */
    bool exchanges;   /* threads of a subgroup hand each other values, and there are 32 or more */
    bool unfused;     /* every value gets memory of its own, as far as there are phases for it */
    int threads;      /* the grid is cut for at least this many; bits never depend on it */
    uint32_t buffers; /* that one launch takes; 0: any number */
    const chip_unit *unit; /* of a chip, and what it does in a cycle: estimates alone read them; */
    const chip_rates *rates; /* NULL: a CPU's level, or a device that is not known before */
    double exponentials; /* of a unit in a cycle, by its own instruction; 0: they are written out */
    int64_t scores_room; /* bytes of scores that are left in memory, at most, where a chain could
                            keep them */
} schedule_target;

/* Do several threads of the target run independent phases at once? */
bool schedule_runs_at_once(const schedule_target *target);

/* A bit for each thing that is asked for of all parts of a program, and fits one of them. */
typedef struct schedule_fits {
    uint64_t written; /* entries of `written` */
    uint64_t given;   /* those of `overrides` */
} schedule_fits;

/* Request of a schedule. */
typedef struct schedule_request {
    const schedule_target *target;
    const char *profile;
    bool symbolic;         /* a launch gives the dimensions that are no numbers */
    const char *overrides; /* "NAME=VALUE,...": values of parameters; an unknown name is an error */
    const compiler_schedule *written; /* the source's, which the overrides win over; or NULL */
    const settings *settings;         /* of the graph's operations; or NULL */
    bool is_part;                     /* of a program, other parts of which settings may be for */
    struct schedule_fits *fits;       /* of a part: what had work in some part is noted; or NULL */
    const char *constants;            /* "w,b": inputs that stay as they are; or NULL */
    bool loose;                       /* what does not fit is left out */
    compiler_space *space;            /* receives the parameters, or NULL */
    bool *crowded; /* set where it needs more phases or buffers than there are; or NULL */
} schedule_request;

/* Makes the schedule of a specialised, decomposed graph. The result is a new module, NULL on
 * failure. */
ir_module *schedule_from_graph(ir_module *graph, const schedule_request *request, status *st);

/* The value of a step: a number, or a parameter of the kernel. -1: not known. */
int64_t schedule_step_value(const ir_module *m, ir_attr attr);
/* ... of an attribute; `otherwise` where the operation does not have it. */
int64_t schedule_step(const ir_module *m, ir_op op, const char *attr, int64_t otherwise);

#endif
