/* gate.h - is one side slower than the other? For each case a verdict, with the error rates of
 * plan.h.
 *
 * First what is exact: equal modules need no clock, and counts are compared. Then time: fresh
 * processes in pairs with swapped slots (timing.h), until the plan says of each case what it is, or
 * the last look is over. */
#ifndef TESSERA_HARNESS_GATE_GATE_H
#define TESSERA_HARNESS_GATE_GATE_H

#include <jansson.h>
#include <signal.h>

#include "common/exit_code.h"
#include "gate/scratch.h"
#include "gate/side.h"
#include "statistics/plan.h"

typedef enum gate_verdict {
    GATE_INCONCLUSIVE,
    GATE_EQUIVALENT,
    GATE_IMPROVED,
    GATE_REGRESSED,
    GATE_FAILED,
    GATE_VERDICT_COUNT
} gate_verdict;

typedef enum gate_reason {
#define REASON(id, name, code, allowable, meaning) REASON_##id,
#include "gate/reasons.def"
#undef REASON
    REASON_COUNT
} gate_reason;

typedef struct gate_reason_info {
    const char *name, *meaning;
    exit_code code;
    bool allowable;
} gate_reason_info;
extern const gate_reason_info gate_reasons[REASON_COUNT];

typedef struct gate_settings {
    double margin, bound, alpha, power; /* plan.h */
    size_t pairs;                       /* at most; 0: what the plan needs */
    uint32_t device;                    /* index in the runtime */
    uint32_t rounds, sets;              /* of one process and case; input sets */
    double budget_seconds;              /* 0: no limit */
    uint64_t seed, timeout_seconds;
    bool always_time; /* equal modules, too: for A/A */
    bool no_timing, instructions, cross_host;
    bool allowed[REASON_COUNT];
    double slowdown; /* the second side is made slower by so much, for the self-test */
} gate_settings;

/* Exact counts of a side; negative: not known. */
typedef struct gate_facts {
    int64_t flops, bytes, code_bytes, spills, instructions;
} gate_facts;

/* The change from the first side to the second, as a part of the first, with its interval. */
typedef struct gate_change {
    bool known;
    double estimate, low, high, confidence;
    double median_ns[2]; /* of the sides */
} gate_change;

typedef struct gate_row {
    const char *key;          /* borrowed from a unit */
    gate_side_unit *units[2]; /* NULL: that side does not have the case */
    gate_verdict verdict;
    gate_reason reason;
    char *why;
    char isa[2][32];
    gate_facts facts[2];
    uint64_t working_set_bytes;
    const char *element; /* type that the roof is about; NULL: not known */
    bool pairs;          /* case_context_pairs */
    bool timed, open;    /* has a place in the plan; is still being timed */
    json_t *spec;        /* timing.h */
    plan_series series;
    VEC(double) ns[2];
    VEC(double) clock_ns;
    size_t replicas; /* pairs of processes, or runs of the side that has fewer */
    double adjusted_p, detectable;
    gate_change change;
} gate_row;

typedef struct gate {
    const gate_settings *settings;
    gate_side *sides[2];
    const job_choice *choice;
    VEC(gate_row) rows;
    plan plan;
    scratch data;
    double best_clock_ns, seconds;
    uint64_t start_ns;
    size_t processes;
    bool interrupted;
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, const char *what, double fraction);
    void *progress_context;
} gate;

/* Judges everything; the rows then have their verdicts. False where the gate itself cannot run.
 * gate_release in any case. */
bool gate_run(gate *g, status *st);
void gate_release(gate *g);
/* The strongest of what the rows ask for. */
exit_code gate_exit(const gate *g);
exit_code gate_row_exit(const gate *g, const gate_row *row);
const char *gate_verdict_name(gate_verdict verdict);

/* The steps, each in its own file. */
void gate_match(gate *g);                    /* match.c: rows of both sides */
bool gate_compile(gate *g, status *st);      /* deterministic.c: modules, hashes, counts */
bool gate_prepare(gate *g, status *st);      /* prepare.c: specs of what must be timed */
bool gate_rounds(gate *g, status *st);       /* rounds.c: pairs of processes, looks */
bool gate_recorded(gate *g, status *st);     /* recorded.c: instead of the three before */
bool gate_instructions(gate *g, status *st); /* instructions.c: counted under valgrind */
/* rounds.c: one more process for a row; what its second side takes there. */
bool gate_time_again(gate *g, gate_row *row, double *ns, status *st);
bool gate_roof(gate *g, status *st); /* roof.c: what is faster than it can be */
void gate_judge(gate *g);            /* judge.c: verdicts of what was timed */

/* instructions_serve.c: the process that valgrind watches; the exit code. */
int instructions_serve(const char *manifest);
/* judge.c: the plan's decision of every timed row, by now; sets adjusted_p. *rows and *changes are
 * owned by the caller; returns how many there are. */
size_t gate_decide(gate *g, gate_row ***rows, plan_change **changes);
/* deterministic.c: by the counts alone. */
void gate_settle_untimed(const gate *g, gate_row *row);
/* judge.c: neither a change nor its absence is proved. */
void gate_settle_unsure(const gate *g, gate_row *row);
/* Takes a printf format. The first reason of a row stays. */
void gate_settle(gate_row *row, gate_verdict verdict, gate_reason reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool gate_is_settled(const gate_row *row);
bool gate_is_over_budget(const gate *g);

#endif
