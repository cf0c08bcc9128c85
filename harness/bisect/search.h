/* search.h - which commit to try next, between one that is fast and one that is slow.
 *
 * Commits stand in order, oldest first; the one before the first is known to be good, the last is
 * known to be bad. What cannot be judged is skipped, and its neighbours are tried instead. */
#ifndef TESSERA_HARNESS_BISECT_SEARCH_H
#define TESSERA_HARNESS_BISECT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

typedef enum bisect_mark {
    BISECT_UNTRIED,
    BISECT_GOOD,
    BISECT_BAD,
    BISECT_SKIPPED,
    BISECT_MARK_COUNT
} bisect_mark;
const char *bisect_mark_name(bisect_mark mark);
/* BISECT_MARK_COUNT where the name is none. */
bisect_mark bisect_mark_of(const char *name);

typedef struct bisect_range {
    size_t begin, end; /* the first bad commit is in [begin, end); one commit: it is found */
    size_t next;       /* the one to try; `end` where none is left: what remains was skipped */
    size_t left;       /* tries that are left at most, without further skips */
} bisect_range;

/* `marks` of `count` commits, count >= 1; the last is BISECT_BAD. */
bisect_range bisect_search(const bisect_mark *marks, size_t count);

#endif
