/* peer.h - what the libraries of ci/peers have in common as implementations
 * (tessera/implementation.h): shapes and types of what they are given. Included by each library's
 * file. */
#ifndef TESSERA_CI_PEER_H
#define TESSERA_CI_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include <tessera/implementation.h>

/* A function with the name of a kernel. */
#define PEER_FUNCTION(name)                                                                        \
    TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count);                                \
    TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count)
/* ... that does what another one does. */
#define PEER_ALIAS(name, of)                                                                       \
    PEER_FUNCTION(name) {                                                                          \
        return of(t, count);                                                                       \
    }

static inline bool peer_is(const DLTensor *t, unsigned code, unsigned bits, int rank) {
    bool empty = false;
    for (int i = 0; i < t->ndim; i++)
        empty |= t->shape[i] == 0;
    return t->ndim == rank && t->dtype.code == code && t->dtype.bits == bits && !empty;
}

static inline bool peer_is_f32(const DLTensor *t, int rank) {
    return peer_is(t, TSR_DL_FLOAT, 32, rank);
}

/* Two matrices and their product; `turned`: the right one is stored as N x K. */
typedef struct peer_product {
    int64_t m, n, k;
    const void *x, *y;
    void *out;
} peer_product;

static inline bool peer_take_product(DLTensor *const *t, int32_t count, bool turned,
                                     peer_product *p) {
    if (count != 3 || t[0]->ndim != 2 || t[1]->ndim != 2 || t[2]->ndim != 2)
        return false;
    *p = (peer_product){t[0]->shape[0], t[1]->shape[!turned], t[0]->shape[1],
                        t[0]->data,     t[1]->data,           t[2]->data};
    return p->m && p->n && p->k;
}

static inline bool peer_are_f32(DLTensor *const *t, int32_t count, int rank) {
    bool all = true;
    for (int32_t i = 0; i < count; i++)
        all &= peer_is_f32(t[i], rank);
    return all;
}

#endif
