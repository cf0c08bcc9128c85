/* text_match.c - globs for --filter, and "did you mean" suggestions. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

/* Matches `c` against the class that starts at `p` ("[a-z]"); *end is just after ']'. An unclosed
 * '[' is itself. */
static bool class_matches(const char *p, char c, const char **end) {
    const char *q = p + 1;
    bool negated = *q == '!' || *q == '^';
    if (negated)
        q++;
    bool found = false;
    for (const char *first = q; *q && (*q != ']' || q == first); q++) {
        if (q[1] == '-' && q[2] && q[2] != ']') {
            found |=
                (unsigned char)q[0] <= (unsigned char)c && (unsigned char)c <= (unsigned char)q[2];
            q += 2;
        } else {
            found |= *q == c;
        }
    }
    if (*q != ']') {
        *end = p + 1;
        return c == '[';
    }
    *end = q + 1;
    return found != negated;
}

static bool one_matches(const char *p, char c, const char **end) {
    if (*p == '[')
        return class_matches(p, c, end);
    *end = p + 1;
    return *p == '?' || *p == c;
}

bool text_glob(const char *pattern, const char *string) {
    const char *star = NULL, *resume = NULL;
    while (*string) {
        const char *next;
        if (*pattern == '*') {
            star = ++pattern;
            resume = string;
        } else if (*pattern && one_matches(pattern, *string, &next)) {
            pattern = next;
            string++;
        } else if (star) {
            pattern = star;
            string = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static size_t min3(size_t a, size_t b, size_t c) {
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Three rows of the table of edit distances are enough: a swap looks two rows back. */
size_t text_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b), width = m + 1;
    size_t *rows = base_malloc(3 * width * sizeof *rows);
    size_t *before = rows, *last = rows + width, *row = rows + 2 * width;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = a[i - 1] != b[j - 1];
            row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + change);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    size_t distance = row[m];
    free(rows);
    return distance;
}

const char *text_nearest(const char *word, const char *const *names, size_t count) {
    size_t limit = strlen(word) / 3;
    if (limit < 1)
        limit = 1;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = text_distance(word, names[i]);
        if (distance <= limit && (!best || distance < text_distance(word, best)))
            best = names[i];
    }
    return best;
}
