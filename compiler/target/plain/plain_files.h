/* plain_files.h - the operations on elements in files/, which the build makes bytes of the
 * compiler. */
#ifndef TESSERA_TARGET_PLAIN_PLAIN_FILES_H
#define TESSERA_TARGET_PLAIN_PLAIN_FILES_H

#include "base/embedded_file.h"

extern const embedded_file plain_files[];
extern const size_t plain_files_count;

#endif
