/* pack_opinion.c - see pack_opinion.h. */
#include "run/pack_opinion.h"

#include <string.h>

#include "base/arena.h"
#include "common/json_text.h"
#include "job/job.h"
#include "tessera/opinion.h"

char *pack_opinion_words(const json_t *said) {
    text words;
    const char *operation = json_text_at(said, "operation");
    if (!json_is_object(said))
        return NULL;
    text_init(&words);
    text_printf(&words, "%s%s%s", json_text_at(said, "pass"), *operation ? " " : "", operation);
    char *made = base_strdup(words.data);
    text_release(&words);
    return made;
}

json_t *pack_opinion_json(const char *words) {
    const char *operation = strchr(words, ' ');
    json_t *made = json_object();
    json_object_set_new(made, "pass", json_stringn(words, strcspn(words, " ")));
    if (operation)
        json_object_set_new(made, "operation", json_string(operation + 1));
    return made;
}

static bool is_of_code(const char *words) {
    return strcmp(words, JOB_OPINION_OF_CODE) == 0;
}

bool pack_opinion_is_known(const char *words) {
    return is_of_code(words) || compiler_has_opinion(words, strcspn(words, " "));
}

bool pack_opinion_fits(const char *words, backend_id id) {
    return !is_of_code(words) || id == BACKEND_INTERP;
}
