/* golden.h - recorded outputs of the interpreter, as reviewable text with small tensors beside it.
 *
 * A golden is one JSON manifest, GOLDEN/<family>/<kernel>/<case>.json, and for each output of at
 * most 64 KiB its elements, LZ4-compressed, in <case>.<output>.lz4. It holds as long as its key
 * does: SHA-256 over the Graph IR text before any pass, the case's dimensions, types and
 * distributions, the seed, the numerics version and the version of the specified functions. */
#ifndef TESSERA_HARNESS_CASE_GOLDEN_H
#define TESSERA_HARNESS_CASE_GOLDEN_H

#include <jansson.h>

#include "tessera/compiler.h"

enum { GOLDEN_FUNCTIONS_VERSION = 1, GOLDEN_TENSOR_BYTES_MAX = 64 << 10 };
#define GOLDEN_SCHEMA "tsr.golden/1"

void golden_key(compiler_instance *instance, const compiler_case *c, uint32_t input_count,
                uint64_t seed, char hex_out[65]);

typedef struct golden {
    json_t *manifest;
    char *directory;
} golden;

typedef enum golden_state { GOLDEN_MISSING, GOLDEN_STALE, GOLDEN_PRESENT } golden_state;

/* Reads a manifest. GOLDEN_STALE: it was made for another key. False: damaged, or of another
 * version. A golden that was read is released by golden_release, whatever its state; a missing one
 * is all zero. */
bool golden_read(const char *path, const char *key, golden *g, golden_state *state, status *st);
void golden_release(golden *g);
/* A golden of digests alone, as a pack has them: an array of strings, by output. */
void golden_of_digests(const json_t *digests, golden *out);
/* ... of a golden. Owned. */
json_t *golden_digests(const golden *g);
const char *golden_state_name(golden_state state);

/* The recorded digest of output `index`; NULL where there is no such output. Borrowed. */
const char *golden_digest(const golden *g, uint32_t index);
/* The recorded elements of output `index`; false with an OK status where they were too many to
 * keep. */
bool golden_tensor(const golden *g, uint32_t index, const struct compiler_buffer *buffer,
                   tensor *out, status *st);

typedef struct golden_record {
    const char *path; /* of the manifest */
    const char *kernel, *case_name, *key;
    const compiler_signature *signature;
    const tensor *outputs;
    const double *error_ulp; /* per output, against f64; negative: not known. NULL: none known */
} golden_record;

/* Writes it. Refuses (STATUS_INVALID, *conflict set) where a golden of the same key has other bits.
 * *written is false where an equal golden was there already. */
bool golden_write(const golden_record *record, bool *written, bool *conflict, status *st);

/* Puts a golden that was read beside another manifest: its tensors, each held to its digest, then
 * the manifest as it is. */
bool golden_copy(const golden *g, const compiler_signature *signature, const char *path,
                 status *st);

/* Lower-case digest of a tensor's bytes. */
void golden_tensor_digest(const tensor *t, char hex_out[65]);

#endif
