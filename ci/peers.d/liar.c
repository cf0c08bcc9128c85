/* liar.c - for test.sh: a library that computes something else, fast. */
#include <string.h>

#include "peer.h"

PEER_FUNCTION(matmul_f32) {
    int64_t elements = t[count - 1]->shape[0] * t[count - 1]->shape[1];
    memset(t[count - 1]->data, 0, (size_t)elements * sizeof(float));
    return 0;
}
