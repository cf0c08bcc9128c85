/* choice.c - resolves the options that several commands share. */
#include "cli/choice.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/named.h"
#include "cli/shard_choice.h"
#include "common/say.h"
#include "device/host/host.h"
#include "exec/backend_device.h"
#include "exec/module_cache.h"
#include "job/fault.h"

/* Backends that cannot run here are told (once), not failed. Most machines have no GPU, and that is
 * no news. */
static void take_backend(int id, job_choice *out) {
    static bool told[BACKEND_COUNT];
    uint32_t device;
    status st = STATUS_INIT;
    out->backends[id] =
        backend_device_ask(&backend_table[id], out->device, &device, &out->own[id], &st);
    if (!out->backends[id] && !told[id] && !backend_is_for_device(&backend_table[id]))
        say(stderr, "tsr: left out: %s\n", st.message);
    told[id] = true;
}

/* All that can run here. */
static void take_all_backends(bool compiled, job_choice *out) {
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (backend_table[i].product && (!compiled || backend_is_compiled(&backend_table[i])))
            take_backend(i, out);
}

/* Commands that take the processor's where none is named: to look for the devices of all others
 * starts a process for each, which opens the libraries of its driver. */
static bool is_for_one(command_id command) {
    return command == COMMAND_RUN || !option_applies(OPTION_BACKEND, command);
}

static bool has_backend(const job_choice *choice) {
    bool found = false;
    for (int i = 0; i < BACKEND_COUNT; i++)
        found |= choice->backends[i];
    return found;
}

static bool takes_plugins(command_id command) {
    return command == COMMAND_BENCH || command == COMMAND_GOLDEN || command == COMMAND_RUN;
}

/* A plugin of PJRT is a column like those of --with, and is opened with them. */
static int check_plugin(const options *o, const char *word) {
    return takes_plugins(o->command)
               ? EXIT_DONE
               : command_usage(
                     o->command,
                     "--backend %s: plugins of PJRT are backends of bench, golden "
                     "verify, diff and run; check, fuzz, gate and pack-repro take one by --with %s",
                     word, word);
}

const char *choice_backend_names(const options *o) {
    const char *environment = getenv("TESSERA_BACKEND");
    return options_text(o, OPTION_BACKEND, environment && *environment ? environment : NULL);
}

static int take_named(const options *o, const char *word, job_choice *out) {
    backend_id id;
    const char *own = NULL;
    int code = named_backend(o, word, out->device, &id, &own);
    if (code)
        return code;
    out->backends[id] = true;
    out->own[id] = own;
    return EXIT_DONE;
}

static int take_backends(const options *o, arena *memory, job_choice *out) {
    const char *words = choice_backend_names(o);
    bool asked = words != NULL;
    if (!asked && is_for_one(o->command)) {
        take_backend(BACKEND_CPU, out);
        return EXIT_DONE;
    }
    if (!asked && o->command == COMMAND_BENCH) { /* what is compiled is held against the rest */
        take_all_backends(true, out);
        if (!has_backend(out))
            take_all_backends(false, out);
        return EXIT_DONE;
    }
    string_list names = {0};
    options_split(asked ? words : "all", memory, &names);
    int code = EXIT_DONE;
    for (size_t i = 0; i < names.count && code == EXIT_DONE; i++) {
        out->by_name |= strcmp(names.items[i], "all") != 0;
        if (strcmp(names.items[i], "all") == 0)
            take_all_backends(false, out);
        else if (implementation_is_plugin(names.items[i]))
            code = check_plugin(o, names.items[i]);
        else
            code = take_named(o, names.items[i], out);
    }
    vec_release(&names);
    return code;
}

/* Code for a GPU was asked for by name, and so was a device that runs it. */
static bool has_device(const implementation *i, const job_choice *choice, status *st) {
    const char *own;
    uint32_t device;
    const backend *b = &backend_table[implementation_backend(i->kind)];
    return implementation_has_guest(i->kind) ||
           backend_device_ask(b, choice->device, &device, &own, st) ||
           status_set(st, st->code, "--with %s", i->path);
}

