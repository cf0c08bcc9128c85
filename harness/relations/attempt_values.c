/* attempt_values.c - relations about what stands in the inputs where it must not matter: behind a
 * mask, at elements that an output is not made from, and in the payload of a NaN. What an output is
 * made from follows from the kernel's graph (compiler_needed). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/splitmix64.h"
#include "relations/attempt.h"

enum { ELEMENTS_TRIED = 2, REPETITIONS = 3 };

/* ---- special values ---- */

static void put_bits(tensor *t, int64_t index, uint64_t bits) {
    size_t size = dtype_size(t->type);
    memcpy((char *)t->data + (size_t)index * size, &bits, size);
}

/* A quiet NaN of any sign and payload that the type has. */
static void put_nan(tensor *t, int64_t index, uint64_t random) {
    const dtype_format *f = dtype_format_of(t->type);
    uint64_t bits = f->nan, sign = UINT64_C(1) << (8 * dtype_size(t->type) - 1);
    if (f->infinity) {
        int behind = __builtin_ctzll(f->infinity) - f->mantissa_bits; /* tf32 has bits of an f32 */
        bits |= (random >> 1 & ((UINT64_C(1) << (f->mantissa_bits - 1)) - 1)) << behind;
    }
    put_bits(t, index, random & 1 ? bits | sign : bits & ~sign);
}

/* NaN, an infinity, a zero of either sign, a subnormal number, the greatest. */
static void put_special(tensor *t, int64_t index, uint64_t *random) {
    const dtype_format *f = dtype_format_of(t->type);
    uint64_t drawn = splitmix64(random);
    double sign = drawn >> 32 & 1 ? -1 : 1;
    const double values[] = {INFINITY, 0, f->spacing, f->spacing * 3, f->largest};
    size_t which = drawn >> 40 & 7;
    if (which < sizeof values / sizeof *values)
        dtype_store(t->type, t->data, (size_t)index, sign * values[which]);
    else
        put_nan(t, index, splitmix64(random));
}

static bool copy_inputs(const attempt *t, tensor *out, status *st) {
    for (uint32_t i = 0; i < t->shape->signature.input_count; i++) {
        const tensor *x = &t->shape->inputs[i];
        if (!tensor_init(&out[i], x->type, x->rank, x->dims, st))
            return false;
        memcpy(out[i].data, x->data, tensor_bytes(x));
    }
    return true;
}

/* One element of eight of the floats. */
static void make_special(attempt *t, tensor *inputs) {
    for (uint32_t i = 0; i < t->shape->signature.input_count; i++)
        for (int64_t e = 0; dtype_is_float(inputs[i].type) && e < tensor_count(&inputs[i]); e++)
            if (splitmix64(&t->random) % 8 == 0)
                put_special(&inputs[i], e, &t->random);
}

/* ---- runs ---- */

static bool run(attempt *t, const tensor *inputs, tensor *outputs, status *st) {
    circumstances how = attempt_plain(t);
    return runner_run(t->runner, t->shape, &how, inputs, outputs, st);
}

static bool repeat_special(attempt *t, const tensor *inputs, status *st) {
    tensor *first = tensors_new(t->shape->signature.output_count),
           *again = tensors_new(t->shape->signature.output_count);
    bool ok = run(t, inputs, first, st);
    for (int i = 0; i < REPETITIONS && ok && !t->violation.found; i++) {
        ok = run(t, inputs, again, st);
        if (ok)
            attempt_compare(t, first, again, "two runs on NaN, infinities and subnormal numbers");
        tensors_clear(again);
    }
    tensors_free(again);
    tensors_free(first);
    return ok;
}

/* ---- what an element is not made from ---- */

