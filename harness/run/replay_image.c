/* replay_image.c - see replay_image.h. */
#include "run/replay_image.h"

#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "common/exit_code.h"
#include "common/json_text.h"
#include "job/result.h"

static const char member[] = "module.tsrm";

static const pack_member *find(const pack *p) {
    for (size_t i = 0; i < pack_member_count(p); i++)
        if (strcmp(pack_member_at(p, i)->name, member) == 0)
            return pack_member_at(p, i);
    return NULL;
}

json_t *replay_image_about(const pack *p) {
    const pack_member *m = find(p);
    char hex[65];
    if (!m)
        return NULL;
    const sha256 digest = sha256_of(m->data, m->size_bytes);
    sha256_hex(&digest, hex);
    return json_pack("{s:s, s:s, s:I}", "member", member, "sha256", hex, "bytes",
                     (json_int_t)m->size_bytes);
}

bool replay_image_put(const pack *p, const char *folder, status *st) {
    const pack_member *m = find(p);
    text path;
    text_init(&path);
    text_printf(&path, "%s/%s", folder, member);
    const file_part part = {m->data, m->size_bytes};
    const bool ok = file_write_scratch(path.data, &part, 1, st);
    text_release(&path);
    return ok;
}

/* The runtime found that it is damaged, or nothing of this kernel. */
static bool is_no_module(const json_t *result, const replay_outcome *seen) {
    return strcmp(seen->stage, JOB_IMAGE_STAGE) == 0 &&
           json_integer_value(internal_get(result_internal(result), INTERNAL_EXIT)) == EXIT_INPUT;
}

bool replay_image_run(const replay_case *c, const char *folder, const replay_outcome *recorded,
                      json_t *about, const char **why) {
    replay_outcome seen = {.stage = ""};
    job j = *c->job;
    j.images = folder;
    json_t *result = replay_once(&j, c->timeout_seconds, c->memory_mib, &seen);
    if (!result) /* interrupted */
        return true;
    const job_outcome ended = result_outcome(result);
    const repro_verdict v = ended == OUTCOME_UNSUPPORTED
                                ? INCOMPATIBLE
                                : repro_judge(&recorded->outcome, &seen.outcome, 1);
    const bool sound = !is_no_module(result, &seen);
    json_object_set_new(about, "verdict", json_string(repro_verdict_name(v)));
    json_object_set_new(about, "status", json_string(outcome_name(ended)));
    json_object_set_new(about, "why", json_text(result_text(result, RESULT_WHY)));
    json_object_set(about, "digests", result_get(result, RESULT_SHA256));
    *why = json_text_at(about, "why");
    replay_outcome_release(&seen);
    json_decref(result);
    return sound;
}
