/* serialize.c - a compiled program as bytes, and back: a head, what is donated, and the module. A
 * hash guards all of it, and the module is checked as every module is. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "pjrt/plugin.h"

static const char magic[8] = {'T', 'S', 'R', 'P', 'J', 'R', 'T', 3};

/* Little-endian, like the machines that there is code for. */
typedef struct head {
    char magic[8];
    sha256 hash; /* of all that follows it */
    sha256 key;  /* of the program that was compiled */
    uint32_t inputs, outputs, placeholders, zero;
    uint64_t image_bytes; /* behind the donors of outputs, a byte for the form of each, and how
                             each lies on the devices */
    assignment on;
} head;

struct PJRT_SerializedExecutable {
    size_t bytes;
    char data[];
};

static sha256 hash_of(const char *data, size_t bytes) {
    const size_t from = offsetof(head, key);
    return sha256_of(data + from, bytes - from);
}

static void free_serialized(PJRT_SerializedExecutable *s) {
    free(s);
}

static char *append(char *to, const void *data, size_t bytes) {
    memcpy(to, data, bytes);
    return to + bytes;
}

PJRT_Error *pjrt_Executable_Serialize(void *args) {
    PJRT_TAKES(Executable_Serialize, serialized_executable_deleter);
    PJRT_NEEDS(Executable_Serialize, executable);
    const program *p = a->executable->program;
    const size_t donors = p->outputs * sizeof *p->donors, forms = p->inputs + p->outputs,
                 cuts = forms * sizeof *p->lies.cuts,
                 places = forms * p->lies.replicas * p->lies.partitions * sizeof *p->lies.places;
    const size_t bytes = sizeof(head) + donors + forms + cuts + places + p->image_bytes;
    PJRT_SerializedExecutable *s = base_malloc(sizeof *s + bytes);
    head h = {.key = p->key,
              .inputs = p->inputs,
              .outputs = p->outputs,
              .placeholders = p->placeholders,
              .image_bytes = p->image_bytes,
              .on = a->executable->on};
    memcpy(h.magic, magic, sizeof magic);
    char *next = append(s->data, &h, sizeof h);
    next = append(next, p->donors, donors);
    next = append(next, p->forms, forms);
    next = append(next, p->lies.cuts, cuts);
    next = append(next, p->lies.places, places);
    append(next, p->image, p->image_bytes);
    h.hash = hash_of(s->data, bytes);
    memcpy(s->data, &h, sizeof h);
    a->serialized_executable = s;
    a->serialized_bytes = s->data;
    a->serialized_bytes_size = bytes;
    a->serialized_executable_deleter = free_serialized;
    return NULL;
}

/* A copy, for the parts lie at any address. */
static void *part(const char **at, size_t bytes) {
    void *copy = memcpy(base_malloc(bytes + 1), *at, bytes);
    *at += bytes;
    return copy;
}

/* Devices that this client has, too. */
static bool has_devices(const PJRT_Client *c, const assignment *on) {
    bool good = on->replicas && on->partitions && on->replicas <= PJRT_DEVICES_MAX &&
                on->partitions <= PJRT_DEVICES_MAX / on->replicas;
    for (uint32_t i = 0; good && i < assignment_count(on); i++)
        good = on->devices[i] >= 0 && (uint32_t)on->devices[i] < c->device_count;
    return good;
}

static program *load(PJRT_Client *c, const char *data, size_t bytes, assignment *on,
                     PJRT_Error **error) {
    head h;
    *error = NULL;
    if (bytes >= sizeof h)
        memcpy(&h, data, sizeof h);
    if (bytes < sizeof h || memcmp(h.magic, magic, sizeof magic) != 0) {
        *error = error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                           "these bytes are no program that this plugin wrote");
        return NULL;
    }
    const sha256 hash = hash_of(data, bytes);
    if (memcmp(&hash, &h.hash, sizeof hash) != 0) {
        *error = error_new(PJRT_Error_Code_DATA_LOSS, "the bytes of the program are damaged");
        return NULL;
    }
    if (!has_devices(c, &h.on)) {
        *error = error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                           "the program is for devices that there are not: there are %u, from 0 on "
                           "(TESSERA_DEVICES)",
                           c->device_count);
        return NULL;
    }
    const size_t donors = (size_t)h.outputs * sizeof(uint32_t), rest = bytes - sizeof h,
                 forms = (size_t)h.inputs + h.outputs, cuts = forms * sizeof(program_cut),
                 places = forms * assignment_count(&h.on) * sizeof(uint32_t[8]);
    const size_t facts_bytes = donors + forms + cuts + places;
    if (facts_bytes > rest || h.image_bytes != rest - facts_bytes) {
        *error = error_new(PJRT_Error_Code_DATA_LOSS, "the bytes of the program are damaged");
        return NULL;
    }
    *on = h.on;
    const char *at = data + sizeof h;
    uint32_t *donor_list = part(&at, donors);
    uint8_t *forms_list = part(&at, forms);
    program_cut *cut_list = part(&at, cuts);
    uint32_t(*place_list)[8] = part(&at, places);
    const program_facts facts = {.key = h.key,
                                 .inputs = h.inputs,
                                 .outputs = h.outputs,
                                 .placeholders = h.placeholders,
                                 .donors = donor_list,
                                 .forms = forms_list,
                                 .replicas = h.on.replicas,
                                 .partitions = h.on.partitions,
                                 .cuts = cut_list,
                                 .places = (const uint32_t(*)[8])place_list};
    program *p = program_load(c, &facts, part(&at, h.image_bytes), h.image_bytes, error);
    free(donor_list);
    free(forms_list);
    free(cut_list);
    free(place_list);
    return p;
}

PJRT_Error *pjrt_Executable_DeserializeAndLoad(void *args) {
    PJRT_TAKES(Executable_DeserializeAndLoad, loaded_executable);
    PJRT_NEEDS(Executable_DeserializeAndLoad, client);
    PJRT_NEEDS(Executable_DeserializeAndLoad, serialized_executable);
    PJRT_Error *e;
    assignment on;
    program *p = load(a->client, a->serialized_executable, a->serialized_executable_size, &on, &e);
    if (p)
        a->loaded_executable = loaded_new(p, &on);
    return e;
}
