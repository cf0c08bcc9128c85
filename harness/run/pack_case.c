/* pack_case.c - the parent's part of a pack: collects the members and writes the manifest. */
#include "run/pack_case.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/vec.h"
#include "case/backend.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/scratch_folder.h"
#include "device/host/host.h"
#include "exec/worker.h"
#include "job/result.h"
#include "measure/host_facts.h"
#include "repro/pack.h"
#include "run/environment.h"
#include "run/failures.h"
#include "run/pack_ending.h"
#include "run/pack_fields.h"
#include "run/pack_implementation.h"
#include "run/pack_needs.h"
#include "tessera/compiler.h"

/* The folders of a pack, in the order of its members. */
static const char *const folders[] = {"source", "ir", "", "inputs", "expected", "actual"};
enum { FOLDER_COUNT = sizeof folders / sizeof *folders, MEMBER_BYTES_MAX = 512 << 20 };

typedef struct pack_builder {
    const pack_request *request;
    char *folder; /* that receives the pack, and has the staging area meanwhile */
    bool made;    /* the pack was not there before */
    scratch_folder staging;
    arena memory;
    VEC(pack_member) members;
    json_t *staged; /* the result of the worker that wrote the members */
    pack_implementation code;
    json_t *needs;
    VEC(pack_member) neighbours; /* that the file that ran imports */
    char *staged_stage;
} pack_builder;

bool pack_is_failure(const json_t *result) {
    return outcome_is_failure(result_outcome(result));
}

/* Did the kernel run to its end? */
static bool has_outputs(const json_t *result) {
    job_outcome o = result_outcome(result);
    return o == OUTCOME_OK || o == OUTCOME_MISMATCH || o == OUTCOME_UNJUDGED;
}

/* On one set, a timed launch is like any other. */
const char *pack_stage(const json_t *result, const char *stage) {
    input_set set;
    if (has_outputs(result))
        return "";
    return strcmp(stage, "time") == 0 && result_failed_on(result, &set) ? "launch" : stage;
}

void pack_take_set(const json_t *result, job *j) {
    input_set set;
    if (j->inputs || !result_failed_on(result, &set))
        return;
    j->set = set.number;
    j->perturbed = set.perturbed;
}

/* Those of the inputs that the pack has; of a launch that was timed they may not be known. */
static json_t *digests_of(const json_t *result) {
    input_set set;
    bool elsewhere = result_failed_on(result, &set) && set.number;
    const json_t *said = result_get(result, RESULT_FAILED_ON);
    return elsewhere && !json_object_get(said, "sha256")
               ? json_array()
               : json_incref((json_t *)(uintptr_t)result_digests(result));
}

/* ---- members ---- */

static void add_member(pack_builder *p, const char *name, const void *data, size_t size_bytes) {
    vec_push(&p->members, ((pack_member){arena_strdup(&p->memory, name), data, size_bytes}));
}

static void add_text(pack_builder *p, const char *name, const text *content) {
    char *copy = arena_alloc(&p->memory, content->length + 1);
    memcpy(copy, content->data, content->length + 1);
    add_member(p, name, copy, content->length);
}

