/* record_which.c - whose tensors are kept: TESSERA_CAPTURE_TENSORS. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* "12", "40-45" or a glob over functions. */
static bool word_wants(const char *word, uint64_t number, const char *function) {
    char *end;
    if (*word < '0' || *word > '9')
        return fnmatch(word, function, 0) == 0;
    uint64_t low = strtoull(word, &end, 10), high = low;
    if (*end == '-' && end[1])
        high = strtoull(end + 1, &end, 10);
    return *end == '\0' && number >= low && number <= high;
}

bool record_wants(const char *list, uint64_t number, const char *function) {
    char word[128];
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length && length < sizeof word) {
            memcpy(word, list, length);
            word[length] = '\0';
            if (strcmp(word, "all") == 0 ||
                (strcmp(word, "none") != 0 && word_wants(word, number, function)))
                return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}
