/* execute.c - runs a program on buffers. What it reads is held until it has ended; what is donated
 * to it is deleted then, and an output that the code makes in place of it takes its memory over.
 *
 * Several devices are one launch: parts that they have are put together in front of it, and cut
 * behind it, so a failure is one of all. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "pjrt/plugin.h"

typedef struct call {
    const program *p;
    uint32_t devices;
    PJRT_Device *const *on;             /* of each device; NULL: those of the buffers */
    PJRT_Buffer *const *const *lists;   /* arguments of each device */
    const PJRT_ExecuteOptions *options; /* NULL: none */
    storage **held;                     /* [device][input]; NULL: not yet */
    storage **whole;                    /* of inputs, then of outputs; of one device those held */
    bool *given; /* [device][input]: it is donated in this call, and marked */
    bool *alone; /* ... and nothing else has its memory */
} call;

static uint32_t buffers_of(const call *c) {
    return c->devices * c->p->inputs;
}

static PJRT_Buffer *argument(const call *c, uint32_t k) {
    return c->lists[k / c->p->inputs][k % c->p->inputs];
}

/* Says which argument, and of several devices whose. */
static PJRT_Error *wrong(const call *c, uint32_t k, const char *why) {
    return c->devices == 1
               ? error_new(PJRT_Error_Code_INVALID_ARGUMENT, "argument %" PRIu32 " %s", k, why)
               : error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                           "argument %" PRIu32 " of device %" PRIu32 " %s", k % c->p->inputs,
                           k / c->p->inputs, why);
}

static bool may_give(const call *c, uint32_t input) {
    const PJRT_ExecuteOptions *o = c->options;
    const bool listed =
        o && o->struct_size >= offsetof(PJRT_ExecuteOptions, num_non_donatable_input_indices) +
                                   sizeof o->num_non_donatable_input_indices;
    for (size_t i = 0; listed && i < o->num_non_donatable_input_indices; i++)
        if (o->non_donatable_input_indices[i] == (int64_t)input)
            return false;
    return c->p->donated[input];
}

static PJRT_Error *check_argument(const call *c, uint32_t k) {
    const PJRT_Buffer *b = argument(c, k);
    const program_tensor *t = &c->p->tensors[k % c->p->inputs];
    if (!b)
        return wrong(c, k, "is NULL");
    if (b->type != t->type)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "argument %" PRIu32 " has elements of %s, and the program takes %s",
                         k % c->p->inputs, type_name(b->type), type_name(t->type));
    if (b->rank != t->own_rank ||
        memcmp(b->dims, t->own_dims, t->own_rank * sizeof *t->own_dims) != 0)
        return wrong(c, k, "has another shape than the program takes");
    if (b->device != c->on[k / c->p->inputs])
        return wrong(c, k, "lies on another device than the program is assigned to");
    return NULL;
}

/* Holds the memory of a buffer; one that is donated is marked, so that no one else takes it. */
static PJRT_Error *hold(call *c, uint32_t k) {
    PJRT_Buffer *b = argument(c, k);
    PJRT_Error *e = NULL;
    const bool give = may_give(c, k % c->p->inputs);
    pthread_mutex_lock(&b->lock);
    if (!b->memory) {
        e = wrong(c, k, "was deleted or donated");
    } else if (b->donating) {
        e = wrong(c, k, "is donated, and in use once more in the same call or in another one");
    } else {
        c->held[k] = storage_hold(b->memory);
        c->given[k] = b->donating = give;
    }
    pthread_mutex_unlock(&b->lock);
    return e;
}

/* Finds arguments that stand before the place where they are donated: their memory is held more
 * often than the buffer's mark lets others do. */
static PJRT_Error *look_at(call *c, uint32_t k) {
    PJRT_Buffer *b = argument(c, k);
    pthread_mutex_lock(&b->lock);
    const bool twice = b->donating && !c->given[k];
    if (c->given[k])
        c->alone[k] = storage_is_held_by(b->memory, 2); /* the buffer and this call */
    pthread_mutex_unlock(&b->lock);
    return twice
               ? wrong(c, k, "is donated, and in use once more in the same call or in another one")
               : NULL;
}

