/* page_files.h - the page's own HTML, CSS and JavaScript, as the build embedded them
 * (report/page/embed.cmake). */
#ifndef TESSERA_HARNESS_PAGE_PAGE_FILES_H
#define TESSERA_HARNESS_PAGE_PAGE_FILES_H

#include <stddef.h>

typedef struct page_file {
    const char *name; /* "page.html", "page.css", "roofline.js", ... */
    const char *data; /* not terminated */
    size_t size_bytes;
} page_file;

/* In the order in which the page needs them. */
extern const page_file page_files[];
extern const size_t page_file_count;

#endif
