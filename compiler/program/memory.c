/* memory.c - places of what lives between commands: slots whose spans meet lie apart.
 *
 * The commands are gone through in order: a slot takes the smallest hole that holds it when it is
 * first needed, or grows the arena, and leaves a hole behind its last command. An output is a hole,
 * too, until the first command that uses it; one that may be an input's buffer is none, as the
 * caller decides that. */
#include <stdlib.h>

#include "program/commands.h"

typedef struct hole {
    int64_t offset, bytes;
} hole;

typedef struct holes {
    VEC(hole) items; /* by offset; no two touch each other */
    int64_t end;     /* of the arena, or the output */
    int slot;        /* the output; -1: the arena */
    int64_t until;   /* the output is used from then on */
} holes;

typedef struct places {
    draft *p;
    VEC(holes) all; /* the arena first */
    int *where;     /* by slot: the holes that it lies in */
} places;

static int64_t rounded(int64_t bytes) {
    int64_t least = bytes ? bytes : 1;
    return (least + DRAFT_ALIGNMENT - 1) / DRAFT_ALIGNMENT * DRAFT_ALIGNMENT;
}

static void remove_hole(holes *h, size_t i) {
    for (; i + 1 < h->items.count; i++)
        h->items.items[i] = h->items.items[i + 1];
    h->items.count--;
}

/* The smallest hole that holds the bytes, and is smaller than `*best`; SIZE_MAX: there is none. */
static size_t smallest(const holes *h, int64_t bytes, int64_t *best) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < h->items.count; i++) {
        int64_t room = h->items.items[i].bytes;
        if (room >= bytes && room < *best) {
            found = i;
            *best = room;
        }
    }
    return found;
}

static int64_t take(holes *h, size_t number, int64_t bytes) {
    hole *found = &h->items.items[number];
    int64_t offset = found->offset;
    found->offset += bytes;
    found->bytes -= bytes;
    if (!found->bytes)
        remove_hole(h, number);
    return offset;
}

static int64_t grow(holes *h, int64_t bytes) {
    /* a hole at the end grows */
    hole *last = h->items.count ? &h->items.items[h->items.count - 1] : NULL;
    int64_t offset = last && last->offset + last->bytes == h->end ? last->offset : h->end;
    if (offset != h->end)
        h->items.count--;
    h->end = offset + bytes;
    return offset;
}

static void give(holes *h, int64_t offset, int64_t bytes) {
    hole made = {offset, bytes};
    size_t i = h->items.count;
    vec_push(&h->items, made);
    for (; i > 0 && h->items.items[i - 1].offset > offset; i--)
        h->items.items[i] = h->items.items[i - 1];
    h->items.items[i] = made;
    for (size_t k = i + 1; k-- > (i ? i - 1 : 0);) {
        hole *low = &h->items.items[k];
        if (k + 1 < h->items.count && low->offset + low->bytes == low[1].offset) {
            low->bytes += low[1].bytes;
            remove_hole(h, k + 1);
        }
    }
}

typedef struct slot_event {
    int64_t at;
    int starts; /* 1; 0: it ends, before others start */
    int slot;
} slot_event;

static int compare_events(const void *a, const void *b) {
    const slot_event *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->starts != y->starts ? x->starts - y->starts : x->slot - y->slot;
}

static bool is_donated_to(const draft *p, uint32_t output) {
    bool is = false;
    for (size_t i = 0; i < p->donations.count; i++)
        is |= p->donations.items[i].output == output;
    return is;
}

static void open_places(places *all, draft *p) {
    *all = (places){.p = p, .where = base_calloc(p->slots.count + 1, sizeof *all->where)};
    const holes own = {.slot = -1, .until = INT64_MAX};
    vec_push(&all->all, own);
    for (size_t i = 0; i < p->slots.count; i++) {
        const draft_slot *s = &p->slots.items[i];
        int64_t bytes = s->bytes / DRAFT_ALIGNMENT * DRAFT_ALIGNMENT;
        if (s->space != SLOT_OUTPUT || bytes == 0 || is_donated_to(p, s->index))
            continue;
        holes output = {.slot = (int)i, .until = s->first};
        output.end = bytes;
        give(&output, 0, bytes);
        vec_push(&all->all, output);
    }
}

/* In a hole of an output, if the slot has ended when that is used, or of the arena. */
static void place(places *all, int slot) {
    draft_slot *s = &all->p->slots.items[slot];
    int64_t bytes = rounded(s->bytes), best = INT64_MAX;
    size_t hole_number = SIZE_MAX;
    for (size_t i = all->all.count; i-- > 0 && (i > 0 || hole_number == SIZE_MAX);) {
        const holes *h = &all->all.items[i];
        size_t found = s->last < h->until ? smallest(h, bytes, &best) : SIZE_MAX;
        if (found == SIZE_MAX)
            continue;
        hole_number = found;
        all->where[slot] = (int)i;
    }
    holes *h = &all->all.items[all->where[slot]];
    s->offset = hole_number == SIZE_MAX ? grow(h, bytes) : take(h, hole_number, bytes);
}

/* The slots that lie in outputs are views of them from now on. */
static void lend(places *all) {
    for (size_t i = 0; i < all->p->slots.count; i++) {
        const holes *h = &all->all.items[all->where[i]];
        if (h->slot < 0)
            continue;
        all->p->slots.items[i].space = SLOT_OUTPUT;
        all->p->slots.items[i].index = all->p->slots.items[h->slot].index;
    }
}

static void close_places(places *all) {
    for (size_t i = 0; i < all->all.count; i++)
        vec_release(&all->all.items[i].items);
    vec_release(&all->all);
    free(all->where);
}

/* The starts and ends of the slots without a place, in order; to be freed. */
static slot_event *events_of(const draft *p, size_t *count) {
    slot_event *events = base_calloc(2 * p->slots.count + 1, sizeof *events);
    *count = 0;
    for (size_t i = 0; i < p->slots.count; i++) {
        const draft_slot *s = &p->slots.items[i];
        if (s->space != SLOT_ARENA)
            continue;
        events[(*count)++] = (slot_event){s->first, 1, (int)i};
        events[(*count)++] = (slot_event){s->last + 1, 0, (int)i};
    }
    qsort(events, *count, sizeof *events, compare_events);
    return events;
}

void draft_place(const ir_module *m, draft *p) {
    size_t count;
    places all;
    int64_t alive = 0;
    draft_keep_carried(m, p);
    draft_donate(m, p);
    open_places(&all, p);
    slot_event *events = events_of(p, &count);
    for (size_t i = 0; i < count; i++) {
        const slot_event *v = &events[i];
        int64_t bytes = rounded(p->slots.items[v->slot].bytes);
        if (v->starts)
            place(&all, v->slot);
        else
            give(&all.all.items[all.where[v->slot]], p->slots.items[v->slot].offset, bytes);
        if (all.where[v->slot] == 0)
            alive += v->starts ? bytes : -bytes;
        p->needed_bytes = alive > p->needed_bytes ? alive : p->needed_bytes;
    }
    lend(&all);
    p->arena_bytes = all.all.items[0].end;
    close_places(&all);
    free(events);
}