static PJRT_Error *take_inputs(call *c) {
    PJRT_Error *e = NULL;
    const uint32_t count = buffers_of(c);
    for (uint32_t k = 0; k < count && !e; k++)
        e = check_argument(c, k);
    for (uint32_t k = 0; k < count && !e; k++)
        e = hold(c, k);
    for (uint32_t k = 0; k < count && !e; k++)
        e = look_at(c, k);
    return e;
}

static PJRT_Error *no_memory(size_t bytes, const char *what, uint32_t i) {
    return error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                     "there is no memory for the %zu bytes of %s %" PRIu32, bytes, what, i);
}

/* ---- parts of devices ---- */

/* Copies the part that a device has, into the whole or out of it. */
static void copy_part(const program *p, uint32_t tensor, uint32_t device, void *whole, void *own,
                      bool out) {
    const program_tensor *t = &p->tensors[tensor];
    const size_t element = type_bytes(t->type);
    int64_t in_whole[8], dense[8];
    const layout_side w = {program_part(p, tensor, device, whole, in_whole), in_whole},
                      o = {own, dense};
    layout_dense(t->own_dims, t->own_rank, element, dense);
    layout_copy(out ? o : w, out ? w : o, t->own_dims, t->own_rank, element);
}

/* A value that is not cut is the first device's. */
static PJRT_Error *put_together(call *c, uint32_t i) {
    const program_tensor *t = &c->p->tensors[i];
    if (!t->is_cut) {
        c->whole[i] = storage_hold(c->held[i]);
        return NULL;
    }
    if (!(c->whole[i] = storage_new(t->bytes)))
        return no_memory(t->bytes, "input", i);
    for (uint32_t d = 0; d < c->devices; d++)
        copy_part(c->p, i, d, c->whole[i]->data, c->held[d * c->p->inputs + i]->data, false);
    return NULL;
}

/* Is an input donated by all devices, and its memory no one else's? */
static bool is_free(const call *c, uint32_t input) {
    bool given = true;
    for (uint32_t d = 0; d < c->devices; d++)
        given &= c->given[d * c->p->inputs + input];
    return given && (c->p->tensors[input].is_cut || (c->devices == 1 && c->alone[input]));
}

static PJRT_Error *take_outputs(call *c) {
    const program *p = c->p;
    PJRT_Error *e = NULL;
    for (uint32_t i = 0; i < p->inputs && !e; i++)
        e = put_together(c, i);
    for (uint32_t i = 0; i < p->outputs && !e; i++) {
        const size_t bytes = p->tensors[p->inputs + i].bytes;
        storage **out = &c->whole[p->inputs + i];
        if (p->in_place[i] && is_free(c, p->donors[i]))
            *out = storage_hold(c->whole[p->donors[i]]);
        else if (!(*out = storage_new(bytes)))
            e = no_memory(bytes, "output", i);
    }
    return e;
}

/* An output for each device: its part, or all of it. */
static PJRT_Error *give_output(const call *c, uint32_t i, PJRT_Buffer **const *outputs) {
    const uint32_t tensor = c->p->inputs + i;
    const program_tensor *t = &c->p->tensors[tensor];
    storage *whole = c->whole[tensor];
    for (uint32_t d = 0; d < c->devices; d++) {
        storage *own = t->is_cut ? storage_new(t->own_bytes) : storage_hold(whole);
        if (!own)
            return no_memory(t->own_bytes, "output", i);
        if (t->is_cut)
            copy_part(c->p, tensor, d, whole->data, own->data, true);
        outputs[d][i] = buffer_new(c->on[d], t->type, t->own_dims, t->own_rank, own);
    }
    return NULL;
}

