/* instructions_serve.c - the process that callgrind watches: one launch of each module is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#include "base/file.h"
#include "common/abi_status.h"
#include "common/json_text.h"
#include "common/say.h"
#include "gate/gate.h"
#include "gate/spec_launch.h"

typedef struct subject_module {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
} subject_module;

static bool load(subject_module *m, const unsigned char *data, const json_t *one, status *st) {
    const json_t *place = json_object_get(one, "module");
    const char *name = json_string_value(json_object_get(one, "name"));
    return abi_ok(tsrLoadModule(m->context, data + json_integer_value(json_array_get(place, 0)),
                                (size_t)json_integer_value(json_array_get(place, 1)), &m->module),
                  "loading the module", st) &&
           abi_ok(tsrGetKernel(m->module, name, &m->kernel), "finding the kernel", st);
}

/* The first launch finds its memory; the second is counted. */
static bool count_one(tsr_context_t context, const unsigned char *data, const json_t *one) {
    subject_module m = {.context = context};
    spec_launch l = {.context = context};
    status st = STATUS_INIT;
    bool ok = load(&m, data, one, &st) && spec_launch_open(&l, context, m.kernel, data, one, &st) &&
              spec_launch_run(&l, &st);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    ok = ok && spec_launch_run(&l, &st);
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    spec_launch_close(&l);
    if (m.module)
        tsrUnloadModule(m.module);
    if (!ok)
        say(stderr, "%s\n", st.message);
    return ok;
}

int instructions_serve(const char *path) {
    char *words = NULL;
    size_t size, i;
    status st = STATUS_INIT;
    json_t *manifest = file_read(path, 1 << 28, &words, &size, &st)
                           ? json_loadb(words, size, 0, NULL)
                           : NULL,
           *one;
    const char *scratch_path = json_bytes_value(manifest, "scratch");
    const unsigned char *data = scratch_path ? scratch_map(scratch_path) : NULL;
    tsr_context_t context = NULL;
    bool ok = data && tsrCreateContextOn(0, 1, 0, &context) == TSR_SUCCESS;
    json_array_foreach(json_object_get(manifest, "cases"), i, one) {
        ok = ok && count_one(context, data, one);
    }
    if (context)
        tsrDestroyContext(context);
    json_decref(manifest);
    free(words);
    return ok ? EXIT_DONE : EXIT_BUG;
}
