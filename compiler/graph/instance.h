/* instance.h - what a compiler_instance is inside: for the files that compiler.h's functions are
 * in. */
#ifndef TESSERA_GRAPH_INSTANCE_H
#define TESSERA_GRAPH_INSTANCE_H

#include "ops/graph.h"
#include "ops/settings.h"
#include "source/diagnostic.h"
#include "tessera/compiler.h"

/* A graph behind the passes that know no target, and what they depended on (pipeline_graph.c). */
typedef struct graph_prepared {
    struct graph_prepared *next;
    ir_module *m;
    ir_bindings dims; /* in the arena of m */
    bool generic, unoptimised, contracted;
    bool tiles, expanded; /* as pipeline_passes.h has them */
} graph_prepared;

struct compiler_instance {
    ir_module *graph;
    ir_bindings dims;          /* in the graph's arena */
    const source_text *source; /* likewise, for diagnostics of a kernel of tiles; NULL: not kept */
    span stages; /* there: the hint in force of a kernel of tiles; empty: it has none */
    const settings *settings; /* likewise, of its operations; a part of a program borrows them */
    text text;                /* of the graph; empty: not printed yet */
    sha256 hash;
    ir_module *specialized, *primitives; /* NULL: not made yet */
    graph_prepared *prepared;            /* what images begin with, last made first */
    compiler_signature *signature;       /* likewise; in the graph's arena */
    bool has_hash, has_cost;
    bool is_part;               /* of a program: what its settings ask for may be for other parts */
    uint32_t barriers[2];       /* of a part: before its code in the program's, and behind it */
    struct schedule_fits *fits; /* of a part: what is asked for of the whole and had work in some
                                   part; borrowed; NULL: the kernel alone has to fit it */
    graph_cost cost;
};

/* The graph with numbers for dimensions, before any other pass. Borrowed; NULL with a status. */
const ir_module *instance_specialized(compiler_instance *instance, status *st);
/* The same, which still says how values lie on a mesh; owned. */
ir_module *instance_placed(const compiler_instance *instance, status *st);

/* The dimensions, in the module's arena. */
ir_bindings instance_copy_dims(ir_module *m, ir_bindings dims);

/* choices.c: how a target lowers kernels of tiles as they stand. */
typedef struct choices_lowering {
    void *context;
    /* Identifies a specialized graph's code; false: it lowers it otherwise. */
    bool (*identify)(void *context, const ir_module *specialized, sha256 *out);
} choices_lowering;
/* Appends what of a kernel's space of tiles no code depends on. `lowering`: NULL where tiles are
 * always joined, or written out. */
void choices_unused(compiler_source *source, const compiler_kernel *kernel, const compiler_case *c,
                    const choices_lowering *lowering, text *out);

#endif
