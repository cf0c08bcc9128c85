/* cmd_compile.c - tsr compile: look at any level, or build a module. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/compile_variants.h"
#include "cli/crash_pack.h"
#include "cli/kernel_choice.h"
#include "cli/module_text.h"
#include "cli/ptxas.h"
#include "cli/run_module.h"
#include "cli/tuned_choice.h"
#include "common/say.h"
#include "exec/module_cache.h"

/* Levels, and how a comment begins in them; NULL: they are binary. Those of one format are for
 * chips, and for `isa` where none is named. */
static const struct level {
    const char *name, *comment, *isa;
    bool whole; /* in a file it is for another program, and of one kernel */
} levels[] = {
    {"graph", "//", NULL, false},    {"schedule", "//", NULL, false},
    {"space", "#", NULL, false},     {"tile", "//", NULL, false},
    {"llvm", ";", NULL, false},      {"asm", "#", NULL, false},
    {"mlir", "//", NULL, false},     {"stablehlo", "//", NULL, true},
    {"metadata", "//", NULL, false}, {"obj", NULL, NULL, true},
    {"module", NULL, NULL, true},    {"ptx", "//", "sm_80", true},
    {"hsaco", NULL, "gfx942", true}, {"spirv", NULL, "spirv-vulkan", true},
    {"c", "//", NULL, true},         {"python", "#", NULL, true},
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

typedef struct compilation {
    const options *o;
    const char *level, *pass; /* one of the two is shown; `pass` may be NULL */
    const char *comment;      /* as it begins in what is shown */
    bool yaml;                /* metadata: not as JSON */
    job_choice choice;
    compiler_options build;
    tuned_choices tuned;
    text out;
} compilation;

static int unknown_level(const options *o, const char *word) {
    const char *names[LEVELS];
    for (int i = 0; i < LEVELS; i++)
        names[i] = levels[i].name;
    const char *nearest = text_nearest(word, names, LEVELS);
    if (nearest)
        return command_usage(o->command, "unknown level '%s'; did you mean %s?", word, nearest);
    return command_usage(o->command,
                         "unknown level '%s': graph, schedule, space, tile, llvm, asm, mlir, "
                         "stablehlo, c, python, metadata, obj, module, ptx, hsaco or spirv",
                         word);
}

static const struct level *level_named(const char *name) {
    for (int i = 0; i < LEVELS; i++)
        if (strcmp(levels[i].name, name) == 0)
            return &levels[i];
    return NULL;
}

static int check_level(compilation *c) {
    const struct level *level = level_named(c->level);
    if (!level)
        return unknown_level(c->o, c->level);
    c->comment = level->comment;
    return c->comment || options_flag(c->o, OPTION_OUTPUT)
               ? EXIT_DONE
               : command_usage(c->o->command, "%s is binary: say where it goes with -o FILE",
                               c->level);
}

/* Code of one format is for the chips that take it. */
static int check_chip(compilation *c) {
    const struct level *level = level_named(c->level);
    const char *format = c->build.isa ? compiler_code_format(c->build.isa) : "elf";
    if (c->pass)
        return EXIT_DONE;
    if (strcmp(level->name, "asm") == 0 && strcmp(format, "elf") != 0)
        c->comment = strcmp(format, "ptx") == 0 ? "//" : ";";
    if (!level->isa)
        return EXIT_DONE;
    if (!c->build.isa)
        c->build.isa = level->isa;
    if (strcmp(compiler_code_format(c->build.isa), level->name) == 0)
        return COMMAND_REFUSE(c->o, "has no effect on code for chips", OPTION_THREADS);
    const char *const *names;
    uint32_t count = compiler_level_names(&names);
    text fit;
    text_init(&fit);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(compiler_code_format(names[i]), level->name) == 0)
            text_printf(&fit, "%s%s", fit.length ? ", " : "", names[i]);
    int code = command_usage(c->o->command, "--emit %s is not for %s; --isa is one of %s",
                             level->name, c->build.isa, fit.data);
    text_release(&fit);
    return code;
}

/* Several images have their place in a module. */
static int check_images(const options *o, const compiler_options *build) {
    const char *level = options_text(o, OPTION_EMIT, "graph");
    bool module = strcmp(level, "module") == 0 || strcmp(level, "metadata") == 0;
    if (module && build->also_count)
        return COMMAND_REFUSE(o, "is for one ISA level", OPTION_TUNED);
    return module || build->also_count == 0
               ? EXIT_DONE
               : command_usage(o->command, "several ISA levels need --emit module");
}

static int check_format(compilation *c) {
    int code = module_text_format(c->o, !c->pass && strcmp(c->level, "metadata") == 0, &c->yaml);
    if (c->yaml)
        c->comment = "#";
    return code;
}

