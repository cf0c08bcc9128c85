/* sha256.h - SHA-256 (FIPS 180-4), through OpenSSL's libcrypto. */
#ifndef TESSERA_BASE_SHA256_H
#define TESSERA_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint8_t bytes[32];
} sha256;

typedef struct sha256_stream sha256_stream; /* heap; freed by sha256_stream_finish */

sha256_stream *sha256_stream_new(void);
void sha256_stream_update(sha256_stream *s, const void *data, size_t size_bytes);
sha256 sha256_stream_finish(sha256_stream *s);

sha256 sha256_of(const void *data, size_t size_bytes);
/* Reads 64 digits in lower case; false: it has another form. */
bool sha256_parse(const char *hex, sha256 *out);
void sha256_hex(const sha256 *digest, char hex_out[65]); /* lower case, NUL-terminated */

#endif
