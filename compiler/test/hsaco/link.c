/* link.c - OBJECT HSACO: links an AMD GPU object, for check.py. --damage OBJECT: links what is left
 * of it after each truncation, which is refused, and with each byte changed, which is refused or
 * linked, never worse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "target/llvm/hsaco.h"

static int fail(const status *st) {
    fprintf(stderr, "%s: %s\n", status_code_name(st->code), st->message);
    return 3;
}

/* Each attempt has an allocation of its own size, so that a sanitizer sees a read past its end. */
static bool links(const char *bytes, size_t length) {
    status st = STATUS_INIT;
    text out;
    text_init(&out);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, bytes, length);
    bool ok = hsaco_link(copy, length, &out, &st);
    bool sound = ok ? out.length > 0 : out.length == 0 && st.code != STATUS_OK;
    free(copy);
    text_release(&out);
    if (!sound)
        abort();
    return ok;
}

static int damage(char *object, size_t size_bytes) {
    size_t linked = 0, refused = 0;
    for (size_t length = 0; length < size_bytes; length++)
        *(links(object, length) ? &linked : &refused) += 1;
    if (linked) {
        fprintf(stderr, "%zu truncated objects were linked\n", linked);
        return 1;
    }
    for (size_t i = 0; i < size_bytes; i++) {
        const char kept = object[i];
        object[i] = (char)~kept;
        *(links(object, size_bytes) ? &linked : &refused) += 1;
        object[i] = kept;
    }
    printf("%zu refused, %zu linked\n", refused, linked);
    return 0;
}

int main(int count, char **arguments) {
    enum { LIMIT_BYTES = 1 << 26 };
    status st = STATUS_INIT;
    char *object = NULL;
    size_t size_bytes = 0;
    if (count != 3)
        return 2;
    bool damages = strcmp(arguments[1], "--damage") == 0;
    text out;
    text_init(&out);
    int code = 0;
    if (!file_read(arguments[damages ? 2 : 1], LIMIT_BYTES, &object, &size_bytes, &st))
        code = fail(&st);
    else if (damages)
        code = damage(object, size_bytes);
    else if (!hsaco_link(object, size_bytes, &out, &st) ||
             !file_write_atomic(arguments[2], out.data, out.length, &st))
        code = fail(&st);
    free(object);
    text_release(&out);
    return code;
}
