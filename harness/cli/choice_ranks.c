/* choice_ranks.c - --ranks, --transport and --layout. */
#include <stdlib.h>
#include <string.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/named.h"
#include "comm/comm.h"
#include "comm_model.h"
#include "launch/mpi_job.h"

enum { RANKS_MOST = 64 };

static int take_ranks(const options *o, arena *memory, job_choice *out) {
    string_list words = {0};
    const char *given = options_text(o, OPTION_RANKS, NULL);
    int code = EXIT_DONE;
    options_split(given ? given : "", memory, &words);
    for (size_t i = 0; i < words.count && code == EXIT_DONE; i++) {
        char *end = NULL;
        const unsigned long ranks = strtoul(words.items[i], &end, 10);
        if (*end || ranks < 1 || ranks > RANKS_MOST || out->rank_count == JOB_THREADS_MAX)
            code = command_usage(o->command,
                                 "--ranks wants numbers from 1 to %d, at most %d of them, not '%s'",
                                 RANKS_MOST, JOB_THREADS_MAX, words.items[i]);
        else
            out->ranks[out->rank_count++] = (uint32_t)ranks;
    }
    vec_release(&words);
    return code;
}

/* All are those that can be had here. */
static bool can_meet(uint32_t transport) {
    const comm_transport *t = comm_transport_at(transport);
    return !t->missing || !t->missing();
}

static int take_transports(const options *o, arena *memory, job_choice *out) {
    string_list words = {0};
    const char *known[JOB_TRANSPORTS_MAX + 1];
    uint32_t count = 0;
    int code = EXIT_DONE;
    for (; comm_transport_at(count); count++)
        known[count] = comm_transport_at(count)->name;
    options_split(options_text(o, OPTION_TRANSPORT, known[0]), memory, &words);
    for (size_t i = 0; i < words.count && code == EXIT_DONE; i++) {
        const bool all = strcmp(words.items[i], "all") == 0;
        bool found = false;
        for (uint32_t k = 0; k < count; k++)
            if ((all ? can_meet(k) : strcmp(words.items[i], known[k]) == 0) &&
                out->transport_count < JOB_TRANSPORTS_MAX) {
                out->transports[out->transport_count++] = known[k];
                found = true;
            }
        known[count] = "all";
        if (!found)
            code = named_unknown(o, "transport", words.items[i], known, count + 1);
    }
    vec_release(&words);
    return code;
}

/* Told once, and not by each case. */
static int check_model(void) {
    comm_model m;
    status st = STATUS_INIT;
    const bool ok = comm_model_of_environment(&m, &st);
    comm_model_release(&m);
    return ok ? EXIT_DONE : command_fail(&st);
}

/* mpirun has decided. */
static int take_job(const options *o, uint32_t ranks, job_choice *out) {
    const char *transport = options_text(o, OPTION_TRANSPORT, "mpi");
    if ((out->rank_count && (out->rank_count > 1 || out->ranks[0] != ranks)) ||
        strcmp(transport, "mpi") != 0)
        return command_usage(o->command,
                             "mpirun started %u ranks: leave out --ranks and --transport", ranks);
    if (ranks > RANKS_MOST)
        return command_usage(o->command, "mpirun started %u ranks, and %d are the most", ranks,
                             RANKS_MOST);
    out->ranks[0] = ranks;
    out->rank_count = 1;
    out->transports[0] = "mpi";
    out->transport_count = 1;
    out->layout = options_text(o, OPTION_LAYOUT, NULL);
    return check_model();
}

int choice_ranks(const options *o, arena *memory, job_choice *out) {
    static const struct {
        int option;
        const char *name;
    } more[] = {{OPTION_TRANSPORT, "transport"}, {OPTION_LAYOUT, "layout"}};
    const uint32_t started = o->command == COMMAND_COMM ? 0 : mpi_job_ranks();
    int code = take_ranks(o, memory, out);
    if (code == EXIT_DONE && started)
        return take_job(o, started, out);
    for (int i = 0;
         i < 2 && code == EXIT_DONE && out->rank_count == 0 && o->command != COMMAND_COMM; i++)
        if (options_text(o, more[i].option, NULL))
            code = command_usage(o->command, "--%s says something of --ranks, which is not there",
                                 more[i].name);
    out->layout = options_text(o, OPTION_LAYOUT, NULL);
    if (code == EXIT_DONE && out->rank_count)
        code = check_model();
    return code == EXIT_DONE ? take_transports(o, memory, out) : code;
}
