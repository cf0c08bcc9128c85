/* comm.c - what all transports share: names, the program that ranks agree on, and failures. */
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static const comm_transport *const transports[] = {
#define TRANSPORT(name, summary) &comm_##name,
#include "comm/transports.def"
};
enum { TRANSPORTS = sizeof transports / sizeof transports[0] };

const comm_transport *comm_transport_at(uint32_t index) {
    return index < TRANSPORTS ? transports[index] : NULL;
}

const comm_transport *comm_transport_named(const char *name) {
    for (uint32_t i = 0; i < TRANSPORTS; i++)
        if (strcmp(transports[i]->name, name) == 0)
            return transports[i];
    return NULL;
}

static bool check_options(const comm_options *o, status *st) {
    const size_t length = o->name ? strlen(o->name) : 0;
    if (o->count < 1 || o->count > COMM_RANKS_MAX || o->rank >= o->count)
        return status_set(st, STATUS_INVALID,
                          "there is no rank %u of %u: ranks are 0 to %u of at most %d", o->rank,
                          o->count, o->count ? o->count - 1 : 0, COMM_RANKS_MAX);
    if (o->name &&
        (length == 0 || length >= COMM_NAME_BYTES ||
         strspn(o->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") !=
             length))
        return status_set(st, STATUS_INVALID,
                          "the name by which ranks meet has up to %d letters, digits, '-' and '_'",
                          COMM_NAME_BYTES - 1);
    return true;
}

comm *comm_open(const char *transport, const comm_options *o, status *st) {
    const comm_transport *t = comm_transport_named(transport);
    if (!check_options(o, st))
        return NULL;
    if (!t) {
        status_set(st, STATUS_NOT_FOUND, "there is no transport '%.20s'", transport);
        return NULL;
    }
    const char *missing = t->missing ? t->missing() : NULL;
    if (missing) {
        status_set(st, STATUS_UNAVAILABLE, "ranks cannot meet by %s: %s", t->name, missing);
        return NULL;
    }
    comm *c = base_calloc(1, sizeof *c);
    *c = (comm){.transport = t,
                .rank = o->rank,
                .count = o->count,
                .timeout_ns = o->timeout_ns ? o->timeout_ns : COMM_TIMEOUT_NS};
    if (t->open(c, o, st))
        return c;
    free(c);
    return NULL;
}

void comm_close(comm *c) {
    if (!c)
        return;
    c->transport->close(c);
    free(c);
}

/* Tells all others, unless they were told before. */
static bool failed(comm *c, status *st) {
    c->transport->fail(c, st->message);
    return false;
}

bool comm_exchange(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                   status *st) {
    comm_message *others = base_calloc((size_t)count + 1, sizeof *others);
    uint32_t n = 0;
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        const comm_message *m = &messages[i];
        if (m->rank != c->rank)
            others[n++] = *m;
        else if (m->send_bytes == m->receive_bytes)
            memmove(m->receive, m->send, m->send_bytes);
        else
            ok = status_set(st, STATUS_INTERNAL, "rank %u sends itself %zu bytes and takes %zu",
                            c->rank, m->send_bytes, m->receive_bytes);
    }
    ok = ok && c->transport->exchange(c, number, others, n, st);
    free(others);
    return ok || failed(c, st);
}

/* ---- one program ---- */

enum { AGREES = UINT64_C(0) }; /* the number of the first exchange; a program's own begin at 1 */

bool comm_agree(comm *c, const sha256 *program, status *st) {
    if (c->agreed && memcmp(&c->program, program, sizeof *program) == 0)
        return true;
    sha256 *all = base_calloc(c->count, sizeof *all);
    comm_message *messages = base_calloc(c->count, sizeof *messages);
    for (uint32_t i = 0; i < c->count; i++)
        messages[i] = (comm_message){i, program, &all[i], sizeof *program, sizeof *program};
    bool ok = comm_exchange(c, AGREES, messages, c->count, st);
    for (uint32_t i = 0; i < c->count && ok; i++)
        if (memcmp(&all[i], &all[0], sizeof all[i]) != 0) {
            char here[65], there[65];
            sha256_hex(&all[0], here);
            sha256_hex(&all[i], there);
            ok =
                status_set(st, STATUS_INVALID,
                           "rank 0 runs the program %.12s and rank %u the program %.12s: each rank "
                           "needs the same source, case and number of ranks",
                           here, i, there);
        }
    free(all);
    free(messages);
    c->agreed = ok;
    c->program = *program;
    return ok;
}
