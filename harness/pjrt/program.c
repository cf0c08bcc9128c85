/* program.c - programs: compiled, loaded, and kept for the next time that the same bytes come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "pjrt/plugin.h"
#include "tessera/compile.h"

enum { PROGRAMS_KEPT = 1024 };

/* ---- loading ---- */

/* A device's part, of which there is one for each. */
static bool describe_part(const program *p, uint32_t i, program_tensor *t) {
    const program_cut *cut = &p->lies.cuts[i];
    const uint32_t devices = p->lies.replicas * p->lies.partitions;
    for (uint32_t k = 0; k < t->rank && k < 8; k++) {
        const int64_t parts = cut->parts[k];
        if (parts < 1 || t->dims[k] % parts || (k < cut->device_axes && t->dims[k] != parts))
            return false;
        for (uint32_t d = 0; d < devices; d++)
            if (p->lies.places[(size_t)i * devices + d][k] >= parts)
                return false;
        t->is_cut |= parts > 1 || k < cut->device_axes;
        if (k >= cut->device_axes)
            t->own_dims[t->own_rank++] = t->dims[k] / parts;
    }
    return cut->device_axes <= t->rank && t->rank <= 8 &&
           shape_bytes(t->own_dims, t->own_rank, type_bytes(t->type), &t->own_bytes);
}

void *program_part(const program *p, uint32_t tensor, uint32_t device, void *whole,
                   int64_t *strides) {
    const program_tensor *t = &p->tensors[tensor];
    const uint32_t *place =
        p->lies.places[(size_t)tensor * p->lies.replicas * p->lies.partitions + device];
    int64_t all[8];
    char *at = whole;
    layout_dense(t->dims, t->rank, type_bytes(t->type), all);
    for (uint32_t k = 0; k < t->rank; k++)
        at += all[k] * (t->dims[k] / p->lies.cuts[tensor].parts[k]) * place[k];
    memcpy(strides, all + p->lies.cuts[tensor].device_axes, t->own_rank * sizeof *strides);
    return at;
}

/* A complex tensor is one of pairs in the module. */
static bool describe_one(const program *p, uint32_t i, program_tensor *t) {
    const char *type;
    if (tsrGetKernelParameter(p->kernel, i, NULL, &type, &t->rank, &t->dims) != TSR_SUCCESS ||
        (p->forms[i] == PROGRAM_COMPLEX && (t->rank == 0 || t->dims[t->rank - 1] != 2)))
        return false;
    t->rank -= p->forms[i] == PROGRAM_COMPLEX;
    t->type = type_code(dtype_from_name(type), p->forms[i]);
    return t->type != PJRT_Buffer_Type_INVALID &&
           shape_bytes(t->dims, t->rank, type_bytes(t->type), &t->bytes) && describe_part(p, i, t);
}

static bool describe(program *p) {
    const uint32_t count = p->inputs + p->outputs;
    p->tensors = base_calloc((size_t)count + 1, sizeof *p->tensors);
    for (uint32_t i = 0; i < count; i++)
        if (!describe_one(p, i, &p->tensors[i]))
            return false;
    return true;
}

/* Notes inputs that the source donates, and those in whose place the code makes outputs. */
static bool take_donors(program *p) {
    p->in_place = base_calloc((size_t)p->outputs + 1, sizeof *p->in_place);
    p->donated = base_calloc((size_t)p->inputs + 1, sizeof *p->donated);
    for (uint32_t i = 0; i < p->outputs; i++) {
        uint32_t taken = TSR_NOT_DONATED;
        const uint32_t donor = p->donors[i];
        if (donor == TSR_NOT_DONATED)
            continue;
        if (donor >= p->inputs || p->donated[donor])
            return false;
        p->donated[donor] = true;
        tsrGetDonatedOutput(p->kernel, donor, &taken);
        p->in_place[i] = taken == i;
    }
    return true;
}

static void *copied(const void *list, size_t bytes) {
    char *copy = base_calloc(1, bytes + 1);
    if (bytes)
        memcpy(copy, list, bytes);
    return copy;
}

/* Checks the facts against the module. */
static bool take_facts(program *p, const program_facts *f) {
    const size_t count = (size_t)f->inputs + f->outputs;
    p->donors = copied(f->donors, f->outputs * sizeof *f->donors);
    p->forms = copied(f->forms, count);
    p->lies.replicas = f->replicas;
    p->lies.partitions = f->partitions;
    p->lies.cuts = copied(f->cuts, count * sizeof *f->cuts);
    p->lies.places = copied(f->places, count * f->replicas * f->partitions * sizeof *f->places);
    if (f->inputs != p->inputs || f->outputs > p->outputs || f->placeholders > 1 ||
        f->outputs + f->placeholders != p->outputs)
        return false;
    p->outputs = f->outputs;
    p->placeholders = f->placeholders;
    return describe(p) && take_donors(p);
}

