/* embedded_file.h - a file that the build made bytes of the program (base/embed.cmake). */
#ifndef TESSERA_BASE_EMBEDDED_FILE_H
#define TESSERA_BASE_EMBEDDED_FILE_H

#include <stddef.h>

typedef struct embedded_file {
    const char *name; /* without its folder: "page.html" */
    const char *data; /* not terminated */
    size_t size_bytes;
} embedded_file;

#endif
