/* cmd_fuzz.c - tsr fuzz: random kernels across backends. */
#include <string.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/shard_choice.h"
#include "fuzz/fuzz.h"
#include "fuzz/implementations.h"
#include "fuzz/schedules.h"

enum { TIMEOUT_S = 60 };

/* A part of a minute will do; `ns` keeps what it has where none are given. */
static bool take_minutes(const options *o, uint64_t *ns, status *st) {
    double minutes = 0;
    if (!options_real(o, OPTION_MINUTES, 0.001, 100000, &minutes, st))
        return false;
    if (minutes > 0)
        *ns = (uint64_t)(minutes * FUZZ_MINUTE_NS);
    return true;
}

static bool has_code(const job_choice *choice) {
    bool any = false;
    for (int id = 0; id < BACKEND_COUNT; id++)
        any |= choice->backends[id] && backend_is_compiled(&backend_table[id]);
    return any;
}

/* Refuses to mix kernels, schedules of a corpus, and cases of it for code of others. */
static int refuse_mixture(const options *o) {
    if (options_flag(o, OPTION_WITH))
        return COMMAND_REFUSE(o, "does not go with --with", OPTION_SCHEDULES, OPTION_KERNELS,
                              OPTION_TILES, OPTION_PROGRAMS, OPTION_BATCHES, OPTION_DERIVATIVES,
                              OPTION_SHOW, OPTION_TALLY, OPTION_BACKEND, OPTION_ISA, OPTION_GOLDEN,
                              OPTION_DIMS);
    if (options_flag(o, OPTION_SCHEDULES))
        return COMMAND_REFUSE(o, "does not go with --schedules", OPTION_KERNELS, OPTION_TILES,
                              OPTION_PROGRAMS, OPTION_BATCHES, OPTION_DERIVATIVES, OPTION_SHOW,
                              OPTION_TALLY, OPTION_BACKEND, OPTION_PROFILE, OPTION_DRAWS);
    int code = 0;
    if (options_flag(o, OPTION_TILES))
        code = COMMAND_REFUSE(o, "does not go with --tiles", OPTION_PROGRAMS, OPTION_BATCHES,
                              OPTION_DERIVATIVES);
    else if (options_flag(o, OPTION_PROGRAMS))
        code = COMMAND_REFUSE(o, "does not go with --programs", OPTION_BATCHES, OPTION_DERIVATIVES);
    else if (options_flag(o, OPTION_BATCHES))
        code = COMMAND_REFUSE(o, "does not go with --batches", OPTION_DERIVATIVES);
    code = code ? code : COMMAND_REFUSE(o, "is for --schedules and --with", OPTION_FILTER);
    code = code ? code : COMMAND_REFUSE(o, "is for --schedules", OPTION_GOLDEN, OPTION_DIMS);
    return code ? code : COMMAND_REFUSE(o, "is for --with", OPTION_DRAWS);
}

/* Fuzzes kernels that code of others computes; of each one that is there a case tells types. */
static int fuzz_implementations(const options *o) {
    job_choice choice;
    corpus c;
    status st = STATUS_INIT;
    uint64_t draws = 0, time_ns = FUZZ_MINUTE_NS;
    if (!options_number(o, OPTION_DRAWS, 1, 1000000, &draws, &st) ||
        !take_minutes(o, &time_ns, &st))
        return command_usage(o->command, "%s", st.message);
    int code = choice_make(o, "strict", TIMEOUT_S, &choice);
    if (code)
        return code;
    if (choice.thread_count != 1)
        return command_usage(o->command, "one thread count, please");
    code = choice_corpus(o, 0, &c);
    job_plan p = {0};
    if (code == EXIT_DONE)
        job_plan_make(&p, &c, &choice, JOB_CONTROL);
    if (code == EXIT_DONE && !job_plan_covers(&p, &choice, &st))
        code = command_fail(&st);
    fuzz_implementations_request request = {.corpus = &c,
                                            .choice = &choice,
                                            .draws = draws,
                                            .time_ns = time_ns,
                                            .failures = options_text(o, OPTION_FAILURES, NULL),
                                            .json = options_flag(o, OPTION_JSON)};
    if (code == EXIT_DONE)
        code = fuzz_implementations_run(&request);
    job_plan_release(&p);
    corpus_release(&c);
    return code;
}

