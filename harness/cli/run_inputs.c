/* run_inputs.c - arrays of a run: files of NumPy, and tensors of .safetensors files by name. */
#include <stdlib.h>
#include <string.h>

#include "cli/run_steps.h"
#include "state/index.h"
#include "state/safetensors.h"

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

/* Room for the states that a folder holds, which are read where they are needed (run_states.h). */
static bool make_room(const step_inputs *in, const char *folder, status *st) {
    state_index x;
    bool ok = state_index_open(&x, folder, st);
    for (size_t i = 0; i < x.tensors.count && ok; i++) {
        const state_tensor *t = &x.tensors.items[i];
        for (uint32_t k = 0; k < in->count && ok; k++)
            if (strcmp(in->names[k], t->name) == 0) {
                tensor_release(&in->arrays[k]);
                ok = tensor_init(&in->arrays[k], t->grid.type, t->grid.rank, t->grid.dims, st);
                in->paths[k] = folder;
            }
    }
    state_index_close(&x);
    return ok;
}

bool steps_read(const step_inputs *in, const options *o, status *st) {
    const char *folder = options_text(o, OPTION_KEEP, NULL),
               *load = options_text(o, OPTION_LOAD, NULL);
    return (!folder || !state_is_kept(folder) || make_room(in, folder, st)) &&
           read_arrays(in, st) && (!load || read_tensors(in, load, st));
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
