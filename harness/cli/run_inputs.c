/* run_inputs.c - arrays of a run: files of NumPy, and tensors of .safetensors files by name. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/safetensors.h"
#include "cli/run_steps.h"

/* Types that NumPy lacks travel as others (bf16 as u2): which of the two is meant, the parameter
 * says. */
static bool read_arrays(const step_inputs *in, status *st) {
    for (uint32_t i = 0; i < in->count; i++) {
        const dtype wanted = in->types[i];
        const bool travels = wanted != DTYPE_NONE && !dtype_owns_npy_descr(wanted);
        if (in->paths[i] && !in->arrays[i].data &&
            !tensor_read_npy(&in->arrays[i], in->paths[i], travels ? wanted : DTYPE_NONE, st))
            return false;
    }
    return true;
}

/* Those that have no array yet. */
static bool read_tensors(const step_inputs *in, const char *path, status *st) {
    safetensors file;
    bool ok = safetensors_open(&file, path, st);
    for (uint32_t i = 0; i < in->count && ok; i++) {
        const safetensors_entry *e = safetensors_find(&file, in->names[i]);
        if (!e || in->arrays[i].data)
            continue;
        ok = safetensors_read(&file, e, in->types[i], &in->arrays[i], st);
        in->paths[i] = path;
    }
    safetensors_close(&file);
    return ok;
}

bool steps_read(const step_inputs *in, const options *o, status *st) {
    const char *folder = options_text(o, OPTION_KEEP, NULL),
               *load = options_text(o, OPTION_LOAD, NULL);
    char *held = folder ? steps_state_path(folder) : NULL;
    bool ok = (!held || !file_exists(held) || read_tensors(in, held, st)) && read_arrays(in, st) &&
              (!load || read_tensors(in, load, st));
    for (uint32_t i = 0; i < in->count; i++) /* `held` ends here */
        in->paths[i] = in->paths[i] == held ? folder : in->paths[i];
    free(held);
    return ok;
}

int steps_counter(const step_inputs *in, status *st) {
    for (uint32_t i = 0; i < in->count; i++) {
        if (strcmp(in->names[i], "step") != 0 || in->arrays[i].data || in->types[i] != DTYPE_I32)
            continue;
        in->paths[i] = "--steps";
        return tensor_init(&in->arrays[i], DTYPE_I32, 0, NULL, st) ? (int)i : -1;
    }
    return -1;
}
