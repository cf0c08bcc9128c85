/* cmd_run.c - tsr run: one kernel on the user's own arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/backend.h"
#include "case/dims_from_arrays.h"
#include "case/inputs.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/crash_pack.h"
#include "cli/kernel_choice.h"
#include "cli/run_module.h"
#include "cli/run_retry.h"
#include "cli/run_steps.h"
#include "cli/step_log.h"
#include "cli/tuned_choice.h"
#include "common/say.h"
#include "common/scratch_folder.h"
#include "exec/backend_device.h"
#include "exec/module_cache.h"
#include "implementation/implementation.h"
#include "launch/launch.h"
#include "launch/mpi_job.h"
#include "launch/ranks.h"
#include "launch/way_of_sums.h"
#include "tessera/nonfinite.h"

/* Fields: the state of one command, from its options to its launches. */
typedef struct run_session {
    compiler_source *source;
    kernel_choice k;
    compiler_options build;
    tuned_choices *tuned;
    const char *cache; /* the folder of compiled modules, or NULL */
    backend_id backend;
    arena memory;
    compiler_values given; /* by --dims, or by --case */
    const char *given_by;  /* in words */
    compiler_type_binding
        *types; /* of the type variables: as given, else as the arrays have them */
    ir_binding *dims;
    const char **paths; /* of the inputs, by parameter */
    tensor *inputs;     /* of tensors_new */
    ir_module *graph;   /* until its dimensions are known, and it is the instance's */
    compiler_instance *instance;
    compiler_signature signature;
    uint32_t device;
    const implementation *plugin; /* of PJRT, which compiles by itself; NULL: our code */
    bool case_asked;              /* by --case, which gives constants, too */
    compiler_case arrays; /* what the arrays make: tiles and constants of the command line alone */
    int64_t steps;        /* 0: one launch */
    int counter;          /* the input that counts them; -1: none */
    uint32_t ranks;       /* that run it together; 0: one */
    const char *transport, *layout;
    uint64_t retries; /* on fewer ranks, that are left */
    json_t *retried;  /* ... those that were (state/index.h) */
} run_session;

static bool no_parameter(const compiler_kernel *kernel, const char *name, int length, status *st) {
    text names;
    text_init(&names);
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        text_printf(&names, "%s%s", i ? ", " : "", kernel->parameter_names[i]);
    status_set(st, STATUS_INVALID, "kernel %s has no parameter %.*s; it has %.700s", kernel->name,
               length < 60 ? length : 60, name, names.data);
    text_release(&names);
    return false;
}

/* --in NAME=FILE, or --in FILE for the next parameter without an array. */
static bool assign_inputs(run_session *s, const options *o, status *st) {
    const compiler_kernel *kernel = s->k.kernel;
    const string_list *given = &o->values[OPTION_IN].values;
    for (size_t i = 0; i < given->count; i++) {
        const char *word = given->items[i], *equals = strchr(word, '=');
        int at = equals ? kernel_parameter(kernel, word, (size_t)(equals - word)) : 0;
        while (!equals && at < (int)kernel->parameter_count && s->paths[at])
            at++;
        if (at < 0)
            return no_parameter(kernel, word, (int)(equals - word), st);
        if (equals && s->paths[at])
            return status_set(st, STATUS_INVALID, "parameter %s is given twice: %s and %s",
                              kernel->parameter_names[at], s->paths[at], equals + 1);
        if (at >= (int)kernel->parameter_count)
            return status_set(st, STATUS_INVALID, "too many inputs: kernel %s has %u parameters",
                              kernel->name, kernel->parameter_count);
        s->paths[at] = equals ? equals + 1 : word;
    }
    return true;
}

/* A case that was not asked for says no constants. */
static compiler_case case_of(const run_session *s) {
    return s->case_asked && s->k.c ? *s->k.c : s->arrays;
}

static ir_module *check_kernel(run_session *s, text *diagnostics) {
    text_clear(diagnostics);
    ir_module_free(s->graph);
    compiler_case c = case_of(s);
    c.types = s->types;
    c.type_count = s->k.kernel->type_count;
    s->graph = compiler_graph(s->k.source, s->k.kernel, &c, diagnostics);
    return s->graph;
}

