/* scheduler.h - the state shared by the files that turn groups into phases. */
#ifndef TESSERA_SCHEDULE_SCHEDULER_H
#define TESSERA_SCHEDULE_SCHEDULER_H

#include "ops/orders.h"
#include "ops/settings.h"
#include "parameters/parameters.h"
#include "schedule/expression.h"
#include "schedule/schedule.h"

typedef struct parameter {
    const char *name; /* "P0.MR" */
    const parameter_info *info;
    int group, phase;
    unsigned kind; /* of the group */
    int64_t value, otherwise, multiple;
    const struct override *from; /* who said so; NULL: the default */
    uint32_t candidate_count;
    int64_t candidates[PARAMETER_CANDIDATES_MAX];
} parameter;

/* A value that somebody gave: NAME=VALUE of the text, or an entry of the source's @schedule. */
typedef struct override {
    char name[32]; /* "MR", or "P0.MR" for one phase */
    int64_t value;
    bool vectors; /* the value counts vectors of the target */
    bool used;
    const compiler_schedule_entry *entry; /* NULL: of the text */
    uint32_t setting; /* whose operations have it (ops/settings.h); 0: all of the kernel's */
} override;

typedef struct scheduler {
    plan *p;
    ir_module *m; /* the schedule under construction */
    const schedule_target *target;
    ir_builder at;       /* in the kernel's block */
    ir_value *buffer_of; /* by graph value: the buffer of stored values and inputs */
    VEC(parameter) parameters;
    VEC(override) overrides;
    const schedule_request *request;
    int64_t threads;  /* that share the present group: its share of the target's */
    unsigned kind;    /* of the present group, as a bit of the space */
    int group;        /* its number, by order of scheduling */
    uint32_t setting; /* ... and its setting */
    parameter_machine machine;
    int phase;      /* number of the next phase */
    bool *operands; /* of each input: contractions take it as it lies */
    status *st;
    bool failed;
} scheduler;

/* ---- parameters.c ---- */
/* A parameter of the current phase ("P0.MR"): its default, or what was asked for; registered in the
 * kernel's dictionary. Returns the value; *name_attr (may be NULL) receives the attribute that
 * refers to it. A value that the table refuses fails the schedule. `groups`: the kinds of groups
 * that come this way; where parameters/parameters.def does not give them NAME, it does not compile.
 */
