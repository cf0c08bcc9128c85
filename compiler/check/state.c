/* state.c - records of @state: one that was written is another value, and the old one, whose memory
 * the new one may have, is not used again. */
#include <string.h>

#include "check/check.h"

state_handle *state_new(checker *c, const char *root) {
    state_handle *h = ARENA_NEW(&c->memory, state_handle, 1);
    h->root = root;
    return h;
}

bool state_usable(checker *c, const entity *e, span at) {
    if (!e->state || !e->state->written)
        return true;
    diagnose_error(c->report, ERROR_STATE_USED, at,
                   "this %s was written, and there is a new one in its memory",
                   e->record->ast->name);
    diagnose_note(c->report, e->state->at, "written here");
    diagnose_help(c->report, "go on with what that gives: cache = cache.append(k, v)");
    return false;
}

state_handle *state_write(checker *c, state_handle *old, span at) {
    if (!old)
        return NULL;
    old->written = true;
    old->at = checker_place(c, at);
    if (old->root)
        vec_push(&c->written, ((value_origin){old->root, old->at}));
    return state_new(c, old->root);
}

state_handle *state_again(checker *c, const state_handle *h) {
    return h ? state_new(c, h->root) : NULL;
}