/* Fills what is not needed; the number of elements. */
static int64_t fill_unneeded(attempt *t, const tensor *needed, const double *value,
                             tensor *inputs) {
    int64_t filled = 0;
    for (uint32_t i = 0; i < t->shape->signature.input_count; i++) {
        const unsigned char *marks = needed[i].data;
        for (int64_t e = 0; dtype_is_float(inputs[i].type) && e < tensor_count(&inputs[i]); e++) {
            if (marks[e])
                continue;
            filled++;
            if (value)
                dtype_store(inputs[i].type, inputs[i].data, (size_t)e, *value);
            else
                put_special(&inputs[i], e, &t->random);
        }
    }
    return filled;
}

/* One element of an output, as a tensor that is compared: all others are those of the plain run. */
static void keep_one(const tensor *plain, tensor *outputs, uint32_t count,
                     const compiler_element *of) {
    for (uint32_t i = 0; i < count; i++) {
        size_t size = dtype_size(plain[i].type);
        char kept[16];
        if (i == of->output)
            memcpy(kept, (char *)outputs[i].data + (size_t)of->element * size, size);
        memcpy(outputs[i].data, plain[i].data, tensor_bytes(&plain[i]));
        if (i == of->output)
            memcpy((char *)outputs[i].data + (size_t)of->element * size, kept, size);
    }
}

static bool try_element(attempt *t, const tensor *plain, const compiler_element *of, status *st) {
    tensor *needed = tensors_new(t->shape->signature.input_count),
           *inputs = tensors_new(t->shape->signature.input_count),
           *outputs = tensors_new(t->shape->signature.output_count);
    uint32_t count = t->shape->signature.output_count;
    bool ok = compiler_needed(t->shape->instance, t->shape->inputs, of, needed, st) &&
              copy_inputs(t, inputs, st);
    if (ok && fill_unneeded(t, needed, NULL, inputs) > 0) {
        ok = run(t, inputs, outputs, st);
        if (ok) {
            keep_one(plain, outputs, count, of);
            attempt_compare(t, plain, outputs,
                            "numbers, and special values where this element is not made from them");
        }
    }
    tensors_free(needed);
    tensors_free(inputs);
    tensors_free(outputs);
    return ok;
}

static bool try_elements(attempt *t, const tensor *plain, status *st) {
    bool ok = true;
    for (int i = 0; i < ELEMENTS_TRIED && ok && !t->violation.found; i++) {
        uint32_t output = (uint32_t)(splitmix64(&t->random) % t->shape->signature.output_count);
        uint64_t count = (uint64_t)tensor_count(&plain[output]);
        const compiler_element of = {output, count ? (int64_t)(splitmix64(&t->random) % count) : 0};
        ok = count == 0 || try_element(t, plain, &of, st);
    }
    return ok;
}

bool attempt_special(attempt *t, const tensor *plain, status *st) {
    tensor *inputs = tensors_new(t->shape->signature.input_count);
    bool ok = copy_inputs(t, inputs, st);
    if (ok)
        make_special(t, inputs);
    ok = ok && repeat_special(t, inputs, st);
    tensors_free(inputs);
    bool more = ok && !t->violation.found && !t->request->column->kernel->contract;
    return more ? try_elements(t, plain, st) : ok;
}

/* ---- payloads ---- */

/* NaN at the same places of the floats each time: one element of an input (`every` 0), or of so
 * many each. The quiet one without a sign, or (`random`) any. */
static int64_t put_nans(const attempt *t, tensor *inputs, uint64_t places, uint64_t every,
                        uint64_t *random) {
    int64_t found = 0;
    for (uint32_t i = 0; i < t->shape->signature.input_count; i++) {
        tensor *x = &inputs[i];
        uint64_t count = (uint64_t)tensor_count(x), one = count ? splitmix64(&places) % count : 0;
        for (uint64_t e = 0; dtype_is_float(x->type) && e < count; e++) {
            if (every ? splitmix64(&places) % every != 0 : e != one)
                continue;
            if (random)
                put_nan(x, (int64_t)e, splitmix64(random) | 1);
            else
                dtype_store(x->type, x->data, e, NAN);
            found++;
        }
        if (found && !every)
            break;
    }
    return found;
}