static int take_implementation(const options *o, const char *given, job_choice *out) {
    status st = STATUS_INIT;
    implementation *i = &out->implementations[out->implementation_count++];
    if (!implementation_open(i, given, &st))
        return command_fail(&st);
    if (!has_device(i, out, &st))
        return st.code == STATUS_INVALID ? command_usage(o->command, "%s", st.message)
                                         : command_fail(&st);
    int same = 1;
    for (uint32_t k = 0; k + 1 < out->implementation_count; k++)
        same += strcmp(out->implementations[k].name, i->name) == 0;
    if (same > 1 || backend_from_name(i->name) != BACKEND_COUNT)
        implementation_number(i, same);
    return EXIT_DONE;
}

/* --with; kept until the program ends. */
static struct {
    implementation *items;
    size_t count;
} kept;

static void release_kept(void) {
    for (size_t i = 0; i < kept.count; i++)
        implementation_release(&kept.items[i]);
    free(kept.items);
}

static int take_implementations(const options *o, arena *memory, job_choice *out) {
    const string_list *with = &o->values[OPTION_WITH].values;
    const char *words = choice_backend_names(o);
    string_list given = {0}, backends = {0};
    int code = EXIT_DONE;
    if (words && takes_plugins(o->command))
        options_split(words, memory, &backends);
    for (size_t i = 0; i < backends.count; i++)
        if (implementation_is_plugin(backends.items[i]))
            vec_push(&given, backends.items[i]);
    for (size_t i = 0; i < with->count; i++)
        vec_push(&given, with->items[i]);
    if (given.count) {
        kept.count = given.count;
        kept.items = base_calloc(given.count, sizeof *kept.items);
        out->implementations = kept.items;
        (void)atexit(release_kept);
    }
    for (size_t i = 0; i < given.count && code == EXIT_DONE; i++)
        code = take_implementation(o, given.items[i], out);
    vec_release(&backends);
    vec_release(&given);
    return code;
}

static int take_profiles(const options *o, const char *words, arena *memory, job_choice *out) {
    string_list names = {0};
    out->profiles_by_name = options_flag(o, OPTION_PROFILE);
    options_split(options_text(o, OPTION_PROFILE, words), memory, &names);
    int code = EXIT_DONE;
    for (size_t i = 0; i < names.count && code == EXIT_DONE; i++) {
        compiler_profile profile = profile_from_name(names.items[i]);
        bool all = strcmp(names.items[i], "all") == 0;
        for (int k = 0; k < PROFILE_COUNT && (all || profile != PROFILE_COUNT); k++)
            out->profiles[k] |= all || k == (int)profile;
        if (!all && profile == PROFILE_COUNT) {
            static const char *const known[] = {"strict", "deterministic", "fast", "all"};
            code = named_unknown(o, "profile", names.items[i], known, 4);
        }
    }
    vec_release(&names);
    return code;
}

static int take_threads(const options *o, arena *memory, job_choice *out) {
    string_list words = {0};
    /* One thread is what noise disturbs least. */
    options_split(options_text(o, OPTION_THREADS, o->command == COMMAND_GATE ? "1" : "all"), memory,
                  &words);
    int code = EXIT_DONE;
    for (size_t i = 0; i < words.count && code == EXIT_DONE; i++) {
        char *end = NULL;
        unsigned long threads = strcmp(words.items[i], "all") == 0
                                    ? host_usable_cores()
                                    : strtoul(words.items[i], &end, 10);
        if ((end && *end) || threads < 1 || threads > 256 || out->thread_count == JOB_THREADS_MAX)
            code = command_usage(
                o->command, "--threads wants numbers from 1 to 256, at most %d of them, not '%s'",
                JOB_THREADS_MAX, words.items[i]);
        bool known = false;
        for (uint32_t k = 0; k < out->thread_count; k++)
            known |= out->threads[k] == threads;
        if (code == EXIT_DONE && !known)
            out->threads[out->thread_count++] = (uint32_t)threads;
    }
    vec_release(&words);
    return code;
}

