/* tensor.h - a dense row-major array on the host.
 *
 * `data` is 64-byte aligned and owned by the tensor (tensor_release frees it). Rank 0 is one
 * element; a dimension of 0 makes an empty tensor whose data is still a valid pointer. */
#ifndef TESSERA_BASE_TENSOR_H
#define TESSERA_BASE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "status.h"
#include "text.h"

enum { TENSOR_MAX_RANK = 8 };

typedef struct tensor {
    dtype type;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    void *data;
} tensor;

/* Allocates zeroed data; fails with STATUS_OUT_OF_MEMORY or, for overflowing shapes,
 * STATUS_INVALID. */
bool tensor_init(tensor *t, dtype type, int rank, const int64_t *dims, status *st);
bool tensor_copy(const tensor *from, tensor *to, status *st); /* fails as tensor_init */
void tensor_release(tensor *t);
void tensor_release_all(tensor *tensors, uint32_t count);
/* A list of tensors without data, which knows its length: tensors_free releases them, too. */
tensor *tensors_new(uint32_t count);
void tensors_clear(tensor *list); /* releases them alone; may be NULL, as below */
void tensors_free(tensor *list);
int64_t tensor_count(const tensor *t);
size_t tensor_bytes(const tensor *t);

/* Read and write NumPy .npy files, format 1.0-3.0, C order (Fortran order is transposed on
 * reading), little endian; messages name the file, what was found and what is supported. Reading
 * checks every header field and the file's length before it allocates. Writing is atomic (temporary
 * file, fsync, rename). Types that NumPy lacks (dtype.h) are read only where `want` names them;
 * pass DTYPE_NONE to accept the file's own type. */
bool tensor_read_npy(tensor *t, const char *path, dtype want, status *st);
/* Layout of a .npy file: all that reading checks before it allocates, and no element read. *fd_out
 * is the open file, the caller's to close; -1 on failure. */
typedef struct npy_layout {
    dtype type;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    bool fortran_order;
    size_t data_offset;
} npy_layout;
bool tensor_open_npy(npy_layout *layout, int *fd_out, const char *path, dtype want, status *st);
/* Are all elements of a bool 0 or 1, and of an i4 between -8 and 7? The message names the first
 * that is not, and `what` holds it. */
bool tensor_check_bytes(const tensor *t, const char *what, status *st);
bool tensor_write_npy(const tensor *t, const char *path, status *st);
/* Writes what stands in front of the elements in such a file. */
void tensor_npy_header(const tensor *t, text *out);

#endif
