/* scan.c - see scan.h. */
#include "ir/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

const char *scan_blanks(const char *p) {
    for (;;) {
        while (isspace((unsigned char)*p))
            p++;
        if (p[0] != '/' || p[1] != '/')
            return p;
        p += strcspn(p, "\n");
    }
}

const char *scan_word(const char *p) {
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '.' || *p == '$')
        p++;
    return p;
}

int scan_hex(char c) {
    return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
}

const char *scan_region(const char *p) {
    int depth = 0;
    do {
        if (*p == '"')
            for (p++; *p && *p != '"'; p++)
                p += *p == '\\' && p[1];
        depth += *p == '(' || *p == '{' ? 1 : *p == ')' || *p == '}' ? -1 : 0;
        if (!*p++)
            return NULL;
    } while (depth > 0);
    return p;
}

uint32_t scan_count_regions(const char *list) {
    const char *p = list + 1;
    uint32_t n = 0;
    do {
        p = scan_blanks(p);
        const char *end = *p == '{' ? scan_region(p) : NULL;
        if (!end)
            return 0;
        n++;
        p = scan_blanks(end);
    } while (*p++ == ',');
    return n;
}

/* ---- resources ---- */

static bool take(const char **p, const char *token) {
    const char *at = scan_blanks(*p);
    size_t length = strlen(token);
    *p = at;
    if (strncmp(at, token, length) != 0)
        return false;
    *p = at + length;
    return true;
}

static bool begin(const char **p) {
    return take(p, "{-#") && take(p, "dialect_resources") && take(p, ":") && take(p, "{") &&
           take(p, "builtin") && take(p, ":") && take(p, "{");
}

/* The bytes behind "0x and their alignment, which is MLIR's. */
static ir_blob *read_bytes(const char **p, const char **what) {
    enum { ALIGNMENT_BYTES = 4 };
    *what = "expected the bytes of a resource as \"0x...\"";
    if (!take(p, "\"0x"))
        return NULL;
    size_t digits = strspn(*p, "0123456789abcdefABCDEF");
    if ((*p)[digits] != '"' || digits % 2 || digits / 2 < ALIGNMENT_BYTES)
        return NULL;
    size_t count = digits / 2 - ALIGNMENT_BYTES;
    unsigned char *bytes = base_malloc(count + 1);
    const char *first = *p + (size_t)2 * ALIGNMENT_BYTES;
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(scan_hex(first[2 * i]) * 16 + scan_hex(first[2 * i + 1]));
    ir_blob *blob = ir_blob_new(bytes, count);
    free(bytes);
    *p += digits + 1;
    return blob;
}

/* A key that is a hash is that of its bytes. */
static bool read_entry(const char **p, scan_resources *out, const char **what) {
    const char *key = scan_blanks(*p), *end = scan_word(key);
    char name[128];
    intptr_t before;
    size_t length = (size_t)(end - key);
    *what = "expected the key of a resource";
    *p = key;
    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, key, length);
    name[length] = 0;
    *what = "a resource that is given twice";
    if (map_get(&out->by_key, name, &before))
        return false;
    *p = end;
    *what = "expected ':'";
    ir_blob *blob = take(p, ":") ? read_bytes(p, what) : NULL;
    if (!blob)
        return false;
    map_put(&out->by_key, name, (intptr_t)out->blobs.count);
    vec_push(&out->blobs, blob);
    *what = "bytes of a resource that have another hash than its key";
    bool fits = strncmp(name, IR_BLOB_PREFIX, sizeof IR_BLOB_PREFIX - 1) != 0 ||
                strcmp(name, blob->name) == 0;
    *p = fits ? *p : key;
    return fits;
}

static bool read_all(const char **p, scan_resources *out, const char **what) {
    *what = "expected {-# dialect_resources: { builtin: {";
    if (!begin(p))
        return false;
    if (!take(p, "}"))
        do {
            if (!read_entry(p, out, what))
                return false;
        } while (take(p, ","));
    else
        *p -= 1;
    *what = "expected } } #-} behind the resources";
    return take(p, "}") && take(p, "}") && take(p, "#-}");
}

/* Strings have no line breaks, so what begins a line is no string's. */
bool scan_resources_read(const char *source, scan_resources *out, const char **at,
                         const char **what) {
    const char *found = strstr(source, "\n{-#");
    *out = (scan_resources){.begin = NULL};
    map_init(&out->by_key);
    if (!found)
        return true;
    out->begin = *at = found + 1;
    bool ok = read_all(at, out, what);
    out->end = *at;
    return ok;
}

void scan_resources_release(scan_resources *r) {
    for (size_t i = 0; i < r->blobs.count; i++)
        ir_blob_drop(r->blobs.items[i]);
    vec_release(&r->blobs);
    map_release(&r->by_key);
}
