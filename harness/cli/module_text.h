/* module_text.h - what stands in a module, shown by tsr compile: of one that it has just made, and
 * of one that it is given instead of a source. */
#ifndef TESSERA_HARNESS_CLI_MODULE_TEXT_H
#define TESSERA_HARNESS_CLI_MODULE_TEXT_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options.h"

/* Appends the metadata of a checked module. */
bool module_text_metadata(const void *image, size_t size_bytes, bool yaml, text *out, status *st);
/* *yaml by --format, which is refused where `is_metadata` does not hold. Returns the exit code. */
int module_text_format(const options *o, bool is_metadata, bool *yaml);
/* Writes to -o, or stdout. Returns the exit code. */
int module_text_write(const options *o, const text *body);

/* The whole command, where its file is a module. Returns the exit code. */
int module_text_show(const options *o, const char *path);

#endif
