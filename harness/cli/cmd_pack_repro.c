/* cmd_pack_repro.c - tsr pack-repro: one case, run again and packed; or one recorded call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "capture/stream.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/database.h"
#include "cli/own_inputs.h"
#include "common/command_line.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/output.h"
#include "common/say.h"
#include "exec/backend_device.h"
#include "exec/worker.h"
#include "job/fault.h"
#include "job/result.h"
#include "run/pack_call.h"
#include "run/pack_case.h"
#include "run/pack_fields.h"
#include "run/pack_sign.h"
#include "store/store.h"

/* The wanted case, from a stored run or from the command line. */
typedef struct wanted {
    const char *name; /* "kernel/case[@backend[,profile]]"; NULL: the last failure */
    json_t *record;   /* of the stored result; NULL where the case is named directly */
    json_t *run_arguments;
    char filter[512]; /* "kernel/case"; "kernel" where --dims makes the case */
    int64_t run;
} wanted;

static bool is_named(const char *key, const char *name) {
    size_t length = strlen(name);
    return strncmp(key, name, length) == 0 &&
           (key[length] == '\0' || key[length] == '@' || key[length] == ',');
}

/* The first failure that the name means; else its first result. Without a name, the last failure.
 */
static bool take_result(void *context, const store_result *stored) {
    wanted *w = context;
    json_t *record = json_loads(stored->record, 0, NULL);
    bool fails = record && pack_is_failure(record);
    bool meant = record && (w->name ? is_named(stored->key, w->name) : fails);
    bool better = meant && (!w->record || !w->name || (fails && !pack_is_failure(w->record)));
    if (better) {
        json_decref(w->record);
        w->record = json_incref(record);
    }
    json_decref(record);
    return true;
}

static bool take_arguments(void *context, const store_run *run) {
    wanted *w = context;
    if (run->number != w->run)
        return true;
    w->run_arguments = json_loads(run->arguments, 0, NULL);
    return false;
}

static bool read_run(const options *o, const char *run, wanted *w, status *st) {
    store *s = store_open_existing(database_path(o), st);
    if (!s)
        return st->code == STATUS_OK
                   ? status_set(st, STATUS_NOT_FOUND, "there is no database %s", database_path(o))
                   : false;
    bool ok = store_find_run(s, run, &w->run, st) && store_each_run(s, take_arguments, w, st) &&
              store_each_result(s, w->run, take_result, w, st);
    store_close(s);
    if (ok && !w->record)
        ok = w->name ? status_set(st, STATUS_NOT_FOUND, "run %s has no result %s", run, w->name)
                     : status_set(st, STATUS_NOT_FOUND, "nothing failed in the last run");
    if (ok)
        snprintf(w->filter, sizeof w->filter, "%s/%s", result_string(w->record, RESULT_KERNEL),
                 result_string(w->record, RESULT_CASE));
    return ok;
}

/* ---- the job ---- */

static bool load(const options *o, const wanted *w, corpus *c, status *st) {
    static const char *const usual[] = {"corpus"};
    const char *filters[] = {w->filter}, *paths[64];
    size_t count = 0, i;
    json_t *path;
    text diagnostics;
    json_array_foreach(json_object_get(w->run_arguments, "paths"), i, path) if (count < 64)
        paths[count++] = json_string_value(path);
    for (i = 1; !w->record && i < o->arguments.count && count < 64; i++)
        paths[count++] = o->arguments.items[i];
    arena memory;
    arena_init(&memory);
    corpus_query query = {
        .paths = count ? paths : usual,
        .path_count = count ? count : 1,
        .filters = filters,
        .filter_count = 1,
        .golden = options_text(o, OPTION_GOLDEN, NULL),
        .dims = w->record ? json_string_value(json_object_get(w->run_arguments, "dims"))
                          : options_text(o, OPTION_DIMS, NULL),
        .begin =
            w->record ? NULL : arena_printf(&memory, "tsr pack-repro %s", o->arguments.items[0]),
        .colour = command_colour(o, stderr)};
    text_init(&diagnostics);
    bool ok = corpus_load(c, &query, &diagnostics, st);
    say_diagnostics(stderr, diagnostics.data);
    text_release(&diagnostics);
    arena_release(&memory);
    return ok;
}

