/* replay.c - a pack is verified in memory, rebuilt from its source, and run. */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "base/arena.h"
#include "device/host.h"
#include "fault.h"
#include "interrupt.h"
#include "pack_case.h"
#include "report/host_facts.h"
#include "repro/pack.h"
#include "tessera/compiler.h"
#include "worker.h"

enum { REPLAYS_MAX = 3, DIGESTS_MAX = COMPILER_MAX_PARAMETERS, TIMEOUT_MAX_S = 3600 };

typedef struct recorded_case {
    job job; /* its isa: the level that is run */
    const char *recorded_isa;
    json_int_t timeout_s, memory_mib;
    const char *key; /* NULL: the case could not even be prepared */
    const json_t *inputs;
    const char *module_hash;
    char *source; /* owned */
} recorded_case;

static bool invalid(replay *r, const char *why) {
    r->verdict = INVALID_PACK;
    snprintf(r->why, sizeof r->why, "%.500s", why);
    return false;
}

/* ---- reading ---- */

static bool read_source(const pack *p, recorded_case *c) {
    for (size_t i = 0; i < pack_member_count(p); i++) {
        const pack_member *m = pack_member_at(p, i);
        if (strncmp(m->name, "source/", 7) != 0)
            continue;
        c->source = base_malloc(m->size_bytes + 1);
        memcpy(c->source, m->data, m->size_bytes);
        c->source[m->size_bytes] = '\0';
        c->job.source = c->source;
        c->job.path = m->name + 7;
        return strlen(c->source) == m->size_bytes;
    }
    return false;
}

static bool read_case(const pack *p, recorded_case *c, replay *r) {
    json_t *item = json_object_get(r->manifest, "case");
    json_int_t threads = 0, seed = 0;
    job *j = &c->job;
    if (json_unpack(item, "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "kernel", &j->kernel, "case",
                    &j->case_name, "backend", &j->backend, "profile", &j->profile, "threads",
                    &threads, "seed", &seed, "timeout_s", &c->timeout_s, "memory_mib",
                    &c->memory_mib) != 0 ||
        threads < 1 || threads > 256 || seed < 0 || c->timeout_s < 1 ||
        c->timeout_s > TIMEOUT_MAX_S || c->memory_mib < 0 || c->memory_mib > 1 << 20)
        return invalid(r, "its manifest does not describe a case");
    if (!json_is_string(json_object_get(json_object_get(r->manifest, "outcome"), "status")))
        return invalid(r, "its manifest records no outcome");
    if (!read_source(p, c))
        return invalid(r, "it holds no source");
    j->threads = (uint32_t)threads;
    j->seed = (uint64_t)seed;
    j->isa = json_string_value(json_object_get(item, "isa"));
    j->fault = json_string_value(json_object_get(item, "fault"));
    j->unoptimised = json_is_true(json_object_get(item, "unoptimised"));
    j->schedule = json_string_value(json_object_get(item, "schedule"));
    j->generic = json_is_true(json_object_get(item, "generic"));
    j->mode = JOB_REPLAY;
    j->quick = j->sandbox = true;
    c->key = json_string_value(json_object_get(r->manifest, "key"));
    c->inputs = json_object_get(r->manifest, "inputs_sha256");
    c->module_hash = json_string_value(json_object_get(r->manifest, "module_hash"));
    return true;
}

/* ---- what this machine lacks ---- */

static void lacks(replay *r, const char *format, const char *what) {
    text line;
    text_init(&line);
    text_append(&line, format);
    text_append(&line, what);
    json_array_append_new(r->missing, json_stringn_nocheck(line.data, line.length));
    text_release(&line);
}

static void check_backend(const job *j, replay *r) {
    backend_id id = backend_from_name(j->backend);
    status why = STATUS_INIT;
    uint32_t device;
    if (id >= BACKEND_COUNT)
        lacks(r, "no backend is called ", j->backend);
    else if (backend_is_tools(&backend_table[id]))
        lacks(r,
              "a replay starts no other programs, and this backend is made of them: ", j->backend);
    else if (*backend_table[id].driver && !backend_device(&backend_table[id], &device, &why))
        lacks(r, "", why.message);
}

static bool compatible(const recorded_case *c, replay *r) {
    const job *j = &c->job;
    json_t *numerics = json_object_get(r->manifest, "numerics_version");
    char reason[HOST_REASON_BYTES];
    if (json_integer_value(numerics) != TSR_NUMERICS_VERSION)
        lacks(r, "it was made under another version of the numerics", "");
    check_backend(j, r);
    if (j->isa && !host_isa_supports(j->isa)) {
        host_isa_why_not(j->isa, reason);
        lacks(r, "code for its ISA level cannot run here: ", reason);
    }
    if (j->fault && !fault_find(j->fault, strlen(j->fault)))
        lacks(r, "this tsr cannot make the fault ", j->fault);
    if (json_array_size(r->missing) == 0)
        return true;
    r->verdict = INCOMPATIBLE;
    return false;
}

