/* cmd_fuzz.c - tsr fuzz: random kernels across backends. */
#include <string.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "fuzz/fuzz.h"

enum { TIMEOUT_S = 60, MINUTES_MAX = 100000 };

static bool has_code(const job_choice *choice) {
    bool any = false;
    for (int id = 0; id < BACKEND_COUNT; id++)
        any |= choice->backends[id] && *backend_table[id].driver;
    return any;
}

int command_fuzz(const options *o) {
    job_choice choice;
    status st = STATUS_INIT;
    uint64_t minutes = 1, kernels = 0, number = 0;
    if (o->arguments.count)
        return command_usage(o->command, "fuzz makes its kernels itself: '%s' is too much",
                             o->arguments.items[0]);
    if (!options_number(o, OPTION_MINUTES, 1, MINUTES_MAX, &minutes, &st) ||
        !options_number(o, OPTION_KERNELS, 1, INT64_MAX, &kernels, &st) ||
        !options_number(o, OPTION_SHOW, 0, INT64_MAX, &number, &st))
        return command_usage(o->command, "%s", st.message);
    int code = choice_make(o, "strict", TIMEOUT_S, &choice);
    if (code)
        return code;
    if (o->values[OPTION_SHOW].present) {
        fuzz_show(choice.seed, number);
        return EXIT_DONE;
    }
    if (!has_code(&choice))
        return command_usage(o->command,
                             "interp is what the others are compared with; name another "
                             "backend, such as cpu");
    if (choice.thread_count != 1)
        return command_usage(o->command, "one thread count, please");
    fuzz_request request = {.choice = &choice,
                            .minutes = minutes,
                            .kernels = kernels,
                            .tally = options_text(o, OPTION_TALLY, ".tsr/fuzz.json"),
                            .failures = options_text(o, OPTION_FAILURES, NULL),
                            .json = options_flag(o, OPTION_JSON)};
    return fuzz_run(&request);
}
