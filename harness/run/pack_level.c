/* pack_level.c - see pack_level.h. Members are ir/NN-PASS.mlir (exec/staging.c). */
#include "run/pack_level.h"

#include <stdio.h>
#include <string.h>

/* The pass behind which each is; NULL: the last that there is. */
static const struct level {
    const char *name, *pass;
} levels[] = {{"graph", "graph"}, {"schedule", "schedule"}, {"tile", "tile"}, {"target", NULL}};

static const struct level *find(const char *name) {
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i].name, name) == 0)
            return &levels[i];
    return NULL;
}

bool pack_level_is_one(const char *level) {
    return find(level) != NULL;
}

/* "schedule" of "ir/22-schedule.mlir". */
static bool pass_of(const char *member, char pass[64]) {
    static const char folder[] = "ir/", suffix[] = ".mlir";
    const size_t length = strlen(member), ends = sizeof suffix - 1;
    const char *dash = strchr(member, '-');
    if (strncmp(member, folder, sizeof folder - 1) != 0 || !dash || length < ends ||
        strcmp(member + length - ends, suffix) != 0 || dash + 1 > member + length - ends)
        return false;
    snprintf(pass, 64, "%.*s", (int)(member + length - ends - dash - 1), dash + 1);
    return true;
}

bool pack_level_find(const pack *p, const char *level, pack_level *out) {
    const struct level *wanted = find(level);
    char pass[64];
    *out = (pack_level){.ir = NULL};
    bool lowered = false; /* only what stands behind it is for the target */
    for (size_t i = 0; wanted && i < pack_member_count(p); i++) {
        const pack_member *m = pack_member_at(p, i);
        if (!pass_of(m->name, pass) || memchr(m->data, '\0', m->size_bytes))
            continue;
        lowered |= strcmp(pass, "tile") == 0;
        if (wanted->pass ? strcmp(pass, wanted->pass) != 0 : !lowered)
            continue;
        out->ir = m->data;
        snprintf(out->pass, sizeof out->pass, "%s", strcmp(pass, "graph") == 0 ? "" : pass);
    }
    return out->ir != NULL;
}