static bool add_file(pack_builder *p, const char *name, const char *path, status *st) {
    char *data;
    size_t size_bytes;
    if (!file_read(path, MEMBER_BYTES_MAX, &data, &size_bytes, st))
        return false;
    add_member(p, name, data, size_bytes);
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int plain(const struct dirent *entry) {
    return entry->d_name[0] != '.' && entry->d_type == DT_REG;
}

/* The files of a folder, sorted, as members below `name`; nothing where it is not there. */
static bool add_folder(pack_builder *p, const char *name, const char *folder, status *st) {
    struct dirent **files = NULL;
    bool ok = true;
    int count = scandir(folder, &files, plain, by_name);
    for (int i = 0; i < count; i++) {
        text path, member;
        text_init(&path);
        text_init(&member);
        text_printf(&member, "%s%s%s", name, *name ? "/" : "", files[i]->d_name);
        text_printf(&path, "%s/%s", folder, files[i]->d_name);
        ok = ok && add_file(p, member.data, path.data, st);
        text_release(&path);
        text_release(&member);
        free(files[i]);
    }
    free(files);
    return ok;
}

static bool add_staged(pack_builder *p, status *st) {
    bool ok = true;
    text path;
    text_init(&path);
    for (int f = 0; f < FOLDER_COUNT && ok; f++) {
        text_clear(&path);
        text_printf(&path, "%s/%s", p->staging.path, folders[f]);
        ok = add_folder(p, folders[f], path.data, st);
    }
    text_release(&path);
    return ok && (!p->request->outputs || add_folder(p, "actual", p->request->outputs, st));
}

/* ---- what is said ---- */

/* A dead worker's last words may hold a process id or an address: only what the harness says. */
static void stable_why(const json_t *result, text *out) {
    const char *why = result_text(result, RESULT_WHY);
    size_t length = strlen(why);
    bool crash = result_outcome(result) == OUTCOME_CRASH;
    const char *printed = crash ? strstr(why, "; it printed: ") : NULL; /* by code of others */
    const char *set = strncmp(why, "input set ", 10) == 0 ? strchr(why, ':') : NULL;
    const char *end = printed ? printed : crash ? strchr(set ? set + 1 : why, ':') : NULL;
    size_t said = end ? (size_t)(end - why) : length;
    size_t most = (size_t)pack_field_high("outcome.why");
    text_append_bytes(out, why, said > most ? text_utf8_cut(why, most) : said);
}

static json_t *outcome_json(const pack_builder *p) {
    const json_t *result = p->request->result;
    text why;
    text_init(&why);
    stable_why(result, &why);
    json_t *outcome =
        json_pack("{s:s, s:s, s:o, s:o}", "status", result_text(result, RESULT_STATUS), "stage",
                  pack_stage(result, p->request->stage), "why", json_text(why.data), "sha256",
                  digests_of(result));
    const json_t *held_to = internal_get(result_internal(p->staged), INTERNAL_GOLDEN);
    if (held_to && result_outcome(result) == OUTCOME_MISMATCH)
        json_object_set(outcome, "golden", (json_t *)(uintptr_t)held_to);
    text_release(&why);
    return outcome;
}

/* That of our code: others have their own. */
static const char *isa_of(const job *j) {
    return j->implementation ? NULL : j->isa ? j->isa : host_isa();
}

json_t *pack_case_json(const job *j, uint64_t timeout_seconds, uint64_t memory_mib) {
    json_t *item =
        json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:I, s:I, s:s?, s:I, s:I, s:b, s:s?, s:b}",
                  "kernel", j->kernel, "case", j->case_name, "backend",
                  j->implementation ? backend_table[BACKEND_IMPLEMENTATION].name : j->backend,
                  "profile", j->profile, "isa", isa_of(j), "threads", (json_int_t)j->threads,
                  "seed", (json_int_t)j->seed, "fault", j->fault, "timeout_s",
                  (json_int_t)timeout_seconds, "memory_mib", (json_int_t)memory_mib, "unoptimised",
                  j->unoptimised, "schedule", j->schedule, "generic", j->generic);
    if (j->ranks > 1)
        json_object_set_new(item, "ranks", json_integer(j->ranks));
    if (j->ranks > 1 && j->layout)
        json_object_set_new(item, "layout", json_string(j->layout));
    if (j->device) /* a build that does not know a field replays what has none */
        json_object_set_new(item, "device", json_string(j->device));
    if (j->constants)
        json_object_set_new(item, "constants", json_string(j->constants));
    if (j->space)
        json_object_set_new(item, "space", json_string(j->space));
    if (j->tuned)
        json_object_set_new(item, "tuned", json_true());
    if (j->check_bounds)
        json_object_set_new(item, "check_bounds", json_true());
    if (j->sentinels)
        json_object_set_new(item, "sentinels", json_true());
    if (j->held)
        json_object_set_new(item, "held", json_true());
    if (j->dims)
        json_object_set_new(item, "dims", json_string(j->dims));
    if (j->inputs)
        json_object_set_new(item, "recorded_inputs", json_true());
    if (j->set)
        json_object_set_new(item, "set", json_integer(j->set));
    if (j->perturbed)
        json_object_set_new(item, "perturbed", json_true());
    if (j->relation)
        json_object_set_new(item, "relation",
                            json_pack("{s:s, s:s*, s:s*}", "name", j->relation, "dim",
                                      j->relation_dim, "vary", j->relation_vary));
    if (j->implementation)
        json_object_set_new(item, "implementation", pack_implementation_json(j));
    return item;
}

