/* memory.c - places in the arena: slots whose spans meet lie apart.
 *
 * The commands are gone through in order: a slot takes the smallest hole that holds it when it is
 * first needed, or grows the arena, and leaves a hole behind its last command. */
#include <stdlib.h>

#include "program/commands.h"

typedef struct hole {
    int64_t offset, bytes;
} hole;

typedef struct holes {
    VEC(hole) items; /* by offset; no two touch each other */
    int64_t end;     /* of the arena */
} holes;

static int64_t rounded(int64_t bytes) {
    int64_t least = bytes ? bytes : 1;
    return (least + DRAFT_ALIGNMENT - 1) / DRAFT_ALIGNMENT * DRAFT_ALIGNMENT;
}

static void remove_hole(holes *h, size_t i) {
    for (; i + 1 < h->items.count; i++)
        h->items.items[i] = h->items.items[i + 1];
    h->items.count--;
}

static int64_t take(holes *h, int64_t bytes) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < h->items.count; i++) {
        int64_t room = h->items.items[i].bytes;
        if (room >= bytes && (best == SIZE_MAX || room < h->items.items[best].bytes))
            best = i;
    }
    if (best != SIZE_MAX) {
        hole *found = &h->items.items[best];
        int64_t offset = found->offset;
        found->offset += bytes;
        found->bytes -= bytes;
        if (!found->bytes)
            remove_hole(h, best);
        return offset;
    }
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

void draft_place(const ir_module *m, draft *p) {
    draft_keep_carried(m, p);
    draft_donate(m, p);
    slot_event *events = base_calloc(2 * p->slots.count + 1, sizeof *events);
    size_t count = 0;
    holes h = {.end = 0};
    int64_t alive = 0;
    for (size_t i = 0; i < p->slots.count; i++) {
        const draft_slot *s = &p->slots.items[i];
        if (s->space != SLOT_ARENA)
            continue;
        events[count++] = (slot_event){s->first, 1, (int)i};
        events[count++] = (slot_event){s->last + 1, 0, (int)i};
    }
    qsort(events, count, sizeof *events, compare_events);
    for (size_t i = 0; i < count; i++) {
        draft_slot *s = &p->slots.items[events[i].slot];
        int64_t bytes = rounded(s->bytes);
        alive += events[i].starts ? bytes : -bytes;
        p->needed_bytes = alive > p->needed_bytes ? alive : p->needed_bytes;
        if (events[i].starts)
            s->offset = take(&h, bytes);
        else
            give(&h, s->offset, bytes);
    }
    p->arena_bytes = h.end;
    vec_release(&h.items);
    free(events);
}
