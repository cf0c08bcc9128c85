/* kernel_choice.c - finds the kernels and the cases that a command line means. */
#include "cli/kernel_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/backend.h"
#include "case/bound.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "common/say.h"
#include "exec/source_known.h"
#include "job/fault.h"

/* FILE.tsr:KERNEL names a kernel, too. Where its name begins; NULL: it is a path alone. */
static const char *kernel_behind(const char *path) {
    static const char end[] = ".tsr:";
    const char *found = strstr(path, end);
    return found && !file_exists(path) ? found + sizeof end - 1 : NULL;
}

static const char *kernel_asked(const options *o, const char *path) {
    return options_text(o, OPTION_KERNEL, kernel_behind(path));
}

int kernel_choice_source(const options *o, const char *cache, const char *path,
                         compiler_source **out) {
    status st = STATUS_INIT;
    text diagnostics, file;
    const char *name = kernel_behind(path);
    *out = NULL;
    text_init(&diagnostics);
    text_init(&file);
    text_append_bytes(&file, path, name ? (size_t)(name - path) - 1 : strlen(path));
    *out = source_known_open(cache, file.data, command_colour(o, stderr), &diagnostics, &st);
    say_diagnostics(stderr, diagnostics.data);
    text_release(&diagnostics);
    text_release(&file);
    return *out ? EXIT_DONE : command_fail(&st);
}

static const compiler_case *case_named(const compiler_kernel *kernel, const char *name) {
    for (uint32_t i = 0; i < kernel->case_count; i++)
        if (!name || strcmp(kernel->cases[i].name, name) == 0)
            return &kernel->cases[i];
    return NULL;
}

/* There is no kernel of that name; or, without one, none or several. What is wrong with the source
 * was told, and may be why. */
static int no_kernel(const compiler_source *source, const char *path, const char *wanted) {
    status st = STATUS_INIT;
    text names;
    uint32_t count = compiler_kernel_count(source);
    if (compiler_error_count(source))
        return EXIT_INPUT;
    text_init(&names);
    for (uint32_t i = 0; i < count; i++)
        text_printf(&names, "%s%s", i ? ", " : "", compiler_kernel_at(source, i)->name);
    if (count == 0)
        status_set(&st, STATUS_INVALID, "%s holds no kernel: one has @kernel above it", path);
    else if (wanted)
        status_set(&st, STATUS_NOT_FOUND, "%s has no kernel %s; it has %.700s", path, wanted,
                   names.data);
    else
        status_set(&st, STATUS_INVALID, "%s has several kernels, choose one with --kernel: %.700s",
                   path, names.data);
    text_release(&names);
    return command_fail(&st);
}

/* There is no case of that name; or, without one, none at all. */
static int tell_no_case(const compiler_kernel *kernel, const char *case_name) {
    text words;
    text_init(&words);
    for (uint32_t i = 0; case_name && i < kernel->case_count; i++)
        text_printf(&words, "%s%s", i ? ", " : "; it has ", kernel->cases[i].name);
    if (!case_name)
        bound_line("tsr compile", kernel, NULL, &words);
    if (case_name)
        say(stderr, "tsr: kernel %s has no case %s%s\n", kernel->name, case_name, words.data);
    else
        say(stderr, "tsr: kernel %s has no cases; say what to run it on:\n    %s\n", kernel->name,
            words.data);
    text_release(&words);
    return EXIT_INPUT;
}

/* Chooses the kernel's tiles by --space. */
static int choose_space(const options *o, kernel_choice *k) {
    const char *words = o->chosen;
    status st = STATUS_INIT;
    const compiler_case *chosen =
        words ? compiler_case_choose(k->source, k->kernel, k->c, words, &st) : k->c;
    if (words && !chosen)
        return command_usage(o->command, "--space, --constants: %s", st.message);
    k->c = chosen;
    return EXIT_DONE;
}

int kernel_choice_one(const options *o, compiler_source *source, const char *path,
                      kernel_choice *out) {
    const char *name = kernel_asked(o, path), *case_name = options_text(o, OPTION_CASE, NULL);
    const compiler_kernel *only =
        compiler_kernel_count(source) == 1 ? compiler_kernel_at(source, 0) : NULL;
    *out = (kernel_choice){.source = source,
                           .kernel = name ? compiler_kernel_named(source, name) : only};
    if (!out->kernel)
        return no_kernel(source, path, name);
    if (out->kernel->broken)
        return EXIT_INPUT;
    out->c = case_named(out->kernel, case_name);
    if (out->c || !case_name)
        return choose_space(o, out);
    return tell_no_case(out->kernel, case_name);
}

/* ---- all kernels ---- */

/* The case of these values. */
static int bind_case(kernel_choice *k, const compiler_values *values) {
    text diagnostics;
    text_init(&diagnostics);
    k->c = compiler_case_bind(k->source, k->kernel, values, &diagnostics);
    say_diagnostics(stderr, diagnostics.data);
    text_release(&diagnostics);
    return k->c ? EXIT_DONE : EXIT_INPUT;
}

/* The graph, and code for any dimensions, are what no case has a say in. */
static bool needs_case(const options *o, const compiler_kernel *kernel) {
    bool graph = !options_flag(o, OPTION_EMIT_AFTER) &&
                 strcmp(options_text(o, OPTION_EMIT, "graph"), "graph") == 0;
    return kernel->type_count > 0 || !(graph || options_flag(o, OPTION_GENERIC));
}

