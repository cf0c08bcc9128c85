/* json.c - the document itself. */
#include "report/export/export.h"

/* Samples have no place in its schema. */
void export_json(const json_t *document, text *out) {
    json_t *plain = json_copy((json_t *)document);
    json_object_del(plain, "samples");
    export_append_document(out, plain);
}
