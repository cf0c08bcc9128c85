/* corpus_generic.c - EVERY [--isa ISA DEVICE] PATH...: each kernel of a corpus compiled for any
 * dimensions, and run at those of each EVERYth of its cases: the bits must be the interpreter's.
 * One module serves all cases of a kernel that have the same element types. On this CPU, or by an
 * ISA's code on the device of that name (sm_80-emulated ptx-emulated).
 *
 * Then at other dimensions than the cases have. Those that the kernel cannot have (a slice beyond
 * its tensor) are refused when it is specialised, and so must be the launch, before it looks at a
 * buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "case/case_context.h"
#include "case/inputs.h"
#include "metadata.h"
#include "module.h"
#include "tessera/tessera.h"

enum { ARGUMENTS_MAX = 128, POISON = 0xA5 }; /* of the corpus' kernels */

typedef struct generic_kernel {
    tsr_context_t context;
    const char *isa; /* NULL: this CPU's */
    tsr_module_t module;
    tsr_kernel_t kernel;
    metadata metadata;
    sha256 graph; /* what it was compiled from */
    bool open;
} generic_kernel;

static bool abi(tsr_status_t code, status *st) {
    return code == TSR_SUCCESS ||
           status_set(st, STATUS_INTERNAL, "%s: %s", tsrStatusName(code), tsrGetLastError());
}

static void close_kernel(generic_kernel *k) {
    if (!k->open)
        return;
    metadata_release(&k->metadata);
    tsrUnloadModule(k->module);
    k->open = false;
}

static bool load_kernel(generic_kernel *k, const compiler_artifact *a, const char *name,
                        status *st) {
    module_part part;
    if (!module_find(a->image, a->image_size, "metadata", &part) ||
        !metadata_parse(&k->metadata, part.data, part.size_bytes, st))
        return status_set(st, STATUS_INTERNAL, "no metadata");
    k->open = abi(tsrLoadModule(k->context, a->image, a->image_size, &k->module), st);
    if (!k->open)
        metadata_release(&k->metadata);
    return k->open && abi(tsrGetKernel(k->module, name, &k->kernel), st);
}

/* Compiles, unless it is the kernel that is open. */
static bool open_kernel(generic_kernel *k, const case_context *s, status *st) {
    compiler_options options = {.generic = true, .verify = true, .isa = k->isa};
    compiler_artifact artifact = {0};
    sha256 graph = *compiler_instance_hash(s->instance);
    if (k->open && memcmp(&graph, &k->graph, sizeof graph) == 0)
        return true;
    close_kernel(k);
    k->graph = graph;
    bool ok = compiler_build(s->instance, &options, &artifact, st) &&
              load_kernel(k, &artifact, s->kernel->name, st);
    compiler_artifact_release(&artifact);
    return ok;
}

static bool bind(const metadata *m, const ir_binding *dims, uint32_t count, int64_t *values,
                 status *st) {
    for (uint32_t i = 0; i < m->dims; i++) {
        uint32_t k = 0;
        while (k < count && strcmp(dims[k].name, m->dim_names[i]) != 0)
            k++;
        if (k == count)
            return status_set(st, STATUS_INTERNAL, "the case has no dimension %s", m->dim_names[i]);
        values[i] = dims[k].value;
    }
    return true;
}

static bool copy(generic_kernel *k, void *to, const void *from, size_t bytes, status *st) {
    return bytes == 0 || abi(tsrCopy(k->context, to, from, bytes), st);
}

static bool allocate(generic_kernel *k, const tensor *tensors, uint32_t count, bool poison,
                     void **out, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        size_t bytes = tensor_bytes(&tensors[i]);
        unsigned char *poisoned = base_malloc(bytes + 1);
        memset(poisoned, POISON, bytes);
        ok = abi(tsrAlloc(k->context, bytes ? bytes : 1, 0, &out[i]), st) &&
             copy(k, out[i], poison ? poisoned : tensors[i].data, bytes, st);
        free(poisoned);
    }
    return ok;
}

static bool judge(generic_kernel *k, const tensor *expected, uint32_t count, void *const *got,
                  status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        size_t bytes = tensor_bytes(&expected[i]), at = 0;
        const unsigned char *a = expected[i].data;
        unsigned char *b = base_malloc(bytes + 1);
        ok = copy(k, b, got[i], bytes, st);
        while (ok && at < bytes && a[at] == b[at])
            at++;
        free(b);
        if (ok && at < bytes)
            ok = status_set(st, STATUS_INTERNAL, "output %u differs at byte %zu of %zu", i, at,
                            bytes);
    }
    return ok;
}

