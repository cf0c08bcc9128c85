/* dispatched.c - the kernels of a program as the interpreter comes to them, one run after the
 * other. */
#include <stdlib.h>
#include <string.h>

#include "graph/instance.h"
#include "graph/passes.h"
#include "ops/control.h"
#include "ops/functions.h"
#include "pipeline.h"
#include "program/build.h"
#include "program/outline.h"
#include "target/interp/interp.h"
#include "tessera/edit.h"

/* A loop or a branch under way. */
typedef struct frame {
    ir_op op;
    int64_t turn; /* -1: it has no turns */
} frame;

typedef struct runner {
    const ir_module *m;
    compiler_instance **kernels; /* by function; NULL: none yet, or it is no kernel */
    const settings *settings;
    VEC(frame) frames; /* outer before inner */
    compiler_run_fn visit;
    void *self;
    int64_t number;
    bool ended; /* by the onlooker */
    status *st;
} runner;

static void begins(void *self, ir_op op) {
    runner *r = self;
    const int opcode = ir_op_get(r->m, op)->opcode;
    const bool turns = opcode == GRAPH_LOOP || opcode == GRAPH_WHILE;
    vec_push(&r->frames, ((frame){op, turns ? 0 : -1}));
}

/* The last block of a loop is its body. */
static bool ran(void *self, ir_block block) {
    runner *r = self;
    frame *f = r->frames.count ? &r->frames.items[r->frames.count - 1] : NULL;
    const ir_op parent = ir_block_parent(r->m, block);
    if (f && f->op == parent && f->turn >= 0 &&
        block == ir_op_block(r->m, parent, ir_op_get(r->m, parent)->region_count - 1))
        f->turn++;
    return true;
}

static void ends(void *self) {
    runner *r = self;
    r->frames.count--;
}

static compiler_instance *kernel_of(runner *r, ir_op function) {
    compiler_instance **one = &r->kernels[function];
    if (!*one && program_is_dispatch(r->m, function)) {
        const draft_kernel kernel = {.function = function};
        *one = compiler_instance_new(program_kernel(r->m, &kernel), (ir_bindings){0});
        (*one)->settings = r->settings;
        (*one)->is_part = true;
    }
    return *one;
}

static uint32_t line_of(const ir_module *m, ir_op function) {
    uint32_t line = 0;
    for (ir_op op = ir_block_get(m, ir_op_block(m, function, 0))->first; op;
         op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->location.line)
            line = ir_op_get(m, op)->location.line;
    return line;
}

static bool calls(void *self, ir_op call, const tensor *operands) {
    runner *r = self;
    const ir_op function = function_named(r->m, ir_op_string(r->m, call, "callee", ""));
    compiler_run run = {.instance = kernel_of(r, function), .inputs = operands};
    if (!run.instance)
        return true;
    run.number = ++r->number;
    run.line = line_of(r->m, function);
    for (size_t i = 0; i < r->frames.count && run.turn_count < COMPILER_RUN_TURNS; i++)
        if (r->frames.items[i].turn >= 0)
            run.turns[run.turn_count++] = (struct compiler_run_turn){
                ir_op_get(r->m, r->frames.items[i].op)->location.line, r->frames.items[i].turn};
    r->ended = !r->visit(r->self, &run);
    return !r->ended;
}

static bool run_all(runner *r, const tensor *inputs) {
    const interp_watch watch = {r, begins, ran, ends, calls};
    tensor *values = base_calloc((size_t)ir_value_count(r->m) + 1, sizeof *values);
    bool ok = interp_values(r->m, inputs, &watch, values, r->st);
    interp_values_release(r->m, values);
    free(values);
    return ok || r->ended;
}

bool compiler_runs(compiler_instance *whole, const compiler_options *options, const tensor *inputs,
                   compiler_run_fn visit, void *self, status *st) {
    ir_module *m = program_dispatches(whole, options, st);
    if (!m)
        return false;
    const size_t count = (size_t)ir_op_count(m) + 1;
    runner r = {.m = m,
                .kernels = base_calloc(count, sizeof *r.kernels),
                .settings = whole->settings,
                .visit = visit,
                .self = self,
                .st = st};
    bool ok = run_all(&r, inputs);
    for (size_t i = 0; i < count; i++)
        compiler_instance_free(r.kernels[i]);
    free(r.kernels);
    vec_release(&r.frames);
    ir_module_free(m);
    return ok;
}