/* ---- what does not go together ---- */

static bool honours_one(const job_choice *c, backend_id id) {
    for (int k = 0; k < PROFILE_COUNT; k++)
        if (c->profiles[k] &&
            backend_honours(&backend_table[id], compiler_profile_name((compiler_profile)k)))
            return true;
    return false;
}

/* A backend does not run under a profile that nobody asked for: one that was named is refused, one
 * of all is left out. */
static int check_profiles(const options *o, job_choice *c) {
    bool told = o->command == COMMAND_BENCH || o->command == COMMAND_GOLDEN;
    size_t left = 0;
    status st = STATUS_INIT;
    for (int id = 0; id < BACKEND_COUNT; id++) {
        const backend *b = &backend_table[id];
        left += c->backends[id] && honours_one(c, (backend_id)id);
        if (!c->backends[id] || honours_one(c, (backend_id)id))
            continue;
        if (c->by_name)
            status_set(&st, STATUS_UNAVAILABLE, "backend %s has no such profile, only %s", b->name,
                       b->profiles);
        else if (told)
            say(stderr, "tsr: left out: backend %s, which has no such profile, only %s\n", b->name,
                b->profiles);
        c->backends[id] = false;
    }
    if (left == 0 && !c->implementation_count)
        status_set(&st, STATUS_UNAVAILABLE, "no backend that can run here has such a profile");
    return st.code == STATUS_OK ? EXIT_DONE : command_fail(&st);
}

/* Plugins compile by themselves: no option of our compiler is for them. */
static bool has_plugins_alone(const job_choice *c) {
    bool alone = c->implementation_count > 0;
    for (uint32_t i = 0; i < c->implementation_count; i++)
        alone &= implementation_is_backend(c->implementations[i].kind);
    return alone;
}

/* Options of what we compile, where nothing is compiled by us. */
static int check_backends(const options *o, const job_choice *c) {
    static const char why[] = "is for code that tsr compiles, and no backend with such was chosen";
    bool ours = false, tools = false;
    for (int id = 0; id < BACKEND_COUNT; id++) {
        tools |= c->backends[id] && backend_is_tools(&backend_table[id]);
        ours |= c->backends[id] && backend_has_device(&backend_table[id]);
    }
    if (ours || !c->by_name || (c->implementation_count && !has_plugins_alone(c)))
        return EXIT_DONE;
    int code =
        COMMAND_REFUSE(o, why, OPTION_ISA, OPTION_SCHEDULE, OPTION_GENERIC, OPTION_NO_CACHE,
                       OPTION_TUNED, OPTION_NO_TUNED, OPTION_ORDER_PROBE, OPTION_CHECK_BOUNDS);
    if (!code && !tools)
        code = COMMAND_REFUSE(o, why, OPTION_UNOPTIMISED, OPTION_INJECT);
    if (!code && !c->implementation_count && (c->thread_count != 1 || c->threads[0] != 1))
        code = COMMAND_REFUSE(o, why, OPTION_THREADS);
    return code;
}

/* One that was named is refused, one of all is left out, like one without the profile. */
static int check_bounds(const options *o, job_choice *c) {
    for (int id = 0; id < BACKEND_COUNT && c->check_bounds; id++) {
        const backend *b = &backend_table[id];
        if (!c->backends[id] || !backend_is_compiled(b) || backend_checks_bounds(b))
            continue;
        if (c->by_name)
            return command_usage(o->command,
                                 "--check-bounds is for CPUs and emulated chips, and backend %s is "
                                 "neither",
                                 b->name);
        say(stderr, "tsr: left out: backend %s, whose accesses are not checked\n", b->name);
        c->backends[id] = false;
    }
    return EXIT_DONE;
}

