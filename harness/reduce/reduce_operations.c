/* reduce_operations.c - a kernel without operations that its failure has no need of. */
#include "job/result.h"
#include "reduce/reducer.h"

static int64_t operations(const reducer *r) {
    return reducer_size(r, "operations");
}

/* As many of the first operations as can go at once, found by halving. */
static void cut_beginning(reducer *r) {
    for (int64_t step = operations(r) / 2; step > 0 && !probes_ended(&r->probes); step /= 2)
        while (step < operations(r) && reducer_try(r, "suffix %lld", (long long)step))
            ;
}

static int64_t operands_of(const reducer *r, int64_t number) {
    const json_t *o = json_array_get(r->operations, (size_t)number - 1);
    return json_integer_value(json_object_get(o, "operands"));
}

/* An operation becomes an input, or one of its operands. */
static bool remove_one(reducer *r, int64_t number) {
    enum { OPERANDS = 3 };
    bool gone = reducer_try(r, "input %lld", (long long)number);
    const int64_t count = operands_of(r, number);
    for (int64_t k = 0; !gone && k < count && k < OPERANDS; k++)
        gone = reducer_try(r, "forward %lld %lld", (long long)number, (long long)k);
    return gone;
}

static bool remove_outputs(reducer *r) {
    bool any = false;
    for (int64_t o = reducer_size(r, "outputs") - 1; o >= 0 && reducer_size(r, "outputs") > 1; o--)
        any |= reducer_try(r, "output %lld", (long long)o);
    return any;
}

void reduce_operations(reducer *r) {
    bool progress = true;
    cut_beginning(r);
    while (progress && !probes_ended(&r->probes)) {
        progress = remove_outputs(r);
        for (int64_t n = operations(r); n > 0 && !probes_ended(&r->probes); n--)
            if (n <= operations(r))
                progress |= remove_one(r, n);
        progress &= operations(r) > 1;
    }
}
