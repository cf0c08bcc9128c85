/* ucx_calls.c - messages by UCX, which chooses how bytes go: by rings, by copies out of another
 * process's memory, or over a network's card. */
#include "comm/ucx_calls.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

#include "base/arena.h"
#include "base/clock.h"

/* A rank that waits looks, then lets others have its core between looks, then sleeps between them:
 * two that take turns at sleeping wait 64 us for 8 bytes which else take one. */
enum {
    RANK_BITS = 16,
    LOOKS_AT_ONCE = 1000,
    LOOKS = 3000,
    ASK_NS = 20000000,
    CLOSE_NS = 1000000000
};

typedef struct ucx_rank {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h *ends; /* by rank; NULL: none, or its own */
    uint32_t count, own;
} ucx_rank;

static bool ok(ucs_status_t code, const char *doing, status *st) {
    return code == UCS_OK ||
           status_set(st, STATUS_UNAVAILABLE, "UCX, %s: %s", doing, ucs_status_string(code));
}

/* ---- a rank ---- */

static bool begin(ucx_rank *r, status *st) {
    const ucp_params_t features = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                   .features = UCP_FEATURE_TAG};
    const ucp_worker_params_t one = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                     .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucp_config_t *config = NULL;
    if (!ok(ucp_config_read(NULL, NULL, &config), "its settings", st))
        return false;
    const bool good = ok(ucp_init(&features, config, &r->context), "beginning", st);
    ucp_config_release(config);
    return good && ok(ucp_worker_create(r->context, &one, &r->worker), "a worker", st);
}

static bool tell_address(const ucx_rank *r, ucx_address *own, status *st) {
    ucp_address_t *address = NULL;
    size_t length = 0;
    if (!ok(ucp_worker_get_address(r->worker, &address, &length), "an address", st))
        return false;
    const bool fits = length <= sizeof own->bytes;
    own->length = length;
    if (fits)
        memcpy(own->bytes, address, length);
    ucp_worker_release_address(r->worker, address);
    return fits || status_set(st, STATUS_UNAVAILABLE, "UCX has an address of %zu bytes", length);
}

/* Until a request is through, or the limit is over. */
static void await_closed(const ucx_rank *r, void *request) {
    const uint64_t end = clock_now_ns() + CLOSE_NS;
    if (!UCS_PTR_IS_PTR(request))
        return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS && clock_now_ns() < end)
        ucp_worker_progress(r->worker);
    ucp_request_free(request);
}

static void close_rank(void *state) {
    ucx_rank *r = state;
    const ucp_request_param_t flush = {0};
    for (uint32_t i = 0; i < r->count; i++)
        if (r->ends[i])
            await_closed(r, ucp_ep_close_nbx(r->ends[i], &flush));
    if (r->worker)
        ucp_worker_destroy(r->worker);
    if (r->context)
        ucp_cleanup(r->context);
    free(r->ends);
    free(r);
}

static void *open_rank(ucx_address *own, status *st) {
    ucx_rank *r = base_calloc(1, sizeof *r);
    if (begin(r, st) && tell_address(r, own, st))
        return r;
    close_rank(r);
    return NULL;
}

static bool connect_all(void *state, const ucx_address *all, uint32_t count, uint32_t own,
                        status *st) {
    ucx_rank *r = state;
    r->ends = base_calloc(count, sizeof(ucp_ep_h));
    r->count = count;
    r->own = own;
    for (uint32_t i = 0; i < count; i++) {
        const ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                    .address = (const ucp_address_t *)all[i].bytes};
        if (i != own && !ok(ucp_ep_create(r->worker, &to, &r->ends[i]), "reaching a rank", st))
            return false;
    }
    return true;
}

/* ---- exchanges ---- */

typedef struct transfer {
    const comm_message *m;
    void *send, *receive; /* requests; NULL: through */
    size_t came;
} transfer;

static ucp_tag_t tag_of(uint64_t number, uint32_t from) {
    return number << RANK_BITS | from;
}

/* Checks that what came has the size that was waited for. */
static bool check_size(const transfer *t, status *st) {
    return t->came == t->m->receive_bytes ||
           status_set(st, STATUS_INVALID,
                      "rank %u sent %zu bytes, and %zu are taken: the ranks do not run the same "
                      "program",
                      t->m->rank, t->came, t->m->receive_bytes);
}

static void note_size(void *request, ucs_status_t code, const ucp_tag_recv_info_t *info,
                      void *context) {
    (void)request;
    ((transfer *)context)->came = code == UCS_OK ? info->length : 0;
}

