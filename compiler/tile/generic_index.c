/* generic_index.c - dimensions and offsets as index operations of a phase. */
#include <string.h>

#include "tile/generic.h"

/* ---- offsets ---- */

void generic_unravel(generic *s, ir_builder *b, ir_value number, const ir_dim *dims, int n,
                     ir_value *out) {
    int first = 0;
    while (first < n && dims[first] == 1)
        out[first++] = s->zero;
    for (int i = n - 1; i >= first; i--) {
        out[i] = s->zero;
        if (dims[i] == 1)
            continue;
        ir_value dim = dim_values_get(&s->dims, dims[i]);
        out[i] = i == first ? number : tile_index_divided(b, TILE_INDEX_REMAINDER, number, dim);
        if (i > first)
            number = tile_index_divided(b, TILE_INDEX_QUOTIENT, number, dim);
    }
}

generic_place generic_offset(generic *s, ir_builder *b, const ir_dim *dims, int rank,
                             const generic_place *index) {
    generic_place offset = {b ? s->zero : 0, 0};
    int64_t stride = 1; /* of axis i; -1: a symbol */
    for (int i = rank - 1; i >= 0; i--) {
        if (index[i].lane && (stride < 0 || offset.lane < 0))
            offset.lane = -1;
        else if (offset.lane >= 0)
            offset.lane += index[i].lane * (index[i].lane ? stride : 0);
        stride = stride < 0 || dims[i] < 0 ? -1 : stride * dims[i];
    }
    for (int i = 0; i < rank && b; i++) {
        offset.at = dims[i] == 1 ? offset.at
                                 : tile_index_mul(b, offset.at, dim_values_get(&s->dims, dims[i]));
        offset.at = tile_index_add(b, offset.at, index[i].at);
    }
    return offset;
}