/* Takes the code of others; what was chosen for ours is not for it. */
static void as_of_others(const json_t *recorded, job *j) {
    implementation_kind kind = implementation_kind_from_name(json_text_at(recorded, "kind"));
    j->implementation = json_string_value(json_object_get(recorded, "path"));
    j->implementation_kind = (uint32_t)kind;
    j->implementation_symbol = json_string_value(json_object_get(recorded, "symbol"));
    j->isa = j->schedule = j->constants = j->fault = NULL;
    j->unoptimised = j->check_bounds = j->generic = j->tuned = j->held = false;
}

/* As it ran: what the record and its run's arguments say replaces what was chosen. */
static void as_recorded(const wanted *w, job *j) {
    const json_t *record = w->record;
    json_t *seed = json_object_get(w->run_arguments, "seed");
    j->backend = result_string(record, RESULT_BACKEND);
    j->device = result_string(record, RESULT_DEVICE);
    j->profile = result_string(record, RESULT_PROFILE);
    j->threads = (uint32_t)json_integer_value(result_get(record, RESULT_THREADS));
    j->isa = json_string_value(json_object_get(w->run_arguments, "isa"));
    j->fault = result_string(record, RESULT_FAULT);
    j->unoptimised = json_is_true(json_object_get(w->run_arguments, "unoptimised"));
    j->check_bounds = json_is_true(json_object_get(w->run_arguments, "check_bounds"));
    j->sentinels = json_is_true(json_object_get(w->run_arguments, "sentinels"));
    j->schedule = result_string(record, RESULT_SCHEDULE_VALUES);
    j->space = result_string(record, RESULT_SPACE);
    j->tuned = strcmp(result_text(record, RESULT_SCHEDULE), "tuned") == 0;
    j->held = j->tuned && !*json_text_at(w->run_arguments, "space");
    j->generic = json_is_true(json_object_get(w->run_arguments, "generic"));
    j->constants = result_string(record, RESULT_CONSTANTS);
    j->seed = json_is_integer(seed) ? (uint64_t)json_integer_value(seed) : j->seed;
    pack_take_set(record, j);
    const json_t *code = result_get(record, RESULT_IMPLEMENTATION);
    if (code)
        as_of_others(code, j);
}

/* That of --with; the chosen backend's; the first that compiles where none was named. */
static const job *choose(const job_plan *p, const job_choice *choice) {
    for (size_t i = 0; i < p->jobs.count; i++)
        if (choice->implementation_count
                ? p->jobs.items[i].implementation != NULL
                : choice->by_name || backend_is_compiled(backend_named(p->jobs.items[i].backend)))
            return &p->jobs.items[i];
    return p->jobs.count ? &p->jobs.items[0] : NULL;
}

/* Signs a pack that is there, where --sign asks for it. */
static int sign_made(const options *o, const char *pack, bool of_others) {
    status st = STATUS_INIT;
    char keyid[SIGN_KEYID_BYTES];
    const char *key = options_text(o, OPTION_SIGN, NULL);
    if (!key)
        return EXIT_DONE;
    if (!pack_sign(pack, of_others, key, keyid, &st))
        return command_fail(&st);
    say(stderr, "signed by %s: %s" SIGN_SUFFIX "\n", keyid, pack);
    return EXIT_DONE;
}

