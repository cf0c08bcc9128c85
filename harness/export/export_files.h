/* export_files.h - what stands around a kernel in a file of its own: files/, which the build makes
 * bytes of the program. */
#ifndef TESSERA_HARNESS_EXPORT_EXPORT_FILES_H
#define TESSERA_HARNESS_EXPORT_EXPORT_FILES_H

#include "base/embedded_file.h"

extern const embedded_file export_files[];
extern const size_t export_files_count;

#endif
