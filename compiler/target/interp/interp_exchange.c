/* interp_exchange.c - the modules of all ranks of a program, evaluated at once: a thread each,
 * which meet in every exchange.
 *
 * What a rank sends, and to whom, stands in its own module; so modules that do not fit each other
 * are found out here, and not by what waits for ever. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "target/interp/interp_walk.h"

/* Rows that one rank has brought to an exchange. */
typedef struct brought {
    const ir_module *m;
    ir_op op;
    const tensor *rows;
} brought;

struct interp_meeting {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint32_t count;
    brought *all; /* by rank */
    /* Under the lock: */
    uint32_t arrived, ended; /* ranks that wait; that will not come any more */
    uint64_t number;         /* of times that all have met */
    bool failed;
};

/* ---- meeting ---- */

static bool is_lost(const interp_meeting *g) {
    return g->failed || (g->ended > 0 && g->arrived + g->ended == g->count);
}

/* False: one of the others has failed, or has ended. */
static bool meet(interp_meeting *g, status *st) {
    pthread_mutex_lock(&g->lock);
    const uint64_t number = g->number;
    if (++g->arrived == g->count) {
        g->arrived = 0;
        g->number++;
    }
    pthread_cond_broadcast(&g->moved);
    while (g->number == number && !is_lost(g))
        pthread_cond_wait(&g->moved, &g->lock);
    const bool met = g->number != number;
    g->failed |= !met;
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->lock);
    return met || status_set(st, STATUS_MISMATCH,
                             "a rank waits in an exchange that not all ranks come to");
}

static void leave(interp_meeting *g, bool ok) {
    pthread_mutex_lock(&g->lock);
    g->ended++;
    g->failed |= !ok;
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->lock);
}

/* ---- one exchange ---- */

static int64_t item(const brought *b, const char *list, uint32_t i) {
    const ir_attr_data *d = ir_attr_get(b->m, ir_op_attr(b->m, b->op, list));
    return i < d->count ? ir_attr_get(b->m, d->items[i])->integer : -1;
}

static uint32_t group_size(const brought *b) {
    return ir_attr_get(b->m, ir_op_attr(b->m, b->op, "group"))->count;
}

/* The place of a rank in the group of another one; the group's size: it is not there. */
static uint32_t place_in(const brought *b, int64_t rank) {
    uint32_t i = 0;
    while (i < group_size(b) && item(b, "group", i) != rank)
        i++;
    return i;
}

static bool fits(const interpreter *in, const brought *own, uint32_t i, const brought *other) {
    const uint32_t at = place_in(other, in->rank);
    const int64_t first = item(other, "sends", 2 * at), count = item(other, "sends", 2 * at + 1);
    return at < group_size(other) &&
           ir_op_int(other->m, other->op, "number", -1) ==
               ir_op_int(own->m, own->op, "number", -1) &&
           count == item(own, "receives", i) && first >= 0 && count >= 0 &&
           first + count <= other->rows->dims[0];
}

/* Takes the rows of each rank of the group, one behind the other. */
static bool take(const interpreter *in, const brought *own, tensor *out) {
    char *to = out->data;
    for (uint32_t i = 0; i < group_size(own); i++) {
        const int64_t rank = item(own, "group", i);
        const brought *other =
            rank >= 0 && rank < in->meeting->count ? &in->meeting->all[rank] : NULL;
        if (!other || !other->rows || !fits(in, own, i, other))
            return status_set(in->st, STATUS_MISMATCH,
                              "rank %lld sends rank %u something else than that takes in exchange "
                              "%lld",
                              (long long)rank, in->rank,
                              (long long)ir_op_int(own->m, own->op, "number", -1));
        const int64_t first = item(other, "sends", 2 * place_in(other, in->rank));
        const size_t row =
            other->rows->dims[0] ? tensor_bytes(other->rows) / (size_t)other->rows->dims[0] : 0;
        memcpy(to, (const char *)other->rows->data + (size_t)first * row,
               (size_t)item(own, "receives", i) * row);
        to += (size_t)item(own, "receives", i) * row;
    }
    return true;
}

bool interp_exchange(interpreter *in, ir_op op) {
    const ir_op_data *d = ir_op_get(in->m, op);
    tensor *out = &in->values[d->results[0]];
    if (!in->meeting)
        return status_set(in->st, STATUS_UNAVAILABLE,
                          "an exchange between ranks is evaluated with the modules of all of them");
    brought *own = &in->meeting->all[in->rank];
    *own = (brought){in->m, op, &in->values[d->operands[0]]};
    /* Behind the second meeting what this rank brought is its own again. */
    bool ok = interp_allocate(in->m, d->results[0], DTYPE_NONE, out, in->st) &&
              meet(in->meeting, in->st) && take(in, own, out);
    return ok && meet(in->meeting, in->st);
}

/* ---- all ---- */

typedef struct one_rank {
    interp_meeting *meeting;
    const ir_module *m;
    const tensor *inputs;
    tensor *outputs;
    uint32_t rank;
    bool ok, runs;
    status st;
    pthread_t thread;
} one_rank;

static void *evaluate(void *self) {
    one_rank *r = self;
    r->ok = interp_module_of(r->m, r->meeting, r->rank, r->inputs, r->outputs, &r->st);
    leave(r->meeting, r->ok);
    return NULL;
}

static void start(one_rank *r) {
    r->runs = pthread_create(&r->thread, NULL, evaluate, r) == 0;
    if (r->runs)
        return;
    r->ok = status_set(&r->st, STATUS_OUT_OF_MEMORY, "there is no thread to be had for rank %u",
                       r->rank);
    leave(r->meeting, false);
}

/* The reason of the first rank that failed by itself; ranks that waited for it have another one. */
static void take_reason(const one_rank *ranks, uint32_t count, status *st) {
    for (uint32_t i = 0; i < count; i++)
        if (!ranks[i].ok && (st->code == STATUS_OK || st->code == STATUS_MISMATCH))
            *st = ranks[i].st;
}

bool interp_ranks(const ir_module *const *modules, uint32_t count, const tensor *const *inputs,
                  tensor *const *outputs, status *st) {
    interp_meeting g = {.count = count, .all = base_calloc(count, sizeof(brought))};
    one_rank *ranks = base_calloc(count, sizeof *ranks);
    bool ok = true;
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.moved, NULL);
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = (one_rank){.meeting = &g,
                              .m = modules[i],
                              .inputs = inputs[i],
                              .outputs = outputs[i],
                              .rank = i,
                              .st = STATUS_INIT};
        start(&ranks[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ranks[i].runs)
            pthread_join(ranks[i].thread, NULL);
        ok = ok && ranks[i].ok;
    }
    if (!ok)
        take_reason(ranks, count, st);
    for (uint32_t i = 0; i < count && !ok; i++)
        for (uint32_t k = 0;
             ranks[i].ok &&
             k < ir_op_get(modules[i], ir_kernel_body(modules[i])->last)->operand_count;
             k++)
            tensor_release(&outputs[i][k]);
    pthread_cond_destroy(&g.moved);
    pthread_mutex_destroy(&g.lock);
    free(ranks);
    free(g.all);
    return ok;
}
