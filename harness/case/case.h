/* case.h - finding kernels and their cases below files and directories.
 *
 * A path is one .tsr file or a directory that is searched for them, in sorted order. A kernel's
 * name is its function's name and unique in a corpus. Everything found is borrowed from the corpus
 * until corpus_release. */
#ifndef TESSERA_HARNESS_CASE_CASE_H
#define TESSERA_HARNESS_CASE_CASE_H

#include <jansson.h>

#include "base/vec.h"
#include "common/exit_code.h"
#include "tessera/compiler.h"

typedef struct corpus_case {
    const char *path;        /* of the source */
    const char *golden_path; /* of the golden's manifest, whether it exists or not */
    compiler_source *source;
    const compiler_kernel *kernel;
    const compiler_case *c;
    const char *name; /* "kernel/case" */
} corpus_case;

typedef struct corpus {
    arena memory;
    VEC(compiler_source *) sources;
    VEC(corpus_case) cases;
    VEC(corpus_case) elsewhere; /* of other shards: asked for, and not for here (shard.h) */
    json_t *shard;              /* shard_take; NULL: all cases are here */
    exit_code problem;          /* what is wrong with some source, where the rest can still run */
} corpus;

typedef struct corpus_query {
    const char *const *paths;
    size_t path_count;
    const char *const *filters; /* globs on "kernel" and "kernel/case"; none: everything */
    size_t filter_count;
    const char *golden; /* --golden, or NULL for the directory "golden" beside the corpus */
    const char *dims;   /* --dims: kernels of just these names have one case, of these values; NULL:
                           the cases of the source */
    const char *begin;  /* of a line that a user may type: "tsr bench", which it is where NULL */
    bool skip_large;
    bool colour;
    bool usual; /* nobody named the path */
} corpus_query;

/* Appends the sources that a path means: itself, or what is below it, in sorted order. The strings
 * are of the arena. */
typedef VEC(char *) corpus_paths;
bool corpus_find(const char *given, arena *memory, corpus_paths *found, status *st);

/* Appends diagnostics of sources that are wrong. Kernels with errors are left out, and files that
 * cannot be read; `problem` says so, where the filters mean them. False when nothing can be run: a
 * path is missing, or no case is found. corpus_release in any case. */
bool corpus_load(corpus *c, const corpus_query *query, text *diagnostics, status *st);
void corpus_release(corpus *c);
/* Checks that the filters mean a case; `name` is "kernel/case". */
bool corpus_query_wants(const corpus_query *query, const char *kernel, const char *name);
/* Each case with these values of its kernel's space of tiles, "BM=128,BN=64". False with a message
 * where a kernel has no such. */
bool corpus_choose(corpus *c, const char *space, status *st);
/* The case of that name; NULL: there is none. */
const corpus_case *corpus_case_named(const corpus *c, const char *kernel, const char *case_name);
/* Counts all that was asked for, that of other shards included. */
bool corpus_is_of_one_kernel(const corpus *c);
/* Instance for the compiler. Owned (compiler_instance_free); NULL with the diagnostics in `st`. */
compiler_instance *case_instance(compiler_source *source, const compiler_kernel *kernel,
                                 const compiler_case *c, status *st);
compiler_instance *corpus_case_instance(const corpus_case *item, status *st);

#endif
