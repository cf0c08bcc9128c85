/* pipeline_emit.c - one level of a kernel, as text or bytes. */
#include <string.h>

#include "pipeline.h"
#include "pipeline_passes.h"
#include "target/target.h"
#include "tessera/compiler.h"

/* The levels below Tile IR; those with a format are for targets of that one. */
static const struct machine_level {
    const char *name;
    emit_output output;
    const char *format;
} machine_levels[] = {{"llvm", EMIT_LLVM, NULL},       {"asm", EMIT_ASSEMBLY, NULL},
                      {"obj", EMIT_OBJECT, NULL},      {"ptx", EMIT_OBJECT, "ptx"},
                      {"hsaco", EMIT_OBJECT, "hsaco"}, {"spirv", EMIT_OBJECT, "spirv"}};

static const struct machine_level *machine_level_of(const char *name) {
    for (size_t i = 0; i < sizeof machine_levels / sizeof *machine_levels; i++)
        if (strcmp(machine_levels[i].name, name) == 0)
            return &machine_levels[i];
    return NULL;
}

static bool emit_machine(pipeline *p, const struct machine_level *level, text *out) {
    if (level->format && strcmp(level->format, target_format(p->target)) != 0)
        return status_set(p->st, STATUS_INVALID, "code for %s is no %s", p->target->name,
                          level->name);
    return pipeline_run(p, NULL) && pipeline_emit_code(p, level->output, out);
}

static bool emit_ir(pipeline *p, const char *level, text *out) {
    bool before = strcmp(level, "graph") == 0, ok = before || pipeline_run(p, level);
    const ir_module *m = before ? compiler_instance_graph(p->instance) : p->m;
    if (ok && p->options->lines)
        ir_print_lines(m, out, p->options->lines);
    else if (ok)
        ir_print(m, out);
    return ok;
}

bool compiler_emit(compiler_instance *instance, const compiler_options *options, const char *level,
                   text *out, status *st) {
    pipeline p;
    compiler_artifact artifact;
    if (strcmp(level, "module") == 0) {
        bool ok = compiler_build(instance, options, &artifact, st);
        if (ok)
            text_append_bytes(out, artifact.image, artifact.image_size);
        compiler_artifact_release(&artifact);
        return ok;
    }
    if (pipeline_is_for_others(level))
        return pipeline_emit_for_others(instance, level, out, st);
    const struct machine_level *machine = machine_level_of(level);
    bool ok = pipeline_open(&p, instance, options, st) &&
              (machine ? emit_machine(&p, machine, out) : emit_ir(&p, level, out));
    pipeline_close(&p);
    return ok;
}
