/* group_set.c - sorted lists of groups. */
#include "schedule/group_set.h"

#include <string.h>

group_set group_set_of(arena *a, int group) {
    return (group_set){arena_copy(a, &group, sizeof group), 1};
}

/* The place of the first item that is not below `group`. */
static int lower_bound(group_set s, int group) {
    int low = 0, high = s.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s.items[middle] < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool group_set_has(group_set s, int group) {
    int at = lower_bound(s, group);
    return at < s.count && s.items[at] == group;
}

bool group_set_meets(group_set s, group_set t) {
    for (int i = 0, k = 0; i < s.count && k < t.count;) {
        if (s.items[i] == t.items[k])
            return true;
        if (s.items[i] < t.items[k])
            i++;
        else
            k++;
    }
    return false;
}

static bool holds_all(group_set s, group_set t) {
    for (int i = 0; i < t.count; i++)
        if (!group_set_has(s, t.items[i]))
            return false;
    return true;
}

group_set group_set_join(arena *a, group_set s, group_set t) {
    if (holds_all(s, t))
        return s;
    if (holds_all(t, s))
        return t;
    int *items = ARENA_NEW(a, int, s.count + t.count), count = 0;
    for (int i = 0, k = 0; i < s.count || k < t.count;)
        if (k == t.count || (i < s.count && s.items[i] < t.items[k]))
            items[count++] = s.items[i++];
        else if (i == s.count || t.items[k] < s.items[i])
            items[count++] = t.items[k++];
        else
            items[count++] = s.items[i++], k++;
    return (group_set){items, count};
}

group_set group_set_without(arena *a, group_set s, group_set t) {
    if (!group_set_meets(s, t))
        return s;
    int *items = ARENA_NEW(a, int, s.count), count = 0;
    for (int i = 0; i < s.count; i++)
        if (!group_set_has(t, s.items[i]))
            items[count++] = s.items[i];
    return (group_set){items, count};
}
