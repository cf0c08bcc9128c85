/* vec.h - a typed growable array: VEC(int) v = {0}; vec_push(&v, 3); v.items[0]; vec_release(&v) */
#ifndef TESSERA_BASE_VEC_H
#define TESSERA_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#include "arena.h"

#define VEC(TYPE)                                                                                  \
    struct {                                                                                       \
        TYPE *items;                                                                               \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

#define vec_reserve(v, n)                                                                          \
    do {                                                                                           \
        size_t vec_need_ = (n);                                                                    \
        if (vec_need_ > (v)->capacity) {                                                           \
            size_t vec_cap_ = (v)->capacity ? (v)->capacity * 2 : 8;                               \
            (v)->capacity = vec_cap_ > vec_need_ ? vec_cap_ : vec_need_;                           \
            (v)->items = base_realloc((v)->items, (v)->capacity * sizeof(*(v)->items));            \
        }                                                                                          \
    } while (0)

#define vec_push(v, item)                                                                          \
    do {                                                                                           \
        vec_reserve((v), (v)->count + 1);                                                          \
        (v)->items[(v)->count++] = (item);                                                         \
    } while (0)

#define vec_pop(v) ((v)->items[--(v)->count])
#define vec_clear(v) ((v)->count = 0)
#define vec_release(v)                                                                             \
    do {                                                                                           \
        free((v)->items);                                                                          \
        (v)->items = NULL;                                                                         \
        (v)->count = 0;                                                                            \
        (v)->capacity = 0;                                                                         \
    } while (0)

#endif
