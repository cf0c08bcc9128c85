/* execute.c - runs a program on buffers. What it reads is held until it has ended; what is donated
 * to it is deleted then, and an output that the code makes in place of it takes its memory over. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "pjrt/plugin.h"

typedef struct call {
    const program *p;
    PJRT_Buffer *const *arguments;
    const PJRT_ExecuteOptions *options; /* NULL: none */
    storage **memory;                   /* of inputs, then of outputs; NULL: not yet */
    bool *given;                        /* of each input: it is donated in this call, and marked */
    bool *alone;                        /* ... and nothing else has its memory */
} call;

static PJRT_Error *wrong(uint32_t i, const char *why) {
    return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "argument %" PRIu32 " %s", i, why);
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

static PJRT_Error *check_argument(const call *c, uint32_t i) {
    const PJRT_Buffer *b = c->arguments[i];
    const program_tensor *t = &c->p->tensors[i];
    if (!b)
        return wrong(i, "is NULL");
    if (b->type != t->type)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "argument %" PRIu32 " has elements of %s, and the program takes %s", i,
                         type_name(b->type), type_name(t->type));
    if (b->rank != t->rank || memcmp(b->dims, t->dims, t->rank * sizeof *t->dims) != 0)
        return wrong(i, "has another shape than the program takes");
    return NULL;
}

/* Holds the memory of a buffer; one that is donated is marked, so that no one else takes it. */
static PJRT_Error *hold(call *c, uint32_t i) {
    PJRT_Buffer *b = c->arguments[i];
    PJRT_Error *e = NULL;
    const bool give = may_give(c, i);
    pthread_mutex_lock(&b->lock);
    if (!b->memory) {
        e = wrong(i, "was deleted or donated");
    } else if (b->donating) {
        e = wrong(i, "is donated, and in use once more in the same call or in another one");
    } else {
        c->memory[i] = storage_hold(b->memory);
        c->given[i] = b->donating = give;
    }
    pthread_mutex_unlock(&b->lock);
    return e;
}

/* Finds arguments that stand before the place where they are donated: their memory is held more
 * often than the buffer's mark lets others do. */
static PJRT_Error *look_at(call *c, uint32_t i) {
    PJRT_Buffer *b = c->arguments[i];
    pthread_mutex_lock(&b->lock);
    const bool twice = b->donating && !c->given[i];
    if (c->given[i])
        c->alone[i] = storage_is_held_by(b->memory, 2); /* the buffer and this call */
    pthread_mutex_unlock(&b->lock);
    return twice ? wrong(i, "is donated, and in use once more in the same call or in another one")
                 : NULL;
}

static PJRT_Error *take_inputs(call *c) {
    PJRT_Error *e = NULL;
    for (uint32_t i = 0; i < c->p->inputs && !e; i++)
        e = check_argument(c, i);
    for (uint32_t i = 0; i < c->p->inputs && !e; i++)
        e = hold(c, i);
    for (uint32_t i = 0; i < c->p->inputs && !e; i++)
        e = look_at(c, i);
    return e;
}

static PJRT_Error *take_outputs(call *c) {
    const program *p = c->p;
    for (uint32_t i = 0; i < p->outputs; i++) {
        const uint32_t donor = p->donors[i];
        const size_t bytes = p->tensors[p->inputs + i].bytes;
        storage **out = &c->memory[p->inputs + i];
        if (p->in_place[i] && c->given[donor] && c->alone[donor])
            *out = storage_hold(c->memory[donor]);
        else if (!(*out = storage_new(bytes)))
            return error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                             "there is no memory for the %zu bytes of output %" PRIu32, bytes, i);
    }
    return NULL;
}

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
        room[i] = i < known ? c->memory[i]->data : placeholder;
        room[count + i] = &room[i];
    }
    const tsr_status_t code =
        c->p->client->host ? tsrLaunch(c->p->kernel, NULL, (tsr_launch_t){0}, room + count, count)
                           : there_and_back(c, room, count);
    return code == TSR_SUCCESS ? NULL : error_of(code, tsrGetLastError());
}

