/* source_known.h - sources that this very program has read to the end without a complaint.
 *
 * Reading a source in a child first (source_probe.h) and checking each of its kernels cost more
 * than a compiled module that is taken from the cache. A mark in the cache's folder saves both. Its
 * name is SHA-256 over the program's build id, the file's path and its bytes; in it stand the files
 * that are imported, each with its own SHA-256. So a mark never holds for other bytes or another
 * program, and appears by a rename like the modules beside it (module_cache.h). */
#ifndef TESSERA_HARNESS_CASE_SOURCE_KNOWN_H
#define TESSERA_HARNESS_CASE_SOURCE_KNOWN_H

#include "tessera/compiler.h"

/* Is there a mark, and has no file changed since? `cache` NULL: no. */
bool source_known(const char *cache, const char *path);
/* Leaves a mark; not being able to costs time later, and nothing else. */
void source_known_keep(const char *cache, const char *path, const compiler_source *source);

#endif