#define scheduler_parameter(s, groups, NAME, otherwise, name_attr)                                 \
    ((void)sizeof(struct {                                                                         \
         _Static_assert((groups) != 0 && ((groups) & ~GROUPS_OF_##NAME) == 0,                      \
                        "parameters/parameters.def does not give " #NAME                           \
                        " to groups of this kind");                                                \
         int unused;                                                                               \
     }),                                                                                           \
     scheduler_ask(s, groups, #NAME, otherwise, name_attr))
int64_t scheduler_ask(scheduler *s, unsigned groups, const char *name, int64_t otherwise,
                      ir_attr *name_attr);
/* The number that is asked for of a parameter of the current phase, before it is registered. */
int64_t scheduler_foresee(const scheduler *s, const char *name, int64_t otherwise);
/* Finds what the request asks for of a parameter that has no phase, before there are any: the text
 * before the source. False where it asks for nothing. */
bool scheduler_asked(const schedule_request *request, const char *name, int64_t *value);
/* Finds what the source says is to be fetched for the present group, into the memory of threads or,
 * where not `shared`, into a cache; NULL: nothing. And that code depends on it and on what is
 * fetched with it. */
const setting *scheduler_fetch(const scheduler *s, bool shared);
void scheduler_use_fetch(const scheduler *s);
/* Reads what the request asks for. */
bool scheduler_read_request(scheduler *s);
/* Place of a group's work in the source, and its setting: of its contraction, its first reduction,
 * or the first value that it stores. */
ir_location scheduler_location(const scheduler *s, const plan_group *group);
/* A group of this kind, whose results have elements of this type, begins, at the place of s->at;
 * and has ended: its parameters must keep their limits. */
void scheduler_begin_group(scheduler *s, group_kind kind, dtype element);
void scheduler_end_group(scheduler *s);
/* Everything that was asked for has been found, else the schedule fails; the kernel gets its
 * dictionary, the request's space is filled. */
void scheduler_end_parameters(scheduler *s);

/* ---- stream.c ---- */
/* Names of the parameters STREAM and AHEAD of a phase; 0 where it touches too little to have them.
 */
typedef struct traffic {
    ir_attr stream, ahead;
} traffic;
/* ... that reads and writes these graph values, and by itself fetches `ahead` steps ahead: those
 * that parameters/parameters.def gives to groups of the present kind. */
void scheduler_traffic(scheduler *s, const ir_value *sources, size_t source_count,
                       const ir_value *results, size_t result_count, int64_t ahead, traffic *out);
/* The attributes of a computation that steps along index `axis`; at most three. Returns how many.
 */
int traffic_attrs(scheduler *s, const traffic *t, bool streams, int axis, ir_named_attr *attrs);

/* ---- constants.c ---- */
/* The name of the input that the buffer is, where the request says that it stays as it is; else
 * NULL. Notes that a contraction takes it as it lies. */
const char *scheduler_constant(scheduler *s, ir_value buffer);
/* The phase made last depends on that input alone. */
void scheduler_mark_constant(scheduler *s, const char *name);
/* Checks that the names of the request are inputs that contractions take as they lie, else the
 * schedule fails; the kernel gets the list. Sequence: after all groups. */
void scheduler_end_constants(scheduler *s);
/* Gives the kernel those of the graph's donated inputs whose output is made in their place.
 * Sequence: after all phases. */
void scheduler_end_donated(scheduler *s, const ir_module *graph);

/* ---- concurrent.c ---- */
/* Marks the phases that may run while the one before does. Sequence: after what is in place. */
void scheduler_mark_concurrent(scheduler *s);

/* Opens a phase with its grid: `steps` are numbers or parameter names. Fills the first index of
 * each axis and returns the builder inside. Axes are named "a0", "a1", ... unless `names` is given.
 */
ir_builder scheduler_phase(scheduler *s, const char *what, int axes, const ir_dim *extents,
                           const ir_attr *steps, const char *const *names, ir_value *indices);
/* A loop over [start, min(start + span, extent)); start 0 and span 0 mean the whole extent. What is
 * left over of an extent that is no number is walked by vectors. Returns
 * the builder inside and the index. */
ir_builder scheduler_for(scheduler *s, ir_builder *b, const char *axis, ir_value start,
                         ir_dim extent, ir_attr step, ir_attr span, ir_value *index);
/* Sets how what is left over of an extent that is no number is walked: "tail", "last" or "area" of
 * the loop around `in` (schedule.def). */
void scheduler_set_tail(scheduler *s, const ir_builder *in, const char *how, int64_t value);
/* The loop around `in` walks what the index of another one, its start, stands for. */
void scheduler_mark_inside(scheduler *s, const ir_builder *in);
ir_value scheduler_buffer(scheduler *s, ir_builder *b, const char *space, dtype element, int rank,
                          const int64_t *dims);
/* Zeros everywhere in a buffer of such elements. */
void scheduler_clear(scheduler *s, ir_builder *b, ir_value buffer, dtype element);
/* The number that choices take for an extent: of what only a launch knows, a usual one. */
int64_t scheduler_estimate(const scheduler *s, ir_dim extent);
/* Rows of one workgroup of work along `extent` rows: a cache of elements, and some for each thread.
 */
int64_t scheduler_rows(const scheduler *s, ir_dim extent, ir_dim columns);
ir_attr scheduler_int(scheduler *s, int64_t value);
/* The name of an order, for the attribute `order`. */
ir_attr scheduler_order(scheduler *s, order_id order);
/* The number of a dot or reduce of the graph, for the attribute `reduction`. */
ir_attr scheduler_reduction(scheduler *s, ir_op op);
/* Notes on the loop around `in` that it walks a dot, or a part of one, and in which order: it is
 * not cut where an extent is no number. */
void scheduler_mark_loop(scheduler *s, const ir_builder *in, ir_op op, order_id order);

/* The index of a computation's outputs, which is data; nothing is written where it is not from 0 to
 * the limit. */
typedef struct computation_index {
    ir_value value; /* of the graph */
    const affine *place;
    ir_dim stride, limit;
} computation_index;

/* A computation with a body. Outputs come with their access; inputs follow from the expression. */
typedef struct computation {
    int opcode;
    const ir_value *indices; /* index operands */
    int axes;                /* how many */
    const axis_map *map;     /* from the axes of `results` to indices (and the reduced one, last) */
    expression *e;           /* collects the inputs; released by the caller */
    const ir_value *yields;  /* graph values, one for each output */
    const affine (*yield_index)[IR_MAX_RANK]; /* their indices */
    int yield_count;
    const ir_value *outputs; /* buffers */
    const affine *output_access;
    const ir_value *leading; /* buffers before the expression's inputs (a dot's operands) */
    const affine *leading_access;
    int leading_count;
    const computation_index *at; /* of a map; NULL: outputs lie at their access */
    const ir_named_attr *attrs;  /* beyond axes, inputs, access; those with a value are there */
    int attr_count;
    dtype accumulator; /* a dot's body takes the finished sum first; DTYPE_NONE elsewhere */
    dtype copies;      /* it yields what it reads from the leading buffer, as this type */
} computation;
void scheduler_compute(scheduler *s, ir_builder *b, const computation *c);

/* The accesses of an expression's inputs and indices, appended; for merging axes. */
typedef VEC(affine) affine_list;
void scheduler_collect(const expression *e, affine_list *out);
/* Does the collected expression call a specified function? */
bool scheduler_is_heavy(const expression *e);
/* About how many instructions its specified functions and long conversions take for each vector. */
int scheduler_work(const expression *e);
/* Does it draw random bits? That is hundreds of operations, independent enough by themselves. */
bool scheduler_draws(const expression *e);

/* One phase, or a few, for a group. */
void schedule_map_group(scheduler *s, int group);
/* The value into another memory than its own. */
void schedule_copy(scheduler *s, ir_value value, ir_value destination);
void schedule_row_group(scheduler *s, int group);
void schedule_column_group(scheduler *s, const plan_group *group);
void schedule_scan_group(scheduler *s, int group);
void schedule_dot_group(scheduler *s, const plan_group *group);
/* The tensors that updates go into, each in memory of its own; then these updates. */
void schedule_scatter_tensors(scheduler *s, const plan_group *group);
void schedule_scatter_group(scheduler *s, const plan_group *group);
/* Rows that are carried from turn to turn. */
void schedule_fold_group(scheduler *s, const plan_group *group);
/* A DOT that ends a chain, with all that it takes in. */
void schedule_chain_group(scheduler *s, const plan_group *last);

/* A convolve, which reads its image where it lies. */
void schedule_window_group(scheduler *s, const plan_group *group);
/* A DOT that computes its left side block by block. */
void schedule_prologue_group(scheduler *s, const plan_group *group);

struct rows;

/* A ROW group inside of a chain: rows from the block's first on, in workgroup memory. Where that
 * holds no whole row it has a piece of the columns at a time: `make` puts the scores there that
 * begin with column `first`, for each loop over them anew, and `use` takes the weights piece by
 * piece when all reductions are done (schedule_weights_of_piece). */
typedef struct row_block {
    const ir_value *indices; /* outer..., the block's first row */
    int outer;
    ir_attr rows;             /* of the block */
    ir_dim row_count;         /* ... as a number */
    ir_value scores, weights; /* graph values: what the rows are read from, what is made of them */
    ir_value memory;          /* of both, a row after the other */
    ir_dim stride;
    /* Results of rows that stay in the workgroup, and their memory; NULL: there are none. */
    const ir_value *kept, *kept_memory;
    size_t kept_count;
    int64_t piece; /* columns; 0: whole rows are there */
    void (*make)(void *of, ir_builder *b, ir_value first);
    void (*use)(void *of, ir_builder *b, struct rows *rows);
    void *of;
} row_block;
void schedule_rows_of_block(scheduler *s, int number, ir_builder *b, const row_block *block);
/* The weights of the columns from `first` on, in place of their scores. */
void schedule_weights_of_piece(struct rows *rows, ir_builder *b, ir_value first);
/* Can that group's rows go in pieces: is nothing left of its columns but the weights? */
bool schedule_rows_have_pieces(scheduler *s, int number, ir_value weights);
/* Bytes that the loops of a row hand on to each other beside its scores. */
int64_t schedule_row_kept_bytes(scheduler *s, int number, ir_value weights);

#endif
