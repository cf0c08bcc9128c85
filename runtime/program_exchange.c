/* program_exchange.c - exchanges between the ranks of a program, and the ranks of a context. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "comm/queue.h"
#include "program_run.h"

struct tsr_comm {
    comm *comm;
    comm_queue queue;  /* of all exchanges of programs */
    atomic_uint users; /* contexts */
};

/* ---- launches ---- */

/* Ranks that fit the program. */
static tsr_status_t find_ranks(const struct program_state *s) {
    const metadata *m = &s->module->metadata;
    const program *p = m->program;
    const struct tsr_comm *ranks = s->module->context->ranks;
    if (!ranks)
        return error_set(TSR_EINVAL,
                         "program '%s' is rank %u of %u: its context needs the other ranks, by "
                         "tsrSetComm()",
                         m->name, p->rank, p->ranks);
    return ranks->comm->rank == p->rank && ranks->comm->count == p->ranks
               ? TSR_SUCCESS
               : error_set(TSR_EINVAL,
                           "program '%s' is rank %u of %u, and its context is rank %u of %u",
                           m->name, p->rank, p->ranks, ranks->comm->rank, ranks->comm->count);
}

/* An exchange under way. Devices whose memory the host does not reach exchange its bytes in the
 * host's, which come back when it is waited for. */
struct program_posting {
    comm_job job;
    struct program_posting *next;
    const struct program_state *of;
    const program_exchange *exchange;
    device_span to;
    unsigned char *from, *into;
    bool staged, here; /* waited for at once */
    comm_message messages[];
};

static struct program_posting *post_new(const struct program_state *s, const program_exchange *e,
                                        device_span from, device_span to) {
    struct program_posting *p = base_calloc(1, sizeof *p + e->count * sizeof *p->messages);
    p->of = s;
    p->exchange = e;
    p->to = to;
    p->staged = !s->module->context->device->info.host_addressable;
    p->from = p->staged ? base_malloc((size_t)e->from_bytes + 1) : from.address;
    p->into = p->staged ? base_malloc((size_t)e->to_bytes + 1) : to.address;
    int64_t received = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        p->messages[i] = (comm_message){.rank = e->ranks[i],
                                        .send = p->from + e->first[i],
                                        .receive = p->into + received,
                                        .send_bytes = (size_t)e->sent[i],
                                        .receive_bytes = (size_t)e->received[i]};
        received += e->received[i];
    }
    return p;
}

static void post_free(struct program_posting *p) {
    if (p->staged) {
        free(p->from);
        free(p->into);
    }
    free(p);
}

/* Until the device has made what is sent. */
static tsr_status_t stage(struct program_state *s, const struct program_posting *p,
                          device_span from) {
    const program_exchange *e = p->exchange;
    tsr_status_t result = TSR_SUCCESS;
    if (p->staged && e->from_bytes)
        result = program_add_apart(
            s, (device_command){.kind = DEVICE_COPY,
                                .limit_ns = s->run.limit_ns,
                                .range = {{p->from, NULL}, from, (size_t)e->from_bytes}});
    program_record_end(s);
    if (result == TSR_SUCCESS)
        result = program_flush(s);
    return result == TSR_SUCCESS ? program_await(s) : result;
}

/* The device has read it when the host goes on. */
static tsr_status_t unstage(struct program_state *s, const struct program_posting *p) {
    const size_t bytes = (size_t)p->exchange->to_bytes;
    if (!p->staged || !bytes)
        return TSR_SUCCESS;
    tsr_status_t result =
        program_add_apart(s, (device_command){.kind = DEVICE_COPY,
                                              .limit_ns = s->run.limit_ns,
                                              .range = {p->to, {p->into, NULL}, bytes}});
    if (result == TSR_SUCCESS)
        result = program_flush(s);
    return result == TSR_SUCCESS ? program_await(s) : result;
}

