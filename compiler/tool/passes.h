/* passes.h - the passes of passes.def by name, for tsr-opt. */
#ifndef TESSERA_TOOL_PASSES_H
#define TESSERA_TOOL_PASSES_H

#include "ir/ir.h"
#include "ops/graph.h"
#include "tessera/compiler.h"

typedef struct pass_run {
    ir_module *m;
    const char *arguments;            /* NULL: none */
    const compiler_case *c;           /* of a source: dimensions for `specialize` */
    const compiler_schedule *written; /* of a source: for `schedule` */
    status *st;
} pass_run;

typedef struct named_pass {
    const char *name;
    ir_level level; /* of the module that it takes */
    bool (*run)(pass_run *r);
    bool (*apply)(ir_module *m, status *st); /* where it takes the module alone */
    const char *arguments, *summary;
} named_pass;
extern const named_pass passes[];
extern const size_t pass_count;
const named_pass *pass_find(const char *name, size_t length); /* NULL: there is none */

#endif
