/* pattern.c - see pattern.h. */
#include "measure/pattern.h"

#include <string.h>

enum { WORD_BYTES = 8 };

void pattern_fill(void *data, size_t size_bytes, uint64_t word) {
    unsigned char *p = data;
    size_t i = 0;
    for (; i + WORD_BYTES <= size_bytes; i += WORD_BYTES)
        memcpy(p + i, &word, WORD_BYTES);
    if (i < size_bytes)
        memcpy(p + i, &word, size_bytes - i);
}

size_t pattern_broken_at(const void *data, size_t size_bytes, uint64_t word) {
    const unsigned char *p = data, *pattern = (const unsigned char *)&word;
    size_t i = 0;
    for (; i + WORD_BYTES <= size_bytes; i += WORD_BYTES)
        if (memcmp(p + i, &word, WORD_BYTES) != 0)
            break;
    while (i < size_bytes && p[i] == pattern[i % WORD_BYTES])
        i++;
    return i;
}

size_t pattern_words_left(const void *data, size_t size_bytes, uint64_t word) {
    const unsigned char *p = data;
    size_t words = 0;
    for (size_t i = 0; i + WORD_BYTES <= size_bytes; i += WORD_BYTES)
        words += memcmp(p + i, &word, WORD_BYTES) == 0;
    return words;
}
