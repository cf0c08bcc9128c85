/* array.c - opens .npy files for comparison. */
#include "diff/array.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/escape.h"
#include "common/exit_code.h"

static void mapping_broke(int signal_number) {
    static const char message[] = "tsr: a file was cut short, or could not be read, while its "
                                  "elements were compared\n";
    (void)signal_number;
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(EXIT_INPUT);
}

static bool map_elements(array *a, int fd, size_t offset, status *st) {
    size_t bytes = (size_t)a->count * dtype_size(a->type);
    a->data = "";
    if (bytes == 0)
        return true;
    void *mapping = mmap(NULL, offset + bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED)
        return status_set_errno(st, errno, "cannot map %s", a->name);
    struct sigaction on_broken = {.sa_handler = mapping_broke};
    sigaction(SIGBUS, &on_broken, NULL);
    madvise(mapping, offset + bytes, MADV_WILLNEED);
    a->mapping = mapping;
    a->mapping_bytes = offset + bytes;
    a->data = (const unsigned char *)mapping + offset;
    return true;
}

/* Bits of floats travel as integers without a sign: 16 of them are bf16, unless said otherwise. */
static bool open_layout(const char *path, dtype want, npy_layout *layout, int *fd, status *st) {
    if (!tensor_open_npy(layout, fd, path, want, st))
        return false;
    if (want != DTYPE_NONE)
        return true;
    if (layout->type == DTYPE_U16)
        layout->type = DTYPE_BF16;
    if (layout->type != DTYPE_U8)
        return true;
    close(*fd);
    return status_set(st, STATUS_INVALID,
                      "%s: type '|u1' is that of u8, f8e4m3fn and f8e5m2; say which: --type u8",
                      path);
}

bool array_open(array *a, const char *path, dtype want, status *st) {
    npy_layout layout;
    int fd;
    *a = (array){.name = path};
    if (!open_layout(path, want, &layout, &fd, st))
        return false;
    a->type = layout.type;
    a->rank = layout.rank;
    a->count = 1;
    memcpy(a->dims, layout.dims, sizeof a->dims);
    for (int axis = 0; axis < a->rank; axis++)
        if (a->dims[axis] == 0)
            a->count = 0;
    for (int axis = 0; axis < a->rank && a->count; axis++)
        a->count *= a->dims[axis];
    bool ok;
    if (layout.fortran_order && a->rank > 1) {
        ok = tensor_read_npy(&a->copy, path, dtype_owns_npy_descr(a->type) ? DTYPE_NONE : a->type,
                             st);
        a->data = a->copy.data;
    } else {
        ok = map_elements(a, fd, layout.data_offset, st);
    }
    close(fd);
    return ok;
}

void array_close(array *a) {
    if (a->mapping)
        munmap(a->mapping, a->mapping_bytes);
    tensor_release(&a->copy);
    *a = (array){0};
}

void array_describe_shape(dtype type, int rank, const int64_t *dims, text *out) {
    text_show(out, "%s [", dtype_name(type));
    for (int axis = 0; axis < rank; axis++)
        text_show(out, "%s%" PRId64, axis ? ", " : "", dims[axis]);
    text_append_char(out, ']');
}