static json_t *about(const pack_builder *p) {
    const pack_request *r = p->request;
    const json_t *result = r->result;
    const json_t *internal = result_internal(p->staged);
    json_t *item = pack_case_json(r->job, r->timeout_seconds, r->memory_mib);
    json_t *code = json_object_get(item, "implementation");
    if (p->code.code.sha256[0])
        json_object_set_new(code, "sha256", json_string(p->code.code.sha256));
    if (p->code.launch.sha256[0])
        json_object_set_new(code, "launch_sha256", json_string(p->code.launch.sha256));
    json_t *manifest =
        json_pack("{s:o, s:o, s:o, s:o, s:i, s:O?, s:O?, s:O?, s:O?}", "case", item, "outcome",
                  outcome_json(p), "tsr", program_facts(), "host", host_facts(), "numerics_version",
                  TSR_NUMERICS_VERSION, "key", internal_get(internal, INTERNAL_KEY),
                  "inputs_sha256", internal_get(internal, INTERNAL_INPUTS), "schedule_hash",
                  result_get(result, RESULT_SCHEDULE_HASH), "module_hash",
                  result_get(result, RESULT_MODULE_HASH));
    if (json_array_size(p->needs))
        json_object_set(manifest, "needs", p->needs);
    return manifest;
}

static void add_log(pack_builder *p) {
    const json_t *result = p->request->result;
    text log, why;
    text_init(&log);
    text_init(&why);
    stable_why(result, &why);
    const char *stage = pack_stage(result, p->request->stage);
    text_printf(&log, "status  %s\n", result_text(result, RESULT_STATUS));
    if (*stage)
        text_printf(&log, "step    %s\n", stage);
    text_printf(&log, "why     %s\n", why.data);
    if (p->staged && result_outcome(p->staged) != OUTCOME_OK)
        text_printf(&log,
                    "packing ended in step %s (%s): what follows that step is not in this pack\n",
                    p->staged_stage, result_text(p->staged, RESULT_STATUS));
    add_text(p, "log.txt", &log);
    text_release(&why);
    text_release(&log);
}

static const char again_of_others[] =
    " --trust\n\n"
    "which runs code of others, the file below implementation/, or with\n\n"
    "    tsr replay THIS-FILE --with FILE";
static const char members_of_others[] =
    "implementation/ the file that ran (left out beyond 64 MiB, and where it is a module of an\n"
    "                installed Python package: the manifest names it)\n";
static const char members[] = "ir/             the IR after each pass, LLVM IR and assembly\n"
                              "module.tsrm     the compiled module\n";

static void add_needs(const pack_builder *p, text *readme) {
    text held, lacks;
    text_init(&held);
    text_init(&lacks);
    pack_needs_text(p->needs, true, &held);
    pack_needs_text(p->needs, false, &lacks);
    if (held.length)
        text_printf(readme, "\nBeside the file that ran, in implementation/: %s\n", held.data);
    if (lacks.length)
        text_printf(readme, "\nIt lacks what else was opened: %s\n", lacks.data);
    if (lacks.length && p->request->lacks)
        text_append(p->request->lacks, lacks.data);
    text_release(&held);
    text_release(&lacks);
}

static void add_readme(pack_builder *p) {
    const job *j = p->request->job;
    text readme, why;
    text_init(&readme);
    text_init(&why);
    stable_why(p->request->result, &why);
    text_printf(&readme, "%s/%s%s%s on %s, profile %s, threads %u: %s\n%s\n", j->kernel,
                j->case_name, j->dims ? " with " : "", j->dims ? j->dims : "", j->backend,
                j->profile, j->threads, result_text(p->request->result, RESULT_STATUS), why.data);
    if (j->fault)
        text_printf(&readme, "The fault was made on purpose: --inject %s\n", j->fault);
    text_printf(
        &readme,
        "\nMake it happen again with\n\n    tsr replay THIS-FILE%s\n\n"
        "manifest.json   what ran, where, and what came of it; SHA-256 of every member\n"
        "source/         the kernel's source\n"
        "%s"
        "inputs/         what went in; expected/ and actual/: what should and did come out\n"
        "                (left out beyond 64 MiB: the seed in the manifest makes them)\n"
        "log.txt         how it ended; stderr.txt: what was printed; backtrace.txt: where\n"
        "launch.json     the arguments; environment.json: what was around it\n"
        "replay.sh       sh replay.sh THIS-FILE\n",
        j->implementation ? again_of_others : "", j->implementation ? members_of_others : members);
    add_needs(p, &readme);
    add_text(p, "README", &readme);
    text_release(&why);
    text_release(&readme);
}

