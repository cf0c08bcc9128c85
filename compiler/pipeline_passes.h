/* pipeline_passes.h - one compilation, and its passes that are in a file of their own: for
 * pipeline.c, which runs them all. */
#ifndef TESSERA_COMPILER_PIPELINE_PASSES_H
#define TESSERA_COMPILER_PIPELINE_PASSES_H

#include <jansson.h>

#include "graph/instance.h"
#include "target/target.h"
#include "tessera/compiler.h"
#include "tile/simt/simt.h"

/* One compilation: the module at its present level, and what is kept of the levels above. */
typedef struct pipeline {
    compiler_instance *instance;
    const compiler_options *options;
    ir_bindings dims;
    const target_info *target;
    ir_module *m;           /* NULL before the first pass */
    int next;               /* the first pass that has not been run */
    text schedule;          /* its canonical text, for the module and its hash */
    json_t *epilogues;      /* describe.h; NULL before there is a schedule */
    compiler_space *space;  /* receives the schedule's parameters, or NULL */
    bool tiles;             /* the kernel was made of tiles */
    bool expanded;          /* ... and its instances are written out */
    bool direct;            /* ... or it is lowered as it stands */
    const char *library;    /* its kernel that stands for this one; NULL: none */
    simt_tiles_notes notes; /* or why it is not, if somebody asked */
    bool is_program;        /* it becomes several kernels */
    int64_t kept;           /* bytes that checkpoints with a budget keep: at most, then really */
    bool crowded;           /* it is more phases than a kernel has */
    status *st;
} pipeline;

/* Opens a compilation of the instance; false with a status. Close it in any case. */
bool pipeline_open(pipeline *p, compiler_instance *instance, const compiler_options *options,
                   status *st);
void pipeline_close(pipeline *p);
/* Runs the passes up to and including `last`; NULL runs them all. */
bool pipeline_run(pipeline *p, const char *last);
/* Machine code of the module behind all passes. */
bool pipeline_emit_code(const pipeline *p, emit_output output, text *out);
/* Those behind lower-tiles, of a kernel that is lowered as it stands. */
bool pipeline_run_tiles(pipeline *p);
/* It failed (`ok` is false), and is a program then. */
bool pipeline_is_too_much(const pipeline *p, bool ok);
/* Lowering makes a new module (taken; NULL: none); the one above is gone with it. */
bool pipeline_replace(pipeline *p, ir_module *lower);
/* pipeline_weigh.c: the kernel becomes one of the library, where that has one that costs less than
 * a schedule does. */
bool pipeline_take_library(pipeline *p);

/* A pass runs in the compilations that have all of these. */
enum { ALWAYS = 0, OPTIMISED = 1, RELAXED = 2, THREADS = 4, CORES = 8 };
bool pipeline_needs(const pipeline *p, unsigned when);

/* pipeline_graph.c: passes of Graph IR that take more than the module; false with a status. */
bool run_specialize(pipeline *p);
bool run_shard(pipeline *p);
bool run_checkpoint(pipeline *p);
bool run_stream_rows(pipeline *p);
bool run_join_tiles(pipeline *p);
bool run_expand_tiles(pipeline *p);
bool run_decompose(pipeline *p);

/* The graph behind the last of them is kept in the instance: its images and the tuner's drafts,
 * which differ below it, begin there. *taken: p->m is that graph. False: it is none for the target
 * (a status). */
bool pipeline_take_graph(pipeline *p, bool *taken);
void pipeline_keep_graph(const pipeline *p);

#endif
