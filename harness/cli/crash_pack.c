/* crash_pack.c - see crash_pack.h. In a handler nothing but fork, exec and wait: the command line
 * of tsr pack-repro is there before. */
#include "cli/crash_pack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "cli/command.h"
#include "common/exit_code.h"
#include "common/say.h"
#include "run/failures.h"

enum { ARGUMENTS_MAX = 48, WORDS_BYTES = 32 << 10, STACK_BYTES = 64 << 10 };

/* One command, one case at a time. */
static struct {
    const char *arguments[ARGUMENTS_MAX];
    size_t count, used;
    char words[WORDS_BYTES];
    volatile sig_atomic_t armed;
} again;

static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* False: there is no room, and no pack then. */
static bool add(const char *word) {
    size_t bytes = strlen(word) + 1;
    if (again.count + 1 >= ARGUMENTS_MAX || bytes > sizeof again.words - again.used)
        return false;
    memcpy(again.words + again.used, word, bytes);
    again.arguments[again.count++] = again.words + again.used;
    again.used += bytes;
    again.arguments[again.count] = NULL;
    return true;
}

/* As the command was given it, where pack-repro has it, too. */
static bool add_option(const options *o, option_id id) {
    char flag[64];
    const struct option_value *v = &o->values[id];
    snprintf(flag, sizeof flag, "--%s", option_table[id].name);
    bool ok = !v->present || v->values.count || add(flag);
    for (size_t i = 0; i < v->values.count && ok; i++)
        ok = add(flag) && add(v->values.items[i]);
    return ok;
}

/* ---- the end ---- */

/* Runs it. What it prints goes to stderr: the output of this command is another one. */
static void pack_now(void) {
    pid_t pid = fork();
    int ended;
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        for (int i = 0; i < NUMBERS; i++)
            signal(numbers[i], SIG_DFL);
        execv("/proc/self/exe", (char *const *)again.arguments);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &ended, 0) < 0)
        continue;
}

static void on_signal(int number) {
    static const char words[] = "tsr: it died, and is packed:\n";
    signal(number, SIG_DFL);
    if (again.armed) {
        again.armed = 0;
        if (write(STDERR_FILENO, words, sizeof words - 1) > 0)
            pack_now();
    }
    raise(number);
}

/* Not done in time. */
static void on_alarm(int number) {
    static const char late[] = "tsr: it is not done within --timeout",
                      packed[] = ", and is packed:\n";
    const bool armed = again.armed;
    (void)number;
    again.armed = 0;
    if (write(STDERR_FILENO, late, sizeof late - 1) > 0 &&
        write(STDERR_FILENO, armed ? packed : "\n", armed ? sizeof packed - 1 : 1) > 0 && armed)
        pack_now();
    _exit(EXIT_CHECK);
}

int crash_pack_limit(const options *o) {
    uint64_t seconds = 0;
    status st = STATUS_INIT;
    if (!options_number(o, OPTION_OWN_TIMEOUT, 1, 1000000, &seconds, &st))
        return command_usage(o->command, "%s", st.message);
    if (seconds) {
        signal(SIGALRM, on_alarm);
        alarm((unsigned)seconds);
    }
    return EXIT_DONE;
}

static void watch_signals(void) {
    static char room[STACK_BYTES];
    const stack_t own = {.ss_sp = room, .ss_size = sizeof room};
    if (BUILT_WITH_ASAN || sigaltstack(&own, NULL) != 0)
        return;
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
        sigaction(numbers[i], &action, NULL);
    }
}

void crash_pack_watch(const options *o, const crash_case *c) {
    static const option_id kept[] = {
        OPTION_PROFILE, OPTION_ISA,          OPTION_THREADS,    OPTION_DEVICE,      OPTION_SCHEDULE,
        OPTION_SPACE,   OPTION_CONSTANTS,    OPTION_CONSTANT,   OPTION_UNOPTIMISED, OPTION_GENERIC,
        OPTION_INJECT,  OPTION_CHECK_BOUNDS, OPTION_OWN_TIMEOUT};
    const char *failures = getenv("TESSERA_FAILURES"); // NOLINT(concurrency-mt-unsafe)
    again.armed = 0;
    again.count = again.used = 0;
    if (failures && !*failures)
        return;
    bool ok = add("tsr") && add("pack-repro") && add(c->kernel) && add(c->path) &&
              add("--backend") && add(c->backend);
    ok = ok && (c->dims ? add("--dims") && add(c->dims) : add("--case") && add(c->name));
    for (size_t i = 0; i < sizeof kept / sizeof *kept && ok; i++)
        ok = !option_applies(kept[i], o->command) || add_option(o, kept[i]);
    ok = ok && (!failures || (add("--failures") && add(failures)));
    if (ok)
        watch_signals();
    again.armed = ok;
}

void crash_pack_end(void) {
    again.armed = 0;
}

void crash_pack_failed(const status *st) {
    bool own = st->code == STATUS_INTERNAL || st->code == STATUS_OUT_OF_MEMORY;
    if (!own || !again.armed)
        return;
    again.armed = 0;
    say(stderr, "tsr: %s, and is packed:\n",
        st->code == STATUS_INTERNAL ? "it failed by a fault of its own" : "it had no memory");
    (void)fflush(stdout);
    pack_now();
}