static int choose_case(const options *o, const compiler_values *values, kernel_choice *k) {
    const char *case_name = options_text(o, OPTION_CASE, NULL);
    if (k->kernel->broken)
        return EXIT_INPUT;
    k->c = options_flag(o, OPTION_DIMS) ? NULL : case_named(k->kernel, case_name);
    if (k->c)
        return EXIT_DONE;
    if (options_flag(o, OPTION_DIMS) || (!case_name && kernel_is_fixed(k->kernel)))
        return bind_case(k, values);
    return case_name || needs_case(o, k->kernel) ? tell_no_case(k->kernel, case_name) : EXIT_DONE;
}

/* Several may lack a case, or have other names than --dims, as long as one has it. */
static bool is_other(const options *o, const compiler_values *values,
                     const compiler_kernel *kernel) {
    const char *case_name = options_text(o, OPTION_CASE, NULL);
    if (options_flag(o, OPTION_DIMS))
        return !compiler_values_fit(values, kernel);
    return case_name && !kernel->broken && !case_named(kernel, case_name);
}

static int tell_others(const options *o, const compiler_values *values,
                       const unbound_kernels *others, bool some) {
    text lines;
    text_init(&lines);
    if (options_flag(o, OPTION_DIMS))
        unbound_tell(others, "tsr compile", values, &lines);
    say_diagnostics(stderr, lines.data);
    text_release(&lines);
    if (some || others->count == 0)
        return EXIT_DONE;
    if (!options_flag(o, OPTION_DIMS))
        return tell_no_case(others->items[0], options_text(o, OPTION_CASE, NULL));
    say(stderr, "tsr: no kernel has just the names of --dims %s\n",
        options_text(o, OPTION_DIMS, ""));
    return EXIT_INPUT;
}

int kernel_choice_all(const options *o, compiler_source *source, const char *path,
                      kernel_choices *out) {
    const char *name = kernel_asked(o, path);
    compiler_values values = {0};
    unbound_kernels others = {0};
    arena memory;
    status st = STATUS_INIT;
    if (compiler_kernel_count(source) == 0 || (name && !compiler_kernel_named(source, name)))
        return no_kernel(source, path, name);
    arena_init(&memory);
    bool ok = compiler_values_read(options_text(o, OPTION_DIMS, ""), &memory, &values, &st);
    exit_code code = ok ? EXIT_DONE : (exit_code)command_fail(&st);
    for (uint32_t i = 0; ok && i < compiler_kernel_count(source); i++) {
        kernel_choice k = {.source = source, .kernel = compiler_kernel_at(source, i)};
        if (name && strcmp(k.kernel->name, name) != 0)
            continue;
        if (is_other(o, &values, k.kernel)) {
            vec_push(&others, k.kernel);
            continue;
        }
        int chosen = choose_case(o, &values, &k);
        chosen = chosen ? chosen : choose_space(o, &k);
        code = exit_code_worse(code, (exit_code)chosen);
        if (chosen == EXIT_DONE)
            vec_push(out, k);
    }
    code = exit_code_worse(code, (exit_code)tell_others(o, &values, &others, out->count > 0));
    vec_release(&others);
    arena_release(&memory);
    return (int)code;
}

/* Target of TESSERA_BACKEND where code is made and not run, if it names one backend and --isa names
 * none. */
static const char *isa_of_environment(const options *o, const job_choice *choice) {
    const char *name = getenv("TESSERA_BACKEND");
    backend_id id = name && *name ? backend_asked(name) : BACKEND_COUNT;
    bool counts = o->command == COMMAND_COMPILE && !options_flag(o, OPTION_ISA) &&
                  id < BACKEND_COUNT && backend_is_ours(&backend_table[id]);
    return counts ? backend_target_for(&backend_table[id], NULL, choice->own[id]) : choice->isa;
}

int kernel_choice_options(const options *o, job_choice *choice, compiler_options *out) {
    int code = choice_make(o, "strict", 60, choice);
    if (code)
        return code;
    choice->isa = isa_of_environment(o, choice);
    if (choice->thread_count != 1)
        return command_usage(o->command, "one thread count, please");
    const fault_info *fault =
        choice->inject ? fault_find(choice->inject, strlen(choice->inject)) : NULL;
    if (choice->inject && (!fault || fault->kind != FAULT_KIND_CODE))
        return command_usage(
            o->command, "--inject %s: a fault of the compiler or of code, without @ and a case",
            choice->inject);
    if (fault)
        choice->cache[0] = '\0';
    *out = (compiler_options){.isa = choice->isa,
                              .also = choice->also,
                              .also_count = choice->also_count,
                              .threads = choice->threads[0],
                              .unoptimised = choice->unoptimised,
                              .check_bounds = choice->check_bounds,
                              .constants = choice->constants,
                              .schedule = choice->schedule,
                              .fault = fault ? fault->name : NULL};
    int chosen = 0;
    for (int i = 0; i < PROFILE_COUNT; i++) {
        if (choice->profiles[i])
            out->profile = (compiler_profile)i;
        chosen += choice->profiles[i];
    }
    return chosen == 1 ? EXIT_DONE : command_usage(o->command, "one profile, please");
}

int kernel_parameter(const compiler_kernel *kernel, const char *name, size_t length) {
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        if (strlen(kernel->parameter_names[i]) == length &&
            strncmp(kernel->parameter_names[i], name, length) == 0)
            return (int)i;
    return -1;
}
