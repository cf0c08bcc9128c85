/* hints.c - hints and sizes of a kernel of tiles that no code of a target depends on. */
#include "device/host/host.h"
#include "graph/instance.h"
#include "pipeline.h"

typedef struct lowered_for {
    const compiler_options *options;
    const target_info *target;
} lowered_for;

static bool identify(void *context, const ir_module *specialized, sha256 *out) {
    const lowered_for *l = context;
    ir_module *m;
    char why[SIMT_TILES_WHY_BYTES];
    if (!pipeline_lower_tiles(specialized, l->options, l->target, why, &m))
        return false;
    *out = ir_identity(m);
    ir_module_free(m);
    return true;
}

void compiler_unused_hints(compiler_source *source, const compiler_kernel *kernel,
                           const compiler_case *c, const compiler_options *options, text *out) {
    const char *isa = options->isa ? options->isa : host_isa();
    lowered_for l = {options, isa ? target_find(isa) : NULL};
    const choices_lowering lowering = {&l, identify};
    compiler_init();
    choices_unused(source, kernel, c, l.target ? &lowering : NULL, out);
}
