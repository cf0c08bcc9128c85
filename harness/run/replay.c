/* replay.c - a pack is verified in memory, rebuilt from its source, and run. */
#include "run/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/sanitizer.h"
#include "case/backend.h"
#include "comm/comm.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/scratch_folder.h"
#include "device/host/host.h"
#include "exec/backend_device.h"
#include "exec/worker.h"
#include "job/fault.h"
#include "job/result.h"
#include "measure/host_facts.h"
#include "repro/pack.h"
#include "run/pack_case.h"
#include "run/pack_fields.h"
#include "run/pack_implementation.h"
#include "run/pack_level.h"
#include "run/pack_needs.h"
#include "run/pack_opinion.h"
#include "run/replay_image.h"
#include "run/replay_once.h"
#include "tessera/compiler.h"

/* The sanitizers map terabytes of shadow memory. */
uint64_t replay_memory_mib(void) {
    return BUILT_WITH_ASAN ? 0 : 4096;
}

typedef struct recorded_case {
    job job; /* its isa: the level that is run */
    const char *recorded_isa;
    uint64_t timeout_seconds, memory_mib;
    bool less_time, less_memory; /* than the pack asks for */
    const char *key;             /* NULL: the case could not even be prepared */
    const json_t *inputs;
    const char *module_hash;
    char *source, *golden, *opinion; /* owned */
    const json_t *others;            /* case.implementation; NULL: the code is ours */
    pack_code code;
    const char *from; /* replay_request.from */
    pack_level level;
    scratch_folder given; /* that has what the program had; or all zeros */
} recorded_case;

static bool refuse(replay *r, repro_verdict verdict, const char *why) {
    r->verdict = verdict;
    size_t length = strnlen(why, sizeof r->why - 1);
    memcpy(r->why, why, length);
    r->why[text_utf8_cut(r->why, length)] = '\0';
    return false;
}

static bool invalid(replay *r, const char *why) {
    return refuse(r, INVALID_PACK, why);
}

/* ---- reading ---- */

/* The one file below source/. */
static bool read_source(const pack *p, recorded_case *c) {
    const pack_member *found = NULL;
    for (size_t i = 0; i < pack_member_count(p); i++) {
        const pack_member *m = pack_member_at(p, i);
        if (strncmp(m->name, "source/", 7) != 0)
            continue;
        if (found)
            return false;
        found = m;
    }
    if (!found || memchr(found->data, '\0', found->size_bytes))
        return false;
    c->source = base_malloc(found->size_bytes + 1);
    memcpy(c->source, found->data, found->size_bytes);
    c->source[found->size_bytes] = '\0';
    c->job.source = c->source;
    c->job.path = found->name + 7;
    return true;
}

static bool fields_are_sound(replay *r) {
    text why;
    text_init(&why);
    bool ok = pack_fields_check(r->manifest, &why);
    if (!ok)
        invalid(r, why.data);
    text_release(&why);
    return ok;
}

