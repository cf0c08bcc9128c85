/* library_files.h - the sources in library/, which the build makes bytes of the compiler. */
#ifndef TESSERA_COMPILER_LIBRARY_FILES_H
#define TESSERA_COMPILER_LIBRARY_FILES_H

#include "base/embedded_file.h"

extern const embedded_file library_files[];
extern const size_t library_files_count;

#endif
