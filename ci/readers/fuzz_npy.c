/* fuzz_npy.c - NumPy's array files: what is read is written, read again, and the same. */
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "fuzz.h"
#include "scratch.h"

static void write_again(const tensor *t) {
    status st = STATUS_INIT;
    tensor again = {0};
    text header;
    text_init(&header);
    tensor_npy_header(t, &header);
    text_append_bytes(&header, t->data, tensor_bytes(t));
    const char *path = scratch_file("again.npy", header.data, header.length);
    if (!tensor_read_npy(&again, path, t->type, &st) || tensor_bytes(&again) != tensor_bytes(t) ||
        memcmp(again.data, t->data, tensor_bytes(t)) != 0)
        abort();
    tensor_release(&again);
    text_release(&header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    status st = STATUS_INIT;
    tensor t = {0};
    if (tensor_read_npy(&t, scratch_file("fuzzed.npy", data, size), DTYPE_NONE, &st)) {
        write_again(&t);
        tensor_release(&t);
    }
    return 0;
}
