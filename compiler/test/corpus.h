/* corpus.h - the cases of the corpus, but for large ones, each with numbers of our own. */
#ifndef TESSERA_TEST_CORPUS_H
#define TESSERA_TEST_CORPUS_H

#include "runtime/test/test.h"

#include <fts.h>
#include <string.h>

#include "base/splitmix64.h"
#include "tessera/compiler.h"

enum { CORPUS_ARRAYS = 64, CORPUS_ELEMENTS = 20000 };

typedef struct corpus_case {
    const char *path, *kernel, *name;
    compiler_instance *instance;
    const tensor *inputs;
} corpus_case;

/* From -1 to 1; integers, which may be places in something, are 0. */
static void corpus_fill(tensor *t, uint64_t *seed) {
    for (int64_t i = 0; i < tensor_count(t); i++) {
        const double any = (double)(splitmix64(seed) % 2001) / 1000 - 1;
        dtype_store(t->type, t->data, (size_t)i, dtype_is_float(t->type) ? any : 0);
    }
}

/* False: it is too large, or its arrays are too many. */
static bool corpus_inputs(compiler_instance *instance, tensor *inputs) {
    compiler_signature s;
    status st = STATUS_INIT;
    uint64_t seed = 1;
    int64_t elements = 0;
    if (!compiler_signature_of(instance, &s, &st) || s.input_count > CORPUS_ARRAYS)
        return false;
    for (uint32_t i = 0; i < s.input_count; i++) {
        assert_true(
            tensor_init(&inputs[i], s.inputs[i].type, s.inputs[i].rank, s.inputs[i].dims, &st));
        elements += tensor_count(&inputs[i]);
        corpus_fill(&inputs[i], &seed);
    }
    return elements < CORPUS_ELEMENTS;
}

typedef void (*corpus_visit)(const corpus_case *c, void *context);

static void corpus_file(const char *path, corpus_visit visit, void *context) {
    text said;
    status st = STATUS_INIT;
    text_init(&said);
    compiler_source *source = compiler_open(path, false, &said, &st);
    if (!source)
        fail_msg("%s: %s", path, said.data);
    for (uint32_t k = 0; k < compiler_kernel_count(source); k++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, k);
        for (uint32_t c = 0; c < kernel->case_count; c++) {
            const compiler_case *own = &kernel->cases[c];
            tensor inputs[CORPUS_ARRAYS] = {{0}};
            compiler_instance *instance =
                own->large ? NULL : compiler_instance_open(source, kernel, own, &said);
            const corpus_case one = {path, kernel->name, own->name, instance, inputs};
            if (instance && corpus_inputs(instance, inputs))
                visit(&one, context);
            tensor_release_all(inputs, CORPUS_ARRAYS);
            compiler_instance_free(instance);
        }
    }
    compiler_close(source);
    text_release(&said);
}

/* Tests run in the folder that has the corpus. */
static inline void corpus_each(corpus_visit visit, void *context) {
    char folder[] = "corpus", *folders[] = {folder, NULL};
    FTS *walk = fts_open(folders, FTS_LOGICAL, NULL);
    assert_non_null(walk);
    for (FTSENT *one = fts_read(walk); one; one = fts_read(walk))
        if (one->fts_info == FTS_F && strstr(one->fts_name, ".tsr"))
            corpus_file(one->fts_path, visit, context);
    fts_close(walk);
}

#endif