static int run_and_pack(const options *o, const job_choice *choice, job j) {
    worker w;
    status st = STATUS_INIT;
    text path, lacks;
    j.mode = JOB_REPLAY;
    j.quick = true;
    interrupt_watch();
    worker_init(&w, choice->timeout_seconds, choice->memory_mib, &interrupt_seen);
    json_t *result = worker_run(&w, &j);
    if (!result) {
        worker_stop(&w);
        return EXIT_INTERRUPTED;
    }
    pack_request request = {.job = &j,
                            .result = result,
                            .stage = w.stage,
                            .failures = options_text(o, OPTION_FAILURES, NULL),
                            .output = options_text(o, OPTION_OUTPUT, NULL),
                            .timeout_seconds = choice->timeout_seconds,
                            .memory_mib = choice->memory_mib,
                            .lacks = &lacks};
    text_init(&path);
    text_init(&lacks);
    int code = pack_case(&request, &path, &st) ? EXIT_DONE : command_fail(&st);
    code = code ? code : sign_made(o, path.data, j.implementation != NULL);
    if (code == EXIT_DONE && interrupt_settle()) {
        const char *why = result_string(result, RESULT_WHY);
        say(stderr, "%s/%s on %s: %s%s%s\n", j.kernel, j.case_name, j.backend,
            result_string(result, RESULT_STATUS), why ? ": " : "", why ? why : "");
        if (lacks.length)
            say(stderr, "this pack lacks: %s\n", lacks.data);
        say(stdout, "%s\n", path.data);
    }
    worker_stop(&w);
    text_release(&lacks);
    text_release(&path);
    json_decref(result);
    return code;
}

/* A file of a record may be gone since; of one that was changed, what is packed is new. */
static bool has_file(const job *j, const implementation_digest_of *file, const json_t *code,
                     status *st) {
    const char *recorded = json_string_value(json_object_get(code, file->key));
    if (!file->sha256[0])
        return status_set(st, STATUS_UNAVAILABLE, "%s, which ran as %s, cannot be read any more",
                          file->path, j->backend);
    if (recorded && strcmp(recorded, file->sha256) != 0)
        say(stderr, "tsr: %s is not what it was when it ran: it is packed as it is\n", file->path);
    return true;
}

/* Arrays of the user's own may lie anywhere now. */
static bool has_inputs(const json_t *record, status *st) {
    return !result_get(record, RESULT_INPUTS) ||
           status_set(st, STATUS_UNAVAILABLE,
                      "%s/%s ran on arrays of the user's own, which are not in the database: tsr "
                      "pack-repro %s --dims ... --inputs NAME=FILE.npy ... PATH",
                      result_text(record, RESULT_KERNEL), result_text(record, RESULT_CASE),
                      result_text(record, RESULT_KERNEL));
}

static bool has_code(const job *j, const json_t *record, status *st) {
    const json_t *code = result_get(record, RESULT_IMPLEMENTATION);
    implementation_digest_of files[IMPLEMENTATION_FILES_MAX];
    arena memory;
    if (!code || !implementation_is_file(j->implementation))
        return true;
    arena_init(&memory);
    uint32_t count = implementation_digests(
        j->implementation, (implementation_kind)j->implementation_kind, &memory, files);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = has_file(j, &files[i], code, st);
    arena_release(&memory);
    return ok;
}

/* A record may be damaged, and its backend may be missing here. */
static bool is_sound(const job *j, const job_choice *choice, status *st) {
    text why;
    uint32_t device;
    const char *own;
    json_t *item = pack_case_json(j, choice->timeout_seconds, choice->memory_mib);
    text_init(&why);
    bool ok = pack_fields_check_part(item, "case", &why) ||
              status_set(st, STATUS_CORRUPT, "the record of %s/%s is damaged: %s", j->kernel,
                         j->case_name, why.data);
    text_release(&why);
    json_decref(item);
    if (!ok)
        return false;
    backend_id id = j->implementation
                        ? implementation_backend((implementation_kind)j->implementation_kind)
                        : backend_from_name(j->backend);
    return id == BACKEND_COUNT
               ? status_set(st, STATUS_UNAVAILABLE, "no backend is called %s here", j->backend)
               : backend_device_ask(&backend_table[id], j->device, &device, &own, st);
}

static int pack_loaded(const options *o, const job_choice *choice, const wanted *w, const corpus *c,
                       const own_inputs *own) {
    status st = STATUS_INIT;
    job_plan p;
    int code;
    job_plan_make(&p, c, choice, JOB_REPLAY);
    const job *chosen = choose(&p, choice);
    if (chosen && choice->inject && !chosen->fault && !w->record) {
        status_set(&st, STATUS_INVALID, "--inject %s: it does not mean %s", choice->inject,
                   w->filter);
        code = command_fail(&st);
    } else if (!job_plan_has_formulas(&p, &st) ||
               (!w->record && !job_plan_covers(&p, choice, &st))) {
        code = command_fail(&st);
    } else if (!chosen) {
        status_set(&st, STATUS_UNAVAILABLE, "no backend that was chosen runs %s", w->filter);
        code = command_fail(&st);
    } else {
        job j = *chosen;
        if (w->record)
            as_recorded(w, &j);
        own_inputs_take(own, &j);
        bool ok = is_sound(&j, choice, &st) && has_code(&j, w->record, &st);
        code = ok ? run_and_pack(o, choice, j) : command_fail(&st);
    }
    job_plan_release(&p);
    return code;
}

