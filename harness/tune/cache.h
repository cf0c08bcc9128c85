/* cache.h - the schedules that the tuner found, in one file that several processes share.
 *
 * The file is lines of JSON: a header, then an entry a line with the SHA-256 of the rest of the
 * line's canonical text in it. So an entry that is damaged, or has fields that this tsr does not
 * know, is refused by itself and named; the others stay. Writers take a lock, read what is there
 * now, and replace the file by a rename: a reader sees the old or the new file, whoever dies. An
 * exported cache is a file of the same form. docs/schedules.md lists the fields. */
#ifndef TESSERA_HARNESS_TUNE_CACHE_H
#define TESSERA_HARNESS_TUNE_CACHE_H

#include <jansson.h>

#include "job/job.h"
#include "tessera/compiler.h"

enum { TUNE_ENTRIES_MAX = 5000 };

typedef struct tune_cache {
    json_t *entries; /* by key, oldest first */
    uint32_t refused;
    text complaints; /* a line for each refused entry */
} tune_cache;

/* Key of a tuned schedule: kernel (its graph), shapes, types, ISA level, profile, threads and build
 * of tsr. Owned text, free(). `isa` is a level's name. */
char *tune_key(compiler_instance *instance, const compiler_case *c, const char *isa, const job *j);

/* A new entry for a key's parts; the caller adds what was found (schedule, default_ns, tuned_ns,
 * tried), then seals it. */
json_t *tune_entry(compiler_instance *instance, const compiler_case *c, const char *isa,
                   const job *j);
void tune_seal(json_t *entry);
/* The amount `which` ("default", "tuned") of an entry: nanoseconds, or cycles where the model
 * decided. Appends it in words. */
double tune_amount(const json_t *entry, const char *which, text *out);

/* A missing file is an empty cache. False: no cache at all, or unreadable. tune_cache_release in
 * any case. */
bool tune_cache_read(const char *path, tune_cache *out, status *st);
void tune_cache_release(tune_cache *c);
/* The entry of that key; borrowed, NULL: none. */
const json_t *tune_cache_find(const tune_cache *c, const char *key);
/* Adds entries (an array, sealed) to the file, replacing those of equal keys. */
bool tune_cache_add(const char *path, json_t *entries, status *st);
/* Adds entries of another cache: of two of one key the one that gained more over the default stays,
 * one that was timed before one that the model chose, and `complaints` says of both. So the order
 * in which caches are merged has no say. */
bool tune_cache_merge(const char *path, json_t *entries, text *complaints, status *st);
/* Writes all entries to a file of their own. */
bool tune_cache_write(const char *path, const tune_cache *c, status *st);

#endif
