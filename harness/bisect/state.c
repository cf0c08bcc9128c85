/* state.c - the search as a file. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/file.h"
#include "bisect/bisect.h"
#include "common/json_text.h"
#include "job/job.h"

enum { STATE_BYTES_MAX = 64 << 20 };

bool bisect_save(const bisect *b, status *st) {
    json_t *state = bisect_json(b), *made = json_array();
    for (size_t i = 0; i < b->made.count; i++)
        json_array_append_new(made, json_string(b->made.items[i]));
    json_object_set_new(state, "build", b->build ? json_string(b->build) : json_null());
    json_object_set(state, "gate", b->gate);
    json_object_set_new(state, "made", made);
    char *body = json_dumps(state, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    text whole;
    text_init(&whole);
    text_printf(&whole, "%s\n", body);
    bool ok = file_make_parent(BISECT_STATE, st) &&
              file_write_atomic(BISECT_STATE, whole.data, whole.length, st);
    text_release(&whole);
    free(body);
    json_decref(state);
    return ok;
}

static bool load_commit(bisect *b, const json_t *from) {
    const json_t *change = json_object_get(from, "change");
    bisect_commit c = {.hash = base_strdup(json_text_at(from, "commit")),
                       .subject = base_strdup(json_text_at(from, "subject")),
                       .mark = bisect_mark_of(json_text_at(from, "mark")),
                       .changed = json_is_object(change),
                       .change = json_number_value(json_object_get(change, "estimate")),
                       .low = json_number_value(json_object_get(change, "low")),
                       .high = json_number_value(json_object_get(change, "high"))};
    const char *why = json_string_value(json_object_get(from, "why"));
    c.why = why ? base_strdup(why) : NULL;
    vec_push(&b->commits, c);
    return *c.hash && c.mark != BISECT_MARK_COUNT && (c.why || c.mark == BISECT_UNTRIED);
}

static bool load_from(bisect *b, const json_t *state) {
    const char *build = json_string_value(json_object_get(state, "build"));
    bool ok = json_is_array(json_object_get(state, "gate"));
    size_t i;
    json_t *entry;
    b->good = base_strdup(json_text_at(state, "good"));
    b->bad = base_strdup(json_text_at(state, "bad"));
    b->build = build ? base_strdup(build) : NULL;
    b->gate = json_incref(json_object_get(state, "gate"));
    json_array_foreach(json_object_get(state, "made"), i, entry) {
        if (json_is_string(entry))
            vec_push(&b->made, base_strdup(json_string_value(entry)));
    }
    json_array_foreach(json_object_get(state, "commits"), i, entry) ok =
        load_commit(b, entry) && ok;
    return ok && *b->good && *b->bad && b->commits.count;
}

bool bisect_load(bisect *b, status *st) {
    char *data;
    size_t size;
    if (!file_exists(BISECT_STATE))
        return status_set(st, STATUS_NOT_FOUND, "there is no search to go on with (%s)",
                          BISECT_STATE);
    if (!file_read(BISECT_STATE, STATE_BYTES_MAX, &data, &size, st))
        return false;
    json_t *state = json_loadb(data, size, 0, NULL);
    bool ok = load_from(b, state);
    json_decref(state);
    free(data);
    return ok || status_set(st, STATUS_CORRUPT, "%s is damaged; begin anew", BISECT_STATE);
}
