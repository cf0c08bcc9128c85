/* blob.c - see blob.h. */
#include "ir/blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sha256.h"

ir_blob *ir_blob_new(const void *bytes, size_t size_bytes) {
    ir_blob *b = base_malloc(sizeof *b + size_bytes);
    sha256 digest = sha256_of(bytes, size_bytes);
    atomic_init(&b->holders, 1);
    memcpy(b->name, IR_BLOB_PREFIX, sizeof IR_BLOB_PREFIX);
    sha256_hex(&digest, b->name + sizeof IR_BLOB_PREFIX - 1);
    b->size_bytes = size_bytes;
    memcpy(b->bytes, bytes, size_bytes);
    return b;
}

ir_blob *ir_blob_hold(ir_blob *blob) {
    atomic_fetch_add(&blob->holders, 1);
    return blob;
}

void ir_blob_drop(ir_blob *blob) {
    if (atomic_fetch_sub(&blob->holders, 1) == 1)
        free(blob);
}
