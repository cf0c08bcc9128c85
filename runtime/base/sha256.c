/* sha256.c - a thin skin over OpenSSL's EVP digests. */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct sha256_stream {
    EVP_MD_CTX *context;
};

/* libcrypto fails here only without memory or when built without SHA-256: nothing a caller could
 * mend. */
static void require(int ok) {
    if (!ok) {
        fprintf(stderr, "tessera: libcrypto cannot compute SHA-256\n");
        abort();
    }
}

sha256_stream *sha256_stream_new(void) {
    sha256_stream *s = base_calloc(1, sizeof *s);
    s->context = EVP_MD_CTX_new();
    require(s->context != NULL && EVP_DigestInit_ex(s->context, EVP_sha256(), NULL));
    return s;
}

void sha256_stream_update(sha256_stream *s, const void *data, size_t size_bytes) {
    require(EVP_DigestUpdate(s->context, data, size_bytes));
}

sha256 sha256_stream_finish(sha256_stream *s) {
    sha256 digest;
    require(EVP_DigestFinal_ex(s->context, digest.bytes, NULL));
    EVP_MD_CTX_free(s->context);
    free(s);
    return digest;
}

sha256 sha256_of(const void *data, size_t size_bytes) {
    sha256 digest;
    require(EVP_Digest(data, size_bytes, digest.bytes, NULL, EVP_sha256(), NULL));
    return digest;
}

bool sha256_parse(const char *hex, sha256 *out) {
    for (int i = 0; i < 64; i++) {
        const char c = hex[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        out->bytes[i / 2] = (unsigned char)(i % 2 ? out->bytes[i / 2] << 4 | digit : digit);
    }
    return hex[64] == 0;
}

void sha256_hex(const sha256 *digest, char hex_out[65]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        hex_out[2 * i] = digits[digest->bytes[i] >> 4];
        hex_out[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    hex_out[64] = '\0';
}