/* The environment's program is for what there is to assemble; one that is named must be of use. */
static int take_assembler(compilation *c) {
    bool module = strcmp(c->level, "module") == 0 || strcmp(c->level, "metadata") == 0;
    bool ptx = false;
    for (uint32_t i = 0; i <= c->build.also_count && c->build.isa; i++)
        ptx |= strcmp(compiler_code_format(i ? c->build.also[i - 1] : c->build.isa), "ptx") == 0;
    if (c->pass || !module || !ptx)
        return COMMAND_REFUSE(c->o, "is for modules, and metadata, with code for NVIDIA's GPUs",
                              OPTION_PTXAS);
    c->build.assembler = ptxas_chosen(c->o);
    return EXIT_DONE;
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
    if (compiler_is_pass(pass))
        return EXIT_DONE;
    const char *nearest = text_nearest(pass, names, count);
    if (nearest)
        return command_usage(o->command, "unknown pass '%s'; did you mean %s?", pass, nearest);
    return command_usage(o->command, "unknown pass '%s'; --emit-after list names them", pass);
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
    if (space.cycles > 0) /* there is no estimate of a chip's */
        text_printf(out, "estimated cycles = %.0f\n", space.cycles);
    if (space.library)
        text_printf(out, "in place of a schedule = %s\n", space.library);
    if (build->provenance && *build->provenance->space)
        text_printf(out, "tiles = %s\n", build->provenance->space);
    if (build->provenance && *build->provenance->unused_hints)
        text_printf(out, "no code depends on = %s\n", build->provenance->unused_hints);
    compiler_space_release(&space);
    return true;
}

/* The whole way down, or the module as it was when somebody went it before. */
static bool emit_module(const compilation *c, compiler_instance *instance, bool whole, text *out,
                        status *st) {
    compiler_artifact artifact = {0};
    const char *cache = *c->choice.cache ? c->choice.cache : NULL;
    bool cached, ok = module_cache_build(cache, instance, &c->build, &artifact, &cached, st);
    if (ok && whole)
        text_append_bytes(out, artifact.image, artifact.image_size);
    ok = ok &&
         (whole || module_text_metadata(artifact.image, artifact.image_size, c->yaml, out, st));
    compiler_artifact_release(&artifact);
    return ok;
}

static bool emit_level(compilation *c, compiler_instance *instance, status *st) {
    bool whole = strcmp(c->level, "module") == 0;
    if (strcmp(c->level, "space") == 0)
        return emit_space(instance, &c->build, &c->out, st);
    if (whole || strcmp(c->level, "metadata") == 0)
        return emit_module(c, instance, whole, &c->out, st);
    return compiler_emit(instance, &c->build, c->level, &c->out, st);
}

static bool emit(compilation *c, compiler_instance *instance, status *st) {
    return c->pass ? emit_after(instance, &c->build, c->pass, &c->out, st)
                   : emit_level(c, instance, st);
}

/* Levels before any pass are the same whatever code is made of them, and languages of others have
 * one code. */
static bool is_early(const compilation *c) {
    static const char *const early[] = {"graph", "mlir", "stablehlo", "c", "python"};
    bool found = false;
    for (size_t i = 0; i < sizeof early / sizeof *early; i++)
        found |= strcmp(c->level, early[i]) == 0;
    return !c->pass && found;
}

/* A file for another program does not show which of several cases it is for. */
static void say_case(const compilation *c, const kernel_choice *k) {
    if (!c->pass && level_named(c->level)->whole && k->c && k->kernel->case_count > 1 &&
        !c->build.generic && !options_flag(c->o, OPTION_CASE) && !options_flag(c->o, OPTION_DIMS))
        say(stderr,
            "tsr: made for %s/%s, the first of %u cases; --case names another, --dims makes one\n",
            k->kernel->name, k->c->name, (unsigned)k->kernel->case_count);
}

/* One of a case alone can be packed. */
static void watch_case(const compilation *c, const kernel_choice *k) {
    const crash_case one = {.path = k->kernel->path,
                            .kernel = k->kernel->name,
                            .name = k->c ? k->c->name : NULL,
                            .dims = k->c ? k->c->bound : NULL,
                            .backend = "cpu"};
    bool chips = c->build.isa && strcmp(compiler_code_format(c->build.isa), "elf") != 0;
    if (k->c && !chips)
        crash_pack_watch(c->o, &one);
}

static int fail(const status *st) {
    int code = command_fail(st);
    crash_pack_failed(st);
    return code;
}

