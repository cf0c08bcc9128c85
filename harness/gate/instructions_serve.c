/* instructions_serve.c - the process that callgrind watches: one launch of each module is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#include "base/file.h"
#include "common/json_text.h"
#include "common/say.h"
#include "gate/gate.h"
#include "gate/spec_launch.h"

/* The first launch finds its memory; the second is counted. */
static bool count_one(tsr_context_t context, const unsigned char *data, const json_t *one) {
    const void **inputs = NULL;
    spec_request spec;
    launch l = {0};
    status st = STATUS_INIT;
    bool ok = spec_request_read(&spec, context, data, one, 0, &st);
    if (ok)
        inputs = spec_inputs(&spec.request, data, one, 0);
    ok = ok && launch_open(&l, &spec.request, &st) && launch_allocate(&l, &st) &&
         spec_launch_run(&l, inputs, &st);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    ok = ok && launch_run(&l, &st);
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    launch_close(&l);
    spec_request_release(&spec);
    free(inputs);
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