/* Ours keeps to derived bounds, and what promises bits has no tolerance. */
static int check_tolerance(const options *o, const job_choice *c) {
    double share;
    status st = STATUS_INIT;
    if (!options_real(o, OPTION_TOLERANCE, 1e-12, 1, &share, &st))
        return command_usage(o->command, "%s", st.message);
    int code = c->implementation_count
                   ? EXIT_DONE
                   : COMMAND_REFUSE(o, "is for code of others, that of --with", OPTION_TOLERANCE);
    return code || !c->profiles_by_name || c->profiles[PROFILE_FAST]
               ? code
               : COMMAND_REFUSE(o, "is for --profile fast", OPTION_TOLERANCE);
}

static int check_choice(const options *o, job_choice *c) {
    if (c->order_probe && !c->profiles[PROFILE_STRICT]) {
        c->order_probe = false;
        int code =
            COMMAND_REFUSE(o, "is for strict code: add --profile strict", OPTION_ORDER_PROBE);
        if (code)
            return code;
    }
    int refused = check_tolerance(o, c);
    if (refused || !option_applies(OPTION_BACKEND, o->command))
        return refused;
    int code = check_profiles(o, c);
    code = code ? code : check_bounds(o, c);
    return code ? code : check_backends(o, c);
}

/* ---- levels ---- */

/* The level of that name, in static storage; NULL: there is none. */
static const char *level_named(const char *word) {
    const char *const *levels;
    uint32_t count = compiler_level_names(&levels);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(levels[i], word) == 0)
            return levels[i];
    return strcmp(word, "native") == 0 ? host_isa() : NULL;
}

static int unknown_level(const options *o, const char *word) {
    const char *const *levels, *names[COMPILER_LEVELS_MAX + 1];
    uint32_t count = compiler_level_names(&levels);
    memcpy(names, levels, count * sizeof *names);
    names[count] = "native";
    return named_unknown(o, "ISA level", word, names, count + 1);
}

static int take_level(const options *o, const char *word, job_choice *out) {
    const char *level = level_named(word);
    if (!level)
        return unknown_level(o, word);
    if (!out->isa)
        out->isa = level;
    else if (out->also_count < COMPILER_LEVELS_MAX)
        out->also[out->also_count++] = level;
    return EXIT_DONE;
}

/* Code for any level can be made here, and run where this machine has it. */
static int take_isa(const options *o, arena *memory, job_choice *out) {
    const char *word = options_text(o, OPTION_ISA, "native");
    string_list words = {0};
    if (strcmp(word, "native") == 0)
        return EXIT_DONE;
    options_split(word, memory, &words);
    int code = words.count ? EXIT_DONE : unknown_level(o, word);
    for (size_t i = 0; i < words.count && code == EXIT_DONE; i++)
        code = take_level(o, words.items[i], out);
    vec_release(&words);
    if (code || o->command == COMMAND_COMPILE)
        return code;
    if (out->also_count)
        return command_usage(o->command, "one ISA level, please");
    char reason[COMPILER_REASON_BYTES];
    status st = STATUS_INIT;
    if (compiler_emulated_target(out->isa) || compiler_target_runs(out->isa, reason))
        return EXIT_DONE;
    status_set(&st, STATUS_UNAVAILABLE, "code for %s cannot run here: %s", out->isa, reason);
    return command_fail(&st);
}

/* Without one, everything is compiled. */
static void take_cache(const options *o, job_choice *out) {
    status st = STATUS_INIT;
    bool uses = option_applies(OPTION_NO_CACHE, o->command) && !options_flag(o, OPTION_NO_CACHE);
    char *folder = uses ? module_cache_folder(&st) : NULL;
    if (st.code != STATUS_OK)
        say(stderr, "tsr: %s\n", st.message);
    if (folder && strlen(folder) < sizeof out->cache)
        snprintf(out->cache, sizeof out->cache, "%s", folder);
    free(folder);
}