/* ---- how it ended ---- */

static const json_t *internal_of(const pack_builder *p, result_internal_field field) {
    const json_t *own = internal_get(result_internal(p->request->result), field);
    return own ? own : internal_get(result_internal(p->staged), field);
}

static void add_ending(pack_builder *p) {
    const job *j = p->request->job;
    const char *printed = json_string_value(internal_of(p, INTERNAL_PRINTED));
    const json_t *frames = internal_of(p, INTERNAL_FRAMES);
    text words[4];
    static const char *const names[] = {"backtrace.txt", "stderr.txt", ENVIRONMENT_MEMBER,
                                        "replay.sh"};
    for (int i = 0; i < 4; i++)
        text_init(&words[i]);
    pack_ending_frames(frames, &words[0]);
    pack_ending_printed(printed, result_text(p->request->result, RESULT_WHY), &words[1]);
    pack_ending_environment(&words[2]);
    pack_ending_script(j->implementation != NULL, &words[3]);
    for (int i = 0; i < 4; i++) {
        if (words[i].length)
            add_text(p, names[i], &words[i]);
        text_release(&words[i]);
    }
}

/* The file of code of others, where the pack holds it. */
static bool add_code(pack_builder *p, status *st) {
    if (!pack_implementation_read(&p->code, p->request->job, p->request->result, st))
        return false;
    const pack_implementation_file *files[] = {&p->code.code, &p->code.launch};
    for (int i = 0; i < 2; i++)
        if (files[i]->data)
            add_member(p, files[i]->member, files[i]->data, files[i]->size_bytes);
    return true;
}

/* ---- the pack ---- */

/* Extent to which code of others is run to see what it opens; what hangs would hang again. */
static uint32_t opens_of(const pack_request *r) {
    const job *j = r->job;
    bool tells = j->implementation && (j->implementation_kind == IMPLEMENTATION_PYTHON ||
                                       j->implementation_kind == IMPLEMENTATION_SHARED_OBJECT);
    if (!tells || r->outputs)
        return 0;
    return result_outcome(r->result) == OUTCOME_TIMEOUT ? 1 : 2;
}

/* False: interrupted. What a worker that died had written is there all the same. */
static bool stage_members(pack_builder *p, status *st) {
    const pack_request *r = p->request;
    worker w;
    job j = *r->job;
    j.mode = JOB_PACK;
    j.staging = p->staging.path;
    j.launches = has_outputs(r->result) && !r->outputs;
    j.opens = opens_of(r);
    worker_init(&w, r->timeout_seconds, r->memory_mib, &interrupt_seen);
    p->staged = worker_run(&w, &j);
    p->staged_stage = arena_strdup(&p->memory, w.stage);
    worker_stop(&w);
    return p->staged || status_set(st, STATUS_INTERRUPTED, "interrupted: nothing was packed");
}

/* The case, or in the place of its name the dimensions that it ran with: "M=1,N=2" as "M1-N2". */
static void put_case(const job *j, text *out) {
    enum { MOST = 40 };
    const size_t begin = out->length;
    if (!j->dims) {
        text_append(out, j->case_name);
        return;
    }
    for (const char *s = j->dims; *s && out->length - begin < MOST; s++)
        if (isalnum((unsigned char)*s) || *s == '_')
            text_append_char(out, *s);
        else if (*s == ',')
            text_append_char(out, '-');
}

static bool name_pack(const pack_builder *p, const json_t *manifest, text *path_out, status *st) {
    const job *j = p->request->job;
    char hash[13];
    if (p->request->output) {
        text_append(path_out, p->request->output);
        return true;
    }
    if (!pack_name(manifest, p->members.items, p->members.count, hash, st))
        return false;
    text_printf(path_out, "%s/%s-", p->folder, j->kernel);
    put_case(j, path_out);
    text_printf(path_out, "-%s" PACK_SUFFIX, hash);
    return true;
}