/* The same source must still mean the same case: graph, sizes, inputs. */
static bool same_case(const recorded_case *c, const json_t *internal, replay *r) {
    const char *key = json_string_value(json_object_get(internal, "key"));
    const json_t *inputs = json_object_get(internal, "inputs");
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

typedef struct outcome {
    repro_outcome outcome;
    const char *sha256[DIGESTS_MAX];
    char stage[32];
} outcome;

static void read_outcome(const json_t *status_holder, const json_t *digests, const char *stage,
                         outcome *out) {
    const char *ended = json_string_value(json_object_get(status_holder, "status"));
    snprintf(out->stage, sizeof out->stage, "%s", stage ? stage : "");
    out->outcome = (repro_outcome){
        .status = ended ? ended : "", .stage = out->stage, .class_ = "", .sha256 = out->sha256};
    size_t i;
    json_t *digest;
    json_array_foreach(digests, i, digest) if (i < DIGESTS_MAX && json_is_string(digest))
        out->sha256[out->outcome.sha256_count++] = json_string_value(digest);
}

static void qualify(const recorded_case *c, replay *r) {
    json_t *facts = program_facts();
    const char *module = json_string_value(json_object_get(r->result, "module_hash"));
    if (!json_equal(json_object_get(r->manifest, "tsr"), facts))
        json_array_append_new(r->qualifiers, json_string("toolchain-drift"));
    if (c->recorded_isa && strcmp(c->job.isa, c->recorded_isa) != 0)
        json_array_append_new(r->qualifiers, json_string("other-isa"));
    if (module && c->module_hash && strcmp(module, c->module_hash) == 0)
        json_array_append_new(r->qualifiers, json_string("code-hash-same"));
    json_decref(facts);
}

/* Once where that settles it; else three times, to tell a steady failure from an unsteady one. */
static void run_case(const recorded_case *c, replay *r) {
    json_t *results[REPLAYS_MAX] = {NULL};
    outcome recorded = {.stage = ""}, seen[REPLAYS_MAX];
    repro_outcome replays[REPLAYS_MAX];
    const json_t *was = json_object_get(r->manifest, "outcome");
    int count = 0;
    read_outcome(was, json_object_get(was, "sha256"),
                 json_string_value(json_object_get(was, "stage")), &recorded);
    do {
        worker w;
        memset(&seen[count], 0, sizeof seen[count]);
        worker_init(&w, (uint64_t)c->timeout_s, (uint64_t)c->memory_mib, &interrupt_seen);
        json_t *result = results[count] = worker_run(&w, &c->job);
        if (result)
            read_outcome(result, json_object_get(json_object_get(result, "check"), "sha256"),
                         pack_stage(result, w.stage), &seen[count]);
        worker_stop(&w);
        if (!result) {
            r->verdict = REPRO_NO_VERDICT;
            break;
        }
        replays[count] = seen[count].outcome;
        count++;
        r->verdict = repro_judge(&recorded.outcome, replays, (size_t)count);
    } while (count < REPLAYS_MAX && r->verdict != REPRODUCED_EXACT &&
             r->verdict != REPRODUCED_CLASS);
    r->result = count ? json_incref(results[count - 1]) : NULL;
    for (int i = 0; i < REPLAYS_MAX; i++)
        json_decref(results[i]);
}

static void replay_pack(const pack *p, const char *isa, replay *r) {
    recorded_case c = {0};
    r->manifest = json_deep_copy(pack_about(p));
    if (read_case(p, &c, r)) {
        c.recorded_isa = c.job.isa;
        c.job.isa = isa ? isa : c.recorded_isa;
        if (compatible(&c, r))
            run_case(&c, r);
        if (r->verdict != REPRO_NO_VERDICT &&
            same_case(&c, json_object_get(r->result, "internal"), r))
            qualify(&c, r);
    }
    free(c.source);
}

bool replay_run(const replay_request *request, replay *out, status *st) {
    pack_state state;
    *out = (replay){.qualifiers = json_array(), .missing = json_array()};
    status why = STATUS_INIT;
    pack *p = pack_read(request->path, &state, &why);
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
    interrupt_watch();
    replay_pack(p, request->isa, out);
    pack_free(p);
    if (!interrupt_settle())
        out->verdict = REPRO_NO_VERDICT;
    return true;
}

void replay_release(replay *r) {
    json_decref(r->manifest);
    json_decref(r->result);
    json_decref(r->qualifiers);
    json_decref(r->missing);
}
