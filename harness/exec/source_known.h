/* source_known.h - sources that this very program has read to the end without a complaint.
 *
 * Reading a source in a child first (case/source_probe.h) and checking each of its kernels cost
 * more than a compiled module that is taken from the cache. A mark in the cache's folder saves
 * both. Its name is SHA-256 over the program's build id, the file's path and its bytes; in it stand
 * the files that are imported, each with its own SHA-256. So a mark never holds for other bytes or
 * another program, and appears by a rename like the modules beside it (module_cache.h). */
#ifndef TESSERA_HARNESS_EXEC_SOURCE_KNOWN_H
#define TESSERA_HARNESS_EXEC_SOURCE_KNOWN_H

#include "tessera/compiler.h"

/* compiler_open behind source_probe_one. A file of which `cache` (NULL: none) has a mark, and that
 * has not changed since, is read once. */
compiler_source *source_known_open(const char *cache, const char *path, bool colour,
                                   text *diagnostics, status *st);

#endif
