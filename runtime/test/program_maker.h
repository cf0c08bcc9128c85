/* program_maker.h - modules of programs for tests: commands over one kernel, `affine` of
 * kernel_good, which makes 2 * a + i % 4 + 1 of 100 floats. */
#ifndef TESSERA_RUNTIME_PROGRAM_MAKER_H
#define TESSERA_RUNTIME_PROGRAM_MAKER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module.h"
#include "test/abi_fixture.h"
#include "test/module_maker.h"

/* Takes the arguments "a" and "flags"; makes "out", "rows" and "turns". */
#define PROGRAM_HEAD                                                                               \
    "{\"schema\": \"tsr.module/2\", \"name\": \"steps\", \"profile\": \"strict\", "                \
    "\"numerics_version\": 1, \"inputs\": ["                                                       \
    "{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]},"                                     \
    "{\"name\": \"flags\", \"dtype\": \"bool\", \"shape\": [8]}], \"outputs\": ["                  \
    "{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]},"                                   \
    "{\"name\": \"rows\", \"dtype\": \"f32\", \"shape\": [4, 100]},"                               \
    "{\"name\": \"turns\", \"dtype\": \"i64\", \"shape\": [3, 2]}], \"program\": "

/* Four launches, each on what the one before made and kept as a row; then six turns. */
#define PROGRAM_LOOPS                                                                              \
    "{\"copy\": [[\"arena\", 0, 0], [\"input\", 0, 0]], \"bytes\": 400},"                          \
    "{\"loop\": 4, \"body\": ["                                                                    \
    "{\"dispatch\": 0, \"operands\": [[\"arena\", 0, 0], [\"arena\", 0, 448]]},"                   \
    "{\"copy\": [[\"arena\", 0, 0], [\"arena\", 0, 448]], \"bytes\": 400},"                        \
    "{\"copy\": [[\"output\", 1, 0, 400], [\"arena\", 0, 0]], \"bytes\": 400}]},"                  \
    "{\"loop\": 3, \"body\": [{\"loop\": 2, \"body\": ["                                           \
    "{\"turn\": [\"output\", 2, 0, 16, 8], \"bytes\": 8}]}]},"

/* A launch more for each flag up to the first that is 0, and one where the last is not. */
#define PROGRAM_BRANCHES                                                                           \
    "{\"copy\": [[\"arena\", 0, 896], [\"input\", 1, 0]], \"bytes\": 8},"                          \
    "{\"while\": [\"arena\", 0, 896], \"condition\": [], \"body\": ["                              \
    "{\"copy\": [[\"arena\", 0, 960], [\"arena\", 0, 897]], \"bytes\": 7},"                        \
    "{\"copy\": [[\"arena\", 0, 896], [\"arena\", 0, 960]], \"bytes\": 7},"                        \
    "{\"dispatch\": 0, \"operands\": [[\"arena\", 0, 0], [\"arena\", 0, 448]]},"                   \
    "{\"copy\": [[\"arena\", 0, 0], [\"arena\", 0, 448]], \"bytes\": 400}]},"                      \
    "{\"if\": [\"input\", 1, 7], \"then\": ["                                                      \
    "{\"dispatch\": 0, \"operands\": [[\"arena\", 0, 0], [\"output\", 0, 0]]}], \"else\": ["       \
    "{\"copy\": [[\"output\", 0, 0], [\"arena\", 0, 0]], \"bytes\": 400}]}"

#define PROGRAM_END "{\"copy\": [[\"output\", 0, 0], [\"arena\", 0, 0]], \"bytes\": 400}"

#define PROGRAM_OF(commands)                                                                       \
    PROGRAM_HEAD "{\"arena_bytes\": 1024, \"kernels\": [\"kernel:0\"], \"commands\": [" commands   \
                 "]}}"

enum { PROGRAM_LOOP_LAUNCHES = 4, PROGRAM_ROWS_BYTES = 1600, PROGRAM_TURNS_BYTES = 48 };

static inline bytes make_program(const char *json, bytes kernel) {
    bytes image;
    void *data;
    static const unsigned char constant[400] = {1, 2, 3};
    module_part parts[] = {{"metadata", json, strlen(json)},
                           {"graph", "g", 1},
                           {"kernel:0", kernel.data, kernel.size},
                           {"constant:0", constant, sizeof constant}};
    assert_true(module_write_for(MODULE_ABI_MINOR_PROGRAM, parts, 4, &data, &image.size, NULL));
    image.data = data;
    return image;
}

/* With kernel_good as its kernel. */
static inline tsr_status_t load_program(tsr_context_t context, const char *json,
                                        tsr_module_t *module) {
    bytes kernel = good_module(), image = make_program(json, kernel);
    tsr_status_t result = tsrLoadModule(context, image.data, image.size, module);
    free(kernel.data);
    free(image.data);
    return result;
}

/* A program that copies each of so many inputs to an output, and `last`; `donated`: which inputs
 * are, with a comma, or "". */
static inline text many_json(int count, const char *donated, const char *last) {
    static const char *const lists[] = {"inputs", "outputs"};
    text t;
    text_init(&t);
    text_append(&t, "{\"schema\": \"tsr.module/2\", \"name\": \"small\", \"profile\": "
                    "\"strict\", \"numerics_version\": 1, ");
    text_append(&t, donated);
    for (int l = 0; l < 2; l++) {
        text_printf(&t, "\"%s\": [", lists[l]);
        for (int i = 0; i < count; i++)
            text_printf(&t, "%s{\"name\": \"%c%d\", \"dtype\": \"f32\", \"shape\": [16]}",
                        i ? ", " : "", lists[l][0], i);
        text_append(&t, "], ");
    }
    text_append(&t, "\"program\": {\"arena_bytes\": 1024, \"kernels\": [\"kernel:0\"], "
                    "\"commands\": [");
    for (int i = 0; i < count; i++)
        text_printf(&t, "%s{\"copy\": [[\"output\", %d, 0], [\"input\", %d, 0]], \"bytes\": 64}",
                    i ? ", " : "", i, i);
    text_printf(&t, "%s]}}", last);
    return t;
}

#endif
