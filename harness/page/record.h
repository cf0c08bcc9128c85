/* record.h - inside the report: rows, and documents in files. */
#ifndef TESSERA_HARNESS_PAGE_RECORD_H
#define TESSERA_HARNESS_PAGE_RECORD_H

#include <jansson.h>

#include "base/status.h"

/* Places in a row. */
enum {
#define COLUMN(id, title, field) ROW_##id,
#include "page/columns.def"
#undef COLUMN
    ROW_DIGEST,
    ROW_FIRST_SAMPLE,
    ROW_SAMPLE_COUNT
};

/* A JSON document with that schema and a list of results. NULL with `st` filled; owned. */
json_t *report_read_document(const char *path, const char *schema, status *st);

#endif