static bool begin_receive(ucx_rank *r, transfer *t, uint64_t number, status *st) {
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                       UCP_OP_ATTR_FIELD_USER_DATA |
                                                       UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                       .cb.recv = note_size,
                                       .user_data = t};
    if (!t->m->receive_bytes)
        return true;
    t->receive = ucp_tag_recv_nbx(r->worker, t->m->receive, t->m->receive_bytes,
                                  tag_of(number, t->m->rank), UINT64_MAX, &param);
    if (UCS_PTR_IS_PTR(t->receive))
        return true;
    const ucs_status_t code = UCS_PTR_STATUS(t->receive);
    t->receive = NULL;
    return ok(code, "receiving", st);
}

static bool begin_send(ucx_rank *r, transfer *t, uint64_t number, status *st) {
    const ucp_request_param_t param = {0};
    if (!t->m->send_bytes)
        return true;
    t->send = ucp_tag_send_nbx(r->ends[t->m->rank], t->m->send, t->m->send_bytes,
                               tag_of(number, r->own), &param);
    if (UCS_PTR_IS_PTR(t->send))
        return true;
    const ucs_status_t code = UCS_PTR_STATUS(t->send);
    t->send = NULL;
    return ok(code, "sending", st);
}

/* Frees requests that are through. */
static bool look(transfer *t, status *st) {
    if (t->receive) {
        const ucs_status_t code = ucp_request_check_status(t->receive);
        if (code != UCS_INPROGRESS) {
            ucp_request_free(t->receive);
            t->receive = NULL;
            if (!ok(code, "receiving", st) || !check_size(t, st))
                return false;
        }
    }
    const ucs_status_t code = t->send ? ucp_request_check_status(t->send) : UCS_INPROGRESS;
    if (code == UCS_INPROGRESS)
        return true;
    ucp_request_free(t->send);
    t->send = NULL;
    return ok(code, "sending", st);
}

/* Parameters: a rank, what is under way, and who is asked whether to go on. */
static bool await_all(ucx_rank *r, transfer *list, uint32_t count,
                      bool (*go_on)(void *context, uint32_t rank, status *st), void *context,
                      status *st) {
    const struct timespec a_while = {0, 20000};
    uint64_t asked = clock_now_ns();
    for (uint32_t turns = 0;; turns++) {
        bool done = true, good = true;
        const unsigned moved = ucp_worker_progress(r->worker);
        for (uint32_t i = 0; i < count && good; i++) {
            good = look(&list[i], st);
            done = done && !list[i].send && !list[i].receive;
        }
        if (!good || done)
            return good;
        turns = moved ? 0 : turns;
        if (turns < LOOKS_AT_ONCE)
            continue;
        if (turns < LOOKS) {
            sched_yield();
            continue;
        }
        nanosleep(&a_while, NULL);
        if (clock_now_ns() - asked < ASK_NS)
            continue;
        asked = clock_now_ns();
        for (uint32_t i = 0; i < count; i++)
            if ((list[i].send || list[i].receive) && !go_on(context, list[i].m->rank, st))
                return false;
    }
}

/* Behind a failure: nobody may write or read the caller's memory any more. */
static void give_up(const ucx_rank *r, transfer *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        void *requests[] = {list[i].send, list[i].receive};
        for (int k = 0; k < 2; k++)
            if (requests[k]) {
                ucp_request_cancel(r->worker, requests[k]);
                await_closed(r, requests[k]);
            }
    }
}

/* Parameters: a rank, an exchange, and who is asked whether to go on. */
static bool exchange(void *state, uint64_t number, const comm_message *messages, uint32_t count,
                     bool (*go_on)(void *context, uint32_t rank, status *st), void *context,
                     status *st) {
    ucx_rank *r = state;
    transfer *list = base_calloc((size_t)count + 1, sizeof *list);
    bool good = true;
    for (uint32_t i = 0; i < count; i++)
        list[i].m = &messages[i];
    for (uint32_t i = 0; i < count && good; i++) /* what is received has a place before it comes */
        good = begin_receive(r, &list[i], number, st);
    for (uint32_t i = 0; i < count && good; i++)
        good = begin_send(r, &list[i], number, st);
    good = good && await_all(r, list, count, go_on, context, st);
    if (!good)
        give_up(r, list, count);
    free(list);
    return good;
}

static void progress(void *state) {
    const ucx_rank *r = state;
    while (ucp_worker_progress(r->worker))
        ;
}

__attribute__((visibility("default"))) extern const ucx_calls tessera_ucx_calls;
const ucx_calls tessera_ucx_calls = {sizeof(ucx_calls), open_rank, connect_all,
                                     exchange,          progress,  close_rank};
