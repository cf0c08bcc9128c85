/* yaml_text.h - a JSON document as YAML (1.1 and 1.2 read the same from it). */
#ifndef TESSERA_HARNESS_COMMON_YAML_TEXT_H
#define TESSERA_HARNESS_COMMON_YAML_TEXT_H

#include <jansson.h>

#include "base/status.h"
#include "base/text.h"

/* Appends a document that begins with "---"; keys in their order, lists of single values in one
 * line. False where the document has fractions, of which YAML's readers differ. */
bool yaml_of_json(const json_t *document, text *out, status *st);

#endif
