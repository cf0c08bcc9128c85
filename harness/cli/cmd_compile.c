/* cmd_compile.c - tsr compile: look at any level, or build a module. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/compile_variants.h"
#include "cli/kernel_choice.h"
#include "common/output.h"
#include "common/say.h"
#include "exec/module_cache.h"

static const char *const levels[] = {"graph", "schedule", "space", "tile",  "llvm",
                                     "asm",   "mlir",     "obj",   "module"};
enum { LEVELS = sizeof levels / sizeof levels[0] };

static bool is_binary(const char *level) {
    return strcmp(level, "obj") == 0 || strcmp(level, "module") == 0;
}

static int check_level(const options *o, const char *level) {
    for (int i = 0; i < LEVELS; i++)
        if (strcmp(levels[i], level) == 0)
            return is_binary(level) && !options_flag(o, OPTION_OUTPUT)
                       ? command_usage(o->command, "%s is binary: say where it goes with -o FILE",
                                       level)
                       : EXIT_DONE;
    const char *nearest = text_nearest(level, levels, LEVELS);
    if (nearest)
        return command_usage(o->command, "unknown level '%s'; did you mean %s?", level, nearest);
    return command_usage(
        o->command,
        "unknown level '%s': graph, schedule, space, tile, llvm, asm, mlir, obj or module", level);
}

/* Several images have their place in a module. */
static int check_images(const options *o, const compiler_options *build) {
    bool module = strcmp(options_text(o, OPTION_EMIT, "graph"), "module") == 0;
    return module || build->also_count == 0
               ? EXIT_DONE
               : command_usage(o->command, "several ISA levels need --emit module");
}

static int list_passes(void) {
    const char *const *names;
    uint32_t count = compiler_pass_names(&names);
    for (uint32_t i = 0; i < count; i++)
        say(stdout, "%s\n", names[i]);
    return EXIT_DONE;
}

static int check_pass(const options *o, const char *pass) {
    const char *const *names;
    uint32_t count = compiler_pass_names(&names);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], pass) == 0)
            return EXIT_DONE;
    const char *nearest = text_nearest(pass, names, count);
    if (nearest)
        return command_usage(o->command, "unknown pass '%s'; did you mean %s?", pass, nearest);
    return command_usage(o->command, "unknown pass '%s'; --emit-after list names them", pass);
}

static int write_output(const options *o, const text *body) {
    const char *path = options_text(o, OPTION_OUTPUT, NULL);
    status st = STATUS_INIT;
    if (!path) {
        say_data(stdout, body->data, body->length);
        return EXIT_DONE;
    }
    return output_write(path, body->data, body->length, &st) ? EXIT_DONE : command_fail(&st);
}

/* The build stops mattering once the pass has printed: its artifact is dropped. */
static bool emit_after(compiler_instance *instance, compiler_options *build, const char *pass,
                       text *out, status *st) {
    compiler_artifact artifact = {0};
    build->emit_after = pass;
    build->emit = out;
    bool ok = compiler_build(instance, build, &artifact, st);
    compiler_artifact_release(&artifact);
    return ok || out->length > 0;
}

/* The parameters of the schedule: what --schedule and @schedule may turn. */
static bool emit_space(compiler_instance *instance, const compiler_options *build, text *out,
                       status *st) {
    compiler_space space;
    if (!compiler_space_of(instance, build, &space, st))
        return false;
    for (uint32_t i = 0; i < space.count; i++) {
        const compiler_parameter *p = &space.items[i];
        text_printf(out, "%s = %" PRId64 " %s (default %" PRId64 "; %" PRId64 " to %" PRId64,
                    p->name, p->value, p->unit, p->otherwise, p->minimum, p->maximum);
        if (p->multiple > 1)
            text_printf(out, " in steps of %" PRId64, p->multiple);
        text_printf(out, "): %s, of %s; candidates", p->summary, p->work);
        for (uint32_t k = 0; k < p->candidate_count; k++)
            text_printf(out, " %" PRId64, p->candidates[k]);
        text_append(out, "\n");
    }
    text_printf(out, "estimated cycles = %.0f\n", space.cycles);
    compiler_space_release(&space);
    return true;
}

