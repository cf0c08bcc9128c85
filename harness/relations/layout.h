/* layout.h - where the elements of a tensor lie in its buffer, other than one behind the other. */
#ifndef TESSERA_HARNESS_RELATIONS_LAYOUT_H
#define TESSERA_HARNESS_RELATIONS_LAYOUT_H

#include "implementation/implementation.h"

typedef enum layout_kind {
    LAYOUT_DENSE,
    LAYOUT_OFFSET,  /* without gaps, some elements behind the buffer's beginning */
    LAYOUT_ROWS,    /* rows of a larger matrix; of one axis every third element */
    LAYOUT_COLUMNS, /* the last axis is the slowest */
    LAYOUT_COUNT
} layout_kind;
const char *layout_name(layout_kind kind); /* for "dense tensors and ..." */

typedef struct layout {
    implementation_layout told;
    size_t bytes; /* of the buffer */
} layout;
layout layout_of(layout_kind kind, const struct compiler_buffer *buffer);

/* Between a tensor, row-major, and its buffer. */
void layout_scatter(const layout *l, const tensor *from, unsigned char *buffer);
void layout_gather(const layout *l, const unsigned char *buffer, tensor *to);
/* The first byte of the buffer that belongs to no element and is not `filled`; -1: none. */
int64_t layout_first_written(const layout *l, const struct compiler_buffer *shape,
                             const unsigned char *buffer, unsigned char filled);

#endif
