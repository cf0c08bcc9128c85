/* windowed.c - statements with windows: by themselves, contracted as a matrix, and convolutions. */
#include <inttypes.h>
#include <string.h>

#include "fuzz/productions.h"

/* Windows along an axis; half of the time their elements, flattened, are rows of a product. */
bool fuzz_windowing(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k);
    int64_t dims[FUZZ_RANK_MAX];
    if (x.rank == 0 || x.rank == FUZZ_RANK_MAX)
        return false;
    int axis = (int)choose_below(k->c, (uint32_t)x.rank);
    if (x.dims[axis] == 0)
        return false;
    uint32_t longest = x.dims[axis] < 5 ? (uint32_t)x.dims[axis] : 5;
    int64_t size = 1 + choose_below(k->c, longest), stride = 1 + choose_below(k->c, 3);
    memcpy(dims, x.dims, sizeof dims);
    dims[axis] = (x.dims[axis] - size) / stride + 1;
    dims[x.rank] = size;
    if (!fuzz_let(k, x.type, x.rank + 1, dims,
                  "window(%s, axis=%d, size=%" PRId64 ", stride=%" PRId64 ")", x.name, axis, size,
                  stride))
        return false;
    const fuzz_value w = k->values[k->count - 1];
    if (x.rank < 2 || !fuzz_is_single(w.type) || choose_rarely(k->c, 2))
        return true;
    int64_t flat[FUZZ_RANK_MAX] = {fuzz_count(x.rank - 1, dims), dims[x.rank - 1] * size};
    int64_t side[] = {flat[1], fuzz_length(k, 40)};
    const fuzz_value *y = fuzz_parameter(k, w.type, 2, side, NULL);
    if (!y || !fuzz_affordable(k, flat[0] * flat[1] * side[1]))
        return true;
    int64_t product[] = {flat[0], side[1]};
    fuzz_let(k, w.type, 2, product, "reshape(%s, (%" PRId64 ", %" PRId64 ")) @ %s", w.name, flat[0],
             flat[1], y->name);
    return true;
}

bool fuzz_convolution(fuzz_kernel *k) {
    static const char *const activations[] = {"none", "relu", "gelu"};
    int64_t x_dims[] = {1 + choose_below(k->c, 2), fuzz_length(k, 9), fuzz_length(k, 12),
                        fuzz_length(k, 70)};
    int64_t w_dims[] = {1 + choose_below(k->c, 3), 1 + choose_below(k->c, 3), x_dims[3],
                        fuzz_length(k, 40)};
    int64_t stride = 1 + choose_below(k->c, 2), padding = choose_below(k->c, 3), dims[4];
    dtype type = choose_rarely(k->c, 4) ? DTYPE_BF16 : DTYPE_F32;
    dims[0] = x_dims[0];
    dims[3] = w_dims[3];
    for (int i = 1; i < 3; i++) {
        if (x_dims[i] + 2 * padding < w_dims[i - 1])
            return false;
        dims[i] = (x_dims[i] + 2 * padding - w_dims[i - 1]) / stride + 1;
    }
    if (!fuzz_affordable(k, fuzz_count(4, dims) * w_dims[0] * w_dims[1] * w_dims[2]))
        return false;
    const fuzz_value *x = fuzz_parameter(k, type, 4, x_dims, NULL);
    const fuzz_value *w = x ? fuzz_parameter(k, type, 4, w_dims, NULL) : NULL;
    return w &&
           fuzz_let(k, type, 4, dims,
                    "conv2d(%s, %s, stride=%" PRId64 ", padding=%" PRId64 ", activation=\"%s\")",
                    x->name, w->name, stride, padding, activations[choose_below(k->c, 3)]);
}
