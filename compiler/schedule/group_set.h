/* group_set.h - sets of a plan's groups, and the order in which groups can run.
 *
 * A set is a sorted list: most groups read few others. Sets are immutable; what is added makes a
 * new list in the plan's arena, and equal sets share theirs. */
#ifndef TESSERA_SCHEDULE_GROUP_SET_H
#define TESSERA_SCHEDULE_GROUP_SET_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct group_set {
    const int *items; /* ascending */
    int count;
} group_set;

group_set group_set_of(arena *a, int group);
bool group_set_has(group_set s, int group);
/* Has a group that is in both. */
bool group_set_meets(group_set s, group_set t);
group_set group_set_join(arena *a, group_set s, group_set t);
/* `s` without the groups of `t`. */
group_set group_set_without(arena *a, group_set s, group_set t);

#endif