/* On the queue's thread, or on the launch's. */
static bool run_exchange(comm *c, comm_job *job, status *st) {
    const struct program_posting *p = (struct program_posting *)job;
    const struct tsr_module *m = p->of->module;
    const program_exchange *e = p->exchange;
    if (!comm_agree(c, &m->metadata.program->meeting, st))
        return false;
    const profile_call call = profile_begin(m->context->profile, "comm", "exchange between ranks");
    const bool ok = comm_exchange(c, e->number, p->messages, e->count, st);
    profile_end(&call, (uint64_t)e->from_bytes);
    return ok;
}

tsr_status_t program_run_exchange(struct program_state *s, const program_command *c) {
    const program_exchange *e = c->exchange;
    const device_span to = program_span_of(&s->run, &c->places[0]),
                      from = program_span_of(&s->run, &c->places[1]);
    tsr_status_t result = find_ranks(s);
    if (result != TSR_SUCCESS)
        return result;
    struct program_posting *p = post_new(s, e, from, to);
    result = stage(s, p, from);
    if (result != TSR_SUCCESS) {
        post_free(p);
        return result;
    }
    p->job.run = run_exchange;
    p->next = s->posted;
    s->posted = p;
    /* Behind an exchange there is a command at least: that which waits for it. */
    p->here = c[1].kind == PROGRAM_WAIT && c[1].exchange == e;
    comm_queue_give(&s->module->context->ranks->queue, &p->job, p->here);
    return TSR_SUCCESS;
}

/* Takes it from the list. */
static struct program_posting *posting_of(struct program_state *s, const program_exchange *e) {
    struct program_posting **at = &s->posted, *found;
    while ((*at)->exchange != e)
        at = &(*at)->next;
    found = *at;
    *at = found->next;
    return found;
}

/* `waits_ns`: since when nothing else was to be done; 0: it had ended by then. */
static void note(const struct program_state *s, const struct program_posting *p,
                 uint64_t waits_ns) {
    const comm_job *job = &p->job;
    const uint64_t from = p->here ? job->start_ns : waits_ns;
    telemetry_record record = {.kernel = "exchange",
                               .start_ns = job->start_ns,
                               .total_ns = job->end_ns - job->start_ns,
                               .exchange = p->exchange->number,
                               .bytes = (uint64_t)(p->exchange->from_bytes + p->exchange->to_bytes),
                               .waited_ns = from && from < job->end_ns ? job->end_ns - from : 0};
    telemetry_add_exchange(&s->module->context->telemetry, &record);
}

tsr_status_t program_run_wait(struct program_state *s, const program_command *c) {
    comm_queue *q = &s->module->context->ranks->queue;
    struct program_posting *p = posting_of(s, c->exchange);
    status st = STATUS_INIT;
    tsr_status_t result = TSR_SUCCESS;
    uint64_t waits_ns = 0;
    if (!comm_queue_ended(q, &p->job)) { /* the device has something to do meanwhile */
        program_record_end(s);
        result = program_flush(s);
        if (s->run.timed && result == TSR_SUCCESS)
            result = program_await(s);
        waits_ns = clock_now_ns();
    }
    if (!comm_queue_await(q, &p->job, &st) && result == TSR_SUCCESS)
        result = error_from(&st);
    if (s->run.timed)
        note(s, p, waits_ns);
    if (result == TSR_SUCCESS)
        result = unstage(s, p);
    post_free(p);
    return result;
}

void program_end_exchanges(struct program_state *s) {
    status st = STATUS_INIT;
    while (s->posted) {
        struct program_posting *p = posting_of(s, s->posted->exchange);
        (void)comm_queue_await(&s->module->context->ranks->queue, &p->job, &st);
        post_free(p);
    }
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
    comm_queue_init(&(*out)->queue, c);
    return TSR_SUCCESS;
}

tsr_status_t tsrDestroyComm(tsr_comm_t ranks) {
    if (!ranks)
        return TSR_SUCCESS;
    if (atomic_load(&ranks->users))
        return error_set(TSR_EINVAL, "a context still has these ranks: tsrSetComm(context, NULL)");
    comm_queue_release(&ranks->queue);
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