static PJRT_Error *give_outputs(const call *c, PJRT_Buffer **const *outputs) {
    PJRT_Error *e = NULL;
    for (uint32_t d = 0; d < c->devices; d++)
        for (uint32_t i = 0; i < c->p->outputs; i++)
            outputs[d][i] = NULL;
    for (uint32_t i = 0; i < c->p->outputs && !e; i++)
        e = give_output(c, i, outputs);
    for (uint32_t d = 0; d < c->devices && e; d++)
        for (uint32_t i = 0; i < c->p->outputs; i++) {
            buffer_free(outputs[d][i]);
            outputs[d][i] = NULL;
        }
    return e;
}

/* ---- the launch ---- */

/* Memory of the device for each buffer: what a call reads is copied there, what it makes back. */
static tsr_status_t there_and_back(const call *c, void **room, size_t count) {
    const program *p = c->p;
    const tsr_context_t context = p->client->context;
    const size_t known = (size_t)p->inputs + p->outputs;
    void **host = base_malloc((count + 1) * sizeof *host),
         **own = base_calloc(count + 1, sizeof *own);
    tsr_status_t code = TSR_SUCCESS;
    memcpy(host, room, count * sizeof *host);
    for (size_t i = 0; i < count && code == TSR_SUCCESS; i++) {
        const size_t bytes = i < known ? p->tensors[i].bytes : sizeof(int32_t);
        const uint32_t donor =
            i >= p->inputs && i < known ? p->donors[i - p->inputs] : TSR_NOT_DONATED;
        const bool in_place = donor != TSR_NOT_DONATED && host[donor] == host[i];
        if (!in_place)
            code = tsrAlloc(context, bytes ? bytes : 1, 0, &own[i]);
        room[i] = in_place ? room[donor] : own[i];
        if (code == TSR_SUCCESS && i < p->inputs && bytes)
            code = tsrCopy(context, room[i], host[i], bytes);
    }
    if (code == TSR_SUCCESS)
        code = tsrLaunch(p->kernel, NULL, (tsr_launch_t){0}, room + count, count);
    for (size_t i = p->inputs; i < known && code == TSR_SUCCESS; i++)
        if (p->tensors[i].bytes)
            code = tsrCopy(context, host[i], room[i], p->tensors[i].bytes);
    for (size_t i = 0; i < count; i++)
        tsrFree(context, own[i]);
    free(own);
    free(host);
    return code;
}

static PJRT_Error *launch(const call *c, void **room) {
    const size_t known = (size_t)c->p->inputs + c->p->outputs, count = known + c->p->placeholders;
    _Alignas(64) char placeholder[64];
    for (size_t i = 0; i < count; i++) {
        room[i] = i < known ? c->whole[i]->data : placeholder;
        room[count + i] = &room[i];
    }
    const tsr_status_t code =
        c->p->client->host ? tsrLaunch(c->p->kernel, NULL, (tsr_launch_t){0}, room + count, count)
                           : there_and_back(c, room, count);
    return code == TSR_SUCCESS ? NULL : error_of(code, tsrGetLastError());
}

/* Deletes what was donated once the program has run; else all is as it was. */
static void let_go(call *c, bool ran) {
    const uint32_t count = buffers_of(c), all = c->p->inputs + c->p->outputs;
    for (uint32_t k = 0; k < count; k++) {
        if (c->given[k]) {
            PJRT_Buffer *b = argument(c, k);
            pthread_mutex_lock(&b->lock);
            storage *own = ran ? b->memory : NULL;
            b->memory = ran ? NULL : b->memory;
            b->donating = false;
            pthread_mutex_unlock(&b->lock);
            storage_release(own);
        }
        storage_release(c->held[k]);
    }
    for (uint32_t i = 0; i < all; i++)
        storage_release(c->whole[i]);
}

/* Copies of what the call reads: code may write an output in the place of it. */
static void **copies_of(const call *c) {
    const program *p = c->p;
    void **list = base_calloc((size_t)p->inputs + p->outputs + 1, sizeof *list);
    for (uint32_t i = 0; i < p->inputs; i++) {
        list[i] = base_malloc(p->tensors[i].bytes + 1);
        memcpy(list[i], c->whole[i]->data, p->tensors[i].bytes);
    }
    return list;
}

