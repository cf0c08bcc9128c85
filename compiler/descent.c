/* descent.c - see tessera/descent.h. */
#include "tessera/descent.h"

#include <stdlib.h>
#include <string.h>

#include "graph/instance.h"
#include "graph/passes.h"
#include "ops/tiles.h"
#include "parts.h"
#include "pipeline.h"
#include "pipeline_passes.h"
#include "target/interp/interp.h"
#include "target/interp/schedule_run.h"
#include "target/interp/tile_run.h"
#include "tile/tile.h"
#include "transforms/passes.h"

static const char fault[] = "fault";

struct compiler_descent {
    pipeline p;
    status st; /* that the pipeline writes to */
    compiler_options options;
    const char *const *names;
    uint32_t count, next;
    bool has_fault, faulty;
};

static uint32_t number_of(const compiler_descent *s, const char *name) {
    uint32_t i = 0;
    while (i < s->count && strcmp(s->names[i], name) != 0)
        i++;
    return i;
}

compiler_descent *compiler_descent_open(compiler_instance *instance,
                                        const compiler_options *options, status *st) {
    compiler_descent *s = base_calloc(1, sizeof *s);
    s->options = *options;
    s->options.emit_after = fault; /* all passes run, whatever was kept of them */
    s->options.verify = true;      /* nothing evaluates a module that is broken */
    s->count = compiler_pass_names(&s->names);
    bool ok = pipeline_open(&s->p, instance, &s->options, &s->st);
    if (options->stored && *options->stored->pass)
        s->next = number_of(s, options->stored->pass) + 1;
    s->p.is_program =
        (options->ranks && options->ranks->count > 1) || compiler_instance_is_program(instance);
    s->has_fault = !s->p.is_program && options->fault && tile_knows_fault(options->fault);
    if (s->p.is_program)
        s->count = number_of(s, "outline") + 1;
    if (ok)
        return s;
    status_set(st, s->st.code, "%s", s->st.message);
    compiler_descent_close(s);
    return NULL;
}

void compiler_descent_close(compiler_descent *s) {
    if (s)
        pipeline_close(&s->p);
    free(s);
}

const char *compiler_descent_name(const compiler_descent *s) {
    return s->next < s->count ? s->names[s->next] : s->has_fault && !s->faulty ? fault : NULL;
}

bool compiler_descent_run(compiler_descent *s, status *st) {
    s->st = (status)STATUS_INIT;
    s->faulty = s->next == s->count;
    bool ok = pipeline_run(&s->p, s->faulty ? NULL : s->names[s->next]);
    s->next += !s->faulty;
    return ok || status_set(st, s->st.code, "%s", s->st.message);
}

bool compiler_descent_is_program(const compiler_descent *s) {
    return s->p.is_program;
}

static const ir_module *module_of(const compiler_descent *s) {
    return s->p.m ? s->p.m : compiler_instance_graph(s->p.instance);
}

const char *compiler_descent_level(const compiler_descent *s) {
    const ir_module *m = module_of(s);
    const char *name = op_info_get(ir_op_get(m, ir_module_kernel(m))->opcode)->name;
    return strncmp(name, "tile.", 5) == 0    ? "tile"
           : strncmp(name, "sched.", 6) == 0 ? "schedule"
                                             : "graph";
}

void compiler_descent_print(const compiler_descent *s, text *out) {
    ir_print(module_of(s), out);
}

static bool is_graph(const compiler_descent *s) {
    return strcmp(compiler_descent_level(s), "graph") == 0;
}

static bool is_schedule(const compiler_descent *s) {
    return strcmp(compiler_descent_level(s), "schedule") == 0;
}

bool compiler_descent_evaluates(const compiler_descent *s) {
    return !is_schedule(s) || schedule_runs(module_of(s));
}

static bool shard_alone(ir_module *m, status *st) {
    const bool ok = graph_shard(m, NULL, st);
    graph_drop_placed(m);
    return ok;
}

/* The oracle makes primitives of a kernel by these. */
static const struct {
    const char *pass;
    bool (*apply)(ir_module *m, status *st); /* NULL: it takes the dimensions */
} shared[] = {
    {"inline", graph_inline},
    {"specialize", NULL},
    {"called-tiles", graph_called_tiles},
    {"vmap", graph_vmap},
    {"jvp", graph_jvp},
    {"vjp", graph_vjp},
    {"shard", shard_alone},
    {"checkpoint", graph_checkpoint},
    {"expand-tiles", graph_expand_tiles},
    {"decompose", graph_decompose_all},
};
enum { SHARED_COUNT = sizeof shared / sizeof *shared };

bool compiler_pass_is_shared(const char *name) {
    bool found = false;
    for (size_t i = 0; i < SHARED_COUNT && !found; i++)
        found = strcmp(shared[i].pass, name) == 0;
    return found;
}

/* Nothing changes that passes have done already. */
static bool make_primitives(ir_module *m, ir_bindings dims, status *st) {
    bool ok = true;
    for (size_t i = 0; i < SHARED_COUNT && ok; i++)
        ok = shared[i].apply ? shared[i].apply(m, st) : graph_specialize(m, dims, st);
    return ok;
}

/* NULL with a status. */
static ir_module *primitives_of(const compiler_descent *s, status *st) {
    ir_module *m = ir_module_clone(module_of(s));
    if (make_primitives(m, s->p.dims, st) && graph_require_formula(m, st))
        return m;
    ir_module_free(m);
    return NULL;
}

static bool evaluate_graph(const compiler_descent *s, const tensor *inputs, tensor *outputs,
                           status *st) {
    ir_module *m = primitives_of(s, st);
    bool ok = m && interp_module(m, inputs, outputs, st);
    ir_module_free(m);
    return ok;
}

bool compiler_descent_evaluate_ranks(compiler_descent *const *ranks, uint32_t count,
                                     const tensor *const *inputs, tensor *const *outputs,
                                     status *st) {
    ir_module **modules = base_calloc(count, sizeof *modules);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        ok = is_graph(ranks[i]) ||
             status_set(st, STATUS_UNAVAILABLE, "modules of ranks are evaluated as graphs");
        modules[i] = ok ? primitives_of(ranks[i], st) : NULL;
        ok = modules[i] != NULL;
    }
    ok = ok && interp_ranks((const ir_module *const *)modules, count, inputs, outputs, st);
    for (uint32_t i = 0; i < count; i++)
        ir_module_free(modules[i]);
    free(modules);
    return ok;
}

shard_part *compiler_descent_parts(const compiler_descent *s) {
    return is_graph(s) ? parts_of(module_of(s)) : NULL;
}

bool compiler_descent_evaluate(const compiler_descent *s, const tensor *inputs, tensor *outputs,
                               status *st) {
    if (is_graph(s))
        return evaluate_graph(s, inputs, outputs, st);
    if (is_schedule(s))
        return schedule_run(module_of(s), inputs, outputs, st);
    return tile_run(module_of(s), inputs, outputs, st);
}