/* The type that a parameter has before its array was seen: the source's, that of --dims or --case,
 * or the first case's. DTYPE_NONE: the array tells. */
static dtype expected_type(const run_session *s, uint32_t parameter) {
    const int32_t v = s->k.kernel->parameter_variables[parameter];
    return v >= 0 ? s->types[v].type : s->k.kernel->parameter_types[parameter];
}

static dtype given_type(const run_session *s, const char *name) {
    for (uint32_t i = 0; i < s->given.type_count; i++)
        if (strcmp(s->given.types[i].name, name) == 0)
            return s->given.types[i].type;
    return DTYPE_NONE;
}

/* --dims names what it knows; a case that was asked for knows everything. */
static bool take_given(run_session *s, const options *o, status *st) {
    const compiler_case *c = s->case_asked ? s->k.c : NULL;
    const compiler_kernel *kernel = s->k.kernel;
    s->given_by = c ? "--case" : "--dims";
    if (c)
        s->given = (compiler_values){c->dims, c->dim_count, c->types, c->type_count};
    else if (!compiler_values_read(options_text(o, OPTION_DIMS, ""), &s->memory, &s->given, st))
        return false;
    for (uint32_t i = 0; i < s->given.type_count; i++) {
        uint32_t v = 0;
        while (v < kernel->type_count && strcmp(kernel->type_names[v], s->given.types[i].name) != 0)
            v++;
        if (v == kernel->type_count)
            return status_set(st, STATUS_INVALID, "kernel %s has no type variable %.80s",
                              kernel->name, s->given.types[i].name);
    }
    return true;
}

/* A parameter of several arrays is named once. */
static void add_name(text *names, const char *name) {
    const size_t length = strcspn(name, ".");
    const char *last = names->length ? strrchr(names->data, ' ') : NULL;
    last = last ? last + 1 : names->length ? names->data : "";
    if (strlen(last) != length || strncmp(last, name, length) != 0)
        text_printf(names, "%s%.*s", names->length ? ", " : "", (int)length, name);
}

/* Draws inputs that have no array for the case, as bench draws them. */
static bool draw_inputs(run_session *s, const options *o, text *diagnostics, status *st) {
    compiler_signature signature;
    compiler_instance *instance =
        compiler_instance_open(s->k.source, s->k.kernel, s->k.c, diagnostics);
    if (!instance)
        return status_set(st, STATUS_INVALID, "the kernel does not check");
    tensor *drawn = tensors_new(s->k.kernel->parameter_count);
    uint64_t seed = 1;
    bool ok = options_number(o, OPTION_SEED, 0, UINT64_MAX, &seed, st) &&
              compiler_signature_of(instance, &signature, st) &&
              inputs_make(&signature, s->k.c, seed, drawn, st);
    text names;
    text_init(&names);
    for (uint32_t i = 0; i < s->k.kernel->parameter_count && ok; i++) {
        if (s->inputs[i].data)
            continue;
        add_name(&names, s->k.kernel->parameter_names[i]);
        s->inputs[i] = drawn[i];
        drawn[i] = (tensor){0};
        s->paths[i] = s->k.c->name;
    }
    if (ok)
        say(stderr, "tsr: drawn for case %s: %s\n", s->k.c->name, names.data);
    text_release(&names);
    tensors_free(drawn);
    compiler_instance_free(instance);
    return ok;
}

static bool complete_inputs(run_session *s, const options *o, text *diagnostics, status *st) {
    const compiler_kernel *kernel = s->k.kernel;
    uint32_t i = 0;
    dtype *types = ARENA_NEW(&s->memory, dtype, kernel->parameter_count + 1);
    for (uint32_t k = 0; k < kernel->parameter_count; k++)
        types[k] = expected_type(s, k);
    const step_inputs given = {kernel->parameter_names, types, kernel->parameter_count, s->paths,
                               s->inputs};
    if (!steps_read(&given, o, st))
        return false;
    s->counter = s->steps ? steps_counter(&given, st) : -1;
    while (i < kernel->parameter_count && s->inputs[i].data)
        i++;
    if (i == kernel->parameter_count)
        return true;
    if (s->steps && s->k.c && !options_flag(o, OPTION_DIMS)) {
        s->case_asked = true;
        return draw_inputs(s, o, diagnostics, st) && take_given(s, o, st);
    }
    return status_set(st, STATUS_INVALID,
                      "no array for parameter %s: give it with --in %s=FILE.npy",
                      kernel->parameter_names[i], kernel->parameter_names[i]);
}

