/* array.h - the elements of a .npy file: mapped where they lie row-major in it, else read. */
#ifndef TESSERA_HARNESS_DIFF_ARRAY_H
#define TESSERA_HARNESS_DIFF_ARRAY_H

#include "base/tensor.h"
#include "base/text.h"

typedef struct array {
    const char *name; /* of the file; borrowed */
    dtype type;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    int64_t count;
    const void *data; /* lives until array_close */
    void *mapping;    /* NULL: the elements are in `copy` */
    size_t mapping_bytes;
    tensor copy;
} array;

/* `want` names the type where NumPy lacks it (docs/diff.md); DTYPE_NONE: the file's own, and u2 is
 * taken as bf16. A file that others cut short while it is
 * mapped ends the program with a message and exit code 3. array_close in any case. */
bool array_open(array *a, const char *path, dtype want, status *st);
void array_close(array *a);

/* "f32 [3, 5]". */
void array_describe_shape(dtype type, int rank, const int64_t *dims, text *out);

#endif