/* A kernel's arrays at certain dimensions. */
typedef struct arrays {
    const ir_binding *dims;
    uint32_t dim_count, input_count, output_count;
    const tensor *inputs, *expected;
} arrays;

static bool run(generic_kernel *k, const arrays *a, status *st) {
    void *buffers[ARGUMENTS_MAX] = {NULL}, *args[ARGUMENTS_MAX];
    int64_t dims[64];
    uint32_t count = a->input_count + a->output_count;
    bool ok = bind(&k->metadata, a->dims, a->dim_count, dims, st) &&
              allocate(k, a->inputs, a->input_count, false, buffers, st) &&
              allocate(k, a->expected, a->output_count, true, buffers + a->input_count, st);
    for (uint32_t i = 0; i < count; i++)
        args[i] = &buffers[i];
    for (uint32_t i = 0; i < k->metadata.dims; i++)
        args[count + i] = &dims[i];
    ok = ok &&
         abi(tsrLaunch(k->kernel, NULL, (tsr_launch_t){0}, args, count + k->metadata.dims), st) &&
         judge(k, a->expected, a->output_count, buffers + a->input_count, st);
    for (uint32_t i = 0; i < count; i++)
        tsrFree(k->context, buffers[i]);
    return ok;
}

static bool check_case(generic_kernel *k, case_context *s, const corpus_case *c, status *st) {
    case_context_request request = {
        .path = c->path, .kernel = c->kernel->name, .case_name = c->c->name, .seed = 1};
    const tensor *expected;
    if (!case_context_open(s, &request, st) || !(expected = case_context_interpret(s, st)) ||
        !open_kernel(k, s, st))
        return false;
    arrays a = {s->c->dims, s->c->dim_count, s->signature.input_count, s->signature.output_count,
                s->inputs,  expected};
    return run(k, &a, st);
}

/* ---- other dimensions ---- */

enum { SHIFTS = 5, SHIFTED_ELEMENTS_MAX = 1 << 16 };

static int64_t shifted(int64_t dim, int shift, uint32_t number) {
    switch (shift) {
    case 0:
        return dim + 1;
    case 1:
        return dim > 0 ? dim - 1 : 0;
    case 2:
        return number % 2 ? dim : 2 * dim + 3;
    case 3:
        return number % 2 ? 1 : dim;
    default:
        return number % 2 ? dim : 0;
    }
}

/* No array: the dimensions alone must be why. */
static bool is_refused(generic_kernel *k, const ir_binding *dims, uint32_t count, const char *why,
                       status *st) {
    void *nothing = NULL, *args[ARGUMENTS_MAX];
    int64_t values[64];
    uint32_t buffers = k->metadata.inputs + k->metadata.outputs;
    char words[300];
    if (!bind(&k->metadata, dims, count, values, st))
        return false;
    for (uint32_t i = 0; i < buffers + k->metadata.dims; i++)
        args[i] = i < buffers ? (void *)&nothing : (void *)&values[i - buffers];
    snprintf(words, sizeof words, "kernel '%s' with ", k->metadata.name);
    tsr_status_t code =
        tsrLaunch(k->kernel, NULL, (tsr_launch_t){0}, args, buffers + k->metadata.dims);
    return (code == TSR_EINVAL && strncmp(tsrGetLastError(), words, strlen(words)) == 0) ||
           status_set(st, STATUS_INTERNAL,
                      "dimensions that do not fit are not refused: %s, but: %s", tsrGetLastError(),
                      why);
}

static bool is_small(const compiler_signature *s) {
    int64_t most = 0;
    for (uint32_t i = 0; i < s->input_count + s->output_count; i++) {
        const struct compiler_buffer *b =
            i < s->input_count ? &s->inputs[i] : &s->outputs[i - s->input_count];
        int64_t count = 1;
        for (int k = 0; k < b->rank; k++)
            count *= b->dims[k];
        most = count > most ? count : most;
    }
    return most <= SHIFTED_ELEMENTS_MAX;
}

/* Inputs that the kernel cannot take at these dimensions (targets outside of their row) are left
 * out. */