/* The whole way down, or the module as it was when somebody went it before. */
static bool emit_module(compiler_instance *instance, const compiler_options *build,
                        const char *cache, text *out, status *st) {
    compiler_artifact artifact = {0};
    bool cached,
        ok = module_cache_build(*cache ? cache : NULL, instance, build, &artifact, &cached, st);
    if (ok)
        text_append_bytes(out, artifact.image, artifact.image_size);
    compiler_artifact_release(&artifact);
    return ok;
}

static bool emit_level(compiler_instance *instance, const char *level,
                       const compiler_options *build, const char *cache, text *out, status *st) {
    if (strcmp(level, "space") == 0)
        return emit_space(instance, build, out, st);
    if (strcmp(level, "module") == 0)
        return emit_module(instance, build, cache, out, st);
    return compiler_emit(instance, build, level, out, st);
}

static int compile_case(const options *o, const kernel_choice *k, compiler_options *build,
                        const char *cache) {
    const char *level = options_text(o, OPTION_EMIT, "graph"),
               *pass = options_text(o, OPTION_EMIT_AFTER, NULL);
    status st = STATUS_INIT;
    text diagnostics, out;
    text_init(&diagnostics);
    text_init(&out);
    int code = EXIT_INPUT;
    compiler_instance *instance = compiler_instance_open(k->source, k->kernel, k->c, &diagnostics);
    say_diagnostics(stderr, diagnostics.data);
    if (instance) {
        bool ok = pass ? emit_after(instance, build, pass, &out, &st)
                       : emit_level(instance, level, build, cache, &out, &st);
        code = ok ? write_output(o, &out) : command_fail(&st);
        compiler_instance_free(instance);
    }
    text_release(&diagnostics);
    text_release(&out);
    return code;
}

/* What comes before any pass is the same whatever code is made of it. */
static int check_early(const options *o, const char *level) {
    if (strcmp(level, "graph") != 0 && strcmp(level, "mlir") != 0)
        return EXIT_DONE;
    return COMMAND_REFUSE(o, "has no effect on --emit graph and --emit mlir", OPTION_PROFILE,
                          OPTION_SCHEDULE, OPTION_UNOPTIMISED, OPTION_GENERIC, OPTION_SPECIALIZE,
                          OPTION_ISA, OPTION_THREADS);
}

int command_compile(const options *o) {
    const char *pass = options_text(o, OPTION_EMIT_AFTER, NULL);
    if (pass && strcmp(pass, "list") == 0)
        return list_passes();
    if (o->arguments.count != 1)
        return command_usage(o->command, "compile takes one file");
    if (pass && options_flag(o, OPTION_EMIT))
        return command_usage(o->command, "--emit and --emit-after exclude each other");
    kernel_choice k = {0};
    job_choice choice;
    compiler_options build = {0};
    int code = pass ? check_pass(o, pass) : check_level(o, options_text(o, OPTION_EMIT, "graph"));
    code = code || pass ? code : check_early(o, options_text(o, OPTION_EMIT, "graph"));
    code = code ? code : kernel_choice_options(o, &choice, &build);
    code = code ? code : check_images(o, &build);
    code = code ? code : kernel_choice_open(o, o->arguments.items[0], &k);
    build.written = k.kernel ? k.kernel->schedule : NULL;
    if (code == EXIT_DONE && !k.c) {
        status st = STATUS_INIT;
        status_set(&st, STATUS_INVALID, "kernel %s has no cases, so its dimensions are not known",
                   k.kernel->name);
        code = command_fail(&st);
    }
    compile_variants variants;
    code = code ? code : compile_variants_read(o, &k, &variants);
    if (code == EXIT_DONE) {
        build.generic = options_flag(o, OPTION_GENERIC);
        build.variants = variants.items;
        build.variant_count = variants.count;
        code = compile_case(o, &k, &build, choice.cache);
        compile_variants_release(&variants);
    }
    kernel_choice_release(&k);
    return code;
}
