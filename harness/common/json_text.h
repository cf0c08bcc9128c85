/* json_text.h - text that came from elsewhere (a file's name, the environment, a program), as JSON.
 *
 * JSON is UTF-8, and a file's name is any bytes: json_string and json_pack make NULL of those. */
#ifndef TESSERA_HARNESS_COMMON_JSON_TEXT_H
#define TESSERA_HARNESS_COMMON_JSON_TEXT_H

#include <jansson.h>

/* For people: each byte that is no part of a character becomes the four characters \xff. NULL text
 * becomes null. */
json_t *json_text(const char *text);

/* "a,b" as a list of texts; "" is an empty one. */
json_t *json_words(const char *words);

/* The text under a name of an object; "" where there is none. Borrowed. */
const char *json_text_at(const json_t *object, const char *name);

/* For programs: a string where that holds the text, else {"hex": "..."}, its bytes. */
json_t *json_bytes(const char *text);
/* The text of member `name`, in either form; NULL: there is none. Borrowed from the object, which
 * holds the text as a string from then on. */
const char *json_bytes_value(json_t *object, const char *name);

#endif