static bool type_mismatch(const run_session *s, uint32_t parameter, dtype wanted, status *st) {
    return status_set(st, STATUS_INVALID, "parameter %s of kernel %s is %s, but %s holds %s",
                      s->k.kernel->parameter_names[parameter], s->k.kernel->name,
                      dtype_name(wanted), s->paths[parameter],
                      dtype_name(s->inputs[parameter].type));
}

/* Two arrays for parameters of one type variable. */
static bool types_differ(const run_session *s, uint32_t one, uint32_t other, status *st) {
    const compiler_kernel *kernel = s->k.kernel;
    return status_set(
        st, STATUS_INVALID,
        "parameters %s and %s of kernel %s are both of \"%s\", but %s holds %s and %s holds %s",
        kernel->parameter_names[one], kernel->parameter_names[other], kernel->name,
        kernel->type_names[kernel->parameter_variables[one]], s->paths[one],
        dtype_name(s->inputs[one].type), s->paths[other], dtype_name(s->inputs[other].type));
}

/* Each type variable is what its first array holds, unless it was given. */
static bool bind_types(run_session *s, status *st) {
    const compiler_kernel *kernel = s->k.kernel;
    uint32_t *from = ARENA_NEW(&s->memory, uint32_t, kernel->type_count + 1);
    bool *bound = ARENA_NEW(&s->memory, bool, kernel->type_count + 1);
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const int32_t v = kernel->parameter_variables[i];
        const dtype held = s->inputs[i].type;
        if (v < 0 || given_type(s, kernel->type_names[v]) != DTYPE_NONE) {
            if (held != expected_type(s, i))
                return type_mismatch(s, i, expected_type(s, i), st);
        } else if (!bound[v]) {
            s->types[v].type = held;
            from[v] = i;
            bound[v] = true;
        } else if (s->types[v].type != held) {
            return types_differ(s, from[v], i, st);
        }
    }
    return true;
}

/* Types as they are given, else as the first case has them, else none yet. */
static void start_types(run_session *s) {
    const compiler_kernel *kernel = s->k.kernel;
    s->types = ARENA_NEW(&s->memory, compiler_type_binding, kernel->type_count + 1);
    for (uint32_t i = 0; i < kernel->type_count; i++) {
        const char *name = kernel->type_names[i];
        dtype given = given_type(s, name),
              first = s->k.c && s->k.c->types ? s->k.c->types[i].type : DTYPE_NONE;
        s->types[i] = (compiler_type_binding){name, given != DTYPE_NONE ? given : first};
    }
}

static bool solve_dims(run_session *s, status *st) {
    const compiler_kernel *kernel = s->k.kernel;
    int64_t *values = ARENA_NEW(&s->memory, int64_t, kernel->dim_count + 1);
    const kernel_arrays arrays = {kernel, s->graph, s->inputs};
    if (!dims_of_kernel(&arrays, (ir_bindings){s->given.dims, s->given.dim_count}, s->given_by,
                        values, st))
        return false;
    s->dims = ARENA_NEW(&s->memory, ir_binding, kernel->dim_count + 1);
    for (uint32_t i = 0; i < kernel->dim_count; i++)
        s->dims[i] = (ir_binding){kernel->dim_names[i], values[i]};
    return true;
}

/* Checks the kernel at these dimensions, as for a case. */
static bool check_values(run_session *s, text *diagnostics, status *st) {
    const compiler_kernel *kernel = s->k.kernel;
    const compiler_values values = {s->dims, kernel->dim_count, s->types, kernel->type_count};
    text_clear(diagnostics);
    return compiler_case_bind(s->k.source, kernel, &values, diagnostics) ||
           status_set(st, STATUS_INVALID, "the kernel does not check");
}

