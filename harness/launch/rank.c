/* rank.c - one of several ranks: a launch that follows orders from a pipe, in a thread or in a
 * process of its own. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "common/abi_status.h"
#include "launch/mpirun.h"
#include "launch/pipes.h"
#include "launch/ranks_parts.h"
#include "launch/trace.h"
#include "state/part_file.h"
#include "telemetry.h"

enum { RANK_TIMEOUT_S = 60 };

/* ---- a rank ---- */

static bool open_rank(rank_seat *s, launch *l, tsr_comm_t *comm, status *st) {
    const tsr_comm_options_t options = {.struct_size = sizeof options,
                                        .transport = s->transport,
                                        .name = s->name,
                                        .rank = s->rank,
                                        .count = s->count,
                                        .timeout_ns = RANK_TIMEOUT_S * UINT64_C(1000000000)};
    *l = (launch){0};
    return abi_ok(tsrCreateComm(&options, comm), NULL, st) && launch_open(l, s->request, st) &&
           abi_ok(tsrSetComm(l->context, *comm), NULL, st);
}

static bool run_launches(launch *l, uint64_t count, uint64_t *ns, status *st) {
    const uint64_t start = clock_now_ns();
    bool ok = true;
    for (uint64_t i = 0; i < count && ok; i++)
        ok = launch_run(l, st);
    *ns = clock_now_ns() - start;
    return ok;
}

static uint64_t trace_follow(launch *l, telemetry_record *records, size_t bytes, status *st) {
    size_t count;
    (void)launch_trace(l, records, bytes / sizeof *records, &count, st);
    return count * sizeof *records;
}

static bool read_own(void *context, uint32_t input, void *to, status *st) {
    return launch_read_input(context, input, to, st);
}

static bool write_own(void *context, uint32_t input, const void *from, status *st) {
    return launch_write(context, input, from, st);
}

static uint64_t keep(launch *l, const char *order, text *said, status *st) {
    const part_buffers own = {read_own, write_own, l};
    const bool kept = part_file_keep(order, &own, said, st);
    if (!kept)
        text_clear(said);
    return said->length;
}

static uint64_t take(launch *l, const char *order, status *st) {
    const part_buffers own = {read_own, write_own, l};
    (void)part_file_take(order, &own, st);
    return 0;
}

/* Gives the number of the answer: ns, bytes that were read or are said, or whether there was
 * anything. */
static uint64_t follow(launch *l, const rank_message *m, void *data, text *said, status *st) {
    uint64_t ns = 0;
    switch ((rank_order)m->order) {
    case ORDER_WRITE:
        (void)launch_write(l, m->index, data, st);
        return 0;
    case ORDER_POISON:
        (void)launch_poison_outputs(l, st);
        return 0;
    case ORDER_RUN:
        (void)run_launches(l, m->number, &ns, st);
        return ns;
    case ORDER_TRACE:
        return trace_follow(l, data, (size_t)m->number, st);
    case ORDER_SHARE:
        return launch_share_donated(l, m->number != 0);
    case ORDER_READ_INPUT:
        return launch_read_input(l, m->index, data, st) ? m->number : 0;
    case ORDER_READ:
        return launch_read(l, m->index, data, st) ? m->number : 0;
    case ORDER_KEEP:
        return keep(l, data, said, st);
    case ORDER_TAKE:
        return take(l, data, st);
    case ORDER_END:
        break;
    }
    return 0;
}

/* Does what it is told; false where nobody tells any more. */
static bool obey(rank_seat *s, launch *l) {
    rank_message m, answer = {.st = STATUS_INIT};
    char *data = NULL;
    text said;
    if (!pipe_receive(s->far_from, NULL, &m, sizeof m) || m.order == ORDER_END)
        return false;
    text_init(&said);
    const bool reads =
        m.order == ORDER_READ || m.order == ORDER_READ_INPUT || m.order == ORDER_TRACE;
    const bool brings = m.order == ORDER_WRITE || m.order == ORDER_KEEP || m.order == ORDER_TAKE;
    if (brings || reads)
        data = base_calloc((size_t)m.number + 1, 1);
    bool told = !brings || pipe_receive(s->far_from, NULL, data, (size_t)m.number);
    answer.began = clock_now_ns();
    if (told)
        answer.number = follow(l, &m, data, &said, &answer.st);
    told = told && file_append(s->far_to, &answer, sizeof answer) &&
           (!reads || file_append(s->far_to, data, (size_t)answer.number)) &&
           file_append(s->far_to, said.data, said.length);
    text_release(&said);
    free(data);
    return told;
}

void *launch_rank_follow(void *context) {
    rank_seat *s = context;
    launch l;
    tsr_comm_t comm = NULL;
    rank_message opened = {.st = STATUS_INIT};
    const bool ok = open_rank(s, &l, &comm, &opened.st);
    bool told = file_append(s->far_to, &opened, sizeof opened) && ok;
    while (told)
        told = obey(s, &l);
    launch_close(&l);
    (void)tsrDestroyComm(comm);
    pipe_close_both(&s->far_from, &s->far_to);
    return NULL;
}

static bool open_named(const char *folder, const char *number, int *in, int *out) {
    char path[2][4096];
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "%s/%s.%s", folder, i ? "out" : "in", number);
    *in = open(path[0], O_RDWR | O_CLOEXEC);
    *out = open(path[1], O_RDWR | O_CLOEXEC);
    return *in >= 0 && *out >= 0;
}

bool launch_rank_session(int in, int out) {
    rank_head head;
    if (!pipe_receive(in, NULL, &head, sizeof head))
        return false;
    const uint32_t buffers = head.inputs + head.outputs;
    char *image = base_malloc(head.image_bytes + 1),
         *kernel = base_calloc(head.kernel_bytes + 1, 1);
    size_t *sizes = base_calloc((size_t)buffers + 1, sizeof *sizes);
    const bool told = pipe_receive(in, NULL, image, head.image_bytes) &&
                      pipe_receive(in, NULL, kernel, head.kernel_bytes) &&
                      pipe_receive(in, NULL, sizes, buffers * sizeof *sizes);
    const launch_request request = {.device = head.device,
                                    .threads = head.threads,
                                    .image = image,
                                    .image_size = head.image_bytes,
                                    .kernel = kernel,
                                    .input_count = head.inputs,
                                    .output_count = head.outputs,
                                    .sizes = sizes,
                                    .apart = true};
    rank_seat seat = {.to = -1,
                      .from = -1,
                      .far_from = in,
                      .far_to = out,
                      .request = &request,
                      .rank = head.rank,
                      .count = head.count,
                      .transport = head.transport};
    snprintf(seat.name, sizeof seat.name, "%s", head.name);
    if (told)
        (void)launch_rank_follow(&seat);
    free(image);
    free(kernel);
    free(sizes);
    return told;
}

int launch_rank_serve(const char *folder) {
    int in = RANK_IN, out = RANK_OUT;
    const char *number = folder ? mpirun_number() : NULL;
    (void)signal(SIGPIPE, SIG_IGN); // NOLINT(cert-err33-c)
    if (folder && (!number || !open_named(folder, number, &in, &out)))
        return 1;
    return launch_rank_session(in, out) ? 0 : 1;
}
