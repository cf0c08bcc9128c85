/* page_files.h - the report's own HTML, CSS and JavaScript. */
#ifndef TESSERA_HARNESS_PAGE_PAGE_FILES_H
#define TESSERA_HARNESS_PAGE_PAGE_FILES_H

#include "base/embedded_file.h"

/* In the order in which the page needs them. */
extern const embedded_file page_files[];
extern const size_t page_files_count;

#endif
