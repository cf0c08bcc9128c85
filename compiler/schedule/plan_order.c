/* plan_order.c - the order in which groups can run, kept up to date while groups take in values.
 *
 * Each group has a position, below those of all groups that wait for it. A question "does one wait
 * for the other?" looks only at positions between the two, and a new dependency moves only groups
 * between them: Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic
 * graphs", 2007. */
#include <stdlib.h>

#include "schedule/plan.h"

typedef VEC(int) int_list;

/* Marks `from` and all groups that it waits for, down to the position `low`, with a new mark. */
static void mark_waited(plan *p, int from, int low) {
    int_list waiting = {0};
    p->mark++;
    p->groups[from].mark = p->mark;
    vec_push(&waiting, from);
    while (waiting.count) {
        group_set depends = p->groups[vec_pop(&waiting)].depends;
        for (int i = 0; i < depends.count; i++) {
            plan_group *g = &p->groups[depends.items[i]];
            if (g->mark == p->mark || g->position < low)
                continue;
            g->mark = p->mark;
            vec_push(&waiting, depends.items[i]);
        }
    }
    vec_release(&waiting);
}

bool plan_waits(plan *p, int from, int to) {
    int low = p->groups[to].position;
    if (from == to)
        return true;
    if (p->groups[from].position < low)
        return false;
    mark_waited(p, from, low);
    return p->groups[to].mark == p->mark;
}

bool plan_closes_circle(plan *p, int group, group_set reads) {
    for (int i = 0; i < reads.count; i++)
        if (reads.items[i] != group && plan_waits(p, reads.items[i], group))
            return true;
    return false;
}

/* Moves what `first` waits for from behind the position of `group` to before it. */
static void move_before(plan *p, int first, int group) {
    int low = p->groups[group].position, high = p->groups[first].position, at = low;
    int_list later = {0};
    mark_waited(p, first, low);
    for (int i = low; i <= high; i++) {
        int g = p->sequence.items[i];
        if (p->groups[g].mark == p->mark)
            p->sequence.items[at++] = g;
        else
            vec_push(&later, g);
    }
    for (size_t i = 0; i < later.count; i++)
        p->sequence.items[at++] = later.items[i];
    for (int i = low; i <= high; i++)
        p->groups[p->sequence.items[i]].position = i;
    vec_release(&later);
}

void plan_depend(plan *p, int group, group_set reads) {
    group_set itself = {&group, 1};
    reads = group_set_without(&p->memory, reads, itself);
    p->groups[group].depends = group_set_join(&p->memory, p->groups[group].depends, reads);
    for (int i = 0; i < reads.count; i++)
        if (p->groups[reads.items[i]].position > p->groups[group].position)
            move_before(p, reads.items[i], group);
}

/* ---- the order of a whole plan ---- */

/* A heap with the least number on top. */
static void heap_push(int_list *h, int item) {
    vec_push(h, item);
    for (size_t i = h->count - 1; i > 0 && h->items[(i - 1) / 2] > h->items[i]; i = (i - 1) / 2) {
        int parent = h->items[(i - 1) / 2];
        h->items[(i - 1) / 2] = h->items[i];
        h->items[i] = parent;
    }
}

static int heap_pop(int_list *h) {
    int top = h->items[0], last = vec_pop(h);
    size_t i = 0, child;
    if (!h->count)
        return top;
    for (; (child = 2 * i + 1) < h->count; i = child) {
        child += child + 1 < h->count && h->items[child + 1] < h->items[child];
        if (h->items[child] >= last)
            break;
        h->items[i] = h->items[child];
    }
    h->items[i] = last;
    return top;
}

/* Groups that wait for each group: those of g are from first[g] to first[g + 1] of the result. */
static int *waiting_groups(const plan *p, int *first) {
    int total = 0;
    for (int g = 0; g < p->group_count; g++)
        for (int i = 0; i < p->groups[g].depends.count; i++, total++)
            first[p->groups[g].depends.items[i] + 1]++;
    int *list = base_calloc((size_t)total + 1, sizeof *list);
    int *end = base_calloc((size_t)p->group_count + 1, sizeof *end);
    for (int g = 0; g < p->group_count; g++) {
        first[g + 1] += first[g];
        end[g] = first[g];
    }
    for (int g = 0; g < p->group_count; g++)
        for (int i = 0; i < p->groups[g].depends.count; i++)
            list[end[p->groups[g].depends.items[i]]++] = g;
    free(end);
    return list;
}

bool plan_order(const plan *p, int *order) {
    size_t n = (size_t)p->group_count + 1;
    int *first = base_calloc(n + 1, sizeof *first), *missing = base_calloc(n, sizeof *missing);
    int *waiting = waiting_groups(p, first), count = 0;
    int_list ready = {0};
    for (int g = 0; g < p->group_count; g++) {
        missing[g] = p->groups[g].depends.count;
        if (!missing[g])
            heap_push(&ready, g);
    }
    while (ready.count) {
        int g = heap_pop(&ready);
        order[count++] = g;
        for (int i = first[g]; i < first[g + 1]; i++)
            if (--missing[waiting[i]] == 0)
                heap_push(&ready, waiting[i]);
    }
    free(first);
    free(missing);
    free(waiting);
    vec_release(&ready);
    return count == p->group_count;
}
