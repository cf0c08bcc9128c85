/* verdict.c - see verdict.h. */
#include "verdict.h"

#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    int exit_code;
    const char *meaning;
} verdicts[REPRO_VERDICT_COUNT] = {
    [REPRO_NO_VERDICT] = {"none", 70, ""},
#define VERDICT(name, exit_code, meaning) [name] = {#name, exit_code, meaning},
#include "verdict.def"
#undef VERDICT
};

const char *repro_verdict_name(repro_verdict v) {
    return (unsigned)v < REPRO_VERDICT_COUNT ? verdicts[v].name : "unknown";
}

int repro_verdict_exit(repro_verdict v) {
    return (unsigned)v < REPRO_VERDICT_COUNT ? verdicts[v].exit_code : 70;
}

const char *repro_verdict_meaning(repro_verdict v) {
    return (unsigned)v < REPRO_VERDICT_COUNT ? verdicts[v].meaning : "";
}

static bool same_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_ok(const repro_outcome *o) {
    return same_text(o->status, "ok");
}

static bool same_digests(const repro_outcome *a, const repro_outcome *b) {
    if (a->sha256_count != b->sha256_count)
        return false;
    for (size_t i = 0; i < a->sha256_count; i++)
        if (!same_text(a->sha256[i], b->sha256[i]))
            return false;
    return true;
}

static bool same_place(const repro_outcome *a, const repro_outcome *b) {
    return same_text(a->status, b->status) && same_text(a->stage, b->stage);
}

static bool same_outcome(const repro_outcome *a, const repro_outcome *b) {
    return same_place(a, b) && same_text(a->class_, b->class_) && same_digests(a, b);
}

repro_verdict repro_judge(const repro_outcome *recorded, const repro_outcome *replays,
                          size_t count) {
    if (count == 0)
        return REPRO_NO_VERDICT;
    for (size_t i = 1; i < count; i++)
        if (!same_outcome(&replays[0], &replays[i]))
            return NONDETERMINISTIC;
    if (is_ok(recorded))
        return is_ok(replays) && same_digests(recorded, replays) ? REPRODUCED_EXACT
                                                                 : DIFFERENT_FAILURE;
    if (is_ok(replays))
        return NOT_REPRODUCED;
    if (!same_place(recorded, replays))
        return DIFFERENT_FAILURE;
    if (recorded->sha256_count == 0 && replays->sha256_count == 0)
        return REPRODUCED_CLASS;
    if (!same_text(recorded->class_, replays->class_))
        return DIFFERENT_FAILURE;
    return same_digests(recorded, replays) ? REPRODUCED_EXACT : REPRODUCED_CLASS;
}
