/* pack_sign.c - see pack_sign.h. */
#include "run/pack_sign.h"

#include "common/json_text.h"
#include "measure/host_facts.h"
#include "run/replay.h"

bool pack_sign_check(const char *key_path, status *st) {
    sign_key *key = sign_key_open(key_path, st);
    sign_key_close(key);
    return key != NULL;
}

static json_t *predicate_of(const replay *r) {
    return json_pack("{s:s, s:O, s:O*, s:O*, s:o}", "verdict", repro_verdict_name(r->verdict),
                     "qualifiers", r->qualifiers, "case", json_object_get(r->manifest, "case"),
                     "outcome", json_object_get(r->manifest, "outcome"), "tsr", program_facts());
}

bool pack_sign(const char *path, bool trusted, const char *key_path,
               char keyid_out[SIGN_KEYID_BYTES], status *st) {
    const replay_request request = {.path = path,
                                    .trust = trusted,
                                    .timeout_seconds = REPLAY_TIMEOUT_S,
                                    .memory_mib = replay_memory_mib(),
                                    .threads = REPLAY_THREADS};
    replay r;
    sign_key *key = sign_key_open(key_path, st);
    if (!key)
        return false;
    bool ok = replay_run(&request, &r, st);
    if (ok && r.verdict == REPRO_NO_VERDICT)
        ok = status_set(st, STATUS_INTERRUPTED, "interrupted: nothing was signed");
    json_t *predicate = ok ? predicate_of(&r) : NULL;
    ok = ok && sign_pack(path, key, predicate, keyid_out, st);
    json_decref(predicate);
    replay_release(&r);
    sign_key_close(key);
    return ok;
}
