/* kernel_choice.c - finds the kernel and the case that a command line means. */
#include "cli/kernel_choice.h"

#include <stdio.h>
#include <string.h>

#include "case/source_probe.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "common/say.h"

static bool find_kernel(kernel_choice *k, const char *path, const char *wanted, status *st) {
    text names;
    text_init(&names);
    uint32_t count = compiler_kernel_count(k->source);
    for (uint32_t i = 0; i < count; i++) {
        const compiler_kernel *kernel = compiler_kernel_at(k->source, i);
        text_printf(&names, "%s%s", i ? ", " : "", kernel->name);
        if (wanted ? strcmp(kernel->name, wanted) == 0 : count == 1)
            k->kernel = kernel;
    }
    if (count == 0)
        status_set(st, STATUS_INVALID, "%s holds no kernel", path);
    else if (!k->kernel && wanted)
        status_set(st, STATUS_NOT_FOUND, "%s has no kernel %s; it has %.700s", path, wanted,
                   names.data);
    else if (!k->kernel)
        status_set(st, STATUS_INVALID, "%s has several kernels, choose one with --kernel: %.700s",
                   path, names.data);
    text_release(&names);
    return k->kernel != NULL;
}

static bool find_case(kernel_choice *k, const char *wanted, status *st) {
    for (uint32_t i = 0; i < k->kernel->case_count && !k->c; i++)
        if (!wanted || strcmp(k->kernel->cases[i].name, wanted) == 0)
            k->c = &k->kernel->cases[i];
    return k->c || !wanted ||
           status_set(st, STATUS_NOT_FOUND, "kernel %s has no case %s", k->kernel->name, wanted);
}

int kernel_choice_open(const options *o, const char *path, kernel_choice *out) {
    status st = STATUS_INIT;
    text diagnostics;
    *out = (kernel_choice){0};
    if (!source_probe_one(path, &st))
        return command_fail(&st);
    text_init(&diagnostics);
    out->source = compiler_open(path, command_colour(o, stderr), &diagnostics, &st);
    say_diagnostics(stderr, diagnostics.data);
    text_release(&diagnostics);
    if (!out->source)
        return command_fail(&st);
    if (!find_kernel(out, path, options_text(o, OPTION_KERNEL, NULL), &st))
        return compiler_error_count(out->source) ? EXIT_INPUT : command_fail(&st);
    if (out->kernel->broken)
        return EXIT_INPUT;
    if (!find_case(out, options_text(o, OPTION_CASE, NULL), &st))
        return command_fail(&st);
    return EXIT_DONE;
}

void kernel_choice_release(kernel_choice *k) {
    if (k->source)
        compiler_close(k->source);
}

int kernel_choice_options(const options *o, job_choice *choice, compiler_options *out) {
    int code = choice_make(o, "strict", 60, choice);
    if (code)
        return code;
    if (choice->thread_count != 1)
        return command_usage(o->command, "one thread count, please");
    *out = (compiler_options){.isa = choice->isa,
                              .also = choice->also,
                              .also_count = choice->also_count,
                              .threads = choice->threads[0],
                              .unoptimised = choice->unoptimised,
                              .schedule = choice->schedule};
    int chosen = 0;
    for (int i = 0; i < PROFILE_COUNT; i++) {
        if (choice->profiles[i])
            out->profile = (compiler_profile)i;
        chosen += choice->profiles[i];
    }
    return chosen == 1 ? EXIT_DONE : command_usage(o->command, "one profile, please");
}