static int pack_wanted(const options *o, const job_choice *choice, const wanted *w) {
    status st = STATUS_INIT;
    corpus c;
    own_inputs own = {.given = false};
    if (w->record && !has_inputs(w->record, &st))
        return command_fail(&st);
    int code = load(o, w, &c, &st) ? choice_space(o, &c) : command_fail(&st);
    code = code ? code : own_inputs_open(o, 1, &own);
    code = code ? code : pack_loaded(o, choice, w, &c, &own);
    own_inputs_close(&own);
    corpus_release(&c);
    return code;
}

/* Finds one case of a corpus, run in one way. */
static int find_named(const options *o, const job_choice *choice, wanted *w) {
    const char *kernel = o->arguments.items[0], *case_name = options_text(o, OPTION_CASE, NULL);
    if (!case_name == !options_flag(o, OPTION_DIMS))
        return command_usage(o->command, "%s: which case of it? Either --case NAME or --dims N=...",
                             kernel);
    int code = COMMAND_REFUSE(o, "is for results of runs: RUN:KERNEL/CASE", OPTION_DB);
    if (code)
        return code;
    if (choice->implementation_count)
        code = COMMAND_REFUSE(o, "is for code of ours, and --with gives that of others",
                              OPTION_BACKEND, OPTION_ISA, OPTION_UNOPTIMISED, OPTION_SCHEDULE,
                              OPTION_GENERIC, OPTION_CONSTANT, OPTION_INJECT);
    if (code)
        return code;
    if (choice->implementation_count && implementation_has_guest(choice->implementations[0].kind))
        code = COMMAND_REFUSE(o, "is for code that a device runs; that of --with is a process",
                              OPTION_DEVICE);
    if (code)
        return code;
    if (choice->implementation_count > 1)
        return command_usage(o->command, "one --with makes one case");
    size_t backends = 0, profiles = 0;
    for (int i = 0; i < BACKEND_COUNT; i++)
        backends += choice->backends[i];
    for (int i = 0; i < PROFILE_COUNT; i++)
        profiles += choice->profiles[i];
    if ((choice->by_name && backends != 1) || profiles != 1 || choice->thread_count != 1 ||
        choice->rank_count > 1)
        return command_usage(o->command, "one backend, one profile, one thread count and one "
                                         "number of ranks make one case");
    snprintf(w->filter, sizeof w->filter, "%s%s%s", kernel, case_name ? "/" : "",
             case_name ? case_name : "");
    return EXIT_DONE;
}

/* Finds a stored result: `first` is RUN:KERNEL/CASE..., or NULL for the last failure. */
static int find_recorded(const options *o, const char *first, wanted *w) {
    status st = STATUS_INIT;
    char run[128] = "last";
    int code = COMMAND_REFUSE(
        o, "is of the result: it is run as it was recorded", OPTION_BACKEND, OPTION_DEVICE,
        OPTION_PROFILE, OPTION_THREADS, OPTION_ISA, OPTION_RANKS, OPTION_LAYOUT, OPTION_SEED,
        OPTION_UNOPTIMISED, OPTION_SCHEDULE, OPTION_GENERIC, OPTION_INJECT, OPTION_CASE,
        OPTION_DIMS, OPTION_SPACE, OPTION_CONSTANTS, OPTION_WITH, OPTION_INPUTS);
    if (code)
        return code;
    if (o->arguments.count > 1)
        return command_usage(o->command, "'%s' is too much: a run knows its corpus",
                             o->arguments.items[1]);
    if (first)
        snprintf(run, sizeof run, "%.*s", (int)(strchr(first, ':') - first), first);
    w->name = first ? strchr(first, ':') + 1 : NULL;
    return read_run(o, run, w, &st) ? EXIT_DONE : command_fail(&st);
}

