/* comm_model.c - reads a model of exchanges, and computes with it. */
#include "comm_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "comm/comm.h"
#include "document.h"
#include "policy.h"

/* ---- the file ---- */

static double *number_of(comm_fit *f, const char *key) {
#define NUMBER(member, name)                                                                       \
    if (strcmp(key, name) == 0)                                                                    \
        return &f->member;
    COMM_NUMBERS(NUMBER)
#undef NUMBER
    return NULL;
}

/* Keys that tell people of the fit, and change no choice. */
static bool is_said(const char *key) {
    static const char *const said[] = {"samples", "error_median", "error_most", "whole_bytes"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strcmp(key, said[i]) == 0)
            return true;
    return false;
}

static bool read_number(document *d, const document_node *at, double *out, status *st) {
    return (document_number(at, out) && *out >= 0) ||
           document_wrong(d, at, st, "wants a number from 0 on, not %s", document_shown(d, at));
}

static bool read_transport(document *d, const document_node *at, comm_fit *f, status *st) {
    const char *name = document_text(at);
    if (!name || !comm_transport_named(name))
        return document_wrong(d, at, st, "wants threads, shm, ucx or mpi, not %s",
                              document_shown(d, at));
    snprintf(f->transport, sizeof f->transport, "%s", name);
    return true;
}

static bool read_ranks(document *d, const document_node *at, comm_fit *f, status *st) {
    uint64_t ranks;
    if (!document_whole(at, 2, COMM_RANKS_MAX, &ranks))
        return document_wrong(d, at, st, "wants a number of ranks from 2 to %d, not %s",
                              COMM_RANKS_MAX, document_shown(d, at));
    f->ranks = (uint32_t)ranks;
    return true;
}

static bool read_fit(document *d, const document_node *one, comm_fit *f, status *st) {
    static const char *const wanted[] = {"transport", "ranks",
#define KEY(member, name) name,
                                         COMM_NUMBERS(KEY)
#undef KEY
    };
    if (one->kind != DOCUMENT_MAP)
        return document_wrong(d, one, st, "wants an object: {...}");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!document_member(one, wanted[i]))
            return document_wrong(d, one, st, "has no \"%s\"", wanted[i]);
    for (const document_node *m = one->first; m; m = m->next) {
        double *number = number_of(f, m->name);
        const bool ok = number                              ? read_number(d, m, number, st)
                        : strcmp(m->name, "transport") == 0 ? read_transport(d, m, f, st)
                        : strcmp(m->name, "ranks") == 0     ? read_ranks(d, m, f, st)
                        : is_said(m->name)
                            ? true
                            : document_wrong(d, m, st, "is no key of a fit; docs/comm.md has them");
        if (!ok)
            return false;
    }
    return f->byte + f->contention > 0 || f->alpha > 0 ||
           document_wrong(d, one, st, "says that exchanges take no time");
}

static bool read_fits(document *d, const document_node *list, comm_model *out, status *st) {
    uint32_t count = 0;
    if (list->kind != DOCUMENT_LIST || !list->first)
        return document_wrong(d, list, st, "wants a list of fits: [{...}, ...]");
    for (const document_node *one = list->first; one; one = one->next)
        count++;
    out->fits = base_calloc(count, sizeof *out->fits);
    for (const document_node *one = list->first; one; one = one->next)
        if (!read_fit(d, one, &out->fits[out->count++], st))
            return false;
    return true;
}

static bool read_root(document *d, comm_model *out, status *st) {
    static const char *const others[] = {"schema", "tsr", "host", "started", "fits"};
    const document_node *schema = document_member(d->root, "schema"),
                        *fits = document_member(d->root, "fits");
    if (d->root->kind != DOCUMENT_MAP || !schema || !document_text(schema) ||
        strcmp(schema->value, COMM_MODEL_SCHEMA) != 0)
        return document_wrong(d, schema, st,
                              "a model of exchanges has \"schema\": \"%s\"; tsr comm --probe "
                              "writes one",
                              COMM_MODEL_SCHEMA);
    for (const document_node *m = d->root->first; m; m = m->next) {
        bool known = false;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known = known || strcmp(m->name, others[i]) == 0;
        if (!known)
            return document_wrong(d, m, st,
                                  "is no key; there are schema, tsr, host, started, fits");
    }
    return fits ? read_fits(d, fits, out, st) : document_wrong(d, d->root, st, "has no \"fits\"");
}

bool comm_model_read(const char *path, comm_model *out, status *st) {
    document d;
    *out = (comm_model){0};
    const bool ok = document_read(&d, path, st) && read_root(&d, out, st);
    document_release(&d);
    return ok;
}

bool comm_model_of_environment(comm_model *out, status *st) {
    const char *path = getenv(COMM_MODEL_FILE); // NOLINT(concurrency-mt-unsafe)
    policy p = {0};
    *out = (comm_model){0};
    bool ok = true;
    if (!path || !*path) {
        ok = policy_of_environment(&p, st);
        path = p.model;
    }
    ok = ok && (!path || comm_model_read(path, out, st));
    policy_release(&p);
    return ok;
}

void comm_model_release(comm_model *m) {
    free(m->fits);
    *m = (comm_model){0};
}

/* ---- computing ---- */

const comm_fit *comm_model_fit(const comm_model *m, const char *transport, uint32_t ranks) {
    const comm_fit *best = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        const comm_fit *f = &m->fits[i];
        if (strcmp(f->transport, transport) == 0 &&
            (!best ||
             fabs(log2((double)f->ranks / ranks)) < fabs(log2((double)best->ranks / ranks))))
            best = f;
    }
    return best;
}

double comm_fit_exchange_ns(const comm_fit *f, uint32_t messages, double pairs, double bytes) {
    return f->alpha + f->message * (messages - 1) + bytes * (f->byte + f->contention * (pairs - 1));
}

static double pairs_of(uint32_t ranks) {
    return ranks * (ranks - 1.0) / 2;
}

double comm_fit_whole_ns(const comm_fit *f, uint32_t ranks, double bytes) {
    return comm_fit_exchange_ns(f, ranks - 1, pairs_of(ranks), bytes) +
           bytes * (ranks - 1) * f->sum;
}

double comm_fit_parts_ns(const comm_fit *f, uint32_t ranks, double bytes) {
    return 2 * comm_fit_exchange_ns(f, ranks - 1, pairs_of(ranks), bytes / ranks) +
           bytes * (ranks - 1) / ranks * f->sum;
}

int64_t comm_fit_whole_bytes(const comm_fit *f, uint32_t ranks) {
    /* Both are lines, and whole begins below: they meet at most once. */
    const double least = comm_fit_parts_ns(f, ranks, 0) - comm_fit_whole_ns(f, ranks, 0),
                 most = (double)(INT64_C(1) << 50),
                 slope = (comm_fit_whole_ns(f, ranks, most) - comm_fit_whole_ns(f, ranks, 0) -
                          comm_fit_parts_ns(f, ranks, most) + comm_fit_parts_ns(f, ranks, 0)) /
                         most;
    return slope <= 0 || least / slope > most ? (int64_t)most : (int64_t)(least / slope);
}
