/* policy.h - what a class of targets decides by itself: sizes, and where operands lie. What is
 * computed together, and how phases are made of it, is the same for all of them.
 *
 * A policy changes speed and never bits. Its functions only read the scheduler, or ask it for
 * parameters; those of contractions fill in the contraction. */
#ifndef TESSERA_SCHEDULE_POLICY_H
#define TESSERA_SCHEDULE_POLICY_H

#include "schedule/integers.h"
#include "schedule/scheduler.h"

struct contraction;

/* Work for each element of a nest. */
typedef struct nest_work {
    bool transposed;  /* squares are turned */
    bool draws;       /* random bits */
    bool correct;     /* functions are correctly rounded */
    int functions;    /* instructions of specified functions */
    int64_t elements; /* of the whole nest; INT64_MAX: not known, or more */
} nest_work;

/* Rows that are reduced. */
typedef struct row_work {
    ir_dim rows, columns;
    int64_t kept_bytes; /* of a row, in the workgroup's memory from loop to loop */
} row_work;

/* Columns that are reduced side by side. */
typedef struct column_work {
    int64_t columns, rows; /* estimates */
    bool known;            /* the number of rows, before a launch */
    bool sums;             /* in lanes64, over a known number of rows */
    bool far;              /* more than a cache holds */
} column_work;

typedef struct column_plan {
    int64_t run, trip; /* columns side by side, rows of a lane in one trip */
    bool registers;    /* each column is reduced as a row is, its lanes in registers */
} column_plan;

struct schedule_policy {
    const char *name;
    /* Threads share a workgroup's tiles; stores can go past the caches, and loads be fetched. */
    bool threads, streams;
    /* Elements of a nest that are a workgroup's, about, and that are computed together. */
    int64_t nest_elements;
    int64_t (*nest_vector)(const scheduler *s, const nest_work *w);
    int64_t (*rows)(const scheduler *s, const row_work *w); /* of a workgroup */
    /* Rows that are reduced side by side, where threads exchange what they hold: fewer than the
     * least are not. */
    int64_t least_beside, most_beside;
    int64_t spare_bytes; /* of a workgroup's memory, beside what is kept of rows */
    /* Rows of a block that goes through a whole chain, of which each has so many bytes of scores
     * and of sums; 0: the workgroup's memory has no room for one. A number of which they should be
     * a multiple. */
    int64_t (*chain_rows)(const scheduler *s, int64_t score_bytes, int64_t sum_bytes);
    int64_t chain_step;
    bool chain_packs;  /* a workgroup keeps a copy of a right side that it alone reads */
    bool chain_clears; /* scores that a chain leaves out may not be read as they lie in memory */
    /* A transposition's rows and columns of a workgroup, of whole squares; whether it has the
     * squares turned in its memory, else in registers. */
    int64_t turned_rows, turned_columns;
    bool turns_staged;
    /* Lanes of a sum's 64 that are in registers at once; elements of each of so many rows that are
     * computed together. */
    int64_t (*row_lanes)(const scheduler *s);
    int64_t (*row_vector)(const scheduler *s, int64_t rows);
    column_plan (*column)(const scheduler *s, const column_work *w);
    /* Contractions: whether operands go through a workgroup's memory (and
     * whether a matrix unit multiplies them: `unit`); what is copied or grouped;
     * the tiles. In this order; NULL: nothing is. */
    bool (*stages_dot)(struct contraction *c);
    void (*dot_operands)(struct contraction *c);
    void (*dot_tiles)(struct contraction *c);
    /* The tile of a right side that is turned over in registers: its columns, the steps of a trip,
     * and how many are fetched ahead; NULL: none are. */
    void (*turned_tile)(struct contraction *c);
    /* Cycles of a schedule by arithmetic, to compare schedules with each other; 0: there is no
     * model. */
    double (*cost)(const ir_module *schedule, const schedule_target *target);
};

/* Number of rows, of so many, that are reduced side by side: 1, or one that divides them. */
static inline int64_t policy_rows_beside(const scheduler *s, int64_t rows) {
    const schedule_policy *p = s->target->policy;
    int64_t beside = s->target->exchanges ? greatest_divisor(rows, p->most_beside) : 1;
    return beside < p->least_beside ? 1 : beside;
}

/* Bytes of a workgroup's memory for what loops of rows hand on to each other: what is more is
 * computed again. A thread has no limit: what is too much for one cache is in the next. */
static inline int64_t policy_row_room(const scheduler *s) {
    const schedule_policy *p = s->target->policy;
    return p->threads ? s->target->l1_bytes - p->spare_bytes : INT64_MAX;
}

#endif
