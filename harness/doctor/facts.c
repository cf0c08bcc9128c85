/* facts.c - goes through the table of checks; reading files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json_text.h"
#include "doctor/look.h"

bool look_at(const char *root, const char *path, char text[LOOK_TEXT_BYTES]) {
    char whole[512];
    text[0] = '\0';
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole)
        return false;
    int fd = open(whole, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = 0, n = 1;
    while (n > 0 && length < LOOK_TEXT_BYTES - 1) {
        n = read(fd, text + length, (size_t)(LOOK_TEXT_BYTES - 1 - length));
        length += n > 0 ? n : 0;
    }
    close(fd);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    return n >= 0;
}

long long look_number(const char *root, const char *path, long long otherwise) {
    char text[LOOK_TEXT_BYTES], *end;
    if (!look_at(root, path, text))
        return otherwise;
    long long value = strtoll(text, &end, 10);
    return end == text ? otherwise : value;
}

static json_t *as_json(const char *name, const finding *f) {
    const char *mend = f->mend_text[0] ? f->mend_text : f->mend;
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "check", name, "state", f->state, "found",
                     json_text(f->found), "why", json_text(f->why), "mend", json_text(mend));
}

json_t *doctor_facts(const doctor_place *place) {
    json_t *list = json_array();
    finding f;
#define CHECK(function, name)                                                                      \
    f = check_##function(place);                                                                   \
    json_array_append_new(list, as_json(name, &f));
#include "doctor/checks.def"
#undef CHECK
    return list;
}
