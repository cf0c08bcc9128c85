/* runner.h - runs one function on any shape in any circumstances, and gives the bits. Functions of
 * a shape and a number of threads stay open for a while. */
#ifndef TESSERA_HARNESS_RELATIONS_RUNNER_H
#define TESSERA_HARNESS_RELATIONS_RUNNER_H

#include "device/foreign/foreign.h"
#include "launch/launch.h"
#include "relations/layout.h"
#include "relations/relations.h"

/* A shape: a case of the kernel, and what is computed once for it. */
typedef struct shape {
    uint64_t number;           /* no other shape has it */
    uint64_t seed;             /* of its inputs */
    bool given;                /* its inputs are the user's */
    const compiler_case *like; /* has the distributions of its inputs */
    const compiler_case *c;    /* of the source */
    compiler_instance *instance;
    compiler_signature signature;
    tensor *inputs; /* tensors_new */
    bool within;    /* the kernel's checks of integers hold (within.h); not of given inputs */
} shape;

/* False where the kernel has no such shape. `like` has the distributions; NULL dims: the shape of
 * `like`. */
typedef struct shape_request {
    const compiler_case *like;
    const int64_t *dims; /* of the kernel's dimensions, in its order */
    uint64_t seed;
    bool small;         /* refuse it, before inputs are made, where a run would take long */
    const char *inputs; /* a folder with NAME.npy for each; NULL: they are generated */
} shape_request;
bool shape_open(shape *s, const relations_column *column, const shape_request *request, status *st);
/* The same for so many sets of inputs at once (compiler_batched), of which it has none itself. */
bool shape_batched(shape *s, const shape *one, int64_t parts, status *st);
/* The same whose derivatives compute all values again, or keep them all (compiler_recomputed). */
bool shape_recomputed(shape *s, const shape *one, bool keeps, status *st);
/* The same without rules of functions (compiler_without_rules). */
bool shape_without_rules(shape *s, const shape *one, status *st);
void shape_close(shape *s);

/* Circumstances that may differ from one run to the next. */
typedef struct circumstances {
    uint32_t threads;
    size_t offset;          /* of each buffer from the beginning of a page; a multiple of 64 */
    size_t shift;           /* elements by which inputs begin behind that, for our code alone */
    unsigned char surround; /* the bytes around the buffers */
    unsigned char before;   /* what the outputs hold */
    bool cold;              /* caches are filled with something else first */
    int changed; /* the one input that is not as in the last run of this shape, and nothing is
                    filled; -1: all are written, and everything is filled */
    const char *environment; /* NAME=VALUE, set where the function is loaded; or NULL */
    layout_kind layout;      /* of all tensors; other than dense for code of others alone */
    bool watched; /* what the function does beside writing its outputs is looked for; dense alone */
    bool at_end;  /* watched: each buffer ends where its memory does, but for less than 64 bytes */
} circumstances;

typedef struct runner runner;
/* No call goes on behind `end_ns` (of timer.h), nor longer than the request's limit. */
runner *runner_open(const relations_request *request, uint64_t end_ns);
void runner_close(runner *r);
/* Initialises `outputs`. STATUS_UNAVAILABLE: it does not take this shape. */
bool runner_run(runner *r, const shape *s, const circumstances *how, const tensor *inputs,
                tensor *outputs, status *st);
uint64_t runner_runs(const runner *r);

/* The first byte that the last run, of tensors with gaps, has written into one. */
typedef struct runner_gap {
    uint32_t buffer; /* inputs first */
    int64_t byte;
    unsigned char before, after;
} runner_gap;
bool runner_wrote_gap(const runner *r, runner_gap *out);

/* Places of the first byte that a watched run has changed in memory that is none of its outputs. */
typedef enum runner_place { RUNNER_BEFORE, RUNNER_BEHIND, RUNNER_INPUT } runner_place;
typedef struct runner_effect {
    runner_place place;
    uint32_t buffer;        /* inputs first */
    int64_t byte, bytes;    /* how far from the buffer's beginning, or its end; how many differ */
    uint64_t before, after; /* the bits of that byte; of an input, of the element */
} runner_effect;
bool runner_had_effect(const runner *r, runner_effect *out);
/* Code of others in a process of its own: what it did beside its calls since it was loaded for the
 * shape of the last run; STATUS_MISMATCH (measure/guests.h). */
bool runner_settle(const runner *r, status *st);
/* The cost of the last run's process by now; zeros where it has none of its own. */
foreign_cost runner_cost(const runner *r);

/* The least and the greatest of each of the kernel's dimensions in the runs since the last reset.
 */
typedef struct runner_range {
    int64_t least, most; /* 0: in none */
} runner_range;
void runner_reset_ranges(runner *r);
const runner_range *runner_ranges(const runner *r);

#endif
