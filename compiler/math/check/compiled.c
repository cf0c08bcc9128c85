/* compiled.c - source text to a loaded kernel, for one specified function. */
#include "math/check/compiled.h"

#include <stdio.h>
#include <string.h>

#include "target/interp/functions.h"

static bool build(const char *source, const char *isa, compiler_artifact *out, status *st) {
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *opened = compiler_open_text("function.tsr", source, false, &diagnostics);
    compiler_options options = {.profile = PROFILE_STRICT, .isa = isa, .threads = 1};
    compiler_instance *instance = NULL;
    if (compiler_error_count(opened) == 0)
        instance =
            compiler_instance_open(opened, compiler_kernel_at(opened, 0), NULL, &diagnostics);
    bool ok = instance ? compiler_build(instance, &options, out, st)
                       : status_set(st, STATUS_INTERNAL, "%.900s", diagnostics.data);
    compiler_instance_free(instance);
    compiler_close(opened);
    text_release(&diagnostics);
    return ok;
}

static bool load(compiled *c, const compiler_artifact *artifact, const char *name) {
    const size_t bytes = COMPILED_COUNT * sizeof(float);
    return tsrCreateContextOn(0, 1, 0, &c->context) == TSR_SUCCESS &&
           tsrLoadModule(c->context, artifact->image, artifact->image_size, &c->module) ==
               TSR_SUCCESS &&
           tsrGetKernel(c->module, name, &c->kernel) == TSR_SUCCESS &&
           tsrAlloc(c->context, bytes, TSR_ALLOC_ZERO, (void **)&c->in) == TSR_SUCCESS &&
           tsrAlloc(c->context, bytes, TSR_ALLOC_ZERO, (void **)&c->out) == TSR_SUCCESS;
}

bool compiled_open(compiled *c, math_set set, math_function function, const char *isa, status *st) {
    char source[256], name[32];
    compiler_artifact artifact = {0};
    *c = (compiled){.isa = isa};
    snprintf(name, sizeof name, "all_%s", function_name(function));
    snprintf(source, sizeof source,
             "%s@kernel\ndef %s(x: Tensor[%d, f32]) -> Tensor[%d, f32]:\n    return %s(x)\n",
             set == MATH_CORRECT ? "@math(\"correct\")\n" : "", name, COMPILED_COUNT,
             COMPILED_COUNT, function_name(function));
    bool ok = build(source, isa, &artifact, st) &&
              (load(c, &artifact, name) ||
               status_set(st, STATUS_UNAVAILABLE, "%s: %s", isa, tsrGetLastError()));
    c->image = ok ? sha256_of(artifact.image, artifact.image_size) : c->image;
    compiler_artifact_release(&artifact);
    return ok;
}

bool compiled_run(compiled *c) {
    void *args[] = {&c->in, &c->out};
    return tsrLaunch(c->kernel, NULL, (tsr_launch_t){0}, args, 2) == TSR_SUCCESS;
}

void compiled_close(compiled *c) {
    if (c->out)
        tsrFree(c->context, c->out);
    if (c->in)
        tsrFree(c->context, c->in);
    if (c->module)
        tsrUnloadModule(c->module);
    if (c->context)
        tsrDestroyContext(c->context);
    memset(c, 0, sizeof *c);
}
