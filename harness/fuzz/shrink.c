/* shrink.c - takes pieces away, then makes numbers smaller, until nothing helps any more. */
#include "fuzz/shrink.h"

#include <string.h>

typedef struct shrink_state {
    choice_list *best;
    shrink_fails_fn fails;
    void *context;
    uint32_t attempts, limit;
} shrink_state;

/* Takes the candidate over where it fails. */
static bool attempt(shrink_state *s, choice_list *candidate) {
    bool better = s->attempts < s->limit;
    s->attempts += better;
    better = better && s->fails(s->context, candidate);
    if (better) {
        choice_list old = *s->best;
        *s->best = *candidate;
        *candidate = old;
    }
    vec_release(candidate);
    return better;
}

static choice_list copy_without(const choice_list *list, size_t at, size_t count) {
    choice_list copy = {0};
    for (size_t i = 0; i < list->count; i++)
        if (i < at || i >= at + count)
            vec_push(&copy, list->items[i]);
    return copy;
}

static bool delete_pieces(shrink_state *s) {
    bool any = false;
    for (size_t size = 16; size > 0; size /= 2)
        for (size_t at = s->best->count; at-- > 0 && s->attempts < s->limit;) {
            if (at + size > s->best->count)
                continue;
            choice_list shorter = copy_without(s->best, at, size);
            any |= attempt(s, &shorter);
        }
    return any;
}

static bool try_number(shrink_state *s, size_t at, uint32_t number) {
    choice_list other = copy_without(s->best, s->best->count, 0);
    other.items[at] = number;
    return attempt(s, &other);
}

static bool lower_numbers(shrink_state *s) {
    bool any = false;
    for (size_t at = 0; at < s->best->count && s->attempts < s->limit; at++) {
        uint32_t now = s->best->items[at];
        if (now == 0)
            continue;
        bool lower = try_number(s, at, 0) || (now > 1 && try_number(s, at, now / 2)) ||
                     (now > 2 && try_number(s, at, now - 1));
        any |= lower;
    }
    return any;
}

uint32_t shrink_choices(choice_list *best, shrink_fails_fn fails, void *context,
                        uint32_t attempts) {
    shrink_state s = {best, fails, context, 0, attempts};
    while (s.attempts < s.limit && (delete_pieces(&s) | lower_numbers(&s)))
        continue;
    return s.attempts;
}