/* Deletes what was donated once the program has run; else all is as it was. */
static void let_go(call *c, bool ran) {
    const program *p = c->p;
    for (uint32_t i = 0; i < p->inputs; i++) {
        PJRT_Buffer *b = c->arguments[i];
        if (c->given[i]) {
            pthread_mutex_lock(&b->lock);
            storage *own = ran ? b->memory : NULL;
            b->memory = ran ? NULL : b->memory;
            b->donating = false;
            pthread_mutex_unlock(&b->lock);
            storage_release(own);
        }
        storage_release(c->memory[i]);
    }
}

/* Copies of what the call reads: code may write an output in the place of it. */
static void **copies_of(const call *c) {
    const program *p = c->p;
    void **list = base_calloc((size_t)p->inputs + p->outputs + 1, sizeof *list);
    for (uint32_t i = 0; i < p->inputs; i++) {
        list[i] = base_malloc(p->tensors[i].bytes + 1);
        memcpy(list[i], c->memory[i]->data, p->tensors[i].bytes);
    }
    return list;
}

static void look_at_results(const call *c, void **copies, bool ran) {
    const program *p = c->p;
    for (uint32_t i = p->inputs; i < p->inputs + p->outputs && ran; i++)
        copies[i] = c->memory[i]->data;
    if (ran)
        pack_look((program *)(uintptr_t)p, copies);
    for (uint32_t i = 0; i < p->inputs; i++)
        free(copies[i]);
    free(copies);
}

static PJRT_Error *run(call *c, void **room, PJRT_Buffer **outputs) {
    const program *p = c->p;
    PJRT_Error *e = take_inputs(c);
    e = e ? e : take_outputs(c);
    void **copies = !e && pack_wants(p) ? copies_of(c) : NULL;
    e = e ? e : launch(c, room);
    if (copies)
        look_at_results(c, copies, !e);
    for (uint32_t i = 0; i < p->outputs; i++) {
        const program_tensor *t = &p->tensors[p->inputs + i];
        if (e)
            storage_release(c->memory[p->inputs + i]);
        else
            outputs[i] = buffer_new(p->client, t->type, t->dims, t->rank, c->memory[p->inputs + i]);
    }
    let_go(c, !e);
    return e;
}

static PJRT_Error *check_call(const PJRT_LoadedExecutable_Execute_Args *a) {
    const program *p = a->executable->program;
    if (atomic_load(&a->executable->deleted))
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "the program was deleted");
    if (a->num_devices != 1)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "arguments for %zu devices were given; there is one", a->num_devices);
    if (a->num_args != p->inputs)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "%s takes %" PRIu32 " arguments, and %zu were given", p->name, p->inputs,
                         a->num_args);
    if ((p->inputs && (!a->argument_lists || !a->argument_lists[0])) ||
        (p->outputs && (!a->output_lists || !a->output_lists[0])))
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "a list of arguments or outputs is NULL");
    return NULL;
}

PJRT_Error *pjrt_LoadedExecutable_Execute(void *args) {
    enum { FEW = 32 };
    PJRT_TAKES(LoadedExecutable_Execute, device_complete_events);
    PJRT_NEEDS(LoadedExecutable_Execute, executable);
    PJRT_Error *e = check_call(a);
    if (e)
        return e;
    const program *p = a->executable->program;
    const size_t count = (size_t)p->inputs + p->outputs + p->placeholders;
    storage *few_memory[FEW] = {0}, **memory = few_memory;
    bool few_marks[2 * FEW] = {0}, *marks = few_marks;
    void *few_room[2 * FEW], **room = few_room;
    if (count > FEW) {
        memory = base_calloc(count, sizeof *memory);
        marks = base_calloc(2 * count, sizeof *marks);
        room = base_malloc(2 * count * sizeof *room);
    }
    call c = {.p = p,
              .arguments = p->inputs ? a->argument_lists[0] : NULL,
              .options = a->options,
              .memory = memory,
              .given = marks,
              .alone = marks + count};
    e = run(&c, room, p->outputs ? a->output_lists[0] : NULL);
    if (!e && a->device_complete_events)
        a->device_complete_events[0] = event_ready();
    if (count > FEW) {
        free(memory);
        free(marks);
        free(room);
    }
    return e;
}