static bool prepare(run_session *s, const options *o, text *diagnostics, status *st) {
    const compiler_kernel *kernel = s->k.kernel;
    s->paths = ARENA_NEW(&s->memory, const char *, kernel->parameter_count + 1);
    s->inputs = tensors_new(kernel->parameter_count);
    if (!take_given(s, o, st) || !assign_inputs(s, o, st))
        return false;
    start_types(s);
    if (!complete_inputs(s, o, diagnostics, st) || !bind_types(s, st))
        return false;
    if (!check_kernel(s, diagnostics))
        return status_set(st, STATUS_INVALID, "the kernel does not check");
    if (!solve_dims(s, st) || !check_values(s, diagnostics, st))
        return false;
    s->instance = compiler_instance_new(s->graph, (ir_bindings){s->dims, kernel->dim_count});
    s->graph = NULL;
    if (!compiler_signature_of(s->instance, &s->signature, st))
        return false;
    return compiler_check_values(s->instance, s->inputs, st);
}

/* The case that the arrays make, with what was tuned for it. */
static bool take_tuned(run_session *s, status *st) {
    compiler_case c = case_of(s);
    kernel_choice k = s->k;
    c.dims = s->dims;
    c.dim_count = s->k.kernel->dim_count;
    c.types = s->types;
    c.type_count = s->k.kernel->type_count;
    k.c = &c;
    tuned_choices_take(s->tuned, &k, &s->build, &s->instance);
    return compiler_signature_of(s->instance, &s->signature, st); /* names are the instance's */
}

/* The steps, on a device that is open, or with none by the interpreter. */
static bool run_steps(run_session *s, const options *o, launch *device, bool *fails, status *st) {
    char digest[65];
    text formula;
    text_init(&formula);
    compiler_instance_formula(s->instance, &formula);
    const sha256 whole = sha256_of(formula.data, formula.length);
    sha256_hex(&whole, digest);
    text_release(&formula);
    int64_t(*shards)[SHARD_PART_DIMS] =
        arena_alloc(&s->memory, (s->signature.input_count + 1) * sizeof *shards);
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        compiler_shards(s->instance, i, shards[i]);
    step_plan plan = {.kernel = s->k.kernel->name,
                      .path = s->k.kernel->path,
                      .program = digest,
                      .shards = shards,
                      .retried = s->retried,
                      .from_kept = s->retries > 0,
                      .signature = &s->signature,
                      .inputs = s->inputs,
                      .device = device,
                      .instance = s->instance,
                      .counter = s->counter,
                      .steps = s->steps};
    steps_options(&plan, o);
    return steps_run(&plan, fails, st);
}

/* The dimensions and types that the arrays have, as a case. */
static void watch_case(run_session *s, const options *o) {
    const compiler_kernel *kernel = s->k.kernel;
    text dims;
    text_init(&dims);
    for (uint32_t i = 0; i < kernel->dim_count; i++)
        text_printf(&dims, "%s%s=%" PRId64, dims.length ? "," : "", s->dims[i].name,
                    s->dims[i].value);
    for (uint32_t i = 0; i < kernel->type_count; i++)
        text_printf(&dims, "%s%s=%s", dims.length ? "," : "", s->types[i].name,
                    dtype_name(s->types[i].type));
    const crash_case one = {.path = kernel->path,
                            .kernel = kernel->name,
                            .dims = dims.data ? dims.data : "",
                            .backend = backend_table[s->backend].name};
    crash_pack_watch(o, &one);
    text_release(&dims);
}

/* A module for each rank. */
static bool build_ours(run_session *s, compiler_artifact *out, status *st) {
    const uint32_t count = s->ranks > 1 ? s->ranks : 1;
    way_of_sums sums = {NULL, 0};
    bool cached;
    s->build.source_schedule = s->k.kernel->schedule;
    bool ok = count == 1 || way_of_sums_find(s->transport, count, &sums, st);
    for (uint32_t i = 0; i < count && ok; i++) {
        const shard_ranks own = {i, count, s->layout, sums.whole, sums.bucket_bytes};
        s->build.ranks = count > 1 ? &own : NULL;
        ok = module_cache_build(s->cache, s->instance, &s->build, &out[i], &cached, st);
    }
    s->build.ranks = NULL;
    free(sums.whole);
    return ok;
}