/* FAULT[@KERNEL[/CASE]]: the fault is known; whether the case is there is seen in the plan. */
static int take_inject(const options *o, job_choice *out) {
    const char *names[FAULTS_MAX];
    size_t count = 0;
    out->inject = options_text(o, OPTION_INJECT, NULL);
    out->fault = out->inject ? out->inject : getenv("TSR_INJECT");
    if (!out->fault)
        return EXIT_DONE;
    size_t length = strcspn(out->fault, "@");
    if (fault_find(out->fault, length))
        return EXIT_DONE;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), out->fault);
    while (count < FAULTS_MAX && (names[count] = fault_name(count)))
        count++;
    return named_unknown(o, "fault", word, names, count);
}

static int check_dims(const options *o, arena *memory) {
    const char *words = options_text(o, OPTION_DIMS, NULL);
    compiler_values values;
    status st = STATUS_INIT;
    return !words || compiler_values_read(words, memory, &values, &st)
               ? EXIT_DONE
               : command_usage(o->command, "--dims: %s", st.message);
}

int choice_make(const options *o, const char *profiles, uint64_t timeout_seconds, job_choice *out) {
    arena memory;
    status st = STATUS_INIT;
    *out = (job_choice){.device = options_text(o, OPTION_DEVICE, NULL),
                        .seed = 1,
                        .timeout_seconds = timeout_seconds,
                        .quick = options_flag(o, OPTION_QUICK),
                        .unoptimised = options_flag(o, OPTION_UNOPTIMISED),
                        .check_bounds = options_flag(o, OPTION_CHECK_BOUNDS),
                        .generic = options_flag(o, OPTION_GENERIC),
                        .constants = options_text(o, OPTION_CONSTANT, NULL),
                        .schedule = options_text(o, OPTION_SCHEDULE, NULL),
                        .space = o->chosen,
                        .cold = options_flag(o, OPTION_COLD),
                        .tolerance = options_text(o, OPTION_TOLERANCE, NULL),
                        .sentinels = options_flag(o, OPTION_SENTINELS),
                        .order_probe = options_flag(o, OPTION_ORDER_PROBE)};
    if (!options_number(o, OPTION_SEED, 0, INT64_MAX, &out->seed, &st) ||
        !options_number(o, OPTION_TIMEOUT, 1, 1000000, &out->timeout_seconds, &st) ||
        !options_number(o, OPTION_MEMORY, 1, 1u << 30, &out->memory_mib, &st))
        return command_usage(o->command, "%s", st.message);
    arena_init(&memory);
    int code = take_backends(o, &memory, out);
    code = code ? code : take_implementations(o, &memory, out);
    code = code ? code : take_profiles(o, profiles, &memory, out);
    code = code ? code : take_threads(o, &memory, out);
    code = code ? code : choice_ranks(o, &memory, out);
    code = code ? code : check_choice(o, out);
    code = code ? code : take_isa(o, &memory, out);
    code = code ? code : take_inject(o, out);
    code = code ? code : check_dims(o, &memory);
    if (!code)
        take_cache(o, out);
    arena_release(&memory);
    return code;
}

int choice_compiled(job_choice *choice) {
    status st = STATUS_INIT;
    uint32_t device;
    memset(choice->backends, 0, sizeof choice->backends);
    choice->backends[BACKEND_CPU] = true;
    return backend_device(&backend_table[BACKEND_CPU], NULL, &device, &st) ? EXIT_DONE
                                                                           : command_fail(&st);
}

