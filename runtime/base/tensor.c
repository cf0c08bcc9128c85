/* tensor.c - allocation and sizes of tensors; the .npy format is in npy.c. */
#include "base/tensor.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"

enum { SMALL_ALIGNMENT = 64 };
static const size_t huge_page_bytes = (size_t)2 << 20, large_bytes = (size_t)4 << 20;

static bool size_of_shape(dtype type, int rank, const int64_t *dims, size_t *bytes_out,
                          status *st) {
    if (dtype_size(type) == 0)
        return status_set(st, STATUS_INVALID, "a tensor needs an element type");
    if (rank < 0 || rank > TENSOR_MAX_RANK)
        return status_set(st, STATUS_INVALID, "rank %d is not in 0..%d", rank, TENSOR_MAX_RANK);
    int64_t bytes = (int64_t)dtype_size(type);
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return status_set(st, STATUS_INVALID, "dimension %d is negative (%lld)", i,
                              (long long)dims[i]);
        empty |= dims[i] == 0;
    }
    for (int i = 0; i < rank && !empty; i++)
        if (__builtin_mul_overflow(bytes, dims[i], &bytes))
            return status_set(st, STATUS_INVALID, "the shape has more than 2^63 bytes");
    *bytes_out = empty ? 0 : (size_t)bytes;
    return true;
}

bool tensor_init(tensor *t, dtype type, int rank, const int64_t *dims, status *st) {
    size_t bytes = 0;
    *t = (tensor){0};
    if (!size_of_shape(type, rank, dims, &bytes, st))
        return false;
    size_t alignment = bytes >= large_bytes ? huge_page_bytes : SMALL_ALIGNMENT;
    size_t rounded = (bytes + SMALL_ALIGNMENT - 1) / SMALL_ALIGNMENT * SMALL_ALIGNMENT;
    void *data = NULL;
    if (posix_memalign(&data, alignment, rounded ? rounded : SMALL_ALIGNMENT) != 0)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for a tensor of %zu bytes", bytes);
    if (bytes >= large_bytes)
        (void)madvise(data, rounded / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
    memset(data, 0, rounded ? rounded : SMALL_ALIGNMENT);
    t->type = type;
    t->rank = rank;
    if (rank > 0)
        memcpy(t->dims, dims, (size_t)rank * sizeof *dims);
    t->data = data;
    return true;
}

bool tensor_copy(const tensor *from, tensor *to, status *st) {
    if (!tensor_init(to, from->type, from->rank, from->dims, st))
        return false;
    memcpy(to->data, from->data, tensor_bytes(from));
    return true;
}

void tensor_release(tensor *t) {
    free(t->data);
    *t = (tensor){0};
}

void tensor_release_all(tensor *tensors, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        tensor_release(&tensors[i]);
}

/* Stands before the tensors of a list. */
typedef struct list_head {
    _Alignas(max_align_t) uint32_t count;
} list_head;

tensor *tensors_new(uint32_t count) {
    list_head *head = base_calloc(1, sizeof *head + ((size_t)count + 1) * sizeof(tensor));
    head->count = count;
    return (tensor *)(head + 1);
}

void tensors_clear(tensor *list) {
    if (list)
        tensor_release_all(list, ((list_head *)list - 1)->count);
}

void tensors_free(tensor *list) {
    tensors_clear(list);
    free(list ? (list_head *)list - 1 : NULL);
}

int64_t tensor_count(const tensor *t) {
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] == 0)
            return 0;
    for (int i = 0; i < t->rank; i++)
        count *= t->dims[i];
    return count;
}

size_t tensor_bytes(const tensor *t) {
    return (size_t)tensor_count(t) * dtype_size(t->type);
}
