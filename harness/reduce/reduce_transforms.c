/* reduce_transforms.c - a case that needs its transforms, of which the blocks become smaller: a
 * derivative, say, of one operation. */
#include <string.h>

#include "reduce/reducer.h"

/* The block of an operation, where that is wrong by itself: if the operation was what is known to
 * be wrong, it is one of the block's. */
static bool enter(reducer *r, int64_t number) {
    const char *operation = r->operation;
    if (!r->opinion && operation && strcmp(operation, reducer_name(r, number)) == 0)
        r->operation = NULL;
    if (reducer_try(r, "inside %lld", (long long)number))
        return true;
    r->operation = operation;
    return false;
}

/* Transforms, branches and loops have blocks. */
static bool go_inside(reducer *r) {
    for (int64_t n = 1; n <= reducer_operations(r) && !probes_ended(&r->probes); n++)
        if (reducer_inside(r, n) >= 0 && enter(r, n))
            return true;
    return false;
}

static bool keep(reducer *r, int64_t first, int64_t last) {
    const int64_t before = reducer_operations(r);
    return reducer_try(r, "keep %lld %lld", (long long)first, (long long)last) &&
           reducer_operations(r) < before;
}

/* One operation of the block, or the fewest side by side. */
static bool keep_few(reducer *r, int64_t transform) {
    enum { SINGLES = 64 };
    const int64_t first = transform + 1, count = reducer_inside(r, transform);
    for (int64_t n = 0; n < count && n < SINGLES && !probes_ended(&r->probes); n++)
        if (keep(r, first + n, first + n))
            return true;
    for (int64_t step = count / 2; step > 0 && !probes_ended(&r->probes); step /= 2)
        if (keep(r, first, first + count - 1 - step) || keep(r, first + step, first + count - 1))
            return true;
    return false;
}

/* Another transform may stand before it: the kernel is that one alone, then. */
static bool keep_block(reducer *r) {
    for (int64_t n = 1; n <= reducer_operations(r) && !probes_ended(&r->probes); n++)
        if (reducer_inside(r, n) > 1 && keep_few(r, n))
            return true;
    return false;
}

void reduce_to_block(reducer *r) {
    while (go_inside(r))
        ;
}

void reduce_transforms(reducer *r) {
    reduce_operations(r);
    bool progress = true;
    while (progress && !probes_ended(&r->probes)) {
        progress = keep_block(r);
        const int64_t before = reducer_operations(r);
        reduce_operations(r);
        progress |= reducer_operations(r) < before;
    }
}
