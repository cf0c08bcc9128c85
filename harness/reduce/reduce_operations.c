/* reduce_operations.c - a kernel without operations that its failure has no need of. */
#include <string.h>

#include "common/json_text.h"
#include "job/result.h"
#include "reduce/reducer.h"

/* As many of the first operations as can go at once, found by halving. */
static void cut_beginning(reducer *r) {
    for (int64_t step = reducer_operations(r) / 2; step > 0 && !probes_ended(&r->probes); step /= 2)
        while (step < reducer_operations(r) && reducer_try(r, "suffix %lld", (long long)step))
            ;
}

/* Without so many of the last operations; false: that is not less, as those of a block go together.
 */
static bool cut(reducer *r, int64_t count) {
    const int64_t before = reducer_operations(r);
    return count < before && reducer_try(r, "prefix %lld", (long long)(before - count)) &&
           reducer_operations(r) < before;
}

/* As many of the last operations as can go at once, found by halving. */
static void cut_end(reducer *r) {
    for (int64_t step = reducer_operations(r) / 2; step > 0 && !probes_ended(&r->probes); step /= 2)
        while (cut(r, step))
            ;
}

static int64_t operands_of(const reducer *r, int64_t number) {
    const json_t *o = json_array_get(r->operations, (size_t)number - 1);
    return json_integer_value(json_object_get(o, "operands"));
}

/* It becomes one of those of its name before it: constants, say, and what is made of them. */
static bool merge_one(reducer *r, int64_t number) {
    enum { OTHERS = 3 };
    bool gone = false;
    for (int64_t other = 1, tried = 0; other < number && tried < OTHERS && !gone; other++)
        if (strcmp(reducer_name(r, other), reducer_name(r, number)) == 0) {
            gone = reducer_try(r, "same %lld %lld", (long long)number, (long long)other);
            tried++;
        }
    return gone;
}

/* An operation becomes an input, one of its operands, or one like it. */
static bool remove_one(reducer *r, int64_t number) {
    enum { OPERANDS = 3 };
    bool gone = reducer_try(r, "input %lld", (long long)number);
    const int64_t count = operands_of(r, number);
    for (int64_t k = 0; !gone && k < count && k < OPERANDS; k++)
        gone = reducer_try(r, "forward %lld %lld", (long long)number, (long long)k);
    return gone || merge_one(r, number);
}

static bool remove_outputs(reducer *r) {
    bool any = false;
    for (int64_t o = reducer_size(r, "outputs") - 1; o >= 0 && reducer_size(r, "outputs") > 1; o--)
        any |= reducer_try(r, "output %lld", (long long)o);
    return any;
}

void reduce_operations(reducer *r) {
    bool progress = true;
    cut_end(r);
    cut_beginning(r);
    while (progress && !probes_ended(&r->probes)) {
        progress = remove_outputs(r);
        for (int64_t n = reducer_operations(r); n > 0 && !probes_ended(&r->probes); n--)
            if (n <= reducer_operations(r))
                progress |= remove_one(r, n);
        progress &= reducer_operations(r) > 1;
    }
}
