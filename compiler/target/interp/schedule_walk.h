/* schedule_walk.h - the walk of schedule_run over a schedule, for the files that do its
 * computations. */
#ifndef TESSERA_TARGET_INTERP_SCHEDULE_WALK_H
#define TESSERA_TARGET_INTERP_SCHEDULE_WALK_H

#include "schedule/dot_shape.h"
#include "schedule/schedule.h"
#include "target/interp/interp.h"
#include "target/interp/schedule_run.h"

enum { SCHEDULE_AXES = 17 }; /* of a computation, with the one that it goes along by itself */

/* An index with how many elements it stands for, or a buffer. */
typedef struct schedule_value {
    int64_t index, count;
    tensor memory;   /* of one axis */
    int64_t *writer; /* by element: the number of the workgroup that wrote it last; NULL: it is a
                        workgroup's own */
} schedule_value;

typedef struct schedule_walker {
    const ir_module *m;
    schedule_value *values; /* by value */
    bool *is_output;        /* likewise: NaNs that are stored there are canonical */
    tensor *collected;      /* by operation: elements of a reduction that are made in pieces */
    int64_t work;           /* elements that may still be computed */
    int64_t workgroup;      /* the present one's number; 0: there is none */
    int64_t first;          /* ... of the phases that may run at once */
    status *st;
} schedule_walker;

/* A computation at one place: its body runs for all elements of the last two indices at once. */
typedef struct schedule_place {
    schedule_walker *w;
    ir_op op;
    int axes;                     /* indices */
    int64_t index[SCHEDULE_AXES]; /* the first of each; behind them the one along which it goes */
    int row_axis, column_axis;    /* -1: none */
    int64_t rows, columns;
    uint32_t inputs, leading; /* buffers that the body reads, and those before them */
    bool packed;              /* columns of leading buffer 1 are side by side */
    tensor *lanes;            /* by value of the body: an element for each row and column */
} schedule_place;

schedule_place schedule_place_of(schedule_walker *w, ir_op op);
static inline int64_t schedule_lanes(const schedule_place *p) {
    return p->rows * p->columns;
}
/* Runs the body; `first` (may be NULL) is its first argument, which it takes. The lanes stay until
 * they are released. */
bool schedule_body(schedule_place *p, tensor *first);
void schedule_place_release(schedule_place *p);
/* The lanes that the body yields as number `i`. */
const tensor *schedule_yield(const schedule_place *p, uint32_t i);
/* Stores lanes into output number `i`. */
bool schedule_store(schedule_place *p, uint32_t i, const tensor *lanes);
/* The place in buffer operand number `i` (0 is the first buffer) of a row and a column. */
int64_t schedule_offset(const schedule_place *p, uint32_t i, int64_t row, int64_t column);
schedule_value *schedule_buffer(const schedule_place *p, uint32_t i);
/* Is the element there, and did no other workgroup write it that may run at the same time? Else a
 * status. */
bool schedule_touch(schedule_walker *w, schedule_value *buffer, int64_t at, bool write);

bool schedule_map(schedule_walker *w, ir_op op);
bool schedule_reduce(schedule_walker *w, ir_op op); /* along a row, or of columns */
bool schedule_scan(schedule_walker *w, ir_op op);
bool schedule_sort(schedule_walker *w, ir_op op);
bool schedule_dot(schedule_walker *w, ir_op op);
/* The elements of a step of the loop around a reduction; the last one is followed by its end. */
bool schedule_collect(schedule_walker *w, ir_op op, int64_t first, int64_t count);

#endif