static int compile_case(compilation *c, const kernel_choice *chosen) {
    kernel_choice one = *chosen, *k = &one;
    compile_variants variants;
    status st = STATUS_INIT;
    text diagnostics;
    int code = compile_variants_read(c->o, k, &variants);
    if (code)
        return code;
    c->build.source_schedule = k->kernel->schedule;
    c->build.schedule = c->choice.schedule;
    c->build.variants = variants.items;
    c->build.variant_count = variants.count;
    text_init(&diagnostics);
    watch_case(c, k);
    compiler_instance *instance = compiler_instance_open(k->source, k->kernel, k->c, &diagnostics);
    say_diagnostics(stderr, diagnostics.data);
    if (instance && !is_early(c))
        tuned_choices_take(&c->tuned, k, &c->build, &instance);
    if (!instance)
        code = EXIT_INPUT;
    else if (!emit(c, instance, &st))
        code = fail(&st);
    else
        say_case(c, k);
    crash_pack_end();
    compiler_instance_free(instance);
    text_release(&diagnostics);
    compile_variants_release(&variants);
    return code;
}

/* One after the other, each under its name where there are several. */
static int compile_kernels(compilation *c, const kernel_choices *kernels) {
    exit_code code = EXIT_DONE;
    for (size_t i = 0; i < kernels->count; i++) {
        const kernel_choice *k = &kernels->items[i];
        if (kernels->count > 1)
            text_printf(&c->out, "%s%s %s%s%s\n", i ? "\n" : "", c->comment, k->kernel->name,
                        k->c ? "/" : "", k->c ? k->c->name : "");
        code = exit_code_worse(code, (exit_code)compile_case(c, k));
    }
    if (c->out.length)
        code = exit_code_worse(code, (exit_code)module_text_write(c->o, &c->out));
    return (int)code;
}

static int compile_file(compilation *c, const char *path) {
    compiler_source *source;
    kernel_choices kernels = {0};
    const char *cache = c->choice.cache[0] ? c->choice.cache : NULL;
    int code = kernel_choice_source(c->o, cache, path, &source);
    if (code)
        return code;
    code = kernel_choice_all(c->o, source, path, &kernels);
    text_init(&c->out);
    const bool file = !c->comment || options_flag(c->o, OPTION_OUTPUT);
    if (kernels.count > 1 && !c->pass && file && level_named(c->level)->whole)
        code = kernel_choice_one(c->o, source, path, &kernels.items[0]);
    else
        code = (int)exit_code_worse((exit_code)code, (exit_code)compile_kernels(c, &kernels));
    text_release(&c->out);
    vec_release(&kernels);
    compiler_close(source);
    return code;
}

static int check_early(const compilation *c) {
    const options *o = c->o;
    return !is_early(c)
               ? EXIT_DONE
               : COMMAND_REFUSE(o, "has no effect on --emit graph, mlir, stablehlo, c and python",
                                OPTION_PROFILE, OPTION_SCHEDULE, OPTION_UNOPTIMISED, OPTION_GENERIC,
                                OPTION_SPECIALIZE, OPTION_ISA, OPTION_THREADS, OPTION_TUNED,
                                OPTION_NO_TUNED);
}

int command_compile(const options *o) {
    const char *pass = options_text(o, OPTION_EMIT_AFTER, NULL);
    if (pass && strcmp(pass, "list") == 0)
        return list_passes();
    if (o->arguments.count != 1)
        return command_usage(o->command, "compile takes one file");
    if (run_module_is(o->arguments.items[0]))
        return module_text_show(o, o->arguments.items[0]);
    if (pass && options_flag(o, OPTION_EMIT))
        return command_usage(o->command, "--emit and --emit-after exclude each other");
    if (options_flag(o, OPTION_DIMS)) {
        int code = COMMAND_REFUSE(o, "and --dims exclude each other", OPTION_CASE);
        if (code)
            return code;
    }
    compilation c = {
        .o = o, .level = options_text(o, OPTION_EMIT, "graph"), .pass = pass, .comment = "//"};
    int code = pass ? check_pass(o, pass) : check_level(&c);
    code = code ? code : check_early(&c);
    code = code ? code : crash_pack_limit(o);
    code = code ? code : tuned_check(o);
    code = code ? code : kernel_choice_options(o, &c.choice, &c.build);
    code = code ? code : check_images(o, &c.build);
    code = code ? code : check_chip(&c);
    code = code ? code : check_format(&c);
    code = code ? code : take_assembler(&c);
    c.build.generic = options_flag(o, OPTION_GENERIC);
    if (code)
        return code;
    tuned_choices_open(&c.tuned, o);
    code = compile_file(&c, o->arguments.items[0]);
    tuned_choices_release(&c.tuned);
    return code;
}
