/* write_exports.c - write_exports DOCUMENT FORMAT=FILE...: exports a document that a test made up.
 * Exit 2 where a format does not take it. */
#include <stdio.h>

#include "report/document.h"
#include "report/export/export.h"

int main(int argc, char **argv) {
    json_error_t error;
    json_t *document = argc > 2 ? json_load_file(argv[1], 0, &error) : NULL;
    if (!document) {
        fprintf(stderr, "usage: write_exports DOCUMENT FORMAT=FILE...\n");
        return 2;
    }
    status st = STATUS_INIT;
    int code = 0;
    for (int i = 2; i < argc && code == 0; i++)
        if (!document_export_check(argv[i], export_schema(document), &st))
            code = 2;
        else if (!document_export(document, argv[i], &st))
            code = 1;
    if (code)
        fprintf(stderr, "%s\n", st.message);
    json_decref(document);
    return code;
}
