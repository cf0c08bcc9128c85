/* reduce_values.c - fewer elements, and plainer ones. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "job/result.h"
#include "reduce/reducer.h"

/* ---- dimensions of the source ---- */

/* The same words with another number behind `name=`. */
static void with_value(const char *dims, size_t at, long long value, text *out) {
    const char *equal = strchr(dims + at, '=');
    const size_t end = at + strcspn(dims + at, ",");
    text_clear(out);
    text_append_bytes(out, dims, (size_t)(equal - dims) + 1);
    text_printf(out, "%lld%s", value, dims + end);
}

static bool shrink(reducer *r, size_t at, long long *value) {
    text words;
    text_init(&words);
    bool any = false, goes_on = *value > 1;
    with_value(r->dims, at, 1, &words);
    if (goes_on && reducer_try_dims(r, words.data)) {
        any = true;
        goes_on = false;
    }
    while (goes_on && *value > 2) {
        with_value(r->dims, at, *value / 2, &words);
        goes_on = reducer_try_dims(r, words.data);
        any |= goes_on;
        if (goes_on)
            *value /= 2;
    }
    text_release(&words);
    return any;
}

static void shrink_source(reducer *r) {
    for (size_t at = 0; r->dims && r->dims[at]; at += r->dims[at] == ',') {
        char *end;
        const char *equal = strchr(r->dims + at, '=');
        long long value = equal ? strtoll(equal + 1, &end, 10) : 0;
        if (equal && end != equal + 1 && (*end == ',' || !*end))
            (void)shrink(r, at, &value);
        at += strcspn(r->dims + at, ",");
    }
}

/* ---- axes whose positions stay apart ---- */

static void shrink_axes(reducer *r) {
    enum { AXES = 8, HALVINGS = 16 };
    for (int axis = AXES - 1; axis >= 0; axis--) {
        if (reducer_try(r, "part %d 1", axis))
            continue;
        bool shorter = false, goes_on = true;
        for (int h = HALVINGS; h > 0 && goes_on && !probes_ended(&r->probes); h--) {
            const bool taken = reducer_try(r, "part %d %lld", axis, 1LL << h);
            goes_on = taken || !shorter;
            shorter |= taken;
        }
    }
}

void reduce_dimensions(reducer *r) {
    shrink_source(r);
    shrink_axes(r);
}

/* ---- elements ---- */

static int64_t elements_of(const reducer *r, size_t input) {
    return json_integer_value(json_array_get(json_object_get(r->size, "inputs"), input));
}

static bool fill(reducer *r, size_t input, int64_t first, int64_t last, int value) {
    return reducer_try(r, "fill %zu %lld %lld %d", input, (long long)first, (long long)last, value);
}

/* Pieces become 0 where the whole cannot. */
static void fill_pieces(reducer *r, size_t input) {
    enum { PIECES = 16 };
    const int64_t count = elements_of(r, input), pieces = count < PIECES ? count : PIECES;
    for (int64_t i = 0; i < pieces && !probes_ended(&r->probes); i++)
        if (!fill(r, input, i * count / pieces, (i + 1) * count / pieces, 0))
            (void)fill(r, input, i * count / pieces, (i + 1) * count / pieces, 1);
}

void reduce_values(reducer *r) {
    const size_t inputs = json_array_size(json_object_get(r->size, "inputs"));
    for (size_t i = 0; i < inputs && !probes_ended(&r->probes); i++)
        if (elements_of(r, i) > 0 && !fill(r, i, 0, elements_of(r, i), 0) &&
            !fill(r, i, 0, elements_of(r, i), 1))
            fill_pieces(r, i);
}