int choice_tuned(job_choice *choice) {
    const backend *without = NULL;
    text known;
    if (!choice->by_name)
        return choice_compiled(choice);
    text_init(&known);
    for (int i = 0; i < BACKEND_COUNT; i++) {
        const backend *b = &backend_table[i];
        if (backend_is_ours(b))
            text_printf(&known, "%s%s", known.length ? ", " : "", b->name);
        else if (choice->backends[i])
            without = b;
    }
    status st = STATUS_INIT;
    if (without)
        status_set(&st, STATUS_UNAVAILABLE,
                   "tsr tune turns schedules, and what backend %s runs has none; those that have: "
                   "%s",
                   without->name, known.data);
    text_release(&known);
    return without ? command_fail(&st) : EXIT_DONE;
}

int choice_one_backend(const options *o, const job_choice *choice, backend_id *id,
                       uint32_t *device) {
    status st = STATUS_INIT;
    int chosen = 0;
    *id = BACKEND_CPU;
    for (int i = 0; i < BACKEND_COUNT && choice->by_name; i++)
        if (choice->backends[i]) {
            *id = (backend_id)i;
            chosen++;
        }
    if (choice->by_name && chosen != 1)
        return command_usage(o->command, "one backend, please");
    const backend *b = &backend_table[*id];
    if (backend_is_tools(b))
        status_set(&st, STATUS_UNAVAILABLE, "backend %s takes part in bench and golden alone",
                   b->name);
    else if (backend_device(b, choice->device, device, &st))
        return EXIT_DONE;
    return command_fail(&st);
}

/* The command, and what stands before its paths. */
static const char *line_begin(const options *o, size_t first, arena *memory) {
    const char *begin = arena_printf(memory, "tsr %s", command_table[o->command].name);
    for (size_t i = 0; i < first && i < o->arguments.count; i++)
        begin = arena_printf(memory, "%s %s", begin, o->arguments.items[i]);
    return begin;
}

void choice_query(const options *o, size_t first, arena *memory, corpus_query *query) {
    static const char *const usual[] = {"corpus"};
    string_list filters = {0};
    for (size_t i = 0; i < o->values[OPTION_FILTER].values.count; i++)
        options_split(o->values[OPTION_FILTER].values.items[i], memory, &filters);
    bool given = o->arguments.count > first;
    *query =
        (corpus_query){.paths = given ? o->arguments.items + first : usual,
                       .path_count = given ? o->arguments.count - first : 1,
                       .filter_count = filters.count,
                       .golden = options_text(o, OPTION_GOLDEN, NULL),
                       .dims = options_text(o, OPTION_DIMS, NULL),
                       .begin = line_begin(o, first, memory),
                       .usual = !given,
                       .skip_large = options_flag(o, OPTION_QUICK) ||
                                     ((o->command == COMMAND_FUZZ || o->command == COMMAND_DIFF) &&
                                      filters.count == 0),
                       .colour = command_colour(o, stderr)};
    if (filters.count)
        query->filters = arena_copy(memory, filters.items, filters.count * sizeof *filters.items);
    vec_release(&filters);
}

int choice_space(const options *o, corpus *c) {
    const char *words = o->chosen;
    status st = STATUS_INIT;
    return !words || corpus_choose(c, words, &st)
               ? EXIT_DONE
               : command_usage(o->command, "--space, --constants: %s", st.message);
}

int choice_corpus_beside(const options *o, size_t first, const char *golden, corpus *out) {
    arena memory;
    corpus_query query;
    text diagnostics;
    status st = STATUS_INIT;
    arena_init(&memory);
    text_init(&diagnostics);
    choice_query(o, first, &memory, &query);
    query.golden = golden ? golden : query.golden;
    bool ok = corpus_load(out, &query, &diagnostics, &st);
    if (!golden)
        say_diagnostics(stderr, diagnostics.data);
    text_release(&diagnostics);
    arena_release(&memory);
    return ok ? choice_space(o, out) : command_fail(&st);
}

int choice_corpus(const options *o, size_t first, corpus *out) {
    int code = choice_corpus_beside(o, first, NULL, out);
    return code ? code : shard_choice_take(o, out);
}
