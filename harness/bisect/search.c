/* search.c - halves what is left, around what was skipped. */
#include "bisect/search.h"

#include <string.h>

static const char *const names[BISECT_MARK_COUNT] = {"untried", "good", "bad", "skipped"};

const char *bisect_mark_name(bisect_mark mark) {
    return names[mark];
}

bisect_mark bisect_mark_of(const char *name) {
    int mark = 0;
    while (mark < BISECT_MARK_COUNT && strcmp(names[mark], name) != 0)
        mark++;
    return (bisect_mark)mark;
}

bisect_range bisect_search(const bisect_mark *marks, size_t count) {
    bisect_range r = {0, count, count, 0};
    for (size_t i = 0; i < count; i++)
        if (marks[i] == BISECT_GOOD)
            r.begin = i + 1;
    r.end = r.begin;
    while (marks[r.end] != BISECT_BAD)
        r.end++;
    /* The untried one nearest to the middle. */
    size_t last = r.end, middle = (r.begin + last) / 2, untried = 0, nearest = count;
    r.end = last + 1;
    r.next = r.end;
    for (size_t i = r.begin; i < last; i++) {
        size_t distance = i > middle ? i - middle : middle - i;
        if (marks[i] != BISECT_UNTRIED)
            continue;
        untried++;
        if (distance < nearest) {
            nearest = distance;
            r.next = i;
        }
    }
    for (; untried; untried /= 2)
        r.left++;
    return r;
}
