/* side_implementation.c - code of others as a side: a unit for each case of a kernel that it
 * computes, whose module has the device `foreign` call it. */
#include <string.h>

#include "base/arena.h"
#include "gate/side.h"

bool gate_side_is_foreign(const gate_side *a) {
    return a->kind == GATE_SIDE_IMPLEMENTATION;
}

bool gate_side_open_implementation(gate_side *a, const gate_side_request *request,
                                   const char *given, status *st) {
    job_choice choice = *request->choice;
    a->code = base_calloc(1, sizeof *a->code);
    a->items = request->corpus;
    if (!implementation_open(a->code, given, st))
        return false;
    a->detail = base_strdup(a->code->path);
    if (implementation_needs_folder(a->code->kind) &&
        !scratch_folder_open(&a->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    memset(choice.backends, 0, sizeof choice.backends);
    choice.implementations = a->code;
    choice.implementation_count = 1;
    gate_side_plan(a, &choice);
    return job_plan_covers(&a->plan, &choice, st);
}

bool gate_side_wrap(const gate_side *a, const job *j, compiler_instance *instance,
                    gate_side_module *out, status *st) {
    compiler_artifact made = {0};
    const implementation_request request = {.path = j->implementation,
                                            .symbol = j->implementation_symbol,
                                            .kernel = j->kernel,
                                            .folder = a->folder.path,
                                            .kind = (implementation_kind)j->implementation_kind,
                                            .threads = j->threads};
    if (!implementation_build(&request, instance, &made, st))
        return false;
    *out = (gate_side_module){made.image, made.image_size};
    return true;
}
