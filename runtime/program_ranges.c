/* program_ranges.c - see program_ranges.h. */
#include "program_ranges.h"

#include <string.h>

program_written program_written_new(uint32_t count) {
    return (program_written){base_calloc(count, sizeof(program_ranges)), count};
}

void program_written_free(program_written *w) {
    for (uint32_t i = 0; i < w->count; i++)
        vec_release(&w->buffers[i]);
    free(w->buffers);
    *w = (program_written){0};
}

program_written program_written_copy(const program_written *w) {
    program_written copy = program_written_new(w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        size_t count = w->buffers[i].count;
        vec_reserve(&copy.buffers[i], count);
        copy.buffers[i].count = count;
        if (count)
            memcpy(copy.buffers[i].items, w->buffers[i].items, count * sizeof(program_range));
    }
    return copy;
}

static void intersect(program_ranges *a, const program_ranges *b) {
    program_ranges both = {0};
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const program_range x = a->items[i], y = b->items[k];
        const program_range common = {x.from > y.from ? x.from : y.from, x.to < y.to ? x.to : y.to};
        if (common.from < common.to)
            vec_push(&both, common);
        *(x.to < y.to ? &i : &k) += 1;
    }
    vec_release(a);
    *a = both;
}

void program_written_intersect(program_written *w, const program_written *other) {
    for (uint32_t i = 0; i < w->count; i++)
        intersect(&w->buffers[i], &other->buffers[i]);
}

/* The first range that ends at `at` or behind it. */
static size_t first_ending(const program_ranges *r, int64_t at) {
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->items[middle].to < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void program_written_add(program_written *w, uint32_t buffer, int64_t from, int64_t bytes) {
    program_ranges *r = &w->buffers[buffer];
    program_range added = {from, from + bytes};
    if (bytes == 0)
        return;
    size_t first = first_ending(r, from), last = first;
    for (; last < r->count && r->items[last].from <= added.to; last++) {
        const program_range old = r->items[last];
        added.from = old.from < added.from ? old.from : added.from;
        added.to = old.to > added.to ? old.to : added.to;
    }
    if (last == first) {
        vec_push(r, added); /* for its room */
        last = first + 1;
        memmove(r->items + last, r->items + first, (r->count - last) * sizeof added);
    } else {
        memmove(r->items + first + 1, r->items + last, (r->count - last) * sizeof added);
        r->count -= last - first - 1;
    }
    r->items[first] = added;
}

bool program_written_has(const program_written *w, uint32_t buffer, int64_t from, int64_t bytes) {
    const program_ranges *r = &w->buffers[buffer];
    size_t at = first_ending(r, from + bytes);
    return bytes == 0 || (at < r->count && r->items[at].from <= from);
}
