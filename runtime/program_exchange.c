/* program_exchange.c - exchanges between the ranks of a program, and the ranks of a context. */
#include <stdlib.h>

#include "base/arena.h"
#include "comm/comm.h"
#include "program_run.h"

struct tsr_comm {
    comm *comm;
    atomic_uint users; /* contexts */
};

/* ---- launches ---- */

/* Ranks that fit the program, and run the same one. */
static tsr_status_t ranks_of(const struct program_state *s, comm **out) {
    const metadata *m = &s->module->metadata;
    const program *p = m->program;
    const struct tsr_comm *ranks = s->module->context->ranks;
    status st = STATUS_INIT;
    if (!ranks)
        return error_set(TSR_EINVAL,
                         "program '%s' is rank %u of %u: its context needs the other ranks, by "
                         "tsrSetComm()",
                         m->name, p->rank, p->ranks);
    *out = ranks->comm;
    if (ranks->comm->rank != p->rank || ranks->comm->count != p->ranks)
        return error_set(TSR_EINVAL,
                         "program '%s' is rank %u of %u, and its context is rank %u of %u", m->name,
                         p->rank, p->ranks, ranks->comm->rank, ranks->comm->count);
    return comm_agree(ranks->comm, &p->meeting, &st) ? TSR_SUCCESS : error_from(&st);
}

/* Bytes of the host's for those at a place of the device, which come back behind it. */
typedef struct staged {
    unsigned char *from, *to;
    bool own;
} staged;

static tsr_status_t stage(struct program_state *s, const program_exchange *e, device_span from,
                          device_span to, staged *out) {
    program_run *r = &s->run;
    tsr_status_t result = TSR_SUCCESS;
    *out = (staged){from.address, to.address, false};
    if (!s->module->context->device->info.host_addressable) {
        out->own = true;
        out->from = base_malloc((size_t)e->from_bytes + 1);
        out->to = base_malloc((size_t)e->to_bytes + 1);
        if (e->from_bytes)
            result = program_add_apart(
                s, (device_command){.kind = DEVICE_COPY,
                                    .limit_ns = r->limit_ns,
                                    .range = {{out->from, NULL}, from, (size_t)e->from_bytes}});
    }
    program_record_end(s);
    if (result == TSR_SUCCESS)
        result = program_flush(s);
    return result == TSR_SUCCESS ? program_await(s) : result;
}

/* The device has read it when the host goes on. */
static tsr_status_t unstage(struct program_state *s, const program_exchange *e, device_span to,
                            const staged *at) {
    program_run *r = &s->run;
    tsr_status_t result = TSR_SUCCESS;
    if (!at->own || !e->to_bytes)
        return TSR_SUCCESS;
    result =
        program_add_apart(s, (device_command){.kind = DEVICE_COPY,
                                              .limit_ns = r->limit_ns,
                                              .range = {to, {at->to, NULL}, (size_t)e->to_bytes}});
    if (result == TSR_SUCCESS)
        result = program_flush(s);
    return result == TSR_SUCCESS ? program_await(s) : result;
}

static tsr_status_t exchange(comm *c, const program_exchange *e, const staged *at) {
    comm_message *messages = base_calloc(e->count, sizeof *messages);
    int64_t received = 0;
    status st = STATUS_INIT;
    for (uint32_t i = 0; i < e->count; i++) {
        messages[i] = (comm_message){.rank = e->ranks[i],
                                     .send = at->from + e->first[i],
                                     .receive = at->to + received,
                                     .send_bytes = (size_t)e->sent[i],
                                     .receive_bytes = (size_t)e->received[i]};
        received += e->received[i];
    }
    const bool ok = comm_exchange(c, e->number, messages, e->count, &st);
    free(messages);
    return ok ? TSR_SUCCESS : error_from(&st);
}

tsr_status_t program_run_exchange(struct program_state *s, const program_command *c) {
    const program_exchange *e = c->exchange;
    const device_span to = program_span_of(&s->run, &c->places[0]),
                      from = program_span_of(&s->run, &c->places[1]);
    comm *ranks;
    staged at = {NULL, NULL, false};
    tsr_status_t result = ranks_of(s, &ranks);
    if (result == TSR_SUCCESS)
        result = stage(s, e, from, to, &at);
    if (result == TSR_SUCCESS) {
        const profile_call call =
            profile_begin(s->module->context->profile, "comm", "exchange between ranks");
        result = exchange(ranks, e, &at);
        profile_end(&call, (uint64_t)e->from_bytes);
    }
    if (result == TSR_SUCCESS)
        result = unstage(s, e, to, &at);
    if (at.own) {
        free(at.from);
        free(at.to);
    }
    return result;
}

/* ---- the ABI ---- */

tsr_status_t tsrCreateComm(const tsr_comm_options_t *options, tsr_comm_t *out) {
    status st = STATUS_INIT;
    if (!options || !out || !options->transport)
        return error_null(!out ? "comm" : !options ? "options" : "options->transport");
    if (options->struct_size < sizeof *options)
        return error_set(TSR_EINVAL, "options->struct_size is %zu, and %zu was expected",
                         options->struct_size, sizeof *options);
    const comm_options o = {options->name, options->rank, options->count, options->timeout_ns};
    comm *c = comm_open(options->transport, &o, &st);
    if (!c)
        return error_from(&st);
    *out = base_calloc(1, sizeof **out);
    (*out)->comm = c;
    return TSR_SUCCESS;
}

tsr_status_t tsrDestroyComm(tsr_comm_t ranks) {
    if (!ranks)
        return TSR_SUCCESS;
    if (atomic_load(&ranks->users))
        return error_set(TSR_EINVAL, "a context still has these ranks: tsrSetComm(context, NULL)");
    comm_close(ranks->comm);
    free(ranks);
    return TSR_SUCCESS;
}

tsr_status_t tsrSetComm(tsr_context_t context, tsr_comm_t ranks) {
    if (!context)
        return error_null("context");
    if (ranks)
        atomic_fetch_add(&ranks->users, 1);
    if (context->ranks)
        atomic_fetch_sub(&context->ranks->users, 1);
    context->ranks = ranks;
    return TSR_SUCCESS;
}