/* Every NaN becomes the same: which one comes out is nobody's promise. */
static void make_alike(const attempt *t, tensor *outputs) {
    for (uint32_t i = 0; i < t->shape->signature.output_count; i++) {
        tensor *x = &outputs[i];
        for (int64_t e = 0; dtype_is_float(x->type) && e < tensor_count(x); e++)
            if (dtype_is_nan(x->type, dtype_load_bits(x->type, x->data, (size_t)e)))
                put_bits(x, e, dtype_format_of(x->type)->nan);
    }
}

static bool try_nans(attempt *t, uint64_t every, bool *any, status *st) {
    const uint64_t places = splitmix64(&t->random);
    tensor *inputs = tensors_new(t->shape->signature.input_count),
           *one = tensors_new(t->shape->signature.output_count),
           *other = tensors_new(t->shape->signature.output_count);
    bool ok = copy_inputs(t, inputs, st), has = ok && put_nans(t, inputs, places, every, NULL) > 0;
    ok = ok && (!has || run(t, inputs, one, st));
    if (ok && has)
        (void)put_nans(t, inputs, places, every, &t->random);
    ok = ok && (!has || run(t, inputs, other, st));
    if (ok && has) {
        make_alike(t, one);
        make_alike(t, other);
        attempt_compare(t, one, other, "NaN without a sign, and of a sign and a payload");
    }
    *any |= has;
    tensors_free(inputs);
    tensors_free(one);
    tensors_free(other);
    return ok;
}

bool attempt_payloads(attempt *t, status *st) {
    static const uint64_t every[] = {0, 0, 64, 8};
    bool ok = true, any = false;
    for (size_t i = 0; i < sizeof every / sizeof *every && ok && !t->violation.found; i++)
        ok = try_nans(t, every[i], &any, st);
    return ok && (any || status_set(st, STATUS_UNAVAILABLE, "no input is a float"));
}

/* ---- masks ---- */

static bool try_behind_mask(attempt *t, const tensor *plain, const tensor *needed, status *st) {
    static const double values[] = {NAN, INFINITY, -INFINITY, 0, 1};
    bool ok = true;
    for (size_t i = 0; i < sizeof values / sizeof *values && ok && !t->violation.found; i++) {
        tensor *inputs = tensors_new(t->shape->signature.input_count),
               *outputs = tensors_new(t->shape->signature.output_count);
        char between[80];
        snprintf(between, sizeof between, "numbers and %g where a mask hides them", values[i]);
        ok = copy_inputs(t, inputs, st);
        if (ok)
            (void)fill_unneeded(t, needed, &values[i], inputs);
        ok = ok && run(t, inputs, outputs, st);
        if (ok)
            attempt_compare(t, plain, outputs, between);
        tensors_free(inputs);
        tensors_free(outputs);
    }
    return ok;
}

static bool hides_something(const attempt *t, const tensor *needed) {
    for (uint32_t i = 0; i < t->shape->signature.input_count; i++)
        if (dtype_is_float(t->shape->inputs[i].type) &&
            memchr(needed[i].data, 0, (size_t)tensor_count(&needed[i])))
            return true;
    return false;
}

bool attempt_masked(attempt *t, const tensor *plain, status *st) {
    if (t->request->column->kernel->contract)
        return status_set(st, STATUS_UNAVAILABLE,
                          "the kernel has no formula that would tell what is masked");
    tensor *needed = tensors_new(t->shape->signature.input_count);
    bool ok = compiler_needed(t->shape->instance, t->shape->inputs, NULL, needed, st);
    if (ok && !hides_something(t, needed))
        ok = status_set(st, STATUS_UNAVAILABLE,
                        "the kernel hides no element of its inputs from all outputs");
    ok = ok && try_behind_mask(t, plain, needed, st);
    tensors_free(needed);
    return ok;
}
