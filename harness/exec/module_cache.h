/* module_cache.h - compiled modules on disk: compiling the same again is reading a file.
 *
 * A module's key is SHA-256 over everything that it is made from: this very program (its build id)
 * and LLVM, the graph's text, dimensions, ISA levels, profile, threads, and the schedule asked for.
 * A file holds the key, the hashes and the image; whatever does not agree with its own hash, or
 * with the key that it should have, is compiled again and replaced. Files appear by a rename and
 * are never changed, so processes need no lock. Beyond its size the least recently used files go.
 *
 * The folder holds code that will be run: one that others may write to is not used. */
#ifndef TESSERA_HARNESS_EXEC_MODULE_CACHE_H
#define TESSERA_HARNESS_EXEC_MODULE_CACHE_H

#include "base/file.h"
#include "tessera/compiler.h"

enum { MODULE_CACHE_BYTES = 256 << 20 };

/* $TSR_CACHE, else tessera in $XDG_CACHE_HOME, else ~/.cache/tessera; made where it is missing.
 * Owned. NULL where there is none to be had; `st` says why where that is worth telling. */
char *module_cache_folder(status *st);

/* compiler_build, or the same artifact from the folder (NULL: always compiled). What is wrong on
 * purpose, or shall be looked at on the way, is compiled and not kept. compile_ns is the time that
 * this call took. */
bool module_cache_build(const char *folder, compiler_instance *instance,
                        const compiler_options *options, compiler_artifact *out, bool *cached,
                        status *st);

/* A file of that folder, whole or not at all; not being able to write it costs time later, and
 * nothing else. */
void module_cache_put(const char *folder, const char *path, const file_part *parts, size_t count);

/* Removes the least recently used files until `bytes` are left, and what writers that died left
 * behind. */
void module_cache_trim(const char *folder, uint64_t bytes);

#endif