static void list_outputs(program *p) {
    size_t dims = 0;
    for (uint32_t i = 0; i < p->outputs; i++)
        dims += p->tensors[p->inputs + i].own_rank;
    p->listed.types = base_calloc((size_t)p->outputs + 1, sizeof *p->listed.types);
    p->listed.ranks = base_calloc((size_t)p->outputs + 1, sizeof *p->listed.ranks);
    p->listed.kinds = base_calloc((size_t)p->outputs + 1, sizeof *p->listed.kinds);
    p->listed.kind_sizes = base_calloc((size_t)p->outputs + 1, sizeof *p->listed.kind_sizes);
    p->listed.dims = base_calloc(dims + 1, sizeof *p->listed.dims);
    int64_t *next = p->listed.dims;
    for (uint32_t i = 0; i < p->outputs; i++) {
        const program_tensor *t = &p->tensors[p->inputs + i];
        p->listed.types[i] = t->type;
        p->listed.ranks[i] = t->own_rank;
        p->listed.kinds[i] = "device";
        p->listed.kind_sizes[i] = strlen(p->listed.kinds[i]);
        for (uint32_t k = 0; k < t->own_rank; k++)
            *next++ = t->own_dims[k];
    }
}

/* A module has one kernel, by the name in its metadata. */
static tsr_status_t find_kernel(program *p) {
    const char *words;
    tsr_status_t code = tsrGetModuleMetadata(p->module, &words);
    if (code != TSR_SUCCESS)
        return code;
    json_t *root = json_loads(words, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "name"));
    code = name ? tsrGetKernel(p->module, name, &p->kernel) : TSR_ECORRUPT;
    json_decref(root);
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    if (code == TSR_SUCCESS)
        code = tsrGetKernelInfo(p->kernel, &info);
    if (code == TSR_SUCCESS) {
        p->name = info.name;
        p->inputs = info.inputs;
        p->outputs = info.outputs;
        p->workspace_bytes = info.workspace_bytes;
    }
    return code;
}

program *program_load(PJRT_Client *c, const program_facts *facts, void *image, size_t bytes,
                      PJRT_Error **error) {
    program *p = base_calloc(1, sizeof *p);
    const sha256 print = sha256_of(image, bytes);
    atomic_init(&p->holders, 1);
    p->client = client_hold(c);
    p->key = facts->key;
    p->image = image;
    p->image_bytes = bytes;
    sha256_hex(&print, p->fingerprint);
    tsr_status_t code = tsrLoadModule(c->context, image, bytes, &p->module);
    if (code == TSR_SUCCESS)
        code = find_kernel(p);
    *error = NULL;
    if (code != TSR_SUCCESS)
        *error = error_of(code, tsrGetLastError());
    else if (!take_facts(p, facts))
        *error = error_new(PJRT_Error_Code_UNIMPLEMENTED,
                           "the program takes or gives what this interface has no name for");
    if (!*error) {
        list_outputs(p);
        return p;
    }
    program_release(p);
    return NULL;
}

void program_release(program *p) {
    if (!p || atomic_fetch_sub(&p->holders, 1) > 1)
        return;
    if (p->module)
        tsrUnloadModule(p->module);
    free(p->tensors);
    free(p->donors);
    free(p->forms);
    free(p->lies.cuts);
    free(p->lies.places);
    free(p->in_place);
    free(p->donated);
    free(p->listed.types);
    free(p->listed.dims);
    free(p->listed.ranks);
    free(p->listed.kinds);
    free(p->listed.kind_sizes);
    free(p->image);
    free(p->code.data);
    client_release(p->client);
    free(p);
}

/* ---- compiling ---- */

/* An operation that is not supported is another failure than a wrong program. */
static PJRT_Error *refused(tsr_status_t code, tsr_compilation_t c) {
    tsr_diagnostic_t first = {.struct_size = sizeof first};
    PJRT_Error_Code told = error_code_of(code);
    if (tsrGetDiagnostic(c, 0, &first) == TSR_SUCCESS && strcmp(first.id, "E1202") == 0)
        told = PJRT_Error_Code_UNIMPLEMENTED;
    return error_new(told, "%s", tsrGetDiagnosticText(c));
}

