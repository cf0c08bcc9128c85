/* digest64.c - see digest64.h. */
#include "measure/digest64.h"

#include <endian.h>
#include <string.h>

__extension__ typedef unsigned __int128 product;

enum { BLOCK_BYTES = 48 };

/* Odd, and half of their bits set: the fraction of the golden ratio and of the roots of 2, 3 and 5,
 * made odd. */
static const uint64_t keys[4] = {
    UINT64_C(0x9E3779B97F4A7C15),
    UINT64_C(0x6A09E667F3BCC909),
    UINT64_C(0xBB67AE8584CAA73B),
    UINT64_C(0x3C6EF372FE94F82B),
};

static uint64_t word_at(const unsigned char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return le64toh(word);
}

static uint64_t fold(uint64_t a, uint64_t b) {
    product p = (product)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t step(const unsigned char *p, uint64_t key, uint64_t lane) {
    return fold(word_at(p) ^ key, word_at(p + 8) ^ lane);
}

uint64_t digest64(uint64_t key, const void *data, size_t size_bytes) {
    const unsigned char *p = data;
    unsigned char tail[BLOCK_BYTES] = {0};
    uint64_t a = fold(key ^ keys[0], keys[1]), b = fold(key ^ keys[1], keys[2]),
             c = fold(key ^ keys[2], keys[3]);
    size_t left = size_bytes;
    for (; left >= BLOCK_BYTES; left -= BLOCK_BYTES, p += BLOCK_BYTES) {
        a = step(p, keys[1], a);
        b = step(p + 16, keys[2], b);
        c = step(p + 32, keys[3], c);
    }
    if (left)
        memcpy(tail, p, left);
    a = step(tail, keys[0], a);
    b = step(tail + 16, keys[1], b);
    c = step(tail + 32, keys[2], c);
    return fold(fold(a ^ keys[0], b ^ keys[1]) ^ size_bytes ^ keys[2], c ^ keys[3]);
}