static const char *word_at(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

static uint64_t number_at(const json_t *object, const char *name) {
    return (uint64_t)json_integer_value(json_object_get(object, name));
}

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Finds what no command line could have asked for, and nothing would act on. */
static const char *without_effect(const recorded_case *c, bool recorded_inputs) {
    const job *j = &c->job;
    backend_id id = backend_from_name(j->backend);
    bool scheduled = (j->schedule && *j->schedule) || j->tuned;
    if (id < BACKEND_COUNT && (id == BACKEND_IMPLEMENTATION) != (c->others != NULL))
        return "case: the backend implementation, and no other, has an implementation";
    if ((j->set && recorded_inputs) || (j->perturbed && !j->set))
        return "case: a set is of inputs that are generated, and only another than the first is "
               "perturbed";
    const char *kind = c->others ? word_at(c->others, "kind") : NULL;
    bool guest = !kind || implementation_has_guest(implementation_kind_from_name(kind));
    if (id == BACKEND_IMPLEMENTATION &&
        (scheduled || j->generic || j->constants || j->unoptimised || j->fault ||
         (j->device && guest) || j->isa))
        return "case: code of others has no schedule, no kinds of code, no levels and no faults";
    if (j->opinion && id < BACKEND_COUNT && !pack_opinion_fits(j->opinion, id))
        return "outcome: the interpreter, and nothing else, is held to code";
    if (j->relation && id < BACKEND_COUNT && id != BACKEND_IMPLEMENTATION &&
        (id != BACKEND_CPU || scheduled || j->fault))
        return "case: a relation is of code of others, or of ours as it is";
    if (id >= BACKEND_COUNT || backend_is_compiled(&backend_table[id]))
        return NULL;
    return scheduled || j->generic || j->constants || j->unoptimised || j->fault ||
                   j->threads > 1 || j->ranks > 1
               ? "case: the interpreter has no schedule, no kinds of code, no faults and one thread"
               : NULL;
}

static bool read_case(const pack *p, const replay_request *q, recorded_case *c, replay *r) {
    const json_t *item = json_object_get(r->manifest, "case");
    if (!fields_are_sound(r))
        return false;
    if (!read_source(p, c))
        return invalid(r, "it does not hold one source");
    c->job.kernel = word_at(item, "kernel");
    c->job.case_name = word_at(item, "case");
    c->job.dims = word_at(item, "dims");
    c->job.backend = word_at(item, "backend");
    c->job.device = word_at(item, "device");
    c->job.profile = word_at(item, "profile");
    c->job.threads = (uint32_t)number_at(item, "threads");
    c->job.ranks = (uint32_t)number_at(item, "ranks");
    c->job.transport = c->job.ranks > 1 ? comm_transport_at(0)->name : NULL; /* bits are the same */
    c->job.layout = word_at(item, "layout");
    c->job.seed = number_at(item, "seed");
    c->job.isa = word_at(item, "isa");
    c->job.fault = word_at(item, "fault");
    c->job.unoptimised = json_is_true(json_object_get(item, "unoptimised"));
    c->job.schedule = word_at(item, "schedule");
    c->job.space = word_at(item, "space");
    c->job.tuned = json_is_true(json_object_get(item, "tuned"));
    c->job.held = json_is_true(json_object_get(item, "held"));
    c->job.check_bounds = json_is_true(json_object_get(item, "check_bounds"));
    c->job.sentinels = json_is_true(json_object_get(item, "sentinels"));
    c->job.told = q->sentinels && !c->job.sentinels;
    c->job.sentinels |= q->sentinels;
    c->job.set = (uint32_t)number_at(item, "set");
    c->job.perturbed = json_is_true(json_object_get(item, "perturbed"));
    c->job.generic = json_is_true(json_object_get(item, "generic"));
    c->job.constants = word_at(item, "constants");
    const json_t *relation = json_object_get(item, "relation");
    c->job.relation = word_at(relation, "name");
    c->job.relation_dim = word_at(relation, "dim");
    c->job.relation_vary = word_at(relation, "vary");
    const json_t *held_to = json_object_get(json_object_get(r->manifest, "outcome"), "golden");
    c->golden = json_array_size(held_to) ? json_dumps(held_to, JSON_COMPACT) : NULL;
    c->job.golden = c->golden;
    c->opinion =
        pack_opinion_words(json_object_get(json_object_get(r->manifest, "outcome"), "opinion"));
    c->job.opinion = c->opinion;
    c->job.mode = JOB_REPLAY;
    c->job.quick = c->job.sandbox = true;
    uint64_t memory_mib = number_at(item, "memory_mib");
    c->timeout_seconds = lesser(number_at(item, "timeout_s"), q->timeout_seconds);
    c->memory_mib = !memory_mib     ? q->memory_mib
                    : q->memory_mib ? lesser(memory_mib, q->memory_mib)
                                    : memory_mib;
    c->less_time = c->timeout_seconds < number_at(item, "timeout_s");
    c->less_memory = c->memory_mib != memory_mib;
    c->key = word_at(r->manifest, "key");
    c->inputs = json_object_get(r->manifest, "inputs_sha256");
    c->module_hash = word_at(r->manifest, "module_hash");
    c->others = json_object_get(item, "implementation");
    c->others = json_is_object(c->others) ? c->others : NULL;
    const char *why = without_effect(c, json_is_true(json_object_get(item, "recorded_inputs")));
    return !why || invalid(r, why);
}

/* ---- what this machine lacks ---- */

static void lacks(replay *r, const char *format, const char *what) {
    text line;
    text_init(&line);
    text_append(&line, format);
    text_append(&line, what);
    json_array_append_new(r->missing, json_text(line.data));
    text_release(&line);
}

/* Backend; for code of others, the one whose devices run it. */
static backend_id backend_of(const recorded_case *c, const replay_request *q) {
    backend_id id = backend_from_name(c->job.backend);
    if (!c->others || id != BACKEND_IMPLEMENTATION)
        return id;
    const char *kind = word_at(c->others, "kind");
    return implementation_backend(q->with ? q->with->kind
                                          : implementation_kind_from_name(kind ? kind : ""));
}

static void check_backend(const recorded_case *c, const replay_request *q, replay *r) {
    const job *j = &c->job;
    backend_id id = backend_of(c, q);
    const char *wanted = id == BACKEND_IMPLEMENTATION ? NULL : j->device;
    status why = STATUS_INIT;
    uint32_t device;
    const char *own;
    if (id >= BACKEND_COUNT)
        lacks(r, "no backend is called ", j->backend);
    else if (backend_is_tools(&backend_table[id]))
        lacks(r,
              "a replay starts no other programs, and this backend is made of them: ", j->backend);
    else if (backend_has_device(&backend_table[id]) &&
             !backend_device_ask(&backend_table[id], wanted, &device, &own, &why))
        lacks(r, "", why.message);
    else if (!backend_honours(&backend_table[id], j->profile))
        lacks(r, "its backend does not honour the profile ", j->profile);
}

static void check_threads(const job *j, uint32_t most, replay *r) {
    char what[64];
    snprintf(what, sizeof what, "%u; --threads allows %u", j->threads, most);
    if (j->threads > most)
        lacks(r, "it asks for more threads than a replay may have: ", what);
}

static bool compatible(const recorded_case *c, const replay_request *q, replay *r) {
    const job *j = &c->job;
    json_t *numerics = json_object_get(r->manifest, "numerics_version");
    char reason[COMPILER_REASON_BYTES];
    if (json_integer_value(numerics) != TSR_NUMERICS_VERSION)
        lacks(r, "it was made under another version of the numerics", "");
    check_backend(c, q, r);
    check_threads(j, q->threads, r);
    backend_id id = backend_from_name(j->backend);
    bool by_device = id < BACKEND_COUNT && backend_is_for_device(&backend_table[id]);
    if (j->isa && !by_device && !compiler_target_runs(j->isa, reason))
        lacks(r, "code for its ISA level cannot run here: ", reason);
    if (j->opinion && !pack_opinion_is_known(j->opinion))
        lacks(r, "this tsr has no second opinion of the pass ", j->opinion);
    if (j->fault && !fault_find(j->fault, strlen(j->fault)))
        lacks(r, "this tsr cannot make the fault ", j->fault);
    if (json_array_size(r->missing) == 0)
        return true;
    r->verdict = INCOMPATIBLE;
    return false;
}

/* Its neighbours would run as well. */
static void put_neighbours(const replay *r, text *why) {
    size_t before = why->length;
    text_append(why, ", with ");
    size_t begin = why->length;
    pack_needs_text(json_object_get(r->manifest, "needs"), true, why);
    if (why->length == begin) {
        why->length = before;
        why->data[before] = '\0';
    }
}

/* Code of others runs where the user says so, in a process of its own, which no sandbox may start.
 */
static bool take_code(const pack *p, const replay_request *q, recorded_case *c, replay *r,
                      status *st) {
    text why;
    text_init(&why);
    const pack_code_request request = {p, c->others, q->with, q->trust, &why};
    bool ok = !c->others || pack_code_open(&c->code, &request, &c->job, st);
    if (!ok && st->code == STATUS_OK) {
        put_neighbours(r, &why);
        refuse(r, NEEDS_TRUST, why.data);
    }
    text_release(&why);
    if (ok) {
        c->job.sandbox = c->others == NULL;
        if (c->others && implementation_has_guest((implementation_kind)c->job.implementation_kind))
            c->job.device = NULL;
        return true;
    }
    if (st->code == STATUS_CORRUPT)
        invalid(r, st->message);
    else if (st->code == STATUS_UNAVAILABLE)
        lacks(r, "", st->message);
    if (st->code == STATUS_UNAVAILABLE)
        r->verdict = INCOMPATIBLE;
    if (st->code == STATUS_UNAVAILABLE || st->code == STATUS_CORRUPT)
        *st = (status)STATUS_INIT;
    return false;
}

/* A folder that the worker may read. */
static bool open_given(recorded_case *c, status *st) {
    return c->given.path || scratch_folder_open(&c->given, NULL, SCRATCH_FOLDER_PREFIX, st);
}

static bool take_image(const pack *p, const replay_request *q, recorded_case *c, status *st) {
    return !q->image || (open_given(c, st) && replay_image_put(p, c->given.path, st));
}

/* Those of the pack, where nothing generates them; names of members are plain (repro/manifest.h).
 */
static bool take_inputs(const pack *p, recorded_case *c, replay *r, status *st) {
    if (!json_is_true(json_object_get(json_object_get(r->manifest, "case"), "recorded_inputs")))
        return true;
    bool ok = open_given(c, st);
    text path;
    text_init(&path);
    for (size_t i = 0; i < pack_member_count(p) && ok; i++) {
        const pack_member *m = pack_member_at(p, i);
        if (strncmp(m->name, "inputs/", 7) != 0 || strchr(m->name + 7, '/'))
            continue;
        file_part part = {m->data, m->size_bytes};
        text_clear(&path);
        text_printf(&path, "%s/%s", c->given.path, m->name + 7);
        ok = file_write_scratch(path.data, &part, 1, st);
    }
    text_release(&path);
    c->job.inputs = c->given.path;
    return ok;
}

/* Options for code of others need some, and --isa needs ours. */
static bool options_fit(const recorded_case *c, const replay_request *q, const replay *r,
                        status *st) {
    if (!c->others && (q->trust || q->with))
        return status_set(st, STATUS_INVALID, "%s: its case runs no code of others: without %s",
                          q->path, q->trust ? "--trust" : "--with");
    if (c->others && q->isa)
        return status_set(st, STATUS_INVALID,
                          "%s: its case runs code of others, which has no levels: without --isa",
                          q->path);
    if (q->image && !r->image)
        return status_set(st, STATUS_INVALID,
                          "%s: it holds no image of compiled code: without --allow-native",
                          q->path);
    const char *ended = json_text_at(json_object_get(r->manifest, "outcome"), "status");
    if (q->expects_fixed && !outcome_is_failure(outcome_from_name(ended)))
        return status_set(st, STATUS_INVALID,
                          "%s: it recorded no failure, but %s: without --expect", q->path, ended);
    return true;
}

/* Begins at the module that the pack has stored. */
static bool take_level(const pack *p, const replay_request *q, recorded_case *c, replay *r,
                       status *st) {
    c->from = q->from;
    if (!q->from)
        return true;
    if (c->others || !pack_level_find(p, q->from, &c->level))
        return status_set(st, STATUS_INVALID,
                          "%s: it holds no module of the level %s: without "
                          "--from",
                          q->path, q->from);
    if (*c->level.pass && !compiler_is_pass(c->level.pass)) {
        lacks(r, "this tsr has no pass ", c->level.pass);
        r->verdict = INCOMPATIBLE;
        return false;
    }
    c->job.from = c->level.pass;
    c->job.ir = c->level.ir;
    return true;
}

/* The same source must still mean the same case: graph, sizes, inputs. */
static bool same_case(const recorded_case *c, const json_t *internal, replay *r) {
    const char *key = json_string_value(internal_get(internal, INTERNAL_KEY));
    const json_t *inputs = internal_get(internal, INTERNAL_INPUTS);
    if (c->key && key && strcmp(c->key, key) != 0)
        lacks(r, "this tsr reads another graph or case from the source", "");
    else if (json_array_size(c->inputs) && json_array_size(inputs) &&
             !json_equal(c->inputs, inputs))
        lacks(r, "this tsr generates other inputs from the seed", "");
    if (json_array_size(r->missing) == 0)
        return true;
    r->verdict = INCOMPATIBLE;
    return false;
}

/* ---- outcomes ---- */

/* Did it end so because it was given less than the pack asks for? */
static bool is_limited(const recorded_case *c, const json_t *result) {
    static const char *const of_memory[] = {"out of memory", "cannot allocate", "Cannot allocate",
                                            "MemoryError", "bad_alloc"};
    const char *why = result_text(result, RESULT_WHY);
    bool short_of_memory = false;
    for (size_t i = 0; i < sizeof of_memory / sizeof *of_memory; i++)
        short_of_memory |= strstr(why, of_memory[i]) != NULL;
    return (c->less_time && result_outcome(result) == OUTCOME_TIMEOUT) ||
           (c->less_memory && outcome_is_failure(result_outcome(result)) && short_of_memory);
}

static void qualify(const recorded_case *c, replay *r) {
    if (c->from)
        json_array_append_new(r->qualifiers, json_sprintf("replayed-from=%s", c->from));
    const char *module = result_string(r->result, RESULT_MODULE_HASH);
    if (!program_made(json_object_get(r->manifest, "tsr")))
        json_array_append_new(r->qualifiers, json_string("toolchain-drift"));
    if (c->recorded_isa && c->job.isa && strcmp(c->job.isa, c->recorded_isa) != 0)
        json_array_append_new(r->qualifiers, json_string("other-isa"));
    if (module && c->module_hash && strcmp(module, c->module_hash) == 0)
        json_array_append_new(r->qualifiers, json_string("code-hash-same"));
    if (c->others)
        json_array_append_new(r->qualifiers, json_string(c->code.is_other ? "other-implementation"
                                                                          : "same-implementation"));
    if (is_limited(c, r->result) && r->verdict != REPRODUCED_EXACT &&
        r->verdict != REPRODUCED_CLASS)
        json_array_append_new(r->qualifiers, json_string("limited"));
}

static replay_case case_of(const pack *p, const recorded_case *c) {
    return (replay_case){p, &c->job, c->timeout_seconds, c->memory_mib,
                         REPLAY_STEPS_MAX * c->timeout_seconds};
}

/* The image that the pack holds, where that is asked for: beside what is compiled here. */
static bool run_image(const pack *p, const replay_request *q, const recorded_case *c,
                      const replay_outcome *recorded, replay *r) {
    const replay_case one = case_of(p, c);
    const char *why = "";
    if (!q->image || r->verdict == REPRO_NO_VERDICT)
        return true;
    if (replay_image_run(&one, c->given.path, recorded, r->image, &why))
        return true;
    text said;
    text_init(&said);
    text_printf(&said, "its image is no module that can be loaded: %s", why);
    invalid(r, said.data);
    text_release(&said);
    return false;
}

static void run_all(const pack *p, const replay_request *q, const recorded_case *c, replay *r) {
    replay_outcome recorded = {.stage = ""};
    const replay_case one = case_of(p, c);
    const json_t *was = json_object_get(r->manifest, "outcome");
    replay_outcome_read(was, json_object_get(was, "sha256"),
                        json_string_value(json_object_get(was, "stage")), &recorded);
    replay_judge(&one, &recorded, r);
    (void)run_image(p, q, c, &recorded, r);
    replay_outcome_release(&recorded);
}

/* More is done with a failure that happened again. */
static bool go_on(const pack *p, const replay_request *q, const recorded_case *c, const replay *r,
                  status *st) {
    const bool again = r->verdict == REPRODUCED_EXACT || r->verdict == REPRODUCED_CLASS;
    const replay_case one = case_of(p, c);
    return !q->onward || !again || !outcome_is_failure(result_outcome(r->result)) ||
           q->onward(q->self, &one, r, st);
}

/* Whatever ran it, and however: its graph alone counts. */
static bool export_case(const pack *p, const replay_request *q, recorded_case *c, replay *r,
                        status *st) {
    worker w;
    if (!take_inputs(p, c, r, st))
        return false;
    job j = c->job;
    j.mode = JOB_EXPORT;
    j.sandbox = true;
    j.language = q->export->language;
    j.backend = backend_table[BACKEND_INTERP].name;
    j.profile = compiler_profile_name(PROFILE_STRICT);
    j.threads = 1;
    j.device = j.isa = j.fault = j.schedule = j.implementation = NULL;
    worker_init(&w, c->timeout_seconds, c->memory_mib, &interrupt_seen);
    r->result = worker_run(&w, &j);
    worker_stop(&w);
    const json_t *made = internal_get(result_internal(r->result), INTERNAL_EXPORTED);
    if (made)
        return q->export->write(q->export->context, p, made, st);
    return !r->result || /* interrupted */
           status_set(st, STATUS_UNAVAILABLE, "%s", result_text(r->result, RESULT_WHY));
}

/* False: what was asked for does not fit the pack. */
static bool replay_pack(const pack *p, const replay_request *q, replay *r, status *st) {
    recorded_case c = {0};
    r->manifest = json_deep_copy(pack_about(p));
    r->image = replay_image_about(p);
    bool sound = read_case(p, q, &c, r) && options_fit(&c, q, r, st);
    if (sound && q->export) {
        (void)export_case(p, q, &c, r, st);
    } else if (sound) {
        c.recorded_isa = c.job.isa;
        c.job.isa = q->isa ? q->isa : c.recorded_isa;
        if (compatible(&c, q, r) && take_code(p, q, &c, r, st) && take_inputs(p, &c, r, st) &&
            take_level(p, q, &c, r, st) && take_image(p, q, &c, st))
            run_all(p, q, &c, r);
        if (r->verdict != REPRO_NO_VERDICT && r->verdict != INVALID_PACK &&
            r->verdict != NEEDS_TRUST && same_case(&c, result_internal(r->result), r))
            qualify(&c, r);
        if (st->code == STATUS_OK && !go_on(p, q, &c, r, st) && st->code == STATUS_INTERRUPTED)
            r->verdict = REPRO_NO_VERDICT;
    }
    pack_code_close(&c.code);
    scratch_folder_close(&c.given);
    free(c.source);
    free(c.golden);
    free(c.opinion);
    return st->code == STATUS_OK;
}

/* ---- the pack ---- */

/* The bytes that were read are those that were signed. */
static bool is_signed(const sha256 *file, const signature *s, replay *r) {
    if (memcmp(s->subject.bytes, file->bytes, sizeof file->bytes) != 0)
        return invalid(r, "its signature is of a file with other bytes");
    r->signed_by = json_pack("{s:s, s:O}", "keyid", s->keyid, "statement", s->predicate);
    return true;
}

/* False: what was asked for cannot be answered. */
static bool open_and_replay(const replay_request *q, const signature *s, replay *out, status *st) {
    pack_state state;
    sha256 file;
    status why = STATUS_INIT;
    uint64_t memory_mib = q->memory_mib ? q->memory_mib : SIZE_MAX >> 20;
    pack *p = pack_read_digest(q->path, (size_t)memory_mib << 20, s ? &file : NULL, &state, &why);
    bool unreadable = why.code == STATUS_UNAVAILABLE && state != PACK_NEWER;
    if (!p && (why.code == STATUS_NOT_FOUND || unreadable))
        return status_set(st, why.code, "%s", why.message);
    if (!p && state == PACK_NEWER) {
        out->verdict = INCOMPATIBLE;
        lacks(out, "", why.message);
        return true;
    }
    if (!p) {
        invalid(out, why.message);
        return true;
    }
    bool ok = (s && !is_signed(&file, s, out)) || replay_pack(p, q, out, st);
    pack_free(p);
    return ok;
}

bool replay_run(const replay_request *request, replay *out, status *st) {
    signature s = {.predicate = NULL};
    status why = STATUS_INIT;
    *out = (replay){.qualifiers = json_array(), .missing = json_array()};
    interrupt_watch();
    bool ok = true;
    if (request->signers && !sign_verify(request->path, request->signers, &s, &why))
        invalid(out, why.message);
    else
        ok = open_and_replay(request, request->signers ? &s : NULL, out, st);
    json_decref(s.predicate);
    if (!interrupt_settle())
        out->verdict = REPRO_NO_VERDICT;
    return ok;
}

void replay_release(replay *r) {
    json_decref(r->manifest);
    json_decref(r->result);
    json_decref(r->image);
    json_decref(r->qualifiers);
    json_decref(r->missing);
    json_decref(r->signed_by);
}