static int find_wanted(const options *o, const job_choice *choice, wanted *w) {
    const char *first = o->arguments.count ? o->arguments.items[0] : NULL;
    if (first && options_flag(o, OPTION_LAST_FAILURE))
        return command_usage(o->command, "--last-failure takes no arguments: '%s'", first);
    return first && !strchr(first, ':') ? find_named(o, choice, w) : find_recorded(o, first, w);
}

/* Checks the place of the pack, and the key. */
static int check_place(const options *o) {
    status st = STATUS_INIT;
    const char *output = options_text(o, OPTION_OUTPUT, NULL);
    const char *key = options_text(o, OPTION_SIGN, NULL);
    if (key && !pack_sign_check(key, &st))
        return command_fail(&st);
    if (!output)
        return EXIT_DONE;
    int code = COMMAND_REFUSE(o, "names a folder, and -o the file: one of them", OPTION_FAILURES);
    return code || output_check(output, &st) ? code : command_fail(&st);
}

/* ---- a call of a recorded program: FOLDER:NUMBER ---- */

static bool is_call(const options *o, text *folder) {
    const char *first = o->arguments.count ? o->arguments.items[0] : "";
    const char *colon = strrchr(first, ':');
    if (!colon)
        return false;
    text_append_bytes(folder, first, (size_t)(colon - first));
    return capture_is_stream(folder->data);
}

static int pack_recorded_call(const options *o, const job_choice *choice, const char *folder) {
    status st = STATUS_INIT;
    text path, what;
    const pack_call_request request = {.folder = folder,
                                       .place = strrchr(o->arguments.items[0], ':') + 1,
                                       .failures = options_text(o, OPTION_FAILURES, NULL),
                                       .output = options_text(o, OPTION_OUTPUT, NULL),
                                       .timeout_seconds = choice->timeout_seconds,
                                       .memory_mib = choice->memory_mib};
    text_init(&path);
    text_init(&what);
    interrupt_watch();
    int code = pack_call(&request, &path, &what, &st) ? EXIT_DONE : command_fail(&st);
    code = code ? code : sign_made(o, path.data, true);
    if (code == EXIT_DONE && interrupt_settle()) {
        text word;
        text_init(&word);
        say(stderr, "%s\nagain: %s\n", what.data, command_line_replay(&word, path.data, true));
        text_release(&word);
        say(stdout, "%s\n", path.data);
    }
    text_release(&path);
    text_release(&what);
    return code;
}

static int find_call(const options *o, const job_choice *choice, const char *folder) {
    int code =
        COMMAND_REFUSE(o, "is of the call: it is packed as it was recorded", OPTION_BACKEND,
                       OPTION_DEVICE, OPTION_PROFILE, OPTION_THREADS, OPTION_ISA, OPTION_SEED,
                       OPTION_UNOPTIMISED, OPTION_SCHEDULE, OPTION_GENERIC, OPTION_INJECT,
                       OPTION_CASE, OPTION_DIMS, OPTION_SPACE, OPTION_CONSTANTS, OPTION_WITH,
                       OPTION_DB, OPTION_CONSTANT, OPTION_LAST_FAILURE, OPTION_GOLDEN);
    if (code)
        return code;
    if (o->arguments.count > 1)
        return command_usage(o->command, "'%s' is too much: one call makes a pack",
                             o->arguments.items[1]);
    return pack_recorded_call(o, choice, folder);
}

static int pack_result(const options *o, const job_choice *choice) {
    wanted w = {0};
    int code = find_wanted(o, choice, &w);
    code = code ? code : pack_wanted(o, choice, &w);
    json_decref(w.record);
    json_decref(w.run_arguments);
    return code;
}

int command_pack_repro(const options *o) {
    job_choice choice;
    text folder;
    int code = check_place(o);
    code = code ? code : choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    text_init(&folder);
    code = is_call(o, &folder) ? find_call(o, &choice, folder.data) : pack_result(o, &choice);
    text_release(&folder);
    return code;
}
