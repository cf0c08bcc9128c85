/* functions.c - implementations of the kernels in test_cli_with.sh: one that is right in each
 * convention, and one for each way of being wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/implementation.h"

#define FUNCTION(name) TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count)

TSR_IMPLEMENTATION const char *tessera_error(void);
const char *tessera_error(void) {
    return "only f32 is done";
}

static int64_t elements(const DLTensor *t) {
    int64_t n = 1;
    for (int32_t axis = 0; axis < t->ndim; axis++)
        n *= t->shape[axis];
    return n;
}

static int multiply(DLTensor *const *t, int32_t count, float factor, int64_t leave) {
    const float *x = t[0]->data;
    float *out = t[1]->data;
    if (count != 2 || t[0]->dtype.code != TSR_DL_FLOAT || t[0]->dtype.bits != 32)
        return TSR_IMPLEMENTATION_UNSUPPORTED;
    for (int64_t i = 0; i < elements(t[0]) - leave; i++)
        out[i] = factor * x[i];
    return 0;
}

/* clang-format off */
FUNCTION(twice);
FUNCTION(doubled);
FUNCTION(half_of_it);
FUNCTION(forty_two);
FUNCTION(almost);
FUNCTION(fails);
FUNCTION(returns_anything);
FUNCTION(crashes);
FUNCTION(ends);
FUNCTION(hangs);
FUNCTION(at_times_almost);
FUNCTION(at_times_fails);
FUNCTION(at_times_crashes);
FUNCTION(at_times_hangs);
FUNCTION(writes_input);
FUNCTION(writes_past);
FUNCTION(remembers);
FUNCTION(laborious);
/* clang-format on */

FUNCTION(twice) {
    return multiply(t, count, 2, 0);
}

FUNCTION(doubled) {
    return multiply(t, count, 2, 0);
}

FUNCTION(half_of_it) { /* the last element keeps what was there */
    return multiply(t, count, 2, 1);
}

/* The last output; one before it is right. */
FUNCTION(forty_two) {
    float *out = t[count - 1]->data;
    for (int64_t i = 0; i < elements(t[count - 1]); i++)
        out[i] = 42;
    return count == 3 ? multiply(t, 2, 2, 0) : 0;
}

FUNCTION(almost) { /* within no bound */
    return multiply(t, count, 2.001f, 0);
}

FUNCTION(fails) {
    (void)t, (void)count;
    return 7;
}

FUNCTION(returns_anything) { /* as one does that is declared void */
    return multiply(t, count, 2, 0) - (1 << 30);
}

FUNCTION(crashes) {
    (void)count;
    printf("before the fall\n");
    fflush(stdout);
    *(volatile char *)t[1]->shape[0] = 1; // NOLINT(performance-no-int-to-ptr)
    return 0;
}

FUNCTION(ends) {
    (void)t, (void)count;
    exit(3); // NOLINT(concurrency-mt-unsafe)
}

FUNCTION(hangs) {
    (void)t, (void)count;
    for (;;)
        pause();
}

/* Those of `twice` in test_cli_with_packs.sh: not the case's own inputs, and others of its sets. */
static int at_times(DLTensor *const *t, int32_t count,
                    int (*otherwise)(DLTensor *const *, int32_t)) {
    return *(const float *)t[0]->data > 0 ? otherwise(t, count) : multiply(t, count, 2, 0);
}

FUNCTION(at_times_almost) {
    return at_times(t, count, almost);
}

FUNCTION(at_times_fails) {
    return at_times(t, count, fails);
}

FUNCTION(at_times_crashes) {
    return at_times(t, count, crashes);
}

FUNCTION(at_times_hangs) {
    return at_times(t, count, hangs);
}

FUNCTION(writes_input) {
    int code = multiply(t, count, 2, 0);
    ((float *)t[0]->data)[0] = 5;
    return code;
}

FUNCTION(writes_past) {
    int code = multiply(t, count, 2, 0);
    memset((float *)t[1]->data + elements(t[1]), 0, 128);
    return code;
}

FUNCTION(remembers) { /* right once, and never again */
    static int calls;
    return calls++ ? 0 : multiply(t, count, 2, 0);
}

FUNCTION(laborious) { /* right, after twenty times the work */
    volatile float factor = 2;
    int code = 0;
    for (int i = 0; i < 20 && code == 0; i++)
        code = multiply(t, count, factor, 0);
    return code;
}

/* The convention of TVM FFI, without its headers: two tensors as pointers to DLTensor (7). */
struct any {
    int32_t type;
    uint32_t padding;
    void *pointer;
};
TSR_IMPLEMENTATION int __tvm_ffi_thrice(void *, const struct any *, int32_t,
                                        struct any *); // NOLINT
int __tvm_ffi_thrice(void *handle, const struct any *arguments, int32_t count, struct any *result) {
    DLTensor *tensors[2];
    (void)handle, (void)result;
    for (int i = 0; i < 2; i++) {
        if (count != 2 || arguments[i].type != 7)
            return -1;
        tensors[i] = arguments[i].pointer;
    }
    return multiply(tensors, 2, 3, 0);
}
