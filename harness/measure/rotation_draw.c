/* rotation_draw.c - which launch of a part reads what, writes where, and is looked at. */
#include <stdlib.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "measure/pattern.h"
#include "measure/rotation_parts.h"
#include "measure/ticks.h"

void rotation_hide(rotation *r) {
    uint64_t fresh = 0;
    if (getrandom(&fresh, sizeof fresh, GRND_NONBLOCK) != (ssize_t)sizeof fresh)
        fresh = ticks_kernel_ns();
    r->hidden ^= fresh;
}

/* Would a launch on content `a` that does nothing pass where the outputs of content `b` lie? */
static bool alike(const rotation *r, int a, int b) {
    bool told = false;
    if (a == b)
        return true;
    for (uint32_t i = 0; i < r->launch.output_count; i++) {
        told |= rotation_out(r, 0, i)->size_bytes > 0;
        if (*rotation_expected(r, (uint32_t)a, r->launch.input_count + i) !=
            *rotation_expected(r, (uint32_t)b, r->launch.input_count + i))
            return false;
    }
    return told && r->contents.known[a] && r->contents.known[b];
}

/* A target that does not hold the outputs of that content: one that nobody has written yet, else
 * any. `active` where there is none. */
static uint32_t choose_target(rotation *r, const uint32_t *active, uint32_t content) {
    uint32_t first = (uint32_t)(splitmix64(&r->hidden) % r->active), found = r->active;
    for (uint32_t k = 0; k < r->active; k++) {
        uint32_t slot = (first + k) % r->active;
        int below = r->part.source[active[slot]];
        if (below == ROTATION_NOT_WRITTEN)
            return slot;
        if (found == r->active && !alike(r, below, (int)content))
            found = slot;
    }
    return found;
}

static void shuffle_targets(rotation *r) {
    for (uint32_t i = 0; i < r->targets; i++) {
        uint32_t j = (uint32_t)(splitmix64(&r->hidden) % (i + 1));
        r->part.shuffled[i] = r->part.shuffled[j];
        r->part.shuffled[j] = i;
        r->part.source[i] = ROTATION_NOT_WRITTEN;
    }
}

static void reserve_order(rotation *r, uint64_t launches) {
    if (launches <= r->part.order_room)
        return;
    free(r->part.order);
    r->part.order = base_calloc(launches, sizeof *r->part.order);
    r->part.order_room = launches;
}

/* Chance of each launch, the same whatever came before it; 2^64 - 1: certain. */
static uint64_t chance_of(const rotation *r, uint64_t launches) {
    uint32_t spare = r->targets - 1 - r->active;
    double chance = spare / 2.0 / (double)launches;
    return chance >= 1 ? UINT64_MAX : (uint64_t)(chance * 0x1p64);
}

static void draw_launches(rotation *r, uint64_t launches) {
    uint32_t *active = r->part.shuffled + 1, spare = 1 + r->active;
    const uint64_t chance = launches ? chance_of(r, launches) : 0;
    for (r->part.launches = 0; r->part.launches < launches; r->part.launches++) {
        uint32_t place = (uint32_t)((r->next + r->part.launches) % r->sets);
        uint32_t slot = choose_target(r, active, r->contents.at[place]);
        if (slot == r->active && spare == r->targets)
            return;
        if (slot == r->active)
            active[slot = 0] = r->part.shuffled[spare++];
        r->part.order[r->part.launches] = rotation_args(r, place, active[slot]);
        r->part.source[active[slot]] = (int)r->contents.at[place];
        r->part.read[place] = true;
        if (splitmix64(&r->hidden) > chance)
            continue;
        if (spare == r->targets) {
            r->part.launches++;
            return;
        }
        active[slot] = r->part.shuffled[spare++];
    }
}

void rotation_draw_part(rotation *r, uint64_t awakens, uint64_t launches, bool all) {
    if (r->targets - 1 - r->active < 2 && launches > r->active)
        launches = r->active; /* each of them to a target of its own */
    reserve_order(r, launches);
    rotation_hide(r);
    shuffle_targets(r);
    for (uint32_t place = 0; place < r->sets; place++)
        r->part.read[place] = all;
    r->part.awakens = awakens;
    for (uint64_t i = r->next - awakens; i < r->next; i++) {
        r->part.read[i % r->sets] = true;
        r->part.source[r->part.shuffled[0]] = (int)r->contents.at[i % r->sets];
    }
    draw_launches(r, launches);
}

bool rotation_poison(rotation *r, bool all, status *st) {
    r->part.poison = splitmix64(&r->random);
    for (uint32_t target = 0; target < r->targets; target++)
        for (uint32_t i = 0; i < r->launch.output_count; i++) {
            rotation_buffer *b = rotation_out(r, target, i);
            if (!all && r->part.source[target] == ROTATION_NOT_WRITTEN)
                continue;
            pattern_fill(b->data, b->size_bytes, r->part.poison);
            if (!rotation_send(b, st))
                return false;
        }
    return true;
}