static bool run_shifted(generic_kernel *k, const compiler_case *c, compiler_instance *shifted_case,
                        const compiler_signature *signature, size_t *runs, status *st) {
    tensor *inputs = tensors_new(signature->input_count);
    tensor *outputs = tensors_new(signature->output_count);
    ir_bindings dims = compiler_instance_dims(shifted_case);
    status unfit = STATUS_INIT;
    bool ok = inputs_make(signature, c, 1, inputs, st),
         takes = ok && compiler_check_values(shifted_case, inputs, &unfit);
    if (takes)
        ok = compiler_interpret(shifted_case, inputs, outputs, st);
    if (takes && ok) {
        arrays a = {dims.items, dims.count, signature->input_count, signature->output_count,
                    inputs,     outputs};
        ++*runs;
        ok = run(k, &a, st);
    }
    tensors_free(inputs);
    tensors_free(outputs);
    return ok;
}

typedef struct shift_counts {
    size_t runs, refused;
} shift_counts;

static bool check_shifted(generic_kernel *k, case_context *s, int shift, shift_counts *counts,
                          status *st) {
    ir_binding dims[64];
    compiler_signature signature;
    status misfit = STATUS_INIT;
    uint32_t count = s->c->dim_count;
    if (count == 0 || count > 64)
        return true;
    for (uint32_t i = 0; i < count; i++)
        dims[i] = (ir_binding){s->c->dims[i].name, shifted(s->c->dims[i].value, shift, i)};
    compiler_instance *moved = compiler_instance_new(
        ir_module_clone(compiler_instance_graph(s->instance)), (ir_bindings){dims, count});
    bool ok, fits = compiler_primitives(moved, &misfit) != NULL;
    counts->refused += !fits;
    if (!fits)
        ok = is_refused(k, dims, count, misfit.message, st);
    else
        ok = compiler_signature_of(moved, &signature, st) &&
             (!is_small(&signature) || run_shifted(k, s->c, moved, &signature, &counts->runs, st));
    compiler_instance_free(moved);
    return ok;
}

/* The device of that name; the CPU without one. */
static bool find_device(const char *name, uint32_t *index, status *st) {
    uint32_t count = 0;
    *index = 0;
    if (!name)
        return true;
    if (!abi(tsrGetDeviceCount(&count), st))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        tsr_device_info_t info = {.struct_size = sizeof info};
        if (!abi(tsrGetDeviceInfo(i, &info), st))
            return false;
        *index = i;
        if (strcmp(info.name, name) == 0)
            return true;
    }
    return status_set(st, STATUS_NOT_FOUND, "there is no device '%s'", name);
}

int main(int argc, char **argv) {
    generic_kernel k = {.open = false};
    corpus c;
    case_context s = {0};
    text diagnostics;
    status st = STATUS_INIT;
    shift_counts counts = {0, 0};
    size_t every = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, cases = 0, failed = 0;
    bool is_chip = argc > 5 && strcmp(argv[2], "--isa") == 0;
    int paths = is_chip ? 5 : 2;
    uint32_t device;
    if (every == 0)
        return fprintf(stderr, "usage: harness_generic EVERY [--isa ISA DEVICE] PATH...\n"), 2;
    text_init(&diagnostics);
    corpus_query query = {.paths = (const char *const *)argv + paths,
                          .path_count = (size_t)(argc - paths),
                          .skip_large = true};
    k.isa = is_chip ? argv[3] : NULL;
    bool ok = corpus_load(&c, &query, &diagnostics, &st) &&
              find_device(is_chip ? argv[4] : NULL, &device, &st) &&
              abi(tsrCreateContextOn(device, 2, TSR_CONTEXT_DEBUG, &k.context), &st);
    for (size_t i = 0; i < c.cases.count && ok; i += every) {
        status why = STATUS_INIT;
        if (c.cases.items[i].kernel->interpreted)
            continue; /* no code is made of it */
        cases++;
        bool good = check_case(&k, &s, &c.cases.items[i], &why);
        for (int shift = 0; shift < SHIFTS && good; shift++)
            good = check_shifted(&k, &s, shift, &counts, &why);
        if (good || why.code == STATUS_UNAVAILABLE) /* kernels of tiles have no such code */
            continue;
        printf("NOT OK - %s: %s\n", c.cases.items[i].name, why.message);
        failed++;
    }
    close_kernel(&k);
    if (k.context)
        tsrDestroyContext(k.context);
    printf("%zu cases by code for any dimensions and %zu of other dimensions, %zu refused as they "
           "must "
           "be; %zu of other bits or not run%s%s\n",
           cases, counts.runs, counts.refused, failed, ok ? "" : ": ", st.message);
    case_context_close(&s);
    corpus_release(&c);
    text_release(&diagnostics);
    return ok && failed == 0 && cases > 0 ? 0 : 1;
}
