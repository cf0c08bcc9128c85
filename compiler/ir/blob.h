/* blob.h - bytes of constants: kept once for all modules that have them, and named by their hash.
 */
#ifndef TESSERA_IR_BLOB_H
#define TESSERA_IR_BLOB_H

#include <stdatomic.h>
#include <stddef.h>

#define IR_BLOB_PREFIX "sha256_"
enum { IR_BLOB_NAME_BYTES = sizeof IR_BLOB_PREFIX + 64 };

typedef struct ir_blob {
    atomic_uint holders;
    char name[IR_BLOB_NAME_BYTES]; /* "sha256_" and the hash of the bytes */
    size_t size_bytes;
    unsigned char bytes[]; /* as in memory, little-endian */
} ir_blob;

/* A copy of the bytes, held once. */
ir_blob *ir_blob_new(const void *bytes, size_t size_bytes);
ir_blob *ir_blob_hold(ir_blob *blob);
/* Frees it with the last holder. */
void ir_blob_drop(ir_blob *blob);

#endif
