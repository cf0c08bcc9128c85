/* fuzz_name.c - names from elsewhere, of any bytes: what is shown of one is harmless, and what is
 * written as JSON comes back. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "common/json_text.h"
#include "fuzz.h"

/* Neither a control character, nor a byte of none, nor more than was allowed. */
static void check_shown(const text *shown) {
    for (size_t i = 0; i < shown->length; i++)
        if ((unsigned char)shown->data[i] < ' ' || shown->data[i] == 0x7f)
            abort();
    if (!text_is_utf8(shown->data, shown->length) || strncmp(shown->data, "::", 2) == 0)
        abort();
}

static void check_json(const char *name) {
    json_t *object = json_object();
    json_object_set_new(object, "name", json_bytes(name));
    json_object_set_new(object, "shown", json_text(name));
    char *document = json_dumps(object, JSON_COMPACT);
    json_t *back = document ? json_loads(document, 0, NULL) : NULL;
    const char *value = back ? json_bytes_value(back, "name") : NULL;
    if (!value || strcmp(value, name) != 0)
        abort();
    json_decref(back);
    free(document);
    json_decref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *name = base_malloc(size + 1);
    text shown;
    memcpy(name, data, size);
    name[size] = '\0';
    text_init(&shown);
    text_show(&shown, "%s", name);
    check_shown(&shown);
    text_clear(&shown);
    text_escape(&shown, (const char *)data, size, 100);
    check_shown(&shown);
    text_clear(&shown);
    text_screen(&shown, (const char *)data, size);
    if (!text_is_utf8(shown.data, shown.length))
        abort();
    text_release(&shown);
    check_json(name);
    free(name);
    return 0;
}