/* `folder`: for the program that the plugin compiles. */
static bool build_plugin(const run_session *s, scratch_folder *folder, compiler_artifact *out,
                         status *st) {
    if (!scratch_folder_open(folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    const implementation_request request = {.path = s->plugin->path,
                                            .symbol = s->k.kernel->name,
                                            .kernel = s->k.kernel->name,
                                            .folder = folder->path,
                                            .kind = s->plugin->kind,
                                            .threads = s->build.threads};
    return implementation_build(&request, s->instance, out, st);
}

static void release_modules(compiler_artifact *modules, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        compiler_artifact_release(&modules[i]);
    free(modules);
}

/* The ranks that there are, or, once some were lost, as many below them as divide over the axes of
 * the program. */
static bool build_some(run_session *s, compiler_artifact *modules, status *st) {
    const bool fewer = json_array_size(s->retried) > 0;
    bool ok = build_ours(s, modules, st);
    while (!ok && fewer && s->ranks > 1 && st->code == STATUS_UNAVAILABLE) {
        status_clear(st);
        s->ranks--;
        ok = build_ours(s, modules, st);
    }
    if (ok && fewer)
        run_retry_begin(s->retried, s->ranks);
    return ok;
}

/* *lost: a rank was. */
static bool launch_modules(run_session *s, const options *o, const compiler_artifact *modules,
                           bool *fails, bool *lost, status *st) {
    launch l = {0};
    launch_request request = {.device = s->device,
                              .threads = s->build.threads,
                              .kernel = s->k.kernel->name,
                              .foreign = s->plugin != NULL,
                              .constants = s->build.constants,
                              .rank_count = s->ranks > 1 ? s->ranks : 0,
                              .rank_modules = modules,
                              .transport = s->transport};
    launch_request_artifact(&request, modules);
    launch_request_buffers(&request, &s->signature);
    const bool ok = launch_open(&l, &request, st) && run_steps(s, o, &l, fails, st);
    *lost = !ok && l.ranks && launch_ranks_lost(l.ranks);
    launch_close(&l);
    return ok;
}

static bool run_compiled(run_session *s, const options *o, bool *fails, status *st) {
    scratch_folder folder = {0};
    bool ok = s->plugin || take_tuned(s, st), lost = true;
    if (!s->plugin) /* whose process is not this one */
        watch_case(s, o);
    while (ok && lost) {
        const uint32_t room = s->ranks > 1 ? s->ranks : 1;
        compiler_artifact *modules = base_calloc(room, sizeof *modules);
        lost = false;
        ok = (s->plugin ? build_plugin(s, &folder, modules, st) : build_some(s, modules, st)) &&
             launch_modules(s, o, modules, fails, &lost, st);
        release_modules(modules, room);
        if (lost && s->retries > 0) {
            s->retries--;
            ok = run_retry_note(s->retried, options_text(o, OPTION_KEEP, ""), s->ranks--, st);
            s->layout = NULL;
        }
    }
    scratch_folder_close(&folder);
    return ok;
}

static int run_kernel(run_session *s, const options *o) {
    text diagnostics;
    status st = STATUS_INIT;
    bool fails = false;
    text_init(&diagnostics);
    bool ok = prepare(s, o, &diagnostics, &st);
    say_diagnostics(stderr, ok ? "" : diagnostics.data);
    text_release(&diagnostics);
    ok = ok &&
         (backend_is_compiled(&backend_table[s->backend]) ? run_compiled(s, o, &fails, &st)
                                                          : run_steps(s, o, NULL, &fails, &st));
    tensors_free(s->inputs);
    ir_module_free(s->graph);
    compiler_instance_free(s->instance);
    int code = ok ? EXIT_DONE : command_fail(&st);
    crash_pack_failed(&st);
    crash_pack_end();
    return !ok ? code : fails ? EXIT_CHECK : EXIT_DONE;
}

static int choose_plugin(const options *o, const job_choice *choice, run_session *s) {
    status st = STATUS_INIT;
    uint32_t named = choice->implementation_count;
    for (int i = 0; i < BACKEND_COUNT; i++)
        named += choice->backends[i];
    if (named != 1)
        return command_usage(o->command, "one backend, please");
    s->plugin = &choice->implementations[0];
    s->backend = implementation_backend(s->plugin->kind);
    return backend_device(&backend_table[s->backend], NULL, &s->device, &st) ? EXIT_DONE
                                                                             : command_fail(&st);
}

/* One number of ranks, of code of ours. */
static int choose_ranks(const options *o, const job_choice *choice, run_session *s) {
    if (choice->rank_count > 1 || choice->transport_count > 1)
        return command_usage(o->command, "run takes one number of ranks, and one transport");
    s->ranks = choice->rank_count ? choice->ranks[0] : 0;
    s->transport = choice->transports[0];
    status st = STATUS_INIT;
    if (!options_number(o, OPTION_RETRIES, 0, 64, &s->retries, &st))
        return command_usage(o->command, "%s", st.message);
    if (s->retries && (s->ranks < 2 || !options_flag(o, OPTION_KEEP)))
        return command_usage(o->command,
                             "--retries goes with --ranks, of two or more, and --state");
    if (s->retries && mpi_job_ranks())
        return command_usage(o->command, "--retries: where mpirun has started tsr, it ends all "
                                         "ranks with the one that is lost; use --ranks");
    s->layout = choice->layout;
    if (s->ranks > 1 && (s->plugin || !backend_is_compiled(&backend_table[s->backend])))
        return command_usage(o->command,
                             "the interpreter and plugins have one rank: leave out --ranks");
    return EXIT_DONE;
}

/* One backend: cpu where none is named. */
static int choose_backend(const options *o, const job_choice *choice, run_session *s) {
    if (choice->implementation_count) {
        int code = COMMAND_REFUSE(o, "has no say: a plugin compiles by itself", OPTION_PROFILE,
                                  OPTION_DEVICE);
        code = code ? code : choose_plugin(o, choice, s);
        return code ? code : choose_ranks(o, choice, s);
    }
    int code = choice_one_backend(o, choice, &s->backend, &s->device);
    code = code ? code : choose_ranks(o, choice, s);
    if (code == EXIT_DONE)
        s->build.isa =
            backend_target_for(&backend_table[s->backend], s->build.isa, choice->own[s->backend]);
    return code;
}

int command_run(const options *o) {
    if (o->arguments.count != 1)
        return command_usage(o->command, "run takes one file");
    const char *path = o->arguments.items[0];
    run_session s = {.case_asked = options_flag(o, OPTION_CASE)};
    uint64_t steps = 0;
    status st = STATUS_INIT;
    if (!options_number(o, OPTION_STEPS, 1, INT32_MAX, &steps, &st))
        return command_usage(o->command, "%s", st.message);
    if ((options_flag(o, OPTION_KEEP) || options_flag(o, OPTION_STEP_EXPORT)) && !steps)
        return command_usage(o->command, "--state and --export go with --steps N");
    if (!step_log_check(o, &st))
        return command_usage(o->command, "%s", st.message);
    const int limited = crash_pack_limit(o);
    if (limited)
        return limited;
    if (run_module_is(path))
        return run_module(o, (int64_t)steps);
    s.steps = (int64_t)steps;
    s.retried = json_array();
    tuned_choices tuned;
    job_choice choice;
    int code = options_flag(o, OPTION_DIMS)
                   ? COMMAND_REFUSE(o, "and --dims exclude each other", OPTION_CASE)
                   : EXIT_DONE;
    code = code ? code : kernel_choice_options(o, &choice, &s.build);
    s.cache = code == EXIT_DONE && choice.cache[0] ? choice.cache : NULL;
    code = code ? code : tuned_check(o);
    code = code ? code : choose_backend(o, &choice, &s);
    code = code ? code : kernel_choice_source(o, s.cache, path, &s.source);
    code = code ? code : kernel_choice_one(o, s.source, path, &s.k);
    s.arrays = s.k.c ? *s.k.c : (compiler_case){.name = "arrays"};
    s.arrays.constant_count = 0;
    if (code == EXIT_DONE && o->chosen) /* once more, which is as good as before */
        s.arrays = *compiler_case_choose(s.source, s.k.kernel, &s.arrays, o->chosen, &st);
    arena_init(&s.memory);
    tuned_choices_open(&tuned, o);
    s.tuned = &tuned;
    code = code ? code : run_kernel(&s, o);
    tuned_choices_release(&tuned);
    json_decref(s.retried);
    arena_release(&s.memory);
    compiler_close(s.source);
    return code;
}
