/* doc_pages.h - the pages of docs/, which tsr help PAGE shows. */
#ifndef TESSERA_HARNESS_CLI_DOC_PAGES_H
#define TESSERA_HARNESS_CLI_DOC_PAGES_H

#include "base/embedded_file.h"

/* Pages by their names: "check.md", ... */
extern const embedded_file doc_pages[];
extern const size_t doc_pages_count;

#endif