/* Checks that what is written can be read: the list of members comes later. */
static bool is_sound(const json_t *manifest, status *st) {
    text why;
    json_t *whole = json_copy((json_t *)(uintptr_t)manifest);
    json_object_set_new(whole, "schema", json_null());
    json_object_set_new(whole, "members", json_null());
    text_init(&why);
    bool ok = (whole && pack_fields_check(whole, &why)) ||
              status_set(st, STATUS_INVALID, "it cannot be packed: %s", why.data);
    text_release(&why);
    json_decref(whole);
    return ok;
}

static bool write_pack(pack_builder *p, text *path_out, status *st) {
    json_t *manifest = about(p);
    bool ok = is_sound(manifest, st) && name_pack(p, manifest, path_out, st);
    if (ok) {
        bool there = file_exists(path_out->data);
        ok = (there && !p->request->output) ||
             pack_write(path_out->data, manifest, p->members.items, p->members.count, st);
        p->made = ok && !there;
    }
    if (ok && !p->request->failures && !p->request->output)
        failures_trim(FAILURES_FOLDER, path_out->data, FAILURES_KEPT, FAILURES_KEPT_BYTES);
    json_decref(manifest);
    return ok;
}

static void find_folder(pack_builder *p) {
    const pack_request *r = p->request;
    const char *slash = r->output ? strrchr(r->output, '/') : NULL;
    if (slash)
        p->folder = arena_strndup(&p->memory, r->output, (size_t)(slash - r->output) + 1);
    else
        p->folder = arena_strdup(&p->memory, r->output     ? "."
                                             : r->failures ? r->failures
                                                           : FAILURES_FOLDER);
}

static bool make_staging(pack_builder *p, status *st) {
    find_folder(p);
    if (!p->request->output && !file_make_dirs(p->folder, st))
        return false;
    return scratch_folder_open(&p->staging, p->folder, ".staging-", st);
}

static bool interrupted(status *st) {
    return interrupt_seen && !status_set(st, STATUS_INTERRUPTED, "interrupted: nothing was packed");
}

/* A pack is the answer of a command that was not interrupted. */
static bool write_members(pack_builder *p, text *path_out, status *st) {
    if (interrupted(st) || !write_pack(p, path_out, st))
        return false;
    if (!interrupted(st))
        return true;
    if (p->made)
        unlink(path_out->data);
    return false;
}

static bool hold_neighbour(void *context, const char *member, const char *path) {
    pack_builder *p = context;
    status ignored = STATUS_INIT;
    char *data;
    size_t size;
    if (!file_read(path, (size_t)PACK_IMPLEMENTATION_BYTES_MAX, &data, &size, &ignored))
        return false;
    void *copy = arena_alloc(&p->memory, size + 1);
    memcpy(copy, data, size);
    free(data);
    vec_push(&p->neighbours, ((pack_member){arena_strdup(&p->memory, member), copy, size}));
    return true;
}

/* All but what the worker staged. */
static bool add_own_members(pack_builder *p, status *st) {
    const pack_request *request = p->request;
    const json_t *internal = result_internal(p->staged);
    p->needs =
        pack_needs_make(request->job, internal_get(internal, INTERNAL_OPENED), hold_neighbour, p);
    add_readme(p);
    add_log(p);
    add_ending(p);
    if (request->about)
        add_member(p, "call.json", request->about, strlen(request->about));
    if (!add_code(p, st))
        return false;
    for (size_t i = 0; i < p->neighbours.count; i++)
        vec_push(&p->members, p->neighbours.items[i]);
    return true;
}

bool pack_case(const pack_request *given, text *path_out, status *st) {
    job j = *given->job;
    pack_request of_set = *given;
    const pack_request *request = &of_set;
    pack_builder p = {.request = request};
    pack_take_set(given->result, &j);
    of_set.job = &j;
    arena_init(&p.memory);
    bool ok = make_staging(&p, st);
    if (ok) {
        ok = stage_members(&p, st) && add_own_members(&p, st);
        size_t own = p.members.count;
        ok = ok && add_staged(&p, st);
        scratch_folder_close(&p.staging);
        ok = ok && write_members(&p, path_out, st);
        for (size_t i = own; i < p.members.count; i++)
            free((void *)(uintptr_t)p.members.items[i].data);
    }
    pack_implementation_release(&p.code);
    vec_release(&p.members);
    vec_release(&p.neighbours);
    json_decref(p.needs);
    json_decref(p.staged);
    arena_release(&p.memory);
    return ok;
}