static program *load_compiled(PJRT_Client *client, const sha256 *key, tsr_compilation_t c,
                              PJRT_Error **error) {
    size_t bytes;
    const void *module = tsrGetCompiledModule(c, &bytes);
    const uint32_t count = tsrGetShapeCount(c);
    uint32_t *donors = base_calloc((size_t)count + 1, sizeof *donors);
    uint8_t *forms = base_calloc((size_t)count + 1, sizeof *forms);
    program_cut *cuts = base_calloc((size_t)count + 1, sizeof *cuts);
    tsr_shape_t shape = {.struct_size = sizeof shape};
    tsrGetShape(c, 0, &shape);
    const uint32_t devices = shape.replicas * shape.partitions;
    uint32_t(*places)[8] = base_calloc((size_t)count * devices + 1, sizeof *places);
    program_facts facts = {.key = *key,
                           .donors = donors,
                           .forms = forms,
                           .replicas = shape.replicas,
                           .partitions = shape.partitions,
                           .cuts = cuts,
                           .places = places};
    for (uint32_t i = 0; i < count; i++) {
        tsrGetShape(c, i, &shape);
        forms[i] = (uint8_t)(shape.is_complex ? PROGRAM_COMPLEX : shape.element_bits);
        cuts[i].device_axes = shape.device_axes;
        memcpy(cuts[i].parts, shape.parts, sizeof shape.parts);
        for (uint32_t d = 0; d < devices; d++)
            tsrGetPart(c, i, d, places[(size_t)i * devices + d]);
        if (shape.is_placeholder)
            facts.placeholders++;
        else if (shape.is_output)
            donors[facts.outputs++] = shape.replaces;
        else
            facts.inputs++;
    }
    program *p = program_load(client, &facts, copied(module, bytes), bytes, error);
    free(donors);
    free(forms);
    free(cuts);
    free(places);
    return p;
}

/* Hashes the program and the settings. */
static sha256 key_of(const compile_settings *settings, const char *code, size_t bytes) {
    const sha256 of_code = sha256_of(code, bytes);
    char all[sizeof of_code + sizeof settings->profile] = {0};
    memcpy(all, &of_code, sizeof of_code);
    snprintf(all + sizeof of_code, sizeof settings->profile, "%s", settings->profile);
    return sha256_of(all, sizeof all);
}

/* The options of a compilation and the program say how many devices there are. */
static program *for_devices(program *p, const assignment *on, PJRT_Error **error) {
    if (p->lies.replicas == on->replicas && p->lies.partitions == on->partitions)
        return p;
    *error = error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                       "the program is for %u replicas of %u partitions (mhlo.num_replicas, "
                       "mhlo.num_partitions), and the options of its compilation ask for %u of %u",
                       p->lies.replicas, p->lies.partitions, on->replicas, on->partitions);
    program_release(p);
    return NULL;
}

program *program_compile(PJRT_Client *client, const compile_settings *settings, const char *code,
                         size_t bytes, PJRT_Error **error) {
    const tsr_compile_options_t options = {.struct_size = sizeof options,
                                           .profile = settings->profile,
                                           .isa = *client->isa ? client->isa : NULL,
                                           .threads = client->threads};
    const sha256 key = key_of(settings, code, bytes);
    tsr_compilation_t c = NULL;
    program *p = program_kept(client, &key);
    if (p)
        return for_devices(p, &settings->on, error);
    const tsr_status_t made = tsrCompile(code, bytes, "program.mlir", &options, &c);
    if (made == TSR_SUCCESS)
        p = load_compiled(client, &key, c, error);
    else
        *error = refused(made, c);
    if (p) {
        snprintf(p->profile, sizeof p->profile, "%s", settings->profile);
        p->code.data = copied(code, bytes);
        p->code.bytes = bytes;
    }
    tsrDestroyCompilation(c);
    return p ? for_devices(program_keep(p), &settings->on, error) : NULL;
}

/* ---- keeping ---- */

/* Moves it to the front; the lock is held. */
static program *find(PJRT_Client *c, const sha256 *key) {
    for (program **at = &c->programs; *at; at = &(*at)->next) {
        program *p = *at;
        if (memcmp(&p->key, key, sizeof *key) != 0)
            continue;
        *at = p->next;
        p->next = c->programs;
        c->programs = p;
        atomic_fetch_add(&p->holders, 1);
        return p;
    }
    return NULL;
}

program *program_kept(PJRT_Client *c, const sha256 *key) {
    pthread_mutex_lock(&c->lock);
    program *p = find(c, key);
    pthread_mutex_unlock(&c->lock);
    return p;
}

/* Takes the last one of the list, which was not asked for longest; the lock is held. */
static program *take_last(PJRT_Client *c) {
    program **at = &c->programs;
    while ((*at)->next)
        at = &(*at)->next;
    program *last = *at;
    *at = NULL;
    c->program_count--;
    return last;
}

program *program_keep(program *p) {
    PJRT_Client *c = p->client;
    pthread_mutex_lock(&c->lock);
    program *kept = find(c, &p->key), *dropped = kept ? p : NULL;
    if (!kept) {
        kept = p;
        atomic_fetch_add(&p->holders, 1);
        p->next = c->programs;
        c->programs = p;
        if (++c->program_count > PROGRAMS_KEPT)
            dropped = take_last(c);
    }
    pthread_mutex_unlock(&c->lock);
    program_release(dropped);
    return kept;
}

void program_drop_all(PJRT_Client *c) {
    pthread_mutex_lock(&c->lock);
    program *list = c->programs;
    c->programs = NULL;
    c->program_count = 0;
    pthread_mutex_unlock(&c->lock);
    while (list) {
        program *next = list->next;
        program_release(list);
        list = next;
    }
}