static void look_at_results(const call *c, void **copies, bool ran) {
    const program *p = c->p;
    for (uint32_t i = p->inputs; i < p->inputs + p->outputs && ran; i++)
        copies[i] = c->whole[i]->data;
    if (ran)
        pack_look((program *)(uintptr_t)p, copies);
    for (uint32_t i = 0; i < p->inputs; i++)
        free(copies[i]);
    free(copies);
}

static PJRT_Error *run(call *c, void **room, PJRT_Buffer **const *outputs) {
    const program *p = c->p;
    PJRT_Error *e = take_inputs(c);
    e = e ? e : take_outputs(c);
    void **copies = !e && pack_wants(p) ? copies_of(c) : NULL;
    e = e ? e : launch(c, room);
    if (copies)
        look_at_results(c, copies, !e);
    const bool ran = !e;
    e = e || p->outputs == 0 ? e : give_outputs(c, outputs);
    let_go(c, ran);
    return e;
}

static PJRT_Error *check_call(const PJRT_LoadedExecutable_Execute_Args *a) {
    const program *p = a->executable->program;
    const uint32_t devices = assignment_count(&a->executable->on);
    if (atomic_load(&a->executable->deleted))
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "the program was deleted");
    if (a->num_devices != devices)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "arguments for %zu devices were given, and the program is for %" PRIu32,
                         a->num_devices, devices);
    if (a->num_args != p->inputs)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "%s takes %" PRIu32 " arguments, and %zu were given", p->name, p->inputs,
                         a->num_args);
    bool good = (!p->inputs || a->argument_lists) && (!p->outputs || a->output_lists);
    for (uint32_t d = 0; d < devices && good; d++)
        good = (!p->inputs || a->argument_lists[d]) && (!p->outputs || a->output_lists[d]);
    return good ? NULL
                : error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                            "a list of arguments or outputs is NULL");
}

/* The device of a call that names one, which a program of one device may run on. */
static PJRT_Device *const *named_device(const PJRT_LoadedExecutable_Execute_Args *a) {
    const bool has =
        a->struct_size >=
        offsetof(PJRT_LoadedExecutable_Execute_Args, execute_device) + sizeof a->execute_device;
    return has && a->execute_device && assignment_count(&a->executable->on) == 1
               ? &a->execute_device
               : NULL;
}

PJRT_Error *pjrt_LoadedExecutable_Execute(void *args) {
    enum { FEW = 32 };
    PJRT_TAKES(LoadedExecutable_Execute, device_complete_events);
    PJRT_NEEDS(LoadedExecutable_Execute, executable);
    PJRT_Error *e = check_call(a);
    if (e)
        return e;
    const program *p = a->executable->program;
    const uint32_t devices = assignment_count(&a->executable->on);
    const size_t count = (size_t)p->inputs + p->outputs + p->placeholders,
                 buffers = (size_t)devices * p->inputs, all = count + buffers;
    storage *few_memory[FEW] = {0}, **memory = few_memory;
    bool few_marks[2 * FEW] = {0}, *marks = few_marks;
    void *few_room[2 * FEW], **room = few_room;
    if (all > FEW) {
        memory = base_calloc(all, sizeof *memory);
        marks = base_calloc(2 * all, sizeof *marks);
        room = base_malloc(2 * count * sizeof *room);
    }
    call c = {.p = p,
              .devices = devices,
              .on = named_device(a) ? named_device(a) : a->executable->devices,
              .lists = a->argument_lists,
              .options = a->options,
              .held = memory,
              .whole = memory + buffers,
              .given = marks,
              .alone = marks + all};
    e = run(&c, room, a->output_lists);
    for (uint32_t d = 0; d < devices && !e && a->device_complete_events; d++)
        a->device_complete_events[d] = event_ready();
    if (all > FEW) {
        free(memory);
        free(marks);
        free(room);
    }
    return e;
}