/* cpu under strict, on one thread and on all unless some were chosen; large cases left out, unless
 * some were chosen. */
static int fuzz_schedules(const options *o) {
    job_choice choice;
    corpus c;
    status st = STATUS_INIT;
    uint64_t schedules = 20, time_ns = 0;
    if (!options_number(o, OPTION_SCHEDULES, 1, 1000000, &schedules, &st) ||
        !take_minutes(o, &time_ns, &st))
        return command_usage(o->command, "%s", st.message);
    int code = choice_make(o, "strict", TIMEOUT_S, &choice);
    if (code)
        return code;
    code = choice_compiled(&choice);
    if (code)
        return code;
    if (!options_flag(o, OPTION_THREADS) && choice.threads[0] > 1) {
        choice.threads[1] = choice.threads[0];
        choice.threads[0] = 1;
        choice.thread_count = 2;
    }
    code = choice_corpus(o, 0, &c);
    fuzz_schedules_request request = {.corpus = &c,
                                      .choice = &choice,
                                      .schedules = schedules,
                                      .time_ns = time_ns,
                                      .failures = options_text(o, OPTION_FAILURES, NULL),
                                      .json = options_flag(o, OPTION_JSON)};
    if (code == EXIT_DONE)
        code = fuzz_schedules_run(&request);
    corpus_release(&c);
    return code;
}

static fuzz_family family_of(const options *o) {
    return options_flag(o, OPTION_TILES)         ? FUZZ_TILES
           : options_flag(o, OPTION_PROGRAMS)    ? FUZZ_PROGRAMS
           : options_flag(o, OPTION_BATCHES)     ? FUZZ_BATCHES
           : options_flag(o, OPTION_DERIVATIVES) ? FUZZ_DERIVATIVES
                                                 : FUZZ_TENSORS;
}

int command_fuzz(const options *o) {
    int mixed = refuse_mixture(o);
    if (mixed || options_flag(o, OPTION_WITH))
        return mixed ? mixed : fuzz_implementations(o);
    if (options_flag(o, OPTION_SCHEDULES))
        return fuzz_schedules(o);
    job_choice choice;
    status st = STATUS_INIT;
    uint64_t time_ns = FUZZ_MINUTE_NS, kernels = 0, number = 0;
    if (o->arguments.count)
        return command_usage(o->command, "fuzz makes its kernels itself: '%s' is too much",
                             o->arguments.items[0]);
    if (!take_minutes(o, &time_ns, &st) ||
        !options_number(o, OPTION_KERNELS, 1, INT64_MAX, &kernels, &st) ||
        !options_number(o, OPTION_SHOW, 0, INT64_MAX, &number, &st))
        return command_usage(o->command, "%s", st.message);
    int code = choice_make(o, "strict", TIMEOUT_S, &choice);
    if (code)
        return code;
    if (o->values[OPTION_SHOW].present) {
        int refused = COMMAND_REFUSE(o, "is for running kernels, and --show runs none",
                                     OPTION_KERNELS, OPTION_MINUTES, OPTION_TALLY, OPTION_FAILURES,
                                     OPTION_JSON, OPTION_BACKEND, OPTION_PROFILE, OPTION_THREADS,
                                     OPTION_ISA, OPTION_TIMEOUT, OPTION_MEMORY, OPTION_SHARD);
        if (refused)
            return refused;
        fuzz_show(choice.seed, number, family_of(o));
        return EXIT_DONE;
    }
    if (!has_code(&choice))
        return command_usage(o->command,
                             "interp is what the others are compared with; name another "
                             "backend, such as cpu");
    if (choice.thread_count != 1)
        return command_usage(o->command, "one thread count, please");
    fuzz_request request = {.choice = &choice,
                            .time_ns = time_ns,
                            .kernels = kernels,
                            .tally = options_text(o, OPTION_TALLY, ".tsr/fuzz.json"),
                            .failures = options_text(o, OPTION_FAILURES, NULL),
                            .family = family_of(o),
                            .json = options_flag(o, OPTION_JSON)};
    code = shard_choice_name(o, &request.shard);
    return code ? code : fuzz_run(&request);
}
